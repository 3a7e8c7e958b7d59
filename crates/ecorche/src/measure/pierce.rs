//! How far muscles and bones stand out of the deformed skin.
//!
//! Points on the surface of every fibre are tested against the skin: one is outside if the nearest skin faces it and two of three
//! rays do not come from inside the skin. Its depth is the distance to the nearest skin.

use crate::dynamics::{Keep, Shape};
use crate::geom::bvh::Bvh;
use crate::geom::intersect::Ray;
use crate::muscle::{Flesh, Musculature, PosedMuscle};
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use serde::Serialize;

/// Points to a ring of a fibre's surface.
const AROUND: usize = 12;
/// Metres: what stands out less does not count in the area.
const SHALLOW: f32 = 2e-3;
/// Metres: nearer to the skin than this a point is not looked at.
const LEAST: f32 = 1e-4;
/// Directions of the rays, along no axis of a mesh.
const RAYS: [Vec3; 3] =
    [Vec3::new(0.823, 0.311, 0.475), Vec3::new(-0.412, 0.857, 0.309), Vec3::new(0.217, -0.389, 0.895)];

/// How far muscles stand out of the skin in one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pierce {
    /// Largest depth, metres.
    pub deepest: f64,
    /// Share of all muscles' surface that is more than 2 mm outside.
    pub area: f64,
    /// The muscles that stand out, deepest first.
    pub muscles: Vec<PiercingMuscle>,
    /// How far the bones that muscles run around stand out, metres.
    pub bones: f64,
    /// Name of the joint of the bone that stands out farthest.
    pub bone: Option<String>,
}

/// A muscle that stands out of the skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PiercingMuscle {
    /// Index into its anatomy.
    pub muscle: usize,
    /// Largest depth, metres.
    pub deepest: f64,
    /// Share of its own surface that is more than 2 mm outside.
    pub area: f64,
}

/// [`PiercingMuscle`] as a report has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PiercedBy {
    /// Name with side.
    pub muscle: String,
    /// Largest depth, millimetres.
    pub depth: f64,
    /// Share of its own surface that is more than 2 mm outside, per cent.
    pub area: f64,
}

#[derive(Clone, Copy, Default)]
struct Outside {
    deepest: f32,
    /// Square metres.
    outside: f64,
    all: f64,
}

/// The skin of a frame.
struct Skin<'a> {
    bvh: Bvh,
    positions: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    size: f32,
}

impl<'a> Skin<'a> {
    /// `None` if there is none, or a position is not a number.
    fn new(positions: &'a [Vec3], triangles: &'a [[u32; 3]]) -> Option<Self> {
        if triangles.is_empty() || !positions.iter().all(|p| p.is_finite()) {
            return None;
        }
        let (low, high) =
            positions.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), &p| (l.min(p), h.max(p)));
        let bvh = Bvh::over_triangles(positions, triangles);
        Some(Self { bvh, positions, triangles, size: (high - low).length() })
    }

    fn is_inside(&self, point: Vec3, direction: Vec3) -> bool {
        let mut sum = 0;
        let ray = Ray::new(point, direction.normalize());
        self.bvh.each_hit(&ray, self.size, self.positions, self.triangles, |hit| {
            sum += if hit.front { -1 } else { 1 };
        });
        sum > 0
    }

    /// How far a point is outside, metres.
    fn outside(&self, point: Vec3) -> f32 {
        let nearest = self.bvh.nearest(point, self.size, self.positions, self.triangles, |_, _| true);
        let Some(nearest) = nearest.filter(|nearest| nearest.distance > LEAST) else { return 0.0 };
        let [a, b, c] = self.triangles[nearest.triangle as usize].map(|v| self.positions[v as usize]);
        let is_in_front = (b - a).cross(c - a).dot(point - nearest.point) > 0.0;
        let inside = || RAYS.iter().filter(|&&ray| self.is_inside(point, ray)).count();
        if is_in_front && inside() < 2 { nearest.distance } else { 0.0 }
    }
}

/// Finds what stands out of the skin with these positions.
pub fn pierce(flesh: &Flesh, positions: &[Vec3], triangles: &[[u32; 3]]) -> Pierce {
    let Some(skin) = Skin::new(positions, triangles).filter(|_| !flesh.muscles.is_empty()) else {
        return Pierce::default();
    };
    let outside = |muscle: &PosedMuscle| {
        let surface = muscle.shape.surface(AROUND, 0.0).mesh;
        let depths: Vec<f32> = surface.positions.iter().map(|&p| skin.outside(p)).collect();
        let mut found = Outside { deepest: depths.iter().copied().fold(0.0, f32::max), ..Outside::default() };
        for t in &surface.triangles {
            let [a, b, c] = t.map(|v| surface.positions[v as usize]);
            let area = 0.5 * f64::from((b - a).cross(c - a).length());
            let out = t.iter().filter(|&&v| depths[v as usize] > SHALLOW).count();
            found.all += area;
            found.outside += area * out as f64 / 3.0;
        }
        found
    };
    let found: Vec<Outside> = flesh.muscles.par_iter().map(outside).collect();
    let (mut pierce, mut total) = (Pierce::default(), Outside::default());
    let mut fibres = flesh.muscles.iter().zip(&found).peekable();
    while let Some((first, outside)) = fibres.next() {
        let mut all = *outside;
        while let Some((_, more)) = fibres.next_if(|(next, _)| next.muscle == first.muscle) {
            all.add(more);
        }
        total.add(&all);
        if all.deepest > 0.0 {
            let area = all.outside / all.all.max(f64::MIN_POSITIVE);
            pierce.muscles.push(PiercingMuscle { muscle: first.muscle, deepest: all.deepest.into(), area });
        }
    }
    pierce.muscles.sort_by(|a, b| b.deepest.total_cmp(&a.deepest));
    pierce.deepest = total.deepest.into();
    pierce.area = if total.all > 0.0 { total.outside / total.all } else { 0.0 };
    pierce
}

/// The bone of a body that stands out of the skin farthest, by its joint, and how far, metres: capsules and surfaces from files, in
/// the pose of `flesh`. `None` if none does.
pub fn bones_outside(
    body: &Musculature,
    flesh: &Flesh,
    positions: &[Vec3],
    triangles: &[[u32; 3]],
) -> Option<(usize, f64)> {
    let skin = Skin::new(positions, triangles)?;
    let mut points: Vec<(usize, Vec3)> = Vec::new();
    for obstacle in body.system().obstacles().iter().filter(|o| o.keep == Keep::Outside) {
        let Some(frame) = flesh.frames.get(obstacle.frame) else { continue };
        if let Shape::Capsule { ends: [a, b], radius } = &obstacle.shape {
            let along = (*b - *a).normalize_or(DVec3::Y);
            let (u, v) = along.any_orthonormal_pair();
            for k in 0..=AROUND {
                let middle = a.lerp(*b, k as f64 / AROUND as f64);
                for i in 0..AROUND {
                    let (sine, cosine) = (std::f64::consts::TAU * i as f64 / AROUND as f64).sin_cos();
                    let place = frame.point(middle + *radius * (cosine * u + sine * v));
                    points.push((obstacle.frame, place.as_vec3()));
                }
            }
        }
    }
    for (joint, surface) in body.bone_surfaces() {
        let Some(frame) = flesh.frames.get(*joint) else { continue };
        points.extend(surface.positions.iter().map(|p| (*joint, frame.point(p.as_dvec3()).as_vec3())));
    }
    let outside: Vec<f32> = points.par_iter().with_min_len(64).map(|p| skin.outside(p.1)).collect();
    let worst = outside.into_iter().zip(points).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (worst.0 > 0.0).then_some((worst.1.0, worst.0.into()))
}

impl Outside {
    fn add(&mut self, other: &Self) {
        self.deepest = self.deepest.max(other.deepest);
        self.outside += other.outside;
        self.all += other.all;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::TriMesh;
    use crate::muscle::{Axis, Profile, Profiles, Shape, Spindle};
    use std::sync::Arc;

    /// A box around the origin.
    fn skin(half: Vec3) -> TriMesh {
        let corner = |i: u32| half * Vec3::from([0, 1, 2].map(|k| if i >> k & 1 == 0 { -1.0 } else { 1.0 }));
        let faces = [[0u32, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        TriMesh {
            positions: (0..8).map(corner).collect(),
            triangles: faces.iter().flat_map(|f| [[f[0], f[1], f[2]], [f[0], f[2], f[3]]]).collect(),
        }
    }

    #[test]
    fn a_muscle_that_stands_out_is_found_with_its_depth() {
        let profile = || Profile::beta(3, 3).unwrap();
        let points: Vec<DVec3> = (0..=8).map(|i| DVec3::Z * 0.2 * (f64::from(i) / 8.0 - 0.5)).collect();
        let axis = Axis::new(&points, [DVec3::X; 2], 0.0).unwrap();
        let spindle = Spindle::new(axis, Arc::new(Profiles::new(profile(), profile())), 0.0, 0.0, 0.02);
        let shape = Arc::new(Shape::from(spindle));
        let thickest = shape.thickest();
        let flesh = Flesh {
            muscles: vec![PosedMuscle { muscle: 3, fibre: 0, shape, tension: 0.0 }],
            ..Flesh::default()
        };
        let of = |half: Vec3| {
            let skin = skin(half);
            pierce(&flesh, &skin.positions, &skin.triangles)
        };
        assert_eq!(of(Vec3::new(0.05, 0.05, 0.15)), Pierce::default());
        let out = of(Vec3::new(0.05, thickest as f32 - 0.005, 0.15));
        assert!((out.deepest - 0.005).abs() < 5e-4, "{out:?}");
        assert_eq!(out.muscles.iter().map(|m| m.muscle).collect::<Vec<_>>(), [3]);
        assert!(out.area > 0.01 && out.area < 0.3, "{out:?}");
    }
}

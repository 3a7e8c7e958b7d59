//! How far muscles stand out of the deformed skin.
//!
//! Points on the surface of every fibre are tested against the skin: one is outside if the nearest skin faces it and two of three
//! rays do not come from inside the skin. Its depth is the distance to the nearest skin.

use crate::geom::bvh::Bvh;
use crate::geom::intersect::Ray;
use crate::muscle::{Flesh, PosedMuscle};
use glam::Vec3;
use rayon::prelude::*;

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
    /// The muscle with the largest depth, as an index into its anatomy; `None` if nothing is outside.
    pub muscle: Option<usize>,
}

#[derive(Clone, Copy, Default)]
struct Outside {
    deepest: f32,
    /// Square metres.
    outside: f64,
    all: f64,
}

/// Finds what stands out of the skin with these positions.
pub fn pierce(flesh: &Flesh, positions: &[Vec3], triangles: &[[u32; 3]]) -> Pierce {
    if flesh.muscles.is_empty() || triangles.is_empty() || !positions.iter().all(|p| p.is_finite()) {
        return Pierce::default();
    }
    let bvh = Bvh::over_triangles(positions, triangles);
    let (low, high) =
        positions.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), &p| (l.min(p), h.max(p)));
    let size = (high - low).length();
    let is_inside = |point: Vec3, direction: Vec3| {
        let mut sum = 0;
        let ray = Ray::new(point, direction.normalize());
        bvh.each_hit(&ray, size, positions, triangles, |hit| sum += if hit.front { -1 } else { 1 });
        sum > 0
    };
    let depth = |point: Vec3| {
        let nearest = bvh.nearest(point, size, positions, triangles, |_, _| true);
        let Some(nearest) = nearest.filter(|nearest| nearest.distance > LEAST) else { return 0.0 };
        let [a, b, c] = triangles[nearest.triangle as usize].map(|v| positions[v as usize]);
        let is_in_front = (b - a).cross(c - a).dot(point - nearest.point) > 0.0;
        let inside = || RAYS.iter().filter(|&&ray| is_inside(point, ray)).count();
        if is_in_front && inside() < 2 { nearest.distance } else { 0.0 }
    };
    let outside = |muscle: &PosedMuscle| {
        let surface = muscle.shape.surface(AROUND, 0.0).mesh;
        let depths: Vec<f32> = surface.positions.iter().map(|&p| depth(p)).collect();
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
    let mut pierce = Pierce::default();
    for (muscle, found) in flesh.muscles.iter().zip(&found) {
        if f64::from(found.deepest) > pierce.deepest {
            pierce.deepest = found.deepest.into();
            pierce.muscle = Some(muscle.muscle);
        }
    }
    let all: f64 = found.iter().map(|f| f.all).sum();
    if all > 0.0 {
        pierce.area = found.iter().map(|f| f.outside).sum::<f64>() / all;
    }
    pierce
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::TriMesh;
    use crate::muscle::{Axis, Profile, Profiles, Shape, Spindle};
    use glam::DVec3;
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
        assert!(out.muscle == Some(3) && out.area > 0.01 && out.area < 0.3, "{out:?}");
    }
}

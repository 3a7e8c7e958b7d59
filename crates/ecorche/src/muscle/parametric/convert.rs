//! Parametric muscles from spindles, by least squares.
//!
//! A spindle bends around bones and over via points; a parametric muscle has one straight line between two bones. So the
//! line is laid through the belly, on the bones and between the places where it stays closest to the belly's axis while
//! each joint that the muscle passes turns in turn. What the line leaves out still pulls: the spindle's points become its
//! path. Thickness and sweep then follow from the spindle's own at bind.

use super::curve::Curve;
use super::definition::ParametricDef;
use super::influence::between;
use super::pose::Parametric;
use crate::character::{Character, Skeleton};
use crate::dynamics::Rigid;
use crate::geom::TriMesh;
use crate::muscle::definition::{Attachment, BodyDef, MuscleDef};
use crate::muscle::fibre::{Fibre, fibres};
use crate::muscle::{BuildError, Musculature, Shape};
use crate::skinning::Surface;
use glam::{Affine3A, DQuat, DVec3, Vec3};
use rayon::prelude::*;

/// Fibres of a fan: more of them move the same skin.
const MOST_FIBRES: usize = 3;
/// Where a line may start, as shares of the spindle; it may end as far from the other end.
const STARTS: [f64; 5] = [0.0, 0.1, 0.2, 0.3, 0.4];
/// How far joints turn, radians: 50 degrees.
const TURNED: f64 = 0.873;
/// What a part of the belly beside the line's ends costs, in thicknesses.
const LEFT_OUT: f64 = 0.5;

/// A fibre, its shape at bind, and what is known about it.
struct Subject<'a> {
    fibre: &'a Fibre,
    shape: &'a Shape,
    bind: &'a [Rigid],
}

/// A line for a fibre.
#[derive(Clone, Copy)]
struct Line {
    /// Shares of the spindle.
    shares: [f64; 2],
    /// Joints that carry its ends.
    bones: [usize; 2],
}

/// Parametric muscles for the spindles of `body`, one per fibre and at most three per muscle, as written: an entry with a
/// mirror image gives one with a mirror image. `bind`: rigid map of every joint to bind space. One that no skin lies over is
/// given the skin of all bones that the muscle passes, and left out if that does not help.
pub fn convert(
    body: &BodyDef,
    character: &Character,
    surface: &Surface,
    bind: &[Affine3A],
) -> Result<Vec<ParametricDef>, BuildError> {
    let mut made = from_spindles(body, &character.skeleton, bind, &surface.mesh)?;
    for k in Parametric::new(&made, character, surface, bind)?.idle() {
        made[k].parts = passed(&made[k], &character.skeleton);
    }
    let idle = Parametric::new(&made, character, surface, bind)?.idle();
    let touching = made.into_iter().enumerate().filter(|(k, _)| !idle.contains(k));
    Ok(touching.map(|(_, muscle)| muscle).collect())
}

/// All bones that a muscle passes.
fn passed(muscle: &ParametricDef, skeleton: &Skeleton) -> Vec<String> {
    let points = [&muscle.origin, &muscle.insertion].into_iter().chain(&muscle.path);
    let joints: Vec<usize> = points.filter_map(|point| skeleton.find(&point.bone)).collect();
    let mut passed = vec![false; skeleton.len()];
    joints
        .iter()
        .for_each(|&joint| joints.iter().for_each(|&other| between(skeleton, [joint, other], &mut passed)));
    let named = skeleton.joints.iter().zip(passed).filter(|(_, passed)| *passed);
    named.map(|(joint, _)| joint.name.clone()).collect()
}

fn from_spindles(
    body: &BodyDef,
    skeleton: &Skeleton,
    bind: &[Affine3A],
    skin: &TriMesh,
) -> Result<Vec<ParametricDef>, BuildError> {
    let frames: Vec<Rigid> = bind.iter().map(|&map| Rigid::from_affine(map)).collect();
    let muscle = body
        .muscle
        .iter()
        .map(|muscle| MuscleDef { fibres: muscle.fibres.min(MOST_FIBRES), ..muscle.clone() });
    let few = BodyDef { muscle: muscle.collect(), bone: Vec::new(), ..BodyDef::default() };
    let musculature = Musculature::new(&few, skeleton, bind, ".".as_ref(), Vec::new())?;
    let flesh = musculature.at_bind();
    let bone_of = |a: &Attachment| skeleton.find(&a.bone).unwrap_or(0);
    let found: Vec<Vec<Fibre>> =
        few.muscle.iter().map(|m| fibres(m, &frames, bone_of).unwrap_or_default()).collect();
    let converted = flesh.muscles.par_iter().filter_map(|posed| {
        let definition = &few.muscle[posed.muscle];
        let subject =
            Subject { fibre: found[posed.muscle].get(posed.fibre)?, shape: &posed.shape, bind: &frames };
        let line = subject.best_line(skeleton);
        let mut made = subject.fit(line, skeleton, skin)?;
        made.name = match definition.fibres {
            1 => definition.name.clone(),
            _ => format!("{} {}", definition.name, posed.fibre + 1),
        };
        made.side = definition.side;
        made.mirror = definition.mirror;
        made.activation = definition.activation.clone();
        made.parts = match definition.parts.is_empty() {
            true => subject.split_limb(line, skeleton),
            false => definition.parts.clone(),
        };
        Some(made)
    });
    Ok(converted.collect())
}

impl Subject<'_> {
    fn stations(&self) -> usize {
        self.fibre.points.len()
    }

    fn share(&self, station: usize) -> f64 {
        station as f64 / (self.stations() - 1) as f64
    }

    /// A point of the axis at bind.
    fn at(&self, share: f64) -> DVec3 {
        let place = share.clamp(0.0, 1.0) * (self.stations() - 1) as f64;
        let k = (place as usize).min(self.stations() - 2);
        self.fibre.points[k].lerp(self.fibre.points[k + 1], place - k as f64)
    }

    /// The bones that carry it, from origin to insertion.
    fn bones(&self) -> Vec<usize> {
        let mut bones: Vec<usize> = self.fibre.controls.iter().map(|c| c.frame).collect();
        bones.dedup();
        bones
    }

    /// Motions of its bones, one list per pose: each joint between them turned about three axes to both sides.
    fn poses(&self, skeleton: &Skeleton) -> Vec<Vec<(usize, Rigid)>> {
        let bones = self.bones();
        let is_below = |joint: usize, above: usize| {
            std::iter::successors(Some(joint), |&j| skeleton.joints[j].parent).any(|j| j == above)
        };
        let mut poses = Vec::new();
        for joint in 0..skeleton.len() {
            let moved: Vec<bool> = bones.iter().map(|&bone| is_below(bone, joint)).collect();
            // A joint that turns all of it or nothing of it does not matter.
            if moved.iter().all(|&m| m) || !moved.iter().any(|&m| m) {
                continue;
            }
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                for angle in [-TURNED, TURNED] {
                    let turn = self.bind[joint].rotation
                        * DQuat::from_axis_angle(axis, angle)
                        * self.bind[joint].rotation.conjugate();
                    let pivot = self.bind[joint].translation;
                    let motion = Rigid { rotation: turn, translation: pivot - turn * pivot };
                    let of_bone = |(&bone, &moved): (&usize, &bool)| {
                        (bone, if moved { motion } else { Rigid::IDENTITY })
                    };
                    poses.push(bones.iter().zip(&moved).map(of_bone).collect());
                }
            }
        }
        poses
    }

    /// The line that stays closest to the belly's axis over all poses.
    fn best_line(&self, skeleton: &Skeleton) -> Line {
        let bones = self.bones();
        let mut best =
            (f64::INFINITY, Line { shares: [0.0, 1.0], bones: [bones[0], bones[bones.len() - 1]] });
        if self.fibre.controls.len() == 2 {
            return best.1;
        }
        let poses: Vec<Posing> = self.poses(skeleton).iter().map(|pose| self.posing(pose)).collect();
        for start in STARTS {
            for end in STARTS.map(|s| 1.0 - s) {
                for (i, &first) in bones.iter().enumerate() {
                    for &last in &bones[i..] {
                        let line = Line { shares: [start, end], bones: [first, last] };
                        let error: f64 = poses.iter().map(|pose| self.error(line, pose)).sum();
                        if error < best.0 {
                            best = (error, line);
                        }
                    }
                }
            }
        }
        best.1
    }

    /// The axis in a pose, and the motions of the bones.
    fn posing(&self, pose: &[(usize, Rigid)]) -> Posing {
        let motion = |bone: usize| pose.iter().find(|p| p.0 == bone).map_or(Rigid::IDENTITY, |p| p.1);
        let controls: Vec<DVec3> = self
            .fibre
            .controls
            .iter()
            .map(|c| motion(c.frame).point(self.bind[c.frame].point(c.at)))
            .collect();
        let rows = self.fibre.weights.chunks(controls.len());
        let points = rows.map(|row| row.iter().zip(&controls).map(|(w, c)| *w * *c).sum()).collect();
        Posing { points, motions: pose.to_vec() }
    }

    /// Squared distance between the axis and where the line has it, over the belly.
    fn error(&self, line: Line, pose: &Posing) -> f64 {
        let rest = line.shares.map(|s| self.at(s));
        let motion = |bone: usize| pose.motions.iter().find(|p| p.0 == bone).map_or(Rigid::IDENTITY, |p| p.1);
        let moved = [0, 1].map(|k| motion(line.bones[k]).point(rest[k]));
        let (Some(along), Some(now)) =
            ((rest[1] - rest[0]).try_normalize(), (moved[1] - moved[0]).try_normalize())
        else {
            return f64::INFINITY;
        };
        let length = rest[0].distance(rest[1]);
        // The frame around the line turns with the mean of both ends, as the bulge direction does.
        let aside = along.any_orthonormal_vector();
        let carried = 0.5 * (motion(line.bones[0]).vector(aside) + motion(line.bones[1]).vector(aside));
        let carried =
            (carried - carried.dot(now) * now).try_normalize().unwrap_or(now.any_orthonormal_vector());
        let (other, other_now) = (along.cross(aside), now.cross(carried));
        let mut sum = 0.0;
        for station in 0..self.stations() {
            let share = self.share(station);
            let thickness = self.shape.thickness(share);
            let weight = thickness * thickness;
            if share < line.shares[0] || share > line.shares[1] {
                sum += weight * (LEFT_OUT * thickness).powi(2);
                continue;
            }
            let from = self.fibre.points[station] - rest[0];
            let t = from.dot(along) / length;
            let predicted = moved[0]
                + t * (moved[1] - moved[0])
                + from.dot(aside) * carried
                + from.dot(other) * other_now;
            let off = pose.points[station] - predicted;
            sum += weight * (off - off.dot(now) * now).length_squared();
        }
        sum
    }

    /// Bones whose skin it moves where a limb is several bones long: those below the one that carries the line that no point
    /// of the muscle is on. Empty if there are none.
    fn split_limb(&self, line: Line, skeleton: &Skeleton) -> Vec<String> {
        let own = line.bones[0];
        let bones = self.bones();
        let next = bones.iter().filter(|&&bone| bone != own);
        let way = |&bone: &usize| {
            let up: Vec<usize> =
                std::iter::successors(skeleton.joints[bone].parent, |&j| skeleton.joints[j].parent)
                    .take_while(|&j| j != own && !bones.contains(&j))
                    .collect();
            let ends_at = up.last().map_or(skeleton.joints[bone].parent, |&j| skeleton.joints[j].parent);
            if ends_at == Some(own) { up } else { Vec::new() }
        };
        let mut between: Vec<usize> = next.flat_map(way).collect();
        if between.is_empty() || line.bones[1] != own {
            return Vec::new();
        }
        between.push(own);
        between.sort_unstable();
        between.dedup();
        between.into_iter().map(|joint| skeleton.joints[joint].name.clone()).collect()
    }

    /// Curves along a line; `None` where it has no length.
    fn fit(&self, line: Line, skeleton: &Skeleton, skin: &TriMesh) -> Option<ParametricDef> {
        let [start, end] = line.shares.map(|s| self.at(s));
        let along = (end - start).try_normalize()?;
        let length = start.distance(end);
        let samples: Vec<f64> = (0..=32)
            .map(|i| line.shares[0] + (line.shares[1] - line.shares[0]) * f64::from(i) / 32.0)
            .collect();
        let t = |share: f64| ((self.at(share) - start).dot(along) / length).clamp(0.0, 1.0);
        let peak = samples
            .iter()
            .copied()
            .max_by(|a, b| self.shape.thickness(*a).total_cmp(&self.shape.thickness(*b)))?;
        let centre = round(t(peak).clamp(0.15, 0.85), 2);
        let bulge = self.outward(&samples, along, skin);
        let side = along.cross(bulge);
        // The wide axis where it is thickest.
        let wide = self.shape.rings().min_by(|a, b| {
            let distance = |ring: &crate::muscle::Ring| ring.centre.distance_squared(self.at(peak));
            distance(a).total_cmp(&distance(b))
        })?;
        let extent = |direction: DVec3| {
            let cosine = wide.wide_axis.dot(direction).clamp(-1.0, 1.0);
            let (long, short) = (1.0 / wide.flatness, wide.flatness);
            ((long * cosine).powi(2) + short * short * (1.0 - cosine * cosine)).sqrt()
        };
        let flatness = round((extent(bulge) / extent(side)).clamp(0.05, 20.0), 3);
        let places: Vec<f64> = samples.iter().map(|&s| t(s)).collect();
        let half = |share: &f64| self.shape.thickness(*share) / flatness.sqrt();
        let radii: Vec<f64> = samples.iter().map(half).collect();
        let fitted = least_squares(centre, &places, &radii)?.map(|x| x.max(0.0));
        // As much of the spindle's volume as lies along the line.
        let step = (line.shares[1] - line.shares[0]) / 32.0;
        let volume: f64 = samples
            .windows(2)
            .map(|s| {
                let squares = self.shape.thickness(s[0]).powi(2) + self.shape.thickness(s[1]).powi(2);
                std::f64::consts::PI * self.shape.length() * step * 0.5 * squares
            })
            .sum();
        let own = Curve::new(centre, fitted).volume(length, flatness);
        let scale = if own > 0.0 { (volume / own).sqrt().clamp(0.5, 2.0) } else { return None };
        let offsets = [side, bulge].map(|axis| {
            let aside: Vec<f64> = samples.iter().map(|&s| (self.at(s) - start).dot(axis)).collect();
            least_squares(centre, &places, &aside).unwrap_or_default()
        });
        let sweep = [0, 1, 2, 3, 4, 5].map(|k| {
            let inner = (1..5).contains(&k);
            [0, 1].map(|axis| if inner { round(offsets[axis][k], 5) as f32 } else { 0.0 })
        });
        let point = |bone: usize, place: DVec3| Attachment {
            bone: skeleton.joints[bone].name.clone(),
            at: rounded(self.bind[bone].point_back(place)),
        };
        let whole = self.fibre.controls.len() == 2;
        let path = self.fibre.controls.iter().map(|c| point(c.frame, self.bind[c.frame].point(c.at)));
        Some(ParametricDef {
            origin: point(line.bones[0], start),
            insertion: point(line.bones[1], end),
            path: if whole { Vec::new() } else { path.collect() },
            bulge: rounded(self.bind[line.bones[0]].vector_back(bulge)),
            centre: centre as f32,
            thickness: fitted.map(|x| round(scale * x, 5) as f32),
            sweep,
            flatness: flatness as f32,
            ..ParametricDef::default()
        })
    }

    /// From the belly to the skin nearest to it, across the line; unit.
    fn outward(&self, samples: &[f64], along: DVec3, skin: &TriMesh) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for &share in samples.iter().step_by(4) {
            let from = self.at(share).as_vec3();
            let nearest = skin
                .positions
                .iter()
                .min_by(|a, b| a.distance_squared(from).total_cmp(&b.distance_squared(from)));
            if let Some(way) = nearest.and_then(|p| (*p - from).as_dvec3().try_normalize()) {
                sum += self.shape.thickness(share) * way;
            }
        }
        (sum - sum.dot(along) * along).try_normalize().unwrap_or(along.any_orthonormal_vector())
    }
}

/// A fibre in a pose.
struct Posing {
    points: Vec<DVec3>,
    motions: Vec<(usize, Rigid)>,
}

/// The six numbers of the curve that is closest to `values` at shares `places` of the line; `None` if they do not tell.
fn least_squares(centre: f64, places: &[f64], values: &[f64]) -> Option<[f64; 6]> {
    let unit = |k: usize| Curve::new(centre, std::array::from_fn(|i| f64::from(u8::from(i == k))));
    let units: [Curve; 6] = std::array::from_fn(unit);
    let mut normal = [[0.0; 7]; 6];
    for (&t, &value) in places.iter().zip(values) {
        let row: [f64; 6] = std::array::from_fn(|k| units[k].at(t));
        for (line, &own) in normal.iter_mut().zip(&row) {
            line.iter_mut().zip(&row).for_each(|(cell, other)| *cell += own * other);
            line[6] += own * value;
        }
    }
    // A handle that no place tells about stays small.
    let trace: f64 = (0..6).map(|i| normal[i][i]).sum();
    (0..6).for_each(|i| normal[i][i] += 1e-6 * trace);
    // Symmetric and positive: no pivots needed.
    for k in 0..6 {
        let pivot = normal[k];
        if pivot[k].is_nan() || pivot[k] <= 0.0 {
            return None;
        }
        for line in normal.iter_mut().skip(k + 1) {
            let factor = line[k] / pivot[k];
            line.iter_mut().zip(pivot).for_each(|(cell, above)| *cell -= factor * above);
        }
    }
    let mut found = [0.0; 6];
    for k in (0..6).rev() {
        let known: f64 = (k + 1..6).map(|j| normal[k][j] * found[j]).sum();
        found[k] = (normal[k][6] - known) / normal[k][k];
    }
    found.iter().all(|x| x.is_finite()).then_some(found)
}

/// For people to read.
fn round(x: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (x * scale).round() / scale
}

fn rounded(v: DVec3) -> Vec3 {
    DVec3::new(round(v.x, 5), round(v.y, 5), round(v.z, 5)).as_vec3()
}

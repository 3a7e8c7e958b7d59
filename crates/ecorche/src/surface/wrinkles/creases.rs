//! Creases that lie where they are wanted: at joints, and along strokes. Stripes meet them with a valley.

use super::WrinkleError;
use super::definition::{Dab, Stroke, WrinkleDef};
use super::patch::Patch;
use crate::character::Skeleton;
use crate::geom::TriMesh;
use crate::math::Transform;
use crate::skinning::Surface;
use glam::{Affine3A, DVec3, Vec3};
use std::f64::consts::PI;

/// A joint creases where the skin folds along its limb: the cosine between the two is at least this.
const LEAST_AGREEMENT: f64 = 0.8;
/// Stripes are pinned within this many wavelengths of a crease, and fall in with it outside.
const PINNED: f64 = 0.5;

/// The crease nearest to a vertex.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crease {
    /// Unit, in the surface: across the crease.
    pub across: DVec3,
    /// From the crease along `across`, signed, metres.
    pub distance: f64,
    /// How much deeper than other wrinkles.
    pub depth: f64,
    /// The least mask on it, 0 to 1.
    pub mask: f64,
}

impl Crease {
    /// 1 on the crease, 0 from half a wavelength away.
    pub fn band(&self, wavelength: f64) -> f64 {
        let x = self.distance.abs() / (0.5 * wavelength);
        if x < 1.0 { (0.5 * PI * x).cos().powi(2) } else { 0.0 }
    }

    fn nearer(self, other: &mut Option<Self>) {
        if other.is_none_or(|known| self.distance.abs() < known.distance.abs()) {
            *other = Some(self);
        }
    }
}

/// Joints that crease where they bend.
pub(super) struct Joints<'a> {
    pub skeleton: &'a Skeleton,
    pub surface: &'a Surface,
    /// Of each vertex of the surface.
    pub joint_of: &'a [Option<u32>],
    pub depth: f64,
}

impl Joints<'_> {
    /// Adds creases in the plane through each joint that halves the angle between its bones, where skin folds along the limb.
    /// Vertices that have a crease keep it.
    pub fn add(&self, patch: &Patch, lines: &[DVec3], wavelengths: &[f64], creases: &mut [Option<Crease>]) {
        let planes: Vec<Option<(DVec3, DVec3)>> = (0..self.skeleton.len()).map(|j| self.plane(j)).collect();
        for v in 0..patch.len() {
            let Some(joint) = self.joint_of[patch.vertices[v] as usize] else { continue };
            let Some((through, normal)) = planes[joint as usize] else { continue };
            let in_surface = normal - patch.normals[v] * normal.dot(patch.normals[v]);
            let Some(across) = in_surface.try_normalize() else { continue };
            // Along the surface it is farther to the plane than straight.
            let distance = (patch.position(v) - through).dot(normal) / in_surface.length().max(0.5);
            let near = distance.abs() <= PINNED * wavelengths[v];
            if creases[v].is_none() && near && lines[v].dot(across).abs() >= LEAST_AGREEMENT {
                creases[v] = Some(Crease { across, distance, depth: self.depth, mask: 0.0 });
            }
        }
    }

    fn plane(&self, joint: usize) -> Option<(DVec3, DVec3)> {
        let at = |j: usize| self.surface.joint_from_bind()[j].inverse().translation.as_dvec3();
        let in_skin = |j: usize| self.skeleton.joints[j].in_skin;
        let parent = self.skeleton.nearest_ancestor(joint, in_skin)?;
        let into = (at(joint) - at(parent)).try_normalize()?;
        let children = self.skeleton.children(joint).filter(|&c| in_skin(c)).map(|c| at(c) - at(joint));
        let out = children.max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
        let out = out.and_then(DVec3::try_normalize).unwrap_or(into);
        Some((at(joint), (into + out).try_normalize().unwrap_or(into)))
    }
}

/// Bind space from the coordinates of a bone, without scale; those of bind space itself without one.
fn bind_from_bone(
    bone: Option<&String>,
    surface: &Surface,
    skeleton: &Skeleton,
) -> Result<Affine3A, WrinkleError> {
    let Some(bone) = bone else { return Ok(Affine3A::IDENTITY) };
    let joint = skeleton.find(bone).ok_or_else(|| WrinkleError::NoJoint { joint: bone.clone() })?;
    let map = surface.joint_from_bind()[joint].inverse();
    let (transform, _) = Transform::from_affine(map);
    Ok(Affine3A::from_rotation_translation(transform.rotation, map.translation.into()))
}

/// What strokes and dabs ask of each vertex of a surface.
#[derive(Debug)]
pub(super) struct Marks {
    pub creases: Vec<Option<Crease>>,
    /// Mask and how much of it holds.
    pub masks: Vec<Option<[f64; 2]>>,
    /// Direction to fold along, times how much it holds.
    pub directions: Vec<DVec3>,
}

impl Marks {
    /// An error for a stroke or dab that lies nowhere on skin that joints bend.
    pub fn new(
        def: &WrinkleDef,
        surface: &Surface,
        skeleton: &Skeleton,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Self, WrinkleError> {
        let rest = &surface.mesh;
        let count = rest.positions.len();
        let mut marks = Self {
            creases: vec![None; count],
            masks: vec![None; count],
            directions: vec![DVec3::ZERO; count],
        };
        if def.stroke.is_empty() && def.dab.is_empty() {
            return Ok(marks);
        }
        let normals = rest.normals();
        for (k, stroke) in def.stroke.iter().enumerate() {
            let map = bind_from_bone(stroke.bone.as_ref(), surface, skeleton)?;
            if !marks.add_stroke(stroke, &map, rest, &normals, &wanted) {
                return Err(WrinkleError::OffSkin { what: format!("stroke {}", k + 1) });
            }
        }
        for (k, dab) in def.dab.iter().enumerate() {
            let map = bind_from_bone(dab.bone.as_ref(), surface, skeleton)?;
            if !marks.add_dab(dab, &map, rest, &normals, &wanted) {
                return Err(WrinkleError::OffSkin { what: format!("dab {}", k + 1) });
            }
        }
        Ok(marks)
    }

    fn add_stroke(
        &mut self,
        stroke: &Stroke,
        map: &Affine3A,
        rest: &TriMesh,
        normals: &[Vec3],
        wanted: &impl Fn(usize) -> bool,
    ) -> bool {
        let points: Vec<DVec3> = stroke.points.iter().map(|&p| map.transform_point3(p).as_dvec3()).collect();
        // The skin that the stroke lies on faces as the vertex nearest to each of its points does.
        let facing: Vec<DVec3> = points.iter().map(|&p| nearest_normal(p, rest, normals)).collect();
        let mut touched = false;
        for v in (0..rest.positions.len()).filter(|&v| wanted(v)) {
            let (at, normal) = (rest.positions[v].as_dvec3(), normals[v].as_dvec3());
            for (ends, facing) in points.windows(2).zip(facing.windows(2)) {
                let along = ends[1] - ends[0];
                let t = (at - ends[0]).dot(along) / along.length_squared();
                // A little beyond the ends, where the crease runs out.
                if !(-0.05..=1.05).contains(&t) || (facing[0] + facing[1]).dot(normal) <= 0.0 {
                    continue;
                }
                let away = at - (ends[0] + along * t);
                let Some(across) = normal.cross(along).try_normalize() else { continue };
                let share = 1.0 - away.length() / f64::from(stroke.width);
                if share <= 0.0 {
                    continue;
                }
                touched = true;
                if share > self.directions[v].length() {
                    self.directions[v] = across * share;
                }
                let (depth, mask) = (f64::from(stroke.depth), f64::from(stroke.mask));
                let distance = away.length().copysign(away.dot(across));
                Crease { across, distance, depth, mask }.nearer(&mut self.creases[v]);
            }
        }
        touched
    }

    fn add_dab(
        &mut self,
        dab: &Dab,
        map: &Affine3A,
        rest: &TriMesh,
        normals: &[Vec3],
        wanted: &impl Fn(usize) -> bool,
    ) -> bool {
        let middle = map.transform_point3(dab.at);
        let direction = map.transform_vector3(dab.direction.unwrap_or(Vec3::ZERO)).as_dvec3();
        let mut touched = false;
        for v in (0..rest.positions.len()).filter(|&v| wanted(v)) {
            let share = 1.0 - f64::from(rest.positions[v].distance(middle) / dab.radius);
            if share <= 0.0 {
                continue;
            }
            touched = true;
            // Full over the inner half.
            let share = (2.0 * share).min(1.0);
            if let Some(mask) = dab.mask {
                let [before, held] = self.masks[v].unwrap_or([f64::from(mask), 0.0]);
                let mixed = before + share * (f64::from(mask) - before);
                self.masks[v] = Some([mixed, held.max(share)]);
            }
            let normal = normals[v].as_dvec3();
            let flat = (direction - normal * direction.dot(normal)).normalize_or_zero();
            if flat != DVec3::ZERO {
                self.directions[v] = flat * share;
            }
        }
        touched
    }

    /// Whether anything is asked of a vertex.
    pub fn touch(&self, v: usize) -> bool {
        self.creases[v].is_some() || self.masks[v].is_some() || self.directions[v] != DVec3::ZERO
    }
}

fn nearest_normal(p: DVec3, rest: &TriMesh, normals: &[Vec3]) -> DVec3 {
    let nearest = rest.positions.iter().map(|q| q.as_dvec3().distance_squared(p)).enumerate();
    let nearest = nearest.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(v, _)| v);
    normals[nearest].as_dvec3()
}

//! Parts as tracking sees them: their bones, and how they are connected.

use crate::field::{Field, Support};
use crate::parts::{Part, Parts};
use glam::{Vec3, Vec3A};

/// How two parts are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// They are one.
    Same,
    /// Parent and child.
    Joint,
    /// Their solids touch at rest.
    Touching,
    /// Neither.
    Far,
}

/// A joint that a part shares with another, bind space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hinge {
    pub other: u32,
    pub at: Vec3A,
    /// Unit, from the joint along each part.
    pub own_direction: Vec3A,
    pub other_direction: Vec3A,
}

/// A part as tracking sees it, bind space.
#[derive(Clone, Debug)]
pub(super) struct Bone {
    pub joint: u32,
    pub radius: f32,
    pub inner_radius: f32,
    /// Shortened at shared joints: the closest points on two neighbours would otherwise meet in the joint, and the
    /// direction between them would be undefined.
    pub segments: Vec<[Vec3A; 2]>,
    pub support: Support,
    pub hinges: Vec<Hinge>,
    /// How closely its skin can follow the fields, 0 to 1: little if its triangles are as large as the part is thick.
    pub fineness: f32,
}

/// Shortening of bones at shared joints, in radii; in the prototype 0.25 left more crossings in deep bends.
const BONE_CUT: f32 = 0.5;
/// Never more than this share of the bone's length.
const MOST_BONE_CUT: f32 = 0.45;

pub(super) fn bones(parts: &[Part]) -> Vec<Bone> {
    let joint_at = |p: usize| parts[p].bone.first().map_or(Vec3::ZERO, |segment| segment[0]);
    let middle_of_ends = |p: usize| {
        let ends = parts[p].bone.iter().map(|segment| segment[1]);
        ends.sum::<Vec3>() / parts[p].bone.len().max(1) as f32
    };
    (0..parts.len())
        .map(|p| {
            let part = &parts[p];
            let children: Vec<usize> =
                (0..parts.len()).filter(|&c| parts[c].parent == Some(p as u32)).collect();
            let shorten = |&[a, b]: &[Vec3; 2]| {
                let length = a.distance(b);
                let cut = (BONE_CUT * part.radius).min(MOST_BONE_CUT * length);
                let along = (b - a).normalize_or_zero() * cut;
                let shared_end = children.iter().any(|&c| joint_at(c).distance(b) <= 0.05 * length);
                let start = if part.parent.is_some() { a + along } else { a };
                [start.into(), if shared_end { b - along } else { b }.into()]
            };
            let hinge = |other: usize, at: Vec3, own: Vec3, there: Vec3| {
                let (own_direction, other_direction) =
                    ((own - at).try_normalize()?.into(), (there - at).try_normalize()?.into());
                Some(Hinge { other: other as u32, at: at.into(), own_direction, other_direction })
            };
            let up = part.parent.and_then(|parent| {
                let parent = parent as usize;
                hinge(parent, joint_at(p), middle_of_ends(p), joint_at(parent))
            });
            let down = children.iter().filter_map(|&c| hinge(c, joint_at(c), joint_at(p), middle_of_ends(c)));
            Bone {
                joint: part.joint,
                radius: part.radius,
                inner_radius: part.inner_radius,
                segments: part.bone.iter().map(shorten).collect(),
                support: part.field.support(),
                hinges: up.into_iter().chain(down).collect(),
                fineness: 1.0,
            }
        })
        .collect()
}

pub(super) fn relations(parts: &Parts) -> Vec<Relation> {
    let count = parts.parts.len();
    let mut relations = vec![Relation::Far; count * count];
    let mut set = |a: usize, b: usize, relation| {
        relations[a * count + b] = relation;
        relations[b * count + a] = relation;
    };
    parts.touching.iter().for_each(|&[a, b]| set(a as usize, b as usize, Relation::Touching));
    for (p, part) in parts.parts.iter().enumerate() {
        if let Some(parent) = part.parent {
            set(p, parent as usize, Relation::Joint);
        }
        set(p, p, Relation::Same);
    }
    relations
}

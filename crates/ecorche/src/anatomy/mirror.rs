//! The other side of the body.

use super::Anatomy;
use super::frames::BindFrames;
use crate::character::humanoid::{self, joint_of};
use crate::character::{Character, Skeleton};
use crate::muscle::definition::{Attachment, BodyDef, FatDef, Footprint, MuscleDef};
use crate::muscle::parametric::ParametricDef;
use crate::schema::{Path, Problem};
use glam::{Affine3A, Quat, Vec3};

/// For each joint its counterpart on the other side; itself on the middle plane; `None` for a limb without
/// counterpart. Found from the humanoid bones recognised, then from names.
pub(super) fn counterparts(skeleton: &Skeleton) -> Vec<Option<usize>> {
    let recognised = humanoid::recognise(skeleton);
    (0..skeleton.len())
        .map(|joint| match recognised[joint] {
            Some(bone) => joint_of(&recognised, bone.mirrored()),
            None => {
                let swapped = swapped_names(&skeleton.joints[joint].name);
                let exact = |name: &String| skeleton.joints.iter().position(|j| j.name == *name);
                if swapped.is_empty() { Some(joint) } else { swapped.iter().find_map(exact) }
            }
        })
        .collect()
}

/// The name with each of its side marks swapped, one at a time; empty for a name without.
fn swapped_names(name: &str) -> Vec<String> {
    const MARKS: [(&str, &str); 5] =
        [("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"), ("l", "r"), ("L", "R")];
    let mut found = Vec::new();
    for (a, b) in MARKS {
        for (from, to) in [(a, b), (b, a)] {
            for (at, _) in name.match_indices(from) {
                let end = at + from.len();
                // Single letters are marks only between other kinds of characters: arm_L, armL, l_arm.
                let before = name[..at].chars().next_back();
                let after = name[end..].chars().next();
                let upper = from.chars().all(char::is_uppercase);
                let starts = before.is_none_or(|c| !c.is_alphabetic() || (upper && c.is_lowercase()));
                let ends = after.is_none_or(|c| !c.is_alphabetic() || (upper && c.is_uppercase()));
                if from.len() > 1 || (starts && ends) {
                    found.push([&name[..at], to, &name[end..]].concat());
                }
            }
        }
    }
    found
}

/// Carries things of one side to the other.
struct Mirror<'a> {
    skeleton: &'a Skeleton,
    frames: BindFrames,
    counterparts: Vec<Option<usize>>,
    /// Unit, from right to left.
    normal: Vec3,
    /// Where the middle plane meets the normal.
    offset: f32,
}

impl<'a> Mirror<'a> {
    /// Finds the middle plane between the joints that have a counterpart.
    fn of(character: &'a Character) -> Self {
        let skeleton = &character.skeleton;
        let frames = BindFrames::of(character);
        let counterparts = counterparts(skeleton);
        let recognised = humanoid::recognise(skeleton);
        let mut across = Vec3::ZERO;
        let mut pairs = Vec::new();
        for (joint, &other) in counterparts.iter().enumerate() {
            let Some(other) = other.filter(|&other| other != joint) else { continue };
            let way = frames.joint(joint) - frames.joint(other);
            let left = match recognised[joint] {
                Some(bone) => bone.side == humanoid::Side::Left,
                None => way.x > 0.0,
            };
            if left {
                across += way;
                pairs.push(0.5 * (frames.joint(joint) + frames.joint(other)));
            }
        }
        let normal = across.try_normalize().unwrap_or(Vec3::X);
        let sum: f64 = pairs.iter().map(|&p| f64::from(p.dot(normal))).sum();
        let offset = if pairs.is_empty() { 0.0 } else { (sum / pairs.len() as f64) as f32 };
        Self { skeleton, frames, counterparts, normal, offset }
    }

    fn reflect(&self, p: Vec3) -> Vec3 {
        p - 2.0 * (p.dot(self.normal) - self.offset) * self.normal
    }

    /// Where the first child with a counterpart lies from `joint`, and that counterpart from the other.
    fn directions(&self, joint: usize, other: usize) -> Option<[Vec3; 2]> {
        let child = self.skeleton.children(joint).find(|&child| {
            self.counterparts[child].is_some_and(|c| self.skeleton.joints[c].parent == Some(other))
        })?;
        let pair = [(joint, child), (other, self.counterparts[child]?)];
        let [own, others] =
            pair.map(|(from, to)| (self.frames.joint(to) - self.frames.joint(from)).try_normalize());
        Some([own?, others?])
    }

    /// The map that follows the reflection: it turns and moves a reflected bone onto its counterpart, which
    /// differs from it where the bind pose is not symmetric.
    fn adjust(&self, joint: usize, other: usize) -> Affine3A {
        if joint == other {
            return Affine3A::IDENTITY;
        }
        let from = self.reflect(self.frames.joint(joint));
        let to = self.frames.joint(other);
        let turn = match self.directions(joint, other) {
            Some([own, others]) => {
                let own = own - 2.0 * own.dot(self.normal) * self.normal;
                Quat::from_rotation_arc(own, others)
            }
            None => Quat::IDENTITY,
        };
        Affine3A::from_translation(to) * Affine3A::from_quat(turn) * Affine3A::from_translation(-from)
    }

    fn joint(&self, name: &str) -> Option<(usize, usize)> {
        let joint = self.skeleton.find(name)?;
        Some((joint, self.counterparts[joint]?))
    }

    fn point(&self, point: &Attachment) -> Option<Attachment> {
        let (joint, other) = self.joint(&point.bone)?;
        let p = self.reflect(self.frames.to_bind(joint, point.at));
        let p = self.adjust(joint, other).transform_point3(p);
        Some(Attachment { bone: self.skeleton.joints[other].name.clone(), at: self.frames.to_bone(other, p) })
    }

    fn direction(&self, bone: &str, direction: Vec3) -> Option<Vec3> {
        let (joint, other) = self.joint(bone)?;
        let d = self.frames.bind_from_bone[joint].transform_vector3(direction);
        let d = self.adjust(joint, other).transform_vector3(d - 2.0 * d.dot(self.normal) * self.normal);
        Some(self.frames.bind_from_bone[other].inverse().transform_vector3(d))
    }

    fn points(&self, points: &[Attachment]) -> Option<Vec<Attachment>> {
        points.iter().map(|p| self.point(p)).collect()
    }

    fn names(&self, names: &[String]) -> Option<Vec<String>> {
        names.iter().map(|n| Some(self.skeleton.joints[self.joint(n)?.1].name.clone())).collect()
    }

    /// The mirror image of a muscle; `None` if a joint it names does not exist or has no counterpart.
    fn muscle(&self, muscle: &MuscleDef) -> Option<MuscleDef> {
        let wide_axis = match (muscle.wide_axis, muscle.origin.0.first()) {
            (Some(axis), Some(origin)) => Some(self.direction(&origin.bone, axis)?),
            _ => None,
        };
        Some(MuscleDef {
            side: muscle.side.opposite(),
            mirror: false,
            origin: Footprint(self.points(&muscle.origin.0)?),
            insertion: Footprint(self.points(&muscle.insertion.0)?),
            via: self.points(&muscle.via)?,
            wide_axis,
            parts: self.names(&muscle.parts)?,
            ..muscle.clone()
        })
    }

    /// The mirror image of a parametric muscle.
    fn parametric(&self, muscle: &ParametricDef) -> Option<ParametricDef> {
        // Sections count to the side of the line that a mirror swaps.
        let sweep = muscle.sweep.map(|[across, along]| [-across, along]);
        Some(ParametricDef {
            side: muscle.side.opposite(),
            mirror: false,
            origin: self.point(&muscle.origin)?,
            insertion: self.point(&muscle.insertion)?,
            path: self.points(&muscle.path)?,
            bulge: self.direction(&muscle.origin.bone, muscle.bulge)?,
            sweep,
            parts: self.names(&muscle.parts)?,
            ..muscle.clone()
        })
    }

    /// The mirror image of a fat pad.
    fn fat(&self, fat: &FatDef) -> Option<FatDef> {
        let Attachment { bone, at } = self.point(&Attachment { bone: fat.bone.clone(), at: fat.at })?;
        // A pad without axes of its own lies along its joint's, which need not mirror each other.
        let [a, b] = fat.axes.unwrap_or([Vec3::X, Vec3::Y]);
        let axes = [self.direction(&fat.bone, a)?, self.direction(&fat.bone, b)?];
        Some(FatDef {
            side: fat.side.opposite(),
            mirror: false,
            bone,
            at,
            axes: Some(axes),
            parts: self.names(&fat.parts)?,
            ..fat.clone()
        })
    }
}

impl Anatomy {
    /// Everything under the skin with mirror images written out, each after its original. Entries whose other
    /// side cannot be found stand alone; [`AnatomyFile::check`](super::AnatomyFile::check) names them.
    pub fn in_full(&self, character: &Character) -> BodyDef {
        let mirror = Mirror::of(character);
        let mut full =
            BodyDef { bone: self.body.bone.clone(), keys: self.body.keys.clone(), ..BodyDef::default() };
        for muscle in &self.body.muscle {
            full.muscle.push(MuscleDef { mirror: false, ..muscle.clone() });
            full.muscle.extend(muscle.mirror.then(|| mirror.muscle(muscle)).flatten());
        }
        for muscle in &self.body.parametric {
            full.parametric.push(ParametricDef { mirror: false, ..muscle.clone() });
            full.parametric.extend(muscle.mirror.then(|| mirror.parametric(muscle)).flatten());
        }
        for fat in &self.body.fat {
            full.fat.push(FatDef { mirror: false, ..fat.clone() });
            full.fat.extend(fat.mirror.then(|| mirror.fat(fat)).flatten());
        }
        full
    }

    /// Mirrored entries that name a joint without counterpart.
    pub(super) fn check_mirrors(&self, skeleton: &Skeleton) -> Vec<Problem> {
        let counterparts = counterparts(skeleton);
        let alone = |bone: &str| skeleton.find(bone).is_some_and(|joint| counterparts[joint].is_none());
        let mut problems = Vec::new();
        let mut add = |list: &str, index: usize, bone: &str| {
            let message = format!(
                "joint \"{bone}\" has no counterpart on the other side; write both sides and drop mirror"
            );
            problems.push(Problem { path: Path::default().key(list).index(index).key("mirror"), message });
        };
        for (k, muscle) in self.body.muscle.iter().enumerate().filter(|(_, m)| m.mirror) {
            let mut points = muscle.origin.0.iter().chain(&muscle.insertion.0).chain(&muscle.via);
            if let Some(point) = points.find(|p| alone(&p.bone)) {
                add("muscle", k, &point.bone);
            }
        }
        for (k, muscle) in self.body.parametric.iter().enumerate().filter(|(_, m)| m.mirror) {
            let mut points = [&muscle.origin, &muscle.insertion].into_iter().chain(&muscle.path);
            if let Some(point) = points.find(|p| alone(&p.bone)) {
                add("parametric", k, &point.bone);
            }
        }
        for (k, fat) in self.body.fat.iter().enumerate().filter(|(_, f)| f.mirror && alone(&f.bone)) {
            add("fat", k, &fat.bone);
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn side_marks_are_found_where_they_are_marks() {
        let other = |name: &str| swapped_names(name);
        assert_eq!(other("upperarm_L"), ["upperarm_R"]);
        assert_eq!(other("armL"), ["armR"]);
        assert_eq!(other("Bip01 L UpperArm"), ["Bip01 R UpperArm"]);
        assert!(other("LeftArm").contains(&"RightArm".to_owned()));
        assert!(other("spine_lower").is_empty(), "{:?}", other("spine_lower"));
        assert!(other("Root").is_empty());
    }
}

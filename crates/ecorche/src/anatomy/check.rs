//! Whether an anatomy fits a skeleton, and can be built in a character.

use super::{Anatomy, BindFrames};
use crate::character::{Character, Skeleton};
use crate::geom::Adjacency;
use crate::muscle::definition::{Attachment, MuscleDef, Parameter, Side};
use crate::muscle::parametric::Parametric;
use crate::muscle::{BuildError, Musculature};
use crate::schema::names::suggestion;
use crate::schema::{Path, Problem};
use crate::skinning::Surface;
use glam::{Affine3A, Vec3};
use std::collections::BTreeSet;

/// How much longer than the bones it spans a muscle's axis may be. Chosen, not tuned: the preset passes on every body
/// tried, coordinates mistaken for centimetres give 20 and more.
const SLACK: f32 = 2.5;

/// Joints that may be missing before the whole file counts as another character's: as many as one can read.
const MOST_MISSING: usize = 3;

impl Anatomy {
    /// What does not fit `skeleton`; empty when all does.
    pub(super) fn check(&self, skeleton: &Skeleton) -> Vec<Problem> {
        let (named, missing) = (BTreeSet::new(), Vec::new());
        let mut check = Check { skeleton, rest: Rest::of(skeleton), problems: Vec::new(), named, missing };
        let root = Path::default();
        let skin = root.key("skin");
        for name in self.skin.joint.keys() {
            check.joint(&skin.key("joint").key(name), name);
        }
        if let Some(def) = &self.wrinkles {
            let wrinkles = root.key("wrinkles");
            for (k, name) in def.joints.iter().enumerate() {
                check.joint(&wrinkles.key("joints").index(k), name);
            }
            for name in def.joint.keys() {
                check.joint(&wrinkles.key("joint").key(name), name);
            }
            let strokes = def.stroke.iter().enumerate().map(|(k, stroke)| ("stroke", k, &stroke.bone));
            let dabs = def.dab.iter().enumerate().map(|(k, dab)| ("dab", k, &dab.bone));
            for (list, k, bone) in strokes.chain(dabs) {
                let Some(bone) = bone else { continue };
                check.joint(&wrinkles.key(list).index(k).key("bone"), bone);
            }
        }
        for (k, muscle) in self.body.muscle.iter().enumerate() {
            check.muscle(&root.key("muscle").index(k), muscle);
        }
        for (k, muscle) in self.body.parametric.iter().enumerate() {
            let path = root.key("parametric").index(k);
            check.points(&path.key("origin"), std::slice::from_ref(&muscle.origin), false);
            check.points(&path.key("insertion"), std::slice::from_ref(&muscle.insertion), false);
            check.points(&path.key("path"), &muscle.path, true);
            check.parts(&path, &muscle.parts);
        }
        for (k, fat) in self.body.fat.iter().enumerate() {
            let path = root.key("fat").index(k);
            check.joint(&path.key("bone"), &fat.bone);
            check.parts(&path, &fat.parts);
        }
        for (k, bone) in self.body.bone.iter().enumerate() {
            check.joint(&root.key("bone").index(k).key("bone"), &bone.bone);
        }
        for (k, keys) in self.body.keys.iter().enumerate() {
            let is_it = |name: &str, side: Side, mirror: bool| {
                name == keys.muscle && (side == keys.side || (mirror && side == keys.side.opposite()))
            };
            let known = self.body.muscle.iter().any(|m| is_it(&m.name, m.side, m.mirror));
            let parametric = self.body.parametric.iter().any(|m| is_it(&m.name, m.side, m.mirror));
            if parametric && !known && keys.parameter != Parameter::Activation {
                let message = "of a parametric muscle only the activation can be keyed; write parameter = \"activation\"";
                check.add(&root.key("keys").index(k).key("parameter"), message.to_owned());
            }
            if !known && !parametric {
                let names = self.body.muscle.iter().map(|m| m.name.as_str());
                let names = names.chain(self.body.parametric.iter().map(|m| m.name.as_str()));
                let near = suggestion(&keys.muscle, names);
                let remedy = if near.is_empty() { "; name one of this file".to_owned() } else { near };
                let (name, side) = (&keys.muscle, keys.side.name());
                check.add(
                    &root.key("keys").index(k).key("muscle"),
                    format!("no muscle \"{name}\" of side \"{side}\"{remedy}"),
                );
            }
        }
        if let Some(problem) = check.of_another_character() {
            return vec![problem];
        }
        check.problems.extend(self.check_mirrors(skeleton));
        check.problems
    }

    /// Checks the parametric muscles and builds the others and fat in a character, both sides, as a bind does except for the skin around them; `None` without
    /// any. `folder`: where the files of bones are relative to.
    pub fn build(
        &self,
        character: &Character,
        folder: &std::path::Path,
    ) -> Result<Option<Musculature>, BuildError> {
        let body = self.in_full(character);
        let bind = BindFrames::of(character).bind_from_bone;
        Parametric::of_skeleton(&body.parametric, &character.skeleton, &bind)?;
        if !body.has_flesh() {
            return Ok(None);
        }
        Musculature::new(&body, &character.skeleton, &bind, folder, Vec::new()).map(Some)
    }

    /// Where in the file the cause of a build error is. A mirror image is where its original is.
    pub(super) fn place_of(&self, error: &BuildError) -> Path {
        let (lists, name, key) = error.place();
        let body = &self.body;
        let muscles = body.muscle.iter().map(|m| (m.title(), m.mirror.then(|| m.mirror_title())));
        let pads = body.fat.iter().map(|f| (f.title(), f.mirror.then(|| f.mirror_title())));
        let parametric = body.parametric.iter().map(|m| (m.title(), m.mirror.then(|| m.mirror_title())));
        let bones = body.bone.iter().map(|b| (b.bone.clone(), None));
        let mut found = Path::default();
        for (list, titles) in [
            ("muscle", muscles.collect::<Vec<_>>()),
            ("parametric", parametric.collect()),
            ("fat", pads.collect()),
            ("bone", bones.collect()),
        ] {
            // The last of several: the one that a duplicate was found at.
            let at = titles.iter().rposition(|(own, mirror)| own == name || mirror.as_deref() == Some(name));
            if let Some(at) = at.filter(|_| lists.contains(&list)) {
                found = Path::default().key(list).index(at);
                found.0.extend(key.0.iter().cloned());
            }
        }
        found
    }
}

impl Anatomy {
    /// Meshes, materials and pieces that `character` lacks; empty when it has all.
    pub(super) fn check_pieces(&self, character: &Character) -> Vec<Problem> {
        let mut problems = Vec::new();
        let skinned = || character.meshes.iter().filter(|mesh| mesh.skin().is_some());
        let meshes: Vec<&str> = skinned().map(|mesh| mesh.name.as_str()).collect();
        let mut materials: Vec<&str> =
            skinned().flat_map(|m| m.materials.iter().map(String::as_str)).collect();
        materials.sort_unstable();
        materials.dedup();
        let both: Vec<&str> = meshes.iter().chain(&materials).copied().collect();
        let mut check = |path: Path, what: &str, name: &str, known: &[&str]| {
            if known.contains(&name) {
                return;
            }
            let near = suggestion(name, known.iter().copied());
            let remedy = match (near.is_empty(), known.is_empty()) {
                (false, _) => near,
                (true, true) => "; it has none".to_owned(),
                (true, false) => format!("; it has {}", some_of(known.iter().copied())),
            };
            problems
                .push(Problem { path, message: format!("the character has no {what} \"{name}\"{remedy}") });
        };
        for (k, piece) in self.piece.iter().enumerate() {
            let path = Path::default().key("piece").index(k);
            if let Some(name) = &piece.mesh {
                check(path.key("mesh"), "skinned mesh", name, &meshes);
            }
            if let Some(name) = &piece.material {
                check(path.key("material"), "material", name, &materials);
            }
            for (key, names) in [("on", &piece.on), ("apart", &piece.apart)] {
                for (i, name) in names.iter().enumerate() {
                    check(path.key(key).index(i), "skinned mesh or material", name, &both);
                }
            }
        }
        if self.piece.iter().any(|piece| piece.index.is_some()) {
            let count = Surface::new(character).map_or(0, |s| Adjacency::new(&s.mesh).components().1);
            for (k, piece) in self.piece.iter().enumerate() {
                if let Some(index) = piece.index.filter(|&index| index as usize >= count) {
                    let message =
                        format!("the character has no piece {index}; it has {count}, counted from 0");
                    let path = Path::default().key("piece").index(k).key("index");
                    problems.push(Problem { path, message });
                }
            }
        }
        problems
    }
}

/// Places and lengths of a skeleton's joints in its rest pose.
struct Rest {
    world: Vec<Affine3A>,
    /// Distance to the farthest child; of a leaf to its parent.
    length: Vec<f32>,
}

impl Rest {
    fn of(skeleton: &Skeleton) -> Self {
        let mut world: Vec<Affine3A> = Vec::with_capacity(skeleton.len());
        for joint in &skeleton.joints {
            let local = joint.rest.to_affine();
            world.push(joint.parent.map_or(local, |parent| world[parent] * local));
        }
        let to_parent = |joint: usize| {
            let parent = skeleton.joints[joint].parent?;
            Some((parent, world[joint].translation.distance(world[parent].translation)))
        };
        let mut length = vec![0f32; skeleton.len()];
        for joint in 0..skeleton.len() {
            if let Some((parent, distance)) = to_parent(joint) {
                length[parent] = length[parent].max(distance);
            }
        }
        for joint in 0..skeleton.len() {
            if length[joint] == 0.0 {
                length[joint] = to_parent(joint).map_or(0.0, |(_, distance)| distance);
            }
        }
        Self { world, length }
    }

    /// A point of a bone, in metres along the joint's axes.
    fn point(&self, joint: usize, at: Vec3) -> Vec3 {
        super::frames::rigid(self.world[joint]).transform_point3(at)
    }

    /// Length of the way through the hierarchy from one joint to another, both bones included.
    fn span(&self, skeleton: &Skeleton, a: usize, b: usize) -> f32 {
        let mut way = self.length[a] + if a == b { 0.0 } else { self.length[b] };
        let [mut a, mut b] = [a, b];
        while a != b {
            // Parents come first, so the later of two different joints is not an ancestor of the other.
            let later = if a > b { &mut a } else { &mut b };
            let Some(parent) = skeleton.joints[*later].parent else { break };
            way += self.world[*later].translation.distance(self.world[parent].translation);
            *later = parent;
        }
        way
    }
}

struct Check<'a> {
    skeleton: &'a Skeleton,
    rest: Rest,
    problems: Vec<Problem>,
    /// Joints the anatomy names.
    named: BTreeSet<String>,
    /// Those of them that the skeleton lacks.
    missing: Vec<String>,
}

/// The first few of a list of names, in quotes, and how many more there are.
fn some_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 8;
    let names: Vec<&str> = names.collect();
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("\"{name}\"")).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

impl Check<'_> {
    fn add(&mut self, path: &Path, message: String) {
        self.problems.push(Problem { path: path.clone(), message });
    }

    /// Said instead of every joint that is missing, where most are.
    fn of_another_character(&self) -> Option<Problem> {
        let [missing, all] = [self.missing.len(), self.named.len()];
        if missing <= MOST_MISSING || 2 * missing <= all {
            return None;
        }
        let has = some_of(self.skeleton.joints.iter().map(|j| j.name.as_str()));
        let wants = some_of(self.missing.iter().map(String::as_str));
        let message = format!(
            "this anatomy is of another character: {} of the {all} joints it names match. It names {wants}; the character has \
             {has}. Open it with its own character, or transfer it to this one",
            all - missing
        );
        Some(Problem { path: Path::default(), message })
    }

    fn joint(&mut self, path: &Path, name: &str) -> Option<usize> {
        let found = self.skeleton.find(name);
        let is_new = self.named.insert(name.to_owned());
        if found.is_none() {
            if is_new {
                self.missing.push(name.to_owned());
            }
            let names = || self.skeleton.joints.iter().map(|j| j.name.as_str());
            let near = suggestion(name, names());
            let remedy = if near.is_empty() { format!("; it has {}", some_of(names())) } else { near };
            self.add(path, format!("the character has no joint \"{name}\"{remedy}"));
        }
        found
    }

    fn parts(&mut self, path: &Path, parts: &[String]) {
        for (k, name) in parts.iter().enumerate() {
            self.joint(&path.key("parts").index(k), name);
        }
    }

    fn points(&mut self, path: &Path, points: &[Attachment], listed: bool) -> Option<Vec<(usize, Vec3)>> {
        let mut found = Some(Vec::new());
        for (k, point) in points.iter().enumerate() {
            let path = if listed { path.index(k) } else { path.clone() };
            match (self.joint(&path.key("bone"), &point.bone), &mut found) {
                (Some(joint), Some(list)) => list.push((joint, self.rest.point(joint, point.at))),
                _ => found = None,
            }
        }
        found
    }

    fn muscle(&mut self, path: &Path, muscle: &MuscleDef) {
        let [origin, insertion] = [("origin", &muscle.origin.0), ("insertion", &muscle.insertion.0)]
            .map(|(key, points)| self.points(&path.key(key), points, points.len() > 1));
        let via = self.points(&path.key("via"), &muscle.via, true);
        self.parts(path, &muscle.parts);
        let (Some(origin), Some(insertion), Some(via)) = (origin, insertion, via) else { return };
        let pairs = origin.iter().flat_map(|a| insertion.iter().map(move |b| (a, b)));
        for (a, b) in pairs {
            let stations: Vec<Vec3> = [a.1].into_iter().chain(via.iter().map(|v| v.1)).chain([b.1]).collect();
            let length: f32 = stations.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
            let span = self.rest.span(self.skeleton, a.0, b.0);
            if span > 0.0 && length > SLACK * span {
                let message = format!(
                    "its axis is {length:.2} m long, the bones it spans {span:.2} m; \
                     coordinates are metres in the joint's own axes"
                );
                return self.add(path, message);
            }
            if length <= 1e-5 * span {
                return self
                    .add(path, "origin and insertion are the same point; move one of them".to_owned());
            }
        }
    }
}

//! A muscle set made in one body, placed in another.
//!
//! Neither topology nor names of joints need match: both skeletons are recognised as human, and a place goes over by its coordinates
//! along, around and from bone to skin (`preset/coordinates.rs`). A muscle is as wide as the room it has there: its width goes with the largest that
//! stays inside the skin in either body. What names a bone that the other body has not, goes to the next one towards the hips
//! that both have.

use super::preset::coordinates::Atlas;
use super::preset::draft::{Draft, Room, Spot};
use super::preset::{Preset, Skipped};
use super::{Anatomy, BindFrames};
use crate::character::Character;
use crate::character::humanoid::{self, HumanoidBone, joint_of};
use crate::muscle::definition::{Attachment, BodyDef, FatDef, Footprint, MuscleDef, Side};
use glam::Vec3;
use std::collections::BTreeSet;

/// How much longer a muscle may get to stay inside. Chosen, not tuned: without a limit the gluteus maximus of the athlete is half as long again in Geno.
const LONGER: f32 = 1.08;

/// Why nothing can be carried over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransferError {
    /// A body that is not recognised.
    #[error(
        "\"{0}\" has no skinned surface with a human arm or leg; muscles go over between humans, whose joints `ecorche info` lists"
    )]
    NotHuman(String),
}

/// Carries the muscles and fat of `anatomy`, made in `from`, over into `to`.
pub fn transfer(anatomy: &Anatomy, from: &Character, to: &Character) -> Result<Preset, TransferError> {
    let atlas =
        |character| Atlas::new(character).ok_or_else(|| TransferError::NotHuman(character.name.clone()));
    let carrier = Carrier { from: atlas(from)?, to: atlas(to)? };
    let mut preset = Preset::default();
    let mut lengths: Vec<[f32; 2]> = Vec::new();
    for muscle in &anatomy.body.muscle {
        match carrier.muscle(muscle) {
            Ok((moved, both)) => {
                preset.body.muscle.push(moved);
                lengths.push(both);
            }
            Err(reason) => preset.skipped.push(Skipped { name: muscle.title(), reason }),
        }
    }
    // Forces grow with the fourth power of the size, which is that of the median muscle.
    let mut ratios: Vec<f32> = lengths.iter().map(|[before, after]| after / before).collect();
    ratios.sort_by(f32::total_cmp);
    let size = ratios.get(ratios.len() / 2).copied().unwrap_or(1.0);
    for muscle in &mut preset.body.muscle {
        for force in [&mut muscle.tone, &mut muscle.strength, &mut muscle.stiffness] {
            *force = four_digits(*force * size.powi(4));
        }
    }
    let room = room(&carrier.to, Side::Left, true);
    room.shrink_to_skin(to, &mut preset);
    for fat in &anatomy.body.fat {
        match carrier.fat(fat) {
            Ok(moved) => preset.body.fat.push(moved),
            Err(reason) => preset.skipped.push(Skipped { name: fat.title(), reason }),
        }
    }
    carry_keys(&anatomy.body, &mut preset);
    for bone in &anatomy.body.bone {
        let reason = "solid bones belong to the body they were made for; describe this body's own".to_owned();
        preset.skipped.push(Skipped { name: format!("bone {}", bone.bone), reason });
    }
    Ok(preset)
}

fn carry_keys(body: &BodyDef, preset: &mut Preset) {
    let placed = |name: &str| preset.body.muscle.iter().any(|m| m.name == name);
    let keys: Vec<_> = body.keys.iter().filter(|keys| placed(&keys.muscle)).cloned().collect();
    preset.body.keys = keys;
}

fn room<'a>(atlas: &'a Atlas, side: Side, mirror: bool) -> Room<'a> {
    Room {
        probe: &atlas.probe,
        skeleton: &atlas.character.skeleton,
        frames: &atlas.frames,
        margin: 0.05 * atlas.thickness(),
        side,
        mirror,
    }
}

/// From one body to another.
struct Carrier<'a> {
    from: Atlas<'a>,
    to: Atlas<'a>,
}

impl Carrier<'_> {
    /// A joint of the first body, the humanoid bone of both that carries its places, and that bone's joint in the second.
    fn common(&self, bone: &str) -> Option<(usize, HumanoidBone, usize)> {
        let skeleton = &self.from.character.skeleton;
        let own = skeleton.find(bone)?;
        let line = std::iter::successors(Some(own), |&j| skeleton.joints[j].parent).take(skeleton.len());
        line.filter_map(|joint| self.from.recognised[joint])
            .find_map(|bone| Some((own, bone, joint_of(&self.to.recognised, bone)?)))
    }

    /// Where a place of the first body is in the second.
    fn point(&self, bone: HumanoidBone, side: humanoid::Side, p: Vec3) -> Option<Vec3> {
        let at = self.from.coordinates(bone, side, p)?;
        self.to.place(bone, side, at).filter(|p| p.is_finite())
    }

    /// An attachment in both bodies.
    fn spot(&self, point: &Attachment, side: humanoid::Side) -> Result<[Spot; 2], String> {
        let lost = || format!("nothing in the other body is joint \"{}\"", point.bone);
        let (own, bone, other) = self.common(&point.bone).ok_or_else(lost)?;
        let p = self.from.frames.to_bind(own, point.at);
        let moved = self.point(bone, side, p).ok_or_else(lost)?;
        Ok([(own, p), (other, moved)])
    }

    fn spots(&self, points: &[Attachment], side: humanoid::Side) -> Result<[Vec<Spot>; 2], String> {
        let both = points.iter().map(|p| self.spot(p, side)).collect::<Result<Vec<_>, _>>()?;
        Ok([0, 1].map(|k| both.iter().map(|spots| spots[k]).collect()))
    }

    /// The muscle in the second body, and its length in both.
    fn muscle(&self, muscle: &MuscleDef) -> Result<(MuscleDef, [f32; 2]), String> {
        if muscle.origin.0.is_empty() || muscle.insertion.0.is_empty() {
            return Err("it has no ends".to_owned());
        }
        let side = side_of(muscle.side);
        let [origin, insertion, via] =
            [&muscle.origin.0, &muscle.insertion.0, &muscle.via].map(|points| self.spots(points, side));
        let (origin, insertion, via) = (origin?, insertion?, via?);
        let draft = |k: usize| Draft {
            origin: origin[k].clone(),
            insertion: insertion[k].clone(),
            via: via[k].clone(),
            fibres: muscle.fibres,
            eccentricity: muscle.eccentricity,
            profile: [muscle.profile.rest.clone(), muscle.profile.active.clone()],
            tendon: muscle.tendon,
            ..Draft::spindle("", origin[k][0], Vec::new(), insertion[k][0], 0.0)
        };
        let rooms = [&self.from, &self.to].map(|atlas| room(atlas, muscle.side, muscle.mirror));
        let mut drafts = [0, 1].map(draft);
        // Under the skin as it was; what was outside may stay there.
        let ([before, after], margin) = (&mut drafts, rooms[1].margin);
        let pairs = [
            (&before.origin, &mut after.origin),
            (&before.insertion, &mut after.insertion),
            (&before.via, &mut after.via),
        ];
        for (before, after) in pairs {
            for (before, after) in before.iter().zip(after) {
                if self.from.probe.clearance(before.1).0 > rooms[0].margin {
                    after.1 = self.to.probe.settle(after.1, margin, 8.0 * margin);
                }
            }
        }
        let fall_together = "its points fall together";
        let own = rooms[0].shaped(&drafts[0]).ok_or(fall_together)?;
        let mut other = rooms[1].shaped(&drafts[1]).ok_or(fall_together)?;
        let scale = other.length / own.length;
        // A straight way between two places that went over can leave a body of another shape. A long way round is no remedy.
        if own.widest > 0.0 && other.widest < 0.5 * scale * own.widest {
            let mut inside = drafts[1].clone();
            let shaped = rooms[1].bring_inside(&mut inside, scale * muscle.width);
            if let Some(found) = shaped.and_then(|()| rooms[1].shaped(&inside))
                && found.widest > other.widest
                && found.length < LONGER * other.length
            {
                drafts[1] = inside;
                other = found;
            }
        }
        let by_room = other.widest / own.widest;
        let share = if by_room.is_finite() { by_room.clamp(0.5 * scale, 2.0 * scale) } else { scale };
        let attach =
            |spots: &[Spot]| -> Vec<Attachment> { spots.iter().map(|&s| rooms[1].attachment(s)).collect() };
        let [_, after] = &drafts;
        let moved = MuscleDef {
            origin: Footprint(attach(&after.origin)),
            insertion: Footprint(attach(&after.insertion)),
            via: attach(&after.via),
            width: four_digits(muscle.width * share),
            wide_axis: muscle.wide_axis.and_then(|axis| self.wide_axis(muscle, axis, own.length)),
            parts: self.names(&muscle.parts),
            ..muscle.clone()
        };
        Ok((moved, [own.length, other.length]))
    }

    /// The section's long side in the coordinates of the origin's bone.
    fn wide_axis(&self, muscle: &MuscleDef, axis: Vec3, length: f32) -> Option<Vec3> {
        let origin = muscle.origin.0.first()?;
        let (own, bone, other) = self.common(&origin.bone)?;
        let p = self.from.frames.to_bind(own, origin.at);
        let step =
            0.05 * length * self.from.frames.bind_from_bone[own].transform_vector3(axis).try_normalize()?;
        let ends = [p - step, p + step].map(|p| self.point(bone, side_of(muscle.side), p));
        let [a, b] = ends;
        let way = (b? - a?).try_normalize()?;
        Some(self.to.frames.bind_from_bone[other].inverse().transform_vector3(way).map(four_digits))
    }

    fn fat(&self, fat: &FatDef) -> Result<FatDef, String> {
        let side = side_of(fat.side);
        let lost = || format!("nothing in the other body is joint \"{}\"", fat.bone);
        let (own, bone, other) = self.common(&fat.bone).ok_or_else(lost)?;
        let bind = self.from.frames.bind_from_bone[own];
        let middle = bind.transform_point3(fat.at);
        let [a, b] = fat
            .axes
            .unwrap_or([Vec3::X, Vec3::Y])
            .map(|axis| bind.transform_vector3(axis).normalize_or(Vec3::X));
        let b = b.reject_from_normalized(a).normalize_or(a.any_orthonormal_vector());
        let moved = self.point(bone, side, middle).ok_or_else(lost)?;
        let mut ways = [Vec3::ZERO; 3];
        for ((way, axis), radius) in ways.iter_mut().zip([a, b, a.cross(b)]).zip(fat.radii.to_array()) {
            let ends = [-0.5, 0.5].map(|share| self.point(bone, side, middle + share * radius * axis));
            *way = ends[1].zip(ends[0]).map(|(b, a)| b - a).ok_or_else(lost)?;
        }
        let radii = Vec3::from_array(ways.map(Vec3::length));
        let x = ways[0].normalize_or(Vec3::X);
        let y = ways[1].reject_from_normalized(x).normalize_or(x.any_orthonormal_vector());
        let room = room(&self.to, fat.side, fat.mirror);
        let placed =
            room.fit_fat(&fat.name, (other, moved), [x, y, x.cross(y)], radii, fat.side != Side::Middle)?;
        let parts = self.names(&fat.parts);
        Ok(FatDef {
            stiffness: fat.stiffness,
            damping: fat.damping,
            mirror: fat.mirror,
            side: fat.side,
            parts,
            ..placed
        })
    }

    /// The joints that names of the first body have become, each once.
    fn names(&self, names: &[String]) -> Vec<String> {
        let joints: BTreeSet<usize> = names.iter().filter_map(|name| Some(self.common(name)?.2)).collect();
        joints.into_iter().map(|j| self.to.character.skeleton.joints[j].name.clone()).collect()
    }
}

fn side_of(side: Side) -> humanoid::Side {
    match side {
        Side::Left => humanoid::Side::Left,
        Side::Right => humanoid::Side::Right,
        Side::Middle => humanoid::Side::Centre,
    }
}

/// Four digits, for people to read.
fn four_digits(x: f32) -> f32 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

/// Lengths of the muscles of `body` at bind, metres, by title: along origin, via points and insertion of the middle fibre.
pub fn lengths(body: &BodyDef, character: &Character) -> Vec<(String, f32)> {
    let frames = BindFrames::of(character);
    let place = |a: &Attachment| {
        character.skeleton.find(&a.bone).map_or(Vec3::ZERO, |joint| frames.to_bind(joint, a.at))
    };
    let middle = |f: &Footprint| f.0.iter().map(place).sum::<Vec3>() / f.0.len().max(1) as f32;
    let length = |muscle: &MuscleDef| {
        let way = [middle(&muscle.origin)].into_iter().chain(muscle.via.iter().map(place));
        let way: Vec<Vec3> = way.chain([middle(&muscle.insertion)]).collect();
        way.windows(2).map(|p| p[0].distance(p[1])).sum()
    };
    body.muscle.iter().map(|m| (m.title(), length(m))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anatomy::preset::place;
    use crate::character::Binding;
    use crate::samples;

    /// The athlete, taller and wider by factors.
    fn stranger(tall: f32, wide: f32) -> Character {
        let mut character = samples::build("athlete?resolution=5000").unwrap();
        let stretch = Vec3::new(wide, tall, wide);
        for mesh in &mut character.meshes {
            mesh.positions.iter_mut().for_each(|p| *p *= stretch);
            if let Binding::Skin(skin) = &mut mesh.binding {
                for map in &mut skin.joint_from_bind {
                    let mut frame = map.inverse();
                    frame.translation = (Vec3::from(frame.translation) * stretch).into();
                    *map = frame.inverse();
                }
            }
        }
        character
    }

    #[test]
    fn a_set_goes_to_another_body_and_back() {
        let from = samples::build("athlete?resolution=5000").unwrap();
        let to = stranger(1.1, 0.9);
        let anatomy = Anatomy { body: place(&from).body, ..Anatomy::default() };
        let there = transfer(&anatomy, &from, &to).unwrap();
        assert!(there.skipped.is_empty(), "{:?}", there.skipped);
        let moved = Anatomy { body: there.body, ..Anatomy::default() };
        let back = transfer(&moved, &to, &from).unwrap();
        let (before, after) = (lengths(&anatomy.body, &from), lengths(&back.body, &from));
        let there = lengths(&moved.body, &to);
        assert_eq!(before.len(), after.len());
        let mut changed = 0;
        for (((name, before), (_, after)), (_, there)) in before.iter().zip(&after).zip(&there) {
            assert!((after / before - 1.0).abs() < 0.03, "{name}: {before} m became {after} m");
            changed += usize::from((there / before - 1.0).abs() > 0.04);
        }
        assert!(changed > before.len() / 2, "only {changed} muscles are longer or shorter in the other body");
    }

    #[test]
    fn what_is_no_human_is_refused_by_name() {
        let human = samples::build("athlete?resolution=5000").unwrap();
        let anatomy = Anatomy { body: place(&human).body, ..Anatomy::default() };
        let tube = samples::build("cylinder").unwrap();
        let error = transfer(&anatomy, &human, &tube).unwrap_err().to_string();
        assert!(error.contains(&tube.name) && error.contains("human"), "{error}");
    }
}

//! A sample with another number of bones, so that scenes have the size of those in the papers.

use crate::character::{Binding, Character, Influences, Joint, Skin};
use crate::math::Transform;
use glam::{Affine3A, Vec3};

/// The character with `count` joints that have skin. Fewer: those with the least skin give it to their parents. More: those
/// with the most skin are cut in two; the new half moves with the old one.
pub(super) fn with_bones(mut character: Character, count: usize) -> Character {
    let Some(m) = character.meshes.iter().position(|mesh| mesh.skin().is_some()) else { return character };
    loop {
        let Some(skin) = character.meshes[m].skin() else { return character };
        let held = vertices_of(skin);
        let bones = held.iter().filter(|&&n| n > 0).count();
        if bones > count {
            let parent = |slot: usize| ancestor(&character, skin, slot);
            let least =
                (0..held.len()).filter(|&s| held[s] > 0 && parent(s).is_some()).min_by_key(|&s| held[s]);
            let Some((slot, to)) = least.and_then(|s| Some((s, parent(s)?))) else { return character };
            give(&mut character, m, |_, (joint, weight)| {
                vec![(if joint == slot as u32 { to as u32 } else { joint }, weight)]
            });
        } else if bones < count && count <= held.iter().sum::<usize>() / 16 {
            let Some(slot) = (0..held.len()).max_by_key(|&s| held[s]) else { return character };
            split(&mut character, m, slot);
            if self::bones(&character) == bones {
                return character;
            }
        } else {
            return character;
        }
    }
}

/// How many joints have skin.
pub(super) fn bones(character: &Character) -> usize {
    let skins = character.meshes.iter().filter_map(|mesh| mesh.skin());
    skins.map(|skin| vertices_of(skin).iter().filter(|&&n| n > 0).count()).sum()
}

/// Vertices each slot is the strongest of.
fn vertices_of(skin: &Skin) -> Vec<usize> {
    let mut count = vec![0; skin.joints.len()];
    (0..skin.influences.len()).for_each(|v| count[skin.influences.strongest(v) as usize] += 1);
    count
}

/// Slot of the nearest ancestor in the skin.
fn ancestor(character: &Character, skin: &Skin, slot: usize) -> Option<usize> {
    let mut joint = skin.joints[slot];
    while let Some(parent) = character.skeleton.joints[joint].parent {
        if let Some(slot) = skin.joints.iter().position(|&j| j == parent) {
            return Some(slot);
        }
        joint = parent;
    }
    None
}

/// Replaces every weight of mesh `m`.
fn give(character: &mut Character, m: usize, to: impl Fn(Vec3, (u32, f32)) -> Vec<(u32, f32)>) {
    let mesh = &mut character.meshes[m];
    let Binding::Skin(skin) = &mut mesh.binding else { return };
    let lists = (0..skin.influences.len())
        .map(|v| skin.influences.of(v).flat_map(|influence| to(mesh.positions[v], influence)).collect());
    skin.influences = Influences::new(lists.collect::<Vec<_>>());
}

/// Gives the far half of a slot's skin to a new joint in its middle.
fn split(character: &mut Character, m: usize, slot: usize) {
    let mesh = &character.meshes[m];
    let Some(skin) = mesh.skin() else { return };
    let own = (0..skin.influences.len()).filter(|&v| skin.influences.strongest(v) as usize == slot);
    let own: Vec<Vec3> = own.map(|v| mesh.positions[v]).collect();
    let middle = own.iter().sum::<Vec3>() / own.len().max(1) as f32;
    let bind_from_joint = skin.joint_from_bind[slot].inverse();
    let along = (middle - Vec3::from(bind_from_joint.translation)).normalize_or(Vec3::Y);
    let reach = own.iter().map(|p| (*p - middle).dot(along).abs()).fold(f32::MIN_POSITIVE, f32::max);
    let (at, joint) = (skin.joint_from_bind[slot].transform_point3(middle), skin.joints[slot]);
    let joint_from_bind = Affine3A::from_translation(-at) * skin.joint_from_bind[slot];
    let new = character.skeleton.len();
    let name = format!("{} {new}", character.skeleton.joints[joint].name);
    let rest = Transform::from_affine(Affine3A::from_translation(at)).0;
    character.skeleton.joints.push(Joint { name, parent: Some(joint), rest, in_skin: true });
    let Binding::Skin(skin) = &mut character.meshes[m].binding else { return };
    skin.joints.push(new);
    skin.joint_from_bind.push(joint_from_bind);
    let far = skin.joints.len() as u32 - 1;
    give(character, m, |p, (joint, weight)| {
        if joint as usize != slot {
            return vec![(joint, weight)];
        }
        let share = (0.5 + (p - middle).dot(along) / (0.3 * reach)).clamp(0.0, 1.0);
        vec![(joint, weight * (1.0 - share)), (far, weight * share)]
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::Pose;
    use crate::deform::{Body, Stack, Workspace};
    use std::sync::Arc;

    #[test]
    fn a_hand_gets_the_bones_asked_for_and_more_of_them_move_it_alike() {
        let hand = crate::samples::build("hand?resolution=2000").unwrap();
        let whole = bones(&hand);
        assert_eq!(bones(&with_bones(hand.clone(), 9)), 9);
        let finer = with_bones(hand.clone(), whole + 4);
        assert_eq!(bones(&finer), whole + 4);
        let [a, b] = [hand, finer].map(|character| {
            let character = Arc::new(character);
            let mut pose = Pose::rest(&character);
            character.clip("fist").unwrap().sample(1.2, &mut pose);
            Body::bind(character, Stack::linear(), None).unwrap().deform(
                &pose,
                0.0,
                &mut Workspace::default(),
            )
        });
        let far = a.meshes[0].positions.iter().zip(&b.meshes[0].positions).map(|(a, b)| a.distance(*b));
        assert!(far.fold(0.0, f32::max) < 1e-5);
    }
}

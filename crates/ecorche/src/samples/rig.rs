//! Bones for a made character: joint frames a rigger would choose, and the way to a [`Character`].
//!
//! Every joint's Y axis runs along its bone and its Z axis points to where the bone flexes, so that a
//! positive turn about X is flexion, on both sides of the body. A right joint's frame is the mirror image
//! of the left one's with X turned around; hence a left turn `(x, y, z, w)` becomes `(x, -y, -z, w)`.

use crate::character::{Binding, Character, Clip, Influences, Joint, Mesh, Skeleton, Skin};
use crate::geom::{TriMesh, Weld};
use crate::math::Transform;
use glam::{Affine3A, Mat3, Quat, Vec3};

/// A joint and the bone that starts in it, at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Bone {
    /// Name of the joint.
    pub name: String,
    /// Index of the parent; `None` for the root.
    pub parent: Option<usize>,
    /// The joint.
    pub head: Vec3,
    /// Far end of the bone.
    pub tip: Vec3,
    /// World-from-joint rotation.
    pub turn: Quat,
    /// The flesh around it.
    pub flesh: Flesh,
}

/// The flesh around a bone: what skin it claims, and how sharply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flesh {
    /// Radius at the joint and at the tip, metres; thicker claims more of the skin.
    pub radii: [f32; 2],
    /// How far the bone's weight fades into the neighbours', metres (standard deviation).
    pub softness: f32,
}

impl Flesh {
    /// Flesh of the same radius all along.
    pub const fn even(radius: f32, softness: f32) -> Self {
        Self { radii: [radius; 2], softness }
    }
}

impl Bone {
    /// Distance from the flesh's surface; negative inside.
    pub fn distance(&self, p: Vec3) -> f32 {
        let along = self.tip - self.head;
        let t = ((p - self.head).dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0);
        p.distance(self.head + along * t)
            - (self.flesh.radii[0] + (self.flesh.radii[1] - self.flesh.radii[0]) * t)
    }
}

/// The bones of a character, parents first. Bone 0 is the root on the ground; no skin hangs on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rig {
    /// The bones.
    pub bones: Vec<Bone>,
}

/// How to flip a point or direction to the other side.
pub const MIRROR: Vec3 = Vec3::new(-1.0, 1.0, 1.0);

impl Default for Rig {
    fn default() -> Self {
        let root = Bone {
            name: "root".into(),
            parent: None,
            head: Vec3::ZERO,
            tip: Vec3::Y,
            turn: Quat::IDENTITY,
            flesh: Flesh::even(0.0, 0.0),
        };
        Self { bones: vec![root] }
    }
}

impl Rig {
    /// Adds a bone from `head` to `tip` that bends towards `flexes_to`, under the bone called `parent`
    /// (the root when there is none of that name).
    pub fn add(&mut self, name: &str, parent: &str, [head, tip]: [Vec3; 2], flexes_to: Vec3, flesh: Flesh) {
        let y = (tip - head).normalize_or(Vec3::Y);
        let z =
            (flexes_to - y * flexes_to.dot(y)).try_normalize().unwrap_or_else(|| y.any_orthonormal_vector());
        let turn = Quat::from_mat3(&Mat3::from_cols(y.cross(z), y, z));
        let parent = Some(self.find(parent).unwrap_or(0));
        self.bones.push(Bone { name: name.into(), parent, head, tip, turn, flesh });
    }

    /// Adds the mirror images of all bones named `left...`, as `right...`.
    pub fn mirror(&mut self) {
        for b in 0..self.bones.len() {
            let left = self.bones[b].clone();
            let Some(rest) = left.name.strip_prefix("left") else { continue };
            let parent = left.parent.map_or("root", |p| &self.bones[p].name).replacen("left", "right", 1);
            let flexes_to = left.turn * Vec3::Z * MIRROR;
            let name = format!("right{rest}");
            let ends = [left.head * MIRROR, left.tip * MIRROR];
            self.add(&name, &parent, ends, flexes_to, left.flesh);
        }
    }

    /// Index of the bone called `name`.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.bones.iter().position(|b| b.name == name)
    }

    /// The bone whose flesh is nearest to `p` among those `allowed`; the first bone of the skin if none is.
    pub fn nearest(&self, p: Vec3, allowed: impl Fn(&Bone) -> bool) -> usize {
        (1..self.bones.len())
            .filter(|&b| allowed(&self.bones[b]))
            .map(|b| (b, self.bones[b].distance(p)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map_or(1, |(b, _)| b)
    }

    /// For each bone its mirror image; a bone in the middle is its own.
    pub fn mirror_of(&self) -> Vec<usize> {
        let other = |name: &str| match (name.strip_prefix("left"), name.strip_prefix("right")) {
            (Some(rest), _) => format!("right{rest}"),
            (_, Some(rest)) => format!("left{rest}"),
            _ => name.to_string(),
        };
        self.bones.iter().enumerate().map(|(b, bone)| self.find(&other(&bone.name)).unwrap_or(b)).collect()
    }

    /// World-from-joint at rest.
    pub fn world_from_joint(&self, bone: usize) -> Affine3A {
        Affine3A::from_rotation_translation(self.bones[bone].turn, self.bones[bone].head)
    }

    /// Parent-from-joint at rest.
    pub fn rest(&self, bone: usize) -> Transform {
        let Bone { parent, head, turn, .. } = &self.bones[bone];
        let Some(parent) = parent.map(|p| &self.bones[p]) else {
            return Transform { translation: *head, rotation: *turn, scale: Vec3::ONE };
        };
        let back = parent.turn.inverse();
        Transform {
            translation: back * (*head - parent.head),
            rotation: (back * *turn).normalize(),
            scale: Vec3::ONE,
        }
    }

    /// The rest skeleton.
    pub fn skeleton(&self) -> Skeleton {
        let joint = |(b, bone): (usize, &Bone)| Joint {
            name: bone.name.clone(),
            parent: bone.parent,
            rest: self.rest(b),
            in_skin: b > 0,
        };
        Skeleton { joints: self.bones.iter().enumerate().map(joint).collect() }
    }

    /// A mesh on these bones. `weights` are (bone, weight) lists, one per vertex of `surface`.
    pub fn mesh(&self, name: &str, surface: TriMesh, weights: Vec<Vec<(u32, f32)>>) -> Mesh {
        // The root carries no skin, so skin joint i is bone i + 1.
        let shifted =
            weights.into_iter().map(|list| list.into_iter().map(|(bone, w)| (bone.max(1) - 1, w)).collect());
        let skin = Skin {
            joints: (1..self.bones.len()).collect(),
            joint_from_bind: (1..self.bones.len()).map(|b| self.world_from_joint(b).inverse()).collect(),
            influences: Influences::new(shifted),
            dual_quaternion: false,
        };
        let every: Vec<u32> = (0..surface.positions.len() as u32).collect();
        let weld = Weld { surface_of_vertex: every.clone(), first_vertex: every };
        Mesh::of_triangles(name, surface, weld, Binding::Skin(skin))
    }

    /// Puts a character of one mesh together, see [`Rig::mesh`].
    pub fn character(
        &self,
        name: &str,
        surface: TriMesh,
        weights: Vec<Vec<(u32, f32)>>,
        clips: Vec<Clip>,
    ) -> Character {
        self.assemble(name, vec![self.mesh(name, surface, weights)], clips, &[])
    }

    /// Puts a character of several meshes together, with the base colours of their materials.
    pub fn assemble(
        &self,
        name: &str,
        meshes: Vec<Mesh>,
        clips: Vec<Clip>,
        colours: &[(&str, [f32; 3])],
    ) -> Character {
        Character {
            name: name.into(),
            skeleton: self.skeleton(),
            meshes,
            clips,
            colours: colours.iter().map(|&(material, colour)| (material.into(), colour)).collect(),
            ..Character::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::Pose;

    fn rig() -> Rig {
        let mut rig = Rig::default();
        rig.add("hips", "root", [Vec3::Y, Vec3::new(0.0, 1.1, 0.0)], Vec3::Z, Flesh::even(0.1, 0.05));
        rig.add(
            "leftUpperLeg",
            "hips",
            [Vec3::new(0.1, 0.9, 0.0), Vec3::new(0.12, 0.5, 0.0)],
            Vec3::Z,
            Flesh::even(0.1, 0.05),
        );
        rig.mirror();
        rig
    }

    #[test]
    fn the_rest_skeleton_puts_joints_where_the_bones_begin() {
        let character = rig().character("test", TriMesh::default(), Vec::new(), Vec::new());
        let world = Pose::rest(&character).world(&character.skeleton);
        for (bone, world) in rig().bones.iter().zip(world) {
            assert!(bone.head.distance(world.translation.into()) < 1e-6);
        }
    }

    #[test]
    fn a_positive_turn_about_x_flexes_on_both_sides() {
        let rig = rig();
        for name in ["leftUpperLeg", "rightUpperLeg"] {
            let bone = &rig.bones[rig.find(name).unwrap()];
            let along = bone.turn * (Quat::from_rotation_x(0.5) * Vec3::Y);
            assert!(along.z > 0.4, "{name} flexes forward: {along}");
        }
    }
}

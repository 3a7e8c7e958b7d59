//! A rigged, animated character: as a file holds it, and as the rest of the crate uses it.
//!
//! ```text
//! file --reader--> RawCharacter (as found, unchecked) --check--> Character (sound, metres, Y up)
//! ```
//!
//! A reader only translates its format into [`raw::RawCharacter`]. Everything that makes a file
//! trustworthy (order of the hierarchy, weights, bind matrices, units) happens once, in [`check`],
//! and every change made there is listed in [`Character::repairs`].

mod bvh;
pub mod check;
mod clip;
mod dae;
#[cfg(test)]
mod damage;
mod error;
mod fbx;
pub(crate) mod gltf;
pub(crate) mod humanoid;
pub mod info;
mod limits;
mod mesh;
pub mod motion;
mod obj;
mod pose;
pub mod raw;
mod read;
mod skeleton;
mod skin;
pub mod subdivide;
pub mod textures;
mod transform_keys;
mod uri;
pub(crate) mod usd;
mod world;

pub use clip::{Clip, Interpolation, JointTrack, MorphTrack, Track};
pub use error::{ReadError, Repair};
pub use limits::turn_limits;
pub use mesh::{Binding, Faces, Mesh, Morph};
pub use pose::Pose;
pub use read::read;
pub use skeleton::{Joint, Skeleton};
pub(crate) use skin::add_up_repeated;
pub use skin::{Influences, Skin};
pub use world::World;

/// A checked character: every index in range, every number finite, every weight normalised.
#[derive(Clone, Debug, Default)]
pub struct Character {
    /// The file's name without its folder and extension, or the sample's name.
    pub name: String,
    /// The whole node hierarchy, joints of skins and plain nodes alike; parents come first.
    pub skeleton: Skeleton,
    /// Every mesh of the file, skinned or not, in the file's order.
    pub meshes: Vec<Mesh>,
    /// Animations, in the file's order.
    pub clips: Vec<Clip>,
    /// How the file measures and orients space; results are handed back in it.
    pub world: World,
    /// What was wrong in the file and what was done about it.
    pub repairs: Vec<Repair>,
    /// Base colours of materials that were made by code: red, green and blue, linear. Empty for a file, whose looks
    /// [`textures`] reads.
    pub colours: Vec<(String, [f32; 3])>,
}

impl Character {
    /// Length of the rest pose's bounding box diagonal over all meshes, metres.
    pub fn size(&self) -> f32 {
        let rest = Pose::rest(self).world(&self.skeleton);
        let mut low = glam::Vec3::MAX;
        let mut high = glam::Vec3::MIN;
        for mesh in &self.meshes {
            let points = match mesh.binding {
                Binding::Skin(_) => glam::Affine3A::IDENTITY,
                Binding::Node => rest[mesh.joint],
            };
            for &p in &mesh.positions {
                let p = points.transform_point3(p);
                low = low.min(p);
                high = high.max(p);
            }
        }
        if low.x > high.x { 0.0 } else { low.distance(high) }
    }

    /// Base colour of a mesh made by code, by its first material.
    pub fn colour(&self, mesh: &Mesh) -> Option<[f32; 3]> {
        let material = mesh.materials.first()?;
        self.colours.iter().find(|(name, _)| name == material).map(|&(_, colour)| colour)
    }

    /// The clip called `name`, exactly or else ignoring case.
    pub fn clip(&self, name: &str) -> Option<&Clip> {
        self.clips
            .iter()
            .find(|c| c.name == name)
            .or_else(|| self.clips.iter().find(|c| c.name.eq_ignore_ascii_case(name)))
    }
}

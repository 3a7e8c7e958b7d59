//! A key of everything that determines frames.

use super::Ingredients;
use crate::character::{Binding, Mesh, Skin};
use crate::deform::{Settings, Under};
use crate::sampling::Plan;
use std::fmt::{self, Write};

/// Raised whenever the meaning of a key changes.
const VERSION: u32 = 1;

impl Ingredients {
    /// A key of everything that determines the frames of a plan's clip with these settings: meshes, weights, skeleton, the
    /// clip and its rate, the anatomy with the files it names, the settings, the version of the library. Where files lie
    /// and which frames are asked for does not count.
    ///
    /// Frames of one key are the same to the bit; pieces and saved states belong together when their keys are equal.
    pub fn key(&self, settings: &Settings, plan: &Plan) -> [u8; 32] {
        let mut key = Hashed(blake3::Hasher::new());
        key.array(&VERSION.to_le_bytes());
        key.value(&env!("CARGO_PKG_VERSION"));
        key.value(&self.character.world);
        key.value(&self.character.skeleton);
        key.value(&self.character.meshes.len());
        self.character.meshes.iter().for_each(|mesh| key.mesh(mesh));
        key.value(&(plan.clip, plan.fps));
        key.value(settings);
        if !settings.parts.pieces.given.is_empty() {
            // What a person says of pieces goes by the names of meshes and materials.
            for mesh in &self.character.meshes {
                key.value(&(&mesh.name, &mesh.materials));
                key.array(&mesh.material_of_face);
            }
        }
        if settings.stack.under != Under::Nothing {
            key.value(&self.body);
            for path in self.body.bone.iter().filter_map(|bone| bone.mesh.as_ref()) {
                // One that cannot be read is refused when the body is bound.
                key.array(&crate::input::read(&self.folder.join(path)).unwrap_or_default());
            }
        }
        key.0.finalize().into()
    }
}

/// Values are hashed as their debug text, in which numbers are exact and no field is forgotten; long arrays as bytes.
struct Hashed(blake3::Hasher);

impl Hashed {
    fn value(&mut self, value: &impl fmt::Debug) {
        // Writing into a hash cannot fail; the end mark keeps neighbours apart.
        let _ = write!(self, "{value:?}\0");
    }

    fn array<T: bytemuck::NoUninit>(&mut self, array: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(array);
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn mesh(&mut self, mesh: &Mesh) {
        // Every field is named, so that a new one asks to be thought of.
        let Mesh {
            name: _,
            joint,
            positions,
            faces,
            triangles,
            shading,
            corner_uvs: _,
            materials: _,
            material_of_face: _,
            binding,
            morphs,
            weld,
        } = mesh;
        self.value(joint);
        self.array(positions);
        self.array(&faces.starts);
        self.array(&faces.corners);
        self.array(triangles);
        self.array(&shading.slot_of_corner);
        self.array(&weld.surface_of_vertex);
        self.value(&morphs.len());
        for morph in morphs {
            self.array(&morph.vertices);
            self.array(&morph.offsets);
            self.value(&morph.weight);
        }
        match binding {
            Binding::Node => self.value(&"node"),
            Binding::Skin(Skin { joints, joint_from_bind, influences, dual_quaternion }) => {
                self.value(&(joints, joint_from_bind, dual_quaternion));
                for v in 0..influences.len() {
                    self.array(&[influences.of(v).len() as u32]);
                    for (joint, weight) in influences.of(v) {
                        self.array(&[joint, weight.to_bits()]);
                    }
                }
            }
        }
    }
}

impl Write for Hashed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

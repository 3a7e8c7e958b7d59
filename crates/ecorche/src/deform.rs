//! One frame, from a pose to deformed meshes.

use crate::cache::{Cache, Key};
use crate::character::{Character, Mesh, Pose};
use crate::frame::{Frame, FrameMesh, FrameReport};
use crate::skinning::{self, CentresOfRotation, Method, Skinner};
use glam::Vec3;
use std::sync::Arc;

/// A character made ready to be deformed by one method: immutable, to be shared between threads.
#[derive(Clone, Debug)]
pub struct Body {
    character: Arc<Character>,
    method: Method,
    skinners: Vec<Skinner>,
}

/// Scratch memory of [`Body::deform`], reused from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    morphed: Vec<Vec3>,
    skinning: skinning::Workspace,
}

impl Body {
    /// Prepares every mesh of `character`. What takes long is looked up in `cache` first, if given,
    /// and kept there.
    pub fn bind(character: Arc<Character>, method: Method, cache: Option<&Cache>) -> Self {
        let skinners = character
            .meshes
            .iter()
            .map(|mesh| match (method, cache) {
                (Method::CentreOfRotation, Some(cache)) => {
                    Skinner::with_centres(mesh, cached_centres(mesh, cache))
                }
                _ => Skinner::new(mesh, method),
            })
            .collect();
        Self { character, method, skinners }
    }

    /// The character this body was made of.
    pub fn character(&self) -> &Arc<Character> {
        &self.character
    }

    /// The method it was bound for.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The character in `pose`, which must be one of its own (see [`Pose::rest`]).
    pub fn deform(&self, pose: &Pose, time: f32, workspace: &mut Workspace) -> Frame {
        let world_from_joint = pose.world(&self.character.skeleton);
        let mut report = FrameReport::default();
        let mut meshes = Vec::with_capacity(self.skinners.len());
        for (m, (mesh, skinner)) in self.character.meshes.iter().zip(&self.skinners).enumerate() {
            let weights = pose.morph_weights.get(m).map_or(&[][..], Vec::as_slice);
            mesh.morphed(weights, &mut workspace.morphed);
            let mut positions = vec![Vec3::ZERO; mesh.positions.len()];
            let skinned =
                skinner.skin(&world_from_joint, &workspace.morphed, &mut positions, &mut workspace.skinning);
            report.fell_back += skinned.vertices_of_joints_at_rest + skinned.vertices_at_rest;
            let normals = mesh.shading.normals(&positions);
            meshes.push(FrameMesh { positions, normals });
        }
        Frame { time, meshes, report }
    }

    /// The character as its file shows it when nothing is animated.
    pub fn rest(&self, workspace: &mut Workspace) -> Frame {
        self.deform(&Pose::rest(&self.character), 0.0, workspace)
    }
}

/// Centres of rotation from the cache, or computed and kept there.
fn cached_centres(mesh: &Mesh, cache: &Cache) -> CentresOfRotation {
    let Some(skin) = mesh.skin() else { return CentresOfRotation::default() };
    let mut weights = Vec::new();
    for v in 0..skin.influences.len() {
        weights.push(skin.influences.of(v).len() as u32);
        weights.extend(skin.influences.of(v).flat_map(|(joint, weight)| [joint, weight.to_bits()]));
    }
    let key = Key::new(
        "centres of rotation",
        &[
            bytemuck::cast_slice(&mesh.positions),
            bytemuck::cast_slice(&mesh.triangles),
            bytemuck::cast_slice(&mesh.weld.surface_of_vertex),
            bytemuck::cast_slice(&weights),
        ],
    );
    if let Some(bytes) = cache.get(key) {
        return CentresOfRotation::from_parts(
            bytes.chunks_exact(12).map(bytemuck::pod_read_unaligned).collect(),
        );
    }
    let centres = CentresOfRotation::compute(mesh);
    cache.put(key, bytemuck::cast_slice(centres.as_slice()));
    centres
}

//! One frame, from a pose to deformed meshes.

use crate::cache::Cache;
use crate::character::{Character, Pose};
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
                    Skinner::with_centres(mesh, CentresOfRotation::cached(mesh, cache))
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

//! A crowd as caches: one per instance, or all as one mesh.

use super::Crowd;
use super::picture::normal_map;
use crate::character::{Binding, Character, Faces, Mesh};
use crate::frame::{Frame, FrameMesh};
use crate::geom::{Shading, Weld};
use crate::output::{self, CacheOptions, CacheWriter, Shot, WriteError, names};
use glam::{Affine3A, Vec3};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files open at once, at most.
const MOST_OPEN: usize = 900;

/// Caches of a crowd being written.
pub struct Writer<'a> {
    /// One per instance, or one for all.
    caches: Vec<Box<dyn CacheWriter + 'a>>,
    merged: Option<&'a Character>,
    frame: Frame,
}

/// All instances as one mesh without bones, placed as they are at rest: what a merged cache is put on. `None` without any.
pub fn rest_mesh(crowd: &Crowd) -> Option<Arc<Character>> {
    let world = crowd.bodies().first()?.character().world;
    let rests: Vec<Frame> = crowd.bodies().iter().map(|body| body.rest(&mut Default::default())).collect();
    let (mut faces, mut normals) = (Faces { starts: vec![0], corners: Vec::new() }, Vec::new());
    let mut weld = Weld::default();
    let mut positions = Vec::new();
    for instance in crowd.instances() {
        let rest = &rests[instance.body];
        let turn = normal_map(instance.place);
        for (mesh, posed) in crowd.bodies()[instance.body].character().meshes.iter().zip(&rest.meshes) {
            let (first, first_corner) = (positions.len() as u32, faces.corners.len() as u32);
            let first_point = weld.first_vertex.len() as u32;
            positions.extend(posed.positions.iter().map(|&p| instance.place.transform_point3(p)));
            faces.starts.extend(mesh.faces.starts.iter().skip(1).map(|&c| c + first_corner));
            faces.corners.extend(mesh.faces.corners.iter().map(|&v| v + first));
            let slots = &mesh.shading.slot_of_corner;
            normals.extend(slots.iter().map(|&s| (turn * posed.normals[s as usize]).normalize_or(Vec3::Y)));
            weld.first_vertex.extend(mesh.weld.first_vertex.iter().map(|&v| v + first));
            weld.surface_of_vertex.extend(mesh.weld.surface_of_vertex.iter().map(|&s| s + first_point));
        }
    }
    let shading = Shading::new(&weld, &faces.corners, &normals, &faces.triangle_corners());
    let triangles = faces.triangle_corners().iter().map(|t| t.map(|c| faces.corners[c as usize])).collect();
    let mesh = Mesh {
        name: "crowd".to_owned(),
        joint: 0,
        positions,
        faces,
        triangles,
        shading,
        corner_uvs: Vec::new(),
        materials: Vec::new(),
        material_of_face: Vec::new(),
        binding: Binding::Node,
        morphs: Vec::new(),
        weld,
    };
    let skeleton = crate::character::Skeleton {
        joints: vec![crate::character::Joint {
            name: "crowd".to_owned(),
            parent: None,
            rest: crate::math::Transform::IDENTITY,
            in_skin: false,
        }],
    };
    Some(Arc::new(Character {
        name: "crowd".to_owned(),
        skeleton,
        meshes: vec![mesh],
        world,
        ..Character::default()
    }))
}

impl<'a> Writer<'a> {
    /// A cache for every instance: `crowd.pc2` becomes `crowd.001.pc2` and so on. Too many for the files that can be open
    /// at once are refused.
    pub fn each(
        crowd: &Crowd,
        characters: &'a [Arc<Character>],
        path: &Path,
        fps: f32,
        frames: &RangeInclusive<usize>,
    ) -> Result<Self, WriteError> {
        let paths = each_path(crowd, path);
        let open: usize = crowd.instances().iter().map(|i| characters[i.body].meshes.len()).sum();
        if open > MOST_OPEN {
            return Err(WriteError::DoesNotFit {
                path: path.to_owned(),
                problem: format!(
                    "{open} meshes are more than the {MOST_OPEN} files that can be open at once"
                ),
                remedy: "write one merged cache, or fewer instances".into(),
            });
        }
        let caches =
            crowd.instances().iter().zip(paths).map(|(instance, path)| {
                output::create(&path, &shot(&characters[instance.body], fps, frames))
            });
        Ok(Self { caches: caches.collect::<Result<_, _>>()?, merged: None, frame: Frame::default() })
    }

    /// One cache of all instances, for the mesh that [`rest_mesh`] gives.
    pub fn merged(
        rest: &'a Character,
        path: &Path,
        fps: f32,
        frames: &RangeInclusive<usize>,
    ) -> Result<Self, WriteError> {
        let cache = output::create(path, &shot(rest, fps, frames))?;
        Ok(Self { caches: vec![cache], merged: Some(rest), frame: Frame::default() })
    }

    /// Appends the crowd as it is now.
    pub fn write(&mut self, crowd: &Crowd, time: f32) -> Result<(), WriteError> {
        let Self { caches, merged, frame } = self;
        frame.time = time;
        let members = crowd.members().iter().zip(crowd.instances());
        if let Some(rest) = merged {
            frame.meshes.resize_with(1, FrameMesh::default);
            let FrameMesh { positions, normals } = &mut frame.meshes[0];
            positions.clear();
            for (member, instance) in members {
                let all = member.frame.meshes.iter().flat_map(|mesh| &mesh.positions);
                positions.extend(all.map(|&p| instance.place.transform_point3(p)));
            }
            *normals = rest.meshes[0].shading.normals(positions);
            return caches.iter_mut().try_for_each(|cache| cache.write_frame(frame));
        }
        for ((member, instance), cache) in members.zip(caches) {
            place(&member.frame, instance.place, frame);
            cache.write_frame(frame)?;
        }
        Ok(())
    }

    /// Puts the files under their final names and lists them.
    pub fn finish(self) -> Result<Vec<PathBuf>, WriteError> {
        let mut paths = Vec::new();
        for cache in self.caches {
            paths.extend(cache.finish()?);
        }
        Ok(paths)
    }
}

/// The path of each instance's cache.
fn each_path(crowd: &Crowd, path: &Path) -> Vec<PathBuf> {
    let labels: Vec<String> = (1..=crowd.instances().len()).map(|k| format!("{k:03}")).collect();
    names::labelled(path, &labels.iter().map(String::as_str).collect::<Vec<_>>())
}

fn shot<'a>(character: &'a Character, fps: f32, frames: &RangeInclusive<usize>) -> Shot<'a> {
    Shot {
        character,
        clip: "crowd".to_owned(),
        fps,
        first_frame: *frames.start(),
        frame_count: frames.end() - frames.start() + 1,
        options: CacheOptions::default(),
    }
}

/// A frame where an instance is.
fn place(frame: &Frame, place: Affine3A, placed: &mut Frame) {
    let turn = normal_map(place);
    placed.meshes.resize_with(frame.meshes.len(), FrameMesh::default);
    for (from, to) in frame.meshes.iter().zip(&mut placed.meshes) {
        to.positions.clear();
        to.positions.extend(from.positions.iter().map(|&p| place.transform_point3(p)));
        to.normals.clear();
        to.normals.extend(from.normals.iter().map(|&n| (turn * n).normalize_or(Vec3::Y)));
    }
}

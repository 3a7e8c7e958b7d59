//! The reference that methods are compared with, from the cache it was written to.

use super::Judge;
use super::against::{Against, Target};
use crate::character::Character;
use crate::input;
use crate::output::pc2::Pc2;
use crate::output::{self, Shot, WriteError};
use crate::sampling::Plan;
use crate::skinning::Surface;
use glam::Vec3;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a reference cannot be compared with.
#[derive(Debug, Error)]
pub enum AgainstError {
    /// The file is missing, damaged or no point cache.
    #[error(transparent)]
    Cache(#[from] WriteError),
    /// Not a PC2 cache.
    #[error("{}: a reference is a PC2 cache; give one whose name ends in .pc2", path.display())]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// The record beside the cache cannot be used.
    #[error("{}: {why}; make the reference again, or delete this file to compare all vertices", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Another character's.
    #[error(
        "{}: holds {found} points, but mesh \"{mesh}\" has {vertices} vertices; make the reference of this very character",
        path.display()
    )]
    Points {
        /// The file.
        path: PathBuf,
        /// Its points.
        found: usize,
        /// The mesh it was read for.
        mesh: String,
        /// Vertices of the mesh.
        vertices: usize,
    },
    /// Other frames than are measured.
    #[error(
        "{}: holds {found} frames from frame {first}, but {wanted} frames from frame {start} of {clip} are measured; \
         measure the reference's clip, rate and range of frames, or make it again for these",
        path.display()
    )]
    Frames {
        /// The file.
        path: PathBuf,
        /// Its frames.
        found: usize,
        /// The number of its first.
        first: f32,
        /// Frames to be measured.
        wanted: usize,
        /// The first of them.
        start: usize,
        /// Their clip.
        clip: String,
    },
}

/// A better answer for every frame of a plan.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Positions of the surface's vertices, by frame.
    frames: Vec<Vec<Vec3>>,
    /// The same by a coarser computation, where there is one: how far it is tells how sure the answer is.
    coarser: Option<Vec<Vec<Vec3>>>,
    /// The vertices for which it is an answer; `None` for all.
    vertices: Option<Vec<bool>>,
    first: usize,
}

/// What a record beside a cache may tell.
#[derive(Deserialize)]
struct Record {
    /// Of each mesh, the first and last of every run of vertices for which the cache is an answer.
    flesh: Option<Vec<Vec<[usize; 2]>>>,
}

impl Reference {
    /// Reads the PC2 cache at `path`, in the character's own units: a file per mesh named as a bake of the character names
    /// them. It must hold exactly the frames of `plan`.
    ///
    /// Beside `ref.pc2` there may be `ref.coarser.pc2`, the same by a coarser computation, and `ref.json`, which tells the vertices
    /// that the cache is an answer for.
    pub fn read(
        path: &Path,
        character: &Character,
        surface: &Surface,
        plan: &Plan,
    ) -> Result<Self, AgainstError> {
        if output::Format::of(path).ok() != Some(output::Format::Pc2) {
            return Err(AgainstError::Format { path: path.to_owned() });
        }
        let frames = positions(path, character, surface, plan)?;
        let beside = coarser_path(path);
        let there = output::paths(&beside, &Shot::new(character, plan))?.iter().all(|p| p.exists());
        let coarser = there.then(|| positions(&beside, character, surface, plan)).transpose()?;
        let vertices = vertices(&path.with_extension("json"), character, surface)?;
        Ok(Self { frames, coarser, vertices, first: *plan.frames.start() })
    }

    /// The answer for a frame; `None` for one outside the plan.
    pub fn frame(&self, number: usize) -> Option<Target<'_>> {
        let positions = self.frames.get(number.checked_sub(self.first)?)?;
        Some(Target { positions, vertices: self.vertices.as_deref() })
    }

    /// How far the coarser computation is from the answer, by frame; `None` if there is none.
    pub fn own_error(&self, judge: &Judge) -> Option<Vec<(usize, Against)>> {
        let coarser = self.coarser.as_ref()?;
        let of = |(k, theirs): (usize, &Vec<Vec3>)| {
            let number = self.first + k;
            Some((number, judge.against(theirs, self.frame(number)?)))
        };
        coarser.iter().enumerate().map(of).collect()
    }
}

/// Where the coarser computation of a cache is kept.
pub fn coarser_path(path: &Path) -> PathBuf {
    path.with_extension("coarser.pc2")
}

/// The surface's vertices in every frame of a cache.
fn positions(
    path: &Path,
    character: &Character,
    surface: &Surface,
    plan: &Plan,
) -> Result<Vec<Vec<Vec3>>, AgainstError> {
    let mut frames = vec![surface.mesh.positions.clone(); plan.len()];
    let paths = output::paths(path, &Shot::new(character, plan))?;
    for ((m, mesh), path) in character.meshes.iter().enumerate().zip(&paths) {
        if mesh.skin().is_none() {
            continue;
        }
        let cache = Pc2::read(path)?;
        let start = *plan.frames.start();
        if cache.samples.len() != plan.len() || cache.first_frame != start as f32 {
            return Err(AgainstError::Frames {
                path: path.clone(),
                found: cache.samples.len(),
                first: cache.first_frame,
                wanted: plan.len(),
                start,
                clip: plan.clip.map_or("the rest pose".to_owned(), |c| format!("clip \"{}\"", c.name)),
            });
        }
        for (sample, frame) in cache.samples.iter().zip(&mut frames) {
            if sample.len() != mesh.positions.len() {
                return Err(AgainstError::Points {
                    path: path.clone(),
                    found: sample.len(),
                    mesh: mesh.name.clone(),
                    vertices: mesh.positions.len(),
                });
            }
            let inside: Vec<Vec3> = sample.iter().map(|&p| character.world.to_internal(p)).collect();
            surface.gather(m, &inside, frame);
        }
    }
    Ok(frames)
}

/// The surface's vertices that a record names; `None` without a record, or if it names none.
fn vertices(
    path: &Path,
    character: &Character,
    surface: &Surface,
) -> Result<Option<Vec<bool>>, AgainstError> {
    if !path.exists() {
        return Ok(None);
    }
    let damaged = |why: String| AgainstError::Record { path: path.to_owned(), why };
    let text = input::read(path).map_err(|error| damaged(error.to_string()))?;
    let record: Record = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    let Some(flesh) = record.flesh else { return Ok(None) };
    let mut list = vec![false; surface.mesh.positions.len()];
    for ((m, mesh), runs) in character.meshes.iter().enumerate().zip(&flesh) {
        let mut own = vec![false; mesh.positions.len()];
        for &[first, last] in runs {
            let run = own.get_mut(first..=last).ok_or_else(|| {
                damaged(format!("vertices {first} to {last} are not in mesh \"{}\"", mesh.name))
            })?;
            run.fill(true);
        }
        if mesh.skin().is_some() {
            surface.gather(m, &own, &mut list);
        }
    }
    Ok(Some(list))
}

//! Files other programs read: point caches, meshes, pictures.
//!
//! A cache is written through [`CacheWriter`]: made for a [`Shot`], fed its frames in order,
//! finished. Nothing appears under its final name before `finish`; a writer that is dropped leaves
//! nothing behind.

mod alembic;
pub(crate) mod colour;
mod draw;
pub mod file;
mod font;
mod gltf;
pub mod legend;
mod mdd;
pub mod names;
pub mod obj;
pub mod operator_graph;
pub mod pc2;
pub mod picture;
pub mod plot;
mod point_cache;
pub mod raster;
pub(crate) mod section_graph;
pub mod sheet;
pub mod sketch_graph;
mod text;
mod usd;
pub mod wrinkle_maps;

pub use colour::{Colour, ColourMap};
pub use picture::Picture;

use crate::character::Character;
use crate::frame::Frame;
use crate::sampling::Plan;
use std::path::{Path, PathBuf};

/// What is being baked.
#[derive(Clone, Debug)]
pub struct Shot<'a> {
    /// Names, faces and world of the meshes.
    pub character: &'a Character,
    /// The clip's name; empty for a rest pose.
    pub clip: String,
    /// Frames per second.
    pub fps: f32,
    /// Number of the first frame; frame 0 is the clip's start.
    pub first_frame: usize,
    /// How many frames will be written.
    pub frame_count: usize,
    /// What the format leaves open.
    pub options: CacheOptions,
}

/// What is chosen about a cache, beyond its format. Only Alembic leaves anything open.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CacheOptions {
    /// How the meshes of a character are written.
    pub meshes: Meshes,
    /// Write the velocity of every point, per second: what renderers blur motion by.
    pub velocities: bool,
    /// Leave out normals, which are half of the file. Programs then make their own, and hard edges are lost.
    pub no_normals: bool,
    /// Length of the unit that is written, metres; `None` takes the character's own. 0.01 is Unreal's.
    pub metres_per_unit: Option<f32>,
}

/// How the meshes of a character are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Meshes {
    /// One file, an object for each mesh.
    #[default]
    Objects,
    /// A file for each mesh.
    Files,
    /// One file with one object, vertices of all meshes one after the other.
    Merged,
}

impl CacheOptions {
    /// Says what of these `format` does not do.
    pub fn check(&self, path: &Path, format: Format) -> Result<(), WriteError> {
        let asked = [
            (self.meshes != Meshes::Objects, "a choice of how meshes are written"),
            (self.velocities, "velocities"),
            (self.no_normals, "leaving out normals"),
            (self.metres_per_unit.is_some(), "a choice of units"),
        ];
        match asked.into_iter().find(|(asked, _)| *asked && format != Format::Abc) {
            Some((_, what)) => Err(WriteError::DoesNotFit {
                path: path.to_owned(),
                problem: format!("{what} is there for Alembic only"),
                remedy: "bake to .abc, or leave it out".into(),
            }),
            None => Ok(()),
        }
    }
}

impl<'a> Shot<'a> {
    /// The frames of `plan`.
    pub fn new(character: &'a Character, plan: &Plan) -> Self {
        Self {
            character,
            clip: plan.clip.map_or_else(String::new, |c| c.name.clone()),
            fps: plan.fps,
            first_frame: *plan.frames.start(),
            frame_count: plan.len(),
            options: CacheOptions::default(),
        }
    }

    /// The same with other options.
    pub fn with(self, options: CacheOptions) -> Self {
        Self { options, ..self }
    }
}

/// A cache being written.
pub trait CacheWriter {
    /// Appends the next frame.
    fn write_frame(&mut self, frame: &Frame) -> Result<(), WriteError>;
    /// Puts the files under their final names and lists them.
    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, WriteError>;
}

/// Why a cache could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file cannot be written.
    #[error("cannot write {}: {source}; check that the folder exists, is writable and has space", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// A piece of a cache cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// No cache format has this file extension.
    #[error("{}: no cache format for this extension; known: .abc .pc2 .mdd .obj .glb .usda", path.display())]
    UnknownFormat {
        /// The file asked for.
        path: PathBuf,
    },
    /// The shot does not fit the format.
    #[error("{}: {problem}; {remedy}", path.display())]
    DoesNotFit {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        problem: String,
        /// What a user can do.
        remedy: String,
    },
}

/// The cache formats, by file extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Alembic, all meshes with their points at every frame.
    Abc,
    /// Point cache of 3ds Max, Blender, Houdini, Maya; one file per mesh.
    Pc2,
    /// Point cache of LightWave, Blender, Houdini; one file per mesh.
    Mdd,
    /// One OBJ file per frame.
    Obj,
    /// Binary glTF with one morph target per frame.
    Glb,
    /// USD text with time-sampled points.
    Usda,
}

impl Format {
    /// The format that belongs to a path's extension.
    pub fn of(path: &Path) -> Result<Self, WriteError> {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        match ending.as_str() {
            "abc" => Ok(Self::Abc),
            "pc2" => Ok(Self::Pc2),
            "mdd" => Ok(Self::Mdd),
            "obj" => Ok(Self::Obj),
            "glb" => Ok(Self::Glb),
            "usda" => Ok(Self::Usda),
            _ => Err(WriteError::UnknownFormat { path: path.to_owned() }),
        }
    }
}

/// Starts a cache at `path` in the format of its extension.
pub fn create<'a>(path: &Path, shot: &Shot<'a>) -> Result<Box<dyn CacheWriter + 'a>, WriteError> {
    let format = Format::of(path)?;
    shot.options.check(path, format)?;
    Ok(match format {
        Format::Abc => Box::new(alembic::AlembicWriter::create(path, shot)?),
        Format::Pc2 => Box::new(pc2::create(path, shot)?),
        Format::Mdd => Box::new(mdd::create(path, shot)?),
        Format::Obj => Box::new(obj::ObjWriter::create(path, shot)?),
        Format::Glb => Box::new(gltf::GltfWriter::create(path, shot)?),
        Format::Usda => Box::new(usd::UsdWriter::create(path, shot)?),
    })
}

/// One path per mesh: `path` itself for a single mesh, labelled by the meshes' names for several.
fn mesh_paths(path: &Path, character: &Character) -> Vec<PathBuf> {
    match character.meshes.as_slice() {
        [_] => vec![path.to_owned()],
        meshes => names::labelled(path, &meshes.iter().map(|m| m.name.as_str()).collect::<Vec<_>>()),
    }
}

/// The files that [`create`] will write, in order.
pub fn paths(path: &Path, shot: &Shot) -> Result<Vec<PathBuf>, WriteError> {
    Ok(match Format::of(path)? {
        Format::Abc => alembic::paths(path, shot),
        Format::Pc2 | Format::Mdd => mesh_paths(path, shot.character),
        Format::Obj => obj::paths(path, shot),
        Format::Glb | Format::Usda => vec![path.to_owned()],
    })
}

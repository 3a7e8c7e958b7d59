//! Commands that write caches of a deformed clip.

use super::{CacheArguments, Deformation, Rig, SamplingArguments, Shot};
use clap::Args;
use ecorche::output::raster::View;
use ecorche::output::{CacheOptions, Meshes};
use std::path::PathBuf;

/// Bake the deformed animation to a cache.
///
/// The extension of OUT chooses the format: .abc (Alembic, all meshes with normals and UVs), .pc2 and .mdd (one file
/// per mesh, plus the mesh they sit on as OUT.rest.obj), .obj (one file per frame), .glb (morph-target
/// animation), .usda (time-sampled points). Vertex order, units and axes are those of FILE; Alembic is always Y
/// up. Nothing appears under its final name before it is complete.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche bake hero.fbx -o hero.pc2 --clip run
  ecorche bake hero.glb -o hero.usda --clip all --method dqs
  ecorche bake hero.fbx -o hero.abc --centimetres --meshes merged       (for Unreal)
  ecorche bake hero.fbx --motion walk.bvh -o walk.glb --fps 24
  ecorche bake hero.fbx --motion range -o range.glb        (every joint, to both sides)
  ecorche bake body.obj --motion walk.bvh -o walk.pc2      (weights are made by heat diffusion)

A long bake in two processes:
  ecorche bake hero.fbx -o a.pc2 --frames 0-499 & ecorche bake hero.fbx -o b.pc2 --frames 500-999
  ecorche join a.pc2 b.pc2 -o hero.pc2

A long bake with muscles in pieces, one after the other, none of which plays the frames before it again:
  ecorche bake hero.fbx --anatomy hero.toml -o a.pc2 --frames 0-499 --state hero.state
  ecorche bake hero.fbx --anatomy hero.toml -o b.pc2 --frames 500-999 --state hero.state
  ecorche join a.pc2 b.pc2 -o hero.pc2")]
pub struct Bake {
    /// What is baked, and where to.
    #[command(flatten)]
    pub shot: Shot,
    /// How it is deformed.
    #[command(flatten)]
    pub deformation: Deformation,
    /// Do not write the mesh that a .pc2 or .mdd sits on
    #[arg(long)]
    pub no_mesh: bool,
    /// Keep the state of muscles and skin after the last frame in FILE. If FILE exists, go on from its state instead of
    /// playing the frames before the first again; the result is the same. FILE must come from the same character, clip,
    /// rate, anatomy and settings
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Begin with the state in FILE, written by --state or `ecorche states`, which stays as it is
    #[arg(long, value_name = "FILE", conflicts_with = "state")]
    pub resume: Option<PathBuf>,
    /// Make the folder of OUT if it is missing
    #[arg(long)]
    pub make_folder: bool,
    /// What Alembic leaves open.
    #[command(flatten)]
    pub alembic: AlembicArguments,
    /// Disk cache.
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// Heading of the options that are for Alembic alone.
const ALEMBIC: &str = "Alembic (.abc)";

/// What Alembic leaves open.
#[derive(Args)]
pub(crate) struct AlembicArguments {
    /// How meshes are written: objects (one file, an object for each), files (a file for each), merged (one object, the
    /// vertices of one mesh after those of the other)
    #[arg(long, value_name = "HOW", default_value = "objects", hide_default_value = true, help_heading = ALEMBIC)]
    pub meshes: MeshesArgument,
    /// Write the velocity of every point, for motion blur
    #[arg(long, help_heading = ALEMBIC)]
    pub velocities: bool,
    /// Leave out normals: half the size, but hard edges are lost
    #[arg(long, help_heading = ALEMBIC)]
    pub no_normals: bool,
    /// Write centimetres, whatever the unit of FILE, as Unreal expects
    #[arg(long, help_heading = ALEMBIC)]
    pub centimetres: bool,
}

/// How meshes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MeshesArgument {
    /// One file, an object for each.
    Objects,
    /// A file for each.
    Files,
    /// One object.
    Merged,
}

impl AlembicArguments {
    /// As the library takes it.
    pub fn options(&self) -> CacheOptions {
        CacheOptions {
            meshes: match self.meshes {
                MeshesArgument::Objects => Meshes::Objects,
                MeshesArgument::Files => Meshes::Files,
                MeshesArgument::Merged => Meshes::Merged,
            },
            velocities: self.velocities,
            no_normals: self.no_normals,
            metres_per_unit: self.centimetres.then_some(0.01),
        }
    }
}

/// Save what muscles and skin remember before chosen frames.
///
/// Muscles that swing depend on the frames before. `bake --frames` plays those first; with a state it does not need to. This
/// command plays the clip once, muscles alone, and saves the state before each of the frames as OUT/before-N.state, for
/// `bake --resume`. With --coherent, skin remembers, too, and everything is played.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche states hero.fbx --anatomy hero.toml --clip run --before 0,500 -o states
  ecorche bake hero.fbx --anatomy hero.toml --clip run --frames 500-999 --resume states/before-500.state -o b.pc2")]
pub struct States {
    /// The character.
    #[command(flatten)]
    pub rig: Rig,
    /// Frames to save a state before, such as 0,100,200
    #[arg(long, value_name = "FRAMES", value_delimiter = ',', required = true)]
    pub before: Vec<usize>,
    /// Folder for the states, made if missing
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Which moments.
    #[command(flatten)]
    pub sampling: SamplingArguments,
    /// How it is deformed.
    #[command(flatten)]
    pub deformation: Deformation,
    /// Disk cache.
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// Write a long bake as a job for a render farm.
///
/// OUT is a folder: template.json is an Open Job Description of three steps (states, chunks, join), with the values of its
/// parameters for Deadline Cloud (parameter_values.json, asset_references.json) and for `openjd` (parameters.json), a job
/// type for Flamenco (ecorche-bake.js) and the mesh that the caches sit on. The joined PC2 caches are those of a
/// single bake, to the bit. docs/farm.md explains how to submit it.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche job hero.fbx --anatomy hero.toml --clip run --chunks 20 -o job
  openjd run job/template.json -p file://job/parameters.json
  deadline bundle submit job")]
pub struct Job {
    /// The character.
    #[command(flatten)]
    pub rig: Rig,
    /// Folder for the job, made if missing
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// How many chunks the frames are baked in
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub chunks: u16,
    /// Folder for the results on the farm; OUT/results by default
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Name of the joined cache, without extension; the character's by default
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Which moments.
    #[command(flatten)]
    pub sampling: SamplingArguments,
    /// How it is deformed.
    #[command(flatten)]
    pub deformation: Deformation,
}

/// Play many characters at once, and bake or draw them.
///
/// SCENE is a TOML file of characters and of instances of them, each with clip, time offset, place, scale and tension; see
/// docs/methods/crowds.md. Characters that are far from the scene's eye are skinned without muscles, and farther ones left
/// as they are. Prints how long frames took, without writing. With -o every instance becomes a cache of its own (OUT.001.pc2
/// and so on), or all of them one.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche crowd crowd.toml
  ecorche crowd crowd.toml --picture crowd.png --frame 12
  ecorche crowd crowd.toml -o crowd.abc --merged")]
pub struct CrowdArguments {
    /// Scene of the crowd: .toml
    #[arg(value_name = "SCENE")]
    pub scene: PathBuf,
    /// Caches to write; the extension chooses the format
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Write one cache in which all instances are one mesh
    #[arg(long)]
    pub merged: bool,
    /// Deform and draw on a graphics card where there is one and this program was built for it; on the processor otherwise.
    /// Not with caches: only the processor's bits are promised
    #[arg(long, conflicts_with = "output")]
    pub gpu: bool,
    /// Draw the crowd to this PNG
    #[arg(long, value_name = "OUT")]
    pub picture: Option<PathBuf>,
    /// Frame to draw; the last by default
    #[arg(long, value_name = "N")]
    pub frame: Option<usize>,
    /// Where the picture is taken from: front, side, back, 3/4 or auto
    #[arg(long, value_name = "VIEW", default_value = "auto")]
    pub view: View,
    /// Size of the picture in pixels, 1600x900 by default
    #[arg(long, value_name = "WxH", value_parser = super::draw::parse_size)]
    pub size: Option<(usize, usize)>,
    /// Write the times as JSON to OUT, or to standard output
    #[arg(long, value_name = "OUT", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Disk cache.
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// Join pieces of a bake made with --frames.
///
/// The pieces are put in the order of their first frames, which must follow each other without gap. A bake with --frames
/// writes a record beside each piece (NAME.pc2.piece.json): pieces of different characters, clips, methods, rates or
/// settings are refused, and so are pieces that were changed or lost their record.
///
/// For a character of several meshes, give the names that the bakes were given: where part.pc2 does not exist, the files
/// part.MESH.pc2 are joined mesh by mesh.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche join part-*.pc2 -o hero.pc2")]
pub struct Join {
    /// PC2 files
    #[arg(required = true)]
    pub pieces: Vec<PathBuf>,
    /// Joined PC2 file
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Join without the records; only frame numbers and point counts are compared
    #[arg(long)]
    pub unchecked: bool,
}

/// Show what this is: bake, draw and measure the built-in athlete.
///
/// Leaves in FOLDER: a cache of every clip with the mesh it sits on, a contact sheet that compares linear
/// blending, the implicit skin and the skin over muscles frame by frame, and the measurements as text, JSON and plot.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche demo
  ecorche demo -o /tmp/demo --sample 'athlete?resolution=8000'")]
pub struct Demo {
    /// Folder to write to, made if missing
    #[arg(long, short, value_name = "FOLDER", default_value = "ecorche-demo")]
    pub output: PathBuf,
    /// The built-in character, with options
    #[arg(long, value_name = "NAME", default_value = "athlete")]
    pub sample: String,
    /// Disk cache.
    #[command(flatten)]
    pub cache: CacheArguments,
}

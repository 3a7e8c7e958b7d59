//! Commands that write caches of a deformed clip.

use super::{CacheArguments, ImplicitArguments, Shot};
use clap::Args;
use ecorche::deform::Stack;
use std::path::PathBuf;

/// Bake the deformed animation to a cache.
///
/// The extension of OUT chooses the format: .pc2 and .mdd (one file per mesh, plus the mesh they sit on
/// as OUT.rest.obj), .obj (one file per frame), .glb (morph-target animation), .usda (time-sampled
/// points). Vertex order, units and axes are those of FILE. Nothing appears under its final name
/// before it is complete.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche bake hero.fbx -o hero.pc2 --clip run
  ecorche bake hero.glb -o hero.usda --clip all --method dqs
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
    /// Deformation: muscles (skin over muscles that bulge and swing; the default where the anatomy has any), implicit
    /// (skin that touches skin; the default otherwise), lbs (linear blend), dqs (dual quaternions), cor (centres of
    /// rotation)
    #[arg(long, value_name = "METHOD")]
    pub method: Option<Stack>,
    /// The implicit method.
    #[command(flatten)]
    pub implicit: ImplicitArguments,
    /// Do not write the mesh that a .pc2 or .mdd sits on
    #[arg(long)]
    pub no_mesh: bool,
    /// Keep the state of muscles and skin after the last frame in FILE. If FILE exists, go on from its state instead of
    /// playing the frames before the first again; the result is the same. FILE must come from the same character, clip,
    /// rate, anatomy and settings
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Disk cache.
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// Join pieces of a bake made with --frames.
///
/// The pieces are put in the order of their first frames, which must follow each other without gap. A bake with --frames
/// writes a record beside each piece (NAME.pc2.piece.json): pieces of different characters, clips, methods, rates or
/// settings are refused, and so are pieces that were changed or lost their record.
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

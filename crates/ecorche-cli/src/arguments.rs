//! Every command and option, defined once: parsing, help, manual and completions come from here.

use clap::{Args, Parser, Subcommand};
use ecorche::bake::Sampling;
use ecorche::skinning::Method;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Skin deformation for animated characters.
///
/// A rigged, animated character goes in; the same animation comes out with better skin, as a cache
/// that Blender, Maya, Houdini and game engines read.
///
/// Exit codes: 0 done; 1 done, but a check that was asked for failed; 2 error.
#[derive(Parser)]
#[command(name = "ecorche", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// For every command.
    #[command(flatten)]
    pub options: Options,
}

/// Options of every command.
#[derive(Args)]
pub struct Options {
    /// Threads to use; all cores by default. Results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Everywhere")]
    pub threads: Option<u16>,
    /// Say nothing but results and errors
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    pub quiet: bool,
    /// Say more
    #[arg(long, short, global = true, conflicts_with = "quiet", help_heading = "Everywhere")]
    pub verbose: bool,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Tell what is in a character file
    Info(InfoArguments),
    /// Bake the deformed animation to a cache
    Bake(Bake),
    /// Join pieces of a bake made with --frames
    Join(Join),
    /// Simulate muscle, tendon and fat with finite elements
    Tissue(Tissue),
    /// Write manual pages
    Man(Man),
    /// Print a shell's completion script
    Completions(Completions),
}

/// Tell what is in a character file.
///
/// Meshes, joints (with the humanoid bones recognised), clips, units, and every oddity found and
/// how it was repaired.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche info hero.fbx
  ecorche info hero.glb --joints
  ecorche info hero.glb --json hero.json")]
pub struct InfoArguments {
    /// Character: .glb .gltf .fbx .dae .obj .bvh .usd[acz], or sample:NAME
    pub file: String,
    /// List every joint, not only the humanoid ones
    #[arg(long)]
    pub joints: bool,
    /// Write it as JSON to OUT, or to standard output
    #[arg(long, value_name = "OUT", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
}

/// Bake the deformed animation to a cache.
///
/// The ending of OUT chooses the format: .pc2 and .mdd (one file per mesh, plus the mesh they sit on
/// as OUT.rest.obj), .obj (one file per frame), .glb (morph-target animation), .usda (time-sampled
/// points). Vertex order, units and axes are those of FILE. Nothing appears under its final name
/// before it is complete.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche bake hero.fbx -o hero.pc2 --clip run
  ecorche bake hero.glb -o hero.usda --clip all --method dqs
  ecorche bake hero.fbx --motion walk.bvh -o walk.glb --fps 24
  ecorche bake body.obj --motion walk.bvh -o walk.pc2      (weights are made by heat diffusion)

A long bake in two processes:
  ecorche bake hero.fbx -o a.pc2 --frames 0-499 & ecorche bake hero.fbx -o b.pc2 --frames 500-999
  ecorche join a.pc2 b.pc2 -o hero.pc2")]
pub struct Bake {
    /// The character.
    #[command(flatten)]
    pub rig: Rig,
    /// Cache to write
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Which moments.
    #[command(flatten)]
    pub sampling: SamplingArguments,
    /// Deformation: lbs (linear blend), dqs (dual quaternions), cor (centres of rotation)
    #[arg(long, default_value = "lbs", value_name = "METHOD")]
    pub method: Method,
    /// Do not write the mesh that a .pc2 or .mdd sits on
    #[arg(long)]
    pub no_mesh: bool,
    /// Disk cache.
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// A character and what is done to its rig on loading.
#[derive(Args)]
pub struct Rig {
    /// Character: .glb .gltf .fbx .dae .obj .usd[acz], or sample:NAME
    pub file: String,
    /// Take the clips from this file, joined to the character by joint names
    #[arg(long, value_name = "FILE")]
    pub motion: Option<String>,
    /// Weights: those of the file, or automatic ones by heat diffusion. By default the file's, and automatic ones
    /// for a character whose meshes have none
    #[arg(long, value_name = "KIND")]
    pub weights: Option<Weights>,
}

/// Where weights come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Weights {
    /// The file's.
    File,
    /// Heat diffusion.
    Heat,
}

/// Which clip and which of its frames.
#[derive(Args)]
pub struct SamplingArguments {
    /// Clip by name, or `all`; the first by default
    #[arg(long, value_name = "NAME")]
    pub clip: Option<String>,
    /// Frames per second; the clip's own rate by default, else 30
    #[arg(long, value_name = "N")]
    pub fps: Option<f32>,
    /// Frames A to B, counted from 0 at the clip's start
    #[arg(long, value_name = "A-B", value_parser = parse_frames)]
    pub frames: Option<RangeInclusive<usize>>,
}

impl SamplingArguments {
    /// As the library takes it.
    pub fn resolve(&self) -> Sampling {
        Sampling { fps: self.fps, frames: self.frames.clone() }
    }
}

/// Use of the disk cache.
#[derive(Args)]
pub struct CacheArguments {
    /// Compute everything anew and keep nothing on disk
    #[arg(long)]
    pub no_cache: bool,
    /// Most the disk cache may hold, in megabytes
    #[arg(long, value_name = "MB", default_value_t = ecorche::cache::DEFAULT_LIMIT >> 20)]
    pub cache_limit: u64,
}

/// Join pieces of a bake made with --frames.
///
/// The pieces are put in the order of their first frames, which must follow each other without gap.
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
}

/// Simulate muscle, tendon and fat with finite elements.
///
/// SCENE is a TOML file: bodies, materials, bones, holds, activations and contact; crates/ecorche/examples/scenes/arm.toml is a
/// commented one. OUT is a folder and receives, for every body, its surface as BODY.pc2 on BODY.rest.obj (in the
/// scene's unit), and frames.json with volumes, forces and times, plots, pictures and a checkpoint.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche tissue arm.toml -o arm
  ecorche tissue arm.toml -o arm --resume
  ecorche tissue arm.toml -o arm --pictures 1 --view front")]
pub struct Tissue {
    /// Scene file
    pub scene: PathBuf,
    /// Folder to write to, made if missing
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Go on from the checkpoint in OUT
    #[arg(long)]
    pub resume: bool,
    /// Stop after this frame instead of the scene's last
    #[arg(long, value_name = "N")]
    pub until: Option<usize>,
    /// Frames between checkpoints
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..))]
    pub checkpoint: u32,
    /// Render every Nth frame; 0 renders the first, the middle and the last
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub pictures: usize,
    /// From where to look: auto, front, side, back, 3/4
    #[arg(long, default_value = "auto")]
    pub view: ecorche::output::raster::View,
    /// Write the tetrahedra of the last frame with fibres and volume ratios as OUT/last.vtk
    #[arg(long)]
    pub vtk: bool,
}

/// Write manual pages.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche man ~/.local/share/man/man1")]
pub struct Man {
    /// Folder to write to, made if missing
    pub folder: PathBuf,
}

/// Print a shell's completion script.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche completions bash > ~/.local/share/bash-completion/completions/ecorche")]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `12` or `0-99`.
fn parse_frames(text: &str) -> Result<RangeInclusive<usize>, String> {
    let number = |part: &str| {
        part.trim().parse::<usize>().map_err(|_| format!("\"{text}\" is not a frame or a range such as 0-99"))
    };
    let (first, last) = match text.split_once('-') {
        Some((a, b)) => (number(a)?, number(b)?),
        None => (number(text)?, number(text)?),
    };
    if first > last {
        return Err(format!("the range {text} ends before it starts"));
    }
    Ok(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn frame_ranges_read_as_written() {
        assert_eq!(parse_frames("3-7"), Ok(3..=7));
        assert_eq!(parse_frames("5"), Ok(5..=5));
        assert!(parse_frames("7-3").is_err());
        assert!(parse_frames("-3").is_err());
    }
}

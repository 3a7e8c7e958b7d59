//! Commands that solve for flesh by finite elements.

use super::{AnatomyArguments, Shot};
use clap::Args;
use ecorche::hero::layers::STAGES;
use ecorche::hero::reference::Resolution;
use ecorche::output::raster::View;
use std::path::PathBuf;

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
    pub view: View,
    /// Write the tetrahedra of the last frame with fibres and volume ratios as OUT/last.vtk
    #[arg(long)]
    pub vtk: bool,
}

/// Compute what elastic flesh does in a clip, to measure methods against.
///
/// The closed skin is filled with elastic flesh around cores of bone, which follow the joints; the flesh settles in every
/// pose, and the skin touches itself and never passes through. No muscles, no gravity, no history. OUT is a point cache
/// with the file's vertices, for the same frames as `bake` writes; beside it lies a .json with the figures of every
/// frame. Slow: seconds to minutes a frame.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche reference sample:arm --clip curl -o arm.pc2
  ecorche reference sample:arm --clip curl --frames 20-20 --resolution fine -o arm.pc2
  ecorche reference sample:arm --clip curl --error -o arm.pc2      (how much depends on the mesh?)
  ecorche reference hero.glb --clip squat --region LeftLeg -o knee.pc2")]
pub struct ReferenceArguments {
    /// What is solved, and where to.
    #[command(flatten)]
    pub shot: Shot,
    /// How fine the flesh is: coarse (five elements in the depth of the joint) or fine (seven or eight)
    #[arg(long, value_name = "NAME", default_value = "coarse")]
    pub resolution: Resolution,
    /// Edge of the elements, metres, where they are shortest, in place of the resolution's
    #[arg(long, value_name = "METRES")]
    pub edge: Option<f64>,
    /// Mesh fine around JOINT and coarser away from it; a region is meshed so around its own joint
    #[arg(long, value_name = "JOINT")]
    pub focus: Option<String>,
    /// Only the flesh along the bone that ends at JOINT and the bones that begin there; the rest of the skin is skinned
    /// with dual quaternions and blended at the border
    #[arg(long, value_name = "JOINT")]
    pub region: Option<String>,
    /// Solve with elements of 1.5 times the edge too, report how far apart the two results are, and keep the coarser one beside OUT
    /// (OUT.coarser.pc2), where `measure --against OUT` finds it
    #[arg(long)]
    pub error: bool,
    /// Fail with exit code 1 if a frame did not converge, a tetrahedron is inverted or triangles pass through each other
    #[arg(long)]
    pub check: bool,
    /// Print the figures as JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Simulate a shot of muscles, fascia, fat and skin on a character's clip.
///
/// The muscles of the anatomy become solids that hang on the character's bones; a fascia slides over them, fat hangs between it
/// and the skin. OUT is a cache with the file's vertices, for the same frames as `bake` writes; beside it lie a .json with the
/// figures of every frame and a folder, OUT.hero, with what every stage has computed: an interrupted shot goes on where it was.
/// Outside the region the skin is that of dual quaternions. Slow: seconds a frame.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche init sample:arm -o arm.toml
  ecorche hero sample:arm --anatomy arm.toml --clip curl --fps 15 --region leftLowerArm -o arm.pc2
  ecorche hero sample:arm --anatomy arm.toml --clip curl --region leftLowerArm -o arm.glb --picture arm.png --picture-frame 11
  ecorche hero hero.fbx --anatomy hero.toml --clip run --region leftLeg -o knee.abc --job job      (for a farm)")]
pub struct HeroArguments {
    /// What is simulated, and where to.
    #[command(flatten)]
    pub shot: Shot,
    /// What lies under the skin.
    #[command(flatten)]
    pub anatomy: AnatomyArguments,
    /// Only the flesh along the bone that ends at JOINT and the bones that begin there. leftArm, rightArm, leftLeg and
    /// rightLeg stand for elbow and knee, where no joint has this name
    #[arg(long, value_name = "JOINT")]
    pub region: Option<String>,
    /// Tetrahedra of all muscles together, about
    #[arg(long, value_name = "N", default_value_t = 16_000, value_parser = clap::value_parser!(u32).range(500..=500_000))]
    pub tetrahedra: u32,
    /// Edge of the muscles' tetrahedra, metres, in place of their number
    #[arg(long, value_name = "METRES", conflicts_with = "tetrahedra")]
    pub edge: Option<f64>,
    /// Steps of the muscles a frame
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub substeps: u32,
    /// Muscles without inertia: nothing jiggles
    #[arg(long)]
    pub still_muscles: bool,
    /// Stop after this stage: muscles, fascia, fat, or skin, which is all of it. The cache is written after the last; the
    /// same command with a later stage goes on
    #[arg(
        long,
        value_name = "STAGE",
        default_value = "skin",
        hide_default_value = true,
        conflicts_with = "picture"
    )]
    pub until: Until,
    /// Simulate nothing here, but write a job for a render farm to the folder DIR: a step for each stage, which together leave
    /// OUT. docs/farm.md explains how to submit it
    #[arg(long, value_name = "DIR", conflicts_with_all = ["until", "picture"])]
    pub job: Option<PathBuf>,
    /// Draw the layers of a frame: skin, fat cut open, fascia, muscles
    #[arg(long, value_name = "PNG")]
    pub picture: Option<PathBuf>,
    /// Which frame; the last one by default
    #[arg(long, value_name = "N", requires = "picture")]
    pub picture_frame: Option<usize>,
    /// From where to look at it: auto, front, side, back, 3/4
    #[arg(long, default_value = "auto", requires = "picture")]
    pub view: View,
    /// Fail with exit code 1 if a step did not converge, a tetrahedron is inverted, a muscle's volume is off by more than 1 %
    /// or triangles of the skin pass through each other
    #[arg(long)]
    pub check: bool,
}

/// A stage of a simulated shot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Until {
    /// The muscles on moving bones.
    Muscles,
    /// The fascia on the muscles.
    Fascia,
    /// The fat on the fascia.
    Fat,
    /// The skin, as a cache.
    Skin,
}

impl Until {
    /// As on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Muscles => STAGES[0],
            Self::Fascia => STAGES[1],
            Self::Fat => STAGES[2],
            Self::Skin => "skin",
        }
    }

    /// How many stages of a simulation come before the skin.
    pub fn stages(self) -> usize {
        STAGES.len().min(self as usize + 1)
    }
}

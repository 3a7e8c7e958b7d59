//! Commands that measure quality and speed.

use super::{CacheArguments, ImplicitArguments, Rig, SamplingArguments};
use clap::Args;
use ecorche::deform::Stack;
use std::path::PathBuf;

/// Measure how good the deformed skin is.
///
/// For every method and frame: intersecting triangle pairs beyond those at rest, penetration depth, volume,
/// stretch, flipped triangles, popping, time; and shape against the skinning that the method starts from: roughness,
/// creases, crushed pieces, hollow folds, boiling. Prints a table of the worst and mean values and names the worst
/// frames. For a character of several pieces, also the area that the worst piece of each role loses; for a body with muscles,
/// what they do: length, width, volume, depth in bones. With --fail-above the exit code is 1 when a limit is exceeded, so that a
/// build can fail.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche measure hero.fbx --clip squat
  ecorche measure hero.fbx --clip all --methods dqs,implicit --json hero.json --plot pairs.png
  ecorche measure hero.fbx --methods implicit --fail-above pairs=20,stretch_max=3
  ecorche measure hero.fbx --methods implicit --fail-above roughness_ratio=1.15,creases=1,crush=0.05,boil=5
  ecorche measure hero.fbx --clip squat --against squat_reference.pc2
  ecorche measure hero.fbx --methods implicit --tracking 2014
  ecorche measure sample:arm --clip curl --methods muscles --plot-muscles muscles.png")]
pub struct Measure {
    /// The character.
    #[command(flatten)]
    pub rig: Rig,
    /// Which moments.
    #[command(flatten)]
    pub sampling: SamplingArguments,
    /// Methods to measure; lbs,dqs,implicit by default, and muscles where the anatomy has any
    #[arg(long, value_name = "METHODS", value_delimiter = ',')]
    pub methods: Vec<Stack>,
    /// The implicit method.
    #[command(flatten)]
    pub implicit: ImplicitArguments,
    /// Write every figure of every frame as JSON to OUT, or to standard output
    #[arg(long, value_name = "OUT", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Plot a figure over the frames to this PNG
    #[arg(long, value_name = "OUT")]
    pub plot: Option<PathBuf>,
    /// Figure to plot
    #[arg(long, value_name = "NAME", default_value = "pairs")]
    pub figure: String,
    /// Plot length, width and volume of the muscles over the clip to this PNG
    #[arg(long, value_name = "OUT")]
    pub plot_muscles: Option<PathBuf>,
    /// Also measure the distance to this PC2 cache of the same character and frames, such as an elastic solution
    #[arg(long, value_name = "REF")]
    pub against: Option<PathBuf>,
    /// Limits such as pairs=0,stretch_max=3; exit code 1 when one is exceeded
    #[arg(long, value_name = "LIMITS")]
    pub fail_above: Option<String>,
    /// Disk cache.
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// Measure how fast it is, beside plain skinning and the papers.
///
/// Regenerates the papers' tables on characters made by code, of the same size, and prints their figures and machines beside
/// ours; linear blending and dual quaternions of the same mesh are measured in the same run. Further tables tell where the
/// time goes, how it grows, and whether the goals are met. Everything takes some minutes; nothing else should run meanwhile.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche bench --list
  ecorche bench --table goals
  ecorche bench --table all --threads 1,2 --json bench.json --plots plots
  ecorche bench --quick                             (does it run at all?)")]
pub struct BenchArguments {
    /// Tables to measure, or `all`
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
    pub table: Vec<String>,
    /// List the tables and measure nothing
    #[arg(long)]
    pub list: bool,
    /// Small scenes and few frames: complete tables in seconds; their numbers mean nothing
    #[arg(long)]
    pub quick: bool,
    /// Write every number as JSON to OUT, or to standard output
    #[arg(long, value_name = "OUT", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Draw plots into this folder, made if missing
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
}

//! Commands that describe a character or open it.

use super::{AnatomyArguments, CacheArguments, MotionArguments};
use clap::Args;
use std::path::PathBuf;

/// Show what is in a character file.
///
/// Meshes, joints (with the humanoid bones recognised), clips, units, and every oddity found and
/// how it was repaired.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche info hero.fbx
  ecorche info hero.glb --joints
  ecorche info hero.glb --parts
  ecorche info hero.glb --json hero.json
  ecorche info hero.glb --anatomy anatomy.toml      (does the file fit the character?)")]
pub struct InfoArguments {
    /// Character: .glb .gltf .fbx .dae .obj .bvh .usd[acz], or sample:NAME
    pub file: String,
    /// List every joint, not only the humanoid ones
    #[arg(long)]
    pub joints: bool,
    /// Cut the skin into parts and report how good their fields are, what was merged, what follows and why
    #[arg(long)]
    pub parts: bool,
    /// Write it as JSON to OUT, or to standard output
    #[arg(long, value_name = "OUT", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Disk cache.
    #[command(flatten)]
    pub cache: CacheArguments,
    /// What lies under the skin.
    #[command(flatten)]
    pub anatomy: AnatomyArguments,
}

/// Write a first anatomy file for a character.
///
/// Skin settings with their defaults and, for a humanoid, a hundred muscles and some fat placed in that body,
/// inside its skin. What could not be placed is listed with the reason. Everything is commented and meant to
/// be edited.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche init hero.fbx
  ecorche init sample:athlete -o athlete.toml --force
  ecorche init hero.fbx --parametric -o crowd.toml")]
pub struct Init {
    /// Character: .glb .gltf .fbx .dae .usd[acz], or sample:NAME
    pub file: String,
    /// Anatomy file to write
    #[arg(long, short, value_name = "OUT", default_value = "anatomy.toml")]
    pub output: PathBuf,
    /// Overwrite OUT if it exists
    #[arg(long)]
    pub force: bool,
    /// Skin settings only, no muscles
    #[arg(long)]
    pub skin_only: bool,
    /// Parametric muscles in place of muscles and fat, for the method parametric and for crowds
    #[arg(long, conflicts_with = "skin_only")]
    pub parametric: bool,
}

/// Place the muscles made in one body in another.
///
/// The two need neither the same mesh nor the same names of joints: both are recognised as human, and places go over
/// along bones, around them and from bone to skin. Widths follow the room under the skin. What finds no place is listed
/// with the reason. The settings of [skin] are not carried over.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche transfer hero.toml hero.fbx giant.glb -o giant.toml
  ecorche transfer anatomy.toml sample:athlete hero.fbx -o hero.toml --force")]
pub struct TransferArguments {
    /// Anatomy file made for FROM
    #[arg(value_name = "ANATOMY")]
    pub anatomy: PathBuf,
    /// Character it was made for: .glb .gltf .fbx .dae .usd[acz], or sample:NAME
    pub from: String,
    /// Character to place the muscles in
    pub to: String,
    /// Anatomy file to write
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Overwrite OUT if it exists
    #[arg(long)]
    pub force: bool,
}

/// Turn a drawing of a muscle into its profile.
///
/// Finds axis, width and profile of one drawn shape, filled or as a closed outline, as a sum of sines and as the best beta
/// pair. Prints how well they fit, and writes the lines for a [[muscle]] of an anatomy file and a picture of both over the
/// drawing. The origin is the upper end, or the left one of a muscle that lies.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche profile biceps.png
  ecorche profile biceps.png biceps_tense.png --length 0.24 -o biceps.toml")]
pub struct ProfileArguments {
    /// Drawing of the slack muscle: PNG
    #[arg(value_name = "SKETCH")]
    pub sketch: PathBuf,
    /// Drawing of the tense muscle; without one its powers are twice the slack ones
    pub tense: Option<PathBuf>,
    /// Lines to write; SKETCH.toml by default. Pictures lie beside them and end in _fit.png
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Overwrite OUT if it exists
    #[arg(long)]
    pub force: bool,
    /// Length of the muscle, metres, to give its width in metres
    #[arg(long, value_name = "METRES")]
    pub length: Option<f64>,
}

/// List the built-in characters.
///
/// Any command takes `sample:NAME` or `sample:NAME?option=value` in place of a file.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche samples
  ecorche samples --pictures folder")]
pub struct Samples {
    /// Draw each of them into this folder
    #[arg(long, value_name = "FOLDER")]
    pub pictures: Option<PathBuf>,
}

/// Look, pose, edit and play in the browser.
///
/// Opens a page on this machine, for this user alone: the character shaded and playing, methods side by side, joints to
/// turn, muscles and fields to look at and to change, undo, bakes. Without FILE the page offers samples and the characters
/// opened last, and takes what is dropped on it. Edits that are not saved are kept beside the anatomy, in a file that ends in .unsaved, and are offered at the next start.
///
/// The address starts with a random token, or with what the environment variable ECORCHE_STUDIO_TOKEN holds: at least
/// 16 letters and digits. With the same port and token an open page finds a restarted engine again.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche studio
  ecorche studio hero.fbx --anatomy hero.toml
  ecorche studio hero.glb --no-open --port 8765      (prints the address)")]
pub struct StudioArguments {
    /// Character: .glb .gltf .fbx .dae .obj .usd[acz], or sample:NAME; chosen in the page by default
    pub file: Option<String>,
    /// Where the clips come from.
    #[command(flatten)]
    pub motion: MotionArguments,
    /// What lies under the skin.
    #[command(flatten)]
    pub anatomy: AnatomyArguments,
    /// Port on the loopback address; a free one by default
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Do not open the browser; the address is printed in any case
    #[arg(long)]
    pub no_open: bool,
    /// Folder that the page may write to without asking, besides those of the character and the anatomy; can be given
    /// several times
    #[arg(long, value_name = "FOLDER")]
    pub folder: Vec<PathBuf>,
    /// Disk cache.
    #[command(flatten)]
    pub cache: CacheArguments,
}

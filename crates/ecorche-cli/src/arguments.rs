//! Every command and option, defined once: parsing, help, manual and completions come from here.

use crate::Failure;
use crate::console::Console;
use crate::source;
use clap::{Args, Parser, Subcommand};
use ecorche::character::motion::RANGE;
use ecorche::deform::{Stack, Tracking, Under};
use ecorche::field::section::{Axis, UnknownAxis};
use ecorche::hero::reference::Resolution;
use ecorche::output::raster::View;
use ecorche::portrait::{MuscleColour, spread};
use ecorche::recipe::{AnatomySource, Ingredients, MotionSource, MuscleUse, Recipe, WeightSource};
use ecorche::sampling::{Plan, Sampling};
use ecorche::surface::{LayerDef, smooth};
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
    /// Threads to use; all cores by default. Results do not depend on it. `bench` takes several, such as 1,2
    #[arg(long, global = true, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Everywhere")]
    pub threads: Vec<u16>,
    /// Print nothing but results and errors
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    pub quiet: bool,
    /// Print more
    #[arg(long, short, global = true, conflicts_with = "quiet", help_heading = "Everywhere")]
    pub verbose: bool,
}

/// The commands. The structs describe them: a doc comment on a variant would replace the long help of its struct.
#[derive(Subcommand)]
pub enum Command {
    Demo(Demo),
    Info(InfoArguments),
    Init(Init),
    Bake(Bake),
    Render(Render),
    Measure(Measure),
    Bench(BenchArguments),
    Studio(StudioArguments),
    Samples(Samples),
    Field(FieldArguments),
    Operator(OperatorArguments),
    Join(Join),
    Tissue(Tissue),
    Reference(ReferenceArguments),
    Man(Man),
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
  ecorche info hero.glb --parts
  ecorche info hero.glb --json hero.json
  ecorche info hero.glb --anatomy anatomy.toml      (does the file fit the character?)")]
pub struct InfoArguments {
    /// Character: .glb .gltf .fbx .dae .obj .bvh .usd[acz], or sample:NAME
    pub file: String,
    /// List every joint, not only the humanoid ones
    #[arg(long)]
    pub joints: bool,
    /// Cut the skin into parts and tell how good their fields are, what was merged, what follows and why
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

/// What lies under the skin.
#[derive(Args, Default)]
pub struct AnatomyArguments {
    /// Anatomy file: skin settings, muscles, fat. `ecorche init` writes one
    #[arg(long, value_name = "FILE")]
    pub anatomy: Option<PathBuf>,
}

impl AnatomyArguments {
    /// As a recipe takes it.
    pub fn source(&self) -> AnatomySource {
        self.anatomy.clone().map_or(AnatomySource::Own, AnatomySource::File)
    }
}

/// Where the clips come from.
#[derive(Args)]
pub struct MotionArguments {
    /// Take the clips from this file, joined to the character by joint names; or `range`, an exercise that moves every
    /// joint of this skeleton
    #[arg(long, value_name = "FILE")]
    pub motion: Option<String>,
}

impl MotionArguments {
    /// As a recipe takes it.
    pub fn source(&self) -> MotionSource {
        match self.motion.as_deref() {
            None => MotionSource::Own,
            Some(RANGE) => MotionSource::Range,
            Some(file) => MotionSource::File(file.to_owned()),
        }
    }
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
  ecorche init sample:athlete -o athlete.toml --force")]
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
    /// The character.
    #[command(flatten)]
    pub rig: Rig,
    /// Cache to write
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Which moments.
    #[command(flatten)]
    pub sampling: SamplingArguments,
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

/// A character and what is done to its rig on loading.
#[derive(Args)]
pub struct Rig {
    /// Character: .glb .gltf .fbx .dae .obj .usd[acz], or sample:NAME
    pub file: String,
    /// Where the clips come from.
    #[command(flatten)]
    pub motion: MotionArguments,
    /// Weights: those of the file, or automatic ones by heat diffusion. By default the file's, and automatic ones
    /// for a character whose meshes have none
    #[arg(long, value_name = "KIND")]
    pub weights: Option<Weights>,
}

impl Rig {
    /// The recipe these arguments and those of the implicit method ask for.
    pub fn recipe(&self, implicit: &ImplicitArguments) -> Recipe {
        Recipe {
            motion: self.motion.source(),
            weights: match self.weights {
                None => WeightSource::Auto,
                Some(Weights::File) => WeightSource::File,
                Some(Weights::Heat) => WeightSource::Heat,
            },
            anatomy: implicit.anatomy.source(),
            tracking: implicit.tracking,
            coherent: implicit.coherent,
            muscles: match (implicit.no_muscles, implicit.still_muscles) {
                (true, _) => MuscleUse::Off,
                (false, true) => MuscleUse::Still,
                (false, false) => MuscleUse::Dynamic,
            },
            surface: implicit.smooth.map(LayerDef::Smooth).into_iter().collect(),
            ..Recipe::of(&self.file)
        }
    }
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

/// How the implicit method works.
#[derive(Args, Default)]
pub struct ImplicitArguments {
    /// How the implicit method places vertices: robust (any pose; the default), or the schemes of the papers, 2012 and
    /// 2014, to compare with
    #[arg(long, value_name = "SCHEME")]
    pub tracking: Option<Tracking>,
    /// Let each frame start from the one before: faster, but a frame then depends on those before it
    #[arg(long)]
    pub coherent: bool,
    /// Leave out the muscles and fat of the anatomy
    #[arg(long)]
    pub no_muscles: bool,
    /// Muscles follow the pose at once instead of swinging
    #[arg(long)]
    pub still_muscles: bool,
    /// Corrective smoothing of the skin, over any method, as Blender's modifier does it: FACTOR 0 to 1, 0.5 by default;
    /// ITERATIONS 5 by default, more reach farther
    #[arg(long, value_name = "FACTOR[,ITERATIONS]", num_args = 0..=1, require_equals = true,
        default_missing_value = "0.5,5", value_parser = parse_smooth)]
    pub smooth: Option<smooth::Settings>,
    /// Settings of the skin, and what lies under it.
    #[command(flatten)]
    pub anatomy: AnatomyArguments,
}

impl ImplicitArguments {
    /// Refuses what none of the methods does, and tells what a method leaves out. `named`: the user chose the methods.
    pub fn check_use(
        &self,
        ingredients: &Ingredients,
        methods: &[Stack],
        named: bool,
        console: &Console,
    ) -> Result<(), Failure> {
        let stacks: Vec<Stack> =
            methods.iter().map(|m| ingredients.settings(Some(m.clone())).stack).collect();
        let list = methods.iter().map(Stack::to_string).collect::<Vec<_>>().join(", ");
        if let Some(tracking) = self.tracking
            && stacks.iter().all(|stack| stack.tracking.is_none())
        {
            return Err(format!(
                "--tracking {tracking}: {list} does not track; add --method implicit, or leave it out"
            )
            .into());
        }
        if self.coherent && stacks.iter().all(|stack| stack.tracking != Some(Tracking::Robust)) {
            return Err(format!(
                "--coherent: {list} has no robust tracking; add --method implicit, or leave it out"
            )
            .into());
        }
        let fleshed = methods.iter().any(|method| method.under == Under::Flesh);
        if named && self.still_muscles && !fleshed {
            return Err(format!(
                "--still-muscles: {list} has no muscles; add --method muscles, or leave it out"
            )
            .into());
        }
        if self.no_muscles && fleshed {
            return Err(format!(
                "--no-muscles contradicts the method muscles in {list}; leave out one of them"
            )
            .into());
        }
        if !named
            && ingredients.has_muscles()
            && !fleshed
            && let Some(tracking) = stacks.iter().find_map(|s| s.tracking)
        {
            console.note(&format!(
                "the muscles of the anatomy are left out: the tracking of {tracking} has none"
            ));
        }
        Ok(())
    }
}

/// Which frames are drawn, and how large.
#[derive(Args)]
pub struct Drawing {
    /// Which moments.
    #[command(flatten)]
    pub sampling: SamplingArguments,
    /// One frame, counted from 0 at the clip's start
    #[arg(long, value_name = "N", conflicts_with = "frames")]
    pub frame: Option<usize>,
    /// From where to look: front, side, back, 3/4 or auto
    #[arg(long, default_value = "auto", value_name = "VIEW")]
    pub view: View,
    /// Pixels of each panel; 900x900, less on a contact sheet
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    pub size: Option<(usize, usize)>,
    /// Most frames on a contact sheet, spread evenly over the range; 12, or 8 with `field`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub panels: Option<u16>,
    /// An animated PNG instead of a contact sheet
    #[arg(long)]
    pub animate: bool,
}

impl Drawing {
    /// The frames asked for.
    pub fn plan<'a>(
        &self,
        ingredients: &'a Ingredients,
        file: &str,
        console: &Console,
    ) -> Result<Plan<'a>, Failure> {
        source::plan_of_one(ingredients, &self.sampling, self.frame, file, console)
    }

    /// Which of them are drawn: all for an animation; for a contact sheet as many as asked for, `panels` by default.
    pub fn numbers(&self, plan: &Plan, panels: u16) -> Vec<usize> {
        if self.animate {
            return plan.frames.clone().collect();
        }
        spread(plan, self.panels.unwrap_or(panels).into())
    }
}

/// Use of the disk cache.
#[derive(Args)]
pub struct CacheArguments {
    /// Compute everything again and keep nothing on disk
    #[arg(long)]
    pub no_cache: bool,
    /// Most the disk cache may hold, in megabytes
    #[arg(long, value_name = "MB", default_value_t = ecorche::cache::DEFAULT_LIMIT >> 20)]
    pub cache_limit: u64,
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

/// Draw a character.
///
/// Without --clip and --frame the rest pose. A range of frames becomes a contact sheet, or an animated
/// PNG with --animate. The picture is the same on every machine; no graphics card is used.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche render hero.fbx -o hero.png
  ecorche render hero.glb -o squat.png --clip squat --frame 24 --compare lbs,dqs,implicit
  ecorche render hero.glb -o run.png --clip run --frames 0-20 --animate
  ecorche render hero.glb -o knee.png --clip squat --frame 24 --focus LeftLeg --wire
  ecorche render hero.glb -o stretch.png --clip squat --frame 24 --show stretch

Quantities for --show: stretch, depth, crossing, part, weight:JOINT; and with the method implicit iso-error, contact,
beta, vertex-state, gradient-angle, evaluations")]
pub struct Render {
    /// The character.
    #[command(flatten)]
    pub rig: Rig,
    /// PNG to write
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Which frames, and how large.
    #[command(flatten)]
    pub drawing: Drawing,
    /// Deformation: muscles, implicit, lbs, dqs or cor; muscles by default where the anatomy has any, else implicit
    #[arg(long, value_name = "METHOD")]
    pub method: Option<Stack>,
    /// The implicit method.
    #[command(flatten)]
    pub implicit: ImplicitArguments,
    /// Draw what lies under the skin, muscles coloured by activation or tension
    #[arg(long, value_name = "COLOUR", num_args = 0..=1, default_missing_value = "activation")]
    pub muscles: Option<MuscleColour>,
    /// With --muscles: how much of the skin is seen, from 0 (taken off) to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.22)]
    pub skin: f32,
    /// Several methods side by side
    #[arg(long, value_name = "METHODS", value_delimiter = ',', conflicts_with = "method")]
    pub compare: Vec<Stack>,
    /// Close-up that follows a joint
    #[arg(long, value_name = "JOINT")]
    pub focus: Option<String>,
    /// Draw the edges of the polygons
    #[arg(long)]
    pub wire: bool,
    /// Show a quantity as colours
    #[arg(long, value_name = "NAME")]
    pub show: Option<String>,
    /// Disk cache.
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// Measure how good the deformed skin is.
///
/// For every method and frame: intersecting triangle pairs beyond those at rest, penetration depth, volume,
/// stretch, flipped triangles, popping, time; and shape against the skinning that the method starts from: roughness,
/// creases, crushed pieces, hollow folds, boiling. Prints a table of the worst and mean values and names the worst
/// frames. Of a body with muscles also what they do: length, width, volume, depth in bones. With --fail-above the exit
/// code is 1 when a limit is passed, so that a build can be gated.
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
    /// Limits such as pairs=0,stretch_max=3; exit code 1 when one is passed
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
    /// Name the tables and measure nothing
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

/// Look, pose, edit and play in the browser.
///
/// Opens a page on this machine, for this user alone: the character shaded and playing, methods side by side, joints to
/// turn, muscles and fields to look at and to change, undo, bakes. Without FILE the built-in athlete. Edits that are
/// not saved are kept beside the anatomy, in a file that ends in .unsaved, and are offered at the next start.
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
    /// Character: .glb .gltf .fbx .dae .obj .usd[acz], or sample:NAME; the athlete by default
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

/// Show the fields under the skin.
///
/// The implicit method cuts the skin into parts and fits a field to each: 0.5 on the surface, above inside. Drawn is
/// the surface of the composed field, coloured by part; with --samples what the fields were fitted to; with --slice a
/// section with isolines, the surface bold, and the gradient. An OUT that ends in .obj receives the surface as a mesh.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche field hero.glb -o field.png
  ecorche field hero.glb -o samples.png --samples
  ecorche field hero.glb -o thigh.obj --bone LeftUpLeg
  ecorche field hero.glb -o knee.png --clip squat --frame 24 --slice x=LeftLeg
  ecorche field hero.glb -o squat.png --clip squat --slice z=0.1 --animate")]
pub struct FieldArguments {
    /// The character.
    #[command(flatten)]
    pub rig: Rig,
    /// PNG or OBJ to write
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Which frames, and how large.
    #[command(flatten)]
    pub drawing: Drawing,
    /// The field of one bone, by its joint, instead of the composed one
    #[arg(long, value_name = "JOINT")]
    pub bone: Option<String>,
    /// Draw the samples the fields go through, with normals; those that close parts are dark
    #[arg(long, conflicts_with = "slice")]
    pub samples: bool,
    /// Draw a section across x, y or z: through the middle, at metres (z=0.1) or through a joint (x=LeftLeg)
    #[arg(long, value_name = "AXIS[=AT]", value_parser = parse_slice)]
    pub slice: Option<Slice>,
    /// Draw the way a vertex takes through tracking, and list its steps; a vertex of the first skinned mesh, or
    /// MESH:VERTEX, counted from 0 as in the file
    #[arg(long, value_name = "[MESH:]VERTEX", conflicts_with_all = ["slice", "samples", "bone"])]
    pub path: Option<String>,
    /// Value of the surface, from 0 to 1
    #[arg(long, value_name = "VALUE", default_value_t = 0.5)]
    pub level: f32,
    /// Cells along the longest side of the surface
    #[arg(long, value_name = "N", default_value_t = 160, value_parser = clap::value_parser!(u16).range(8..=1024))]
    pub cells: u16,
    /// How the fields are joined; contact by default
    #[arg(long, value_name = "NAME")]
    pub operator: Option<String>,
    /// Disk cache.
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// A section: its axis, and metres or a joint it goes through.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Across what.
    pub axis: Axis,
    /// As written after `=`.
    pub through: Option<String>,
}

/// Draw how an operator joins two fields.
///
/// A square for each opening shows the joined value over the two fields, with isolines; the surface, 0.5, is
/// the bold one. Beside them the controller: the opening over the angle between the fields' gradients.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche operator bulge
  ecorche operator blend --controller elbow --openings 0,0.25,1 -o blend.png

Operators: union, ricci, clean-union, clean-open-union, gradient-blend, blend, bulge, contact, detail
Controllers: elbow, finger, bulge, contact, late-contact")]
pub struct OperatorArguments {
    /// The operator
    pub name: String,
    /// PNG to write; NAME.png by default
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// The controller; the operator's own by default
    #[arg(long, value_name = "NAME")]
    pub controller: Option<String>,
    /// Openings to draw, from 0 to 1
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0,0.5,1")]
    pub openings: Vec<f64>,
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
    /// The character.
    #[command(flatten)]
    pub rig: Rig,
    /// Cache to write; its ending chooses the format
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Which moments.
    #[command(flatten)]
    pub sampling: SamplingArguments,
    /// How fine the flesh is: coarse (three or four elements between bone and skin) or fine (five)
    #[arg(long, value_name = "NAME", default_value = "coarse")]
    pub resolution: Resolution,
    /// Edge of the elements, metres, in place of the resolution's
    #[arg(long, value_name = "METRES")]
    pub edge: Option<f64>,
    /// Only the flesh along the bone that ends at JOINT and the bones that begin there; the rest of the skin is skinned
    /// with dual quaternions and blended at the border
    #[arg(long, value_name = "JOINT")]
    pub region: Option<String>,
    /// Solve with elements of 1.5 times the edge too, and tell how far the two results lie apart
    #[arg(long)]
    pub error: bool,
    /// Fail with exit code 1 if a frame did not converge, a tetrahedron is inverted or triangles pass through each other
    #[arg(long)]
    pub check: bool,
    /// Print the figures as JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Write manual pages.
///
/// One for the program and one for each command, made from the same definitions as the help texts.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche man ~/.local/share/man/man1")]
pub struct Man {
    /// Folder to write to, made if missing
    pub folder: PathBuf,
}

/// Print a shell's completion script.
///
/// Save it where the shell looks for completions, or source it.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche completions bash > ~/.local/share/bash-completion/completions/ecorche")]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

fn parse_smooth(text: &str) -> Result<smooth::Settings, String> {
    let (factor, iterations) = text.split_once(',').map_or((text, None), |(f, i)| (f, Some(i)));
    let mut settings = smooth::Settings::default();
    let wrong = || format!("\"{text}\" is not FACTOR[,ITERATIONS], as in 0.5,5");
    settings.factor = factor.trim().parse().map_err(|_| wrong())?;
    if let Some(iterations) = iterations {
        settings.iterations = iterations.trim().parse().map_err(|_| wrong())?;
    }
    LayerDef::Smooth(settings).check().map_err(|error| error.to_string())?;
    Ok(settings)
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

/// `x`, `y=0.1` or `z=LeftLeg`.
fn parse_slice(text: &str) -> Result<Slice, String> {
    let (axis, through) = match text.split_once('=') {
        Some((axis, through)) => (axis, Some(through.to_owned())),
        None => (text, None),
    };
    Ok(Slice { axis: axis.parse().map_err(|e: UnknownAxis| e.to_string())?, through })
}

/// `900x600`.
fn parse_size(text: &str) -> Result<(usize, usize), String> {
    let number = |part: &str| part.trim().parse::<usize>().ok().filter(|n| (16..=8192).contains(n));
    text.split_once(['x', 'X'])
        .and_then(|(w, h)| Some((number(w)?, number(h)?)))
        .ok_or_else(|| format!("\"{text}\" is not a size such as 900x600, from 16 to 8192 pixels"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    /// The paragraphs of a struct's doc comment after the first.
    fn explanation(of: &str) -> Vec<String> {
        let source = include_str!("arguments.rs");
        let end = source.find(&format!("\npub struct {of} {{")).unwrap_or_else(|| panic!("no struct {of}"));
        let end = source[..end].rfind("#[derive(Args").unwrap();
        let lines: Vec<&str> =
            source[..end].lines().rev().map_while(|line| line.strip_prefix("///")).collect();
        let text = lines.into_iter().rev().collect::<Vec<_>>().join("\n");
        text.split("\n\n").skip(1).map(words).collect()
    }

    fn words(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn help_and_manual_of_every_command_hold_all_that_its_struct_says() {
        use clap::CommandFactory;
        let source = include_str!("arguments.rs");
        let (_, variants) = source.split_once("pub enum Command {\n").unwrap();
        let (variants, _) = variants.split_once("\n}").unwrap();
        let structs =
            variants.lines().map(|line| line.trim().trim_end_matches("),").split_once('(').unwrap());
        let structs: Vec<(String, &str)> = structs.map(|(v, s)| (v.to_lowercase(), s)).collect();
        let mut cli = Cli::command();
        assert_eq!(structs.len(), cli.get_subcommands().count());
        for (name, of) in structs {
            let command = cli.find_subcommand_mut(&name).unwrap();
            let help = words(&command.render_long_help().to_string());
            let mut page = Vec::new();
            clap_mangen::Man::new(command.clone()).render(&mut page).unwrap();
            let page = String::from_utf8(page).unwrap().replace("\\-", "-").replace("\\*(Aq", "'");
            let paragraphs = explanation(of);
            assert!(!paragraphs.is_empty(), "{name} is not explained");
            for paragraph in paragraphs {
                assert!(help.contains(&paragraph), "{paragraph}\n{help}");
                assert!(words(&page).contains(&paragraph), "{paragraph}\n{page}");
            }
        }
    }

    #[test]
    fn frame_ranges_read_as_written() {
        assert_eq!(parse_frames("3-7"), Ok(3..=7));
        assert_eq!(parse_frames("5"), Ok(5..=5));
        assert!(parse_frames("7-3").is_err());
        assert!(parse_frames("-3").is_err());
    }

    #[test]
    fn slices_read_as_written() {
        assert_eq!(parse_slice("x"), Ok(Slice { axis: Axis::X, through: None }));
        assert_eq!(parse_slice("z=0.1"), Ok(Slice { axis: Axis::Z, through: Some("0.1".into()) }));
        assert!(parse_slice("w=1").unwrap_err().contains("x, y or z"));
    }
}

//! Commands that draw.

use super::{CacheArguments, Deformation, ImplicitArguments, Rig, SamplingArguments};
use crate::console::Console;
use crate::{Failure, source};
use clap::Args;
use ecorche::deform::Stack;
use ecorche::field::section::{Axis, UnknownAxis};
use ecorche::output::raster::View;
use ecorche::portrait::{MuscleColour, spread};
use ecorche::recipe::Ingredients;
use ecorche::sampling::Plan;
use std::path::PathBuf;

/// Draw a character.
///
/// Without --clip and --frame it draws the rest pose. A range of frames becomes a contact sheet, or an animated
/// PNG with --animate. The picture is the same on every machine; no graphics card is used.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche render hero.fbx -o hero.png
  ecorche render hero.glb -o squat.png --clip squat --frame 24 --compare lbs,dqs,implicit
  ecorche render hero.glb -o run.png --clip run --frames 0-20 --animate
  ecorche render hero.glb -o knee.png --clip squat --frame 24 --focus LeftLeg --wire
  ecorche render hero.glb -o stretch.png --clip squat --frame 24 --show stretch

Quantities for --show: stretch, depth, crossing, region, weight:JOINT; and with the method implicit role, iso-error, contact,
beta, vertex-state, gradient-angle, evaluations; with the method muscles pierce; with the method parametric muscle-weight and
muscle-weight:NAME")]
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
    /// With --muscles: opacity of the skin, from 0 (hidden) to 1
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

/// Which frames are drawn, and how large.
#[derive(Args)]
pub(crate) struct Drawing {
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
        source::plan_to_draw(ingredients, &self.sampling, self.frame, file, console)
    }

    /// Which of them are drawn: all for an animation; for a contact sheet as many as asked for, `panels` by default.
    pub fn numbers(&self, plan: &Plan, panels: u16) -> Vec<usize> {
        if self.animate {
            return plan.frames.clone().collect();
        }
        spread(plan, self.panels.unwrap_or(panels).into())
    }
}

/// Write wrinkles as maps, for engines that draw them on a coarse mesh.
///
/// OUT is a folder. Each mesh that wrinkles gets a picture of 16 bits for each set of stripes, in its texture coordinates: red the
/// cosine of the phase, green the mask, blue the wavelength; and a NumPy table of how much the skin folds, per frame, vertex and
/// set. wrinkles.json says how they belong together, and docs/methods/wrinkles.md how a shader uses them. With --subdivide the
/// pattern is that of the finer mesh; the table is for the vertices of the file all the same.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche wrinkles hero.fbx -o maps --subdivide 2 --clip run
  ecorche wrinkles hero.glb -o maps --subdivide 2 --wrinkles=0.012 --size 4096")]
pub struct WrinkleArguments {
    /// The character.
    #[command(flatten)]
    pub rig: Rig,
    /// Folder to write to, made if missing
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Texels to a side of each map
    #[arg(long, value_name = "N", default_value_t = 2048)]
    pub size: usize,
    /// Which moments.
    #[command(flatten)]
    pub sampling: SamplingArguments,
    /// The method.
    #[command(flatten)]
    pub deformation: Deformation,
    /// Disk cache.
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// Show the fields under the skin.
///
/// The implicit method cuts the skin into parts and fits a field to each: 0.5 on the surface, above inside. The
/// picture shows the surface of the composed field, coloured by part; with --samples the points the fields were fitted to; with
/// --slice a section with isolines, the surface bold, and the gradient. An OUT that ends in .obj receives the surface as a mesh.
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
    /// Draw the path of a vertex through tracking, and list its steps; a vertex of the first skinned mesh, or
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

/// `x`, `y=0.1` or `z=LeftLeg`.
fn parse_slice(text: &str) -> Result<Slice, String> {
    let (axis, through) = match text.split_once('=') {
        Some((axis, through)) => (axis, Some(through.to_owned())),
        None => (text, None),
    };
    Ok(Slice { axis: axis.parse().map_err(|e: UnknownAxis| e.to_string())?, through })
}

/// `900x600`.
pub(super) fn parse_size(text: &str) -> Result<(usize, usize), String> {
    let number = |part: &str| part.trim().parse::<usize>().ok().filter(|n| (16..=8192).contains(n));
    text.split_once(['x', 'X'])
        .and_then(|(w, h)| Some((number(w)?, number(h)?)))
        .ok_or_else(|| format!("\"{text}\" is not a size such as 900x600, from 16 to 8192 pixels"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_read_as_written() {
        assert_eq!(parse_slice("x"), Ok(Slice { axis: Axis::X, through: None }));
        assert_eq!(parse_slice("z=0.1"), Ok(Slice { axis: Axis::Z, through: Some("0.1".into()) }));
        assert!(parse_slice("w=1").unwrap_err().contains("x, y or z"));
    }
}

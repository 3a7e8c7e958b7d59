//! Groups of options that several commands take.

use crate::Failure;
use clap::Args;
use ecorche::character::motion::RANGE;
use ecorche::deform::{Stack, Tracking, Under};
use ecorche::recipe::{
    AnatomySource, Ingredients, MotionSource, MuscleUse, Recipe, WeightSource, WrinkleUse,
};
use ecorche::sampling::Sampling;
use ecorche::skinning::Skinning;
use ecorche::surface::wrinkles::WrinkleDef;
use ecorche::surface::{LayerDef, smooth};
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// A character, frames of its clips, and the cache they go to.
#[derive(Args)]
pub struct Shot {
    /// The character.
    #[command(flatten)]
    pub rig: Rig,
    /// Cache to write; its extension chooses the format
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Which moments.
    #[command(flatten)]
    pub sampling: SamplingArguments,
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
    /// Halve every edge of the skinned meshes so often, 0 to 4, which makes four triangles of each: for wrinkles on a coarse
    /// mesh. The result has other vertices than the file, so write it to a format that holds the mesh (.glb, .usda, .abc, .obj)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub subdivide: u32,
}

impl Rig {
    /// These arguments as words, except files.
    pub fn words(&self) -> Vec<String> {
        let mut words = match self.weights {
            None => Vec::new(),
            Some(Weights::File) => vec!["--weights".to_owned(), "file".to_owned()],
            Some(Weights::Heat) => vec!["--weights".to_owned(), "heat".to_owned()],
        };
        if self.subdivide > 0 {
            words.extend(["--subdivide".to_owned(), self.subdivide.to_string()]);
        }
        words
    }

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
            start: implicit.start,
            coherent: implicit.coherent,
            muscles: match (implicit.no_muscles, implicit.still_muscles) {
                (true, _) => MuscleUse::Off,
                (false, true) => MuscleUse::Still,
                (false, false) => MuscleUse::Dynamic,
            },
            surface: implicit.smooth.map(LayerDef::Smooth).into_iter().collect(),
            wrinkles: match (implicit.no_wrinkles, implicit.wrinkles) {
                (true, _) => WrinkleUse::Off,
                (false, None) => WrinkleUse::Anatomy,
                (false, Some(Wavelength::Own)) => WrinkleUse::On,
                (false, Some(Wavelength::Metres(metres))) => WrinkleUse::Wavelength(metres),
            },
            subdivide: self.subdivide,
            ..Recipe::of(&self.file)
        }
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

/// By which method a character is deformed.
#[derive(Args)]
pub struct Deformation {
    /// Deformation: muscles (skin over muscles that bulge and swing; the default where the anatomy has any), implicit
    /// (skin that touches skin; the default otherwise), lbs (linear blend), dqs (dual quaternions), cor (centres of
    /// rotation), parametric (muscles of a few curves on dqs; also lbs+parametric, cor+parametric)
    #[arg(long, value_name = "METHOD")]
    pub method: Option<Stack>,
    /// The implicit method.
    #[command(flatten)]
    pub implicit: ImplicitArguments,
}

impl Deformation {
    /// The chosen method, if it can do what these arguments ask for, or the best for the character.
    pub fn method(&self, ingredients: &Ingredients) -> Result<Stack, Failure> {
        let method = self.method.clone().unwrap_or_else(|| ingredients.best_stack());
        let named = self.method.is_some();
        self.implicit.check_use(ingredients, std::slice::from_ref(&method), named)?;
        Ok(method)
    }
}

/// How the implicit method works.
#[derive(Args, Default)]
pub struct ImplicitArguments {
    /// How the implicit method places vertices: robust (any pose; the default), or the schemes of the papers, 2012 and
    /// 2014, to compare with
    #[arg(long, value_name = "SCHEME")]
    pub tracking: Option<Tracking>,
    /// The skinning that the implicit method starts from: dqs (the default), cor or lbs
    #[arg(long, value_name = "SKINNING")]
    pub start: Option<Skinning>,
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
    /// Wrinkles where skin is compressed, over any method: as [wrinkles] of the anatomy says, which turns them on by itself, or
    /// with default settings. WAVELENGTH: from crease to crease, in metres; by default a share of the limb's radius
    #[arg(long, value_name = "WAVELENGTH", num_args = 0..=1, require_equals = true, default_missing_value = "",
        value_parser = parse_wavelength, conflicts_with = "no_wrinkles")]
    pub wrinkles: Option<Wavelength>,
    /// Leave out the wrinkles of the anatomy
    #[arg(long)]
    pub no_wrinkles: bool,
    /// Settings of the skin, and what lies under it.
    #[command(flatten)]
    pub anatomy: AnatomyArguments,
}

impl ImplicitArguments {
    /// These arguments as words, except files.
    pub fn words(&self) -> Vec<String> {
        // Every field is named, so that a new one asks to be thought of.
        let Self {
            tracking,
            start,
            coherent,
            no_muscles,
            still_muscles,
            smooth,
            wrinkles,
            no_wrinkles,
            anatomy: _,
        } = self;
        let mut words = Vec::new();
        if let Some(tracking) = tracking {
            words.extend(["--tracking".to_owned(), tracking.to_string()]);
        }
        if let Some(start) = start {
            words.extend(["--start".to_owned(), start.to_string()]);
        }
        let flags = [
            (coherent, "--coherent"),
            (no_muscles, "--no-muscles"),
            (still_muscles, "--still-muscles"),
            (no_wrinkles, "--no-wrinkles"),
        ];
        words.extend(flags.into_iter().filter(|(on, _)| **on).map(|(_, word)| word.to_owned()));
        if let Some(smooth) = smooth {
            words.push(format!("--smooth={},{}", smooth.factor, smooth.iterations));
        }
        match wrinkles {
            None => {}
            Some(Wavelength::Own) => words.push("--wrinkles".to_owned()),
            Some(Wavelength::Metres(metres)) => words.push(format!("--wrinkles={metres}")),
        }
        words
    }

    /// Refuses what none of the methods does. `named`: the user chose the methods.
    pub fn check_use(
        &self,
        ingredients: &Ingredients,
        methods: &[Stack],
        named: bool,
    ) -> Result<(), Failure> {
        let stacks: Vec<Stack> =
            methods.iter().map(|m| ingredients.settings(Some(m.clone())).stack).collect();
        let list = methods.iter().map(Stack::to_string).collect::<Vec<_>>().join(", ");
        let tracking = self.tracking.map(|tracking| format!("--tracking {tracking}"));
        let start = self.start.map(|start| format!("--start {start}"));
        if let Some(option) = tracking.or(start)
            && stacks.iter().all(|stack| stack.tracking.is_none())
        {
            return Err(
                format!("{option}: {list} does not track; add --method implicit, or leave it out").into()
            );
        }
        if self.coherent && !stacks.iter().any(Stack::continues) {
            return Err(format!(
                "--coherent: {list} does not go on from the frame before; add --method implicit, or leave it out"
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
        let under = methods.iter().any(|method| method.under != Under::Nothing);
        if self.no_muscles && under {
            return Err(format!(
                "--no-muscles contradicts the method with muscles in {list}; leave out one of them"
            )
            .into());
        }
        Ok(())
    }
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

/// From crease to crease.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wavelength {
    /// As the anatomy or the limb says.
    Own,
    /// Metres.
    Metres(f32),
}

fn parse_wavelength(text: &str) -> Result<Wavelength, String> {
    if text.is_empty() {
        return Ok(Wavelength::Own);
    }
    let metres: f32 =
        text.trim().parse().map_err(|_| format!("\"{text}\" is not a wavelength in metres such as 0.012"))?;
    let settings = WrinkleDef { wavelength: Some(metres), ..WrinkleDef::default() };
    LayerDef::Wrinkles(settings).check().map_err(|error| error.to_string())?;
    Ok(Wavelength::Metres(metres))
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
    fn frame_ranges_read_as_written() {
        assert_eq!(parse_frames("3-7"), Ok(3..=7));
        assert_eq!(parse_frames("5"), Ok(5..=5));
        assert!(parse_frames("7-3").is_err());
        assert!(parse_frames("-3").is_err());
    }
}

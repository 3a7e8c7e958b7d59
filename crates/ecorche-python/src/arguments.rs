//! Arguments that several calls take, as the library takes them.

use crate::error::{raised, wrong};
use ecorche::recipe::{Ingredients, WrinkleUse};
use ecorche::sampling::{Plan, Sampling};
use ecorche::surface::LayerDef;
use ecorche::surface::wrinkles::WrinkleDef;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The most threads a body may use, as on the command line.
const MOST_THREADS: usize = 1024;

/// Which moments of which clip.
pub struct Moments {
    /// By name; the first if not given.
    pub clip: Option<String>,
    /// Rate and frames.
    pub sampling: Sampling,
}

impl Moments {
    /// `frames` is `(first, last)`, both included, or a `range`.
    pub fn new(clip: Option<String>, fps: Option<f32>, frames: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let frames = frames.map(frame_range).transpose()?;
        Ok(Self { clip, sampling: Sampling { fps, frames } })
    }

    /// The frames asked for; the rest pose of a character without clips.
    pub fn plan<'a>(&self, ingredients: &'a Ingredients) -> PyResult<Plan<'a>> {
        let clip = match &self.clip {
            Some(name) => Some(ingredients.clip(name).map_err(raised)?),
            None => ingredients.character.clips.first(),
        };
        Plan::new(clip, &self.sampling).map_err(raised)
    }
}

fn frame_range(frames: &Bound<'_, PyAny>) -> PyResult<RangeInclusive<usize>> {
    let bad = || wrong("frames", "expected a pair (first, last) or a range with step 1, counted from 0");
    if let Ok((first, last)) = frames.extract::<(usize, usize)>() {
        return Ok(first..=last);
    }
    let side = |name| frames.getattr(name).and_then(|side| side.extract::<usize>()).map_err(|_| bad());
    let (start, stop, step) = (side("start")?, side("stop")?, side("step")?);
    if step == 1 && stop > start { Ok(start..=stop - 1) } else { Err(bad()) }
}

/// True, False or a wavelength in metres.
pub fn wrinkles(value: &Bound<'_, PyAny>) -> PyResult<WrinkleUse> {
    if let Ok(on) = value.cast::<PyBool>() {
        return Ok(if on.is_true() { WrinkleUse::On } else { WrinkleUse::Off });
    }
    let wavelength: f32 = value
        .extract()
        .map_err(|_| wrong("wrinkles", "expected True, False, or from crease to crease in metres"))?;
    let definition = WrinkleDef { wavelength: Some(wavelength), ..WrinkleDef::default() };
    LayerDef::Wrinkles(definition).check().map_err(|error| wrong("wrinkles", error))?;
    Ok(WrinkleUse::Wavelength(wavelength))
}

/// A pool of `threads` threads; `None` for all cores.
pub fn pool(threads: Option<usize>) -> PyResult<Option<Arc<ThreadPool>>> {
    let Some(threads) = threads else { return Ok(None) };
    if !(1..=MOST_THREADS).contains(&threads) {
        return Err(wrong("threads", format_args!("{threads} given; expected 1 to {MOST_THREADS}")));
    }
    let built = ThreadPoolBuilder::new().num_threads(threads).build();
    built.map(|pool| Some(Arc::new(pool))).map_err(|error| wrong("threads", error))
}

//! Small pictures of the samples, drawn once and kept in the cache.

use ecorche::cache::{Cache, Key};
use ecorche::deform::{Body, Stack};
use ecorche::portrait::{self, Look};
use ecorche::samples;
use ecorche::sampling::{Plan, Sampling};
use std::sync::{Arc, Mutex, PoisonError};

/// Pixels.
const SIZE: [usize; 2] = [320, 240];

/// Drawn one after the other: they are for a page that waits for something else.
static TURN: Mutex<()> = Mutex::new(());

/// A sample as a PNG, in a moment of its first clip; `None` if there is no such sample.
pub fn of_sample(name: &str, cache: Option<&Cache>) -> Option<Vec<u8>> {
    let sample = samples::list().iter().find(|sample| sample.name == name)?;
    let key = Key::new("thumbnail", &[name.as_bytes(), env!("CARGO_PKG_VERSION").as_bytes()]);
    if let Some(known) = cache.and_then(|cache| cache.get(key)) {
        return Some(known);
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // Coarse is enough at this size.
    let coarse = sample.options.iter().find(|option| option.name == "resolution");
    let spec =
        coarse.map_or_else(|| name.to_owned(), |option| format!("{name}?resolution={}", option.range[0]));
    let character = Arc::new(samples::build(&spec).ok()?);
    let body = Body::bind(character.clone(), Stack::dual_quaternion(), None).ok()?;
    let plan = Plan::new(character.clips.first(), &Sampling::default()).ok()?;
    let frame = plan.len() * 2 / 5;
    let look = Look { width: SIZE[0], height: SIZE[1], ..Look::default() };
    let (pictures, _) = portrait::draw_frames(&[body], &plan, &[frame], look, None, || ()).ok()?;
    let mut bytes = Vec::new();
    pictures.first()?.first()?.encode_png(&mut bytes).ok()?;
    if let Some(cache) = cache {
        cache.put(key, &bytes);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_a_picture_and_nothing_else_has() {
        let picture = of_sample("cylinder", None).unwrap();
        assert_eq!(&picture[1..4], b"PNG");
        assert_eq!(of_sample("../cylinder", None), None);
    }
}

//! A drawn muscle to a profile: axis, mean radius, and how thickness is spread along it.
//!
//! [`Silhouette::from_png`] takes the drawing out of a picture, [`fit`] finds the muscle in it.
//!
//! Based on: Roussellet. Doctoral thesis. 2018, section 4.4.2.
//! Differs in: outlines count as well as filled shapes; sine coefficients carry the factor `2/(n+1)`; the ends of a beta profile are
//! searched for, since a drawing loses its tips where they are thinner than a pixel.

mod fit;
mod silhouette;
#[cfg(test)]
mod tests;

pub use fit::{BetaFit, SinesFit, SketchFit, fit};
pub use silhouette::{Silhouette, SketchError};

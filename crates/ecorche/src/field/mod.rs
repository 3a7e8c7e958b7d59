//! Scalar fields that stand for parts of a body, and the operators that join them.
//!
//! A field is compact: 0.5 on the surface, above inside, 0 far outside, never above 1. Its gradient therefore
//! points inward, and the outward normal of the surface is minus the unit gradient. The signed distance-like
//! function a field is made from ([`hrbf`]) has the opposite signs: negative inside, gradient outward.
//!
//! | | distance-like `d` | compact `f` |
//! |---|---|---|
//! | on the surface | 0 | 0.5 |
//! | inside, outside | below 0, above 0 | above 0.5, below 0.5 |
//! | gradient | outward | inward |
//! | union of two | smaller | larger |
//!
//! From samples of a surface to a look-up:
//!
//! ```
//! use ecorche::field::{CompactHrbf, Field, Grid, GridSettings, SurfaceSample, hrbf};
//! use glam::Vec3;
//!
//! // The corners of a cube, facing away from the centre: the fitted surface is nearly a sphere.
//! let corners = (0..8).map(|i| {
//!     let side = |bit| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
//!     let normal = Vec3::new(side(0), side(1), side(2)).normalize();
//!     SurfaceSample { position: 0.1 * normal, normal }
//! });
//! let ball = CompactHrbf::new(hrbf::fit(&corners.collect::<Vec<_>>(), 0.1)?, 0.1);
//! assert!((ball.sample(Vec3::X * 0.1).value - 0.5).abs() < 0.15);
//! assert!(ball.sample(Vec3::ZERO).value > 0.5);
//! assert_eq!(ball.sample(Vec3::Y).value, 0.0);
//!
//! let grid = Grid::bake(&ball, &GridSettings { resolution: 32 })?;
//! let point = Vec3::new(0.05, 0.06, -0.07);
//! assert!((grid.sample(point).value - ball.sample(point).value).abs() < 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cells;
#[cfg(test)]
pub(crate) mod conformance;
pub(crate) mod falloff;
pub(crate) mod grid;
pub mod hrbf;
pub mod operator;
mod posed;
pub mod section;
pub mod tree;

pub use cells::Cells;
pub use falloff::Falloff;
pub use grid::{BakeError, Grid, GridSettings};
pub use hrbf::{CompactHrbf, FitError, Hrbf, SurfaceSample};
pub use operator::{Composition, Controller, Operator};
pub use posed::Posed;
pub use tree::{PosedTree, Tree};

use glam::{Affine3A, Vec3};

/// A field at one point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// In `[0, 1]` for a single field; 0.5 on the surface, above inside.
    pub value: f32,
    /// Points inward, per metre.
    pub gradient: Vec3,
}

impl Sample {
    /// What every field is outside its support.
    pub const OUTSIDE: Self = Self { value: 0.0, gradient: Vec3::ZERO };
}

/// The axis-aligned box outside which a field is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    /// Smallest corner, metres.
    pub low: Vec3,
    /// Largest corner, metres.
    pub high: Vec3,
}

impl Support {
    /// The box that holds nothing.
    pub const EMPTY: Self = Self { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    /// The box around this one and another.
    pub(crate) fn with(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The box, wider by `margin` on every side.
    pub(crate) fn widened(self, margin: f32) -> Self {
        Self { low: self.low - margin, high: self.high + margin }
    }

    /// The box around the moved box: wider than needed unless the motion is a shift.
    pub(crate) fn moved(self, motion: &Affine3A) -> Self {
        let Self { low, high } = self;
        let corners = (0..8).map(|i| {
            let pick = |bit: usize| if i >> bit & 1 == 1 { high[bit] } else { low[bit] };
            motion.transform_point3(Vec3::new(pick(0), pick(1), pick(2)))
        });
        corners.fold(Self::EMPTY, |s, c| s.with(Self { low: c, high: c }))
    }

    /// Whether the point lies in the box or on it.
    #[inline]
    pub(crate) fn contains(&self, point: Vec3) -> bool {
        point.cmpge(self.low).all() && point.cmple(self.high).all()
    }
}

/// A compact scalar field, see the [module](self) for its conventions.
pub trait Field: Send + Sync {
    /// Value and gradient; [`Sample::OUTSIDE`] outside the support.
    fn sample(&self, point: Vec3) -> Sample;

    /// A box that holds every point of value above zero.
    fn support(&self) -> Support;

    /// [`Field::sample`] for each point; both slices have the same length. Same bits as one by one.
    fn sample_into(&self, points: &[Vec3], samples: &mut [Sample]) {
        debug_assert_eq!(points.len(), samples.len());
        for (sample, &point) in samples.iter_mut().zip(points) {
            *sample = self.sample(point);
        }
    }
}

impl<F: Field + ?Sized> Field for &F {
    #[inline]
    fn sample(&self, point: Vec3) -> Sample {
        (**self).sample(point)
    }

    fn support(&self) -> Support {
        (**self).support()
    }

    fn sample_into(&self, points: &[Vec3], samples: &mut [Sample]) {
        (**self).sample_into(points, samples);
    }
}

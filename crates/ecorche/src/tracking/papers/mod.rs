//! The trackers of the papers, to compare with and to serve bends that they are good at.
//!
//! | scheme | start | placing | against distortion | at contacts |
//! |---|---|---|---|---|
//! | [`scheme_2012`] | any skinning, one shot | Newton steps | mean value coordinates | stops where the gradient turns, then smooths |
//! | [`scheme_2014`] | the last positions, moved on in substeps | bracketed steps | as rigid as possible | the contact operator's wall, then the own-side pass |
//!
//! One shot serves bends up to about 90 degrees and fails beyond 120; substeps of 10 degrees serve up to 150.

pub mod arap;
#[cfg(test)]
mod golden;
mod mvc;
pub mod own_side;
pub mod project;
pub mod scheme_2012;
pub mod scheme_2014;
pub mod smooth;

/// What every vertex keeps from rest; slices of equal length.
#[derive(Clone, Copy, Debug)]
pub struct Vertices<'a> {
    /// Value of the composed field at rest; 0 is outside every support, left as skinned.
    pub iso: &'a [f32],
    /// Radius of the limb around the vertex, metres, above zero: the unit of steps.
    pub limb_radius: &'a [f32],
    /// The part whose side it is kept on; `u32::MAX` for none.
    pub part: &'a [u32],
}

/// Vertices handled by a thread at a time; fewer cost more to hand out than to move.
const VERTICES_PER_TASK: usize = 128;

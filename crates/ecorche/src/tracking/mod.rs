//! Tracking: each vertex is brought back to the iso-value it had at rest, in the field of the posed body.
//!
//! | scheme | start | placing | against distortion | at contacts |
//! |---|---|---|---|---|
//! | [`scheme_2012`] | any skinning, one shot | Newton steps | mean value coordinates | stops where the gradient turns, then smooths |
//! | [`scheme_2014`] | the last positions, carried on by substeps | bracketed steps | as rigid as possible | the contact operator's wall, then the own-side pass |
//! | [`robust`] | dual quaternions, one shot, rays from the own bone | bracketed steps | as rigid as possible | a separator of two parts, then untangling |
//!
//! The papers' one shot serves bends up to about 90 degrees, beyond 120 it fails; substeps of 10 degrees serve up to
//! 150. No scheme sees a fold inside one part: its field has no boundary there.

pub mod arap;
#[cfg(test)]
mod golden;
mod layers;
pub mod mvc;
pub mod own_side;
pub mod project;
pub mod robust;
pub mod scheme_2012;
pub mod scheme_2014;
pub mod smooth;
pub mod stencil;

pub use layers::{Drawn, Layers};

/// What tracking made of one vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VertexReport {
    /// Distance from the iso-value at the end; up to 0.3 on contacts, by design.
    pub iso_error: f32,
    /// How much the vertex takes part in a contact, 0 to 1; spread over the neighbourhood by the smoothing.
    pub contact: f32,
    /// Steps of projection.
    pub iterations: u32,
    /// Samples taken of the field.
    pub evaluations: u32,
    /// It could not be placed and is where the skinning left it: outside every field, now or at rest.
    pub fell_back: bool,
}

/// What every vertex keeps from rest; slices of equal length.
#[derive(Clone, Copy, Debug)]
pub struct Vertices<'a> {
    /// Value of the composed field at rest; 0 is outside every support, left as skinned.
    pub iso: &'a [f32],
    /// Radius of the limb around the vertex, metres, above zero: the yardstick of steps.
    pub limb_radius: &'a [f32],
    /// The part it belongs to, which it is kept on the side of; `u32::MAX` for none.
    pub part: &'a [u32],
}

/// Vertices handled by a thread at a time; fewer cost more to hand out than to move.
const VERTICES_PER_TASK: usize = 128;

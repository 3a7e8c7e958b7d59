//! Tracking: each vertex is brought back to the iso-value it had at rest, in the field of the posed body.
//!
//! [`robust`] goes from rest to any pose in one shot, with contact; it is the default. [`papers`] has the schemes it is
//! compared with. No scheme sees a fold inside one part: its field has no boundary there.

mod layers;
pub mod papers;
pub mod robust;
mod stencil;

pub use layers::{Displaced, Layers};

/// What tracking made of one vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VertexReport {
    /// Distance from the iso-value at the end; up to 0.3 on contacts, by design.
    pub iso_error: f32,
    /// How much the vertex takes part in a contact, 0 to 1; less around it.
    pub contact: f32,
    /// Steps of projection.
    pub iterations: u32,
    /// Samples taken of the field.
    pub evaluations: u32,
    /// It could not be placed and is where skinning left it: outside every field, now or at rest.
    pub fell_back: bool,
}

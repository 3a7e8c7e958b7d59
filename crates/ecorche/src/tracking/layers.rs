//! What lies under the skin, as tracking sees it.

use crate::field::{Sample, Support};
use glam::{Mat3, Vec3};

/// Fields under the skin in one pose (muscles, fat), joined to those of the parts before parts meet each other.
pub trait Layers: Send + Sync {
    /// A box in the world outside which the layer of a part is not felt; [`Support::EMPTY`] for a part without one.
    fn support(&self, part: u32) -> Support;

    /// Where the flesh of a part that is now at a point of the world comes from; `None` where none was drawn away.
    fn drawn(&self, part: u32, point: Vec3) -> Option<Drawn>;

    /// The field of a part at a point of the world, with what lies under it. `own` is what the part's own field has
    /// there.
    fn join(&self, part: u32, point: Vec3, own: Sample) -> Sample;
}

/// Flesh drawn off its place: a field has at the point the value it has at `from`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// In the world.
    pub from: Vec3,
    /// Takes gradients there to gradients at the point.
    pub gradient_map: Mat3,
}

//! What lies under the skin, as tracking sees it.

use crate::field::{Sample, Support};
use glam::{Mat3, Vec3};

/// Fields under the skin in one pose (muscles, fat), joined to those of the parts before parts meet each other.
pub trait Layers: Send + Sync {
    /// A box in the world outside which the layer of a part has no effect; [`Support::EMPTY`] for a part without one.
    fn support(&self, part: u32) -> Support;

    /// Where the flesh of a part that is now at a point of the world comes from; `None` where none was displaced.
    fn displaced(&self, part: u32, point: Vec3) -> Option<Displaced>;

    /// The field of a part at a point of the world, with what lies under it. `own` is what the part's own field has
    /// there.
    fn join(&self, part: u32, point: Vec3, own: Sample) -> Sample;
}

/// Displaced flesh: a field has at the point the value it has at `from`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Displaced {
    /// In the world.
    pub from: Vec3,
    /// Takes gradients there to gradients at the point.
    pub gradient_map: Mat3,
}

//! What lies under the skin, as tracking sees it.

use crate::field::{Sample, Support};
use glam::Vec3;

/// Fields under the skin in one pose (muscles, fat), joined to those of the parts before parts meet each other.
pub trait Layers: Send + Sync {
    /// A box in the world outside which the layer of a part is not felt; [`Support::EMPTY`] for a part without one.
    fn support(&self, part: u32) -> Support;

    /// The field of a part at a point of the world, with what lies under it. `own` is what the part's own field has
    /// there.
    fn join(&self, part: u32, point: Vec3, own: Sample) -> Sample;
}

//! What lies under the skin, as tracking sees it.

use crate::field::Support;
use glam::{Mat3, Vec3};

/// Muscles and fat under the skin in one pose.
pub trait Layers: Send + Sync {
    /// A box in the world outside which no flesh of a part is displaced; [`Support::EMPTY`] for a part without such flesh.
    fn support(&self, part: u32) -> Support;

    /// Where the flesh of a part that is now at a point of the world comes from; `None` where none was displaced.
    fn displaced(&self, part: u32, point: Vec3) -> Option<Displaced>;

    /// From a point of the world to the belly of a fibre, metres, negative inside it; `None` if it is `most` away or more.
    fn distance(&self, fibre: u32, point: Vec3, most: f32) -> Option<f32>;
}

/// Displaced flesh: a field has at the point the value it has at `from`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Displaced {
    /// In the world.
    pub from: Vec3,
    /// Takes gradients there to gradients at the point.
    pub gradient_map: Mat3,
}

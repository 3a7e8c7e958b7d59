//! Constraints on particles; one file each.

pub(super) mod attach;
pub(super) mod collide;
pub(super) mod contact;
pub(super) mod distance;
pub(super) mod friction;

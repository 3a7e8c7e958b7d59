//! Constraints on particles; one file each.

pub mod attach;
pub mod collide;
pub mod contact;
pub mod distance;
pub mod friction;

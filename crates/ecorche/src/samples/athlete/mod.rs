//! The athlete.
pub mod shape;
pub mod skeleton;

//! What glam lacks: decomposed transforms, rigid motions as dual quaternions.

pub mod transform;

pub use transform::Transform;

//! What glam lacks: decomposed transforms, rigid motions as dual quaternions, matrix decompositions.

pub mod polar;
pub mod svd;
pub mod transform;

pub use transform::Transform;

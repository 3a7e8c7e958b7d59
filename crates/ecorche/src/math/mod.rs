//! What glam lacks: decomposed transforms, polar decomposition, sparse systems, rigid motions as dual quaternions.

pub mod dual_quaternion;
pub mod polar;
pub mod sparse;
pub mod transform;

pub use dual_quaternion::DualQuat;
pub use transform::Transform;

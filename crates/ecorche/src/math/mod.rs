//! What glam lacks: decomposed transforms, dual quaternions, polar and singular value decomposition,
//! sparse systems.

pub(crate) mod dual_quaternion;
pub(crate) mod polar;
pub(crate) mod sparse;
pub(crate) mod svd;
mod transform;

pub(crate) use dual_quaternion::DualQuat;
pub use transform::Transform;

//! What glam lacks: decomposed transforms, dual quaternions, polar and singular value decomposition,
//! sparse systems.

pub mod dual_quaternion;
pub mod polar;
pub mod sparse;
pub mod svd;
pub mod transform;

pub use dual_quaternion::DualQuat;
pub use transform::Transform;

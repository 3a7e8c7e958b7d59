//! What glam lacks: decomposed transforms, polar decomposition, sparse systems, rigid motions as dual quaternions.
<<<<<<< HEAD
//! What glam lacks: decomposed transforms, rigid motions as dual quaternions.

pub mod dual_quaternion;
pub mod polar;
pub mod sparse;
pub mod transform;

pub use dual_quaternion::DualQuat;
pub use transform::Transform;
=======
//! What glam lacks: rigid transforms as dual quaternions, matrix decompositions, splines.

pub mod polar;
pub mod svd;
>>>>>>> 55ee191 (Tissue: 3x3 decompositions, materials and their conformance suite)

//! Triangle surfaces and the questions asked of them. Knows nothing of characters.

pub(crate) mod adjacency;
pub(crate) mod burial;
pub(crate) mod bvh;
pub(crate) mod intersect;
pub(crate) mod laplacian;
pub mod mesh;
pub(crate) mod obj;
mod patches;
pub(crate) mod ply;
pub mod poisson_disk;
pub(crate) mod polygonise;
pub(crate) mod remesh;
pub mod sdf;
pub mod self_contact;
pub(crate) mod shading;
pub(crate) mod surface_file;
pub(crate) mod thickness;
pub(crate) mod tube;
pub(crate) mod weld;

pub use adjacency::Adjacency;
pub use bvh::Bvh;
pub(crate) use laplacian::Laplacian;
pub use mesh::TriMesh;
pub use self_contact::SelfContact;
pub use shading::Shading;
pub use weld::Weld;

//! Triangle surfaces and the questions asked of them. Knows nothing of characters.

pub mod adjacency;
pub mod burial;
pub mod bvh;
pub mod intersect;
pub mod laplacian;
pub mod mesh;
pub(crate) mod obj;
mod patches;
pub mod ply;
pub mod poisson_disk;
pub mod polygonise;
pub mod remesh;
pub mod sdf;
pub mod self_contact;
pub mod shading;
pub mod surface_file;
pub mod thickness;
pub mod weld;

pub use adjacency::Adjacency;
pub use bvh::Bvh;
pub use laplacian::Laplacian;
pub use mesh::TriMesh;
pub use self_contact::SelfContact;
pub use shading::Shading;
pub use weld::Weld;

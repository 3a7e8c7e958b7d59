//! Triangle surfaces and the questions asked of them. Knows nothing of characters.

pub mod adjacency;
pub mod mesh;
pub mod polygonise;
pub mod remesh;
pub mod shading;
pub mod weld;

pub use adjacency::Adjacency;
pub use mesh::TriMesh;
pub use shading::Shading;
pub use weld::Weld;

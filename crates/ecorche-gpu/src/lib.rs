//! Crowds and contact projections on a graphics card.
//!
//! Nothing needs this crate: the library does the same on the processor, and only there are its bits promised. What is made
//! here lies within [`TOLERANCE`] of it.
//!
//! | | on the card | on the processor |
//! |---|---|---|
//! | [`GpuCrowd`] | skinning, parametric muscles, normals and drawing, for instances x vertices | poses, and the muscles' 160 bytes each |
//! | [`GpuProjector`] | the steps of awake vertices to the zero of the level function, over baked fields | search, first crossing, who is awake, smoothing, untangling |
//!
//! ```no_run
//! use ecorche::crowd::Scene;
//! use ecorche_gpu::{Gpu, GpuCrowd};
//!
//! let mut scene = Scene::read("crowd.toml".as_ref(), None)?;
//! let gpu = Gpu::new()?;
//! let mut crowd = GpuCrowd::new(&gpu, &scene.crowd)?;
//! crowd.frame(&scene.crowd, 0.5, scene.eye)?;
//! let picture = crowd.picture(&scene.crowd, Default::default(), 1600, 900)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! Everything keeps to the default limits of WebGPU: 128 MiB a binding, 8 storage buffers a stage, 256 threads a
//! workgroup. Larger crowds are cut into batches of instances.

mod body;
mod crowd;
mod device;
mod draw;
mod projection;
pub mod shaders;

pub use crowd::GpuCrowd;
pub use device::{Gpu, GpuError};
pub use projection::GpuProjector;

/// How far a position of [`GpuCrowd`] may be from the library's, of the character's size: cards multiply and add in one rounding,
/// and sum in another order. Normals differ by less than a thousandth, but for triangles without area.
pub const TOLERANCE: f32 = 2e-6;

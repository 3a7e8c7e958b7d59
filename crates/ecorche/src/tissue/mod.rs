//! Finite elements for muscle, tendon and fat: for hero characters, and as a reference for the interactive skin.
//!
//! The pipeline: a closed surface or an implicit shape becomes tetrahedra ([`mesh`]); fibres are found
//! between origin and insertion ([`fibres`]); materials ([`material`]) make it a [`model::Body`], bodies a
//! [`model::Model`]; holds on moving bones ([`boundary`]) and collisions ([`contact`]) complete a
//! [`step::Simulation`], which assembles and solves one step after the other. A fine surface is
//! embedded in it. [`scene`] does all of it from one TOML file.
//!
//! Double precision; metres, kilograms, seconds; internal forces are `+dE/dx`. Every tolerance is relative to
//! element edges, so a scene in other units behaves the same. The same input gives the same bits for any
//! number of threads.
//!
//! Limits. Linear tetrahedra are too stiff in bending with fewer than four layers: 0.52 of a beam's sag with
//! two, 0.81 with four, 0.91 with six. Meshes have one element size; what is thinner than about an element and
//! a half is lost unless [`mesh::from_surface`] thickens it. Edges against edges are tested in the
//! constraint mode of [`contact`] only.

pub(crate) mod assemble;
pub mod boundary;
pub mod contact;
pub(crate) mod element;
pub(crate) mod embed;
pub mod fibres;
pub mod material;
pub(crate) mod matrix;
pub mod mesh;
pub mod model;
pub mod scene;
pub mod sliding;
pub(crate) mod solve;
pub mod step;
mod terms;
pub mod tet_mesh;

pub use crate::geom::sdf;

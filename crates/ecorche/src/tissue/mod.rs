//! Finite elements for muscle, tendon and fat: what the interactive skin is compared with.

pub mod assemble;
pub mod boundary;
pub mod contact;
pub mod element;
pub mod embed;
pub mod fibres;
pub mod material;
pub mod matrix;
pub mod mesh;
pub mod model;
pub mod scene;
pub mod sdf;
pub mod solve;
pub mod step;
pub mod terms;
pub mod tet_mesh;

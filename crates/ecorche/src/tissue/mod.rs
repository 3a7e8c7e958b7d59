//! Finite elements for muscle, tendon and fat: what the interactive skin is compared with.

pub mod element;
pub mod material;

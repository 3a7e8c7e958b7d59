//! Écorché deforms the skin of animated characters.

pub mod bake;
pub mod cache;
pub mod character;
pub mod deform;
pub mod frame;
pub mod geom;
pub mod math;
pub mod measure;
pub mod output;
pub mod samples;
pub mod skinning;
pub mod tissue;

//! Écorché deforms the skin of animated characters.

pub mod bake;
pub mod cache;
pub mod character;
pub mod deform;
pub mod field;
pub mod frame;
pub mod geom;
pub mod inspect;
pub mod math;
pub mod measure;
pub mod output;
pub mod portrait;
pub mod samples;
pub mod sampling;
pub mod skinning;
pub mod tissue;

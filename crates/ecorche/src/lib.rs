//! Écorché deforms the skin of animated characters.

pub mod character;
pub mod geom;
pub mod math;
pub mod measure;

//! Écorché deforms the skin of animated characters.

pub mod geom;
pub mod math;

//! Built-in characters made by code.
pub mod sculpt;

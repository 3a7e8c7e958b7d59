//! Built-in characters made by code.
pub mod athlete;
pub mod clips;
pub mod hand;
pub mod rig;
pub mod sculpt;
pub mod weights;

//! Simulated flesh on a character's clip: slow, for hero shots, and as a reference for measuring faster methods.
//!
//! [`mod@reference`] fills a character's closed skin with elastic flesh around bones and finds its equilibrium in every
//! pose of a clip, with self-contact and without muscles. [`layers`] simulates a shot of muscles, fascia, fat and skin.

pub(crate) mod barrier;
pub mod cores;
pub mod dilatation;
pub mod equilibrium;
pub mod filling;
pub mod layers;
pub mod motion;
pub mod reference;
pub mod region;
pub mod report;
pub mod skin;

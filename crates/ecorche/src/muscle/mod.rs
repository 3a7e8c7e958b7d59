//! Muscles and fat under the skin.

pub mod definition;

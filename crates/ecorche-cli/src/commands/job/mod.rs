//! Jobs for render farms, in the Open Job Description. Every step is a command of this program and can be repeated alone.

pub mod bake;
mod bundle;
pub mod hero;

//! Muscles and fat under the skin.

pub mod axis;
pub mod definition;
pub mod implicit;
pub mod profile;
pub mod section;

pub use axis::{Axis, Projection};
pub use implicit::ImplicitMuscle;
pub use profile::{Profile, ProfileError, Profiles};
pub use section::Section;

/// Values of a second program.
#[cfg(test)]
pub(crate) fn golden() -> serde_json::Value {
    serde_json::from_str(include_str!("../../tests/data/golden_muscle.json")).unwrap()
}

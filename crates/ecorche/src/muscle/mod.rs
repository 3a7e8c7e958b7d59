//! Muscles and fat under the skin: from a few numbers per muscle to fields that keep their volume, bulge when
//! they shorten, swing and settle.
//!
//! [`definition`] holds what a person writes. [`Musculature::new`] puts it on a skeleton at bind: each
//! muscle becomes one or more fibres, each a strand of particles between bones. [`Musculature::step`] moves them
//! to the next pose; [`Musculature::pose`] gives their [`Shape`]s, which are fields.
//!
//! ```
//! use ecorche::muscle::definition::{Attachment, BodyDef, MuscleDef, Side};
//! use ecorche::muscle::{Musculature, Settings, Workspace};
//! use ecorche::character::Pose;
//! use glam::Vec3;
//!
//! let arm = ecorche::samples::build("arm")?;
//! let at = |bone: &str, at: Vec3| Attachment { bone: bone.into(), at }.into();
//! let biceps = MuscleDef::new(
//!     "biceps brachii",
//!     Side::Left,
//!     at("leftUpperArm", Vec3::new(0.0, 0.02, 0.02)),
//!     at("leftLowerArm", Vec3::new(0.0, 0.04, 0.01)),
//!     0.018,
//! );
//! let body = BodyDef { muscle: vec![biceps], ..BodyDef::default() };
//! let mut pose = Pose::rest(&arm);
//! let bind = pose.world(&arm.skeleton);
//! let musculature = Musculature::new(&body, &arm.skeleton, &bind, ".".as_ref(), Vec::new())?;
//! let mut state = musculature.at_rest(&bind);
//! let slack = musculature.pose(&state).muscles[0].shape.clone();
//!
//! let curl = arm.clip("curl").unwrap();
//! let mut workspace = Workspace::default();
//! for frame in 0..24 {
//!     curl.sample(frame as f32 / 24.0, &mut pose);
//!     let world = pose.world(&arm.skeleton);
//!     musculature.step(&mut state, &world, &[], 1.0 / 24.0, &Settings::default(), &mut workspace);
//! }
//! let tense = musculature.pose(&state).muscles[0].shape.clone();
//! assert!(tense.length() < slack.length());
//! assert!(tense.width() > slack.width() && tense.activation() > 0.5);
//! assert!((tense.volume() / slack.volume() - 1.0).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod activation;
mod bone;
mod build;
pub mod definition;
mod fat;
pub(crate) mod fibre;
pub(crate) mod keys;
mod musculature;
pub mod parametric;
mod shape;
pub mod sketch;

pub use build::BuildError;
pub use fat::FatPad;
pub use musculature::{
    Controls, Flesh, Motion, Musculature, PosedFat, PosedMuscle, Settings, State, Workspace,
};
#[cfg(test)]
pub(crate) use shape::spindle::Axis;
pub(crate) use shape::spindle::{ActiveProfile, Profile, Profiles, sine_weights};
pub use shape::spindle::{ProfileError, Spindle};
pub use shape::{DrawnSurface, Near, Ring, Shape};
pub(crate) use shape::{Room, Table, Yielded};

/// Reference values from a second program.
#[cfg(test)]
pub(crate) fn golden() -> serde_json::Value {
    serde_json::from_str(include_str!("../../tests/data/golden_muscle.json")).unwrap()
}

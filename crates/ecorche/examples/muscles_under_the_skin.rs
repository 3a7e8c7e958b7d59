//! Lesson 3: put muscles under the skin and follow them over a clip.
//!
//! `cargo run --release -p ecorche --example muscles_under_the_skin` curls the built-in arm and prints length, width and volume of
//! its four muscles.

use ecorche::deform::{Body, Stack};
use ecorche::measure::{MuscleHistory, follow_muscles};
use ecorche::sampling::{Plan, Sampling};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", run()?.describe());
    Ok(())
}

fn run() -> Result<MuscleHistory, Box<dyn Error>> {
    let character = Arc::new(ecorche::samples::build("arm?resolution=2000")?);
    // What lies under the skin: definitions of muscles and fat. An anatomy file holds the same.
    let definitions = ecorche::samples::arm::muscles();
    // Bones can be given as surfaces in files; their paths are relative to this folder.
    let folder = Path::new(".");
    let body = Body::bind_with(character.clone(), Stack::muscles(), &definitions, folder, None)?;
    // Muscles swing: a frame is the one that playing the clip from its start gives.
    let plan = Plan::new(character.clip("curl"), &Sampling { fps: Some(12.0), frames: None })?;
    follow_muscles(&body, &plan).ok_or_else(|| "the body has no muscles".into())
}

#[test]
fn four_muscles_keep_their_volume_over_the_curl() {
    let history = run().unwrap();
    assert_eq!(history.fibres.len(), 4);
    assert!(history.volume_drift().smooth < 0.01, "{:?}", history.volume_drift());
}

//! The built-in cylinder bent and twisted by hand, one shot each: the methods side by side.
//!
//! `cargo run --release -p ecorche --example cylinder_table`

use ecorche::character::{Character, Pose};
use ecorche::deform::{Body, Settings, Stack, Tracking, Workspace};
use ecorche::field::operator::Composition;
use ecorche::field::section::iso_surface;
use ecorche::measure::{FrameFigures, FrameInput, Judge};
use ecorche::skinning::Surface;
use glam::{Quat, Vec3};
use std::sync::Arc;

/// Degrees of bend and twist.
const TURNS: [(f32, f32); 12] = [
    (60.0, 0.0),
    (90.0, 0.0),
    (120.0, 0.0),
    (150.0, 0.0),
    (170.0, 0.0),
    (120.0, 80.0),
    (150.0, 80.0),
    (170.0, 80.0),
    (0.0, 60.0),
    (0.0, 90.0),
    (0.0, 150.0),
    (0.0, 180.0),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let character = Arc::new(ecorche::samples::build("cylinder")?);
    let surface = Surface::new(&character).ok_or("the cylinder has a skin")?;
    let judge = Judge::of(&surface)?;
    let implicit = |tracking: Tracking| Settings::from(Stack::implicit().with_tracking(tracking));
    let rows: [(&str, Settings); 5] = [
        ("lbs", Stack::linear().into()),
        ("dqs", Stack::dual_quaternion().into()),
        ("2012", implicit(Tracking::Scheme2012)),
        ("2014", implicit(Tracking::Scheme2014)),
        ("robust", implicit(Tracking::Robust)),
    ];
    println!("{} vertices; union: volume change of the union of the fields", surface.mesh.positions.len());
    println!(
        "{:>5} {:>6} {:>8}  {:<8} {:>7} {:>8} {:>6} {:>6} {:>12}",
        "bend", "twist", "union %", "method", "pairs", "volume %", "short", "long", "samples/vtx"
    );
    let union = Settings { composition: Composition::by_name("union"), ..implicit(Tracking::Robust) };
    let union = Body::bind(character.clone(), union, None).unwrap();
    let volume = |pose: &Pose| union.field(pose).map_or(0.0, |field| iso_surface(&field, 0.5, 160).volume());
    let at_rest = volume(&Pose::rest(&character));
    let bodies = rows.map(|(name, settings)| (name, Body::bind(character.clone(), settings, None).unwrap()));
    for (bend, twist) in TURNS {
        let pose = turned(&character, bend, twist);
        let of_union = 100.0 * (volume(&pose) / at_rest - 1.0);
        for (name, body) in &bodies {
            let mut workspace = Workspace::default();
            let frame = body.deform(&pose, 0.0, &mut workspace);
            let figures: FrameFigures = judge.frame(&FrameInput::new(0, &surface.positions(&frame)))?;
            let samples = frame.report.tracking.map_or(0.0, |t| t.evaluations as f64 / t.vertices as f64);
            println!(
                "{bend:>5} {twist:>6} {of_union:>8.2}  {name:<8} {:>7} {:>8.2} {:>6.2} {:>6.2} {samples:>12.1}",
                figures.pairs,
                100.0 * (figures.volume - 1.0),
                figures.stretch_min,
                figures.stretch_max,
            );
        }
    }
    Ok(())
}

/// The upper half bent about x, after a twist about its own length.
fn turned(character: &Character, bend: f32, twist: f32) -> Pose {
    let mut pose = Pose::rest(character);
    if let Some(joint) = character.skeleton.find("upper") {
        let turn = Quat::from_axis_angle(Vec3::X, bend.to_radians())
            * Quat::from_axis_angle(Vec3::Y, twist.to_radians());
        pose.local[joint].rotation = turn * pose.local[joint].rotation;
    }
    pose
}

//! Four muscles of the arm sample over its clips: length, width, volume, activation and tension of each, how far
//! they swing after the shake, and what a frame costs. Then fifty muscles with all contacts.
//!
//! `cargo run --release -p ecorche --example arm_muscles -- [FOLDER]` also draws plots into FOLDER.

use ecorche::character::{Character, Pose};
use ecorche::field::Field;
use ecorche::muscle::definition::{Attachment, BodyDef, MuscleDef, Side};
use ecorche::muscle::{Flesh, Musculature, Settings, Shape, Workspace};
use ecorche::output::plot::{Axis, Plot, Series};
use glam::Vec3;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const FPS: f32 = 24.0;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).map(PathBuf::from);
    let arm = ecorche::samples::build("arm")?;
    let bind = Pose::rest(&arm).world(&arm.skeleton);
    let musculature = Musculature::new(
        &ecorche::samples::arm::muscles(),
        &arm.skeleton,
        &bind,
        Path::new("."),
        Vec::new(),
    )?;
    for clip in ["curl", "shake"] {
        play(&arm, &musculature, clip, folder.as_deref())?;
    }
    swing(&arm, &musculature)?;
    many()?;
    Ok(())
}

fn play(
    arm: &Character,
    musculature: &Musculature,
    name: &str,
    folder: Option<&Path>,
) -> Result<(), Box<dyn Error>> {
    let clip = arm.clip(name).ok_or("the arm has no such clip")?;
    let mut pose = Pose::rest(arm);
    clip.sample(clip.start, &mut pose);
    let mut state = musculature.at_rest(&pose.world(&arm.skeleton));
    let mut workspace = Workspace::default();
    let points: Vec<Vec3> = arm.meshes[0].positions.clone();
    let (mut moving, mut sampling) = (Duration::ZERO, Duration::ZERO);
    let (mut deepest, mut resets) = (0.0f64, 0);
    let mut history: Vec<Flesh> = Vec::new();
    let frames = ((clip.end - clip.start) * FPS).round() as usize;
    for frame in 0..=frames {
        clip.sample(clip.start + frame as f32 / FPS, &mut pose);
        let world = pose.world(&arm.skeleton);
        let begun = Instant::now();
        let report =
            musculature.step(&mut state, &world, &[], 1.0 / FPS, &Settings::default(), &mut workspace);
        let flesh = musculature.pose(&state);
        moving += begun.elapsed();
        (deepest, resets) = (deepest.max(report.deepest), resets + report.resets);
        let begun = Instant::now();
        let inside = |p: Vec3| flesh.muscles.iter().any(|m| m.shape.sample(p).value > 0.5);
        let inside = points.iter().filter(|&&p| inside(p)).count();
        sampling += begun.elapsed();
        std::hint::black_box(inside);
        history.push(flesh);
    }
    println!("\n{name}: {frames} frames");
    println!("muscle              length mm        width mm         volume cm3       activation   tension N");
    for (m, definition) in musculature.definition().muscle.iter().enumerate() {
        let range = |value: &dyn Fn(&Flesh) -> f64| {
            let values = history.iter().map(value);
            let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
            format!("{low:6.1} .. {high:6.1}")
        };
        println!(
            "{:16} {}  {}  {}  {}  {}",
            definition.name,
            range(&|f| 1e3 * f.muscles[m].shape.length()),
            range(&|f| 1e3 * f.muscles[m].shape.width()),
            range(&|f| 1e6 * f.muscles[m].shape.volume()),
            range(&|f| f.muscles[m].shape.activation()),
            range(&|f| f.muscles[m].tension),
        );
    }
    let per_frame = |time: Duration| time.as_secs_f64() * 1e3 / (frames + 1) as f64;
    println!(
        "{:.2} ms a frame to move, {:.2} ms for the fields at {} points; deepest in bone {:.3} mm, resets {resets}",
        per_frame(moving),
        per_frame(sampling),
        points.len(),
        1e3 * deepest,
    );
    if let Some(folder) = folder {
        draw(musculature, &history, name, folder)?;
    }
    Ok(())
}

fn draw(
    musculature: &Musculature,
    history: &[Flesh],
    clip: &str,
    folder: &Path,
) -> Result<(), Box<dyn Error>> {
    type Value = fn(&Shape) -> f64;
    let quantities: [(&str, &str, Value); 3] = [
        ("length", "mm", |m| 1e3 * m.length()),
        ("width", "mm", |m| 1e3 * m.width()),
        ("volume", "cm3", |m| 1e6 * m.volume()),
    ];
    for (name, unit, value) in quantities {
        let series = musculature.definition().muscle.iter().enumerate().map(|(m, definition)| Series {
            name: definition.name.clone(),
            points: history
                .iter()
                .enumerate()
                .map(|(frame, flesh)| [frame as f32 / FPS, value(&flesh.muscles[m].shape) as f32])
                .collect(),
            ..Series::default()
        });
        let plot = Plot {
            title: format!("{clip}: {name}"),
            x: Axis::new("time", "s"),
            y: Axis::new(name, unit),
            series: series.collect(),
        };
        let file = std::fs::File::create(folder.join(format!("arm_{clip}_{name}.png")))?;
        plot.draw(900, 520).encode_png(file)?;
    }
    Ok(())
}

/// How far the middle of each axis still is from where it comes to rest, after the shake has ended.
fn swing(arm: &Character, musculature: &Musculature) -> Result<(), Box<dyn Error>> {
    let clip = arm.clip("shake").ok_or("the arm has no such clip")?;
    let mut pose = Pose::rest(arm);
    clip.sample(clip.start, &mut pose);
    let mut state = musculature.at_rest(&pose.world(&arm.skeleton));
    let mut workspace = Workspace::default();
    // The clip dies away; stopped at its height, the muscles go on.
    let stop = (0.9 * FPS) as usize;
    let mut path = Vec::new();
    for frame in 0..=stop + 2 * FPS as usize {
        clip.sample(clip.start + frame.min(stop) as f32 / FPS, &mut pose);
        let world = pose.world(&arm.skeleton);
        musculature.step(&mut state, &world, &[], 1.0 / FPS, &Settings::default(), &mut workspace);
        path.push(state.particles().strands.iter().map(|s| s.position[15]).collect::<Vec<_>>());
    }
    println!("\nswing of the middle of each axis, mm, 0, 0.25, 0.5 and 1 s after the arm stops");
    for (m, definition) in musculature.definition().muscle.iter().enumerate() {
        let rest = path[path.len() - 1][m];
        let away = [0, 6, 12, 24].map(|after| format!("{:7.3}", 1e3 * path[stop + after][m].distance(rest)));
        println!("{:16} {}", definition.name, away.join(" "));
    }
    Ok(())
}

/// Fifty muscles of thirty particles over the athlete's joints.
fn many() -> Result<(), Box<dyn Error>> {
    let athlete = ecorche::samples::build("athlete")?;
    let skeleton = &athlete.skeleton;
    let mut pose = Pose::rest(&athlete);
    let bind = pose.world(skeleton);
    let head = |joint: usize| Vec3::from(bind[joint].translation);
    let child = |joint: usize| skeleton.children(joint).find(|&c| skeleton.joints[c].in_skin);
    let mut body = BodyDef::default();
    for (joint, own) in skeleton.joints.iter().enumerate().filter(|(_, j)| j.in_skin) {
        let Some((next, last)) = child(joint).and_then(|c| child(c).map(|d| (c, d))) else { continue };
        let (near, far) = (head(joint).distance(head(next)), head(next).distance(head(last)));
        if near.min(far) < 0.1 {
            continue;
        }
        for k in 0..8 {
            let (sine, cosine) = (k as f32 * std::f32::consts::TAU / 8.0).sin_cos();
            let around = |along: f32| Vec3::new(0.03 * cosine, along, 0.03 * sine);
            let origin = Attachment { bone: own.name.clone(), at: around(0.1 * near) };
            let insertion = Attachment { bone: skeleton.joints[next].name.clone(), at: around(0.3 * far) };
            let name = format!("{} {k}", own.name);
            let muscle = MuscleDef::new(&name, Side::Middle, origin.into(), insertion.into(), 0.012);
            body.muscle.push(MuscleDef { particles: 30, ..muscle });
        }
    }
    body.muscle.truncate(50);
    let musculature = Musculature::new(&body, skeleton, &bind, Path::new("."), Vec::new())?;
    let clip = athlete.clip("run").or(athlete.clips.first()).ok_or("the athlete has no clip")?;
    let mut state = musculature.at_rest(&bind);
    let mut workspace = Workspace::default();
    let (mut deepest, mut resets) = (0.0f64, 0);
    let begun = Instant::now();
    let frames = 48;
    for frame in 0..frames {
        clip.sample(clip.start + frame as f32 / FPS, &mut pose);
        let world = pose.world(skeleton);
        let report =
            musculature.step(&mut state, &world, &[], 1.0 / FPS, &Settings::default(), &mut workspace);
        (deepest, resets) = (deepest.max(report.deepest), resets + report.resets);
    }
    println!(
        "\n{} muscles of 30 particles, athlete, {}: {:.2} ms a frame; deepest in bone {:.3} mm, resets {resets}",
        body.muscle.len(),
        clip.name,
        begun.elapsed().as_secs_f64() * 1e3 / f64::from(frames),
        1e3 * deepest,
    );
    Ok(())
}

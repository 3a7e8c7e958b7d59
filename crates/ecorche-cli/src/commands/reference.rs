//! `ecorche reference`: elastic flesh on a clip, as a cache to measure methods against.

use crate::arguments::{ImplicitArguments, ReferenceArguments};
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::character::Pose;
use ecorche::hero::reference::{Difference, PoseReport, Reference, ReferenceError, Settings, Summary};
use ecorche::measure::coarser_path;
use ecorche::output::{self, Shot, file};
use ecorche::sampling::Plan;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The figures of a run.
#[derive(Serialize)]
struct Record {
    character: String,
    clip: String,
    fps: f32,
    region: Option<String>,
    mesh: Summary,
    /// The coarser mesh that errors are estimated with.
    coarser: Option<Summary>,
    /// For each mesh, runs of vertices (first, last) that follow flesh alone. The others are at least partly skinned.
    flesh: Vec<Vec<[usize; 2]>>,
    frames: Vec<FrameRecord>,
}

/// The figures of a frame.
#[derive(Serialize)]
struct FrameRecord {
    frame: usize,
    #[serde(flatten)]
    report: PoseReport,
    /// Distance to the result on the coarser mesh, metres.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Difference>,
}

/// Set when the user interrupts; the solve then stops after the current step.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Element size of the mesh that errors are estimated with, relative to that of the result.
const COARSER: f64 = 1.5;

/// Solves the clip, writes cache and figures, prints them.
pub fn run(arguments: &ReferenceArguments, console: &Console) -> Result<Outcome, Failure> {
    if let Some(edge) = arguments.edge.filter(|e| !(e.is_finite() && *e > 0.0)) {
        return Err(format!("--edge {edge}: not a length; give metres above 0, such as 0.01").into());
    }
    let ingredients = source::read(&arguments.shot.rig.recipe(&ImplicitArguments::default()), console)?;
    let plan = &source::one_plan(&ingredients, &arguments.shot.sampling, &arguments.shot.rig.file, console)?;
    let character = &ingredients.character;
    let shot = Shot::new(character, plan);
    let figures = arguments.shot.output.with_extension("json");
    let mut written = output::paths(&arguments.shot.output, &shot)?;
    let beside = coarser_path(&arguments.shot.output);
    if arguments.error {
        written.extend(output::paths(&beside, &shot)?);
    }
    written.push(figures.clone());
    source::protect_inputs(&ingredients.inputs(), &written)?;
    let joint_of = |option: &str, name: &Option<String>| -> Result<Option<usize>, String> {
        let Some(name) = name else { return Ok(None) };
        let joints = &character.skeleton.joints;
        let found = character.skeleton.find(name).filter(|&j| joints[j].in_skin);
        found.map(Some).ok_or_else(|| {
            let names: Vec<&str> = joints.iter().filter(|j| j.in_skin).map(|j| j.name.as_str()).collect();
            format!("{option} {name}: no joint of the skin has this name; there are {}", names.join(", "))
        })
    };
    let settings = Settings {
        resolution: arguments.resolution,
        edge: arguments.edge,
        region: joint_of("--region", &arguments.region)?,
        focus: joint_of("--focus", &arguments.focus)?,
        ..Settings::default()
    };
    let name_of = |error: ReferenceError| format!("{}: {error}", arguments.shot.rig.file);
    let mut flesh = Reference::new(character.clone(), &settings).map_err(name_of)?;
    describe(&flesh.summary(), console);
    let mut coarser = None;
    let mut writer = output::create(&arguments.shot.output, &shot)?;
    if arguments.error {
        let edge = Some(COARSER * flesh.summary().edge);
        let other = Reference::new(character.clone(), &Settings { edge, ..settings }).map_err(name_of)?;
        coarser = Some((other, output::create(&beside, &shot)?));
    }
    // Without a handler an interrupt ends the process at once.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
    let mut record = Record {
        character: character.name.clone(),
        clip: shot.clip.clone(),
        fps: plan.fps,
        region: arguments.region.clone(),
        mesh: flesh.summary(),
        coarser: coarser.as_ref().map(|(other, _)| other.summary()),
        flesh: flesh.runs(),
        frames: Vec::new(),
    };
    let bar = console.progress("settling", plan.len());
    let started = Instant::now();
    let mut pose = Pose::rest(character);
    for frame in plan.frames.clone() {
        plan.sample(frame, &mut pose);
        let time = plan.time(frame);
        let stopped = |error: ReferenceError| match error {
            ReferenceError::Interrupted => format!(
                "{}: interrupted in frame {frame}, after {} of {}; nothing was left behind. Ask for fewer with --frames",
                arguments.shot.output.display(),
                frame - plan.frames.start(),
                plan.len()
            ),
            other => name_of(other),
        };
        let go_on = || !INTERRUPTED.load(Ordering::Relaxed);
        let (own, report) = flesh.deform_while(&pose, time, go_on).map_err(stopped)?;
        let mut error = None;
        if let Some((other, writer)) = &mut coarser {
            let (theirs, _) = other.deform_while(&pose, time, go_on).map_err(stopped)?;
            error = Some(flesh.difference(other, &own, &theirs));
            writer.write_frame(&theirs)?;
        }
        writer.write_frame(&own)?;
        record.frames.push(FrameRecord { frame, report, error });
        let done = record.frames.len();
        bar.set_position(done as u64);
        console.detail(&line(&record.frames[done - 1]));
        if bar.is_hidden() && done < plan.len() {
            let left = started.elapsed() * (plan.len() - done) as u32 / done as u32;
            console.note(&format!("{done} of {} frames; {} left", plan.len(), spoken(left)));
        }
    }
    bar.finish_and_clear();
    let mut paths = writer.finish()?;
    if let Some((_, writer)) = coarser {
        paths.extend(writer.finish()?);
    }
    let mut text = serde_json::to_string_pretty(&record)?;
    text.push('\n');
    let figures = file::write(&figures, text.as_bytes())?;
    if arguments.json {
        console.print(&text)?;
    } else {
        console.print(table(&record, plan))?;
        for path in paths.iter().take(if paths.len() > 16 { 1 } else { 16 }) {
            console.print_path(path)?;
        }
        console.print_path(&figures)?;
    }
    Ok(judge(&record, arguments.check, console))
}

/// A duration in words.
fn spoken(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 90 { format!("{seconds} s") } else { format!("{} min", (seconds + 30) / 60) }
}

fn describe(mesh: &Summary, console: &Console) {
    console.note(&format!(
        "{} tetrahedra of {:.1} mm, {} nodes, {} of them in bones; contact within {:.2} mm",
        mesh.tetrahedra,
        1e3 * mesh.edge,
        mesh.nodes,
        mesh.bone_nodes,
        1e3 * mesh.contact_distance
    ));
    if mesh.outside > 0 {
        console.warn(&format!(
            "{} of {} vertices lie on parts that are too thin for the tetrahedra and are skinned with dual quaternions; choose a \
             finer resolution or a region",
            mesh.outside, mesh.outside + mesh.vertices
        ));
    }
}

const HEADING: &str = "frame  steps  solves  residual  inverted  smallest J  pairs  volume %  skin volume %";

fn line(record: &FrameRecord) -> String {
    let r = &record.report;
    let skin_volume = r.skin_volume_drift.map_or("-".into(), |drift| format!("{:+.3}", 100.0 * drift));
    let mut text = format!(
        "{:5}  {:5}  {:6}  {:8.1e}  {:8}  {:10.3}  {:5}  {:+8.3}  {skin_volume:>13}",
        record.frame,
        r.steps,
        r.iterations,
        r.residual,
        r.inverted,
        r.smallest_volume,
        r.pairs,
        100.0 * r.volume_drift
    );
    if let Some(error) = &record.error {
        text.push_str(&format!(
            "  {:.2} / {:.2} / {:.2}",
            1e3 * error.mean,
            1e3 * error.p95,
            1e3 * error.worst
        ));
    }
    if !r.converged {
        text.push_str("  not converged");
    }
    text
}

fn table(record: &Record, plan: &Plan) -> String {
    let error = if record.coarser.is_some() { "  error mm: mean / p95 / worst" } else { "" };
    let mut text = format!(
        "{}, {} frames at {} fps\n{HEADING}{error}\n",
        if record.clip.is_empty() { "rest pose" } else { &record.clip },
        plan.len(),
        plan.fps
    );
    for frame in &record.frames {
        text.push_str(&line(frame));
        text.push('\n');
    }
    text
}

/// Warns of frames whose result cannot be trusted; they fail a check.
fn judge(record: &Record, check: bool, console: &Console) -> Outcome {
    let list = |bad: &dyn Fn(&PoseReport) -> bool| -> Vec<String> {
        record.frames.iter().filter(|f| bad(&f.report)).map(|f| f.frame.to_string()).collect()
    };
    let mut sound = true;
    for (what, frames) in [
        ("did not converge", list(&|r| !r.converged)),
        ("hold inverted tetrahedra", list(&|r| r.inverted > 0)),
        ("hold triangles that pass through each other", list(&|r| r.pairs > 0)),
    ] {
        if !frames.is_empty() {
            sound = false;
            let text = format!("{} frames {what}: {}", frames.len(), frames.join(", "));
            if check { console.error(&text) } else { console.warn(&text) }
        }
    }
    if sound || !check { Outcome::Done } else { Outcome::CheckFailed }
}

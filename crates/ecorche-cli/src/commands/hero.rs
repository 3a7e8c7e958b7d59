//! `ecorche hero`: a simulated shot of muscles, fascia, fat and skin, as a cache.

use super::{job, make_folder, write_png};
use crate::arguments::{AnatomyArguments, HeroArguments, ImplicitArguments, Until};
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::character::Character;
use ecorche::deform::Stack;
use ecorche::hero::layers::stage::Found;
use ecorche::hero::layers::{Event, FrameReport, HeroError, STAGES, Settings, Shot, Summary};
use ecorche::output::{self, file};
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
    layers: Summary,
    frames: Vec<FrameReport>,
    /// Most memory the process held, megabytes, where the system tells.
    peak_megabytes: Option<u64>,
}

/// Set when the user interrupts; the stage then stops after the current moment.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Between two notes of progress.
const TOLD: Duration = Duration::from_secs(5);

/// Simulates the clip, writes cache and figures, prints them.
pub fn run(arguments: &HeroArguments, console: &Console) -> Result<Outcome, Failure> {
    if let Some(edge) = arguments.edge.filter(|e| !(e.is_finite() && *e > 0.0)) {
        return Err(format!("--edge {edge}: not a length; give metres above 0, such as 0.008").into());
    }
    let anatomy = AnatomyArguments { anatomy: arguments.anatomy.anatomy.clone() };
    let implicit = ImplicitArguments { anatomy, ..ImplicitArguments::default() };
    let rig = &arguments.shot.rig;
    let ingredients = source::read(&rig.recipe(&implicit), console)?;
    if ingredients.body.muscle.is_empty() {
        let what =
            "has no muscles to simulate; give it an anatomy file with --anatomy (`ecorche init` writes one)";
        return Err(format!("{}: {what}", rig.file).into());
    }
    let plan = &source::one_plan(&ingredients, &arguments.shot.sampling, &rig.file, console)?;
    let character = &ingredients.character;
    let picture_frame = match arguments.picture_frame {
        Some(frame) if !plan.frames.contains(&frame) => {
            let (first, last) = (plan.frames.start(), plan.frames.end());
            return Err(format!("--picture-frame {frame}: the shot has frames {first}-{last}").into());
        }
        Some(frame) => frame - plan.frames.start(),
        None => plan.len() - 1,
    };
    let out = &arguments.shot.output;
    let (figures, stages) = (out.with_extension("json"), out.with_extension("hero"));
    let cache = output::Shot::new(character, plan);
    let mut written = output::paths(out, &cache)?;
    written.push(figures.clone());
    written.extend(STAGES.iter().map(|name| stages.join(format!("{name}.stage"))));
    written.extend(arguments.picture.clone());
    source::protect_inputs(&ingredients.inputs(), &written)?;
    let region = arguments.region.as_deref().map(|name| joint_of(character, name)).transpose()?;
    if let Some(folder) = &arguments.job {
        return job::hero::run(arguments, folder, &ingredients, plan, console);
    }
    let mut settings = Settings { region, ..Settings::default() };
    settings.bodies.edge = arguments.edge;
    settings.bodies.budget = f64::from(arguments.tetrahedra);
    settings.muscles.substeps = arguments.substeps;
    settings.muscles.still = arguments.still_muscles;
    let name_of = |error: HeroError| format!("{}: {error}", rig.file);
    let clock = Instant::now();
    let mut shot = Shot::new(character.clone(), &ingredients.body, &ingredients.folder, plan, &settings)
        .map_err(name_of)?;
    describe(shot.summary(), clock.elapsed(), console);
    make_folder(&stages)?;
    // Without a handler an interrupt ends the process at once; the stages then end with their last whole moment.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
    let input = ingredients.key(&ingredients.settings(Some(Stack::muscles())), plan);
    let started = Instant::now();
    let mut first = None;
    let mut said = Instant::now();
    let mut tell = |event: Event<'_>| match event {
        Event::Begin(name, found) => {
            first = None;
            say_what_was_found(name, found, console);
        }
        Event::Done(name, done, count, seconds) => {
            let (since, from) = *first.get_or_insert((Instant::now(), done));
            let each =
                if done > from { since.elapsed().as_secs_f64() / (done - from) as f64 } else { seconds };
            let left = Duration::from_secs_f64(each * (count - done) as f64);
            if said.elapsed() < TOLD && done < count {
                return;
            }
            said = Instant::now();
            console.note(&format!("{name}: {done} of {count} moments; {} left", spoken(left)));
        }
    };
    let go_on = || !INTERRUPTED.load(Ordering::Relaxed);
    let stopped = |error: HeroError| match error {
        HeroError::Interrupted => {
            let what = "interrupted; run the same command again to go on from there";
            Failure::from(format!("{}: {what}", stages.display()))
        }
        other => name_of(other).into(),
    };
    if arguments.until != Until::Skin {
        let count = arguments.until.stages();
        shot.simulate_first(count, &stages, &input, &go_on, &mut tell).map_err(stopped)?;
        for name in &STAGES[..count] {
            console.print_path(&stages.join(format!("{name}.stage")))?;
        }
        return Ok(Outcome::Done);
    }
    let mut simulated = shot.simulate(&stages, &input, &go_on, &mut tell).map_err(stopped)?;
    console.note(&format!("all stages after {}", spoken(started.elapsed())));
    let mut writer = output::create(out, &cache)?;
    let mut record = Record {
        character: character.name.clone(),
        clip: cache.clip.clone(),
        fps: plan.fps,
        region: arguments.region.clone(),
        layers: shot.summary().clone(),
        frames: Vec::new(),
        peak_megabytes: None,
    };
    for index in 0..shot.frames() {
        let (frame, report) = shot.frame(index, &mut simulated).map_err(name_of)?;
        writer.write_frame(&frame)?;
        record.frames.push(report);
    }
    let paths = writer.finish()?;
    record.peak_megabytes = peak_megabytes();
    let mut text = serde_json::to_string_pretty(&record)?;
    text.push('\n');
    let figures = file::write(&figures, text.as_bytes())?;
    console.print(table(&record))?;
    for path in paths.iter().take(if paths.len() > 16 { 1 } else { 16 }) {
        console.print_path(path)?;
    }
    console.print_path(&figures)?;
    if let Some(path) = &arguments.picture {
        let drawn = shot.picture(picture_frame, &mut simulated, arguments.view, 640).map_err(name_of)?;
        write_png(path, &drawn, console)?;
    }
    Ok(judge(&record, arguments.check, console))
}

/// The joint that a region is named after.
fn joint_of(character: &Character, name: &str) -> Result<usize, Failure> {
    ecorche::hero::region::find(character, name).ok_or_else(|| {
        let joints = character.skeleton.joints.iter();
        let names: Vec<&str> = joints.filter(|j| j.in_skin).map(|j| j.name.as_str()).collect();
        format!("--region {name}: no joint of the skin has this name; there are {}", names.join(", ")).into()
    })
}

/// Most memory that the process held, megabytes.
fn peak_megabytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
}

/// A duration in words.
fn spoken(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 90 { format!("{seconds} s") } else { format!("{} min", (seconds + 30) / 60) }
}

fn describe(summary: &Summary, time: Duration, console: &Console) {
    console.note(&format!(
        "{} muscles, {} tetrahedra of {:.1} mm; fat of {:.1} mm in the median, {} tetrahedra under {} vertices; {} moments from the bind pose to \
         the first frame; made in {}",
        summary.muscles.len(),
        summary.muscle_tetrahedra,
        1e3 * summary.edge,
        1e3 * summary.fat_thickness,
        summary.fat_tetrahedra,
        summary.vertices,
        summary.lead_in,
        spoken(time)
    ));
    for (name, why) in &summary.left_out {
        console.warn(&format!("{name} is left out: {why}"));
    }
    if !summary.inside.is_empty() {
        let first: Vec<String> = summary.inside.iter().take(10).map(u32::to_string).collect();
        let more = summary.inside.len() - first.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        console.warn(&format!(
            "{} vertices of the skin lie in muscles or hardly above them: {}{more}; the muscles are thinned there",
            summary.inside.len(),
            first.join(", ")
        ));
    }
    if summary.tangled > 0 {
        console.warn(&format!(
            "the fascia under {} triangles of the skin cannot be untangled; fat is turned over there at rest",
            summary.tangled
        ));
    }
}

fn say_what_was_found(name: &str, found: Found, console: &Console) {
    match found {
        Found::Nothing | Found::Sound(0) => {}
        Found::OtherInput => console.note(&format!(
            "{name}: what is there belongs to another character, clip or setting; starting again"
        )),
        Found::Sound(count) => console.note(&format!("{name}: {count} moments are there already")),
        Found::CutShort(count) => {
            console.note(&format!("{name}: interrupted after {count} moments; going on from there"));
        }
        Found::Damaged(count) => {
            console.warn(&format!("{name}: damaged after {count} moments; those after it are computed again"))
        }
    }
}

const HEADING: &str = "frame | muscles: steps solves unconv inverted  volume % penetr mm torn | fascia: pushed deepest mm pairs | fat: steps solves unconv inverted volume % lifted mm | skin pairs | s a frame";

fn table(record: &Record) -> String {
    let mut text = format!(
        "{}, {} frames at {} fps\n{HEADING}\n",
        if record.clip.is_empty() { "rest pose" } else { &record.clip },
        record.frames.len(),
        record.fps
    );
    for f in &record.frames {
        let (m, s, t) = (&f.muscles, &f.fascia, &f.fat);
        text.push_str(&format!(
            "{:5} | {:14} {:6} {:6} {:8} {:+9.3} {:9.3} {:4} | {:14} {:10.3} {:5} | {:10} {:6} {:6} {:8} {:+8.2} {:9.2} | {:10} | {:.1}\n",
            f.frame,
            m.steps,
            m.solves,
            m.unconverged,
            m.inverted,
            1e2 * m.volume,
            1e3 * m.penetration,
            m.torn,
            s.pushed,
            1e3 * s.deepest,
            s.pairs,
            t.steps,
            t.solves,
            t.unconverged,
            t.inverted,
            1e2 * t.volume,
            1e3 * t.lifted,
            f.pairs,
            m.seconds + s.seconds + t.seconds,
        ));
    }
    let worst = record.frames.iter().max_by(|a, b| a.muscles.volume.abs().total_cmp(&b.muscles.volume.abs()));
    if let Some(worst) = worst.filter(|w| !w.muscles.volume_of.is_empty()) {
        text.push_str(&format!(
            "largest change of volume: {}, {:+.3} % in frame {}\n",
            worst.muscles.volume_of,
            1e2 * worst.muscles.volume,
            worst.frame
        ));
    }
    if let Some(most) = record.peak_megabytes {
        text.push_str(&format!("{most} MB of memory at most\n"));
    }
    text
}

/// Warns of frames whose result cannot be trusted; they fail a check.
fn judge(record: &Record, check: bool, console: &Console) -> Outcome {
    let list = |bad: &dyn Fn(&FrameReport) -> bool| -> Vec<String> {
        record.frames.iter().filter(|f| bad(f)).map(|f| f.frame.to_string()).collect()
    };
    let mut sound = true;
    for (what, frames) in [
        ("hold steps that did not converge", list(&|f| f.muscles.unconverged > 0 || f.fat.unconverged > 0)),
        ("hold inverted tetrahedra", list(&|f| f.muscles.inverted + f.fat.inverted > 0)),
        ("hold a muscle whose volume is off by more than 1 %", list(&|f| f.muscles.volume.abs() > 0.01)),
        ("hold triangles of the skin that pass through each other", list(&|f| f.pairs > 0)),
    ] {
        if !frames.is_empty() {
            sound = false;
            let text = format!("{} frames {what}: {}", frames.len(), frames.join(", "));
            if check { console.error(&text) } else { console.warn(&text) }
        }
    }
    if sound || !check { Outcome::Done } else { Outcome::CheckFailed }
}

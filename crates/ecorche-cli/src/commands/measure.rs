//! `ecorche measure`: the figures of methods on clips, as table, JSON and plot; a gate for builds.

use super::{bind_each, write_json, write_png};
use crate::arguments::Measure;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::deform::{Body, Stack};
use ecorche::measure::{
    Against, ClipFigures, Column, Judge, Limits, MuscleHistory, PieceFigures, Reference, figure,
    follow_muscles, frame_table, judge_clips, region_table, table,
};
use ecorche::output::names;
use ecorche::output::plot::{Axis, Plot, Series};
use ecorche::output::sheet::Sheet;
use ecorche::sampling::Plan;
use ecorche::skinning::Surface;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Measured clips: the name, then each method with its figures.
pub type Measured = Vec<(String, Vec<(String, ClipFigures)>)>;

/// Measures, prints, and checks the limits.
pub fn run(arguments: &Measure, console: &Console) -> Result<Outcome, Failure> {
    // Checked first: measuring takes minutes.
    let limits = arguments.fail_above.as_deref().map(Limits::parse).transpose()?;
    if figure(&arguments.figure).is_none() {
        let names: Vec<&str> = ecorche::measure::FIGURES.iter().map(|f| f.name).collect();
        return Err(
            format!("--figure {}: no such figure; there are {}", arguments.figure, names.join(", ")).into()
        );
    }
    let ingredients = source::read(&arguments.rig.recipe(&arguments.implicit), console)?;
    let plans = source::plans(&ingredients, &arguments.sampling, &arguments.rig.file, console)?;
    let clips: Vec<&str> =
        plans.iter().map(|plan| plan.clip.map_or("rest pose", |c| c.name.as_str())).collect();
    let muscle_plots = arguments.plot_muscles.as_ref().map_or(Vec::new(), |path| match &clips[..] {
        [_] => vec![path.clone()],
        several => names::labelled(path, several),
    });
    let outputs = [&arguments.json, &arguments.plot].into_iter().flatten().chain(&muscle_plots);
    let inputs: Vec<PathBuf> = ingredients.inputs().into_iter().chain(arguments.against.clone()).collect();
    source::protect_inputs(&inputs, &outputs.cloned().collect::<Vec<_>>())?;
    let surface = Surface::new(&ingredients.character).ok_or_else(|| {
        format!("{}: has no skinned mesh to measure; give it weights with --weights heat", arguments.rig.file)
    })?;
    let reference = arguments.against.as_ref().map(|path| match &plans[..] {
        [plan] => Ok::<_, Failure>(Reference::read(path, &ingredients.character, &surface, plan)?),
        several => Err(format!(
            "--against {}: holds one clip, but {} are measured; choose its clip with --clip",
            path.display(),
            several.len()
        )
        .into()),
    });
    let reference = reference.transpose()?;
    let judge = Judge::of(&surface)?;
    let cache = source::user_cache(&arguments.cache);
    let mut methods = arguments.methods.clone();
    if methods.is_empty() {
        methods.extend([Stack::linear(), Stack::dual_quaternion(), Stack::implicit()]);
        let best = ingredients.best_stack();
        methods.extend((best == Stack::muscles()).then_some(best));
    }
    arguments.implicit.check_use(&ingredients, &methods, !arguments.methods.is_empty())?;
    let bodies = bind_each(&ingredients, &methods, cache.as_ref(), console)?;
    let measured = measure(&judge, &surface, &bodies, &plans, reference.as_ref(), console)?;
    let muscles = muscles(&bodies, &plans);

    if arguments.json.as_deref().is_none_or(|path| path.as_os_str() != "-") {
        console.print(describe(&measured))?;
        if let Some(reference) = &reference {
            let joints = &ingredients.character.skeleton.joints;
            let regions = surface.regions.regions.iter();
            let names: Vec<&str> = regions.map(|r| joints[r.joint as usize].name.as_str()).collect();
            let error = reference.own_error(&judge);
            for (clip, methods) in &measured {
                console.print(compare(clip, methods, error.as_deref(), &names))?;
            }
        }
        for (clip, history) in &muscles {
            console.print_line(format_args!("{clip}, {}", history.describe()))?;
        }
    }
    if let Some(path) = &arguments.json {
        let mut json = as_json(&measured);
        for (clip, history) in &muscles {
            json[clip.as_str()]["muscles"]["fibres"] = serde_json::to_value(history)?;
        }
        write_json(path, &json, console)?;
    }
    if arguments.plot_muscles.is_some() {
        if muscles.is_empty() {
            return Err(format!(
                "{}: has no muscles to plot; give it an anatomy file with --anatomy and measure the method muscles",
                arguments.rig.file
            )
            .into());
        }
        for ((clip, history), path) in muscles.iter().zip(&muscle_plots) {
            let mut sheet = Sheet::new(1);
            for plot in history.plots(clip) {
                sheet = sheet.panel(plot.draw(1000, 420), "");
            }
            write_png(path, &sheet.compose(), console)?;
        }
    }
    if let Some(path) = &arguments.plot {
        write_png(path, &plot(&measured, &arguments.figure).draw(1100, 500), console)?;
    }
    let mut passed = true;
    for (clip, methods) in &measured {
        for (method, figures) in methods {
            for violation in limits.iter().flat_map(|l| l.check(figures)) {
                console.error(&format!("{clip}, {method}: {violation}"));
                passed = false;
            }
        }
    }
    Ok(if passed { Outcome::Done } else { Outcome::CheckFailed })
}

/// What the muscles do in each clip, if a body has any.
fn muscles(bodies: &[Body], plans: &[Plan]) -> Vec<(String, MuscleHistory)> {
    let Some(body) = bodies.iter().find(|body| body.has_muscles()) else { return Vec::new() };
    let followed = |plan: &Plan| {
        let name = plan.clip.map_or("rest pose", |c| c.name.as_str());
        Some((name.to_owned(), follow_muscles(body, plan)?))
    };
    plans.iter().filter_map(followed).collect()
}

/// Judges every body on every plan, with a progress bar.
pub fn measure(
    judge: &Judge,
    surface: &Surface,
    bodies: &[Body],
    plans: &[Plan],
    reference: Option<&Reference>,
    console: &Console,
) -> Result<Measured, Failure> {
    let mut measured = Vec::new();
    for plan in plans {
        let name = plan.clip.map_or("rest pose", |c| c.name.as_str());
        let bar = console.progress(name, plan.len());
        let judged = judge_clips(judge, surface, bodies, plan, reference, |done| {
            bar.set_position(done as u64);
            ControlFlow::Continue(())
        })?;
        bar.finish_and_clear();
        let names = bodies.iter().map(|body| body.stack().to_string());
        let methods = names.zip(judged).collect();
        measured.push((name.to_owned(), methods));
    }
    Ok(measured)
}

/// Methods and their figures, as tables take them.
fn columns(methods: &[(String, ClipFigures)]) -> Vec<(&str, &ClipFigures)> {
    methods.iter().map(|(name, figures)| (name.as_str(), figures)).collect()
}

/// Distances to a reference by frame and by bone, beside the reference's own error, if that is known.
fn compare(
    clip: &str,
    methods: &[(String, ClipFigures)],
    error: Option<&[(usize, Against)]>,
    bones: &[&str],
) -> String {
    let mut columns: Vec<Column> = Vec::new();
    for (name, figures) in methods {
        let frames = figures.frames.iter().filter_map(|f| Some((f.frame, f.against.as_ref()?)));
        columns.push((name, frames.collect()));
    }
    if let Some(error) = error {
        columns.push(("error", error.iter().map(|(frame, against)| (*frame, against)).collect()));
    }
    let what = "distance to the reference (mm) and slope (degrees)";
    let beside = if error.is_some() { "; error: a coarser reference to this one" } else { "" };
    format!(
        "{clip}, {what} by frame{beside}\n{}\n{clip}, {what} by bone: means over the frames, largest p95 and worst\n{}\n",
        frame_table(&columns),
        region_table(&columns, bones)
    )
}

/// How many muscles are listed that pierce the skin, and that grow.
const PIERCED: usize = 5;
const SHOWN: usize = 12;

/// A table per clip, its worst frames by pairs, and the vertices behind the largest popping.
pub fn describe(measured: &Measured) -> String {
    let mut text = String::new();
    for (clip, methods) in measured {
        text.push_str(&format!("{clip}\n{}", table(&columns(methods))));
        for (method, figures) in methods {
            if figures.of("pairs").is_some_and(|s| s.worst > 0.0) {
                let worst: Vec<String> =
                    figures.worst_frames("pairs", 3).iter().map(usize::to_string).collect();
                text.push_str(&format!("worst frames of {method} by pairs: {}\n", worst.join(", ")));
            }
            if let Some(popping) = figures.of("popping_max")
                && let Some(jump) = popping.cause
            {
                text.push_str(&format!(
                    "largest popping of {method}, frame {}: {jump}\n",
                    popping.worst_frame
                ));
            }
            let list = |texts: Vec<String>| texts.join("; ");
            let shown = figures.shown();
            if !shown.is_empty() {
                let most = shown.iter().take(SHOWN).map(|(by, frame)| {
                    format!("{} {:.1} of {:.1} mm (frame {frame})", by.muscle, by.risen, by.growth)
                });
                let most = list(most.collect());
                text.push_str(&format!("skin of {method} rises over muscles that grow: {most}\n"));
            }
            let bones = figures
                .frames
                .iter()
                .filter_map(|f| Some((f.pierce_bones?, f.pierced_bone.as_ref()?, f.frame)));
            if let Some((depth, bone, frame)) = bones.max_by(|a, b| a.0.total_cmp(&b.0)) {
                text.push_str(&format!(
                    "out of the skin of {method}, farthest bone: \"{bone}\" {depth:.2} mm (frame {frame})\n"
                ));
            }
            let pierced = figures.pierced();
            if !pierced.is_empty() {
                let most = pierced.iter().take(PIERCED).map(|(by, frame)| {
                    format!("{} {:.2} mm, {:.1} % (frame {frame})", by.muscle, by.depth, by.area)
                });
                let (count, most) = (pierced.len(), list(most.collect()));
                text.push_str(&format!("out of the skin of {method}, {count} muscles: {most}\n"));
            }
            let roles = figures.by_role();
            if roles.iter().any(|of| of.worst.crush > 0.0) {
                let worst = roles.iter().map(|of| {
                    let PieceFigures { piece, mesh, crush, frame, .. } = of.worst;
                    let lost = 100.0 * crush;
                    format!(
                        "{} {} {lost:.1} % (piece {piece}, \"{mesh}\", frame {frame})",
                        of.pieces, of.role
                    )
                });
                let worst = list(worst.collect());
                text.push_str(&format!(
                    "area lost under {method} by the worst piece of each role: {worst}\n"
                ));
            }
        }
        text.push('\n');
    }
    text
}

/// `clip -> method -> figures`.
pub fn as_json(measured: &Measured) -> serde_json::Value {
    let methods = |methods: &[(String, ClipFigures)]| {
        methods
            .iter()
            .map(|(name, figures)| (name.clone(), serde_json::json!(figures)))
            .collect::<serde_json::Map<_, _>>()
    };
    measured
        .iter()
        .map(|(clip, m)| (clip.clone(), methods(m).into()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// One figure over the frames; a line per clip and method.
pub fn plot(measured: &Measured, name: &str) -> Plot {
    let Some(figure) = figure(name) else { return Plot::default() };
    let series = measured.iter().flat_map(|(clip, methods)| {
        methods.iter().map(move |(method, figures)| Series {
            name: if measured.len() > 1 { format!("{clip} {method}") } else { method.clone() },
            points: figures
                .frames
                .iter()
                .filter_map(|f| Some([f.frame as f32, (figure.value)(f)? as f32]))
                .collect(),
            ..Series::default()
        })
    });
    Plot {
        title: figure.meaning.to_owned(),
        x: Axis::new("frame", ""),
        y: Axis::new(figure.name, figure.unit),
        series: series.collect(),
    }
}

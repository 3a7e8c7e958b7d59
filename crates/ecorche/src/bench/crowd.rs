//! Crowds of parametric muscles: the table of the paper, and what a muscle keeps.

use super::play::{least, median};
use super::scene::Scene;
use super::{Bench, BenchError, Cell, Table};
use crate::anatomy::BindFrames;
use crate::character::{Character, Pose};
use crate::crowd::{Crowd, Detail, Instance};
use crate::deform::{Body, Settings, Stack, Under, Workspace};
use crate::measure::{Judge, judge_clip};
use crate::muscle::definition::BodyDef;
use crate::muscle::parametric::{self, Curve, Parametric, ParametricDef, Rule, convert};
use crate::output::plot::{Axis, Mark, Plot, Series};
use crate::sampling::{Plan, Sampling};
use crate::skinning::{Skinning, Surface};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Parametric muscles of a sample, both sides, the largest first; at most `most`.
pub(super) fn muscles(
    sample: &str,
    character: &Character,
    most: usize,
) -> Result<Vec<ParametricDef>, BenchError> {
    let anatomy = crate::samples::anatomy(sample, character).unwrap_or_default();
    let body = anatomy.in_full(character);
    let surface = Surface::new(character).ok_or(BenchError::NoSkin(sample.to_owned()))?;
    let bind = BindFrames::of(character).bind_from_bone;
    let wrong = |error: crate::muscle::BuildError| BenchError::Bind(error.into());
    let mut made = convert(&body, character, &surface, &bind).map_err(wrong)?;
    let thickest = |m: &ParametricDef| m.thickness.iter().copied().fold(0.0, f32::max);
    made.sort_by(|a, b| thickest(b).total_cmp(&thickest(a)));
    made.truncate(most);
    Ok(made)
}

pub(super) fn bind(
    character: &Arc<Character>,
    under: Under,
    muscles: Vec<ParametricDef>,
) -> Result<Body, BenchError> {
    let stack = Stack { skinning: Skinning::Linear, under, ..Stack::linear() };
    let anatomy = BodyDef { parametric: muscles, ..BodyDef::default() };
    Ok(Body::bind_with(character.clone(), Settings::from(stack), &anatomy, Path::new("."), None)?)
}

/// Ramos and Larboulette 2013, table 2.
pub(super) fn crowds(bench: &mut Bench) -> Result<Table, BenchError> {
    let (quick, threads) = (bench.quick(), bench.most());
    let columns = [
        "mesh",
        "vertices",
        "muscles",
        "instances",
        "theirs (fps)",
        "lbs (ms)",
        "with muscles (ms)",
        "over lbs",
        "ours (fps)",
        "goal (fps)",
        "muscles (kB)",
    ];
    let mut table = Table::new("ramos-2", format!("a frame of a crowd, {threads} threads"), &columns);
    table.source = Some(
        "theirs: Ramos, Larboulette. A Muscle Model for Enhanced Character Skinning. Journal of WSCG 21(2), 2013, table 2; \
         dual core 3.0 GHz Pentium 4 and GeForce 8800 GTX, skinning and muscles on the card, drawing included",
    );
    let (man, leg) = match quick {
        true => ("arm?resolution=2000", "arm?resolution=2000"),
        false => ("athlete?resolution=41000", "arm?resolution=4000"),
    };
    let men = [(20, 21.0, None), (25, 17.0, Some(16.0)), (50, 9.0, None), (100, 4.3, None), (200, 2.1, None)];
    let legs = [(100, 32.0, Some(32.0)), (200, 16.0, Some(16.0)), (400, 3.5, Some(8.0))];
    let scenes = [
        ("man, 82k triangles", man, if quick { "curl" } else { "run" }, 56, &men[..]),
        ("leg, 8k triangles (arm)", leg, "curl", 4, &legs[..]),
    ];
    for (name, sample, clip, most, rows) in scenes {
        let scene = Scene::new(name, sample, clip);
        let character = Arc::new(scene.build()?);
        scene.clip(&character)?;
        let definitions = muscles(sample, &character, most)?;
        let count = definitions.len();
        let bodies = [
            bind(&character, Under::Nothing, Vec::new())?,
            bind(&character, Under::Parametric, definitions)?,
        ];
        let clip = character.clips.iter().position(|own| own.name.eq_ignore_ascii_case(clip));
        let vertices: usize = character.meshes.iter().map(|m| m.positions.len()).sum();
        let mut points = [Vec::new(), Vec::new()];
        for &(instances, theirs, goal) in rows {
            let instances = if quick { instances / 20 } else { instances };
            let [plain, with] = play_both(bench, &bodies, clip, instances, threads)?;
            points[0].push([instances as f32, plain as f32]);
            points[1].push([instances as f32, with as f32]);
            let mut row: Vec<Cell> =
                vec![name.into(), vertices.into(), count.into(), instances.into(), theirs.into()];
            row.extend([plain, with, with / plain, 1e3 / with].map(Cell::from));
            row.push(goal.into());
            row.push((instances * count * size_of::<parametric::Posed>()).div_ceil(1000).into());
            table.row(row);
        }
        let series = ["linear blending", "with parametric muscles"].into_iter().zip(points);
        table.plots.push(Plot {
            title: format!("A frame of a crowd: {name}"),
            x: Axis::new("instances", ""),
            y: Axis::new("frame", "ms"),
            series: series
                .map(|(name, points)| Series { name: name.to_owned(), points, mark: Mark::Line })
                .collect(),
        });
    }
    table.note("positions and normals of all vertices of all instances on the processor; nothing is drawn");
    table.note("lbs: the same crowd without muscles, frames of both taken in turn; of every frame the shortest of the passes");
    table.note("the paper's counts of muscles are 14000 for 200 men, where 56 each are 11200, and 3 a leg, where its text says 4");
    table.note("the paper's 26 fps without muscles against 17 with are 53 % more time, not 20 to 25");
    bench.caution(&mut table);
    Ok(table)
}

/// Milliseconds of a frame of each crowd: the median over frames, of each the shortest of several passes, in turn.
fn play_both(
    bench: &Bench,
    bodies: &[Body; 2],
    clip: Option<usize>,
    count: usize,
    threads: usize,
) -> Result<[f64; 2], BenchError> {
    let instances = || -> Vec<Instance> {
        (0..count).map(|k| Instance { clip, offset: 0.037 * k as f32, ..Instance::default() }).collect()
    };
    let crowd = |body: &Body| Crowd::new(vec![body.clone()], instances(), Detail::default());
    let wrong = |error: crate::crowd::CrowdError| BenchError::Field(error.to_string());
    let mut crowds = [crowd(&bodies[0]).map_err(wrong)?, crowd(&bodies[1]).map_err(wrong)?];
    let (frames, passes) = if bench.quick() { (2, 1) } else { (if count >= 50 { 3 } else { 6 }, 3) };
    let mut best = [vec![f64::MAX; frames], vec![f64::MAX; frames]];
    bench.on(threads, || {
        for pass in 0..=passes {
            for frame in 0..frames {
                for (crowd, best) in crowds.iter_mut().zip(&mut best) {
                    let start = Instant::now();
                    std::hint::black_box(crowd.frame(0.1 * frame as f32, None));
                    // The first pass makes room.
                    if pass > 0 {
                        best[frame] = best[frame].min(start.elapsed().as_secs_f64() * 1e3);
                    }
                }
            }
        }
    });
    Ok(best.map(median))
}

/// What parametric muscles keep, and how far they are from muscles under the implicit skin.
pub(super) fn quality(bench: &mut Bench) -> Result<Table, BenchError> {
    let quick = bench.quick();
    let mut table =
        Table::new("parametric", "what parametric muscles keep", &["what", "ours", "goal", "unit"]);
    let sample = if quick { "arm?resolution=2000" } else { "athlete" };
    let character = Arc::new(crate::samples::build(sample)?);
    let anatomy = crate::samples::anatomy(sample, &character).unwrap_or_default().in_full(&character);
    let surface = Surface::new(&character).ok_or(BenchError::NoSkin(sample.to_owned()))?;
    let bind = BindFrames::of(&character).bind_from_bone;
    let wrong = |error: crate::muscle::BuildError| BenchError::Bind(error.into());
    let made = convert(&anatomy, &character, &surface, &bind).map_err(wrong)?;
    let setup = least(2, || {
        std::hint::black_box(convert(&anatomy, &character, &surface, &bind).is_ok());
    });
    let mut row = |what: &str, ours: f64, goal: Option<f64>, unit: &str| {
        table.row([what.into(), ours.into(), goal.into(), unit.into()]);
    };
    row("muscles", made.len() as f64, Some(56.0), "");
    row("making them from spindles", setup, Some(1000.0), "ms");
    row("bytes of a muscle and frame", size_of::<parametric::Posed>() as f64, Some(160.0), "");
    let muscles = Parametric::new(&made, &character, &surface, &bind).map_err(|e| wrong(e.into()))?;
    let mut workspace = parametric::Workspace::default();
    let mut polygons = 0f64;
    for tension in [0.0, 1.0] {
        muscles.pose(&bind, tension, &mut workspace);
        for (k, posed) in workspace.posed.iter().enumerate() {
            polygons = polygons.max((posed.surface(256, 64).volume() / muscles.volume(k) - 1.0).abs());
        }
    }
    let (mut exact, mut cones) = (0f64, 0f64);
    for definition in &made {
        let curve = Curve::new(definition.centre.into(), definition.thickness.map(f64::from));
        let flatness = f64::from(definition.flatness);
        let volume = curve.volume(1.0, flatness);
        for length in [0.5, 0.75, 1.25, 1.5] {
            let drift = |target: f64, rule: Rule| {
                let solved = curve.with_volume(target, length, flatness, rule).curve;
                (solved.volume(length, flatness) / volume - 1.0).abs()
            };
            exact = exact.max(drift(volume, Rule::Exact));
            cones = cones.max(drift(curve.cone_volume(1.0, flatness), Rule::TwoCones));
        }
    }
    row("drift of volume, length 50 to 150 %, worst", 1e10 * exact, Some(1.0), "1e-10");
    row("the same by two cones, as in the paper", 100.0 * cones, None, "%");
    row("volume of the drawn surface, tension 1 to 1.3, worst", 100.0 * polygons, Some(0.5), "%");
    let definition = BodyDef { parametric: made, ..anatomy.clone() };
    let body = |stack: Stack| -> Result<Body, BenchError> {
        let cache = Some(&bench.cache);
        Ok(Body::bind_with(character.clone(), Settings::from(stack), &definition, Path::new("."), cache)?)
    };
    let ours = body(Stack::parametric())?;
    let start = body(Stack::dual_quaternion())?;
    let rests = [&ours, &start].map(|body| surface.positions(&body.rest(&mut Workspace::default())));
    let apart = rests[0].iter().zip(&rests[1]).map(|(a, b)| a.distance(*b));
    let apart = f64::from(apart.fold(0.0, f32::max) / surface.mesh.size());
    row("rest pose from skinning, of the size", 1e6 * apart, Some(1.0), "1e-6");
    let implicit = body(Stack::muscles())?;
    let contact = body(Stack::implicit())?;
    let judge = Judge::of(&surface).map_err(|error| BenchError::Field(error.to_string()))?;
    let mut belly = vec![false; surface.mesh.positions.len()];
    for m in 0..character.meshes.len() {
        for (v, _, weight) in muscles.influence(m).weights() {
            if let Some(s) = surface.vertex_of(&character, m, v as usize).filter(|_| weight > 0.5) {
                belly[s as usize] = true;
            }
        }
    }
    let clips = if quick { vec!["curl"] } else { vec!["squat", "run", "jump"] };
    for name in clips {
        let Some(clip) = character.clip(name) else { continue };
        let plan =
            Plan::new(Some(clip), &Sampling { fps: Some(if quick { 2.0 } else { 6.0 }), frames: None })
                .map_err(|error| BenchError::Field(error.to_string()))?;
        let mut pose = Pose::rest(&character);
        let [mut differences, mut skinned, mut free] = [const { Vec::new() }; 3];
        for number in plan.frames.clone() {
            plan.sample(number, &mut pose);
            let time = plan.time(number);
            let bodies = [&ours, &implicit, &start, &contact];
            let frames = bodies.map(|b| surface.positions(&b.deform(&pose, time, &mut Workspace::default())));
            let [a, b, plain, touching] = &frames;
            for v in (0..belly.len()).filter(|&v| belly[v]) {
                let apart = f64::from(a[v].distance(b[v])) * 1e3;
                differences.push(apart);
                skinned.push(f64::from(plain[v].distance(b[v])) * 1e3);
                if plain[v].distance(touching[v]) < 1e-3 {
                    free.push(apart);
                }
            }
        }
        let at = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            [0.5, 0.95]
                .map(|share| values.get((share * values.len() as f64) as usize).copied().unwrap_or(0.0))
        };
        let skin = format!("{name}: skin over bellies from that over implicit muscles");
        let [middle, most] = at(differences);
        row(&format!("{skin}, median"), middle, Some(2.0), "mm");
        row(&format!("{name}: the same, 95th of a hundred"), most, Some(6.0), "mm");
        row(
            &format!("{name}: 95th of a hundred, where contact moves skin by less than 1 mm"),
            at(free)[1],
            None,
            "mm",
        );
        let [middle, most] = at(skinned);
        row(&format!("{name}: plain skinning from that over implicit muscles, median"), middle, None, "mm");
        row(&format!("{name}: the same, 95th of a hundred"), most, None, "mm");
        let figures = judge_clip(&judge, &surface, &ours, &plan, |_| ControlFlow::Continue(()));
        let popping = figures.ok().and_then(|f| f.of("popping_p99").map(|figure| figure.worst));
        row(&format!("{name}: popping p99"), popping.unwrap_or(f64::NAN), Some(1.05), "");
    }
    table.note("implicit muscles without inertia, in every pose for itself; bellies: skin on which a muscle has a weight above a half");
    bench.caution(&mut table);
    Ok(table)
}

//! The tables of Roussellet's thesis: skin over muscles.

use super::papers::{OURS, bars_of, ours};
use super::play::{least, median, window};
use super::scene::{BoneMotion, Kind, Scene};
use super::{Bench, BenchError, Cell, Table, bones};
use crate::character::Pose;
use crate::deform::{BindError, MuscleSettings};
use crate::dynamics::{self, Solver};
use crate::muscle::{self, Motion, Musculature, Profile, Profiles};
use crate::output::plot::{Axis, Plot, Series};
use rayon::prelude::*;
use std::path::Path;
use std::time::Instant;

/// The machine of the thesis.
const MACHINE: &str = "3.6 GHz Xeon E5-1650 (six cores), 64 GB";

/// Table 4.1: how fast profiles are.
pub(super) fn profiles(bench: &mut Bench) -> Result<Table, BenchError> {
    let mut table = Table::new(
        "roussellet-4.1",
        "thickness of a muscle along its axis, one thread",
        &["profile", "theirs (1/us)", "ours (1/us)", "theirs, to the cubic", "ours, to the cubic"],
    );
    table.source = Some(
        "theirs: Roussellet. Implicit muscle models for interactive character skinning. Thesis, 2018, table 4.1, page 83; its \
         machine is named in section 6.3.2: 3.6 GHz Xeon E5-1650",
    );
    let made = |result: Result<Profile, muscle::ProfileError>| {
        result.map_err(|error| BenchError::Field(error.to_string()))
    };
    let beta = |a, b| made(Profile::beta(a, b));
    let list = [
        ("beta 2,2 to 4,7", 2522.0, Some(Profiles::new(beta(2, 2)?, beta(4, 7)?))),
        ("beta 8,8 to 9,9", 1337.0, Some(Profiles::new(beta(8, 8)?, beta(9, 9)?))),
        ("sine", 895.0, Some(Profiles::new(made(Profile::sines(&[1.0]))?, made(Profile::sines(&[1.0]))?))),
        ("bump", 1353.0, None),
        (
            "piecewise cubic",
            3960.0,
            Some(Profiles::new(made(Profile::cubic(0.4))?, made(Profile::cubic(0.4))?)),
        ),
    ];
    let (count, runs) = if bench.quick() { (1000, 2) } else { (100_000, 20) };
    let speed = |profiles: &Profiles| {
        let blend = profiles.at(0.3);
        let milliseconds = least(runs, || {
            let values = (0..count).map(|i| blend.value(f64::from(i) / f64::from(count)));
            let (value, slope) = values.fold((0.0, 0.0), |sum, v| (sum.0 + v.0, sum.1 + v.1));
            std::hint::black_box((value, slope));
        });
        f64::from(count) / (1e3 * milliseconds)
    };
    let speeds: Vec<Option<f64>> = list.iter().map(|(_, _, profiles)| profiles.as_ref().map(speed)).collect();
    let cubic = speeds.last().copied().flatten();
    for ((name, theirs, _), own) in list.iter().zip(&speeds) {
        let ratio = own.zip(cubic).map(|(own, cubic)| own / cubic);
        table.row([(*name).into(), (*theirs).into(), (*own).into(), (*theirs / 3960.0).into(), ratio.into()]);
    }
    table.note(
        "theirs cannot be single evaluations on one core (0.4 ns each): compare the ratios. Ours blends two profiles, in double \
         precision, and gives the slope as well",
    );
    table.note(
        "bump is not among our profiles: it has no closed form under activation, as the thesis says itself",
    );
    Ok(table)
}

/// Muscles alone.
struct Strands {
    /// Milliseconds: median and worst of the frames, dynamic.
    step: [f64; 2],
    /// Milliseconds, median: from the particles to fields.
    pose: f64,
    /// Milliseconds, median: at once, without inertia.
    settle: f64,
    muscles: usize,
    particles: usize,
    /// Links and ties.
    constraints: usize,
    /// Largest change of a muscle's volume over the clip, per cent.
    volume: f64,
    /// Muscles that were reset because a number was not finite.
    resets: usize,
}

/// Steps the muscles of a scene through its clip; they keep out of bones and of each other.
fn strands(bench: &mut Bench, scene: &Scene, threads: usize) -> Result<Strands, BenchError> {
    let subject = bench.subject(scene)?;
    let clip = scene.clip(&subject.character)?;
    let definition = scene.definition(&subject.character);
    let motion = BoneMotion::new(&subject);
    let skeleton = &subject.character.skeleton;
    let musculature = Musculature::new(&definition, skeleton, &motion.bind, Path::new("."), Vec::new());
    let musculature = musculature.map_err(BindError::from)?;
    let (fps, frames) = window(clip, &bench.length(subject.vertices()));
    let mut pose = Pose::rest(&subject.character);
    let mut world_at = |number: usize| {
        clip.sample(clip.frame_time(number, fps), &mut pose);
        motion.at(&subject.character, &pose)
    };
    let passes = if bench.quick() { 1 } else { 2 };
    // As many substeps as under the skin.
    let substeps = (MuscleSettings::default().substeps_per_second / fps).round().max(1.0) as usize;
    let dynamics = dynamics::Settings { substeps, ..MuscleSettings::default().dynamics };
    let worlds: Vec<_> = frames.clone().map(&mut world_at).collect();
    let start = musculature.at_rest(&worlds[0]);
    // Cells across a muscle: as fine as `measure` has them.
    let cells = if bench.quick() { 16 } else { 40 };
    let volumes = |flesh: &muscle::Flesh| -> Vec<f64> {
        flesh.muscles.par_iter().map(|m| m.shape.integrated_volume(cells)).collect()
    };
    // Volumes take longer than steps: of a few frames, and of a few muscles.
    let weighed =
        if scene.muscles.is_some_and(|m| m[0] <= 4) { worlds.len().div_ceil(6) } else { usize::MAX };
    let at_rest = if weighed < usize::MAX { volumes(&musculature.at_bind()) } else { Vec::new() };
    Ok(bench.on(threads, || {
        let mut workspace = muscle::Workspace::default();
        let settings = muscle::Settings { dynamics, ..muscle::Settings::default() };
        let mut best = vec![[f64::MAX; 2]; worlds.len()];
        let (mut volume, mut resets) = (0.0f64, 0);
        for pass in 0..passes {
            let mut state = start.clone();
            for (i, (best, world)) in best.iter_mut().zip(&worlds).enumerate() {
                let clock = Instant::now();
                let report = musculature.step(&mut state, world, &[], 1.0 / fps, &settings, &mut workspace);
                let stepped = clock.elapsed().as_secs_f64() * 1e3;
                let flesh = musculature.pose(&state);
                let posed = clock.elapsed().as_secs_f64() * 1e3 - stepped;
                *best = [best[0].min(stepped), best[1].min(posed)];
                resets += report.resets;
                if pass == 0 && (i + 1) % weighed == 0 {
                    for (now, then) in volumes(&flesh).iter().zip(&at_rest) {
                        volume = volume.max(100.0 * (now / then - 1.0).abs());
                    }
                }
            }
        }
        let kinematic = muscle::Settings { motion: Motion::Kinematic, ..settings };
        let settle = worlds.iter().map(|world| {
            let mut state = start.clone();
            least(passes, || {
                musculature.step(&mut state, world, &[], 1.0 / fps, &kinematic, &mut workspace);
            })
        });
        let specs = musculature.system().strands().iter().map(|s| s.spec());
        Strands {
            settle: median(settle.collect()),
            step: [
                median(best.iter().map(|b| b[0]).collect()),
                best.iter().map(|b| b[0]).fold(0.0, f64::max),
            ],
            pose: median(best.iter().map(|b| b[1]).collect()),
            muscles: definition.muscle.len(),
            particles: musculature.system().strands().iter().map(|s| s.len()).sum(),
            constraints: specs.map(|s| s.links.len() + s.ties.len()).sum(),
            volume,
            resets,
        }
    }))
}

/// Figure 4.21: how well muscles keep their volume.
pub(super) fn volumes(bench: &mut Bench) -> Result<Table, BenchError> {
    let mut table = Table::new(
        "roussellet-4.21",
        "largest change of a muscle's volume in the biceps curl",
        &["particles per muscle", "theirs (%)", "ours (%)", "put back"],
    );
    table.source = Some("theirs: Roussellet 2018, figure 4.21, page 87, and section 4.4.3: at most 2 %");
    let threads = bench.most();
    let counts: &[usize] = if bench.quick() { &[30] } else { &[10, 20, 30, 40, 50] };
    for &particles in counts {
        let scene = Scene::arm("curl", bench.quick()).with_muscles(4, particles);
        let strands = strands(bench, &scene, threads)?;
        let theirs = if particles == 30 { Cell::Number(2.0) } else { Cell::None };
        table.row([particles.into(), theirs, strands.volume.into(), strands.resets.into()]);
    }
    table.note(
        "ours: the volume that the muscle's surface encloses in space, summed over cells of a fortieth of its thickness, in six \
         frames of the clip, against that at bind; `put back` counts muscles that were reset",
    );
    bench.caution(&mut table);
    Ok(table)
}

/// Figure 5.2: stiff and loose muscles. How far the axes of the arm's muscles swing from where the pose alone puts them.
pub(super) fn stiffness(bench: &mut Bench) -> Result<Table, BenchError> {
    let mut table = Table::new(
        "roussellet-5.2",
        "stiff and loose muscles: farthest that an axis swings while the arm shakes",
        &["solver", "stiffness", "32 substeps a frame (mm)", "128 substeps a frame (mm)", "128 over 32"],
    );
    table.source = Some(
        "Roussellet 2018, figure 5.2, page 95: pictures of stiff (k = 0.9) and loose (k = 0.4) muscles, without numbers; section 5.2: \
         k = 0.1 swings visibly",
    );
    let scene = Scene::arm("shake", bench.quick()).with_muscles(4, 30);
    let subject = bench.subject(&scene)?;
    let clip = scene.clip(&subject.character)?;
    let motion = BoneMotion::new(&subject);
    let (fps, frames) = window(clip, &bench.length(subject.vertices()));
    let mut pose = Pose::rest(&subject.character);
    let mut world_at = |number: usize| {
        clip.sample(clip.frame_time(number, fps), &mut pose);
        motion.at(&subject.character, &pose)
    };
    let worlds: Vec<_> = frames.map(&mut world_at).collect();
    let definition = scene.definition(&subject.character);
    // Of each frame: the farthest of all particles, millimetres.
    let swing = |solver: Solver, factor: f32, substeps: usize| -> Result<Vec<f64>, BenchError> {
        let mut definition = definition.clone();
        for muscle in &mut definition.muscle {
            for force in [&mut muscle.tone, &mut muscle.strength, &mut muscle.stiffness] {
                *force *= factor;
            }
        }
        let skeleton = &subject.character.skeleton;
        let body = Musculature::new(&definition, skeleton, &motion.bind, Path::new("."), Vec::new());
        let body = body.map_err(BindError::from)?;
        let dynamics = dynamics::Settings { substeps, solver, ..dynamics::Settings::default() };
        let settings = muscle::Settings { dynamics, ..muscle::Settings::default() };
        let (mut state, mut workspace) = (body.at_rest(&worlds[0]), muscle::Workspace::default());
        let swings = worlds.iter().map(|world| {
            body.step(&mut state, world, &[], 1.0 / fps, &settings, &mut workspace);
            let (moving, still) = (body.pose(&state), body.pose(&body.at_rest(world)));
            let pairs = moving.muscles.iter().zip(&still.muscles);
            let apart = pairs.flat_map(|(a, b)| {
                a.shape.axis_points().iter().zip(b.shape.axis_points()).map(|(a, b)| 1e3 * a.distance(*b))
            });
            apart.fold(0.0, f64::max)
        });
        Ok(swings.collect())
    };
    let pbd = |stiffness: f64| Solver::Pbd { stiffness, kept: 0.9 };
    let kinds = [
        ("pbd", "k = 0.9", pbd(0.9), 1.0),
        ("pbd", "k = 0.4", pbd(0.4), 1.0),
        ("pbd", "k = 0.1", pbd(0.1), 1.0),
        ("xpbd", "4 times the sample's", Solver::Xpbd, 4.0),
        ("xpbd", "the sample's", Solver::Xpbd, 1.0),
        ("xpbd", "a quarter", Solver::Xpbd, 0.25),
        ("direct", "4 times the sample's", Solver::Direct, 4.0),
        ("direct", "the sample's", Solver::Direct, 1.0),
        ("direct", "a quarter", Solver::Direct, 0.25),
    ];
    let most = |list: &[f64]| list.iter().copied().fold(0.0, f64::max);
    let mut series = Vec::new();
    for (solver, name, kind, factor) in kinds {
        let (few, many) = (swing(kind, factor, 32)?, swing(kind, factor, 128)?);
        let change = most(&many) / most(&few).max(1e-9);
        table.row([solver.into(), name.into(), most(&few).into(), most(&many).into(), change.into()]);
        if solver != "xpbd" && name != "k = 0.1" && name != "the sample's" {
            let point = |(k, &far): (usize, &f64)| [k as f32 / fps, far as f32];
            let points = many.iter().enumerate().map(point).collect();
            series.push(Series { name: format!("{solver}, {name}"), points, ..Series::default() });
        }
    }
    table.note(
        "in a file: solver = \"pbd\" | \"xpbd\" | \"direct\" under [skin]; tone and stiffness of a muscle",
    );
    table.note("a stiffness of pbd is another with every number of substeps; with the others it is newtons");
    table.plots.push(Plot {
        title: "Stiff and loose muscles while the arm shakes, 128 substeps a frame".to_owned(),
        x: Axis::new("time", "s"),
        y: Axis::new("farthest from the pose", "mm"),
        series,
    });
    Ok(table)
}

/// The scenes of table 6.1 with the numbers of tables 6.1 and 6.2: vertices, bones, constraints; milliseconds without
/// muscles, of tracking, of the dynamics and of all.
fn thesis_scenes(quick: bool) -> [(&'static str, Scene, [f64; 4], [f64; 4]); 4] {
    [
        (
            "arm shake",
            Scene::arm("shake", quick).with_muscles(4, 30),
            [2172.0, 3.0, 4.0, 456.0],
            [8.0, 13.0, 55.0, 68.0],
        ),
        (
            "biceps curl",
            Scene::arm("curl", quick).with_muscles(4, 30),
            [2172.0, 3.0, 4.0, 456.0],
            [5.0, 15.0, 42.0, 57.0],
        ),
        (
            "jump",
            Scene::jumper(quick).with_muscles(50, 30),
            [19_296.0, 12.0, 50.0, 4250.0],
            [50.0, 462.0, 96.0, 558.0],
        ),
        (
            "run",
            Scene::runner(quick).with_muscles(50, 30),
            [19_296.0, 12.0, 50.0, 4250.0],
            [51.0, 473.0, 96.0, 569.0],
        ),
    ]
}

/// Table 6.1: sizes.
pub(super) fn scenes(bench: &mut Bench) -> Result<Table, BenchError> {
    let threads = bench.most();
    let columns = [
        "scene",
        "vertices",
        "bones",
        "muscles",
        "constraints",
        "our vertices",
        "our bones",
        "our muscles",
        "our particles",
        "our constraints",
    ];
    let mut table = Table::new("roussellet-6.1", "sizes of the scenes, 30 particles per muscle", &columns);
    table.source = Some("theirs: Roussellet 2018, table 6.1, page 106");
    for (name, scene, theirs, _) in thesis_scenes(bench.quick()) {
        let subject = bench.subject(&scene)?;
        let strands = strands(bench, &scene, threads)?;
        let mut row: Vec<Cell> = vec![name.into()];
        row.extend(theirs.map(Cell::from));
        row.extend([subject.vertices(), bones::bones(&subject.character)].map(Cell::from));
        row.extend([strands.muscles, strands.particles, strands.constraints].map(Cell::from));
        table.row(row);
    }
    table
        .note("our constraints are links and ties; contacts are found anew in every substep and not counted");
    table.note("our runner has hands: 52 bones where the thesis has 12");
    bench.caution(&mut table);
    Ok(table)
}

/// Table 6.2: times.
pub(super) fn frames(bench: &mut Bench) -> Result<Table, BenchError> {
    let threads = bench.most();
    let columns = [
        &["scene", "theirs, skin (ms)", "theirs, tracking (ms)", "theirs, dynamics (ms)", "theirs, all (ms)"]
            [..],
        &OURS,
        &["dynamics (ms)", "all, history-free (ms)", "all, coherent (ms)"],
        &["skin: theirs/free", "dynamics: theirs/ours", "all: theirs/coherent", "all, coherent/dqs"],
    ]
    .concat();
    let mut table =
        Table::new("roussellet-6.2", format!("a frame of the scenes, {threads} threads"), &columns);
    table.source =
        Some("theirs: Roussellet 2018, table 6.2, page 110; 3.6 GHz Xeon E5-1650 (six cores), 64 GB");
    let mut bars = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    let mut labels = Vec::new();
    for (i, (name, scene, _, theirs)) in thesis_scenes(bench.quick()).into_iter().enumerate() {
        let own = ours(bench, &scene.bare(), threads)?;
        let all =
            [Kind::Free, Kind::Coherent].map(|kind| bench.play(&scene, kind, threads).map(|p| p.median));
        let [free, coherent] = all;
        let (free, coherent) = (free?, coherent?);
        let strands = strands(bench, &scene, threads)?;
        let mut row: Vec<Cell> = vec![name.into()];
        row.extend(theirs.map(Cell::from));
        row.extend(own.map(Cell::from));
        row.extend([strands.step[0], free, coherent].map(Cell::from));
        row.extend([theirs[0] / own[0], theirs[2] / strands.step[0]].map(Cell::from));
        row.extend([theirs[3] / coherent, coherent / own[3]].map(Cell::from));
        table.row(row);
        labels.push(name.to_owned());
        for (bar, value) in bars.iter_mut().zip([theirs[0], own[0], theirs[3], coherent]) {
            bar.push([i as f32, value as f32]);
        }
    }
    table.note("history-free to coherent/dqs: the skin without muscles. All: with muscles, out of bones, skin and each other; \
                history-free without inertia, coherent with");
    table.note("dynamics: alone, on the same bones but without the skin around; 32 substeps at the clip's 30 frames a second");
    bench.caution(&mut table);
    table.plots.push(Plot {
        title: format!("Scenes of the thesis (theirs on a {MACHINE})"),
        x: Axis { labels, ..Axis::default() },
        y: Axis { log: true, ..Axis::new("frame", "ms") },
        series: bars_of(["skin, theirs", "skin, ours", "all, theirs", "all, ours"], bars),
    });
    Ok(table)
}

/// Figure 6.12: particles.
pub(super) fn particles(bench: &mut Bench) -> Result<Table, BenchError> {
    let (quick, threads) = (bench.quick(), bench.most());
    let mut table = Table::new(
        "roussellet-6.12",
        format!("a frame over particles per muscle, {threads} threads"),
        &[
            "scene",
            "particles per muscle",
            "theirs, dynamics (ms)",
            "theirs, all (ms)",
            "dynamics (ms)",
            "dynamics, worst (ms)",
            "per particle (us)",
            "all, history-free (ms)",
            "all, coherent (ms)",
            "all, coherent/dqs",
        ],
    );
    table.source = Some(
        "theirs: Roussellet 2018, figure 6.12, page 111, a drawing without numbers; those at 30 particles are of table 6.2",
    );
    let counts: &[usize] = if quick { &[30] } else { &[10, 20, 30, 40, 50] };
    let mut plot = Plot {
        title: "A frame over the particles of a muscle".to_owned(),
        x: Axis::new("particles per muscle", ""),
        y: Axis { log: true, ..Axis::new("frame", "ms") },
        series: Vec::new(),
    };
    let mut scenes = vec![(Scene::arm("curl", quick), [42.0, 57.0], 4)];
    if !quick {
        scenes.push((Scene::runner(quick), [96.0, 569.0], 50));
    }
    for (scene, theirs, count) in scenes {
        let mut curves = [Vec::new(), Vec::new()];
        let dqs = bench.play(&scene, Kind::DualQuaternion, threads)?.median;
        for &particles in counts {
            let muscled = scene.clone().with_muscles(count, particles);
            let strands = strands(bench, &muscled, threads)?;
            let free = bench.play(&muscled, Kind::Free, threads)?.median;
            let coherent = bench.play(&muscled, Kind::Coherent, threads)?.median;
            if particles != 30 {
                bench.muscled.remove(&muscled.body_key());
            }
            curves[0].push([particles as f32, strands.step[0] as f32]);
            curves[1].push([particles as f32, coherent as f32]);
            let mut row: Vec<Cell> =
                vec![format!("{}, {count} muscles", scene.name).into(), particles.into()];
            row.extend(theirs.map(|theirs| if particles == 30 { Cell::Number(theirs) } else { Cell::None }));
            row.extend(strands.step.map(Cell::from));
            row.push((1e3 * strands.step[0] / strands.particles.max(1) as f64).into());
            row.extend([free, coherent, coherent / dqs].map(Cell::from));
            table.row(row);
        }
        for (what, points) in ["dynamics", "all"].into_iter().zip(curves) {
            plot.series.push(Series { name: format!("{}, {what}", scene.name), points, ..Series::default() });
        }
    }
    bench.caution(&mut table);
    table.plots.push(plot);
    Ok(table)
}

/// Muscles, dynamics, without inertia, fields, microseconds per muscle, whole frame, to dual quaternions; for the table of
/// growth.
pub(super) fn growth(
    bench: &mut Bench,
    scene: &Scene,
    counts: &[usize],
) -> Result<Vec<[f64; 7]>, BenchError> {
    let threads = bench.most();
    let mut rows = Vec::new();
    for &count in counts {
        let muscled = scene.clone().with_muscles(count, 30);
        let strands = strands(bench, &muscled, threads)?;
        let coherent = bench.play(&muscled, Kind::Coherent, threads)?.median;
        let dqs = bench.play(&muscled, Kind::DualQuaternion, threads)?.median;
        if count != 50 {
            bench.muscled.remove(&muscled.body_key());
        }
        let per_muscle = 1e3 * strands.step[0] / strands.muscles.max(1) as f64;
        let muscles = strands.muscles as f64;
        rows.push([
            muscles,
            strands.step[0],
            strands.settle,
            strands.pose,
            per_muscle,
            coherent,
            coherent / dqs,
        ]);
    }
    Ok(rows)
}

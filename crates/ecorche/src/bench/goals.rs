//! What this program is meant to reach on two ordinary cores, and whether it does; what binding costs.

use super::scene::{Kind, Scene};
use super::{Bench, BenchError, Cell, Table, machine};
use std::sync::Arc;
use std::time::Instant;

/// Binding the runner: seconds cold and from the cache, and megabytes at most and kept.
struct Setup {
    cold: f64,
    cached: f64,
    peak: Option<f64>,
    kept: Option<f64>,
}

fn bind(bench: &mut Bench, scene: &Scene, threads: usize) -> Result<Setup, BenchError> {
    let character = Arc::new(scene.build()?);
    // An earlier measurement may have left an entry; after this bind there is one for sure.
    drop(bench.subject(scene)?);
    let before = machine::memory();
    machine::forget_peak();
    let cache = bench.cache.clone();
    bench.on(threads, || {
        let clock = Instant::now();
        let cold = scene.bind(&character, None)?;
        let cold_seconds = clock.elapsed().as_secs_f64();
        let growth = |now: Option<f64>| now.zip(before).map(|(now, before)| (now - before).max(0.0));
        let (peak, kept) = (growth(machine::peak_memory()), growth(machine::memory()));
        drop(cold);
        let mut cached = f64::MAX;
        for _ in 0..2 {
            let clock = Instant::now();
            drop(scene.bind(&character, Some(&cache))?);
            cached = cached.min(clock.elapsed().as_secs_f64());
        }
        Ok(Setup { cold: cold_seconds, cached, peak, kept })
    })
}

/// Binding and memory.
pub(super) fn setup(bench: &mut Bench) -> Result<Table, BenchError> {
    let threads = bench.most();
    let mut table = Table::new(
        "setup",
        format!("making a character ready, {threads} threads"),
        &[
            "scene",
            "vertices",
            "parts",
            "cold (s)",
            "cached (s)",
            "tables (MB)",
            "peak while binding (MB)",
            "body (MB)",
        ],
    );
    for scene in super::stages::scenes(bench.quick()) {
        let setup = bind(bench, &scene, threads)?;
        let subject = bench.subject(&scene)?;
        let parts = subject.implicit.parts().map_or(&[][..], |p| &p.parts);
        let tables: usize = parts.iter().map(|p| p.field.size_in_memory()).sum();
        table.row([
            scene.title().into(),
            subject.vertices().into(),
            parts.len().into(),
            setup.cold.into(),
            setup.cached.into(),
            (1e-6 * tables as f64).into(),
            setup.peak.into(),
            setup.kept.into(),
        ]);
    }
    if let Some(peak) = machine::peak_memory() {
        table.note(format!(
            "the process holds {peak:.0} MB at most while this table is made, all scenes together"
        ));
    }
    table.note("peak and body are growth of the process, which keeps freed memory: without /proc there is none, and a small scene may show 0");
    bench.caution(&mut table);
    Ok(table)
}

/// One line: what, goal, ours, ratio to dual quaternions.
struct Goal {
    scene: &'static str,
    /// In the unit.
    goal: f64,
    unit: &'static str,
    ours: f64,
    to_dqs: Option<f64>,
    /// Ours must be at least the goal, not at most.
    at_least: bool,
}

impl Goal {
    fn frame(scene: &'static str, goal: f64, ours: f64, dqs: f64) -> Self {
        Self { scene, goal, unit: "ms", ours, to_dqs: Some(ours / dqs), at_least: false }
    }

    fn row(self) -> [Cell; 7] {
        let share = if self.at_least { self.goal / self.ours } else { self.ours / self.goal };
        [
            self.scene.into(),
            self.goal.into(),
            self.unit.into(),
            self.ours.into(),
            self.to_dqs.into(),
            share.into(),
            if share <= 1.0 { "met" } else { "missed" }.into(),
        ]
    }
}

/// The goals.
pub(super) fn goals(bench: &mut Bench) -> Result<Table, BenchError> {
    let (quick, threads) = (bench.quick(), bench.most());
    let mut table = Table::new(
        "goals",
        format!("goals for two threads of an ordinary machine; measured with {threads}"),
        &["scene", "goal", "unit", "ours", "ours/dqs", "share of the goal", "met"],
    );
    let (runner, hand, giant) = (Scene::runner(quick), Scene::hand(quick), Scene::giant(quick));
    let flesh = runner.clone().with_muscles(50, 30);
    let arm = Scene::arm("curl", quick).with_muscles(4, 30);
    let (free, coherent) = (Kind::Free, Kind::Coherent);
    let list = [
        ("runner with 50 muscles x 30, coherent", 16.0, &flesh, coherent),
        ("at least: the same", 33.0, &flesh, coherent),
        ("runner with 50 muscles x 30, history-free", 25.0, &flesh, free),
        ("runner, coherent", 5.0, &runner, coherent),
        ("runner, history-free", 10.0, &runner, free),
        ("arm with 4 muscles x 30, coherent", 3.0, &arm, coherent),
        ("hand, fist, history-free", 5.0, &hand, free),
        ("hand, fist, coherent", 5.0, &hand, coherent),
        ("173k, history-free", 33.0, &giant, free),
        ("173k, coherent", 33.0, &giant, coherent),
    ];
    let mut goals = Vec::new();
    for (name, goal, scene, kind) in list {
        let ours = bench.play(scene, kind, threads)?.median;
        let dqs = bench.play(scene, Kind::DualQuaternion, threads)?.median;
        goals.push(Goal::frame(name, goal, ours, dqs));
    }
    let beside = goals[3].ours / bench.play(&runner, Kind::DualQuaternion, threads)?.median;
    let to_dqs = Some(beside);
    let name = "runner, coherent, beside dqs";
    goals.insert(4, Goal { scene: name, goal: 10.0, unit: "x", ours: beside, to_dqs, at_least: false });
    let fewest = bench.settings.threads[0];
    if fewest == 1 && threads == 2 {
        let pairs = [
            ("runner with muscles, 2 threads to 1, coherent", &flesh, coherent),
            ("runner, 2 threads to 1, coherent", &runner, coherent),
            ("runner, 2 threads to 1, history-free", &runner, free),
        ];
        for (name, scene, kind) in pairs {
            let one = bench.play(scene, kind, fewest)?.median;
            let ours = one / bench.play(scene, kind, threads)?.median;
            goals.push(Goal { scene: name, goal: 1.8, unit: "x", ours, to_dqs: None, at_least: true });
        }
    }
    let setup = bind(bench, &runner, threads)?;
    for (scene, goal, ours) in
        [("binding the runner, cold", 2.0, setup.cold), ("binding the runner, cached", 0.2, setup.cached)]
    {
        goals.push(Goal { scene, goal, unit: "s", ours, to_dqs: None, at_least: false });
    }
    goals.into_iter().for_each(|goal| table.row(goal.row()));
    table.note("medians over the frames of the clips run, curl and fist at 30 frames a second");
    bench.caution(&mut table);
    Ok(table)
}

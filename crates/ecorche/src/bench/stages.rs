//! Where the time of a frame goes.

use super::papers::bars_of;
use super::scene::{Kind, Scene};
use super::{Bench, BenchError, Cell, Table};
use crate::character::Pose;
use crate::output::plot::{Axis, Plot};
use crate::skinning::{self, Skinner};

/// Scenes that are looked into.
pub(super) fn scenes(quick: bool) -> Vec<Scene> {
    if quick {
        return vec![Scene::runner(true).with_muscles(4, 30), Scene::hand(true)];
    }
    let (runner, arm) = (Scene::runner(false), Scene::arm("curl", false));
    let muscled = [runner.clone().with_muscles(50, 30), arm.with_muscles(4, 30)];
    muscled.into_iter().chain([runner, Scene::hand(false), Scene::giant(false)]).collect()
}

/// Stages of every scene.
pub(super) fn stages(bench: &mut Bench) -> Result<Table, BenchError> {
    let threads = bench.most();
    let mut table = Table::new(
        "stages",
        format!("medians of the stages of a frame, {threads} threads"),
        &["scene", "stage", "history-free (ms)", "free (%)", "coherent (ms)", "coherent (%)"],
    );
    for scene in scenes(bench.quick()) {
        let played = [Kind::Free, Kind::Coherent].map(|kind| bench.play(&scene, kind, threads));
        let [free, coherent] = played;
        let (free, coherent) = (free?, coherent?);
        let rest = |played: &super::Played| {
            (played.median - played.stages.iter().map(|s| s.1).sum::<f64>()).max(0.0)
        };
        let mut lines: Vec<(&str, f64, f64)> =
            free.stages.iter().zip(&coherent.stages).map(|(a, b)| (a.0, a.1, b.1)).collect();
        lines.push(("meshes, normals", rest(&free), rest(&coherent)));
        let mut bars = [Vec::new(), Vec::new()];
        for (i, (stage, a, b)) in lines.iter().enumerate() {
            table.row([
                scene.title().into(),
                (*stage).into(),
                (*a).into(),
                (100.0 * a / free.median).into(),
                (*b).into(),
                (100.0 * b / coherent.median).into(),
            ]);
            bars[0].push([i as f32, *a as f32]);
            bars[1].push([i as f32, *b as f32]);
        }
        table.row([
            scene.title().into(),
            "whole frame".into(),
            free.median.into(),
            100.0.into(),
            coherent.median.into(),
            100.0.into(),
        ]);
        table.row([
            scene.title().into(),
            "dual quaternions alone".into(),
            skin_alone(bench, &scene, threads)?.into(),
        ]);
        table.plots.push(Plot {
            title: format!("{}: stages of a frame", scene.title()),
            x: Axis { labels: lines.iter().map(|l| l.0.to_owned()).collect(), ..Axis::default() },
            y: Axis::new("time", "ms"),
            series: bars_of(["history-free", "coherent"], bars),
        });
    }
    table.note("meshes, normals: the frame less its stages: gathering, scattering, normals, allocation of the result");
    table.note("dual quaternions alone: positions without normals, into memory that is there");
    bench.caution(&mut table);
    Ok(table)
}

/// Dual quaternion skinning without normals, milliseconds.
fn skin_alone(bench: &mut Bench, scene: &Scene, threads: usize) -> Result<f64, BenchError> {
    let subject = bench.subject(scene)?;
    let clip = scene.clip(&subject.character)?;
    let mut pose = Pose::rest(&subject.character);
    clip.sample(0.5 * (clip.start + clip.end), &mut pose);
    let world = pose.world(&subject.character.skeleton);
    let mesh = &subject.character.meshes[0];
    let skinner = Skinner::new(mesh, skinning::Skinning::DualQuaternion);
    let mut out = vec![glam::Vec3::ZERO; mesh.positions.len()];
    let mut workspace = skinning::Workspace::default();
    let runs = if bench.quick() { 3 } else { 50 };
    Ok(bench.on(threads, || {
        super::play::least(runs, || {
            skinner.skin(&world, &mesh.positions, &mut out, &mut workspace);
        })
    }))
}

/// What tracking does to vertices.
pub(super) fn tracking(bench: &mut Bench) -> Result<Table, BenchError> {
    let threads = bench.most();
    let mut table = Table::new(
        "tracking",
        "means over the frames of a clip",
        &[
            "scene",
            "frames made",
            "vertices",
            "asleep (%)",
            "in contact (%)",
            "samples per vertex",
            "samples per awake vertex",
            "pairs untangled",
        ],
    );
    for scene in scenes(bench.quick()) {
        for (name, kind) in [("history-free", Kind::Free), ("coherent", Kind::Coherent)] {
            let Some(t) = bench.play(&scene, kind, threads)?.tracked else { continue };
            table.row([
                scene.title().into(),
                name.into(),
                t.vertices.into(),
                (100.0 * (1.0 - t.awake / t.vertices)).into(),
                (100.0 * t.contacts / t.vertices).into(),
                (t.evaluations / t.vertices).into(),
                Cell::from(t.evaluations / t.awake.max(1.0)),
                t.untangled.into(),
            ]);
        }
    }
    table.note("asleep: left where skinning takes it, because nothing moves against it");
    bench.caution(&mut table);
    Ok(table)
}

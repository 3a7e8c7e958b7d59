//! How times grow with vertices, bones, muscles and threads.

use super::papers::{OURS, ours};
use super::scene::{Kind, Scene};
use super::{Bench, BenchError, Cell, Table, bones, machine, thesis};
use crate::output::plot::{Axis, Plot, Series};

fn lines<const N: usize>(
    title: &str,
    x: Axis,
    y: Axis,
    names: [&str; N],
    curves: [Vec<[f32; 2]>; N],
) -> Plot {
    let series = names.into_iter().zip(curves);
    let series = series.map(|(name, points)| Series { name: name.to_owned(), points, ..Series::default() });
    Plot { title: title.to_owned(), x, y, series: series.collect() }
}

/// Measures scenes that no other table needs, beside each other.
fn over(
    bench: &mut Bench,
    table: &mut Table,
    scenes: Vec<Scene>,
    at: fn(usize, usize) -> usize,
) -> Result<[Vec<[f32; 2]>; 3], BenchError> {
    let threads = bench.most();
    let mut curves = [Vec::new(), Vec::new(), Vec::new()];
    for scene in scenes {
        let known = bench.subjects.contains_key(&scene.character_key());
        let own = ours(bench, &scene, threads)?;
        let subject = bench.subject(&scene)?;
        let (vertices, bones) = (subject.vertices(), bones::bones(&subject.character));
        let mut row: Vec<Cell> = vec![vertices.into(), bones.into()];
        row.extend(own.map(Cell::from));
        row.push((1e6 * own[0] / vertices as f64).into());
        row.push((1e6 * own[1] / vertices as f64).into());
        table.row(row);
        for (curve, value) in curves.iter_mut().zip([own[0], own[1], own[3]]) {
            curve.push([at(vertices, bones) as f32, value as f32]);
        }
        if !known {
            bench.forget(&scene);
        }
    }
    Ok(curves)
}

fn columns() -> Vec<&'static str> {
    [&["vertices", "bones"][..], &OURS, &["free, per vertex (ns)", "coherent, per vertex (ns)"]].concat()
}

/// Over vertices.
pub(super) fn vertices(bench: &mut Bench) -> Result<Table, BenchError> {
    let title = format!("the athlete runs, {} threads", bench.most());
    let mut table = Table::new("vertices", title, &columns());
    let counts: &[usize] =
        if bench.quick() { &[2000] } else { &[5000, 10_000, 20_000, 50_000, 100_000, 200_000] };
    let (sample, clip) = if bench.quick() { ("hand", "fist") } else { ("athlete", "run") };
    let scene = |&count: &usize| Scene::new("athlete", format!("{sample}?resolution={count}"), clip);
    let curves = over(bench, &mut table, counts.iter().map(scene).collect(), |vertices, _| vertices)?;
    bench.caution(&mut table);
    let [x, y] = [Axis::new("vertices", ""), Axis::new("frame", "ms")].map(|axis| Axis { log: true, ..axis });
    let names = ["history-free", "coherent", "dqs"];
    table.plots.push(lines("A frame of the running athlete over its vertices", x, y, names, curves));
    Ok(table)
}

/// Over bones.
pub(super) fn bone_counts(bench: &mut Bench) -> Result<Table, BenchError> {
    let quick = bench.quick();
    let title = format!("one character with more or fewer bones, {} threads", bench.most());
    let mut table = Table::new("bones", title, &columns());
    let (base, counts): (Scene, &[usize]) =
        if quick { (Scene::hand(true), &[11]) } else { (Scene::runner(false), &[6, 12, 23, 36, 52, 80]) };
    let scenes = counts.iter().map(|&count| base.clone().with_bones(count)).collect();
    let curves = over(bench, &mut table, scenes, |_, bones| bones)?;
    table.note("fewer bones: those with the least skin are given to their parents; more: cut in two");
    bench.caution(&mut table);
    let names = ["history-free", "coherent", "dqs"];
    let [x, y] = [Axis::new("bones", ""), Axis::new("frame", "ms")];
    table.plots.push(lines("A frame of the running athlete over its bones", x, y, names, curves));
    Ok(table)
}

/// Over muscles.
pub(super) fn muscle_counts(bench: &mut Bench) -> Result<Table, BenchError> {
    let mut table = Table::new(
        "muscles",
        format!("the runner's muscles, 30 particles each, {} threads", bench.most()),
        &[
            "muscles",
            "dynamics (ms)",
            "without inertia (ms)",
            "fields (ms)",
            "per muscle (us)",
            "all, coherent (ms)",
            "all, coherent/dqs",
        ],
    );
    let (scene, counts): (Scene, &[usize]) = if bench.quick() {
        (Scene::arm("curl", true), &[4])
    } else {
        (Scene::runner(false), &[5, 10, 20, 50, 75, 100])
    };
    let rows = thesis::growth(bench, &scene, counts)?;
    let mut curves = [Vec::new(), Vec::new()];
    for row in rows {
        curves[0].push([row[0] as f32, row[1] as f32]);
        curves[1].push([row[0] as f32, row[5] as f32]);
        table.row(row.map(Cell::from));
    }
    bench.caution(&mut table);
    let [x, y] = [Axis::new("muscles", ""), Axis::new("frame", "ms")];
    let names = ["dynamics", "all"];
    table.plots.push(lines("Muscles of the runner", x, y, names, curves));
    Ok(table)
}

/// Over threads.
pub(super) fn threads(bench: &mut Bench) -> Result<Table, BenchError> {
    let mut table = Table::new(
        "threads",
        "the same frames on other numbers of threads",
        &[
            "scene",
            "threads",
            "history-free (ms)",
            "coherent (ms)",
            "lbs (ms)",
            "dqs (ms)",
            "free, speed-up",
            "coherent, speed-up",
        ],
    );
    let counts = bench.settings.threads.clone();
    let alone: Vec<f64> = counts.iter().map(|&threads| bench.on(threads, machine::arithmetic)).collect();
    for (&threads, &ms) in counts.iter().zip(&alone) {
        let gain = alone[0] / ms;
        table.row([
            "arithmetic alone".into(),
            threads.into(),
            ms.into(),
            ms.into(),
            Cell::None,
            Cell::None,
            gain.into(),
            gain.into(),
        ]);
    }
    for scene in super::stages::scenes(bench.quick()) {
        let mut first = None;
        for &threads in &counts {
            let mut median = |kind| bench.play(&scene, kind, threads).map(|played| played.median);
            let (free, coherent) = (median(Kind::Free)?, median(Kind::Coherent)?);
            let (lbs, dqs) = (median(Kind::Linear)?, median(Kind::DualQuaternion)?);
            let (free_first, coherent_first) = *first.get_or_insert((free, coherent));
            table.row([
                scene.title().into(),
                threads.into(),
                free.into(),
                coherent.into(),
                lbs.into(),
                dqs.into(),
                (free_first / free).into(),
                (coherent_first / coherent).into(),
            ]);
        }
    }
    table.note("arithmetic alone: work in registers, shared out evenly; what this machine's threads can gain at most");
    bench.caution(&mut table);
    Ok(table)
}

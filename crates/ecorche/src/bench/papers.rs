//! The tables of the papers on skin alone.

use super::scene::{Kind, Scene};
use super::{Bench, BenchError, Cell, Table, bones};
use crate::output::plot::{Axis, Mark, Plot, Series};

/// Columns of ours that every table of frames has, in this order.
pub(super) const OURS: [&str; 7] =
    ["history-free (ms)", "coherent (ms)", "lbs (ms)", "dqs (ms)", "free/lbs", "free/dqs", "coherent/dqs"];

/// The cells of [`OURS`].
pub(super) fn ours(bench: &mut Bench, scene: &Scene, threads: usize) -> Result<[f64; 7], BenchError> {
    let mut median = |kind| bench.play(scene, kind, threads).map(|played| played.median);
    let (free, coherent) = (median(Kind::Free)?, median(Kind::Coherent)?);
    let (lbs, dqs) = (median(Kind::Linear)?, median(Kind::DualQuaternion)?);
    Ok([free, coherent, lbs, dqs, free / lbs, free / dqs, coherent / dqs])
}

/// Vaillant et al. 2012: three characters.
pub(super) fn vaillant(bench: &mut Bench) -> Result<Table, BenchError> {
    let (quick, threads) = (bench.quick(), bench.most());
    let columns = [
        &["model", "vertices", "bones", "our vertices", "our bones", "theirs (fps)", "theirs (ms)"][..],
        &OURS,
        &["theirs/free", "ours (fps)"],
    ]
    .concat();
    let title = format!("a frame of three characters, {threads} threads");
    let mut table = Table::new("vaillant-2", title, &columns);
    table.source = Some(
        "theirs: Vaillant et al. Déformation de la peau d'un personnage avec prise en compte des contacts. REFIG 6(2), 2012, \
         section 6, table 2; Core i7 950 3.0 GHz and GeForce GTX 480, everything on the card, drawing included",
    );
    let scenes = [
        ("hand, fist", Scene::hand(quick), [7707.0, 21.0, 90.0]),
        ("Armadillo (athlete, run)", Scene::giant(quick), [172_974.0, 23.0, 17.0]),
        ("Juna (athlete, squat)", Scene::juna(quick), [7973.0, 55.0, 70.0]),
    ];
    let mut bars = [Vec::new(), Vec::new(), Vec::new()];
    for (i, (model, scene, [vertices, bone_count, fps])) in scenes.into_iter().enumerate() {
        let ours = ours(bench, &scene, threads)?;
        let subject = bench.subject(&scene)?;
        for (bar, value) in bars.iter_mut().zip([1e3 / fps, ours[0], ours[1]]) {
            bar.push([i as f32, value as f32]);
        }
        let mut row: Vec<Cell> = vec![model.into(), vertices.into(), bone_count.into()];
        row.extend([subject.vertices().into(), bones::bones(&subject.character).into()]);
        row.extend([fps, 1e3 / fps].map(Cell::from));
        row.extend(ours.map(Cell::from));
        row.extend([1e3 / fps / ours[0], 1e3 / ours[0]].map(Cell::from));
        table.row(row);
    }
    table.note("ours: medians over the frames of the clip named; the papers' characters are not public, the sizes are theirs");
    bench.caution(&mut table);
    let names = ["theirs, on a graphics card", "history-free", "coherent"];
    table.plots.push(Plot {
        title: "A frame of the characters of Vaillant et al. 2012".to_owned(),
        x: Axis { labels: ["hand", "173k", "Juna"].map(str::to_owned).to_vec(), ..Axis::default() },
        y: Axis { log: true, ..Axis::new("frame", "ms") },
        series: bars_of(names, bars),
    });
    Ok(table)
}

pub(super) fn bars_of<const N: usize>(names: [&str; N], bars: [Vec<[f32; 2]>; N]) -> Vec<Series> {
    let series = names.into_iter().zip(bars);
    series.map(|(name, points)| Series { name: name.to_owned(), points, mark: Mark::Bars }).collect()
}

/// A tube of two bones with about so many vertices, a little finer along than around.
fn limb(name: &'static str, vertices: usize) -> Scene {
    // A cylinder has `segments` vertices on each of its rings and, on every cap, on rings as far apart.
    let around = ((vertices as f32 / 2.2).sqrt() as usize).max(8);
    let cap = ((around as f32 / std::f32::consts::TAU).round() as usize).max(1);
    let rings = (vertices / around).saturating_sub(2 * (cap - 1) + 1).max(4);
    Scene::new(name, format!("cylinder?segments={around}&rings={rings}"), "bend")
}

/// Turchet 2013: five limbs.
pub(super) fn turchet(bench: &mut Bench) -> Result<Table, BenchError> {
    let threads = bench.most();
    let columns = [
        &["model", "vertices", "our vertices", "theirs, worst (ms)"][..],
        &OURS,
        &["free, worst (ms)", "theirs/worst"],
    ]
    .concat();
    let title = format!("a frame of five limbs, {threads} threads");
    let mut table = Table::new("turchet-5", title, &columns);
    table.source = Some(
        "theirs: Turchet. Implicit Skinning Implementation. MSc thesis, 2013, tables 5.1 to 5.3, pages 24 and 25; Core 2 Quad \
         Q9550 2.83 GHz, all threads; the longest projection, up to 50 steps of 0.35, gradients by differences",
    );
    let limbs = [
        (limb("finger low", 541), 541.0, 20.0),
        (limb("finger hi", 2811), 2811.0, 95.0),
        (limb("arm low", 314), 314.0, 10.0),
        (limb("arm hi", 3362), 3362.0, 87.0),
        (limb("knee hi", 4535), 4535.0, 106.0),
    ];
    let shown = if bench.quick() { 1 } else { limbs.len() };
    for (scene, vertices, milliseconds) in limbs.into_iter().take(shown) {
        let ours = ours(bench, &scene, threads)?;
        let worst = bench.play(&scene, Kind::Free, threads)?.worst;
        let mut row: Vec<Cell> = vec![scene.name.into(), vertices.into()];
        row.extend([bench.subject(&scene)?.vertices().into(), Cell::from(milliseconds)]);
        row.extend(ours.map(Cell::from));
        row.extend([worst, milliseconds / worst].map(Cell::from));
        table.row(row);
    }
    table.note("ours: a tube of two bones that bends to 120 degrees and back, sample:cylinder, clip bend");
    bench.caution(&mut table);
    Ok(table)
}

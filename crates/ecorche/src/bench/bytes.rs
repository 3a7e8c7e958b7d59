//! How much memory a frame has to move, and how long that alone takes.

use super::scene::{Kind, Subject};
use super::stages::scenes;
use super::{Bench, BenchError, Table, machine};
use crate::field::Cells;

/// Bytes of a table read for one sample: a cell, one cache line.
const SAMPLE: f64 = 64.0;

/// Bytes of everything a frame cannot do without, each moved once: rest positions, weights and triangles in; positions and
/// normals out.
fn streamed(subject: &Subject) -> f64 {
    let mesh = &subject.surface.mesh;
    let weights: f64 = subject
        .character
        .meshes
        .iter()
        .filter_map(|m| m.skin())
        .map(|s| 8.0 * f64::from(s.influences.counts().1))
        .sum();
    let vertex = 12.0 + weights + 12.0 + 12.0;
    vertex * mesh.positions.len() as f64 + 12.0 * mesh.triangles.len() as f64
}

/// Bytes of the fields' tables as tracking reads them.
fn tables(subject: &Subject) -> f64 {
    let parts = subject.implicit.parts().map_or(&[][..], |p| &p.parts);
    parts.iter().map(|p| Cells::of(&p.field).size_in_memory() as f64).sum()
}

/// Memory and its limit.
pub(super) fn bytes(bench: &mut Bench) -> Result<Table, BenchError> {
    let threads = bench.most();
    let megabytes = if bench.quick() { 8 } else { 128 };
    let speed = bench.on(threads, || machine::bandwidth(megabytes));
    let mut table = Table::new(
        "bytes",
        format!("memory of a history-free frame, {threads} threads"),
        &[
            "scene",
            "streamed (MB)",
            "tables (MB)",
            "sampled (MB)",
            "limit (ms)",
            "history-free (ms)",
            "free/limit",
            "coherent/limit",
            "moved (GB/s)",
        ],
    );
    for scene in scenes(bench.quick()).into_iter().filter(|scene| scene.muscles.is_none()) {
        let (free, coherent) =
            (bench.play(&scene, Kind::Free, threads)?, bench.play(&scene, Kind::Coherent, threads)?);
        let subject = bench.subject(&scene)?;
        let (streamed, tables) = (streamed(&subject), tables(&subject));
        let sampled = SAMPLE * free.tracked.map_or(0.0, |t| t.evaluations);
        let limit = 1e3 * (streamed + tables.min(sampled)) / speed;
        table.row([
            scene.name.into(),
            (1e-6 * streamed).into(),
            (1e-6 * tables).into(),
            (1e-6 * sampled).into(),
            limit.into(),
            free.median.into(),
            (free.median / limit).into(),
            (coherent.median / limit).into(),
            (1e-6 * (streamed + sampled) / free.median).into(),
        ]);
    }
    table.note(format!(
        "computed from the layout, not counted: streamed is every input and output once; sampled is a cell of 64 bytes per \
         sample; limit is streamed and sampled, or all tables if that is less, at {:.1} GB/s, measured here by adding two arrays of \
         {megabytes} MB into a third",
        1e-9 * speed
    ));
    bench.caution(&mut table);
    Ok(table)
}

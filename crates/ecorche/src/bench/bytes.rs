//! How much memory a frame has to move, and how long that alone takes.

use super::scene::{Kind, Subject};
use super::stages::scenes;
use super::{Bench, BenchError, Table, machine};

/// Nodes of a table read for one sample, and their bytes.
const SAMPLE: f64 = 8.0 * 16.0;

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

/// Bytes of the fields' tables.
fn tables(subject: &Subject) -> f64 {
    let parts = subject.implicit.parts().map_or(&[][..], |p| &p.parts);
    parts.iter().map(|p| p.field.size_in_memory() as f64).sum()
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
        let limit = 1e3 * (streamed + tables) / speed;
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
        "computed from the layout, not counted: streamed is every input and output once; sampled is 8 nodes of 16 bytes per \
         field sample, of which caches serve nearly all; limit is streamed and tables at {:.1} GB/s, measured here by adding two \
         arrays of {megabytes} MB into a third",
        1e-9 * speed
    ));
    bench.caution(&mut table);
    Ok(table)
}

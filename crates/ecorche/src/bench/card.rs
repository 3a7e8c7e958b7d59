//! What a frame of a crowd asks of a graphics card, on paper: bytes moved and operations, counted from the characters.

use super::crowd::{bind, muscles};
use super::scene::Scene;
use super::{Bench, BenchError, Cell, Table};
use crate::deform::{Body, Under};
use crate::muscle::parametric::Posed;
use std::sync::Arc;

/// Cards of the papers: name, bandwidth in GB/s, single precision arithmetic in Gflop/s, from their data sheets.
const CARDS: [(&str, f64, f64); 2] = [("GeForce 8800 GTX", 86.4, 345.6), ("GeForce GTX 480", 177.4, 1345.0)];
/// Operations of `crates/ecorche-gpu/src/shaders/deform.wgsl`, counted by hand: a vertex, each of its bones by
/// dual quaternions (linear blending takes fewer), each of its muscles, and each corner of the pass for normals.
const PER_VERTEX: f64 = 20.0;
const PER_BONE: f64 = 48.0;
const PER_MUSCLE: f64 = 90.0;
const PER_CORNER: f64 = 32.0;

/// Bytes and operations of one instance's frame.
struct Need {
    bytes: f64,
    operations: f64,
}

/// Every instance reads its rest data once from memory; joints and muscles are read once and stay in caches.
fn need(body: &Body) -> Need {
    let mut need = Need { bytes: 0.0, operations: 0.0 };
    for (m, mesh) in body.character().meshes.iter().enumerate() {
        let vertices = mesh.positions.len() as f64;
        let bones: f64 = mesh.skin().map_or(vertices, |skin| {
            (0..skin.influences.len()).map(|v| skin.influences.of(v).count()).sum::<usize>() as f64
        });
        let held: f64 = body.parametric().map_or(0.0, |p| {
            p.influence(m).entries().map(|(_, entries)| entries.len()).sum::<usize>() as f64
        });
        let corners = 3.0 * mesh.shading.triangles().len() as f64;
        // A rest point, two offsets, bones of 8 bytes, muscles of 16; a position written.
        need.bytes += vertices * (16.0 + 8.0 + 12.0) + 8.0 * bones + 16.0 * held;
        // Corners of 16 bytes; positions read once, an offset read and a normal written for each slot.
        need.bytes += 16.0 * corners + 12.0 * vertices + 16.0 * mesh.shading.slots as f64;
        need.bytes += 128.0 * mesh.skin().map_or(1, |skin| skin.joints.len()) as f64;
        need.operations +=
            PER_VERTEX * vertices + PER_BONE * bones + PER_MUSCLE * held + PER_CORNER * corners;
    }
    need.bytes += body.parametric().map_or(0, |muscles| muscles.len() * size_of::<Posed>()) as f64;
    need
}

pub(super) fn card(bench: &mut Bench) -> Result<Table, BenchError> {
    let quick = bench.quick();
    let mut columns = vec!["mesh", "instances", "memory (MB)", "operations (G)"];
    let headings =
        CARDS.map(|(name, ..)| [format!("{name}, memory (ms)"), format!("{name}, arithmetic (ms)")]);
    columns.extend(headings.iter().flatten().map(String::as_str));
    let mut table = Table::new("card", "what a frame of a crowd asks of a graphics card, on paper", &columns);
    let small = "arm?resolution=2000";
    let scenes = [
        ("man, 82k triangles", if quick { small } else { "athlete?resolution=41000" }, 56, &[25, 200][..]),
        ("leg, 8k triangles (arm)", if quick { small } else { "arm?resolution=4000" }, 4, &[100, 400][..]),
    ];
    for (name, sample, most, counts) in scenes {
        let character = Arc::new(Scene::new(name, sample, "curl").build()?);
        let need = need(&bind(&character, Under::Parametric, muscles(sample, &character, most)?)?);
        for &count in counts {
            let [bytes, operations] = [need.bytes, need.operations].map(|one| one * f64::from(count));
            let mut row: Vec<Cell> = vec![name.into(), (count as usize).into()];
            row.extend([bytes / 1e6, operations / 1e9].map(Cell::from));
            for (_, bandwidth, arithmetic) in CARDS {
                row.extend([bytes / bandwidth / 1e6, operations / arithmetic / 1e6].map(Cell::from));
            }
            table.row(row);
        }
    }
    table.note("nothing here was timed: bytes over the card's bandwidth, operations over its arithmetic; a frame takes at least the larger");
    table.note("skinning, muscles and normals; drawing is not counted");
    Ok(table)
}

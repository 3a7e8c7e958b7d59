//! How high the pattern stands in a pose.
//!
//! | symbol | variable | meaning |
//! |---|---|---|
//! | `lambda` | 1 - `lost` | length along the line over that at rest, mean around the vertex |
//! | `e` | `compressed` | `max(0, 1 - lambda - onset)` |
//! | `e'` | `eased` | `e^2 / (e + ramp)`: a height that begins linearly, where keeping length alone begins like a square root |
//! | `a` | height | `wavelength / pi sqrt(lambda e') mask gain (1 - contact)`: a wave of that height has the length that is lost |
//! | `u` | `wave` | `(cos phi - s cos 2 phi) / sqrt(1 + 4 s^2)` with phase `phi` and sharpness `s` |
//!
//! With several patterns, what one loses along its line another loses in part along its own: a fold is counted once. `lost` is taken
//! as a sum of folds along the lines, none negative, that fits best ([`shared`]), and the offsets of the patterns are added.
//!
//! The offset is `a u`. Where nothing is compressed by more than the onset, it is exactly 0.

use super::Workspace;
use super::definition::WrinkleDef;
use super::pattern::Pattern;
use crate::geom::adjacency::Lists;
use crate::surface::Scene;
use glam::Vec3A;
use rayon::prelude::*;

/// Vertices handled by a thread at a time.
const VERTICES_PER_TASK: usize = 512;

/// Fills in heights and normals of `w`.
pub(super) fn heights(pattern: &Pattern, def: &WrinkleDef, scene: &Scene, w: &mut Workspace) {
    let at = |v: u32| scene.positions[v as usize];
    pattern
        .gauges
        .par_iter()
        .with_min_len(VERTICES_PER_TASK)
        .map(|gauge| gauge.present - gauge.lengths(at))
        .collect_into_vec(&mut w.lost);
    let lost = &w.lost;
    (0..pattern.vertices.len())
        .into_par_iter()
        .with_min_len(VERTICES_PER_TASK)
        .map(|v| {
            let around = pattern.gauges_of.get(v);
            let mean = around.iter().map(|&g| lost[g as usize]).sum::<Vec3A>() / around.len().max(1) as f32;
            // A pose that is not finite wrinkles nothing.
            if mean.is_finite() { (mean - def.onset).clamp(Vec3A::ZERO, Vec3A::ONE) } else { Vec3A::ZERO }
        })
        .collect_into_vec(&mut w.compression);
    average(&pattern.rings, pattern.means, &mut w.compression, &mut w.averages);
    w.held.clear();
    w.held.extend(pattern.vertices.iter().map(|&v| scene.contact[v as usize].clamp(0.0, 1.0)));
    if w.held.iter().any(|&held| held > 0.0) {
        spread(&pattern.rings, pattern.means, &mut w.held, &mut w.averaged);
    }
    let (compression, held) = (&w.compression, &w.held);
    (0..pattern.vertices.len())
        .into_par_iter()
        .with_min_len(VERTICES_PER_TASK)
        .map(|v| {
            let compressed = compression[v];
            if compressed.max_element() <= 0.0 {
                return Vec3A::ZERO;
            }
            let compressed =
                if pattern.count > 1 { shared(compressed, pattern.overlap[v]) } else { compressed };
            let eased = compressed * compressed / (compressed + def.ramp);
            let kept = (1.0 - compressed).max(Vec3A::ZERO) * eased;
            let free = 1.0 - held[v].min(1.0);
            free * pattern.gain[v] * Vec3A::new(kept.x.sqrt(), kept.y.sqrt(), kept.z.sqrt())
        })
        .collect_into_vec(&mut w.folds);
    let at = w.folds.iter().zip(&pattern.scale).zip(&pattern.wave).zip(&pattern.depth);
    w.heights.clear();
    w.heights.extend(at.map(|(((&fold, &scale), &wave), &depth)| {
        // A crease begins like other wrinkles and deepens as the skin folds.
        let deeper = Vec3A::ONE + depth * (2.0 * fold).min(Vec3A::ONE);
        (fold * scale * deeper).dot(wave)
    }));
    let heights = &w.heights;
    pattern
        .vertices
        .par_iter()
        .with_min_len(VERTICES_PER_TASK)
        .enumerate()
        .map(|(i, &v)| if heights[i] == 0.0 { Vec3A::ZERO } else { normal(scene, v) })
        .collect_into_vec(&mut w.normals);
}

/// Of the skin around a vertex, by area; zero where there is none.
pub(super) fn normal(scene: &Scene, v: u32) -> Vec3A {
    let triangles = scene.adjacency.triangles_of_vertex.get(v as usize).iter();
    let sum: Vec3A = triangles
        .map(|&t| {
            let [a, b, c] = scene.rest.triangles[t as usize].map(|v| scene.positions[v as usize]);
            (b - a).cross(c - a)
        })
        .sum();
    sum.normalize_or_zero()
}

/// Of compressions along three lines, how much is a fold along each: the nonnegative least squares of symmetric tensors, by
/// coordinate descent. `overlap`: squared cosines between the first line and the second, the first and the third, and the
/// others.
fn shared(lost: Vec3A, overlap: Vec3A) -> Vec3A {
    let [ab, ac, bc] = overlap.to_array();
    let mut fold = Vec3A::ZERO;
    for _ in 0..8 {
        fold.x = (lost.x - ab * fold.y - ac * fold.z).max(0.0);
        fold.y = (lost.y - ab * fold.x - bc * fold.z).max(0.0);
        fold.z = (lost.z - ac * fold.x - bc * fold.y).max(0.0);
    }
    // Skin that folds both ways takes the stronger fold: two of the same height make a net.
    let most = fold.max_element();
    if most > 0.0 { fold * (fold / most) * (fold / most) } else { fold }
}

/// Means with the neighbours, `times` over.
fn average(rings: &Lists, times: usize, values: &mut Vec<Vec3A>, other: &mut Vec<Vec3A>) {
    for _ in 0..times {
        let now = &*values;
        (0..now.len())
            .into_par_iter()
            .with_min_len(VERTICES_PER_TASK)
            .map(|v| {
                let ring = rings.get(v);
                let sum = ring.iter().map(|&w| now[w as usize]).sum::<Vec3A>();
                if ring.is_empty() { now[v] } else { 0.5 * (now[v] + sum / ring.len() as f32) }
            })
            .collect_into_vec(other);
        std::mem::swap(values, other);
    }
}

/// As [`average`], and no value falls: what is held stays held, and its neighbours are held in part.
fn spread(rings: &Lists, times: usize, values: &mut Vec<f32>, other: &mut Vec<f32>) {
    for _ in 0..times {
        let now = &*values;
        (0..now.len())
            .into_par_iter()
            .with_min_len(VERTICES_PER_TASK)
            .map(|v| {
                let ring = rings.get(v);
                let sum = ring.iter().map(|&w| now[w as usize]).sum::<f32>();
                now[v].max(sum / ring.len().max(1) as f32)
            })
            .collect_into_vec(other);
        std::mem::swap(values, other);
    }
}

//! Whether a fitted field describes its part.

use super::fit::Fitted;
use super::outside::Outside;
use super::report::PartReport;
use super::solid::Solid;
use crate::field::Field;
use glam::Vec3;

/// In inner radii: how far the field's inside may stick out of the skin.
pub(super) const LARGEST_LEAK: f32 = 0.3;
/// Share of the solid's core that may be outside the field.
pub(super) const LARGEST_HOLE: f32 = 0.02;
/// In inner radii: how deep the core starts.
const CORE: f32 = 0.2;
/// Most voxels looked at for holes.
const CORE_VOXELS: usize = 3000;
/// Cosine of 60 degrees, beyond which a gradient is wrong.
const WRONG: f32 = 0.5;

/// Sizes the leaks and holes of a part; `core` are its solid's voxels with their depth.
pub(super) fn soundness(
    fitted: &Fitted,
    outside: &Outside,
    solids: [&Solid; 2],
    core: &[(Vec3, f32)],
    inner_radius: f32,
    report: &mut PartReport,
) {
    let mut leak = 0.0f32;
    for (i, node) in fitted.field.nodes().iter().enumerate() {
        let point = fitted.field.node_position(i);
        if node[0] <= 0.5 || solids.iter().any(|s| s.contains(point)) {
            continue;
        }
        let distance = outside.nearest(point, f32::INFINITY).map_or(0.0, |n| n.distance);
        leak = leak.max(distance / inner_radius);
    }
    report.leak = leak;
    let deep: Vec<Vec3> = core.iter().filter(|c| c.1 > CORE * inner_radius).map(|c| c.0).collect();
    let step = deep.len().div_ceil(CORE_VOXELS).max(1);
    let looked: Vec<Vec3> = deep.into_iter().step_by(step).collect();
    let missed = looked.iter().filter(|&&p| fitted.field.sample(p).value < 0.5).count();
    report.hole = missed as f32 / looked.len().max(1) as f32;
    report.cut_border = fitted.cut_border;
}

/// How well the field's surface and gradient agree with the skin's vertices.
pub(super) fn agreement(
    fitted: &Fitted,
    outside: &Outside,
    vertices: &[u32],
    inner_radius: f32,
    report: &mut PartReport,
) {
    let (mut sum, mut largest, mut seen) = (0.0f64, 0.0f32, 0usize);
    for &v in vertices {
        let (position, normal) = (outside.mesh.positions[v as usize], outside.normals[v as usize]);
        let (distance, gradient) = fitted.hrbf.hrbf().distance(position);
        let length = gradient.length();
        let inward = fitted.field.sample(position).gradient;
        let wrong = -inward.dot(normal) <= WRONG * inward.length();
        if outside.hidden[v as usize] {
            report.hidden += 1;
            report.hidden_wrong_gradients += usize::from(wrong);
            continue;
        }
        let deviation = distance.abs() / length.max(1e-6) / inner_radius;
        seen += 1;
        sum += f64::from(deviation);
        largest = largest.max(deviation);
        report.wrong_gradients += usize::from(wrong);
    }
    report.vertices = vertices.len();
    report.mean_deviation = (sum / seen.max(1) as f64) as f32;
    report.largest_deviation = largest;
}

/// How far from sound, to choose the best of several tries; below 1 is sound.
pub(super) fn fault(report: &PartReport) -> f32 {
    (report.leak / LARGEST_LEAK).max(report.hole / LARGEST_HOLE)
}

/// Whether the grid is zero on its border.
#[cfg(test)]
pub(super) fn ends_at_its_border(grid: &crate::field::Grid) -> bool {
    let support = grid.support();
    grid.nodes().iter().enumerate().all(|(i, node)| {
        let p = grid.node_position(i);
        let slack = 1e-4 * (support.high - support.low).max_element();
        let inside = (p - support.low).min_element() > slack && (support.high - p).min_element() > slack;
        inside || node[0] < 1e-3
    })
}

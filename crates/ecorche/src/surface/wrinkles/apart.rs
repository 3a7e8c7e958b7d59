//! Wrinkles do not touch other skin.
//!
//! Near skin that faces it, in front or behind, and near other pieces, a vertex moves at most a share of the distance. Where triangles
//! would meet all the same that do not meet without wrinkles, the wrinkles there are taken back. The search for contact itself has
//! seen the skin without wrinkles.

use super::pattern::Pattern;
use crate::geom::Bvh;
use crate::geom::bvh::Aabb;
use crate::geom::intersect::{closest_on_triangle, triangles_meet};
use crate::surface::Scene;
use glam::Vec3;
use rayon::prelude::*;

/// Two skins that approach each other by this share of their distance each stay apart.
const SHARE: f32 = 0.4;
/// Heights are lowered from this many heights away.
const REACH: f32 = 1.0 / SHARE;
/// How often wrinkles that meet something are taken back, each time with a ring more.
const ROUNDS: usize = 8;
/// Vertices and triangles handled by a thread at a time.
const PER_TASK: usize = 64;

/// Scratch of a frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    bvh: Option<Bvh>,
    before: Vec<Vec3>,
    after: Vec<Vec3>,
    limits: Vec<f32>,
    /// Triangles with a displaced corner, ascending.
    moved: Vec<u32>,
    /// Of each vertex of the surface, its place in the pattern; `u32::MAX` for none.
    place: Vec<u32>,
}

/// Lowers heights until no triangles meet that did not before. Returns how many vertices had to be taken back.
pub(super) fn keep_apart(
    pattern: &Pattern,
    component: &[u32],
    scene: &Scene,
    w: &mut super::Workspace,
) -> usize {
    if w.heights.iter().all(|&height| height == 0.0) {
        return 0;
    }
    let super::Workspace { heights, normals, averaged, apart, .. } = w;
    let Workspace { bvh, before, after, limits, moved, place } = apart;
    let triangles = &scene.rest.triangles;
    before.clear();
    before.extend(scene.positions.iter().map(|&p| Vec3::from(p)));
    let bvh = bvh.get_or_insert_with(|| Bvh::over_triangles(&scene.rest.positions, triangles));
    bvh.refit_triangles(before, triangles);
    pattern
        .vertices
        .par_iter()
        .with_min_len(PER_TASK)
        .enumerate()
        .map(|(i, &v)| {
            let height = heights[i].abs();
            if height == 0.0 {
                return f32::MAX;
            }
            SHARE * distance(scene, before, bvh, component, v, Vec3::from(normals[i]), REACH * height)
        })
        .collect_into_vec(limits);
    // Lower beside a vertex that is lowered, so that heights fall off and are not cut.
    for _ in 0..pattern.means {
        (0..limits.len())
            .into_par_iter()
            .with_min_len(512)
            .map(|i| {
                let ring = pattern.rings.get(i);
                let least = ring.iter().map(|&j| limits[j as usize]).fold(f32::MAX, f32::min);
                let step = ring.iter().map(|&j| {
                    let [a, b] = [i, j as usize].map(|k| before[pattern.vertices[k] as usize]);
                    a.distance(b)
                });
                // Heights rise by at most half the way along the skin.
                limits[i].min(least + 0.5 * step.fold(f32::MAX, f32::min).min(1e3))
            })
            .collect_into_vec(averaged);
        std::mem::swap(limits, averaged);
    }
    heights.iter_mut().zip(&*limits).for_each(|(height, &limit)| *height = height.clamp(-limit, limit));

    if place.len() != before.len() {
        place.clear();
        place.resize(before.len(), u32::MAX);
        pattern.vertices.iter().enumerate().for_each(|(i, &v)| place[v as usize] = i as u32);
    }
    moved.clear();
    let is_moved = |v: u32| {
        let i = place[v as usize];
        i != u32::MAX && heights[i as usize] != 0.0
    };
    moved.extend((0..triangles.len() as u32).filter(|&t| triangles[t as usize].iter().any(|&v| is_moved(v))));
    after.clone_from(before);
    let mut taken_back = 0;
    for _ in 0..ROUNDS {
        for ((&v, &height), &normal) in pattern.vertices.iter().zip(&*heights).zip(&*normals) {
            after[v as usize] = Vec3::from(scene.positions[v as usize] + normal * height);
        }
        bvh.refit_among(moved, |t| Aabb::around(&triangles[t as usize].map(|v| after[v as usize])));
        let mut met: Vec<u32> = moved
            .par_iter()
            .with_min_len(PER_TASK)
            .flat_map_iter(|&t| meeting(triangles, before, after, bvh, t))
            .collect();
        if met.is_empty() {
            break;
        }
        met.sort_unstable();
        met.dedup();
        let mut flat: Vec<u32> =
            met.iter().flat_map(|&t| triangles[t as usize]).map(|v| place[v as usize]).collect();
        flat.retain(|&i| i != u32::MAX);
        flat.sort_unstable();
        flat.dedup();
        let rings: Vec<u32> = flat.iter().flat_map(|&i| pattern.rings.get(i as usize)).copied().collect();
        for &i in &rings {
            heights[i as usize] *= 0.5;
        }
        for &i in &flat {
            taken_back += usize::from(heights[i as usize] != 0.0);
            heights[i as usize] = 0.0;
        }
    }
    taken_back
}

/// From a vertex to skin that faces it, or to another piece; `reach` if that is farther.
fn distance(
    scene: &Scene,
    positions: &[Vec3],
    bvh: &Bvh,
    component: &[u32],
    v: u32,
    normal: Vec3,
    reach: f32,
) -> f32 {
    let p = positions[v as usize];
    let mut nearest = reach * reach;
    bvh.overlapping(&Aabb { low: p - reach, high: p + reach }, |t| {
        let triangle = scene.rest.triangles[t as usize];
        if triangle.contains(&v) {
            return;
        }
        let corners = triangle.map(|v| positions[v as usize]);
        let facing = (corners[1] - corners[0]).cross(corners[2] - corners[0]).dot(normal) < 0.0;
        if facing || component[triangle[0] as usize] != component[v as usize] {
            let apart = closest_on_triangle(p, corners).distance_squared(p);
            // Not a number is no distance.
            if apart < nearest {
                nearest = apart;
            }
        }
    });
    nearest.sqrt()
}

/// Triangles that meet a displaced one and did not before, and that one.
fn meeting(triangles: &[[u32; 3]], before: &[Vec3], after: &[Vec3], bvh: &Bvh, t: u32) -> Vec<u32> {
    let corners = |t: u32, at: &[Vec3]| triangles[t as usize].map(|v| at[v as usize]);
    let mut found = Vec::new();
    bvh.overlapping(&Aabb::around(&corners(t, after)), |other| {
        let [a, b] = [t, other].map(|t| triangles[t as usize]);
        if a.iter().any(|v| b.contains(v)) {
            return;
        }
        if triangles_meet(corners(t, after), corners(other, after))
            && !triangles_meet(corners(t, before), corners(other, before))
        {
            found.extend([t, other]);
        }
    });
    found
}

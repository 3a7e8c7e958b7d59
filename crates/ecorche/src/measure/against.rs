//! Against: how far a skin is from a reference, such as an elastic solution of the same clip.
//!
//! The reference is a cache with the same vertices in the same order. The *distance* of a vertex is that to the nearest point
//! of the reference surface that faces the same way, so that skin which slides along the reference is not blamed
//! and the other side of a fold is not taken for its own. Without such a point it is the distance to the same vertex of the
//! reference. The *slope* is the angle between the normal of the skin and that of the reference at this point. Means
//! and percentiles are by area at rest.

use super::Judge;
use crate::geom::bvh::Nearest;
use crate::geom::intersect::closest_with_weights;
use crate::geom::mesh::corner_normals;
use glam::Vec3;
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write;

/// A better answer for one frame.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Positions of the same vertices.
    pub positions: &'a [Vec3],
    /// The vertices for which it is an answer; `None` for all.
    pub vertices: Option<&'a [bool]>,
}

/// Distance of one frame to its reference.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Against {
    /// Mean distance, millimetres.
    pub mean: f64,
    /// 95th percentile of the distance, millimetres.
    pub p95: f64,
    /// Largest distance, millimetres.
    pub worst: f64,
    /// The vertex of `worst`, of the welded surface.
    pub worst_vertex: Option<u32>,
    /// Mean slope, degrees.
    pub slope: f64,
    /// 95th percentile of the slope, degrees.
    pub slope_p95: f64,
    /// The same by region, in the order of the parts that the judge was given.
    pub regions: Vec<RegionDistance>,
}

/// Distance of one region's skin to the reference; all 0 for a region without skin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RegionDistance {
    /// Mean distance, millimetres.
    pub mean: f64,
    /// 95th percentile of the distance, millimetres.
    pub p95: f64,
    /// Largest distance, millimetres.
    pub worst: f64,
    /// Mean slope, degrees.
    pub slope: f64,
    /// 95th percentile of the slope, degrees.
    pub slope_p95: f64,
}

/// A vertex beside its reference.
#[derive(Clone, Copy, Debug)]
struct Compared {
    vertex: u32,
    /// Metres.
    distance: f32,
    /// Degrees.
    slope: f32,
    /// Square metres, at rest.
    area: f32,
}

impl Judge {
    /// Compares positions with those of a reference, on the vertices for which it is an answer.
    pub(super) fn against(&self, positions: &[Vec3], target: Target) -> Against {
        let reference = target.positions;
        let triangles = &self.rest.triangles;
        let mut bvh = self.contact.bvh().clone();
        bvh.refit_triangles(reference, triangles);
        let [ours, theirs] = [positions, reference].map(|p| vertex_normals(p, triangles));
        let compare = |v: usize| {
            let group = self.group_of_vertex[v];
            let corners = |t: u32| triangles[t as usize].map(|v| reference[v as usize]);
            let alike = |t: u32, _: Vec3| {
                let [a, b, c] = corners(t);
                (b - a).cross(c - a).dot(ours[v]) > 0.0
                    && self.group_of_vertex[triangles[t as usize][0] as usize] == group
            };
            let nearest = bvh.nearest(positions[v], f32::INFINITY, reference, triangles, alike);
            let (distance, normal) = match nearest {
                Some(Nearest { triangle, point, distance }) => {
                    let corners = corners(triangle).map(|p| p.as_dvec3());
                    let weights = closest_with_weights(corners, point.as_dvec3()).1;
                    let normals = triangles[triangle as usize].map(|v| theirs[v as usize]);
                    let normal = normals.iter().zip(weights).map(|(&n, w)| n * w as f32).sum::<Vec3>();
                    (distance, normal.normalize_or(theirs[v]))
                }
                None => (positions[v].distance(reference[v]), theirs[v]),
            };
            let slope = ours[v].angle_between(normal).to_degrees();
            let slope = if slope.is_finite() { slope } else { 0.0 };
            Compared { vertex: v as u32, distance, slope, area: self.rest_area[v] }
        };
        let counts = |v: &usize| target.vertices.is_none_or(|list| list[*v]);
        let mut all: Vec<Compared> =
            (0..positions.len()).into_par_iter().with_min_len(256).filter(counts).map(compare).collect();
        let count = self.part_of_vertex.iter().max().map_or(0, |&part| part as usize + 1);
        let mut by_region: Vec<Vec<Compared>> = vec![Vec::new(); count];
        for c in &all {
            by_region[self.part_of_vertex[c.vertex as usize] as usize].push(*c);
        }
        let regions = by_region.iter_mut().map(|region| {
            let [mean, p95] = spread(region, |c| c.distance);
            let worst = region.iter().map(|c| c.distance).fold(0.0, f32::max);
            let [slope, slope_p95] = spread(region, |c| c.slope);
            RegionDistance {
                mean: 1e3 * mean,
                p95: 1e3 * p95,
                worst: 1e3 * f64::from(worst),
                slope,
                slope_p95,
            }
        });
        let regions = regions.collect();
        let worst = all.iter().copied().reduce(|a, b| if b.distance > a.distance { b } else { a });
        let [mean, p95] = spread(&mut all, |c| c.distance);
        let [slope, slope_p95] = spread(&mut all, |c| c.slope);
        Against {
            mean: 1e3 * mean,
            p95: 1e3 * p95,
            worst: worst.map_or(0.0, |c| 1e3 * f64::from(c.distance)),
            worst_vertex: worst.map(|c| c.vertex),
            slope,
            slope_p95,
            regions,
        }
    }
}

/// Mean and 95th percentile by area; 0 for none. Reorders the list.
fn spread(list: &mut [Compared], value: impl Fn(&Compared) -> f32) -> [f64; 2] {
    list.sort_by(|a, b| value(a).total_cmp(&value(b)).then(a.vertex.cmp(&b.vertex)));
    let area: f64 = list.iter().map(|c| f64::from(c.area)).sum();
    if area <= 0.0 {
        return [0.0; 2];
    }
    let mean = list.iter().map(|c| f64::from(value(c)) * f64::from(c.area)).sum::<f64>() / area;
    let mut seen = 0.0;
    let p95 = list.iter().find(|c| {
        seen += f64::from(c.area);
        seen >= 0.95 * area
    });
    [mean, p95.map_or(0.0, |c| f64::from(value(c)))]
}

/// Unit normals of the vertices; zero where the triangles have none.
fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; positions.len()];
    for t in triangles {
        for (&v, normal) in t.iter().zip(corner_normals(t.map(|v| positions[v as usize]))) {
            normals[v as usize] += normal;
        }
    }
    normals.into_iter().map(Vec3::normalize_or_zero).collect()
}

/// Distances to a reference, frame by frame, under the name of what was compared.
pub type Column<'a> = (&'a str, Vec<(usize, &'a Against)>);

/// Distance to the reference by frame: for each column mean, 95th percentile and largest distance in millimetres, and the mean slope
/// in degrees.
pub fn frame_table(columns: &[Column]) -> String {
    let count = columns.iter().map(|c| c.1.len()).max().unwrap_or(0);
    let rows = (0..count).map(|k| {
        let number = columns.iter().find_map(|c| c.1.get(k)).map_or(String::new(), |f| f.0.to_string());
        let cells = columns.iter().map(|c| c.1.get(k).map(|f| [f.1.mean, f.1.p95, f.1.worst, f.1.slope]));
        (number, cells.collect())
    });
    lay_out("frame", columns, rows.collect())
}

/// Distance to the reference by region, over a clip: a row per region with skin, for each column its mean over the frames, its
/// largest 95th percentile and distance in millimetres, and the mean slope in degrees. `names` are the regions' names, in
/// their order.
pub fn region_table(columns: &[Column], names: &[&str]) -> String {
    let cell = |r: usize, column: &Column| {
        let frames: Vec<RegionDistance> =
            column.1.iter().filter_map(|(_, f)| f.regions.get(r).copied()).collect();
        let mean = |value: fn(&RegionDistance) -> f64| {
            frames.iter().map(value).sum::<f64>() / frames.len().max(1) as f64
        };
        let most = |value: fn(&RegionDistance) -> f64| frames.iter().map(value).fold(0.0, f64::max);
        let found = [mean(|f| f.mean), most(|f| f.p95), most(|f| f.worst), mean(|f| f.slope)];
        (!frames.is_empty()).then_some(found)
    };
    let rows = names.iter().enumerate().map(|(r, name)| {
        let cells: Vec<Option<[f64; 4]>> = columns.iter().map(|column| cell(r, column)).collect();
        ((*name).to_owned(), cells)
    });
    // Of a region that the reference says nothing about, nothing is told.
    let told = rows.filter(|(_, cells)| cells.iter().flatten().any(|c| c[2] > 0.0));
    lay_out("region", columns, told.collect())
}

fn lay_out(first: &str, columns: &[Column], rows: Vec<(String, Vec<Option<[f64; 4]>>)>) -> String {
    let width = rows.iter().map(|r| r.0.chars().count()).max().unwrap_or(0).max(first.len());
    let mut text = format!("{first:width$}");
    // Writing to a string does not fail.
    for (name, _) in columns {
        let _ = write!(text, "  {:>26}", format!("{name}: mean p95 worst slope"));
    }
    text.push('\n');
    for (name, cells) in rows {
        let _ = write!(text, "{name:width$}");
        for cell in cells {
            let shown = cell.map_or("-".to_owned(), |[a, b, c, d]| format!("{a:.2} {b:.2} {c:.1} {d:.2}"));
            let _ = write!(text, "  {shown:>26}");
        }
        text.push('\n');
    }
    text
}

//! Against: how far a skin is from a reference, such as an elastic solution of the same clip.
//!
//! The reference is a cache with the same vertices in the same order. The *distance* of a vertex is that to the nearest point
//! of the reference surface that faces the same way, so that skin which slides along the reference is not blamed
//! and the other side of a fold is not taken for its own. Without such a point it is the distance to the same vertex of the
//! reference. The *slope* is the angle between the normal of the skin and that of the reference at this point. Means
//! and percentiles are by area at rest.

use super::{ClipFigures, Judge};
use crate::character::Character;
use crate::geom::bvh::Nearest;
use crate::geom::intersect::closest_with_weights;
use crate::geom::mesh::corner_normals;
use crate::output::pc2::Pc2;
use crate::output::{self, Shot, WriteError};
use crate::sampling::Plan;
use crate::skinning::Surface;
use glam::Vec3;
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use thiserror::Error;

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
    /// Compares positions with those of a reference.
    pub(super) fn against(&self, positions: &[Vec3], reference: &[Vec3]) -> Against {
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
        let mut all: Vec<Compared> =
            (0..positions.len()).into_par_iter().with_min_len(256).map(compare).collect();
        let count = self.part_of_vertex.iter().max().map_or(0, |&part| part as usize + 1);
        let mut by_region: Vec<Vec<Compared>> = vec![Vec::new(); count];
        for c in &all {
            by_region[self.part_of_vertex[c.vertex as usize] as usize].push(*c);
        }
        let regions = by_region.iter_mut().map(|region| {
            let [mean, p95] = spread(region, |c| c.distance);
            let worst = region.iter().map(|c| c.distance).fold(0.0, f32::max);
            let slope = spread(region, |c| c.slope)[0];
            RegionDistance { mean: 1e3 * mean, p95: 1e3 * p95, worst: 1e3 * f64::from(worst), slope }
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

/// Why a reference cannot be compared with.
#[derive(Debug, Error)]
pub enum AgainstError {
    /// The file is missing, damaged or no point cache.
    #[error(transparent)]
    Cache(#[from] WriteError),
    /// Not a PC2 cache.
    #[error("{}: a reference is a PC2 cache; give one whose name ends in .pc2", path.display())]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// The cache belongs to another character.
    #[error(
        "{}: holds {found} points, but mesh \"{mesh}\" has {vertices} vertices; make the reference from this character",
        path.display()
    )]
    Points {
        /// The file.
        path: PathBuf,
        /// Points it holds.
        found: usize,
        /// The mesh it was read for.
        mesh: String,
        /// Vertices of the mesh.
        vertices: usize,
    },
    /// Its frames are not the ones that are measured.
    #[error(
        "{}: holds {found} frames from frame {first}, but {wanted} frames from frame {start} of {clip} are measured; \
         measure the reference's clip, rate and range of frames, or make it again for these",
        path.display()
    )]
    Frames {
        /// The file.
        path: PathBuf,
        /// Its frames.
        found: usize,
        /// The number of its first.
        first: f32,
        /// Frames to be measured.
        wanted: usize,
        /// The first of them.
        start: usize,
        /// Their clip.
        clip: String,
    },
}

/// A reference surface for every frame of a plan.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Positions of the surface's vertices, by frame.
    frames: Vec<Vec<Vec3>>,
    first: usize,
}

impl Reference {
    /// Reads the PC2 cache at `path`, in the character's own units: a file per mesh named as a bake of the character names
    /// them. It must hold exactly the frames of `plan`.
    pub fn read(
        path: &Path,
        character: &Character,
        surface: &Surface,
        plan: &Plan,
    ) -> Result<Self, AgainstError> {
        if output::Format::of(path).ok() != Some(output::Format::Pc2) {
            return Err(AgainstError::Format { path: path.to_owned() });
        }
        let rest = &surface.mesh.positions;
        let mut frames = vec![rest.clone(); plan.len()];
        let paths = output::paths(path, &Shot::new(character, plan))?;
        for ((m, mesh), path) in character.meshes.iter().enumerate().zip(&paths) {
            if mesh.skin().is_none() {
                continue;
            }
            let cache = Pc2::read(path)?;
            let start = *plan.frames.start();
            if cache.samples.len() != plan.len() || cache.first_frame != start as f32 {
                return Err(AgainstError::Frames {
                    path: path.clone(),
                    found: cache.samples.len(),
                    first: cache.first_frame,
                    wanted: plan.len(),
                    start,
                    clip: plan.clip.map_or("the rest pose".to_owned(), |c| format!("clip \"{}\"", c.name)),
                });
            }
            for (sample, frame) in cache.samples.iter().zip(&mut frames) {
                if sample.len() != mesh.positions.len() {
                    return Err(AgainstError::Points {
                        path: path.clone(),
                        found: sample.len(),
                        mesh: mesh.name.clone(),
                        vertices: mesh.positions.len(),
                    });
                }
                let inside: Vec<Vec3> = sample.iter().map(|&p| character.world.to_internal(p)).collect();
                surface.gather(m, &inside, frame);
            }
        }
        Ok(Self { frames, first: *plan.frames.start() })
    }

    /// The positions of a frame; `None` for one outside the plan.
    pub fn frame(&self, number: usize) -> Option<&[Vec3]> {
        self.frames.get(number.checked_sub(self.first)?).map(Vec::as_slice)
    }
}

/// Distance to the reference by region, over a clip: a row per region with skin, for each method its mean over the frames and its
/// largest 95th percentile in millimetres, and the mean slope in degrees. `names` are the regions' names, in their order.
pub fn region_table(methods: &[(&str, &ClipFigures)], names: &[&str]) -> String {
    let mut text = String::new();
    let width = names.iter().map(|n| n.chars().count()).max().unwrap_or(0).max("region".len());
    // Writing to a string does not fail.
    let _ = write!(text, "{:width$}", "region");
    for (method, _) in methods {
        let _ = write!(text, "  {:>24}", format!("{method}: mean p95 slope"));
    }
    text.push('\n');
    for (r, name) in names.iter().enumerate() {
        let _ = write!(text, "{name:width$}");
        for (_, clip) in methods {
            let of_frame = |f: &super::FrameFigures| f.against.as_ref()?.regions.get(r).copied();
            let frames: Vec<RegionDistance> = clip.frames.iter().filter_map(of_frame).collect();
            let count = frames.len().max(1) as f64;
            let mean = frames.iter().map(|f| f.mean).sum::<f64>() / count;
            let slope = frames.iter().map(|f| f.slope).sum::<f64>() / count;
            let p95 = frames.iter().map(|f| f.p95).fold(0.0, f64::max);
            let _ = write!(text, "  {:>24}", format!("{mean:.2} {p95:.2} {slope:.2}"));
        }
        text.push('\n');
    }
    text
}

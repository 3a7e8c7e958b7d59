//! The second stage: the superficial fascia, a sheet around muscles and bones with the skin's triangles.
//!
//! At bind it lies straight below the skin, on what it meets first or at a share of the local thickness. In a pose skinning moves it
//! along the surface, and what lies below moves it in and out: muscles slide under it by construction.
//!
//! Based on: Fabio Turchet. Physics-based Modelling, Simulation, Placement and Learning for Musculo-Skeletal Animations.
//! 2018, chapter 4.
//! Differs in: the sheet is found along the skin's normals at a depth that is smoothed, which spans grooves, and made thinner where its prisms
//! would be turned over; it is not bound to points of muscles, which would drag it along.

use crate::geom::sdf::SurfaceDistance;
use crate::geom::{Adjacency, SelfContact, TriMesh};
use glam::DVec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Where the fascia lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Distance from muscles and bones at bind, metres at human size.
    pub above: f64,
    /// Least distance in a pose, metres at human size.
    pub least: f64,
    /// Depth where nothing lies below, over the thickness of the body there.
    pub share: f64,
    /// Thinnest fat, metres at human size.
    pub thinnest: f64,
    /// Times the depth is smoothed.
    pub smoothing: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { above: 1e-3, least: 5e-4, share: 0.3, thinnest: 2e-3, smoothing: 12 }
    }
}

/// How a moment's fascia came out.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Report {
    /// Vertices that had to be pushed out of what lies below.
    pub pushed: usize,
    /// Deepest vertex that is left inside muscles or bones, metres.
    pub deepest: f64,
    /// Pairs of its triangles that cross.
    pub pairs: usize,
    /// Farthest that it moved from where skinning has it, metres.
    pub farthest: f64,
    /// Seconds.
    pub seconds: f64,
}

/// What lies under the fascia: surfaces of muscles and bones.
#[derive(Debug)]
pub struct Under {
    solids: Vec<(SurfaceDistance, crate::geom::bvh::Aabb)>,
}

impl Under {
    /// Of closed surfaces.
    pub fn new(solids: &[TriMesh]) -> Self {
        let of = |mesh: &TriMesh| {
            let distance = SurfaceDistance::new(mesh).ok()?;
            Some((distance, crate::geom::bvh::Aabb::around(&mesh.positions)))
        };
        Self { solids: solids.par_iter().filter_map(of).collect() }
    }

    /// Distance to the nearest solid, negative inside of one; at most `most`.
    pub fn signed(&self, point: DVec3, most: f64) -> f64 {
        let at = point.as_vec3();
        let mut least = most;
        for (solid, bounds) in &self.solids {
            if f64::from(bounds.distance_squared(at)).sqrt() < least.max(0.0) + 1e-9 {
                least = least.min(solid.signed(point));
            }
        }
        least
    }
}

/// The fascia of a character.
#[derive(Debug)]
pub struct Fascia {
    /// Vertices at bind.
    pub rest: Vec<DVec3>,
    /// Its triangles, which are the skin's.
    pub triangles: Vec<[u32; 3]>,
    /// Depth under the skin, metres.
    pub depth: Vec<f64>,
    /// Distance from what lies below at bind.
    distance: Vec<f64>,
    /// How much of the motion below it follows: 1 on muscles, 0 far from them.
    follows: Vec<f64>,
    neighbours: Vec<Vec<u32>>,
    /// Prisms between it and the skin that are still turned over.
    pub tangled: usize,
    scale: f64,
    settings: Settings,
}

/// Distances from what lies below within which the fascia follows it fully, and beyond which not at all, metres at human size.
const FOLLOWS: [f64; 2] = [0.006, 0.02];
/// Farthest that the fascia follows, metres at human size.
const FARTHEST: f64 = 0.03;

impl Fascia {
    /// Under a part of a skin in bind space. `thickness`: how thick the body is under each vertex.
    pub fn new(
        skin: &TriMesh,
        normals: &[DVec3],
        thickness: &[f64],
        under: &Under,
        scale: f64,
        settings: &Settings,
    ) -> Self {
        let points: Vec<DVec3> = skin.positions.iter().map(|p| p.as_dvec3()).collect();
        let adjacency = Adjacency::new(skin);
        let neighbours: Vec<Vec<u32>> =
            (0..points.len()).map(|v| adjacency.vertex_ring.get(v).to_vec()).collect();
        let thinnest = settings.thinnest * scale;
        let most: Vec<f64> = thickness
            .iter()
            .map(|t| if t.is_finite() { (settings.share * t).max(thinnest) } else { 0.02 * scale })
            .collect();
        let mut depth: Vec<f64> = (0..points.len())
            .into_par_iter()
            .map(|v| {
                let mut along = 0.0;
                for _ in 0..64 {
                    let free = under.signed(points[v] - normals[v] * along, most[v]) - settings.above * scale;
                    if free < 1e-4 * scale || along >= most[v] {
                        break;
                    }
                    along += 0.9 * free;
                }
                along.clamp(thinnest, most[v])
            })
            .collect();
        for _ in 0..settings.smoothing {
            let smooth: Vec<f64> =
                (0..depth.len()).map(|v| 0.5 * (depth[v] + mean(&neighbours[v], &depth, depth[v]))).collect();
            // Never deeper than what was found: grooves are spanned, nothing is cut.
            depth.iter_mut().zip(smooth).for_each(|(d, s)| *d = d.min(s));
        }
        let at = |depth: &[f64]| -> Vec<DVec3> {
            points.iter().zip(normals).zip(depth).map(|((p, n), d)| *p - *n * *d).collect()
        };
        let mut tangled = 0;
        for round in 0..60 {
            let inner = at(&depth);
            let bad: Vec<usize> = (0..skin.triangles.len())
                .filter(|&t| !super::fat::is_sound(skin.triangles[t], &inner, &points))
                .collect();
            tangled = bad.len();
            if bad.is_empty() || round == 59 {
                break;
            }
            let mut thinner = vec![false; points.len()];
            bad.iter().flat_map(|&t| skin.triangles[t]).for_each(|v| thinner[v as usize] = true);
            for (d, _) in depth.iter_mut().zip(&thinner).filter(|(_, t)| **t) {
                // Below the thinnest, if nothing else helps: a prism must not be turned over.
                *d = (0.8 * *d).max(0.1 * thinnest);
            }
        }
        let rest = at(&depth);
        let far = FOLLOWS[1] * scale;
        let distance: Vec<f64> = rest.par_iter().map(|p| under.signed(*p, 2.0 * far)).collect();
        let follows = distance.iter().map(|d| {
            let t = ((far - d) / (far - FOLLOWS[0] * scale)).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        });
        Self {
            follows: follows.collect(),
            triangles: skin.triangles.clone(),
            rest,
            depth,
            distance,
            neighbours,
            tangled,
            scale,
            settings: *settings,
        }
    }

    /// Where it is in a pose: `skinned` is where skinning takes it, `under` what lies below, in the same space.
    pub fn pose(&self, skinned: &[DVec3], under: &Under) -> (Vec<DVec3>, Report) {
        let clock = std::time::Instant::now();
        let mut mesh = TriMesh {
            positions: skinned.iter().map(|p| p.as_vec3()).collect(),
            triangles: self.triangles.clone(),
        };
        let normals: Vec<DVec3> = mesh.normals().iter().map(|n| n.as_dvec3()).collect();
        let (most, far) = (FARTHEST * self.scale, 2.0 * FOLLOWS[1] * self.scale + FARTHEST * self.scale);
        let mut out: Vec<f64> = (0..skinned.len())
            .into_par_iter()
            .map(|v| {
                if self.follows[v] == 0.0 {
                    return 0.0;
                }
                let off = self.distance[v] - under.signed(skinned[v], far);
                self.follows[v] * off.clamp(-most, most)
            })
            .collect();
        // Nearest places jump from one muscle to the next; the sheet does not.
        for _ in 0..4 {
            out = (0..out.len()).map(|v| 0.5 * (out[v] + mean(&self.neighbours[v], &out, out[v]))).collect();
        }
        let mut points: Vec<DVec3> =
            skinned.iter().zip(&normals).zip(&out).map(|((p, n), d)| *p + *n * *d).collect();
        let least = self.settings.least * self.scale;
        let mut report = Report::default();
        for round in 0..4 {
            let inside: Vec<f64> =
                points.par_iter().map(|p| (least - under.signed(*p, 2.0 * least)).clamp(0.0, most)).collect();
            report.pushed = report.pushed.max(inside.iter().filter(|d| **d > 0.0).count());
            report.deepest = inside.iter().fold(0.0, |m, d| m.max(d - least));
            if report.deepest == 0.0 && round > 0 {
                break;
            }
            for (p, (n, d)) in points.iter_mut().zip(normals.iter().zip(&inside)) {
                *p += *n * *d;
            }
        }
        report.farthest = points.iter().zip(skinned).fold(0.0, |m, (a, b)| m.max(a.distance(*b)));
        mesh.positions = points.iter().map(|p| p.as_vec3()).collect();
        report.pairs = SelfContact::new(&mesh.positions, &mesh.triangles).find(&mesh.positions).pairs.len();
        report.seconds = clock.elapsed().as_secs_f64();
        (points, report)
    }
}

fn mean(of: &[u32], values: &[f64], alone: f64) -> f64 {
    if of.is_empty() { alone } else { of.iter().map(|&u| values[u as usize]).sum::<f64>() / of.len() as f64 }
}

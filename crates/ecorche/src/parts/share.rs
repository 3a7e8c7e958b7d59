//! What each part has of the skin and of the solid.

use super::FOLLOWS;
use super::gather::Body;
use super::solid::{Face, Solid};
use glam::Vec3;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A part's share of the solid.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    pub voxels: usize,
    pub inner_radius: f32,
}

/// What touches a part: the neighbour and the faces of the cut.
pub(super) type Cuts = Vec<(u32, Vec<Face>)>;

/// Voxels across a part below which it gets a finer solid.
const FINE: f32 = 5.0;
/// Most voxels in the box of a finer solid, and in all of them: a body of more than 200 thin parts gets coarser ones, so that one
/// of thousands does not take hours.
const DETAIL_VOXELS: f32 = 120_000.0;
const ALL_DETAIL_VOXELS: f32 = 200.0 * DETAIL_VOXELS;

impl Body<'_> {
    /// Vertices of each label.
    pub(super) fn vertices(&self) -> BTreeMap<u32, Vec<u32>> {
        let mut vertices: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (v, &label) in self.label_of_vertex.iter().enumerate() {
            if label != FOLLOWS {
                vertices.entry(label).or_default().push(v as u32);
            }
        }
        vertices
    }

    /// Seen triangles of each label: that of two corners, else of the lowest.
    pub(super) fn triangles(&self) -> BTreeMap<u32, Vec<u32>> {
        let mut triangles: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &t in &self.outside.outer {
            let [a, b, c] = self.outside.mesh.triangles[t as usize].map(|v| self.label_of_vertex[v as usize]);
            let label = if b == c { b } else { a };
            triangles.entry(label).or_default().push(t);
        }
        triangles
    }

    /// What each label has of the solid.
    pub(super) fn shares(&self) -> BTreeMap<u32, Share> {
        let mut shares: BTreeMap<u32, Share> = self.joints.keys().map(|&l| (l, Share::default())).collect();
        for (_, v, depth) in self.whole.voxels() {
            if let Some(share) = shares.get_mut(&self.label_of_vertex[v as usize]) {
                share.voxels += 1;
                share.inner_radius = share.inner_radius.max(depth);
            }
        }
        for (label, solid) in &self.details {
            let share = Share::default();
            let fine = solid.voxels().filter(|voxel| self.label_of_vertex[voxel.1 as usize] == *label).fold(
                share,
                |s, (_, _, depth)| Share { voxels: s.voxels + 1, inner_radius: s.inner_radius.max(depth) },
            );
            if let Some(share) = shares.get_mut(label) {
                *share = fine;
            }
        }
        shares
    }

    /// Makes finer solids for thin parts that have none.
    pub(super) fn add_details(&mut self) {
        let shares = self.shares();
        let vertices = self.vertices();
        let thin: Vec<(u32, Share)> = shares
            .into_iter()
            .filter(|(label, share)| {
                share.inner_radius < FINE * self.whole.cell && !self.details.contains_key(label)
            })
            .collect();
        // Joints, not the parts there still are: each may be merged, and looked at again.
        let joints: usize = self.joints.values().map(Vec::len).sum();
        let voxels = DETAIL_VOXELS.min(ALL_DETAIL_VOXELS / joints.max(1) as f32);
        let made: Vec<(u32, Solid)> = thin
            .into_par_iter()
            .filter_map(|(label, share)| {
                let seen = vertices.get(&label)?.iter().filter(|&&v| !self.outside.hidden[v as usize]);
                let points: Vec<Vec3> = seen.map(|&v| self.outside.mesh.positions[v as usize]).collect();
                if points.is_empty() {
                    return None;
                }
                let (low, high) = crate::geom::mesh::bounds(&points);
                let margin = 2.0 * self.whole.cell + share.inner_radius;
                let size = high - low + 2.0 * margin;
                let wanted =
                    if share.voxels > 8 { share.inner_radius / FINE } else { self.whole.cell / FINE };
                let cell = wanted.max((size.x * size.y * size.z / voxels).cbrt());
                let solid = Solid::detail(&self.outside, &self.whole, low - margin, high + margin, cell);
                Some((label, solid))
            })
            .collect();
        self.details.extend(made);
    }

    /// The cuts of every part: from its finer solid where it has one.
    pub(super) fn cuts(&self) -> BTreeMap<u32, Cuts> {
        let mut cuts: BTreeMap<(u32, u32), Vec<Face>> = BTreeMap::new();
        self.whole.faces(&self.label_of_vertex, |from, to, face| {
            if !self.details.contains_key(&from) {
                cuts.entry((from, to)).or_default().push(face);
            }
        });
        for (&label, solid) in &self.details {
            solid.faces(&self.label_of_vertex, |from, to, face| {
                if from == label {
                    cuts.entry((from, to)).or_default().push(face);
                }
            });
        }
        let mut by_part: BTreeMap<u32, Cuts> = BTreeMap::new();
        for ((from, to), faces) in cuts {
            by_part.entry(from).or_default().push((to, faces));
        }
        by_part
    }
}

//! From a surface to its parts: labels, merges, cuts, fits.

use super::check;
use super::closure::{Closure, LEAST_CUT, Spacing};
use super::fit::{self, Fitted, Skin, Variation};
use super::outside::Outside;
use super::report::{Attempt, Merged, PartReport, PartsReport, Reason};
use super::skeleton::Bones;
use super::solid::{EMPTY, Face, Solid};
use super::{FOLLOWS, Part, PartSettings, Parts};
use crate::character::Character;
use crate::skinning::Surface;
use glam::Vec3;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Rounds of fitting, merging what is not sound, and fitting its neighbours anew.
const ROUNDS: usize = 4;
/// Faults above this many times the largest allowed make a part join its neighbour; below, a slightly leaking
/// field of its own is better than none.
const HOPELESS: f32 = 10.0;

pub(super) fn gather(surface: &Surface, character: &Character, settings: &PartSettings) -> Parts {
    let partition = &surface.partition;
    let joint_of_vertex: Vec<u32> =
        partition.part_of_vertex.iter().map(|&p| partition.parts[p as usize].joint).collect();
    let bones = Bones::new(character, surface, &joint_of_vertex);
    let (outside, following) = Outside::new(&surface.mesh, &joint_of_vertex, &bones);
    let whole = Solid::whole(&outside);
    let label_of_vertex = joint_of_vertex
        .iter()
        .zip(&outside.follows)
        .map(|(&joint, &follows)| if follows { FOLLOWS } else { joint })
        .collect();
    let mut body = Body {
        bones,
        outside,
        whole,
        settings,
        label_of_vertex,
        joints: BTreeMap::new(),
        merged: Vec::new(),
        details: BTreeMap::new(),
    };
    for &label in &body.label_of_vertex {
        if label != FOLLOWS {
            body.joints.entry(label).or_insert_with(|| vec![label]);
        }
    }
    body.merge_what_is_no_limb();
    let fits = body.fit();
    body.into_parts(fits, character, |report| {
        report.following = following;
        report.islands =
            [partition.joined.len(), partition.joined.iter().map(|island| island.vertices).sum()];
    })
}

/// The work in progress. A label is the joint that moves a part.
struct Body<'a> {
    bones: Bones,
    outside: Outside,
    whole: Solid,
    settings: &'a PartSettings,
    label_of_vertex: Vec<u32>,
    /// Joints of each label, its own first.
    joints: BTreeMap<u32, Vec<u32>>,
    merged: Vec<(u32, Option<u32>, usize, Reason)>,
    /// Finer solids of parts only a few voxels thick.
    details: BTreeMap<u32, Solid>,
}

/// A part's share of the solid.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    voxels: usize,
    inner_radius: f32,
}

/// What touches a part: the neighbour and the faces of the cut.
type Cuts = Vec<(u32, Vec<Face>)>;

/// A part's fit with its figures.
struct Fit {
    fitted: Fitted,
    report: PartReport,
    inner_radius: f32,
    cuts: Vec<(u32, f32)>,
}

/// Voxels across a part below which it gets a finer solid.
const FINE: f32 = 5.0;
/// Most voxels in the box of a finer solid.
const DETAIL_VOXELS: f32 = 120_000.0;

impl Body<'_> {
    fn vertices(&self) -> BTreeMap<u32, Vec<u32>> {
        let mut vertices: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (v, &label) in self.label_of_vertex.iter().enumerate() {
            if label != FOLLOWS {
                vertices.entry(label).or_default().push(v as u32);
            }
        }
        vertices
    }

    /// Seen triangles of each label: that of two corners, else of the lowest.
    fn triangles(&self) -> BTreeMap<u32, Vec<u32>> {
        let mut triangles: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &t in &self.outside.outer {
            let [a, b, c] = self.outside.mesh.triangles[t as usize].map(|v| self.label_of_vertex[v as usize]);
            let label = if b == c { b } else { a };
            triangles.entry(label).or_default().push(t);
        }
        triangles
    }

    fn shares(&self) -> BTreeMap<u32, Share> {
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
    fn add_details(&mut self) {
        let shares = self.shares();
        let vertices = self.vertices();
        let thin: Vec<(u32, Share)> = shares
            .into_iter()
            .filter(|(label, share)| {
                share.inner_radius < FINE * self.whole.cell && !self.details.contains_key(label)
            })
            .collect();
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
                let cell = wanted.max((size.x * size.y * size.z / DETAIL_VOXELS).cbrt());
                let solid = Solid::detail(&self.outside, &self.whole, low - margin, high + margin, cell);
                Some((label, solid))
            })
            .collect();
        self.details.extend(made);
    }

    /// Edges between labels, both ways.
    fn borders(&self) -> BTreeMap<u32, BTreeMap<u32, usize>> {
        let mut borders: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
        for edge in &self.outside.adjacency.edges {
            let [a, b] = edge.vertices.map(|v| self.label_of_vertex[v as usize]);
            if a != b && a != FOLLOWS && b != FOLLOWS {
                *borders.entry(a).or_default().entry(b).or_default() += 1;
                *borders.entry(b).or_default().entry(a).or_default() += 1;
            }
        }
        borders
    }

    /// The part a label's skin should join: the one with the longest common border, else that of the nearest
    /// ancestor, else that of the nearest vertex.
    fn neighbour(&self, label: u32, borders: &BTreeMap<u32, BTreeMap<u32, usize>>) -> Option<u32> {
        let longest = borders
            .get(&label)
            .and_then(|shared| {
                shared.iter().max_by_key(|&(&other, &edges)| (edges, std::cmp::Reverse(other)))
            })
            .map(|(&other, _)| other);
        longest
            .or_else(|| {
                self.bones.ancestors(label).find_map(|a| {
                    self.joints
                        .iter()
                        .find(|(l, joints)| **l != label && joints.contains(&a))
                        .map(|(&l, _)| l)
                })
            })
            .or_else(|| {
                let at = self.bones.position[label as usize];
                let positions = &self.outside.mesh.positions;
                let others = self.label_of_vertex.iter().zip(positions);
                others
                    .filter(|(l, _)| **l != label && **l != FOLLOWS)
                    .min_by(|a, b| a.1.distance_squared(at).total_cmp(&b.1.distance_squared(at)))
                    .map(|(&l, _)| l)
            })
    }

    fn merge(&mut self, label: u32, into: Option<u32>, reason: Reason) {
        let mut vertices = 0;
        for slot in self.label_of_vertex.iter_mut().filter(|l| **l == label) {
            *slot = into.unwrap_or(FOLLOWS);
            vertices += 1;
        }
        let joints = self.joints.remove(&label).unwrap_or_default();
        self.details.remove(&label);
        if let Some(into) = into {
            self.joints.entry(into).or_default().extend(joints);
            self.details.remove(&into);
        }
        self.merged.push((label, into, vertices, reason));
    }

    /// Parts that bound no solid or are patches of their neighbour join it, one at a time, smallest first.
    fn merge_what_is_no_limb(&mut self) {
        loop {
            self.add_details();
            let shares = self.shares();
            let triangles = self.triangles();
            let borders = self.borders();
            let area = |label: u32| -> f32 {
                triangles.get(&label).map_or(0.0, |list| {
                    list.iter()
                        .map(|&t| {
                            let [a, b, c] = self.outside.mesh.corners(t as usize);
                            0.5 * (b - a).cross(c - a).length()
                        })
                        .sum()
                })
            };
            let mut found: Vec<(f32, u32, Option<u32>, Reason)> = Vec::new();
            for (&label, share) in &shares {
                let into = self.neighbour(label, &borders);
                let area = area(label);
                if share.voxels < 4 || area <= 0.0 {
                    found.push((area, label, into, Reason::NoSolid));
                } else if let Some(into) = into
                    && borders.get(&label).is_some_and(|b| b.contains_key(&into))
                {
                    let thick = shares.get(&into).map_or(0.0, |s| s.inner_radius);
                    if area < self.settings.smallest_patch * thick * thick {
                        found.push((area, label, Some(into), Reason::Small));
                    }
                }
            }
            found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            // What a merge touched is looked at again in the next round.
            let mut touched: Vec<u32> = Vec::new();
            for (_, label, into, reason) in found {
                if touched.contains(&label) || into.is_some_and(|i| !self.joints.contains_key(&i)) {
                    continue;
                }
                touched.push(label);
                touched.extend(into);
                self.merge(label, into, reason);
            }
            if touched.is_empty() {
                return;
            }
        }
    }

    /// Fits every part; those beyond help join a neighbour and the fits around them are made anew.
    fn fit(&mut self) -> BTreeMap<u32, Fit> {
        let mut fits: BTreeMap<u32, Fit> = BTreeMap::new();
        for round in 0..ROUNDS {
            self.add_details();
            let shares = self.shares();
            let cuts = self.cuts();
            let (triangles, vertices) = (self.triangles(), self.vertices());
            let missing: Vec<u32> = self.joints.keys().copied().filter(|l| !fits.contains_key(l)).collect();
            let made: Vec<(u32, Option<Fit>)> = missing
                .into_par_iter()
                .map(|label| {
                    let empty = Vec::new();
                    let fit = self.fit_part(
                        label,
                        shares.get(&label).copied().unwrap_or_default(),
                        cuts.get(&label).unwrap_or(&empty),
                        triangles.get(&label).map_or(&[], Vec::as_slice),
                        vertices.get(&label).map_or(&[], Vec::as_slice),
                    );
                    (label, fit)
                })
                .collect();
            let borders = self.borders();
            let mut lost: Vec<(u32, Reason)> = Vec::new();
            for (label, fit) in made {
                match fit {
                    Some(fit) => {
                        if check::fault(&fit.report) > HOPELESS && round + 1 < ROUNDS && self.joints.len() > 1
                        {
                            lost.push((label, Reason::Leaks));
                        } else {
                            fits.insert(label, fit);
                        }
                    }
                    None => lost.push((label, Reason::NoFit)),
                }
            }
            if lost.is_empty() {
                return fits;
            }
            let last = round + 1 == ROUNDS;
            let mut touched: Vec<u32> = Vec::new();
            for (label, reason) in lost {
                let into =
                    self.neighbour(label, &borders).filter(|into| !last && self.joints.contains_key(into));
                if touched.contains(&label) {
                    continue;
                }
                for (to, _) in cuts.get(&label).into_iter().flatten() {
                    fits.remove(to);
                }
                touched.extend(into);
                if let Some(into) = into {
                    fits.remove(&into);
                }
                self.merge(label, into, reason);
            }
        }
        fits
    }

    /// The cuts of every part: from its finer solid where it has one.
    fn cuts(&self) -> BTreeMap<u32, Cuts> {
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

    fn fit_part(
        &self,
        label: u32,
        share: Share,
        cuts: &Cuts,
        triangles: &[u32],
        vertices: &[u32],
    ) -> Option<Fit> {
        let inner = share.inner_radius;
        if inner <= 0.0 || triangles.is_empty() {
            return None;
        }
        let solid = self.details.get(&label).unwrap_or(&self.whole);
        let core: Vec<(Vec3, f32)> = solid
            .voxels()
            .filter(|voxel| self.label_of_vertex[voxel.1 as usize] == label)
            .map(|(point, _, depth)| (point, depth))
            .collect();
        let segments = self.bones.segments(&self.joints[&label]);
        let skin = Skin::new(&self.outside, triangles, segments, inner);
        let closures = |spacing: Spacing| -> Vec<Closure> {
            fit::closures(cuts, inner, spacing, |to| self.pivot(label, to))
        };
        let mut variation = Variation::usual(self.settings);
        let mut caps = closures(variation.spacing);
        let mut best: Option<(Fitted, PartReport)> = None;
        let mut tried = Vec::new();
        for attempt in [
            None,
            Some(Attempt::NoThinFeatures),
            Some(Attempt::MoreSamples),
            Some(Attempt::SmallerRadius),
            Some(Attempt::DenserClosures),
        ] {
            match attempt {
                None | Some(Attempt::Clamped) => {}
                Some(Attempt::NoThinFeatures) => variation.thin_features = false,
                Some(Attempt::MoreSamples) => variation.samples = 2,
                Some(Attempt::SmallerRadius) => variation.radius = 0.6 * self.settings.largest_radius,
                Some(Attempt::DenserClosures) => {
                    variation.spacing = Spacing::DENSE;
                    caps = closures(variation.spacing);
                }
            }
            tried.extend(attempt);
            let Ok(fitted) = fit::fit(&self.outside, &skin, &caps, variation, self.settings) else {
                continue;
            };
            let mut report = PartReport { tried: tried.clone(), ..PartReport::default() };
            check::soundness(&fitted, &self.outside, [solid, &self.whole], &core, inner, &mut report);
            if best.as_ref().is_none_or(|(_, known)| check::fault(&report) < check::fault(known)) {
                best = Some((fitted, report));
            }
            if best.as_ref().is_some_and(|(_, known)| check::fault(known) <= 1.0) {
                break;
            }
        }
        let (mut fitted, mut report) = best?;
        if check::fault(&report) > 1.0 {
            let own = |vertex: u32| self.label_of_vertex[vertex as usize] == label;
            let tried = [report.tried.as_slice(), &[Attempt::Clamped]].concat();
            fitted.clamp(&self.outside, [solid, &self.whole], &own, inner, self.settings);
            report = PartReport { tried, ..PartReport::default() };
            check::soundness(&fitted, &self.outside, [solid, &self.whole], &core, inner, &mut report);
        }
        check::agreement(&fitted, &self.outside, vertices, inner, &mut report);
        report.samples = fitted.samples.len();
        report.closures = fitted.closures.len();
        report.voxels = share.voxels;
        report.inner_radius = inner;
        report.radius = fitted.radius;
        let cuts = cuts
            .iter()
            .filter(|(to, _)| *to != EMPTY)
            .map(|(to, faces)| (*to, faces.iter().fold(0.0f32, |d, f| d.max(f.depth))))
            .collect();
        Some(Fit { fitted, report, inner_radius: inner, cuts })
    }

    /// The part of the nearest ancestor of a label's joint.
    fn parent(&self, label: u32) -> Option<u32> {
        let own = &self.joints[&label];
        self.bones
            .ancestors(label)
            .filter(|a| !own.contains(a))
            .find_map(|a| self.joints.iter().find(|(_, joints)| joints.contains(&a)).map(|(&l, _)| l))
    }

    /// The joint between two parts, if they are parent and only child, and its distance to the skin.
    fn pivot(&self, label: u32, to: u32) -> Option<(Vec3, f32)> {
        if !self.settings.pivots || to == EMPTY {
            return None;
        }
        let (parent, child) = if self.parent(to) == Some(label) {
            (label, to)
        } else if self.parent(label) == Some(to) {
            (to, label)
        } else {
            return None;
        };
        let children = self.joints.keys().filter(|&&l| self.parent(l) == Some(parent)).count();
        let pivot = self.bones.position[child as usize];
        if children > 1 || !self.whole.contains(pivot) {
            return None;
        }
        self.outside.nearest(pivot, f32::INFINITY).map(|foot| (pivot, foot.distance))
    }

    fn into_parts(
        self,
        fits: BTreeMap<u32, Fit>,
        character: &Character,
        complete: impl FnOnce(&mut PartsReport),
    ) -> Parts {
        let labels: Vec<u32> = fits.keys().copied().collect();
        let index = |label: u32| labels.binary_search(&label).ok().map(|i| i as u32);
        let name = |joint: u32| character.skeleton.joints[joint as usize].name.clone();
        let mut touching = Vec::new();
        let mut report = PartsReport {
            voxels: self.whole.voxels().count(),
            voxel_size: self.whole.cell,
            ..PartsReport::default()
        };
        for (&label, fit) in &fits {
            for &(to, depth) in &fit.cuts {
                let (Some(a), Some(b), Some(other)) = (index(label), index(to), fits.get(&to)) else {
                    continue;
                };
                if depth >= LEAST_CUT * fit.inner_radius.min(other.inner_radius) {
                    touching.push([a.min(b), a.max(b)]);
                }
            }
        }
        touching.sort_unstable();
        touching.dedup();
        let mut parts = Vec::new();
        let parents: Vec<Option<u32>> = labels.iter().map(|&l| self.parent(l).and_then(index)).collect();
        for ((label, fit), parent) in fits.into_iter().zip(parents) {
            let joints = self.joints[&label].clone();
            report.parts.push(PartReport { joint: name(label), ..fit.report });
            parts.push(Part {
                joint: label,
                parent,
                bone: self.bones.segments(&joints),
                joints,
                samples: fit.fitted.samples,
                closures: fit.fitted.closures,
                radius: fit.fitted.radius,
                inner_radius: fit.inner_radius,
                hrbf: fit.fitted.hrbf,
                field: fit.fitted.field,
            });
        }
        let part_of_vertex = self.label_of_vertex.iter().map(|&l| index(l).unwrap_or(FOLLOWS)).collect();
        report.merged = self
            .merged
            .iter()
            .map(|&(joint, into, vertices, reason)| Merged {
                joint: name(joint),
                into: into.map(name),
                vertices,
                reason,
            })
            .collect();
        let mut holds = vec![false; character.skeleton.len()];
        self.joints.values().flatten().for_each(|&j| holds[j as usize] = true);
        self.merged.iter().for_each(|m| holds[m.0 as usize] = true);
        report.without_skin = (0..holds.len() as u32)
            .filter(|&j| character.skeleton.joints[j as usize].in_skin && !holds[j as usize])
            .map(name)
            .collect();
        complete(&mut report);
        Parts { parts, part_of_vertex, touching, report }
    }
}

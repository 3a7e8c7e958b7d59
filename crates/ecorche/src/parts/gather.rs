//! From a surface to its parts: labels, merges, cuts, fits.

use super::check;
use super::closure::{Closure, LEAST_CUT, SAME, Spacing};
use super::fit::{self, Fitted, Skin, Variation};
use super::outside::Outside;
use super::report::{Attempt, Merged, PartReport, PartsReport, Reason};
use super::share::{Cuts, Share};
use super::solid::{EMPTY, Solid};
use super::symmetry::Symmetry;
use super::{FOLLOWS, Part, PartSettings, Parts};
use crate::character::Character;
use crate::pieces::Pieces;
use crate::pieces::skeleton::Bones;
use crate::skinning::Surface;
use crate::watch::Watch;
use glam::Vec3;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rounds of fitting, merging what is not sound, and fitting its neighbours again.
const ROUNDS: usize = 4;
/// Faults above this many times the largest allowed make a part join its neighbour; below, a slightly leaking
/// field of its own is better than none.
const HOPELESS: f32 = 10.0;

/// `watch`: told of every part; where it stops the work, parts are missing.
pub(super) fn gather(
    surface: &Surface,
    character: &Character,
    settings: &PartSettings,
    watch: &Watch,
) -> Parts {
    watch.begin("cutting the skin into parts", 0);
    let pieces = Pieces::find(surface, character, &settings.pieces);
    let regions = &surface.regions;
    let mut joint_of_vertex: Vec<u32> =
        regions.region_of_vertex.iter().map(|&r| regions.regions[r as usize].joint).collect();
    let bones = Bones::new(character, surface, &joint_of_vertex);
    let (outside, following) = Outside::new(&surface.mesh, &pieces, &joint_of_vertex, &bones);
    let symmetry = Symmetry::find(&surface.mesh, &bones, &mut joint_of_vertex);
    let whole = Solid::whole(&outside, symmetry.as_ref().map(|s| s.mirror));
    let label_of_vertex = joint_of_vertex
        .iter()
        .zip(&outside.follows)
        .map(|(&joint, &follows)| if follows { FOLLOWS } else { joint })
        .collect();
    let mut body = Body {
        bones,
        outside,
        whole,
        symmetry,
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
    let fits = body.fit(watch);
    body.into_parts(fits, character, pieces, |report| {
        report.following = following;
        report.islands = [regions.joined.len(), regions.joined.iter().map(|island| island.vertices).sum()];
    })
}

/// The work in progress. A label is the joint that moves a part.
pub(super) struct Body<'a> {
    pub bones: Bones,
    pub outside: Outside,
    pub whole: Solid,
    /// Of a body that is its own mirror image.
    pub symmetry: Option<Symmetry>,
    pub settings: &'a PartSettings,
    pub label_of_vertex: Vec<u32>,
    /// Joints of each label, its own first.
    pub joints: BTreeMap<u32, Vec<u32>>,
    pub merged: Vec<(u32, Option<u32>, usize, Reason)>,
    /// Finer solids of parts only a few voxels thick.
    pub details: BTreeMap<u32, Solid>,
}

/// The label above each label that has one; without loops.
#[derive(Debug, Default)]
struct Parents(BTreeMap<u32, u32>);

impl Parents {
    fn of(&self, label: u32) -> Option<u32> {
        self.0.get(&label).copied()
    }

    /// A label and those above it, in order.
    fn path(&self, label: u32) -> impl Iterator<Item = u32> + '_ {
        // No path visits a label twice, so none is longer than the list.
        std::iter::successors(Some(label), |&label| self.of(label)).take(self.0.len() + 1)
    }

    fn hangs_on(&self, label: u32, above: u32) -> bool {
        self.path(label).any(|l| l == above)
    }
}

/// A part's fit with its figures.
struct Fit {
    fitted: Fitted,
    report: PartReport,
    inner_radius: f32,
    cuts: Vec<(u32, f32)>,
}

impl Fit {
    fn mirrored(&self, symmetry: &Symmetry) -> Option<Self> {
        let there = |&(to, depth): &(u32, f32)| (symmetry.twin(to), depth);
        Some(Self {
            fitted: self.fitted.mirrored(symmetry.mirror)?,
            report: self.report.clone(),
            inner_radius: self.inner_radius,
            cuts: self.cuts.iter().map(there).collect(),
        })
    }
}

impl Body<'_> {
    /// Fits every part. Parts without a sound field join a neighbour, and the fits around them are made again.
    fn fit(&mut self, watch: &Watch) -> BTreeMap<u32, Fit> {
        let mut fits: BTreeMap<u32, Fit> = BTreeMap::new();
        for round in 0..ROUNDS {
            if let Some(symmetry) = &self.symmetry {
                let lone = |label: &u32| !fits.contains_key(&symmetry.twin(*label));
                let lone: Vec<u32> = fits.keys().copied().filter(lone).collect();
                lone.iter().for_each(|label| drop(fits.remove(label)));
            }
            self.add_details();
            let shares = self.shares();
            let cuts = self.cuts();
            let parents = self.parents();
            let (triangles, vertices) = (self.triangles(), self.vertices());
            let missing = self.joints.keys().copied().filter(|l| !fits.contains_key(l) && !self.is_image(*l));
            let missing: Vec<u32> = missing.collect();
            watch.begin(if round == 0 { "fitting parts" } else { "fitting merged parts" }, missing.len());
            let made: Vec<(u32, Option<Fit>)> = missing
                .into_par_iter()
                .map(|label| {
                    if watch.is_stopped() {
                        return (label, None);
                    }
                    let empty = Vec::new();
                    let fit = self.fit_part(
                        &parents,
                        label,
                        shares.get(&label).copied().unwrap_or_default(),
                        cuts.get(&label).unwrap_or(&empty),
                        triangles.get(&label).map_or(&[], Vec::as_slice),
                        vertices.get(&label).map_or(&[], Vec::as_slice),
                    );
                    watch.step();
                    (label, fit)
                })
                .collect();
            if watch.is_stopped() {
                return fits;
            }
            let made = self.with_images(made);
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

    fn fit_part(
        &self,
        parents: &Parents,
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
        let mirror = self.symmetry.as_ref().filter(|s| s.is_middle(label)).map(|s| s.mirror);
        let skin = Skin::new(&self.outside, triangles, segments, inner, mirror);
        let middle = self.symmetry.as_ref().filter(|s| s.is_middle(label));
        let closures = |spacing: Spacing| -> Vec<Closure> {
            let found = fit::closures(
                cuts,
                inner,
                spacing,
                |to| self.pivot(parents, label, to),
                |to| self.reach(parents, label, to),
            );
            middle.map_or(found.clone(), |symmetry| symmetry.even_closures(&found, SAME))
        };
        let mut variation = Variation::usual(self.settings);
        let mut caps = closures(variation.spacing);
        let mut best: Option<(Fitted, PartReport)> = None;
        let (mut tried, mut last) = (Vec::new(), fit::LastSolve::default());
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
            let Ok(fitted) = fit::fit(&self.outside, &skin, &caps, variation, &mut last, self.settings)
            else {
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
            fitted.clamp(&self.outside, [solid, &self.whole], &own, &skin, self.settings);
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

    /// Whether a label's part is the mirror image of one that is fitted.
    fn is_image(&self, label: u32) -> bool {
        let twin = self.symmetry.as_ref().map_or(label, |s| s.twin(label));
        twin < label && self.joints.contains_key(&twin)
    }

    /// Fits and their mirror images, in the order of the labels.
    fn with_images(&self, made: Vec<(u32, Option<Fit>)>) -> Vec<(u32, Option<Fit>)> {
        let Some(symmetry) = &self.symmetry else { return made };
        let image = |label: u32, fit: &Option<Fit>| {
            let twin = symmetry.twin(label);
            let image = || fit.as_ref()?.mirrored(symmetry);
            (twin != label && self.is_image(twin)).then(|| (twin, image()))
        };
        let images: Vec<_> = made.iter().filter_map(|(label, fit)| image(*label, fit)).collect();
        let mut all: Vec<_> = made.into_iter().chain(images).collect();
        all.sort_by_key(|(label, _)| *label);
        all
    }

    /// Of each label: the part of the nearest ancestor of its joint. Merged parts may hold joints above and below each
    /// other; an ancestor whose part already hangs on the label is passed over, so that no part is its own ancestor.
    fn parents(&self) -> Parents {
        let joints = self.joints.iter();
        let label_of_joint: BTreeMap<u32, u32> =
            joints.flat_map(|(&label, joints)| joints.iter().map(move |&joint| (joint, label))).collect();
        let mut parents = Parents::default();
        for &label in self.joints.keys() {
            let above = self.bones.ancestors(label).filter_map(|joint| label_of_joint.get(&joint).copied());
            let parent = above.filter(|&above| above != label).find(|&above| !parents.hangs_on(above, label));
            parents.0.extend(parent.map(|parent| (label, parent)));
        }
        parents
    }

    /// The joint between two parts, if they are parent and only child, and its distance to the skin.
    fn pivot(&self, parents: &Parents, label: u32, to: u32) -> Option<(Vec3, f32)> {
        if !self.settings.pivots || to == EMPTY {
            return None;
        }
        let (parent, child) = if parents.of(to) == Some(label) {
            (label, to)
        } else if parents.of(label) == Some(to) {
            (to, label)
        } else {
            return None;
        };
        let children = self.joints.keys().filter(|&&l| parents.of(l) == Some(parent)).count();
        let pivot = self.bones.position[child as usize];
        if children > 1 || !self.whole.contains(pivot) {
            return None;
        }
        self.outside.nearest(pivot, f32::INFINITY).map(|foot| (pivot, foot.distance))
    }

    /// Where a part turns against a neighbour, and how far from there its closures may lie: at the joint of the
    /// branch the neighbour is on, or else at its own.
    fn reach(&self, parents: &Parents, label: u32, to: u32) -> Option<(Vec3, f32)> {
        if to == EMPTY {
            return None;
        }
        let branch = parents.path(to).find(|&branch| parents.of(branch) == Some(label));
        let hinge = branch.unwrap_or(label);
        let at = self.bones.position[hinge as usize];
        if !self.whole.contains(at) {
            return None;
        }
        self.outside.nearest(at, f32::INFINITY).map(|foot| (at, self.settings.swing * foot.distance))
    }

    fn into_parts(
        self,
        fits: BTreeMap<u32, Fit>,
        character: &Character,
        pieces: Pieces,
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
                    let twin = |l: u32| self.symmetry.as_ref().and_then(|s| index(s.twin(l)));
                    if let (Some(a), Some(b)) = (twin(label), twin(to)) {
                        touching.push([a.min(b), a.max(b)]);
                    }
                }
            }
        }
        touching.sort_unstable();
        touching.dedup();
        let mut parts = Vec::new();
        let parents = self.parents();
        let parents: Vec<Option<u32>> = labels.iter().map(|&l| parents.of(l).and_then(index)).collect();
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
        Parts { parts, part_of_vertex, touching, report, pieces: Arc::new(pieces) }
    }
}

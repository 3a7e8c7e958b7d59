//! Joints whose skin is no part of its own give it to a neighbour.

use super::FOLLOWS;
use super::gather::Body;
use super::report::Reason;
use std::collections::BTreeMap;

impl Body<'_> {
    /// Edges between labels, both ways.
    pub(super) fn borders(&self) -> BTreeMap<u32, BTreeMap<u32, usize>> {
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
    ///
    /// On a symmetric body the mirror image of a label joins the mirror image of that part, and what is in the middle
    /// stays there.
    pub(super) fn neighbour(&self, label: u32, borders: &BTreeMap<u32, BTreeMap<u32, usize>>) -> Option<u32> {
        let Some(symmetry) = &self.symmetry else { return self.nearest_part(label, borders, |_| true) };
        let of_lower =
            |label: u32| {
                let twin = symmetry.twin(label);
                self.nearest_part(label, borders, |l| {
                    if twin == label { symmetry.is_middle(l) } else { l != twin }
                })
            };
        match symmetry.twin(label) {
            twin if twin < label => of_lower(twin).map(|into| symmetry.twin(into)),
            _ => of_lower(label),
        }
    }

    fn nearest_part(
        &self,
        label: u32,
        borders: &BTreeMap<u32, BTreeMap<u32, usize>>,
        may: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let longest = borders
            .get(&label)
            .and_then(|shared| {
                let shared = shared.iter().filter(|(other, _)| may(**other));
                shared.max_by_key(|&(&other, &edges)| (edges, std::cmp::Reverse(other)))
            })
            .map(|(&other, _)| other);
        longest
            .or_else(|| {
                self.bones.ancestors(label).find_map(|a| {
                    self.joints
                        .iter()
                        .find(|(l, joints)| **l != label && may(**l) && joints.contains(&a))
                        .map(|(&l, _)| l)
                })
            })
            .or_else(|| {
                let at = self.bones.position[label as usize];
                let positions = &self.outside.mesh.positions;
                let others = self.label_of_vertex.iter().zip(positions);
                others
                    .filter(|(l, _)| **l != label && **l != FOLLOWS && may(**l))
                    .min_by(|a, b| a.1.distance_squared(at).total_cmp(&b.1.distance_squared(at)))
                    .map(|(&l, _)| l)
            })
    }

    pub(super) fn merge(&mut self, label: u32, into: Option<u32>, reason: Reason) {
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

    /// Parts that bound no solid or are patches of their neighbour join it, one at a time, smallest first. Every round
    /// but the last removes a part, so there are no more rounds than parts.
    pub(super) fn merge_what_is_no_limb(&mut self) {
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
            if let Some(symmetry) = &self.symmetry {
                // What one side loses the other loses too.
                found.retain(|f| symmetry.twin(f.1) >= f.1);
                let images: Vec<_> = found
                    .iter()
                    .filter(|f| !symmetry.is_middle(f.1))
                    .map(|&(area, label, into, why)| {
                        (area, symmetry.twin(label), into.map(|i| symmetry.twin(i)), why)
                    })
                    .collect();
                found.extend(images);
            }
            found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            // What a merge touched is looked at again in the next round.
            let mut touched: Vec<u32> = Vec::new();
            for (_, label, into, reason) in found {
                let is_part = |label: u32| self.joints.contains_key(&label);
                let may_join = into.is_none_or(|into| into != label && is_part(into));
                if touched.contains(&label) || !is_part(label) || !may_join {
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
}

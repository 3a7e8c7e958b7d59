//! Stage `follow`: pieces without a field (eyes, hair, buckles) move with the skin they sit on.

use super::model::Model;
use crate::parts::FOLLOWS;
use crate::tracking::VertexReport;
use glam::Vec3A;
use rayon::prelude::*;

/// Vertices of the skin that carry a following one.
const CARRIERS: usize = 4;

/// For each vertex that follows, the vertices it follows.
pub(super) struct Followers {
    /// Vertex, and its carriers with weights of sum 1.
    list: Vec<(u32, [(u32, f32); CARRIERS])>,
}

impl Followers {
    /// Finds the nearest tracked vertices at rest.
    pub fn new(model: &Model) -> Self {
        let following =
            (0..model.rest.len() as u32).into_par_iter().filter(|&v| model.part[v as usize] == FOLLOWS);
        let list = following
            .filter_map(|v| {
                let x = model.rest[v as usize];
                let mut nearest = [(f32::INFINITY, u32::MAX); CARRIERS];
                for &k in &model.tracked {
                    let found = (x.distance_squared(model.rest[k as usize]), k);
                    if found.0 < nearest[CARRIERS - 1].0 {
                        nearest[CARRIERS - 1] = found;
                        nearest.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                    }
                }
                let least = (1e-4 * model.size).powi(2).max(f32::MIN_POSITIVE);
                let weight = |&(d, k): &(f32, u32)| if k == u32::MAX { 0.0 } else { least / d.max(least) };
                let total: f32 = nearest.iter().map(weight).sum();
                (total > 0.0).then(|| (v, nearest.map(|n| (n.1, weight(&n) / total))))
            })
            .collect();
        Self { list }
    }

    /// Moves every follower by the mean offset of its carriers from their skinned positions. `skinned` gives the skinned
    /// position of a vertex.
    pub fn carry(&self, positions: &mut [Vec3A], skinned: impl Fn(usize) -> Vec3A) {
        for &(v, carriers) in &self.list {
            let moved = carriers.iter().filter(|c| c.1 > 0.0).fold(Vec3A::ZERO, |sum, &(k, weight)| {
                sum + (positions[k as usize] - skinned(k as usize)) * weight
            });
            positions[v as usize] = skinned(v as usize) + moved;
        }
    }

    /// A follower is as much in contact as the carrier that is most. No carrier is a follower.
    pub fn take_contact(&self, reports: &mut [VertexReport]) {
        for &(v, carriers) in &self.list {
            let carriers = carriers.iter().filter(|c| c.1 > 0.0);
            let contact = carriers.map(|c| reports[c.0 as usize].contact).fold(0.0, f32::max);
            reports[v as usize].contact = contact;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_follower_is_in_contact_where_any_of_its_carriers_is() {
        let carriers = [(0, 0.5), (1, 0.5), (2, 0.0), (u32::MAX, 0.0)];
        let followers = Followers { list: vec![(7, carriers)] };
        let mut reports = vec![VertexReport::default(); 8];
        (reports[1].contact, reports[2].contact) = (0.6, 1.0);
        followers.take_contact(&mut reports);
        assert_eq!(reports[7].contact, 0.6, "the third carries nothing");
        let mut positions = vec![Vec3A::ZERO; 8];
        (positions[0], positions[1]) = (Vec3A::X, Vec3A::ZERO);
        followers.carry(&mut positions, |v| if v == 7 { Vec3A::Y } else { Vec3A::ZERO });
        assert_eq!(positions[7], Vec3A::new(0.5, 1.0, 0.0));
    }
}

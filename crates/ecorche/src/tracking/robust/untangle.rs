//! Stage `untangle`: separates the last crossing triangles.
//!
//! A fold, skin that crosses its own part or its neighbour's, is moved to the mean of its neighbours. Limbs that cross
//! are pushed so that the line along which they cross grows shorter. A little of both each round, and only where
//! triangles still cross. The first round looks at all triangles, the later ones at those that the round before moved.

use super::model::Model;
use super::nudge::LEAST_GAP;
use super::rest_surface::RestSurface;
use super::scratch::Scratch;
use super::separate::{MOST_FORCE, ROUNDS_PER_FORCE};
use super::tangles::Skin;
use crate::geom::SelfContact;
use glam::{Mat3A, Vec3, Vec3A};

/// Times that tangles which cross each other in their best states are taken for one.
const MOST_JOININGS: usize = 3;

/// Where the frame began.
pub(super) struct Start<'a> {
    pub skinned: &'a [(Vec3A, Mat3A)],
    /// How near skinning alone makes the skin cross itself, 0 to 1.
    pub near_contact: &'a [f32],
}

/// What untangling did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Untangled {
    pub pairs_before: usize,
    pub pairs_after: usize,
    pub rounds: u32,
}

impl RestSurface {
    /// Smooths until nothing new crosses, the rounds are done or too much skin is lost; keeps the best state of every tangle.
    pub fn untangle(
        &self,
        model: &Model,
        contact: &mut SelfContact,
        start: &Start,
        x: &mut [Vec3A],
        scratch: &mut Scratch,
    ) -> Untangled {
        let mut report = Untangled::default();
        scratch.positions.clear();
        scratch.positions.extend(x.iter().map(|&p| Vec3::from(p)));
        scratch.strength.resize(x.len(), 0.0);
        scratch.is_listed.resize(self.triangles.len(), false);
        scratch.touched.clear();
        let mut left = std::mem::take(&mut scratch.left);
        let mut close = std::mem::take(&mut scratch.close);
        contact.pairs_between_patches(&scratch.positions, LEAST_GAP * model.size, &mut left, &mut close);
        left.retain(|pair| self.is_new(pair));
        close.retain(|pair| self.is_newly_close(pair));
        report.pairs_before = left.len();
        if !left.is_empty() || !close.is_empty() {
            if !left.is_empty() {
                let mut before = std::mem::take(&mut scratch.before);
                before.clone_from(&scratch.positions);
                report.rounds = self.separate_all(model, contact, start, &before, &mut left, scratch);
                self.refill(model, contact, &before, &left, scratch);
                scratch.before = before;
            }
            report.pairs_after = left.len();
            self.nudge(model, contact, &left, &close, scratch);
            x.iter_mut().zip(&scratch.positions).for_each(|(x, &p)| *x = p.into());
        }
        (scratch.left, scratch.close) = (left, close);
        report
    }

    /// Separates round by round what crosses, `left`, until nothing does; leaves there what still does, ascending. `before` is where it
    /// began. Returns the rounds.
    fn separate_all(
        &self,
        model: &Model,
        contact: &mut SelfContact,
        start: &Start,
        before: &[Vec3],
        left: &mut Vec<[u32; 2]>,
        scratch: &mut Scratch,
    ) -> u32 {
        let skin = Skin {
            triangles: &self.triangles,
            triangles_of_vertex: &self.triangles_of_vertex,
            vertex_ring: &self.vertex_ring,
            part_of_vertex: &model.part,
            before,
        };
        let mut tangles = std::mem::take(&mut scratch.tangles);
        let mut live = std::mem::take(&mut scratch.live);
        let mut crossing = std::mem::take(&mut scratch.crossing);
        let mut moved = std::mem::take(&mut scratch.moved_vertices);
        tangles.begin(&skin, model.bones.len(), left);
        let mut round = 0;
        while round < model.settings.untangling {
            live.clear();
            live.extend(left.iter().filter(|&&pair| !tangles.is_given_up(&skin, pair)));
            if live.is_empty() {
                break;
            }
            self.separate(
                model,
                &mut live,
                start,
                (round / ROUNDS_PER_FORCE).min(MOST_FORCE),
                scratch,
                &mut moved,
            );
            self.new_pairs(contact, scratch, &mut crossing);
            // What was not moved still crosses.
            let is_moved = |t: &u32| scratch.triangles.binary_search(t).is_ok();
            crossing.extend(left.iter().filter(|pair| !pair.iter().any(is_moved)));
            crossing.sort_unstable();
            std::mem::swap(left, &mut crossing);
            tangles.push(&skin, left, &moved, &scratch.positions);
            round += 1;
        }
        // Otherwise the last state is the best of every tangle.
        if !left.is_empty() {
            self.list_triangles(tangles.members().iter().copied(), scratch);
            let expected = &mut crossing;
            for _ in 0..MOST_JOININGS {
                scratch.positions.clone_from_slice(before);
                tangles.best(&skin, &mut scratch.positions, expected);
                self.new_pairs(contact, scratch, left);
                live.clear();
                live.extend(left.iter().filter(|pair| expected.binary_search(pair).is_err()));
                if live.is_empty() {
                    break;
                }
                tangles.join(&skin, &live, &[]);
            }
        }
        (scratch.tangles, scratch.live, scratch.crossing) = (tangles, live, crossing);
        scratch.moved_vertices = moved;
        round
    }

    /// The pairs with a listed triangle that cross and do not at rest, ascending.
    pub(super) fn new_pairs(&self, contact: &mut SelfContact, scratch: &Scratch, found: &mut Vec<[u32; 2]>) {
        contact.pairs_among(&scratch.positions, &scratch.triangles, found);
        found.retain(|pair| self.is_new(pair));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::{Binding, Influences};
    use crate::parts::{FOLLOWS, Parts};
    use crate::skinning::Surface;
    use crate::tracking::robust::Tracker;

    /// A ball in the flesh of the lower half of a cylinder comes half out of it.
    #[test]
    fn skin_is_not_separated_from_what_follows_it() {
        let mut character = crate::samples::build("cylinder").unwrap();
        let mut ball = character.meshes[0].clone();
        let skin = ball.positions.len();
        let (low, high) =
            ball.positions.iter().fold((Vec3::MAX, Vec3::MIN), |(low, high), &p| (low.min(p), high.max(p)));
        let (middle, size) = (0.5 * (low + high), high - low);
        let place = middle + Vec3::new(0.0, -0.25 * size.y, 0.3 * size.z);
        ball.positions.iter_mut().for_each(|p| *p = place + (*p - middle) / size * (0.15 * size.x));
        let Binding::Skin(held) = &mut ball.binding else { panic!("the cylinder has a skin") };
        held.influences = Influences::new(vec![vec![(0, 1.0)]; skin]);
        character.meshes.push(ball);
        let surface = Surface::new(&character).unwrap();
        let parts = Parts::build(&surface, &character, &Default::default(), None);
        let Tracker { model, rest_surface, mut contact, .. } =
            Tracker::new(&character, &surface, &parts, Default::default(), Vec::new(), None);
        let is_ball = |v: usize| parts.part_of_vertex[v] == FOLLOWS;
        assert!((0..model.rest.len()).any(is_ball) && !(0..model.rest.len()).all(is_ball));
        let out = Vec3A::Z * (0.2 * size.z);
        let moved = |(v, &p): (usize, &Vec3A)| if is_ball(v) { p + out } else { p };
        let mut x: Vec<Vec3A> = model.rest.iter().enumerate().map(moved).collect();
        let positions: Vec<Vec3> = x.iter().map(|&p| p.into()).collect();
        assert!(!contact.find(&positions).pairs.is_empty(), "the ball does not come out");
        let skinned: Vec<(Vec3A, Mat3A)> = x.iter().map(|&p| (p, Mat3A::IDENTITY)).collect();
        let start = Start { skinned: &skinned, near_contact: &vec![1.0; x.len()] };
        let report = rest_surface.untangle(&model, &mut contact, &start, &mut x, &mut Scratch::default());
        assert_eq!(report, Untangled::default());
        assert!(x.iter().zip(&skinned).all(|(x, skinned)| *x == skinned.0));
    }
}

//! Untangling: triangles that almost touch are moved a little apart.

use super::model::Model;
use super::rest_surface::RestSurface;
use super::scratch::Scratch;
use crate::geom::SelfContact;
use crate::geom::intersect::gap;

/// Of the size: distance kept between triangles that have been separated, unless they are as close at rest. Triangles that
/// almost touch may cross after another program rounds them: with none the athlete's squat had 8 pairs less than 0.03 mm apart.
pub(super) const LEAST_GAP: f32 = 4e-5;
/// Most nudges to that distance.
const MOST_NUDGES: usize = 8;

impl RestSurface {
    /// Moves triangles that were separated or `close` and almost touch others away from them, unless they would
    /// then cross others; `left` are pairs that cross anyway, ascending.
    pub(super) fn nudge(
        &self,
        model: &Model,
        contact: &mut SelfContact,
        left: &[[u32; 2]],
        close: &[[u32; 2]],
        scratch: &mut Scratch,
    ) {
        let apart = LEAST_GAP * model.size;
        let mut list = std::mem::take(&mut scratch.moved_vertices);
        let mut pairs = std::mem::take(&mut scratch.crossing);
        let mut pushes = std::mem::take(&mut scratch.pushes_of_pairs);
        let mut back = std::mem::take(&mut scratch.back);
        back.clear();
        list.clear();
        list.extend(
            scratch.separated.iter().filter(|separated| separated.1 >= 1.0).map(|separated| separated.0),
        );
        list.extend(close.iter().flatten().flat_map(|&t| self.triangles[t as usize]));
        for _ in 0..MOST_NUDGES {
            self.list_triangles(list.iter().copied(), scratch);
            contact.close_pairs_among(&scratch.positions, &scratch.triangles, apart, &mut pairs);
            pairs.retain(|pair| self.is_newly_close(pair));
            if pairs.is_empty() {
                break;
            }
            pushes.clear();
            for pair in &pairs {
                let corners = pair.map(|t| self.triangles[t as usize]);
                let [a, b] = corners.map(|t| t.map(|v| scratch.positions[v as usize]));
                let (distance, away) = gap(a, b);
                // A little more, or rounding decides again.
                let step = 0.75 * (apart - distance) * away;
                corners[0].into_iter().for_each(|v| pushes.add(v, -step));
                corners[1].into_iter().for_each(|v| pushes.add(v, step));
            }
            list.clear();
            for (v, push) in pushes.means() {
                back.add(v, scratch.positions[v as usize]);
                scratch.positions[v as usize] += push;
                list.push(v);
            }
        }
        back.keep_first();
        while !back.0.is_empty() {
            self.list_triangles(back.0.iter().map(|nudged| nudged.0).chain(list.iter().copied()), scratch);
            self.new_pairs(contact, scratch, &mut pairs);
            pairs.retain(|pair| left.binary_search(pair).is_err());
            list.clear();
            list.extend(pairs.iter().flatten().flat_map(|&t| self.triangles[t as usize]));
            list.sort_unstable();
            let count = back.0.len();
            back.0.retain(|&(v, _, p)| {
                let is_bad = list.binary_search(&v).is_ok();
                if is_bad {
                    scratch.positions[v as usize] = p;
                }
                !is_bad
            });
            if back.0.len() == count {
                break;
            }
        }
        (scratch.moved_vertices, scratch.crossing) = (list, pairs);
        (scratch.pushes_of_pairs, scratch.back) = (pushes, back);
    }
}

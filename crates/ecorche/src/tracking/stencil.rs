//! For every vertex a weighted list of neighbours: the shape of all relaxations.

use glam::Vec3;

/// Weighted neighbour lists, back to back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stencil {
    starts: Vec<u32>,
    neighbours: Vec<u32>,
    weights: Vec<f32>,
}

impl Stencil {
    /// Collects one list per vertex and scales its weights to a sum of 1; a list without a positive sum
    /// becomes empty.
    pub fn new(lists: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Self {
        let mut stencil = Self { starts: vec![0], ..Self::default() };
        for list in lists {
            let sum: f64 = list.iter().map(|l| l.1).sum();
            if sum.is_finite() && sum > 0.0 {
                stencil.neighbours.extend(list.iter().map(|l| l.0));
                stencil.weights.extend(list.iter().map(|l| (l.1 / sum) as f32));
            }
            stencil.starts.push(stencil.neighbours.len() as u32);
        }
        stencil
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The items of vertex `v` in the flat lists.
    #[inline]
    pub fn range(&self, v: usize) -> std::ops::Range<usize> {
        self.starts[v] as usize..self.starts[v + 1] as usize
    }

    /// Neighbours of vertex `v` with their weights.
    #[inline]
    pub fn of(&self, v: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let range = self.range(v);
        self.neighbours[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// Weighted mean of a vertex's neighbours; `None` if it has none, or one that is nowhere.
    #[inline]
    pub fn mean(&self, v: usize, positions: &[Vec3]) -> Option<Vec3> {
        let mean = self.of(v).fold(Vec3::ZERO, |sum, (k, w)| sum + w * positions[k as usize]);
        (!self.range(v).is_empty() && mean.is_finite()).then_some(mean)
    }

    /// Weighted mean of numbers; `None` if there is no neighbour.
    #[inline]
    pub fn mean_number(&self, v: usize, numbers: &[f32]) -> Option<f32> {
        if self.range(v).is_empty() {
            return None;
        }
        Some(self.of(v).fold(0.0, |sum, (k, w)| sum + w * numbers[k as usize]))
    }
}

/// What of `step` lies in the plane of unit normal `normal`; all of it if the normal is zero.
#[inline]
pub fn tangential(step: Vec3, normal: Vec3) -> Vec3 {
    step - normal * normal.dot(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_up_to_one_and_bad_lists_are_empty() {
        let stencil = Stencil::new([vec![(1, 3.0), (2, 1.0)], vec![(0, -1.0)], vec![]]);
        assert_eq!(stencil.len(), 3);
        assert_eq!(stencil.of(0).collect::<Vec<_>>(), [(1, 0.75), (2, 0.25)]);
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Y];
        assert_eq!(stencil.mean(0, &positions), Some(Vec3::new(0.75, 0.25, 0.0)));
        assert_eq!((stencil.mean(1, &positions), stencil.mean_number(2, &[])), (None, None));
        assert_eq!(tangential(Vec3::ONE, Vec3::Z), Vec3::new(1.0, 1.0, 0.0));
    }
}

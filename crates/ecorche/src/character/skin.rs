//! How joints move a mesh.

use glam::Affine3A;

/// Joints and weights of one mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// Skeleton joints the weights refer to, each once.
    pub joints: Vec<usize>,
    /// For each entry of `joints`, the map from bind space (the mesh's positions) to the joint.
    pub joint_from_bind: Vec<Affine3A>,
    /// Weights of every vertex.
    pub influences: Influences,
    /// Whether the file says that the mesh is skinned by dual quaternions.
    pub dual_quaternion: bool,
}

/// Any number of weighted joints per vertex, stored back to back.
///
/// Each vertex has at least one, in order of falling weight; weights are positive and sum to one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Influences {
    starts: Vec<u32>,
    joints: Vec<u32>,
    weights: Vec<f32>,
}

/// Adds up the weights of entries with the same joint in a list sorted by joint.
pub(crate) fn add_up_repeated<W: Copy + std::ops::AddAssign>(sorted: &mut Vec<(u32, W)>) {
    sorted.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}

impl Influences {
    /// Takes `(joint, weight)` lists, one per vertex: drops weights that are not positive and
    /// finite, sorts by falling weight (then joint), adds up repeated joints, normalises.
    /// A vertex left with nothing goes to joint 0 alone.
    pub fn new(per_vertex: impl IntoIterator<Item = Vec<(u32, f32)>>) -> Self {
        let mut influences = Self { starts: vec![0], ..Self::default() };
        for mut list in per_vertex {
            list.retain(|&(_, w)| w.is_finite() && w > 0.0);
            list.sort_unstable_by_key(|&(joint, _)| joint);
            add_up_repeated(&mut list);
            list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            if list.is_empty() {
                list.push((0, 1.0));
            }
            let sum: f64 = list.iter().map(|&(_, w)| f64::from(w)).sum();
            for (joint, weight) in list {
                influences.joints.push(joint);
                influences.weights.push((f64::from(weight) / sum) as f32);
            }
            influences.starts.push(influences.joints.len() as u32);
        }
        influences
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no vertex.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `(index into Skin::joints, weight)` of `vertex`, heaviest first.
    pub fn of(&self, vertex: usize) -> impl ExactSizeIterator<Item = (u32, f32)> + Clone {
        let range = self.starts[vertex] as usize..self.starts[vertex + 1] as usize;
        self.joints[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// The heaviest joint of `vertex`.
    pub fn strongest(&self, vertex: usize) -> u32 {
        self.joints[self.starts[vertex] as usize]
    }

    /// Largest and mean number of joints per vertex.
    pub fn counts(&self) -> (usize, f32) {
        let largest = self.starts.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0);
        (largest, self.joints.len() as f32 / self.len().max(1) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_cleaned_sorted_and_sum_to_one() {
        let influences = Influences::new([
            vec![(3, 0.1), (1, 0.3), (3, 0.6), (2, f32::NAN), (0, -1.0)],
            vec![],
            vec![(5, 4.7)],
        ]);
        let lists: Vec<Vec<(u32, f32)>> = (0..3).map(|v| influences.of(v).collect()).collect();
        assert_eq!(lists[0].iter().map(|i| i.0).collect::<Vec<_>>(), [3, 1]);
        assert!((lists[0].iter().map(|i| i.1).sum::<f32>() - 1.0).abs() < 1e-6);
        assert_eq!(lists[1], [(0, 1.0)]);
        assert_eq!(lists[2], [(5, 1.0)]);
        assert_eq!(influences.counts().0, 2);
    }
}

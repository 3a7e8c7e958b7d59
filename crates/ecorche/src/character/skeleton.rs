//! The joint hierarchy.

use crate::math::Transform;

/// A point of the skeleton with a transform. Nodes that no skin uses (mesh carriers, cameras,
/// groups) are joints too, so that whatever hangs on them moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// The file's name.
    pub name: String,
    /// Always a smaller index than the joint's own.
    pub parent: Option<usize>,
    /// Parent-from-joint transform when nothing is animated.
    pub rest: Transform,
    /// Whether a skin refers to it.
    pub in_skin: bool,
}

/// Joints, parents before children.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skeleton {
    /// The joints.
    pub joints: Vec<Joint>,
}

impl Skeleton {
    /// Number of joints.
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Whether there is no joint.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// Index of the first joint called `name`, exactly or else ignoring case.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.joints
            .iter()
            .position(|j| j.name == name)
            .or_else(|| self.joints.iter().position(|j| j.name.eq_ignore_ascii_case(name)))
    }

    /// Children of joint `parent`, ascending.
    pub fn children(&self, parent: usize) -> impl Iterator<Item = usize> {
        (parent + 1..self.joints.len()).filter(move |&j| self.joints[j].parent == Some(parent))
    }

    /// The nearest ancestor of a joint that `counts`.
    pub(crate) fn nearest_ancestor(&self, joint: usize, counts: impl Fn(usize) -> bool) -> Option<usize> {
        std::iter::successors(self.joints[joint].parent, |&j| self.joints[j].parent).find(|&j| counts(j))
    }

    /// Where the bones of each joint end: at every joint that `is_end` and has this one as its nearest ancestor that
    /// `owns` bones. Ascending.
    pub(crate) fn bone_ends(
        &self,
        is_end: impl Fn(usize) -> bool,
        owns: impl Fn(usize) -> bool,
    ) -> Vec<Vec<usize>> {
        let mut ends = vec![Vec::new(); self.joints.len()];
        for joint in (0..self.joints.len()).filter(|&j| is_end(j)) {
            if let Some(owner) = self.nearest_ancestor(joint, &owns) {
                ends[owner].push(joint);
            }
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bones_end_at_the_next_joints_that_count() {
        // A root with two children; the first carries a node that is no joint of the skin, and that one a joint.
        let parents = [None, Some(0), Some(1), Some(2), Some(0)];
        let joint = |(k, &parent): (usize, &Option<usize>)| Joint {
            name: k.to_string(),
            parent,
            rest: Transform::IDENTITY,
            in_skin: k != 2,
        };
        let skeleton = Skeleton { joints: parents.iter().enumerate().map(joint).collect() };
        let in_skin = |j: usize| skeleton.joints[j].in_skin;
        let all = skeleton.bone_ends(|_| true, |_| true);
        assert_eq!(all, [vec![1, 4], vec![2], vec![3], vec![], vec![]]);
        let of_skin = skeleton.bone_ends(in_skin, in_skin);
        assert_eq!(of_skin, [vec![1, 4], vec![3], vec![], vec![], vec![]], "the node between is skipped");
        assert_eq!(skeleton.nearest_ancestor(3, in_skin), Some(1));
        assert_eq!(skeleton.nearest_ancestor(0, in_skin), None);
    }
}

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
}

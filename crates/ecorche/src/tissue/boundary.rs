//! What holds bodies: nodes fixed to bones, springs, sliding planes, attachments between bodies.
//!
//! Every condition follows its bone at the rate of the substeps and is in force for an interval of time, so
//! that holds can be released and switched.

use super::terms::{Term, spring};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Where a bone is over time: rigid poses, interpolated between keys and held before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct BoneTrack {
    /// Name in messages.
    pub name: String,
    /// Time (seconds, ascending), rotation about the pivot, and translation after it.
    pub keys: Vec<(f64, DQuat, DVec3)>,
    /// Point the rotations turn about, so that interpolated poses follow the arc.
    pub pivot: DVec3,
}

impl BoneTrack {
    /// A bone that does not move: bone coordinates are world coordinates.
    pub fn still(name: impl Into<String>) -> Self {
        Self { name: name.into(), keys: vec![(0.0, DQuat::IDENTITY, DVec3::ZERO)], pivot: DVec3::ZERO }
    }

    /// `world_from_bone` at a time.
    pub fn at(&self, time: f64) -> DAffine3 {
        let after = self.keys.partition_point(|k| k.0 <= time);
        let (rotation, translation) = match (after.checked_sub(1).map(|i| self.keys[i]), self.keys.get(after))
        {
            (None, None) => (DQuat::IDENTITY, DVec3::ZERO),
            (None, Some(next)) => (next.1, next.2),
            (Some(last), None) => (last.1, last.2),
            (Some(last), Some(next)) => {
                let t = (time - last.0) / (next.0 - last.0);
                (last.1.slerp(next.1, t), last.2.lerp(next.2, t))
            }
        };
        DAffine3::from_rotation_translation(rotation, translation + self.pivot - rotation * self.pivot)
    }
}

/// A point of a body: a node, or a place inside a tetrahedron or on a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Up to four nodes; unused ones repeat the first with weight 0.
    pub nodes: [u32; 4],
    /// Weights summing to 1.
    pub weights: [f64; 4],
}

impl Place {
    /// A node.
    pub fn node(node: u32) -> Self {
        Self { nodes: [node; 4], weights: [1.0, 0.0, 0.0, 0.0] }
    }

    /// Where it is.
    pub fn at(&self, positions: &[DVec3]) -> DVec3 {
        self.support().fold(DVec3::ZERO, |sum, (n, w)| sum + positions[n as usize] * w)
    }

    /// Nodes and weights.
    pub fn support(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.nodes.iter().copied().zip(self.weights.iter().copied()).filter(|s| s.1 != 0.0)
    }
}

/// One way of holding a point. Points on bones are in bone coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hold {
    /// The node goes exactly where the bone takes it.
    Fix {
        /// Node.
        node: u32,
        /// Bone index.
        bone: usize,
        /// Where on the bone.
        at: DVec3,
    },
    /// A spring to a point of a bone.
    Spring {
        /// Point of the body.
        place: Place,
        /// Bone index.
        bone: usize,
        /// Where on the bone.
        at: DVec3,
        /// Newtons per metre.
        stiffness: f64,
        /// Length without force, metres.
        rest: f64,
    },
    /// Held on a plane of a bone along its normal only, free to slide.
    Slide {
        /// Point of the body.
        place: Place,
        /// Bone index.
        bone: usize,
        /// A point of the plane on the bone.
        at: DVec3,
        /// Unit normal in bone coordinates.
        normal: DVec3,
        /// Newtons per metre.
        stiffness: f64,
    },
    /// Two points held together.
    Join {
        /// Point of one body.
        first: Place,
        /// Point of another.
        second: Place,
        /// Newtons per metre.
        stiffness: f64,
        /// Length without force, metres.
        rest: f64,
    },
    /// A constant force on a point, newtons.
    Pull {
        /// Point of the body.
        place: Place,
        /// World direction and size.
        force: DVec3,
    },
}

/// A hold and when it is in force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// How.
    pub hold: Hold,
    /// From this time on, seconds.
    pub from: f64,
    /// Until just before this time.
    pub until: f64,
}

impl Condition {
    /// In force throughout.
    pub fn always(hold: Hold) -> Self {
        Self { hold, from: f64::NEG_INFINITY, until: f64::INFINITY }
    }

    fn holds(&self, time: f64) -> bool {
        self.from <= time && time < self.until
    }
}

/// All holds and the bones they refer to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boundary {
    /// Bones.
    pub bones: Vec<BoneTrack>,
    /// Holds.
    pub conditions: Vec<Condition>,
}

impl Boundary {
    /// Nodes held exactly at a time, and where.
    pub(crate) fn fixed_at(&self, time: f64) -> impl Iterator<Item = (u32, DVec3)> + '_ {
        self.conditions.iter().filter(move |c| c.holds(time)).filter_map(move |c| match c.hold {
            Hold::Fix { node, bone, at } => Some((node, self.bones[bone].at(time).transform_point3(at))),
            _ => None,
        })
    }

    /// Nodes held on a bone at a time, fixed or by a spring, and the bone; ascending.
    pub(crate) fn attached_at(&self, time: f64) -> Vec<(u32, usize)> {
        let mut list: Vec<(u32, usize)> = self
            .conditions
            .iter()
            .filter(|c| c.holds(time))
            .flat_map(|c| match c.hold {
                Hold::Fix { node, bone, .. } => vec![(node, bone)],
                Hold::Spring { place, bone, .. } => place.support().map(|(n, _)| (n, bone)).collect(),
                _ => Vec::new(),
            })
            .collect();
        list.sort_unstable();
        list.dedup();
        list
    }

    /// Adds the forces of every soft hold at a time; returns their energy.
    pub(crate) fn add_terms(&self, time: f64, positions: &[DVec3], terms: &mut Vec<Term>) -> f64 {
        let mut energy = 0.0;
        for condition in self.conditions.iter().filter(|c| c.holds(time)) {
            match condition.hold {
                Hold::Fix { .. } => {}
                Hold::Spring { place, bone, at, stiffness, rest } => {
                    let anchor = self.bones[bone].at(time).transform_point3(at);
                    let (e, force, matrix) = spring(place.at(positions) - anchor, stiffness, rest);
                    energy += e;
                    terms.push(Term::new(place.support(), force, matrix));
                }
                Hold::Slide { place, bone, at, normal, stiffness } => {
                    let world = self.bones[bone].at(time);
                    let n = world.transform_vector3(normal);
                    let off = (place.at(positions) - world.transform_point3(at)).dot(n);
                    energy += 0.5 * stiffness * off * off;
                    let matrix = DMat3::from_cols(n * n.x, n * n.y, n * n.z) * stiffness;
                    terms.push(Term::new(place.support(), n * (stiffness * off), matrix));
                }
                Hold::Join { first, second, stiffness, rest } => {
                    let (e, force, matrix) =
                        spring(first.at(positions) - second.at(positions), stiffness, rest);
                    energy += e;
                    let support = first.support().chain(second.support().map(|(n, w)| (n, -w)));
                    terms.push(Term::new(support, force, matrix));
                }
                Hold::Pull { place, force } => {
                    energy -= force.dot(place.at(positions));
                    terms.push(Term::new(place.support(), -force, DMat3::ZERO));
                }
            }
        }
        energy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bone_turns_evenly_between_keys_and_stays_outside_them() {
        let quarter = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
        let bone = BoneTrack {
            name: "forearm".into(),
            keys: vec![(1.0, DQuat::IDENTITY, DVec3::ZERO), (3.0, quarter, DVec3::Y)],
            pivot: DVec3::ZERO,
        };
        let tip = |time| bone.at(time).transform_point3(DVec3::X);
        assert!(tip(0.0).abs_diff_eq(DVec3::X, 1e-12));
        let half = std::f64::consts::FRAC_1_SQRT_2;
        assert!(tip(2.0).abs_diff_eq(DVec3::new(half, half + 0.5, 0.0), 1e-12));
        assert!(tip(9.0).abs_diff_eq(DVec3::Y * 2.0, 1e-12));
        let hinged =
            BoneTrack { pivot: DVec3::X, keys: vec![bone.keys[0], (3.0, quarter, DVec3::ZERO)], ..bone };
        assert!(hinged.at(2.2).transform_point3(DVec3::X).abs_diff_eq(DVec3::X, 1e-12));
    }

    #[test]
    fn a_released_hold_lets_go() {
        let boundary = Boundary {
            bones: vec![BoneTrack::still("wall")],
            conditions: vec![Condition {
                hold: Hold::Fix { node: 4, bone: 0, at: DVec3::X },
                from: 0.0,
                until: 2.0,
            }],
        };
        assert_eq!(boundary.fixed_at(1.9).collect::<Vec<_>>(), vec![(4, DVec3::X)]);
        assert_eq!(boundary.fixed_at(2.0).count(), 0);
        assert_eq!((boundary.attached_at(1.9), boundary.attached_at(2.0)), (vec![(4, 0)], Vec::new()));
    }
}

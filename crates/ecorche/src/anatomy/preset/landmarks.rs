//! Where things are in a body: frames built from its joints and skin, never from the world's axes.
//!
//! A place on a limb is given as anatomists do: how far along the bone, on which side of it, how deep under the
//! skin. Sides are angles about the bone: 0 front, 90 outward, 180 back, -90 inward, as a person stands with the
//! palms forward. A place on the trunk is given by its height (0 at the hip joints, 1 at the shoulder joints) and
//! its distance from the middle (1 at the shoulder joints).

use super::probe::Probe;
use crate::anatomy::BindFrames;
use crate::character::humanoid::{self, Finger, HumanoidBone, Part};
use crate::character::{Character, Skeleton};
use glam::{Quat, Vec3};

/// A bone of a limb with its front at either end.
#[derive(Clone, Copy, Debug)]
pub struct Bone {
    /// The joint it starts at.
    pub joint: usize,
    from: Vec3,
    along: Vec3,
    front: Vec3,
    /// Turn of the front from start to end, radians about `along`.
    twist: f32,
    /// 1 on the left, -1 on the right.
    sign: f32,
    /// Half thickness in the middle.
    pub radius: f32,
    /// How many radii away the skin may be.
    reach: f32,
}

impl Bone {
    /// `stoutness` is the largest half thickness believed, as a share of the length: beyond it the skin is clothing.
    pub fn new(
        joint: usize,
        [from, to]: [Vec3; 2],
        fronts: [Vec3; 2],
        sign: f32,
        stoutness: f32,
        probe: &Probe,
    ) -> Option<Self> {
        let along = to - from;
        let axis = along.try_normalize()?;
        let [front, end] =
            [fronts[0].reject_from_normalized(axis).try_normalize()?, fronts[1].reject_from_normalized(axis)];
        let twist = axis.dot(front.cross(end)).atan2(front.dot(end));
        let mut bone = Self { joint, from, along, front, twist, sign, radius: 0.0, reach: 1.8 };
        let middle = bone.axis(0.5);
        let stout = stoutness * along.length();
        let free = |k: i32| probe.exit(middle, bone.direction(0.5, 45.0 * k as f32), 2.0 * stout);
        let radii: Vec<f32> = (0..8).filter_map(free).collect();
        let mean = radii.iter().sum::<f32>() / radii.len().max(1) as f32;
        bone.radius = if radii.is_empty() { 0.6 * stout } else { mean.min(stout) };
        Some(bone)
    }

    /// A bone far from the trunk may lie off the middle of its limb: some rigs have the shin's joints near its
    /// front.
    fn off_centre(self) -> Self {
        Self { reach: 3.0, ..self }
    }

    /// The point at share `t` of the bone's axis.
    pub fn axis(&self, t: f32) -> Vec3 {
        self.from + self.along * t
    }

    /// The direction towards side `angle` (degrees) at share `t`.
    pub fn direction(&self, t: f32, angle: f32) -> Vec3 {
        let axis = self.along.normalize();
        let front = Quat::from_axis_angle(axis, self.twist * t.clamp(0.0, 1.0)) * self.front;
        let outward = self.sign * front.cross(axis);
        let (sin, cos) = angle.to_radians().sin_cos();
        front * cos + outward * sin
    }

    /// The place at share `t` of the bone, towards `angle` (degrees), at share `depth` of the way to the skin.
    pub fn at(&self, probe: &Probe, t: f32, angle: f32, depth: f32) -> Vec3 {
        let direction = self.direction(t, angle);
        // Towards the trunk, and under wide clothing, the skin is far away.
        let exit = probe.exit(self.axis(t), direction, self.reach * self.radius);
        let reach = exit.unwrap_or(1.1 * self.radius);
        self.axis(t) + direction * (depth * reach)
    }
}

/// The trunk of a body.
#[derive(Clone, Debug)]
pub struct Trunk {
    hips: Vec3,
    /// Unit.
    pub up: Vec3,
    /// Unit, to the body's left.
    pub left: Vec3,
    /// Unit.
    pub front: Vec3,
    /// From the hip joints to the shoulder joints.
    pub height: f32,
    /// From the middle to a shoulder joint.
    pub breadth: f32,
    /// Spine joints from the hips up, with their heights.
    spine: Vec<(usize, f32)>,
    /// How much higher a rig's pelvis is than its hip joints suggest; see [`find_trunk`].
    lift: f32,
}

impl Trunk {
    /// A place by distance from the middle to side `sign` and height, half way from back to front.
    pub fn place(&self, probe: &Probe, sign: f32, x: f32, y: f32) -> Vec3 {
        let middle = self.middle(y);
        let centre = |p: Vec3| {
            let [ahead, behind] = [self.front, -self.front]
                .map(|d| probe.exit(p, d, self.height).unwrap_or(0.5 * self.breadth));
            p + self.front * (0.5 * (ahead - behind))
        };
        let middle = centre(middle);
        let wide = probe.exit(middle, self.left * sign, 1.2 * self.breadth).unwrap_or(1.2 * self.breadth);
        centre(middle + self.left * (sign * (x * self.breadth).min(0.85 * wide)))
    }

    fn under(&self, probe: &Probe, from: Vec3, direction: Vec3, depth: f32) -> Vec3 {
        let reach = probe.exit(from, direction, 1.1 * self.breadth).unwrap_or(0.7 * self.breadth);
        from + direction * (reach - depth * self.breadth).max(0.3 * reach)
    }

    /// Under the skin of the chest or belly, `depth` breadths deep.
    pub fn front(&self, probe: &Probe, sign: f32, x: f32, y: f32, depth: f32) -> Vec3 {
        self.under(probe, self.place(probe, sign, x, y), self.front, depth)
    }

    /// The point between the joints at height `y`.
    pub fn middle(&self, y: f32) -> Vec3 {
        self.hips + self.up * ((y + self.lift * (1.0 - y)) * self.height)
    }

    /// The height of a point.
    pub fn height_of(&self, p: Vec3) -> f32 {
        ((p - self.hips).dot(self.up) / self.height - self.lift) / (1.0 - self.lift)
    }

    /// Distance from the middle and height of a point, as [`Trunk::place`] takes them.
    pub fn whereabouts(&self, p: Vec3) -> (f32, f32) {
        ((p - self.hips).dot(self.left).abs() / self.breadth, self.height_of(p))
    }

    /// Under the skin of the back.
    pub fn back(&self, probe: &Probe, sign: f32, x: f32, y: f32, depth: f32) -> Vec3 {
        self.under(probe, self.place(probe, sign, x, y), -self.front, depth)
    }

    /// Under the skin at `angle` (degrees: 0 front, 90 side, 180 back) about the middle of the trunk.
    pub fn around(&self, probe: &Probe, sign: f32, angle: f32, y: f32, depth: f32) -> Vec3 {
        let (sin, cos) = angle.to_radians().sin_cos();
        let direction = self.front * cos + self.left * (sign * sin);
        self.under(probe, self.place(probe, sign, 0.0, y), direction, depth)
    }

    /// The spine joint that carries height `y`.
    pub fn bone(&self, y: f32) -> usize {
        let below = self.spine.iter().rev().find(|(_, height)| *height <= y + 0.02);
        below.or(self.spine.first()).map_or(0, |(joint, _)| *joint)
    }

    /// Whether a joint is one of the spine's.
    pub fn has(&self, joint: usize) -> bool {
        self.spine.iter().any(|s| s.0 == joint)
    }

    /// The lowest spine joint.
    pub fn pelvis(&self) -> usize {
        self.spine.first().map_or(0, |(joint, _)| *joint)
    }

    /// The highest.
    pub fn chest(&self) -> usize {
        self.spine.last().map_or(0, |(joint, _)| *joint)
    }
}

/// An arm.
#[derive(Clone, Copy, Debug)]
pub struct Arm {
    /// The joint that carries the shoulder blade.
    pub girdle: usize,
    /// Upper arm.
    pub upper: Bone,
    /// Forearm; its front is the palm's at the wrist.
    pub lower: Bone,
    /// The joint of the hand, or of the forearm without one.
    pub hand: usize,
}

/// A leg.
#[derive(Clone, Copy, Debug)]
pub struct Leg {
    /// Thigh.
    pub thigh: Bone,
    /// Lower leg.
    pub shank: Bone,
    /// The joint of the foot.
    pub foot: usize,
    /// Middle of the foot, between ankle and ball.
    pub instep: Vec3,
    /// Unit, towards the toes.
    pub toes: Vec3,
}

/// Neck and head.
#[derive(Clone, Copy, Debug)]
pub struct Neck {
    /// The joint of the neck, or of the chest without one.
    pub neck: usize,
    /// The joint of the head.
    pub head: usize,
    /// Where the neck starts.
    pub base: Vec3,
    /// Where the skull sits on it.
    pub top: Vec3,
}

/// What was found of one side of a body.
#[derive(Clone, Debug)]
pub struct Landmarks {
    /// 1 on the left, -1 on the right.
    pub sign: f32,
    /// Trunk, if hips and shoulders were found.
    pub trunk: Option<Trunk>,
    /// Arm of this side.
    pub arm: Option<Arm>,
    /// Leg of this side.
    pub leg: Option<Leg>,
    /// Neck and head.
    pub neck: Option<Neck>,
}

struct Finder<'a> {
    skeleton: &'a Skeleton,
    recognised: Vec<Option<HumanoidBone>>,
    frames: BindFrames,
    side: humanoid::Side,
}

impl Finder<'_> {
    fn on(&self, part: Part, side: humanoid::Side) -> Option<usize> {
        humanoid::joint_of(&self.recognised, HumanoidBone { part, side })
    }

    fn joint(&self, part: Part) -> Option<usize> {
        self.on(part, self.side)
    }

    fn centre(&self, part: Part) -> Option<usize> {
        self.on(part, humanoid::Side::Centre)
    }

    fn point(&self, part: Part) -> Option<Vec3> {
        self.joint(part).map(|joint| self.frames.joint(joint))
    }

    /// Left and right joint of a part.
    fn pair(&self, part: Part) -> Option<[Vec3; 2]> {
        let [left, right] = [humanoid::Side::Left, humanoid::Side::Right]
            .map(|side| Some(self.frames.joint(self.on(part, side)?)));
        Some([left?, right?])
    }
}

impl Landmarks {
    /// Looks for the landmarks of one side; `None` for a skeleton that has none of them.
    pub fn find(character: &Character, probe: &Probe, side: humanoid::Side) -> Option<Self> {
        let finder = Finder {
            skeleton: &character.skeleton,
            recognised: humanoid::recognise(&character.skeleton),
            frames: BindFrames::of(character),
            side,
        };
        let sign = if side == humanoid::Side::Left { 1.0 } else { -1.0 };
        let trunk = find_trunk(&finder, probe);
        let arm = find_arm(&finder, probe, sign, trunk.as_ref());
        let leg = find_leg(&finder, probe, sign, trunk.as_ref());
        let neck = find_neck(&finder, trunk.as_ref());
        // A fox has the same names; its legs do not continue its trunk.
        let on_all_fours = match (&trunk, &leg) {
            (Some(trunk), Some(leg)) => {
                trunk.up.dot((leg.thigh.axis(0.0) - leg.shank.axis(1.0)).normalize()) < UPRIGHT
            }
            _ => false,
        };
        (!on_all_fours && (arm.is_some() || leg.is_some())).then_some(Self { sign, trunk, arm, leg, neck })
    }
}

/// Least cosine between trunk and legs of a standing body. Chosen between a standing human's 1 and the 0 of an
/// animal on four legs, not tuned.
const UPRIGHT: f32 = 0.5;

/// Height of the crotch under the hip joints of a body whose joints are where bones turn.
const CROTCH: f32 = -0.17;

fn find_trunk(finder: &Finder, probe: &Probe) -> Option<Trunk> {
    let legs = finder.pair(Part::UpperLeg)?;
    let arms = finder.pair(Part::UpperArm)?;
    let middle = |[a, b]: [Vec3; 2]| 0.5 * (a + b);
    let (hips, shoulders) = (middle(legs), middle(arms));
    let up = (shoulders - hips).try_normalize()?;
    let left = (legs[0] - legs[1] + arms[0] - arms[1]).reject_from_normalized(up).try_normalize()?;
    let front = left.cross(up);
    let height = (shoulders - hips).length();
    let breadth = 0.5 * (arms[0] - arms[1]).dot(left);
    let height_of = |joint: usize| (finder.frames.joint(joint) - hips).dot(up) / height;
    let parts = [Part::Hips, Part::Spine, Part::Chest, Part::UpperChest];
    let mut spine: Vec<(usize, f32)> = Vec::new();
    for joint in parts.into_iter().filter_map(|part| finder.centre(part)) {
        let y = height_of(joint);
        // The lowest counts as the pelvis, wherever its joint is.
        spine.push((joint, if spine.is_empty() { f32::MIN } else { y }));
    }
    // Some rigs put the hip joints as low as the crotch; heights then count from where they should be.
    let belly = hips + up * (0.2 * height);
    let crotch = probe.exit(belly, -up, height).map_or(CROTCH, |down| 0.2 - down / height);
    let lift = (crotch - CROTCH).clamp(0.0, 0.2);
    (!spine.is_empty() && breadth > 0.0).then_some(Trunk {
        hips,
        up,
        left,
        front,
        height,
        breadth,
        spine,
        lift,
    })
}

/// Which way is the front of a straight elbow, as a share of how far a bent one points to it. A stretched arm's
/// noise of 3 degrees (0.05) must not decide, a bend of 10 degrees (0.17) should.
const STRAIGHT: f32 = 0.12;

fn find_arm(finder: &Finder, probe: &Probe, sign: f32, trunk: Option<&Trunk>) -> Option<Arm> {
    let joint = finder.joint(Part::UpperArm)?;
    let lower_joint = finder.joint(Part::LowerArm)?;
    let shoulder = finder.frames.joint(joint);
    let elbow = finder.frames.joint(lower_joint);
    let hand = finder.joint(Part::Hand);
    let wrist = match hand {
        Some(hand) => finder.frames.joint(hand),
        None => finder.skeleton.children(lower_joint).map(|c| finder.frames.joint(c)).next()?,
    };
    let upper_axis = (elbow - shoulder).try_normalize()?;
    let lower_axis = (wrist - elbow).try_normalize()?;
    let straight = trunk.map_or(Vec3::Z, |t| t.front);
    let bend = lower_axis.reject_from_normalized(upper_axis);
    let front = bend + STRAIGHT * straight.reject_from_normalized(upper_axis);
    // Turned by the elbow as the bone itself is, so that "front" stays on the side of the bend.
    let elbow_front = Quat::from_rotation_arc(upper_axis, lower_axis) * front.try_normalize()?;
    let across = wrist_across(finder).unwrap_or(straight).reject_from_normalized(lower_axis);
    let palm = match across.try_normalize() {
        Some(thumb) => sign * lower_axis.cross(thumb),
        None => elbow_front,
    };
    let girdle = finder.joint(Part::Shoulder).or_else(|| {
        let chest =
            [Part::UpperChest, Part::Chest, Part::Spine].into_iter().find_map(|part| finder.centre(part));
        chest.or(finder.skeleton.joints[joint].parent)
    });
    Some(Arm {
        girdle: girdle.unwrap_or(joint),
        upper: Bone::new(joint, [shoulder, elbow], [front, front], sign, 0.23, probe)?,
        lower: Bone::new(lower_joint, [elbow, wrist], [elbow_front, palm], sign, 0.2, probe)?.off_centre(),
        hand: hand.unwrap_or(lower_joint),
    })
}

/// From the little finger's side of the hand to the thumb's.
fn wrist_across(finder: &Finder) -> Option<Vec3> {
    let first = |finger: Finger| (0..3).find_map(|k| finder.point(Part::Finger(finger, k)));
    let fingers = [Finger::Index, Finger::Middle, Finger::Ring, Finger::Little];
    let found: Vec<Vec3> = fingers.into_iter().filter_map(first).collect();
    match (found.first(), found.last()) {
        (Some(&a), Some(&b)) if found.len() > 1 => Some(a - b),
        (Some(&a), _) => Some(first(Finger::Thumb)? - a),
        _ => Some(first(Finger::Thumb)? - finder.point(Part::Hand)?),
    }
}

fn find_leg(finder: &Finder, probe: &Probe, sign: f32, trunk: Option<&Trunk>) -> Option<Leg> {
    let joint = finder.joint(Part::UpperLeg)?;
    let shank = finder.joint(Part::LowerLeg)?;
    let foot = finder.joint(Part::Foot)?;
    let [hip, knee, ankle] = [joint, shank, foot].map(|j| finder.frames.joint(j));
    let ball = finder
        .joint(Part::Toes)
        .or_else(|| finder.skeleton.children(foot).next())
        .map(|j| finder.frames.joint(j));
    let thigh_axis = (knee - hip).try_normalize()?;
    let shank_axis = (ankle - knee).try_normalize()?;
    let ahead = trunk.map_or(Vec3::Z, |t| t.front);
    let toes = ball
        .and_then(|ball| (ball - ankle).reject_from_normalized(shank_axis).try_normalize())
        .unwrap_or(ahead);
    // A rig without toes may continue the foot straight down.
    let (toes, ball) = if toes.dot(ahead) > 0.3 { (toes, ball) } else { (ahead, None) };
    let front = (ahead.reject_from_normalized(thigh_axis).normalize_or_zero()
        + toes.reject_from_normalized(thigh_axis).normalize_or_zero())
    .try_normalize()?;
    // In a shoe with a high heel the foot is steep.
    let to_ball = ball
        .map_or_else(|| 0.3 * knee.distance(ankle) * (0.8 * toes + 0.4 * shank_axis), |ball| ball - ankle);
    Some(Leg {
        thigh: Bone::new(joint, [hip, knee], [front, front], sign, 0.28, probe)?,
        shank: Bone::new(shank, [knee, ankle], [front, toes], sign, 0.2, probe)?.off_centre(),
        foot,
        instep: ankle + 0.45 * to_ball,
        toes,
    })
}

fn find_neck(finder: &Finder, trunk: Option<&Trunk>) -> Option<Neck> {
    let head = finder.centre(Part::Head)?;
    let neck = finder.centre(Part::Neck);
    let top = finder.frames.joint(head);
    let chest = trunk?.chest();
    let base = finder.frames.joint(neck.unwrap_or(chest));
    Some(Neck { neck: neck.unwrap_or(chest), head, base, top })
}

//! The left hand, shared by the athlete and the hand sample, and the hand sample itself.
//!
//! Hand coordinates: the wrist is the origin, X points to the thumb's side, Y to the fingers, Z out of
//! the back of the hand. At rest the fingers are spread and lightly curled, so that each is separate.

use super::clips;
use super::rig::{Flesh, Rig};
use super::sculpt::{Sculpture, Section, ball, bone, ellipsoid, loft};
use super::weights::{soften, tidy};
use crate::character::Character;
use glam::{Affine3A, Quat, Vec3};

/// A finger or the thumb.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Digit {
    /// VRM name without the side: `Thumb`, `Index`, `Middle`, `Ring`, `Little`.
    pub name: &'static str,
    /// Its three joints and the tip, hand coordinates, metres.
    pub joints: [Vec3; 4],
    /// Where its metacarpal begins at the wrist.
    pub carpal: Vec3,
    /// Radius of the flesh at the joints and the tip.
    pub radii: [f32; 4],
    /// The axis about which it flexes by positive angles, perpendicular to its bones.
    pub hinge: Vec3,
}

struct FingerPlan {
    name: &'static str,
    carpal: Vec3,
    knuckle: Vec3,
    /// Degrees towards the thumb.
    spread: f32,
    lengths: [f32; 3],
    radii: [f32; 4],
}

/// Degrees of flexion at rest in the three joints of a finger.
pub const REST_CURL: [f32; 3] = [10.0, 16.0, 9.0];

const FINGERS: [FingerPlan; 4] = [
    FingerPlan {
        name: "Index",
        carpal: Vec3::new(0.013, 0.014, 0.002),
        knuckle: Vec3::new(0.027, 0.091, 0.003),
        spread: 11.0,
        lengths: [0.044, 0.026, 0.0225],
        radii: [0.0105, 0.0092, 0.0081, 0.0064],
    },
    FingerPlan {
        name: "Middle",
        carpal: Vec3::new(0.004, 0.016, 0.004),
        knuckle: Vec3::new(0.0065, 0.095, 0.005),
        spread: 2.0,
        lengths: [0.048, 0.030, 0.0235],
        radii: [0.0106, 0.0094, 0.0083, 0.0066],
    },
    FingerPlan {
        name: "Ring",
        carpal: Vec3::new(-0.006, 0.015, 0.003),
        knuckle: Vec3::new(-0.0135, 0.0895, 0.0025),
        spread: -8.0,
        lengths: [0.044, 0.028, 0.0230],
        radii: [0.0101, 0.0088, 0.0078, 0.0062],
    },
    FingerPlan {
        name: "Little",
        carpal: Vec3::new(-0.014, 0.013, 0.0),
        knuckle: Vec3::new(-0.0320, 0.0800, -0.002),
        spread: -20.0,
        lengths: [0.035, 0.021, 0.0200],
        radii: [0.0092, 0.0078, 0.0069, 0.0055],
    },
];

/// The five digits, thumb first.
fn digits() -> [Digit; 5] {
    let thumb_joints = [
        Vec3::new(0.021, 0.016, -0.010),
        Vec3::new(0.047, 0.052, -0.022),
        Vec3::new(0.0610, 0.0810, -0.0275),
        Vec3::new(0.0665, 0.1060, -0.0320),
    ];
    let thumb = Digit {
        name: "Thumb",
        joints: thumb_joints,
        carpal: thumb_joints[0],
        radii: [0.0150, 0.0118, 0.0106, 0.0080],
        // The thumb closes across the palm: towards the little finger and the palm at once.
        hinge: Vec3::new(-0.34, 0.45, 0.82).normalize(),
    };
    let fingers = FINGERS.map(|plan| finger(&plan));
    [thumb, fingers[0], fingers[1], fingers[2], fingers[3]]
}

fn finger(plan: &FingerPlan) -> Digit {
    let spread = Quat::from_rotation_z(-plan.spread.to_radians());
    let hinge = spread * Vec3::NEG_X;
    let mut joints = [plan.knuckle; 4];
    let mut curl = 0.0;
    for k in 0..3 {
        curl += REST_CURL[k];
        let along = Quat::from_axis_angle(hinge, f32::to_radians(curl)) * (spread * Vec3::Y);
        joints[k + 1] = joints[k] + along * plan.lengths[k];
    }
    Digit { name: plan.name, joints, carpal: plan.carpal, radii: plan.radii, hinge }
}

/// Adds the hand to the current group, in hand coordinates.
pub fn sculpt(clay: &mut Sculpture) {
    let palm = [
        Section { power: 2.0, ..Section::ellipse(-0.035, 0.0200, 0.0130) },
        Section { power: 2.2, ..Section::ellipse(-0.008, 0.0255, 0.0170) },
        Section { power: 2.4, ..Section::ellipse(0.014, 0.0290, 0.0175).moved(0.001, -0.001) },
        Section { power: 2.6, ..Section::ellipse(0.040, 0.0350, 0.0160).moved(0.001, -0.003) },
        Section { power: 2.8, ..Section::ellipse(0.066, 0.0395, 0.0142).moved(-0.001, -0.003) },
        Section { power: 2.8, ..Section::ellipse(0.086, 0.0385, 0.0132).moved(-0.002, -0.0025) },
    ];
    clay.add(loft(Vec3::ZERO, Vec3::Y, Vec3::Z, &palm, [0.02, 0.014]), 0.0);
    // The ball of the thumb and the edge of the hand.
    clay.add(
        ellipsoid(
            Vec3::new(0.024, 0.036, -0.014),
            Vec3::new(0.55, 0.85, -0.15),
            Vec3::NEG_Z,
            Vec3::new(0.017, 0.034, 0.015),
        ),
        0.014,
    );
    clay.add(
        ellipsoid(
            Vec3::new(-0.025, 0.034, -0.011),
            Vec3::new(-0.1, 1.0, 0.0),
            Vec3::NEG_Z,
            Vec3::new(0.013, 0.034, 0.013),
        ),
        0.014,
    );
    for digit in &digits()[1..] {
        let [knuckle, ..] = digit.joints;
        let r = digit.radii[0];
        // A tendon on the back of the hand ends in the knuckle.
        let lift = Vec3::Z * 0.006;
        clay.add(bone(digit.carpal + lift * 0.9, knuckle + lift * 0.25, 0.0052, r * 0.74), 0.014);
        clay.add(ball(knuckle + Vec3::Z * 0.0015, r * 0.86), 0.012);
    }
    // Webs between the fingers.
    for pair in digits()[1..].windows(2) {
        let root = |d: &Digit| d.joints[0].lerp(d.joints[1], 0.34);
        let middle = root(&pair[0]).lerp(root(&pair[1]), 0.5) - Vec3::Z * 0.002;
        clay.add(ball(middle, 0.0062), 0.012);
    }
    for digit in &digits()[1..] {
        phalanges(clay, digit, 0.0050);
    }
    let thumb = digits()[0];
    clay.add(bone(thumb.joints[0], thumb.joints[1], thumb.radii[0], thumb.radii[1]), 0.016);
    // The fold of skin between thumb and index finger.
    clay.add(
        ellipsoid(
            Vec3::new(0.030, 0.060, -0.010),
            Vec3::new(0.3, 1.0, 0.0),
            Vec3::Z,
            Vec3::new(0.010, 0.024, 0.007),
        ),
        0.016,
    );
    flesh(clay, &thumb, 1, 0.008);
    flesh(clay, &thumb, 2, 0.006);
}

fn phalanges(clay: &mut Sculpture, digit: &Digit, radius: f32) {
    for k in 0..3 {
        flesh(clay, digit, k, if k == 0 { radius } else { 0.005 });
    }
}

/// One phalanx: a shaft slightly narrower than its joints, and a pad on the palm's side.
fn flesh(clay: &mut Sculpture, digit: &Digit, k: usize, radius: f32) {
    let (a, b) = (digit.joints[k], digit.joints[k + 1]);
    let (ra, rb) = (digit.radii[k], digit.radii[k + 1]);
    let along = (b - a).normalize();
    let palmward = digit.hinge.cross(along).normalize();
    let is_last = k == 2;
    let end = if is_last { b - along * rb } else { b };
    let first_radius = if k == 0 { ra * 0.88 } else { ra };
    let middle = a.lerp(end, 0.5);
    let narrow = 0.5 * (first_radius + rb) * 0.93;
    clay.add(bone(a, middle, first_radius, narrow), radius);
    clay.add(bone(middle, end, narrow, if is_last { rb * 0.98 } else { rb }), 0.004);
    let pad = 0.5 * (ra + rb);
    let reach = a.distance(b);
    let at = a.lerp(b, if is_last { 0.60 } else { 0.5 }) + palmward * (pad * 0.30);
    clay.add(ellipsoid(at, along, palmward, Vec3::new(pad * 0.82, reach * 0.40, pad * 0.78)), 0.005);
    if is_last {
        // The nail's flat bed.
        let nail = a.lerp(b, 0.66) - palmward * (pad * 1.62);
        clay.carve(ellipsoid(nail, along, palmward, Vec3::new(pad * 1.1, reach * 0.42, pad * 0.85)), 0.003);
    }
}

/// Adds the bones of a hand whose coordinates `place` maps to the world; `palm` is the hand bone. With
/// `metacarpals` the four fingers get a bone within the palm too.
pub fn add_bones(
    rig: &mut Rig,
    side: &str,
    parent: &str,
    place: impl Fn(Vec3) -> Vec3,
    palm: [Vec3; 2],
    metacarpals: bool,
) {
    let direction = |d: Vec3| place(d) - place(Vec3::ZERO);
    let hand = format!("{side}Hand");
    rig.add(&hand, parent, palm.map(&place), direction(Vec3::NEG_Z), Flesh::even(0.030, 0.012));
    for Digit { name, joints, carpal, radii, hinge } in digits() {
        let is_thumb = name == "Thumb";
        let parts = if is_thumb {
            ["Metacarpal", "Proximal", "Distal"]
        } else {
            ["Proximal", "Intermediate", "Distal"]
        };
        let mut above = hand.clone();
        if metacarpals && !is_thumb {
            let bone = format!("{side}{name}Metacarpal");
            let flexes = hinge.cross(joints[0] - carpal);
            rig.add(
                &bone,
                &above,
                [place(carpal), place(joints[0])],
                direction(flexes),
                Flesh::even(0.011, 0.009),
            );
            above = bone;
        }
        for (k, part) in parts.iter().enumerate() {
            let bone = format!("{side}{name}{part}");
            let flexes = hinge.cross(joints[k + 1] - joints[k]);
            let ends = [place(joints[k]), place(joints[k + 1])];
            rig.add(
                &bone,
                &above,
                ends,
                direction(flexes),
                Flesh::even(radii[k], if is_thumb && k == 0 { 0.009 } else { 0.0052 }),
            );
            above = bone;
        }
    }
}

/// Vertices of the hand sample by default.
pub const DEFAULT_VERTICES: usize = 7_700;
/// Length of the forearm's stump, metres.
const STUMP: f32 = 0.11;

/// World from hand coordinates in the hand sample: fingers up, palm to the front.
pub fn world_from_hand() -> Affine3A {
    Affine3A::from_rotation_translation(Quat::from_rotation_y(std::f32::consts::PI), Vec3::Y * (STUMP + 0.02))
}

/// The bones of the hand sample: forearm, hand, three of the thumb, four of each finger; 21 in all.
pub fn rig() -> Rig {
    let world = world_from_hand();
    let place = |p: Vec3| world.transform_point3(p);
    let mut rig = Rig::default();
    let forearm = [place(Vec3::NEG_Y * STUMP), place(Vec3::ZERO)];
    rig.add("leftLowerArm", "root", forearm, world.transform_vector3(Vec3::NEG_Z), Flesh::even(0.026, 0.016));
    let palm = [Vec3::ZERO, Vec3::new(0.001, 0.022, 0.0)];
    add_bones(&mut rig, "left", "leftLowerArm", place, palm, true);
    rig
}

/// The hand sample: five fingers, 21 bones, about `vertices` vertices.
pub fn build(vertices: usize) -> Character {
    let mut clay = Sculpture::default();
    clay.group("forearm", 0.0, false, world_from_hand());
    let forearm = [
        Section::ellipse(-STUMP, 0.0290, 0.0230),
        Section::ellipse(-0.055, 0.0283, 0.0212),
        Section::ellipse(-0.007, 0.0272, 0.0200),
        Section::ellipse(0.023, 0.0215, 0.0145),
    ];
    clay.add(loft(Vec3::ZERO, Vec3::Y, Vec3::Z, &forearm, [0.014, 0.015]), 0.0);
    clay.group("hand", 0.014, false, world_from_hand());
    sculpt(&mut clay);
    // 3 mm: the narrowest gap, between the roots of the fingers, is two cells wide.
    let surface = clay.solid().surface(vertices, 0.003, |_| 1.0);
    let rig = rig();
    let owner: Vec<usize> = surface.positions.iter().map(|&p| rig.nearest(p, |_| true)).collect();
    let mut weights = soften(&surface, &rig, &owner, |_| true);
    weights.iter_mut().for_each(tidy);
    let clips = clips::hand::clips(&rig);
    rig.character("hand", surface, weights, clips)
}

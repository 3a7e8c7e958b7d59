//! The mannequin: an artist's ball-jointed figure of the athlete's size, on the athlete's bones. Every limb is a closed piece
//! of wood that one bone holds, and between two limbs sits a ball.

use super::athlete::skeleton::{
    self, ANKLE, ELBOW, HIP, KNEE, SHOULDER, WRIST, world_from_foot, world_from_hand,
};
use super::clips;
use super::garment::{Sheet, sculpted};
use super::rig::Rig;
use super::sculpt::{Sculpture, Section, ball, bone, ellipsoid, half_space, limb, loft};
use crate::character::Character;
use glam::{Vec2, Vec3};

/// Vertices by default, about.
pub const DEFAULT_VERTICES: usize = 9_000;

/// Middle of the left hip's ball, a little outside and below the joint.
const HIP_BALL: Vec3 = v(0.104, 0.918, 0.0);

/// Base colours of the materials, linear.
const COLOURS: [(&str, [f32; 3]); 2] = [("maple", [0.56, 0.34, 0.16]), ("walnut", [0.20, 0.095, 0.040])];

const fn v(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Pieces in the making.
struct Workshop {
    rig: Rig,
    /// Vertices of a piece of a square metre.
    density: f32,
    limbs: Sheet,
    balls: Sheet,
}

impl Workshop {
    /// A closed piece of about `area` square metres, weighted to `held_by`; with its mirror image if that is a left bone.
    fn piece(&self, held_by: &str, area: f32, cell: f32, model: impl FnOnce(&mut Sculpture)) -> Sheet {
        let vertices = ((area * self.density) as usize).max(40);
        let bone = self.rig.find(held_by).unwrap_or(1);
        let piece = Sheet::rigid(sculpted(vertices, cell, model), bone);
        if held_by.starts_with("left") { piece.pair(&self.rig) } else { piece }
    }

    fn limb(&mut self, held_by: &str, area: f32, cell: f32, model: impl FnOnce(&mut Sculpture)) {
        let piece = self.piece(held_by, area, cell, model);
        self.limbs.join(piece);
    }

    fn ball(&mut self, held_by: &str, centre: Vec3, radius: f32) {
        let area = 12.6 * radius * radius;
        let piece = self.piece(held_by, area, radius / 5.0, |clay| clay.add(ball(centre, radius), 0.0));
        self.balls.join(piece);
    }
}

/// A turned limb along a line, thickest where `profile` says: (share of the way, radius).
fn turned(from: Vec3, to: Vec3, profile: &[(f32, f32)]) -> super::sculpt::Mass {
    let slices: Vec<_> = profile.iter().map(|&(t, r)| (from.lerp(to, t), r, r, r, 2.0)).collect();
    limb(&slices, Vec3::Z, [0.012, 0.012])
}

/// The mannequin with about `vertices` vertices.
pub fn build(vertices: usize) -> Character {
    let mut shop = Workshop {
        rig: skeleton::rig(),
        // Its pieces measure about two square metres in all.
        density: vertices as f32 / 2.0,
        limbs: Sheet::default(),
        balls: Sheet::default(),
    };
    trunk(&mut shop);
    arm(&mut shop);
    leg(&mut shop);
    let Workshop { rig, limbs, balls, .. } = shop;
    let meshes = vec![limbs.finish(&rig, "limbs", "maple"), balls.finish(&rig, "balls", "walnut")];
    rig.assemble("mannequin", meshes, clips::athlete::clips(&rig), &COLOURS)
}

fn trunk(shop: &mut Workshop) {
    shop.limb("head", 0.09, 0.007, |clay| {
        clay.add(ellipsoid(v(0.0, 1.715, -0.006), Vec3::Y, Vec3::Z, v(0.078, 0.088, 0.094)), 0.0);
        clay.add(ellipsoid(v(0.0, 1.650, 0.022), v(0.0, 1.0, -0.2), Vec3::Z, v(0.056, 0.072, 0.066)), 0.045);
        clay.carve(ball(v(0.0, 1.590, -0.014), 0.046), 0.012);
    });
    shop.ball("head", v(0.0, 1.592, -0.014), 0.041);
    shop.limb("neck", 0.03, 0.006, |clay| {
        clay.add(bone(v(0.0, 1.505, -0.032), v(0.0, 1.560, -0.022), 0.044, 0.036), 0.0);
        clay.carve(ball(v(0.0, 1.592, -0.014), 0.045), 0.004);
    });
    shop.limb("upperChest", 0.30, 0.009, |clay| {
        let slice = |y: f32, side: f32, front: f32, back: f32| Section {
            at: y - 1.235,
            middle: Vec2::new(0.0, 0.5 * (front + back)),
            side,
            out: 0.5 * (front - back),
            back: 0.5 * (front - back),
            power: 2.3,
        };
        let slices = [
            slice(1.235, 0.105, 0.078, -0.092),
            slice(1.300, 0.140, 0.108, -0.112),
            slice(1.370, 0.152, 0.112, -0.122),
            slice(1.440, 0.130, 0.078, -0.110),
            slice(1.475, 0.085, 0.040, -0.088),
        ];
        clay.add(loft(v(0.0, 1.235, 0.0), Vec3::Y, Vec3::Z, &slices, [0.025, 0.025]), 0.0);
        clay.carve(ball(v(0.0, 1.185, -0.016), 0.091), 0.024);
        clay.carve_pair(ball(SHOULDER, 0.063), 0.018, 0.0);
    });
    shop.ball("chest", v(0.0, 1.185, -0.016), 0.086);
    shop.limb("spine", 0.14, 0.008, |clay| {
        clay.add(ellipsoid(v(0.0, 1.100, -0.010), Vec3::Y, Vec3::Z, v(0.118, 0.068, 0.092)), 0.0);
        clay.carve(ball(v(0.0, 1.185, -0.016), 0.090), 0.016);
        clay.carve(ball(v(0.0, 1.012, -0.004), 0.082), 0.016);
    });
    shop.ball("hips", v(0.0, 1.012, -0.004), 0.078);
    shop.limb("hips", 0.20, 0.009, |clay| {
        clay.add(ellipsoid(v(0.0, 0.925, -0.008), Vec3::Y, Vec3::Z, v(0.152, 0.090, 0.108)), 0.0);
        clay.carve(ball(v(0.0, 1.012, -0.004), 0.082), 0.022);
        clay.carve_pair(ball(HIP_BALL, 0.066), 0.022, 0.0);
    });
}

fn arm(shop: &mut Workshop) {
    shop.ball("leftShoulder", SHOULDER, 0.058);
    shop.limb("leftUpperArm", 0.07, 0.007, |clay| {
        let profile = [(0.20, 0.040), (0.34, 0.049), (0.60, 0.044), (0.84, 0.034)];
        clay.add(turned(SHOULDER, ELBOW, &profile), 0.0);
        clay.carve(ball(SHOULDER, 0.063), 0.010);
        clay.carve(ball(ELBOW, 0.042), 0.010);
    });
    shop.ball("leftLowerArm", ELBOW, 0.037);
    shop.limb("leftLowerArm", 0.05, 0.006, |clay| {
        let profile = [(0.16, 0.034), (0.34, 0.041), (0.65, 0.032), (0.86, 0.025)];
        clay.add(turned(ELBOW, WRIST, &profile), 0.0);
        clay.carve(ball(ELBOW, 0.042), 0.010);
        clay.carve(ball(WRIST, 0.031), 0.010);
    });
    shop.ball("leftHand", WRIST, 0.026);
    let hand = world_from_hand();
    let place = |x: f32, y: f32, z: f32| hand.transform_point3(v(x, y, z));
    let [along, out] = [Vec3::Y, Vec3::Z].map(|axis| hand.transform_vector3(axis));
    shop.limb("leftHand", 0.025, 0.005, |clay| {
        clay.add(ellipsoid(place(0.002, 0.052, 0.0), along, out, v(0.041, 0.046, 0.017)), 0.0);
        clay.carve(ball(WRIST, 0.030), 0.003);
    });
    let fingers: Vec<_> = shop
        .rig
        .bones
        .iter()
        .filter(|b| b.name.starts_with("left"))
        .filter(|b| ["Thumb", "Index", "Middle", "Ring", "Little"].iter().any(|f| b.name.contains(f)))
        .cloned()
        .collect();
    for finger in fingers {
        let radius = 0.92 * 0.5 * (finger.flesh.radii[0] + finger.flesh.radii[1]);
        // A gap between the pieces, as in the real thing.
        let (a, b) = (finger.head.lerp(finger.tip, 0.12), finger.head.lerp(finger.tip, 0.90));
        shop.limb(&finger.name, 0.0035, 0.5 * radius, |clay| {
            clay.add(bone(a, b, radius, 0.92 * radius), 0.0);
        });
    }
}

fn leg(shop: &mut Workshop) {
    shop.ball("leftUpperLeg", HIP_BALL, 0.061);
    shop.limb("leftUpperLeg", 0.16, 0.008, |clay| {
        let profile = [(0.18, 0.060), (0.34, 0.074), (0.62, 0.062), (0.88, 0.047)];
        clay.add(turned(HIP, KNEE, &profile), 0.0);
        clay.carve(ball(HIP_BALL, 0.066), 0.014);
        clay.carve(ball(KNEE, 0.055), 0.010);
    });
    shop.ball("leftLowerLeg", KNEE, 0.049);
    shop.limb("leftLowerLeg", 0.11, 0.007, |clay| {
        let profile = [(0.13, 0.044), (0.32, 0.056), (0.64, 0.040), (0.90, 0.030)];
        clay.add(turned(KNEE, ANKLE, &profile), 0.0);
        clay.carve(ball(KNEE, 0.054), 0.010);
        clay.carve(ball(ANKLE, 0.038), 0.010);
    });
    shop.ball("leftFoot", ANKLE, 0.033);
    let foot = world_from_foot();
    let slices = [
        (-0.045, 0.030, 0.046),
        (0.000, 0.036, 0.062),
        (0.060, 0.039, 0.058),
        (0.125, 0.046, 0.036),
        (0.185, 0.040, 0.026),
    ];
    let sole = Section::of_foot(0.012, 2.5, slices);
    // The foot is sawn through at the ball; both halves come from one block.
    let block = loft(Vec3::ZERO, Vec3::Z, Vec3::Y, &sole, [0.022, 0.020]);
    let ankle = foot.inverse().transform_point3(ANKLE);
    let halves = [("leftFoot", 0.05, 0.124, -1.0, true), ("leftToes", 0.02, 0.130, 1.0, false)];
    for (held_by, area, cut, side, has_ankle) in halves {
        let block = block.clone();
        shop.limb(held_by, area, 0.005, |clay| {
            clay.group("foot", 0.0, false, foot);
            clay.add(block, 0.0);
            clay.carve(half_space(v(0.0, 0.0, cut), v(0.0, 0.0, side), 0.4), 0.008);
            if has_ankle {
                clay.carve(ball(ankle, 0.038), 0.004);
            }
        });
    }
}

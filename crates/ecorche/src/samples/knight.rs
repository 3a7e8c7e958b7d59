//! The knight: the athlete in an under-suit, with plates of steel over it. Every plate is a closed shell weighted to one bone;
//! at rest they overlap, as the lames of real armour do, and where joints bend the under-suit shows.

use super::athlete::skeleton::{ANKLE, ELBOW, HIP, KNEE, SHOULDER, WRIST, world_from_foot};
use super::garment::{Sheet, Wearer, both, sculpted};
use super::rig::Rig;
use super::sculpt::{Section, bone, ellipsoid, half_space, loft};
use super::{athlete, clips};
use crate::character::Character;
use glam::{Vec2, Vec3};

/// Vertices of the under-suit by default.
pub const DEFAULT_VERTICES: usize = 9_000;

/// Base colours of the materials, linear.
const COLOURS: [(&str, [f32; 3]); 3] =
    [("cloth", [0.045, 0.035, 0.040]), ("steel", [0.40, 0.42, 0.45]), ("brass", [0.50, 0.33, 0.10])];

/// Thickness of every plate, metres.
const THICKNESS: f32 = 0.003;

const fn v(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Cuts plates from the body's skin.
struct Smith<'a> {
    wearer: &'a Wearer,
    rig: &'a Rig,
    /// Shares of the arms' bones, per vertex.
    arm: Vec<f32>,
}

impl Smith<'_> {
    /// A plate `distance` metres above the skin where `outside` is negative; pairs for a left bone.
    fn plate(&self, held_by: &str, distance: f32, outside: impl Fn(Vec3, f32) -> f32) -> Sheet {
        let is_left = held_by.starts_with("left");
        let mut sheet = self.wearer.cut(|vertex| {
            let p = self.wearer.skin.positions[vertex];
            let value = outside(p, self.arm[vertex]);
            if is_left { value.max(0.004 - p.x) } else { value }
        });
        self.wearer.drape(&mut sheet, 24, distance);
        sheet.thicken(THICKNESS);
        let sheet = sheet.held_by(self.rig.find(held_by).unwrap_or(1));
        if is_left { sheet.pair(self.rig) } else { sheet }
    }

    /// A tube around a bone of an arm, from share to share of its length.
    fn sleeve(&self, held_by: &str, distance: f32, [from, to]: [Vec3; 2], [low, high]: [f32; 2]) -> Sheet {
        let along = to - from;
        let length = along.length();
        self.plate(held_by, distance, |p, arm| {
            let at = (p - from).dot(along) / (length * length);
            if arm < 0.5 { 1.0 } else { both(at - high, low - at) * length }
        })
    }
}

/// Whether a bone is of an arm, from the upper arm on.
fn is_arm(name: &str) -> bool {
    ["UpperArm", "LowerArm", "Hand", "Thumb", "Index", "Middle", "Ring", "Little"]
        .iter()
        .any(|part| name.contains(part))
}

/// The knight with about `vertices` vertices of under-suit.
pub fn build(vertices: usize) -> Character {
    let (rig, skin, weights) = athlete::body(vertices);
    let wearer = Wearer::new(skin, weights);
    let arm = (0..wearer.weights.len()).map(|vertex| wearer.share(&rig, vertex, is_arm)).collect();
    let smith = Smith { wearer: &wearer, rig: &rig, arm };
    let suit = Sheet::new(wearer.skin.clone(), wearer.weights.clone());
    let mut meshes = vec![
        suit.finish(&rig, "undersuit", "cloth"),
        helmet(&rig).finish(&rig, "helmet", "steel"),
        gorget(&smith).finish_hard(&rig, "gorget", "steel"),
        breastplate(&smith).finish_hard(&rig, "breastplate", "steel"),
        faulds(&smith).finish_hard(&rig, "faulds", "steel"),
        pauldrons(&smith).finish_hard(&rig, "pauldrons", "steel"),
    ];
    let arms = [
        ("rerebraces", smith.sleeve("leftUpperArm", 0.007, [SHOULDER, ELBOW], [0.40, 0.80])),
        ("vambraces", smith.sleeve("leftLowerArm", 0.007, [ELBOW, WRIST], [0.16, 0.96])),
        ("gauntlets", gauntlets(&smith)),
        ("cuisses", cuisses(&smith)),
        ("greaves", greaves(&smith)),
        ("sabatons", sabatons(&smith)),
    ];
    meshes.extend(arms.map(|(name, sheet)| sheet.finish_hard(&rig, name, "steel")));
    meshes.push(cups(&smith).finish_hard(&rig, "cups", "brass"));
    rig.assemble("knight", meshes, clips::athlete::clips(&rig), &COLOURS)
}

fn helmet(rig: &Rig) -> Sheet {
    let shell = sculpted(4200, 0.0045, |clay| {
        clay.add(ellipsoid(v(0.0, 1.712, -0.004), Vec3::Y, Vec3::Z, v(0.100, 0.112, 0.126)), 0.0);
        let slices = [
            Section { power: 2.2, ..Section::ellipse(0.0, 0.084, 0.098) },
            Section { power: 2.2, ..Section::ellipse(0.050, 0.092, 0.112) },
            Section { power: 2.2, ..Section::ellipse(0.120, 0.098, 0.124) },
        ];
        clay.add(loft(v(0.0, 1.575, 0.0), Vec3::Y, Vec3::Z, &slices, [0.012, 0.03]), 0.010);
        // The visor comes to a ridge in front, and a comb runs over the top.
        clay.add(bone(v(0.0, 1.600, 0.108), v(0.0, 1.690, 0.132), 0.010, 0.010), 0.050);
        clay.add(bone(v(0.0, 1.780, -0.100), v(0.0, 1.822, -0.004), 0.007, 0.008), 0.018);
        clay.add(bone(v(0.0, 1.822, -0.004), v(0.0, 1.790, 0.090), 0.008, 0.007), 0.018);
        // Eye slits, and breaths below them.
        clay.carve_pair(bone(v(0.016, 1.688, 0.136), v(0.086, 1.692, 0.066), 0.0090, 0.0090), 0.004, 0.0);
        for (y, z) in [(1.646, 0.118), (1.622, 0.112)] {
            clay.carve_pair(bone(v(0.032, y, z), v(0.056, y, z - 0.016), 0.0065, 0.0065), 0.004, 0.0);
        }
    });
    Sheet::rigid(shell, rig.find("head").unwrap_or(1))
}

fn gorget(smith: &Smith) -> Sheet {
    smith.plate("neck", 0.008, |p, _| {
        let from_neck = Vec2::new(p.x, p.z + 0.028).length();
        both(both(p.y + 0.15 * p.z - 1.560, 1.455 - p.y - 0.20 * p.z), from_neck - 0.110)
    })
}

/// Front and back, which overlap at the sides.
fn breastplate(smith: &Smith) -> Sheet {
    let torso = |p: Vec3, arm: f32| {
        let armhole = 0.105 - Vec2::new(p.x.abs() - 0.212, 1.2 * (p.y - 1.420)).length();
        let neck = (0.085 - Vec2::new(p.x, p.z + 0.028).length()).max(p.y - 1.500);
        if arm > 0.5 { 1.0 } else { both(both(both(armhole, neck), 1.145 - p.y), p.y - 1.500) }
    };
    let mut plates = smith.plate("upperChest", 0.016, |p, arm| both(torso(p, arm), -0.030 - p.z));
    plates.join(smith.plate("upperChest", 0.009, |p, arm| both(torso(p, arm), p.z - 0.010)));
    plates
}

/// Hoops from the waist to the hips, each under the one above.
fn faulds(smith: &Smith) -> Sheet {
    let hoop = |held_by: &str, distance: f32, low: f32, high: f32| {
        smith.plate(held_by, distance, |p, arm| if arm > 0.2 { 1.0 } else { both(p.y - high, low - p.y) })
    };
    let mut hoops = hoop("spine", 0.012, 1.060, 1.165);
    hoops.join(hoop("spine", 0.017, 1.005, 1.085));
    hoops.join(hoop("hips", 0.022, 0.890, 1.030));
    hoops
}

/// A cap on each shoulder and two lames below it.
fn pauldrons(smith: &Smith) -> Sheet {
    let along = (ELBOW - SHOULDER).normalize();
    let lame = |held_by: &str, distance: f32, low: f32, high: f32| {
        smith.plate(held_by, distance, |p, _| {
            let at = (p - SHOULDER).dot(along);
            let beside = p - SHOULDER - along * at;
            // Open towards the armpit.
            let armpit = 0.030 - beside.dot(v(0.71, 0.70, 0.0)) - 0.060;
            let off = beside.length() - 0.115;
            both(both(both(at - high, low - at), armpit), off)
        })
    };
    let mut plates = lame("leftShoulder", 0.026, -0.085, 0.055);
    plates.join(lame("leftUpperArm", 0.019, 0.020, 0.092));
    plates.join(lame("leftUpperArm", 0.012, 0.070, 0.140));
    plates
}

fn gauntlets(smith: &Smith) -> Sheet {
    let along = (WRIST - ELBOW).normalize();
    smith.plate("leftHand", 0.006, |p, arm| {
        let at = (p - WRIST).dot(along);
        if arm < 0.5 { 1.0 } else { both(at - 0.062, -0.012 - at) }
    })
}

fn cuisses(smith: &Smith) -> Sheet {
    let along = KNEE - HIP;
    smith.plate("leftUpperLeg", 0.009, |p, arm| {
        let at = (p - HIP).dot(along) / along.length_squared();
        if arm > 0.2 { 1.0 } else { 0.43 * both(at - 0.88, 0.19 - at) }
    })
}

fn greaves(smith: &Smith) -> Sheet {
    let along = ANKLE - KNEE;
    smith.plate("leftLowerLeg", 0.008, |p, arm| {
        let at = (p - KNEE).dot(along) / along.length_squared();
        if arm > 0.2 { 1.0 } else { 0.43 * both(at - 0.97, 0.14 - at) }
    })
}

fn sabatons(smith: &Smith) -> Sheet {
    let shoe = sculpted(600, 0.006, |clay| {
        clay.group("foot", 0.0, false, world_from_foot());
        let slices = [
            (-0.050, 0.038, 0.070),
            (0.000, 0.045, 0.094),
            (0.050, 0.047, 0.092),
            (0.100, 0.056, 0.070),
            (0.150, 0.060, 0.058),
            (0.205, 0.046, 0.048),
        ];
        let foot = Section::of_foot(0.026, 2.4, slices);
        clay.add(loft(Vec3::ZERO, Vec3::Z, Vec3::Y, &foot, [0.026, 0.034]), 0.0);
        clay.carve(half_space(v(0.0, -0.010, 0.06), Vec3::Y, 0.4), 0.004);
    });
    let foot = smith.rig.find("leftFoot").unwrap_or(1);
    Sheet::rigid(shoe, foot).pair(smith.rig)
}

/// Cups over elbows and knees.
fn cups(smith: &Smith) -> Sheet {
    let knee = KNEE + v(0.0, 0.004, 0.055);
    let mut cups = smith.plate("leftLowerLeg", 0.017, |p, _| p.distance(knee) - 0.074);
    let arm = (WRIST - SHOULDER).normalize();
    let back = v(0.45, 0.0, -1.0);
    let elbow = ELBOW + (back - arm * back.dot(arm)).normalize() * 0.045;
    let on_elbow = |p: Vec3, share: f32| if share > 0.5 { p.distance(elbow) - 0.058 } else { 1.0 };
    cups.join(smith.plate("leftLowerArm", 0.012, on_elbow));
    cups
}

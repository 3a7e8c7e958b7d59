//! The dressed athlete: shirt, trousers, belt, boots and hair over the athlete's whole skin, as a game would have them.
//!
//! | piece | surface | weights |
//! |---|---|---|
//! | shirt | open sheet, 5 mm above the skin; hem in the trousers | the skin's |
//! | trousers | open sheet, 10 mm above the skin; legs in the boots | the skin's |
//! | belt, buckle | closed band over the trousers; closed plate | the nearest skin's; rigid |
//! | boots | a closed piece per foot | the nearest skin's |
//! | hair | closed cap, closed tail | rigid |

use super::athlete::skeleton::{ANKLE, ELBOW, KNEE, SHOULDER, world_from_foot};
use super::garment::{Sheet, Wearer, both, sculpted};
use super::rig::Rig;
use super::sculpt::{Section, ball, bone, ellipsoid, half_space, limb, loft, muscle};
use super::{athlete, clips};
use crate::character::{Character, Mesh};
use crate::geom::intersect::Ray;
use crate::geom::{Bvh, TriMesh};
use glam::{Vec2, Vec3};

/// Vertices of the skin by default.
pub const DEFAULT_VERTICES: usize = 9_000;

/// Base colours of the materials, linear.
const COLOURS: [(&str, [f32; 3]); 7] = [
    ("skin", [0.56, 0.30, 0.20]),
    ("shirt", [0.62, 0.60, 0.54]),
    ("trousers", [0.055, 0.085, 0.17]),
    ("leather", [0.12, 0.052, 0.022]),
    ("brass", [0.55, 0.38, 0.12]),
    ("boots", [0.075, 0.038, 0.022]),
    ("hair", [0.035, 0.018, 0.010]),
];

const fn v(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

/// The athlete with about `vertices` vertices of skin, dressed.
pub fn build(vertices: usize) -> Character {
    let (rig, skin, weights) = athlete::body(vertices);
    let wearer = Wearer::new(skin, weights);
    let trousers = trousers(&wearer, &rig);
    let (belt, buckle) = belt(&wearer, &rig, &trousers.mesh);
    let mut meshes: Vec<Mesh> = vec![
        Sheet::new(wearer.skin.clone(), wearer.weights.clone()).finish(&rig, "skin", "skin"),
        shirt(&wearer, &rig).finish(&rig, "shirt", "shirt"),
        trousers.finish(&rig, "trousers", "trousers"),
        belt.finish_hard(&rig, "belt", "leather"),
        buckle.finish_hard(&rig, "buckle", "brass"),
        boots(&wearer, &rig).finish(&rig, "boots", "boots"),
    ];
    meshes.push(hair(&rig).finish(&rig, "hair", "hair"));
    rig.assemble("dressed", meshes, clips::athlete::clips(&rig), &COLOURS)
}

/// Whether a bone is of an arm, from the upper arm on.
fn is_arm(name: &str) -> bool {
    ["UpperArm", "LowerArm", "Hand", "Thumb", "Index", "Middle", "Ring", "Little"]
        .iter()
        .any(|part| name.contains(part))
}

fn shirt(wearer: &Wearer, rig: &Rig) -> Sheet {
    let along = (ELBOW - SHOULDER).normalize();
    let mut sheet = wearer.cut(|vertex| {
        let p = wearer.skin.positions[vertex];
        let left = v(p.x.abs(), p.y, p.z);
        if wearer.share(rig, vertex, is_arm) > 0.5 {
            return (left - SHOULDER).dot(along) - 0.185;
        }
        // The collar is a ring around the neck, lower in front.
        let from_neck = Vec2::new(0.84 * p.x, p.z + 0.028).length();
        let collar = (0.080 - from_neck).min(p.y + 0.30 * p.z - 1.448);
        both(both(collar, p.y - 1.535), 0.985 - p.y)
    });
    wearer.drape(&mut sheet, 14, 0.005);
    sheet
}

fn trousers(wearer: &Wearer, rig: &Rig) -> Sheet {
    let mut sheet = wearer.cut(|vertex| {
        let p = wearer.skin.positions[vertex];
        if wearer.share(rig, vertex, is_arm) > 0.2 { 1.0 } else { both(p.y - 1.052, 0.20 - p.y) }
    });
    wearer.drape(&mut sheet, 16, 0.010);
    sheet
}

/// Vertices around and across the belt.
const BELT: [usize; 2] = [72, 8];

/// A band around the waist, and the plate in front of it.
fn belt(wearer: &Wearer, rig: &Rig, trousers: &TriMesh) -> (Sheet, Sheet) {
    let bvh = Bvh::over_triangles(&trousers.positions, &trousers.triangles);
    let [around, across] = BELT;
    let (height, half) = (1.034, 0.019);
    let radius = |angle: f32| {
        let way = v(angle.sin(), 0.0, angle.cos());
        // The widest of what lies under the band.
        let hit = |k: i32| {
            let from = v(0.0, height + 0.5 * half * k as f32, 0.0);
            let hit =
                bvh.first_hit(&Ray::new(from, way), 1.0, &trousers.positions, &trousers.triangles, |_| true);
            hit.map_or(0.0, |h| h.distance)
        };
        (-2..=2).map(hit).fold(0.0, f32::max)
    };
    let mut radii: Vec<f32> =
        (0..around).map(|k| radius(std::f32::consts::TAU * k as f32 / around as f32)).collect();
    for _ in 0..4 {
        let from = radii.clone();
        let next = |k: usize| (from[(k + around - 1) % around] + from[(k + 1) % around]) * 0.5;
        radii = (0..around).map(|k| from[k].max(0.5 * (from[k] + next(k)))).collect();
    }
    // A rounded rectangle, from the inside up and over: (outward, up).
    let outline: [(f32, f32); 8] = [
        (0.0, -0.75),
        (0.0, 0.0),
        (0.0, 0.75),
        (0.0016, 1.0),
        (0.0056, 1.0),
        (0.0064, 0.4),
        (0.0064, -0.4),
        (0.0056, -1.0),
    ];
    let mut mesh = TriMesh::default();
    for (k, radius) in radii.iter().enumerate() {
        let (sine, cosine) = (std::f32::consts::TAU * k as f32 / around as f32).sin_cos();
        for (out, up) in outline {
            let r = radius + 0.001 + out;
            mesh.positions.push(v(r * sine, height + half * up, r * cosine));
        }
    }
    let at = |k: usize, j: usize| ((k % around) * across + j % across) as u32;
    for k in 0..around {
        for j in 0..across {
            let [a, b, c, d] = [at(k, j), at(k + 1, j), at(k + 1, j + 1), at(k, j + 1)];
            mesh.triangles.extend([[a, c, b], [a, d, c]]);
        }
    }
    let front = radii[0] + 0.010;
    let plate = sculpted(260, 0.0022, |clay| {
        clay.add(
            loft(
                v(0.0, height - 0.018, front),
                Vec3::Y,
                Vec3::Z,
                &[
                    Section { power: 5.0, ..Section::ellipse(0.0, 0.026, 0.005) },
                    Section { power: 5.0, ..Section::ellipse(0.036, 0.026, 0.005) },
                ],
                [0.005, 0.005],
            ),
            0.0,
        );
    });
    let hips = rig.find("spine").unwrap_or(1);
    let weights = wearer.nearest_weights(&mesh);
    (Sheet::new(mesh, weights), Sheet::rigid(plate, hips))
}

fn boots(wearer: &Wearer, rig: &Rig) -> Sheet {
    let shin = |t: f32| KNEE.lerp(ANKLE, t);
    let mesh = sculpted(1100, 0.006, |clay| {
        let shaft = [
            (shin(0.50), 0.064, 0.056, 0.078, 2.0),
            (shin(0.62), 0.057, 0.051, 0.068, 2.0),
            (shin(0.80), 0.048, 0.047, 0.053, 2.0),
            (shin(0.92), 0.045, 0.046, 0.050, 2.0),
            (shin(1.06), 0.042, 0.050, 0.052, 2.0),
        ];
        clay.add(limb(&shaft, Vec3::Z, [0.008, 0.02]), 0.0);
        // A rolled cuff.
        let top = shin(0.515) - Vec3::Z * 0.011;
        clay.add(ellipsoid(top, Vec3::Y, Vec3::Z, v(0.070, 0.013, 0.073)), 0.006);
        clay.group("foot", 0.030, false, world_from_foot());
        let slices = [
            (-0.050, 0.037, 0.072),
            (-0.010, 0.042, 0.092),
            (0.040, 0.044, 0.096),
            (0.085, 0.049, 0.078),
            (0.130, 0.056, 0.058),
            (0.175, 0.052, 0.046),
            (0.200, 0.042, 0.040),
        ];
        let foot = Section::of_foot(0.028, 2.6, slices);
        clay.add(loft(Vec3::ZERO, Vec3::Z, Vec3::Y, &foot, [0.026, 0.020]), 0.0);
        // Sole and heel.
        clay.carve(half_space(v(0.0, -0.012, 0.06), Vec3::Y, 0.4), 0.004);
    });
    let weights = wearer.nearest_weights(&mesh);
    Sheet::new(mesh, weights).pair(rig)
}

fn hair(rig: &Rig) -> Sheet {
    let head = rig.find("head").unwrap_or(1);
    let cap = sculpted(2600, 0.0045, |clay| {
        clay.add(ellipsoid(v(0.0, 1.713, -0.016), Vec3::Y, Vec3::Z, v(0.0880, 0.1020, 0.1080)), 0.0);
        clay.add(ellipsoid(v(0.0, 1.665, -0.055), Vec3::Y, Vec3::Z, v(0.0700, 0.0700, 0.0640)), 0.030);
        // Face, ears and nape stay free.
        clay.carve(
            ellipsoid(v(0.0, 1.642, 0.100), v(0.0, 1.0, -0.25), Vec3::Z, v(0.0730, 0.1000, 0.0800)),
            0.010,
        );
        clay.carve_pair(
            ellipsoid(v(0.092, 1.664, 0.002), v(0.0, 1.0, -0.1), Vec3::Z, v(0.034, 0.044, 0.026)),
            0.010,
            0.0,
        );
        clay.carve(half_space(v(0.0, 1.622, -0.06), v(0.0, 1.0, 0.10), 0.3), 0.012);
        clay.carve(ellipsoid(v(0.0, 1.655, 0.012), Vec3::Y, Vec3::Z, v(0.058, 0.085, 0.070)), 0.010);
        // Locks from the parting to both sides, and swept back.
        for k in 0..6 {
            let z = 0.072 - 0.024 * k as f32;
            // Height over the middle of the cap, and its half breadth, as shares, where the lock begins and ends.
            let share = |z: f32| (1.0 - ((z + 0.016) / 0.110).powi(2)).max(0.0).sqrt();
            let lock = [(0.0, 0.010, 0.006), (0.5, 0.013, 0.010), (1.0, 0.007, 0.006)];
            clay.add_pair(
                muscle(
                    v(0.012, 1.713 + 0.100 * share(z), z + 0.006),
                    v(0.082 * share(z - 0.026), 1.706, z - 0.026),
                    v(0.7, 1.0, 0.0),
                    &lock,
                ),
                0.012,
                0.0,
            );
        }
    });
    let tail = sculpted(420, 0.005, |clay| {
        clay.add(ball(v(0.0, 1.716, -0.126), 0.019), 0.0);
        clay.add(bone(v(0.0, 1.716, -0.130), v(0.0, 1.690, -0.164), 0.016, 0.026), 0.012);
        clay.add(bone(v(0.0, 1.690, -0.164), v(0.0, 1.600, -0.176), 0.026, 0.022), 0.020);
        clay.add(bone(v(0.0, 1.600, -0.176), v(0.0, 1.525, -0.158), 0.022, 0.006), 0.020);
    });
    let mut hair = Sheet::rigid(cap, head);
    hair.join(Sheet::rigid(tail, head));
    hair
}

//! The athlete's body as masses: silhouettes first, muscles on them, furrows last. Points are of the left
//! side, metres; the module above gives the rules of thumb.

use super::skeleton::*;
use crate::samples::hand;
use crate::samples::sculpt::{
    Sculpture, Section, Solid, ball, bone, ellipsoid, half_space, limb, loft, muscle,
};
use glam::{Affine3A, Vec2, Vec3};

const fn v(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

/// The whole figure.
pub fn solid() -> Solid {
    let mut clay = Sculpture::default();
    torso(&mut clay);
    clay.group("head", 0.024, false, Affine3A::IDENTITY);
    head(&mut clay);
    clay.group("leg", 0.036, true, Affine3A::IDENTITY);
    leg(&mut clay);
    clay.group("foot", 0.020, true, world_from_foot());
    foot(&mut clay);
    clay.group("arm", 0.036, true, Affine3A::IDENTITY);
    arm(&mut clay);
    armpit(&mut clay);
    clay.group("hand", 0.014, true, world_from_hand());
    hand::sculpt(&mut clay);
    clay.solid()
}

/// A horizontal slice: height, half breadth, front and back of the body.
fn slice(from: f32, y: f32, side: f32, front: f32, back: f32, power: f32) -> Section {
    let middle = 0.5 * (front + back);
    Section {
        at: y - from,
        middle: Vec2::new(0.0, middle),
        side,
        out: front - middle,
        back: middle - back,
        power,
    }
}

fn torso(clay: &mut Sculpture) {
    let from = 0.86;
    let trunk = [
        slice(from, 0.86, 0.040, 0.046, -0.050, 2.0),
        slice(from, 0.89, 0.082, 0.066, -0.078, 2.1),
        slice(from, 0.92, 0.122, 0.080, -0.092, 2.2),
        slice(from, 0.96, 0.152, 0.092, -0.098, 2.4),
        slice(from, 1.00, 0.157, 0.098, -0.090, 2.4),
        slice(from, 1.05, 0.146, 0.099, -0.076, 2.4),
        slice(from, 1.10, 0.138, 0.100, -0.072, 2.4),
        slice(from, 1.15, 0.136, 0.101, -0.076, 2.4),
        slice(from, 1.20, 0.140, 0.105, -0.086, 2.4),
        slice(from, 1.26, 0.149, 0.110, -0.102, 2.4),
        slice(from, 1.32, 0.154, 0.107, -0.114, 2.4),
        slice(from, 1.38, 0.154, 0.094, -0.119, 2.3),
        slice(from, 1.43, 0.142, 0.080, -0.112, 2.2),
        slice(from, 1.455, 0.116, 0.063, -0.102, 2.1),
    ];
    clay.add(loft(v(0.0, from, 0.0), Vec3::Y, Vec3::Z, &trunk, [0.03, 0.045]), 0.0);
    // The shelf of the shoulders, under collar bone and trapezius.
    clay.add_pair(
        ellipsoid(v(0.105, 1.430, -0.016), v(1.0, 0.22, 0.0), Vec3::Z, v(0.044, 0.088, 0.062)),
        0.030,
        0.03,
    );

    // Chest: the big fan of the pectoral, thick at the lower outer edge.
    clay.add_pair(
        muscle(
            v(0.020, 1.360, 0.088),
            v(0.158, 1.402, 0.036),
            v(0.35, 0.1, 1.0),
            &[(0.0, 0.056, 0.016), (0.4, 0.062, 0.026), (0.8, 0.044, 0.028), (1.0, 0.030, 0.024)],
        ),
        0.024,
        0.009,
    );
    clay.add_pair(
        ellipsoid(v(0.078, 1.326, 0.083), v(1.0, 0.16, -0.38), v(0.3, -0.1, 1.0), v(0.038, 0.066, 0.026)),
        0.026,
        0.012,
    );
    // Its upper part runs up to the collar bone without a ledge.
    clay.add_pair(
        muscle(
            v(0.022, 1.440, 0.046),
            v(0.140, 1.455, 0.012),
            v(0.2, 0.7, 1.0),
            &[(0.0, 0.026, 0.024), (0.5, 0.028, 0.028), (1.0, 0.024, 0.024)],
        ),
        0.030,
        0.020,
    );
    // Lat: the wing from the armpit to the small of the back.
    clay.add_pair(
        muscle(
            v(0.158, 1.385, -0.060),
            v(0.075, 1.060, -0.056),
            v(0.7, 0.0, -0.7),
            &[(0.0, 0.036, 0.026), (0.25, 0.052, 0.033), (0.6, 0.050, 0.024), (1.0, 0.030, 0.010)],
        ),
        0.036,
        0.0,
    );
    // Shoulder blade and the muscles over it.
    clay.add_pair(
        ellipsoid(v(0.090, 1.385, -0.096), v(0.25, 1.0, 0.1), v(0.25, 0.15, -1.0), v(0.050, 0.070, 0.026)),
        0.030,
        0.02,
    );
    clay.add_pair(
        ellipsoid(v(0.122, 1.352, -0.084), v(0.9, 0.45, 0.1), v(0.35, 0.0, -1.0), v(0.028, 0.056, 0.026)),
        0.026,
        0.0,
    );
    // Columns beside the spine.
    clay.add_pair(
        muscle(
            v(0.030, 0.985, -0.070),
            v(0.036, 1.33, -0.098),
            Vec3::NEG_Z,
            &[(0.0, 0.016, 0.008), (0.25, 0.027, 0.021), (0.6, 0.027, 0.018), (1.0, 0.020, 0.008)],
        ),
        0.026,
        0.030,
    );
    // Straight muscle of the belly, in steps.
    clay.add_pair(
        muscle(
            v(0.036, 1.285, 0.092),
            v(0.022, 0.90, 0.070),
            Vec3::Z,
            &[(0.0, 0.028, 0.012), (0.3, 0.033, 0.014), (0.7, 0.030, 0.016), (1.0, 0.016, 0.010)],
        ),
        0.020,
        0.012,
    );
    for (y, z, r) in [(1.238, 0.0985, 0.027), (1.180, 0.0945, 0.027), (1.122, 0.0915, 0.027)] {
        clay.add_pair(ellipsoid(v(0.034, y, z), Vec3::Y, Vec3::Z, v(0.030, r, 0.0135)), 0.018, 0.008);
    }
    // Flanks.
    clay.add_pair(
        ellipsoid(v(0.108, 1.050, 0.024), v(-0.12, 1.0, 0.1), v(1.0, 0.0, 0.6), v(0.055, 0.066, 0.036)),
        0.036,
        0.0,
    );
    // Saw-muscle below the armpit.
    for (k, y) in [1.292, 1.256, 1.220].into_iter().enumerate() {
        let x = 0.1300 - 0.0045 * k as f32;
        clay.add_pair(
            ellipsoid(
                v(x, y, 0.046 + 0.006 * k as f32),
                v(-0.3, -0.7, 0.8),
                v(1.0, 0.0, 0.4),
                v(0.012, 0.026, 0.014),
            ),
            0.026,
            0.0,
        );
    }
    // Seat.
    clay.add_pair(
        ellipsoid(v(0.074, 0.912, -0.062), v(0.30, 1.0, 0.0), v(0.25, 0.0, -1.0), v(0.078, 0.088, 0.068)),
        0.034,
        0.014,
    );
    clay.add_pair(
        ellipsoid(v(0.116, 0.985, -0.026), v(0.1, 1.0, 0.0), v(1.0, 0.0, -0.6), v(0.052, 0.066, 0.042)),
        0.036,
        0.0,
    );
    clay.add_pair(
        ellipsoid(v(0.134, 0.950, 0.012), v(0.08, 1.0, 0.0), v(1.0, 0.0, 0.4), v(0.050, 0.085, 0.036)),
        0.036,
        0.0,
    );
    // Neck, leaning forward, with the muscle from ear to breastbone.
    let neck = [
        Section { power: 2.1, ..Section::ellipse(0.0, 0.066, 0.058) },
        Section { power: 2.1, ..Section::ellipse(0.050, 0.057, 0.056) },
        Section { power: 2.1, ..Section::ellipse(0.100, 0.054, 0.055) },
        Section { power: 2.0, ..Section::ellipse(0.170, 0.055, 0.058) },
    ];
    clay.add(loft(v(0.0, 1.452, -0.034), v(0.0, 1.0, 0.16), Vec3::Z, &neck, [0.03, 0.03]), 0.030);
    clay.add_pair(
        muscle(
            v(0.014, 1.466, 0.026),
            v(0.058, 1.645, -0.022),
            v(1.0, 0.0, 0.8),
            &[(0.0, 0.008, 0.007), (0.5, 0.015, 0.012), (1.0, 0.013, 0.010)],
        ),
        0.014,
        0.008,
    );
    clay.add(ellipsoid(v(0.0, 1.540, 0.034), v(0.0, 1.0, 0.2), Vec3::Z, v(0.014, 0.020, 0.011)), 0.014);
    // Trapezius: from the skull down to the shoulder tips.
    clay.add_pair(bone(v(0.018, 1.632, -0.042), v(0.075, 1.490, -0.046), 0.018, 0.030), 0.034, 0.03);
    clay.add_pair(bone(v(0.065, 1.486, -0.046), v(0.172, 1.468, -0.030), 0.032, 0.022), 0.034, 0.0);
    // Collar bones.
    let collar = [
        (v(0.016, 1.463, 0.059), 0.0100),
        (v(0.075, 1.469, 0.051), 0.0085),
        (v(0.130, 1.479, 0.022), 0.0090),
        (v(0.176, 1.484, -0.008), 0.0095),
    ];
    for ends in collar.windows(2) {
        clay.add_pair(bone(ends[0].0, ends[1].0, ends[0].1, ends[1].1), 0.020, 0.010);
    }
    // Pit of the throat.
    clay.carve(ball(v(0.0, 1.490, 0.078), 0.022), 0.022);
    // Furrows: breastbone, spine, cleft of the seat.
    clay.carve(bone(v(0.0, 1.43, -0.134), v(0.0, 1.22, -0.124), 0.010, 0.010), 0.030);
    clay.carve(ball(v(0.0, 1.065, 0.113), 0.007), 0.010);
    // Groin.
    clay.add(ellipsoid(v(0.0, 0.874, 0.042), v(0.0, 1.0, 0.35), Vec3::Z, v(0.034, 0.044, 0.036)), 0.044);
    clay.add(ellipsoid(v(0.0, 0.868, -0.006), Vec3::Z, Vec3::Y, v(0.034, 0.060, 0.034)), 0.024);
}

fn head(clay: &mut Sculpture) {
    // Skull.
    clay.add(ellipsoid(v(0.0, 1.7035, -0.006), v(0.0, 1.0, 0.05), Vec3::Z, v(0.0755, 0.0965, 0.0960)), 0.0);
    clay.add(ellipsoid(v(0.0, 1.7220, -0.018), Vec3::Y, Vec3::Z, v(0.0725, 0.0725, 0.0830)), 0.020);
    // Face from chin to forehead.
    let from = 1.572;
    let mask = [
        slice(from, 1.572, 0.022, 0.090, 0.030, 2.3),
        slice(from, 1.596, 0.040, 0.0945, 0.000, 2.4),
        slice(from, 1.624, 0.053, 0.0955, -0.020, 2.4),
        slice(from, 1.652, 0.061, 0.0930, -0.040, 2.4),
        slice(from, 1.684, 0.0650, 0.0885, -0.050, 2.4),
        slice(from, 1.710, 0.0650, 0.0900, -0.050, 2.3),
        slice(from, 1.740, 0.0560, 0.0750, -0.050, 2.1),
        slice(from, 1.765, 0.0420, 0.0500, -0.040, 2.0),
    ];
    clay.add(loft(v(0.0, from, 0.0), Vec3::Y, Vec3::Z, &mask, [0.012, 0.02]), 0.026);
    // Jaw.
    clay.add_pair(bone(v(0.050, 1.616, 0.008), v(0.016, 1.580, 0.076), 0.0145, 0.0130), 0.022, 0.01);
    clay.add_pair(bone(v(0.050, 1.616, 0.008), v(0.060, 1.665, 0.004), 0.0145, 0.0130), 0.024, 0.0);
    clay.add(ellipsoid(v(0.0, 1.5835, 0.0865), Vec3::Y, Vec3::Z, v(0.020, 0.014, 0.0135)), 0.016);
    // Cheekbones and hollow below.
    clay.add_pair(
        ellipsoid(v(0.0465, 1.6610, 0.0610), v(0.2, 0.35, -1.0), v(1.0, 0.0, 0.6), v(0.012, 0.028, 0.014)),
        0.026,
        0.0,
    );
    clay.add_pair(
        ellipsoid(v(0.044, 1.630, 0.052), Vec3::Y, v(1.0, 0.0, 0.5), v(0.020, 0.028, 0.010)),
        0.020,
        0.0,
    );
    // Brow.
    clay.add_pair(
        muscle(
            v(0.010, 1.7035, 0.0900),
            v(0.050, 1.7040, 0.0710),
            v(0.4, 0.0, 1.0),
            &[(0.0, 0.0085, 0.0075), (0.5, 0.0085, 0.0075), (1.0, 0.008, 0.006)],
        ),
        0.014,
        0.016,
    );
    // Eyes: a socket, a ball, two lids.
    clay.carve_pair(
        ellipsoid(v(0.0325, 1.6835, 0.1000), v(1.0, 0.0, -0.3), v(0.2, 0.0, 1.0), v(0.0135, 0.0200, 0.0190)),
        0.010,
        0.0,
    );
    clay.add_pair(ball(v(0.0320, 1.6830, 0.0740), 0.0132), 0.003, 0.0);
    clay.add_pair(bone(v(0.0200, 1.6915, 0.0835), v(0.0455, 1.6905, 0.0755), 0.0042, 0.0040), 0.005, 0.0);
    clay.add_pair(bone(v(0.0200, 1.6740, 0.0810), v(0.0440, 1.6745, 0.0740), 0.0040, 0.0040), 0.006, 0.0);
    // Nose.
    clay.add(bone(v(0.0, 1.6940, 0.0870), v(0.0, 1.6580, 0.1060), 0.0080, 0.0090), 0.012);
    clay.add(ball(v(0.0, 1.6525, 0.1085), 0.0102), 0.010);
    clay.add_pair(
        ellipsoid(v(0.0120, 1.6490, 0.0985), v(0.2, 0.2, 1.0), Vec3::X, v(0.0075, 0.0110, 0.0065)),
        0.007,
        0.004,
    );
    // Mouth.
    clay.add(ellipsoid(v(0.0, 1.6150, 0.0800), Vec3::Y, Vec3::Z, v(0.030, 0.022, 0.0180)), 0.014);
    clay.add_pair(bone(v(0.002, 1.6215, 0.0980), v(0.0260, 1.6165, 0.0865), 0.0062, 0.0036), 0.005, 0.004);
    clay.add_pair(bone(v(0.000, 1.6070, 0.0960), v(0.0220, 1.6110, 0.0865), 0.0072, 0.0038), 0.005, 0.004);
    clay.carve_pair(bone(v(0.000, 1.6145, 0.1060), v(0.0270, 1.6135, 0.0945), 0.0048, 0.0036), 0.004, 0.002);
    clay.carve(ellipsoid(v(0.0, 1.5965, 0.1040), Vec3::X, Vec3::Z, v(0.0070, 0.024, 0.0070)), 0.010);
    // Ears.
    clay.add_pair(
        ellipsoid(
            v(0.0775, 1.6760, -0.010),
            v(0.12, 1.0, -0.22),
            v(1.0, 0.0, -0.45),
            v(0.0190, 0.0320, 0.0105),
        ),
        0.006,
        0.0,
    );
    clay.carve_pair(
        ellipsoid(
            v(0.0895, 1.6790, -0.0065),
            v(0.12, 1.0, -0.22),
            v(1.0, 0.0, -0.45),
            v(0.0095, 0.0190, 0.0070),
        ),
        0.005,
        0.0,
    );
}

fn leg(clay: &mut Sculpture) {
    let thigh = |t: f32, out: f32| HIP.lerp(KNEE, t) + Vec3::X * out;
    let shin = |t: f32| KNEE.lerp(ANKLE, t);
    let slices = [
        (thigh(-0.32, -0.004), 0.034, 0.046, 0.040, 2.0),
        (thigh(-0.16, 0.000), 0.056, 0.060, 0.056, 2.0),
        (thigh(0.0, 0.004), 0.074, 0.073, 0.072, 2.1),
        (thigh(0.14, 0.006), 0.088, 0.085, 0.088, 2.1),
        (thigh(0.28, 0.006), 0.089, 0.089, 0.091, 2.1),
        (thigh(0.48, 0.004), 0.078, 0.081, 0.078, 2.1),
        (thigh(0.70, 0.001), 0.062, 0.066, 0.063, 2.1),
        (thigh(0.88, 0.0), 0.054, 0.056, 0.054, 2.2),
        (thigh(1.0, 0.0), 0.053, 0.053, 0.052, 2.3),
        (shin(0.09), 0.051, 0.048, 0.051, 2.2),
        (shin(0.18), 0.051, 0.043, 0.062, 2.1),
        (shin(0.30), 0.055, 0.042, 0.072, 2.0),
        (shin(0.44), 0.049, 0.040, 0.065, 2.0),
        (shin(0.60), 0.040, 0.037, 0.049, 2.0),
        (shin(0.78), 0.031, 0.034, 0.035, 2.0),
        (shin(0.90), 0.029, 0.032, 0.033, 2.0),
        (shin(1.0), 0.030, 0.035, 0.034, 2.0),
    ];
    clay.add(limb(&slices, Vec3::Z, [0.04, 0.03]), 0.0);
    // Outer, straight and inner heads of the quadriceps.
    clay.add(
        muscle(
            v(0.154, 0.900, 0.006),
            v(0.152, 0.560, 0.024),
            v(1.0, 0.0, 0.5),
            &[(0.0, 0.030, 0.016), (0.4, 0.044, 0.028), (0.75, 0.034, 0.024), (1.0, 0.016, 0.012)],
        ),
        0.024,
    );
    clay.add(
        muscle(
            v(0.110, 0.915, 0.056),
            v(0.122, 0.565, 0.046),
            Vec3::Z,
            &[(0.0, 0.022, 0.016), (0.4, 0.034, 0.032), (0.75, 0.028, 0.024), (1.0, 0.016, 0.010)],
        ),
        0.022,
    );
    clay.add(
        ellipsoid(v(0.093, 0.586, 0.036), v(-0.12, 1.0, 0.0), v(-0.7, 0.0, 1.0), v(0.024, 0.054, 0.024)),
        0.020,
    );
    clay.add(
        ellipsoid(v(0.148, 0.605, 0.036), v(0.10, 1.0, 0.0), v(0.7, 0.0, 1.0), v(0.022, 0.050, 0.022)),
        0.024,
    );
    // Hamstrings end in two cords that frame the hollow of the knee.
    clay.add(
        muscle(
            v(0.088, 0.880, -0.050),
            v(0.094, 0.470, -0.026),
            v(-0.2, 0.0, -1.0),
            &[(0.0, 0.030, 0.028), (0.35, 0.036, 0.035), (0.7, 0.021, 0.023), (1.0, 0.009, 0.009)],
        ),
        0.026,
    );
    clay.add(
        muscle(
            v(0.122, 0.880, -0.048),
            v(0.152, 0.470, -0.024),
            v(0.3, 0.0, -1.0),
            &[(0.0, 0.028, 0.026), (0.35, 0.033, 0.033), (0.7, 0.020, 0.022), (1.0, 0.009, 0.009)],
        ),
        0.022,
    );
    clay.add(
        muscle(
            v(0.050, 0.870, -0.006),
            v(0.096, 0.660, 0.000),
            v(-1.0, 0.0, 0.0),
            &[(0.0, 0.040, 0.020), (0.5, 0.040, 0.024), (1.0, 0.022, 0.012)],
        ),
        0.034,
    );
    // Knee cap and the tendon below it.
    clay.add(ellipsoid(v(0.121, 0.522, 0.053), Vec3::Y, Vec3::Z, v(0.024, 0.029, 0.014)), 0.020);
    clay.add(bone(v(0.121, 0.505, 0.048), v(0.123, 0.380, 0.018), 0.013, 0.010), 0.024);
    // Calf: the inner head is lower and fuller than the outer.
    clay.add(
        muscle(
            v(0.110, 0.535, -0.024),
            v(0.132, 0.180, -0.038),
            v(-0.5, 0.0, -1.0),
            &[
                (0.0, 0.010, 0.010),
                (0.22, 0.026, 0.030),
                (0.46, 0.040, 0.050),
                (0.68, 0.029, 0.034),
                (1.0, 0.010, 0.012),
            ],
        ),
        0.022,
    );
    clay.add(
        muscle(
            v(0.140, 0.535, -0.022),
            v(0.148, 0.200, -0.038),
            v(0.5, 0.0, -1.0),
            &[
                (0.0, 0.010, 0.010),
                (0.22, 0.027, 0.029),
                (0.44, 0.038, 0.046),
                (0.68, 0.027, 0.030),
                (1.0, 0.010, 0.012),
            ],
        ),
        0.020,
    );
    clay.add(
        muscle(
            v(0.144, 0.470, 0.016),
            v(0.140, 0.095, -0.014),
            v(0.6, 0.0, 1.0),
            &[(0.0, 0.012, 0.010), (0.3, 0.026, 0.023), (0.6, 0.019, 0.018), (1.0, 0.008, 0.008)],
        ),
        0.026,
    );
    clay.add(bone(v(0.141, 0.280, -0.048), v(0.147, 0.060, -0.068), 0.009, 0.0125), 0.030);
    clay.add(ellipsoid(v(0.1165, 0.092, -0.024), Vec3::Y, Vec3::X, v(0.013, 0.018, 0.010)), 0.020);
    clay.add(ellipsoid(v(0.1740, 0.080, -0.036), Vec3::Y, Vec3::X, v(0.012, 0.018, 0.009)), 0.020);
}

/// In foot coordinates: origin below the ankle, Z to the toes, X to the outside.
fn foot(clay: &mut Sculpture) {
    // (z, x of the middle, half breadth, height)
    let slices = [
        (-0.045, 0.002, 0.026, 0.052),
        (-0.015, 0.001, 0.031, 0.072),
        (0.025, 0.000, 0.033, 0.080),
        (0.065, 0.001, 0.037, 0.066),
        (0.105, 0.002, 0.044, 0.048),
        (0.135, 0.002, 0.047, 0.037),
        (0.155, 0.003, 0.043, 0.029),
    ];
    let sections: Vec<Section> = slices
        .iter()
        .map(|&(z, x, side, height)| {
            // The axis is Z and `out` is up, so the side axis points to -X, the inside of the foot.
            let low = 0.35 * height;
            Section {
                at: z,
                middle: Vec2::new(-x, low),
                side,
                out: height - low,
                back: low + 0.004,
                power: 2.3,
            }
        })
        .collect();
    clay.add(loft(Vec3::ZERO, Vec3::Z, Vec3::Y, &sections, [0.022, 0.012]), 0.0);
    clay.add(ellipsoid(v(0.001, 0.028, -0.042), Vec3::Z, Vec3::Y, v(0.029, 0.030, 0.032)), 0.014);
    clay.add(ellipsoid(v(-0.030, 0.022, 0.128), Vec3::Z, Vec3::Y, v(0.018, 0.030, 0.020)), 0.016);
    clay.add(ellipsoid(v(0.036, 0.018, 0.105), Vec3::Z, Vec3::Y, v(0.014, 0.034, 0.017)), 0.016);
    // Toes: (x at the root, x at the tip, z of the tip, radius).
    let toes = [
        (-0.028, -0.022, 0.206, 0.0150),
        (-0.006, -0.0005, 0.203, 0.0105),
        (0.0105, 0.0165, 0.192, 0.0098),
        (0.0255, 0.0310, 0.177, 0.0092),
        (0.0385, 0.0430, 0.159, 0.0086),
    ];
    for (k, (root, tip, z, r)) in toes.into_iter().enumerate() {
        let start = v(root, r + 0.008, 0.135 - 0.006 * k as f32);
        let bend = v(0.5 * (root + tip), r + 0.006, z - 2.6 * r);
        let end = v(tip, r * 0.92, z - r);
        clay.add(bone(start, bend, r, r * 0.95), 0.007);
        clay.add(bone(bend, end, r * 0.95, r * 0.98), 0.004);
    }
    // Arch, then the ground.
    clay.carve(ellipsoid(v(-0.040, -0.002, 0.045), Vec3::Z, Vec3::Y, v(0.032, 0.046, 0.018)), 0.014);
    clay.carve(half_space(v(0.0, 0.0, 0.0), Vec3::Y, 0.30), 0.010);
}

/// The left arm down to the wrist, in the athlete's rest pose.
pub fn arm(clay: &mut Sculpture) {
    let along = (ELBOW - SHOULDER).normalize();
    let at = |d: f32| SHOULDER + along * d;
    // The biceps faces forward; `outward` is the side of the deltoid.
    let front = (Vec3::Z - along * along.z).normalize();
    let outward = front.cross(along);
    let upper = [
        Section::ellipse(0.0, 0.044, 0.048),
        Section::ellipse(0.08, 0.044, 0.049),
        Section::ellipse(0.16, 0.044, 0.049),
        Section::ellipse(0.24, 0.039, 0.040),
        Section::ellipse(0.305, 0.041, 0.035),
    ];
    clay.add(loft(SHOULDER, along, front, &upper, [0.035, 0.03]), 0.0);
    clay.add(
        muscle(
            at(0.050) + front * 0.018,
            at(0.268) + front * 0.018,
            front,
            &[
                (0.0, 0.020, 0.016),
                (0.35, 0.034, 0.031),
                (0.60, 0.040, 0.044),
                (0.82, 0.029, 0.029),
                (1.0, 0.014, 0.010),
            ],
        ),
        0.011,
    );
    clay.add(
        muscle(
            at(0.040) - front * 0.022,
            at(0.275) - front * 0.018,
            -front,
            &[
                (0.0, 0.026, 0.020),
                (0.35, 0.042, 0.040),
                (0.6, 0.040, 0.034),
                (0.85, 0.028, 0.018),
                (1.0, 0.020, 0.010),
            ],
        ),
        0.011,
    );
    clay.add(
        muscle(
            at(0.075) - front * 0.020 + outward * 0.020,
            at(0.215) - front * 0.016 + outward * 0.020,
            outward - front,
            &[(0.0, 0.018, 0.014), (0.45, 0.028, 0.024), (1.0, 0.016, 0.010)],
        ),
        0.014,
    );
    // Deltoid in three heads that meet halfway down the arm.
    let insertion = at(0.155) + outward * 0.030;
    clay.add(
        muscle(
            v(0.184, 1.478, -0.020),
            insertion,
            outward,
            &[(0.0, 0.036, 0.024), (0.4, 0.048, 0.040), (0.75, 0.032, 0.026), (1.0, 0.014, 0.010)],
        ),
        0.015,
    );
    clay.add(
        muscle(
            v(0.155, 1.464, 0.012),
            insertion + front * 0.008,
            v(0.4, 0.3, 1.0),
            &[(0.0, 0.028, 0.020), (0.4, 0.036, 0.034), (0.8, 0.022, 0.018), (1.0, 0.010, 0.008)],
        ),
        0.015,
    );
    clay.add(
        muscle(
            v(0.152, 1.458, -0.056),
            insertion - front * 0.008,
            v(0.3, 0.3, -1.0),
            &[(0.0, 0.028, 0.020), (0.4, 0.034, 0.032), (0.8, 0.022, 0.018), (1.0, 0.010, 0.008)],
        ),
        0.015,
    );
    // Forearm: round below the elbow, flat at the wrist.
    let hand = world_from_hand();
    let (thumbward, down, dorsal) =
        (Vec3::from(hand.matrix3.x_axis), Vec3::from(hand.matrix3.y_axis), Vec3::from(hand.matrix3.z_axis));
    let fore = [
        Section::ellipse(0.0, 0.038, 0.036),
        Section::ellipse(0.05, 0.043, 0.039),
        Section::ellipse(0.10, 0.042, 0.037),
        Section::ellipse(0.16, 0.036, 0.031),
        Section::ellipse(0.22, 0.029, 0.023),
        Section::ellipse(0.255, 0.0280, 0.0208),
        Section::ellipse(0.285, 0.0215, 0.0145),
    ];
    clay.add(loft(ELBOW, down, dorsal, &fore, [0.03, 0.015]), 0.030);
    let on = |d: f32| ELBOW + down * d;
    clay.add(
        muscle(
            at(0.250) + front * 0.014 + outward * 0.020,
            on(0.160) + thumbward * 0.016 + dorsal * 0.008,
            thumbward + dorsal * 0.5,
            &[(0.0, 0.015, 0.010), (0.45, 0.026, 0.024), (0.8, 0.016, 0.013), (1.0, 0.010, 0.007)],
        ),
        0.028,
    );
    clay.add(
        muscle(
            on(-0.005) - dorsal * 0.020 + thumbward * 0.004,
            on(0.165) - dorsal * 0.010,
            -dorsal,
            &[(0.0, 0.016, 0.012), (0.4, 0.030, 0.025), (1.0, 0.014, 0.008)],
        ),
        0.020,
    );
    clay.add(
        muscle(
            on(0.01) + dorsal * 0.018 - thumbward * 0.008,
            on(0.165) + dorsal * 0.008,
            dorsal,
            &[(0.0, 0.014, 0.010), (0.4, 0.026, 0.022), (1.0, 0.012, 0.007)],
        ),
        0.020,
    );
    clay.add(ball(ELBOW - front * 0.024 + along * 0.006, 0.0165), 0.018);
    clay.add(ball(ELBOW - outward * 0.030, 0.013), 0.018);
}

fn armpit(clay: &mut Sculpture) {
    let along = (ELBOW - SHOULDER).normalize();
    let at = |d: f32| SHOULDER + along * d;
    let front = (Vec3::Z - along * along.z).normalize();
    let outward = front.cross(along);
    // Armpit: the borders of chest and back run into the arm.
    clay.add(bone(v(0.150, 1.402, 0.028), at(0.060) + front * 0.014 - outward * 0.010, 0.026, 0.022), 0.024);
    clay.add(bone(v(0.150, 1.392, -0.058), at(0.060) - front * 0.016 - outward * 0.010, 0.028, 0.022), 0.024);
}

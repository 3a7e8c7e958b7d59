//! Muscles of shoulder, chest, back, belly and neck.

use super::draft::{Draft, Spot};
use super::landmarks::{Arm, Neck, Trunk};
use super::probe::Probe;
use glam::Vec3;

/// Shoulder, chest and back: everything between trunk and arm.
pub fn shoulder_drafts(trunk: &Trunk, arm: &Arm, sign: f32, probe: &Probe) -> Vec<Draft> {
    let girdle = arm.girdle;
    let b = trunk.breadth;
    let chest = trunk.chest();
    let upper = |t, angle, depth| (arm.upper.joint, arm.upper.at(probe, t, angle, depth));
    let front = |x, y, depth| (trunk.bone(y), trunk.front(probe, sign, x, y, depth));
    let back = |x, y, depth| (trunk.bone(y), trunk.back(probe, sign, x, y, depth));
    let around = |angle, y, depth| (trunk.bone(y), trunk.around(probe, sign, angle, y, depth));
    let on = |joint: usize, spot: Spot| (joint, spot.1);
    // The blade slides on the ribs with the skin over it, and muscles from the spine to it start where that skin does.
    // Otherwise rigs without a collar joint would carry the two ends by joints that turn against each other.
    let slides = |spot: Spot| {
        let may = |joint: usize| joint == girdle || trunk.has(joint);
        (probe.carrier(spot.1, may).unwrap_or(spot.0), spot.1)
    };
    let ridge = |x, y, depth| {
        let spot = back(x, y, depth);
        (probe.carrier(spot.1, |joint| trunk.has(joint)).unwrap_or(spot.0), spot.1)
    };
    // Collar bone from breastbone to the tip of the shoulder blade, and the blade's spine from there back.
    let shoulder = arm.upper.axis(0.0);
    let collar = trunk.front(probe, sign, 0.14, 0.99, 0.12);
    let tip = {
        let direction = (trunk.up + 0.3 * sign * trunk.left).normalize();
        let reach = probe.exit(shoulder, direction, b).unwrap_or(0.3 * b);
        shoulder + direction * (0.72 * reach)
    };
    let margin = trunk.back(probe, sign, 0.45, 0.88, 0.12);
    let clavicle =
        |share: f32| (girdle, collar.lerp(tip, share) + trunk.up * (0.1 * b * share * (1.0 - share)));
    let spine = |share: f32| (girdle, tip.lerp(margin, share));
    let tuberosity = |angle| upper(0.44, angle, 0.4);
    let thick = arm.upper.radius;
    // Over the chest or the back between an origin and the arm, wherever the arm was when the body was bound.
    let halfway = |from: Spot, to: Spot, share: f32| trunk.whereabouts(from.1.lerp(to.1, share));
    let before = |from: Spot, to: Spot, share: f32, depth: f32| {
        let (x, y) = halfway(from, to, share);
        front(x, y, depth)
    };
    let behind = |from: Spot, to: Spot, share: f32, depth: f32| {
        let (x, y) = halfway(from, to, share);
        back(x, y, depth)
    };
    vec![
        Draft::sheet(
            "deltoideus pars clavicularis",
            vec![clavicle(0.62), clavicle(0.92)],
            vec![upper(0.1, 35.0, 0.76)],
            vec![tuberosity(75.0)],
            2,
            0.38 * thick,
        )
        .flat(0.6)
        .shaped([3, 3]),
        Draft::sheet(
            "deltoideus pars acromialis",
            vec![(girdle, tip + trunk.front * (0.1 * b)), (girdle, tip - trunk.front * (0.1 * b))],
            vec![upper(0.12, 90.0, 0.68)],
            vec![tuberosity(90.0)],
            3,
            0.38 * thick,
        )
        .flat(0.6)
        .shaped([3, 3]),
        Draft::sheet(
            "deltoideus pars spinalis",
            vec![spine(0.12), spine(0.6)],
            vec![upper(0.1, 148.0, 0.76)],
            vec![tuberosity(105.0)],
            2,
            0.38 * thick,
        )
        .flat(0.6)
        .shaped([3, 3]),
        Draft::sheet(
            "pectoralis major pars clavicularis",
            vec![clavicle(0.08), clavicle(0.5)],
            vec![on(chest, before(clavicle(0.3), upper(0.2, 12.0, 0.45), 0.5, 0.14))],
            vec![upper(0.2, 12.0, 0.45)],
            2,
            0.17 * b,
        )
        .flat(0.9),
        Draft::sheet(
            "pectoralis major pars sternocostalis",
            vec![front(0.1, 0.94, 0.1), front(0.12, 0.8, 0.1), front(0.22, 0.66, 0.1)],
            vec![before(front(0.12, 0.8, 0.1), upper(0.21, 9.0, 0.43), 0.45, 0.15)],
            vec![upper(0.26, 10.0, 0.45), upper(0.16, 8.0, 0.4)],
            5,
            0.17 * b,
        )
        .flat(0.9),
        // Deep enough for its breadth: right under the skin it would be a bundle of thin strands.
        Draft::sheet(
            "latissimus dorsi",
            vec![back(0.06, 0.55, 0.14), back(0.06, 0.36, 0.14), back(0.32, 0.22, 0.14)],
            vec![back(0.66, 0.58, 0.25), back(0.8, 0.76, 0.25)],
            vec![upper(0.14, -40.0, 0.35), upper(0.22, -40.0, 0.35)],
            5,
            0.2 * b,
        )
        .flat(0.8),
        Draft::spindle(
            "teres major",
            slides(back(0.56, 0.68, 0.13)),
            vec![],
            upper(0.17, -70.0, 0.35),
            0.14 * b,
        ),
        Draft::sheet(
            "infraspinatus",
            vec![slides(back(0.44, 0.84, 0.11)), slides(back(0.48, 0.73, 0.11))],
            vec![on(girdle, behind(back(0.46, 0.785, 0.11), upper(0.03, 135.0, 0.5), 0.5, 0.15))],
            vec![upper(0.03, 135.0, 0.5)],
            2,
            0.13 * b,
        ),
        Draft::sheet(
            "rhomboideus major",
            vec![ridge(0.05, 0.98, 0.14), ridge(0.05, 0.84, 0.14)],
            vec![],
            vec![slides(back(0.4, 0.88, 0.15)), slides(back(0.44, 0.72, 0.15))],
            2,
            0.1 * b,
        ),
        Draft::sheet(
            "serratus anterior",
            vec![around(62.0, 0.74, 0.1), around(66.0, 0.64, 0.1), around(68.0, 0.55, 0.1)],
            vec![around(95.0, 0.68, 0.12)],
            vec![slides(back(0.52, 0.8, 0.18)), slides(back(0.52, 0.68, 0.16))],
            3,
            0.08 * b,
        )
        .flat(0.88),
        Draft::sheet(
            "trapezius pars transversa",
            vec![ridge(0.04, 1.1, 0.08), ridge(0.04, 0.94, 0.08)],
            vec![],
            vec![(girdle, tip - trunk.front * (0.08 * b)), spine(0.45)],
            3,
            0.13 * b,
        )
        .flat(0.9),
        Draft::sheet(
            "trapezius pars ascendens",
            vec![ridge(0.04, 0.84, 0.08), ridge(0.04, 0.56, 0.08)],
            vec![],
            vec![slides(spine(0.62)), slides(spine(0.9))],
            3,
            0.12 * b,
        )
        .flat(0.93),
    ]
}

/// The trunk alone.
pub fn trunk_drafts(trunk: &Trunk, sign: f32, probe: &Probe) -> Vec<Draft> {
    let b = trunk.breadth;
    let pelvis = trunk.pelvis();
    let front = |x, y, depth| (trunk.bone(y), trunk.front(probe, sign, x, y, depth));
    let back = |x, y, depth| (trunk.bone(y), trunk.back(probe, sign, x, y, depth));
    let around = |angle, y, depth| (trunk.bone(y), trunk.around(probe, sign, angle, y, depth));
    let on = |joint: usize, spot: Spot| (joint, spot.1);
    vec![
        Draft::spindle(
            "erector spinae",
            on(pelvis, back(0.1, 0.06, 0.14)),
            vec![back(0.17, 0.24, 0.16), back(0.17, 0.45, 0.16), back(0.15, 0.7, 0.17)],
            back(0.1, 0.98, 0.16),
            0.14 * b,
        )
        .strap(),
        Draft::spindle(
            "rectus abdominis",
            on(pelvis, front(0.09, 0.0, 0.12)),
            vec![front(0.15, 0.18, 0.12), front(0.18, 0.36, 0.12), front(0.2, 0.54, 0.12)],
            front(0.24, 0.68, 0.1),
            0.14 * b,
        )
        .flat(0.85)
        .strap(),
        Draft::sheet(
            "obliquus externus abdominis",
            vec![around(45.0, 0.6, 0.1), around(70.0, 0.5, 0.1), around(95.0, 0.42, 0.1)],
            vec![],
            vec![
                front(0.32, 0.34, 0.1),
                on(pelvis, front(0.42, 0.18, 0.1)),
                on(pelvis, around(75.0, 0.2, 0.1)),
            ],
            4,
            0.13 * b,
        )
        .flat(0.93),
    ]
}

/// Neck.
pub fn neck_drafts(
    trunk: &Trunk,
    neck: &Neck,
    girdle: usize,
    shoulder: Vec3,
    sign: f32,
    probe: &Probe,
) -> Vec<Draft> {
    let b = trunk.breadth;
    let chest = trunk.chest();
    let out = trunk.left * sign;
    let on_neck = |share: f32, direction: Vec3, depth: f32| {
        let from = neck.base.lerp(neck.top, share);
        let direction = direction.normalize();
        let reach = probe.exit(from, direction, b).unwrap_or(0.3 * b);
        (neck.neck, from + direction * (depth * reach))
    };
    let on_skull = |direction: Vec3, depth: f32| {
        // The head has holes of its own: the last way out counts, not the first.
        let crown = probe.outermost(neck.top, trunk.up, 2.0 * trunk.height).unwrap_or(0.4 * trunk.height);
        let from = neck.top + trunk.up * (crown - 0.3 * trunk.height).clamp(-0.1 * b, 0.25 * b);
        let direction = direction.normalize();
        let reach = probe.outermost(from, direction, 0.8 * b).unwrap_or(0.4 * b);
        (neck.head, from + direction * (depth * reach))
    };
    let tip = {
        let direction = (trunk.up + 0.3 * out).normalize();
        let reach = probe.exit(shoulder, direction, b).unwrap_or(0.3 * b);
        shoulder + direction * (0.72 * reach)
    };
    let collar = trunk.front(probe, sign, 0.14, 0.99, 0.12);
    vec![
        Draft::spindle(
            "sternocleidomastoideus",
            (chest, collar),
            vec![on_neck(0.3, trunk.front + 0.45 * out, 0.75), on_neck(0.75, 0.3 * trunk.front + out, 0.75)],
            on_skull(out - 0.3 * trunk.front, 0.82),
            0.11 * b,
        ),
        Draft::spindle(
            "splenius capitis",
            (chest, trunk.back(probe, sign, 0.05, 1.05, 0.14)),
            vec![on_neck(0.4, 0.35 * out - trunk.front, 0.7), on_neck(0.85, 0.7 * out - trunk.front, 0.7)],
            on_skull(0.8 * out - 0.7 * trunk.front, 0.82),
            0.1 * b,
        ),
        Draft::sheet(
            "trapezius pars descendens",
            vec![on_skull(0.12 * out - trunk.front, 0.82), on_neck(0.5, 0.12 * out - trunk.front, 0.85)],
            vec![
                on_neck(0.1, 0.8 * out - 0.8 * trunk.front, 0.75),
                (girdle, neck.base.lerp(tip, 0.55) - trunk.front * (0.12 * b)),
            ],
            vec![(girdle, collar.lerp(tip, 0.75)), (girdle, tip)],
            3,
            0.13 * b,
        )
        .flat(0.7)
        .shaped([3, 3]),
    ]
}

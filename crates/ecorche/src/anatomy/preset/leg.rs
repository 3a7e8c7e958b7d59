//! Muscles of hip, thigh and lower leg.

use super::draft::Draft;
use super::landmarks::{Leg, Trunk};
use super::probe::Probe;
use glam::Vec3;

/// Those that need the leg alone. Angles about a bone: 0 front, 90 outward, 180 back, -90 inward.
pub fn drafts(leg: &Leg, pelvis: usize, probe: &Probe) -> Vec<Draft> {
    let foot = leg.foot;
    let thigh = |t, angle, depth| (leg.thigh.joint, leg.thigh.at(probe, t, angle, depth));
    let shank = |t, angle, depth| (leg.shank.joint, leg.shank.at(probe, t, angle, depth));
    let on = |joint: usize, spot: (usize, Vec3)| (joint, spot.1);
    let (thick, thin) = (leg.thigh.radius, leg.shank.radius);
    let ischium = |angle| on(pelvis, thigh(0.06, angle, 0.5));
    let heel = (
        foot,
        leg.shank.axis(1.0) - leg.toes * (0.75 * thin) + leg.shank.direction(1.0, 180.0) * (0.1 * thin),
    );
    vec![
        Draft::spindle(
            "rectus femoris",
            on(pelvis, thigh(-0.04, 15.0, 0.55)),
            vec![thigh(0.3, 8.0, 0.68), thigh(0.62, 4.0, 0.64), thigh(0.95, 0.0, 0.68)],
            shank(0.07, 0.0, 0.6),
            0.3 * thick,
        )
        .shaped([3, 4])
        .tendon(0.18),
        Draft::spindle(
            "vastus lateralis",
            thigh(0.07, 85.0, 0.45),
            vec![thigh(0.3, 65.0, 0.6), thigh(0.65, 48.0, 0.58), thigh(0.93, 30.0, 0.62)],
            shank(0.05, 15.0, 0.58),
            0.38 * thick,
        )
        .shaped([3, 3])
        .flat(0.65),
        Draft::spindle(
            "vastus medialis",
            thigh(0.22, -40.0, 0.35),
            vec![thigh(0.62, -42.0, 0.55), thigh(0.88, -45.0, 0.6)],
            shank(0.05, -15.0, 0.58),
            0.34 * thick,
        )
        .shaped([4, 3]),
        Draft::spindle(
            "biceps femoris",
            ischium(-170.0),
            vec![thigh(0.35, 165.0, 0.58), thigh(0.65, 148.0, 0.58), thigh(0.93, 135.0, 0.62)],
            shank(0.07, 115.0, 0.6),
            0.32 * thick,
        )
        .tendon(0.15),
        Draft::spindle(
            "semitendinosus",
            ischium(-155.0),
            vec![thigh(0.35, -160.0, 0.6), thigh(0.65, -155.0, 0.6), thigh(0.93, -140.0, 0.66)],
            shank(0.1, -60.0, 0.6),
            0.28 * thick,
        )
        .shaped([3, 4])
        .tendon(0.22),
        Draft::spindle(
            "semimembranosus",
            ischium(-140.0),
            vec![thigh(0.4, -135.0, 0.5), thigh(0.7, -140.0, 0.52)],
            shank(0.03, -135.0, 0.5),
            0.28 * thick,
        )
        .shaped([4, 3])
        .tendon(0.18),
        Draft::spindle(
            "gastrocnemius caput mediale",
            thigh(0.94, -155.0, 0.55),
            vec![shank(0.08, -160.0, 0.68), shank(0.28, -155.0, 0.66), shank(0.62, -175.0, 0.68)],
            heel,
            0.46 * thin,
        )
        .shaped([3, 5])
        .tendon(0.22),
        Draft::spindle(
            "gastrocnemius caput laterale",
            thigh(0.94, 155.0, 0.55),
            vec![shank(0.08, 160.0, 0.68), shank(0.26, 152.0, 0.66), shank(0.62, 175.0, 0.68)],
            heel,
            0.42 * thin,
        )
        .shaped([3, 5])
        .tendon(0.22),
        Draft::spindle(
            "soleus",
            shank(0.1, 165.0, 0.35),
            vec![shank(0.45, 180.0, 0.48), shank(0.75, 180.0, 0.6)],
            heel,
            0.46 * thin,
        )
        .shaped([3, 4])
        .flat(0.65)
        .tendon(0.2),
        Draft::spindle(
            "tibialis anterior",
            shank(0.08, 50.0, 0.5),
            vec![shank(0.3, 38.0, 0.6), shank(0.8, 12.0, 0.6), shank(0.97, -15.0, 0.65)],
            (foot, leg.instep),
            0.3 * thin,
        )
        .shaped([3, 5])
        .tendon(0.2),
        Draft::spindle(
            "fibularis longus",
            shank(0.07, 95.0, 0.6),
            vec![shank(0.32, 98.0, 0.66), shank(0.85, 135.0, 0.66)],
            on(foot, shank(1.0, 140.0, 0.6)),
            0.27 * thin,
        )
        .shaped([3, 5])
        .tendon(0.22),
    ]
}

/// Those that also need the trunk: buttock, groin and the long ones of the thigh's inside.
pub fn hip_drafts(leg: &Leg, trunk: &Trunk, sign: f32, probe: &Probe) -> Vec<Draft> {
    let pelvis = trunk.pelvis();
    let thigh = |t, angle, depth| (leg.thigh.joint, leg.thigh.at(probe, t, angle, depth));
    let shank = |t, angle, depth| (leg.shank.joint, leg.shank.at(probe, t, angle, depth));
    let front = |x, y, depth| (pelvis, trunk.front(probe, sign, x, y, depth));
    let back = |x, y, depth| (pelvis, trunk.back(probe, sign, x, y, depth));
    let around = |angle, y, depth| (pelvis, trunk.around(probe, sign, angle, y, depth));
    let on = |joint: usize, spot: (usize, Vec3)| (joint, spot.1);
    let (thick, breadth) = (leg.thigh.radius, trunk.breadth);
    vec![
        Draft::sheet(
            "gluteus maximus",
            vec![back(0.28, 0.15, 0.16), back(0.14, 0.05, 0.14), back(0.1, -0.05, 0.16)],
            vec![back(0.5, -0.02, 0.26)],
            vec![thigh(0.1, 120.0, 0.5), thigh(0.26, 140.0, 0.42)],
            4,
            0.24 * breadth,
        )
        .flat(0.6)
        .shaped([3, 3]),
        Draft::sheet(
            "gluteus medius",
            vec![around(55.0, 0.2, 0.12), around(90.0, 0.22, 0.12), around(125.0, 0.2, 0.12)],
            vec![],
            vec![thigh(0.02, 75.0, 0.6), thigh(0.02, 105.0, 0.6)],
            3,
            0.15 * breadth,
        )
        .shaped([3, 3]),
        Draft::spindle(
            "tensor fasciae latae",
            around(52.0, 0.14, 0.1),
            vec![thigh(0.06, 62.0, 0.75)],
            thigh(0.36, 80.0, 0.8),
            0.13 * breadth,
        )
        .shaped([3, 3]),
        Draft::spindle(
            "sartorius",
            around(44.0, 0.12, 0.08),
            vec![
                thigh(0.15, 22.0, 0.78),
                thigh(0.45, -38.0, 0.8),
                thigh(0.75, -78.0, 0.78),
                thigh(0.96, -110.0, 0.74),
            ],
            shank(0.09, -45.0, 0.65),
            0.11 * thick,
        )
        .strap(),
        Draft::spindle(
            "adductor longus",
            front(0.1, -0.05, 0.22),
            vec![thigh(0.28, -55.0, 0.55)],
            thigh(0.52, -125.0, 0.18),
            0.26 * thick,
        )
        .shaped([3, 3]),
        Draft::sheet(
            "adductor magnus",
            vec![on(pelvis, thigh(0.08, -95.0, 0.7)), on(pelvis, thigh(0.08, -145.0, 0.6))],
            vec![thigh(0.3, -110.0, 0.5)],
            vec![thigh(0.4, -150.0, 0.15), thigh(0.75, -120.0, 0.2)],
            3,
            0.26 * thick,
        )
        .flat(0.5)
        .shaped([3, 3]),
        Draft::spindle(
            "gracilis",
            front(0.06, -0.07, 0.3),
            vec![thigh(0.25, -80.0, 0.78), thigh(0.65, -92.0, 0.76), thigh(0.96, -120.0, 0.72)],
            shank(0.1, -52.0, 0.62),
            0.12 * thick,
        )
        .shaped([3, 3]),
        Draft::spindle(
            "iliopsoas",
            (trunk.bone(0.3), trunk.place(probe, sign, 0.2, 0.3) - trunk.front * (0.12 * breadth)),
            vec![on(pelvis, thigh(-0.08, 0.0, 0.5)), thigh(0.02, -10.0, 0.5)],
            thigh(0.12, -110.0, 0.25),
            0.16 * breadth,
        ),
    ]
}

//! Muscles of upper arm and forearm.

use super::draft::Draft;
use super::landmarks::Arm;
use super::probe::Probe;

/// All of them. Angles about a bone: 0 front, 90 outward (thumb side), 180 back, -90 inward.
pub fn drafts(arm: &Arm, probe: &Probe) -> Vec<Draft> {
    let (girdle, hand) = (arm.girdle, arm.hand);
    let upper = |t, angle, depth| (arm.upper.joint, arm.upper.at(probe, t, angle, depth));
    let lower = |t, angle, depth| (arm.lower.joint, arm.lower.at(probe, t, angle, depth));
    let on = |joint: usize, spot: (usize, glam::Vec3)| (joint, spot.1);
    let (thick, thin) = (arm.upper.radius, arm.lower.radius);
    let olecranon = |angle| lower(0.03, angle, 0.6);
    vec![
        Draft::spindle(
            "biceps brachii caput longum",
            on(girdle, upper(0.03, 50.0, 0.45)),
            vec![upper(0.25, 28.0, 0.6), upper(0.6, 22.0, 0.58)],
            lower(0.14, 10.0, 0.3),
            0.38 * thick,
        )
        .shaped([4, 4])
        .tendon(0.18),
        Draft::spindle(
            "biceps brachii caput breve",
            on(girdle, upper(0.03, -45.0, 0.5)),
            vec![upper(0.25, -30.0, 0.55), upper(0.6, -26.0, 0.58)],
            lower(0.14, -5.0, 0.3),
            0.38 * thick,
        )
        .shaped([4, 4])
        .tendon(0.12),
        Draft::spindle(
            "brachialis",
            upper(0.42, 20.0, 0.25),
            vec![upper(0.75, 5.0, 0.36)],
            lower(0.08, -25.0, 0.3),
            0.36 * thick,
        )
        .flat(0.6),
        Draft::spindle(
            "triceps brachii caput longum",
            on(girdle, upper(0.06, -140.0, 0.4)),
            vec![upper(0.3, -150.0, 0.58), upper(0.6, -160.0, 0.58)],
            olecranon(-175.0),
            0.4 * thick,
        )
        .shaped([3, 4])
        .tendon(0.15),
        Draft::spindle(
            "triceps brachii caput laterale",
            upper(0.17, 140.0, 0.4),
            vec![upper(0.42, 140.0, 0.6), upper(0.7, 155.0, 0.58)],
            olecranon(175.0),
            0.38 * thick,
        )
        .shaped([3, 4])
        .tendon(0.15),
        Draft::spindle(
            "triceps brachii caput mediale",
            upper(0.45, -165.0, 0.25),
            vec![upper(0.75, -170.0, 0.42)],
            olecranon(180.0),
            0.28 * thick,
        ),
        Draft::spindle(
            "brachioradialis",
            upper(0.7, 75.0, 0.5),
            vec![upper(0.97, 55.0, 0.7), lower(0.22, 55.0, 0.62)],
            lower(0.93, 80.0, 0.5),
            0.33 * thin,
        )
        .shaped([3, 4])
        .tendon(0.2),
        Draft::spindle(
            "flexor carpi radialis",
            upper(0.97, -85.0, 0.6),
            vec![lower(0.3, -25.0, 0.6), lower(0.7, 15.0, 0.62)],
            on(hand, lower(0.98, 35.0, 0.5)),
            0.31 * thin,
        )
        .shaped([3, 5])
        .tendon(0.22),
        Draft::spindle(
            "flexor digitorum superficialis",
            upper(0.98, -90.0, 0.6),
            vec![lower(0.3, -60.0, 0.58), lower(0.7, -25.0, 0.58)],
            on(hand, lower(0.98, 0.0, 0.5)),
            0.33 * thin,
        )
        .shaped([3, 4])
        .tendon(0.22),
        Draft::spindle(
            "flexor carpi ulnaris",
            upper(0.99, -100.0, 0.6),
            vec![lower(0.3, -100.0, 0.6), lower(0.7, -75.0, 0.62)],
            on(hand, lower(0.98, -55.0, 0.55)),
            0.31 * thin,
        )
        .shaped([3, 5])
        .tendon(0.22),
        Draft::spindle(
            "extensor carpi radialis longus",
            upper(0.88, 85.0, 0.6),
            vec![lower(0.22, 100.0, 0.6), lower(0.65, 115.0, 0.6)],
            on(hand, lower(0.98, 130.0, 0.5)),
            0.3 * thin,
        )
        .shaped([3, 5])
        .tendon(0.22),
        Draft::spindle(
            "extensor digitorum",
            upper(0.97, 95.0, 0.6),
            vec![lower(0.3, 140.0, 0.6), lower(0.7, 165.0, 0.62)],
            on(hand, lower(0.98, 175.0, 0.5)),
            0.31 * thin,
        )
        .shaped([3, 5])
        .tendon(0.22),
        Draft::spindle(
            "extensor carpi ulnaris",
            upper(0.98, 105.0, 0.6),
            vec![lower(0.3, 178.0, 0.6), lower(0.7, -155.0, 0.62)],
            on(hand, lower(0.98, -135.0, 0.5)),
            0.29 * thin,
        )
        .shaped([3, 5])
        .tendon(0.22),
    ]
}

//! The papers' trackers on a limb of two bones: rest stays, bends touch instead of crossing, twists keep
//! their radius.

mod limb;

use ecorche::field::operator::{Composition, by_name};
use ecorche::skinning::Skinning;
use ecorche::tracking::VertexReport;
use ecorche::tracking::papers::{scheme_2012, scheme_2014};
use glam::Vec3;
use limb::{Limb, Turn};

fn limb() -> Limb {
    Limb::new(24, 49, 0)
}

fn composition(operator: &str) -> Composition {
    Composition::new(by_name(operator).unwrap())
}

/// Largest distance from the iso-value of vertices away from contacts.
fn iso_error(reports: &[VertexReport]) -> f32 {
    reports.iter().filter(|r| r.contact == 0.0).map(|r| r.iso_error).fold(0.0, f32::max)
}

#[test]
fn rest_is_a_fixed_point() {
    let limb = limb();
    let rest = Turn::Bend(0.0);
    for operator in ["union", "blend", "bulge", "contact"] {
        let tree = limb.tree(composition(operator));
        let start = limb.mesh.positions.clone();
        let (one_shot, _) = limb.track_2012(&tree, rest, start, scheme_2012::Settings::default());
        let (tracked, reports) = limb.track_2014(&tree, rest, 10.0, scheme_2014::Settings::default());
        for (v, &p) in limb.mesh.positions.iter().enumerate() {
            assert!(one_shot[v].distance(p) < 1e-5, "2012 {operator}: {v} moved");
            assert!(tracked[v].distance(p) < 1e-5, "2014 {operator}: {v} moved");
        }
        assert!(reports.iter().all(|r| !r.fell_back && r.contact == 0.0));
    }
}

#[test]
fn a_bend_of_60_neither_crosses_nor_loses_more_than_the_fields_overlap() {
    let limb = limb();
    let turn = Turn::Bend(60.0);
    let tree = limb.tree(composition("union"));
    let (tracked, reports) = limb.track_2014(&tree, turn, 10.0, scheme_2014::Settings::tracked());
    assert_eq!(limb.intersections(&tracked), 0);
    assert!((limb.volume_change(&tracked) + 0.48).abs() < 0.3, "{}", limb.volume_change(&tracked));
    assert!(iso_error(&reports) < 2e-4, "{}", iso_error(&reports));

    let start = limb.skin(Skinning::DualQuaternion, turn);
    let (one_shot, reports) = limb.track_2012(&tree, turn, start, scheme_2012::Settings::default());
    assert_eq!(limb.intersections(&one_shot), 0);
    assert!((limb.volume_change(&one_shot) + 0.52).abs() < 0.3, "{}", limb.volume_change(&one_shot));
    assert!(iso_error(&reports) < 2e-4, "{}", iso_error(&reports));
    assert!(reports.iter().any(|r| r.contact > 0.0), "the inside of the elbow touches");
}

#[test]
fn substeps_take_a_right_angle_and_more_without_crossing() {
    let limb = limb();
    let tree = limb.tree(composition("contact"));
    for degrees in [90.0, 150.0] {
        let turn = Turn::Bend(degrees);
        let (tracked, reports) = limb.track_2014(&tree, turn, 5.0, scheme_2014::Settings::default());
        let (pairs, penetration) = (limb.intersections(&tracked), limb.penetration(&tracked, turn));
        assert!(pairs <= 5 && penetration < 0.02, "{degrees}: {pairs} pairs, {penetration} deep");
        assert!(reports.iter().all(|r| !r.fell_back));
    }
    let skinned = limb.skin(Skinning::DualQuaternion, Turn::Bend(90.0));
    assert!(limb.intersections(&skinned) > 20, "which the skinning does not");
}

#[test]
fn a_half_turn_keeps_its_radius() {
    let limb = limb();
    let turn = Turn::Twist(180.0);
    let tree = limb.tree(composition("union"));
    let start = limb.skin(Skinning::DualQuaternion, turn);
    let (one_shot, _) = limb.track_2012(&tree, turn, start, scheme_2012::Settings::default());
    let (tracked, _) = limb.track_2014(&tree, turn, 360.0, scheme_2014::Settings::tracked());
    for positions in [one_shot, tracked] {
        assert!(limb.volume_change(&positions) > -0.5, "{}", limb.volume_change(&positions));
        assert!(limb.smallest_radius(&positions) > 0.99, "{}", limb.smallest_radius(&positions));
        assert_eq!(limb.intersections(&positions), 0);
    }
}

#[test]
fn a_vertex_out_of_reach_stays_and_is_reported() {
    let limb = limb();
    let turn = Turn::Bend(60.0);
    let tree = limb.tree(composition("union"));
    let mut start = limb.skin(Skinning::DualQuaternion, turn);
    let lost = Vec3::splat(100.0);
    start[700] = lost;
    start[701] = Vec3::NAN;
    let (tracked, reports) = limb.track_2012(&tree, turn, start, scheme_2012::Settings::default());
    assert_eq!(tracked[700], lost);
    assert_eq!(reports.iter().filter(|r| r.fell_back).count(), 2);
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let limb = Limb::new(12, 25, 3);
    let tree = limb.tree(composition("contact"));
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let turn = Turn::Bend(100.0);
            let start = limb.skin(Skinning::DualQuaternion, turn);
            let one_shot = limb.track_2012(&tree, turn, start, scheme_2012::Settings::default());
            (one_shot, limb.track_2014(&tree, turn, 20.0, scheme_2014::Settings::default()))
        })
    };
    assert!(run(1) == run(3));
}

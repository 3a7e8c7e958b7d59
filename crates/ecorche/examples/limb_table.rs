//! The papers' trackers on a bent and twisted limb of two bones: volume, intersecting triangles, penetration.
//!
//! `cargo run --release -p ecorche --example limb_table -- [SEED]`

#[path = "../tests/limb/mod.rs"]
mod limb;

use ecorche::field::operator::{Bulge, Composition, Contact, Controller, Operator, Union, by_name};
use ecorche::field::tree::Rule;
use ecorche::field::{Field, Tree};
use ecorche::skinning::Skinning;
use ecorche::tracking::VertexReport;
use ecorche::tracking::papers::own_side::OwnSide;
use ecorche::tracking::papers::{scheme_2012, scheme_2014};
use glam::Vec3;
use limb::{Limb, Turn};
use std::sync::Arc;

const ANGLES: [f32; 4] = [60.0, 90.0, 120.0, 150.0];

type Tracked = (Vec<Vec3>, Vec<VertexReport>);

fn main() {
    let seed = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let limb = Limb::new(24, 49, seed);
    println!(
        "{} vertices, {} triangles, bends of 60 / 90 / 120 / 150 degrees",
        limb.mesh.positions.len(),
        limb.mesh.triangles.len()
    );
    println!(
        "{:<34} {:<30} {:<22} {:<26} samples per vertex",
        "method", "volume change %", "pairs", "penetration"
    );
    let composition = |name: &str| Composition::new(by_name(name).expect("a known operator"));
    let late = || Composition {
        operator: std::sync::Arc::new(Contact::default()),
        controller: Controller::LATE_CONTACT,
    };
    let bulge = || {
        let controller = Bulge::default().default_controller();
        Composition { controller, ..Composition::tabulated(&Bulge::default()) }
    };
    let union = limb.tree(composition("union"));
    row(
        "union field",
        &ANGLES.map(|a| format!("{:.2}", field_volume_change(&limb, &union, Turn::Bend(a)))),
        &[],
        &[],
        0.0,
    );
    bends(&limb, "LBS", |turn| (limb.skin(Skinning::Linear, turn), Vec::new()));
    bends(&limb, "DQS", |turn| (limb.skin(Skinning::DualQuaternion, turn), Vec::new()));
    let one_shot = |composition: Composition, settings: scheme_2012::Settings| {
        let tree = limb.tree(composition);
        let limb = &limb;
        move |turn| limb.track_2012(&tree, turn, limb.skin(Skinning::DualQuaternion, turn), settings)
    };
    for (name, composition) in
        [("union", composition("union")), ("blend", composition("blend")), ("bulge", bulge())]
    {
        bends(&limb, &format!("2012 {name}"), one_shot(composition, scheme_2012::Settings::default()));
    }
    bends(&limb, "2012 union, as printed", one_shot(composition("union"), scheme_2012::Settings::printed()));
    let tracked = |composition: Composition, step: f32, settings: scheme_2014::Settings| {
        let tree = limb.tree(composition);
        let limb = &limb;
        move |turn| limb.track_2014(&tree, turn, step, settings.clone())
    };
    let plain = scheme_2014::Settings::tracked;
    bends(&limb, "2014 contact, one shot", tracked(composition("contact"), 360.0, plain()));
    bends(
        &limb,
        "2014 contact, one shot, as printed",
        tracked(composition("contact"), 360.0, scheme_2014::Settings::printed()),
    );
    bends(&limb, "tracked 10, contact 60-120", tracked(late(), 10.0, plain()));
    bends(&limb, "tracked 10, contact 45-90", tracked(composition("contact"), 10.0, plain()));
    bends(&limb, "tracked 10, union", tracked(composition("union"), 10.0, plain()));
    bends(&limb, "tracked 10, bulge", tracked(bulge(), 10.0, plain()));
    let recipe = scheme_2014::Settings::default;
    bends(&limb, "tracked 10 + own side", tracked(composition("contact"), 10.0, recipe()));
    bends(&limb, "tracked 5 + own side", tracked(composition("contact"), 5.0, recipe()));
    let gated = OwnSide { least_angle: 1.2, ..OwnSide::default() };
    let gated = scheme_2014::Settings { own_side: Some(gated), ..recipe() };
    bends(&limb, "tracked 10 + own side from 69", tracked(composition("contact"), 10.0, gated));

    println!("\ntwists of 60 / 90 / 120 / 150 / 180 degrees: volume change %, smallest radius");
    twists(&limb, "LBS", |turn| limb.skin(Skinning::Linear, turn));
    twists(&limb, "DQS", |turn| limb.skin(Skinning::DualQuaternion, turn));
    twists(&limb, "2012 union from LBS", |turn| {
        limb.track_2012(&union, turn, limb.skin(Skinning::Linear, turn), Default::default()).0
    });
    twists(&limb, "2012 union from DQS", |turn| {
        limb.track_2012(&union, turn, limb.skin(Skinning::DualQuaternion, turn), Default::default()).0
    });
    let contact = limb.tree(composition("contact"));
    twists(&limb, "2014 contact, one shot", |turn| limb.track_2014(&contact, turn, 360.0, plain()).0);
    finger(seed);
}

fn bends(limb: &Limb, name: &str, track: impl Fn(Turn) -> Tracked) {
    let (mut volume, mut pairs, mut penetration) = (Vec::new(), Vec::new(), Vec::new());
    let mut evaluations = 0.0;
    for turn in ANGLES.map(Turn::Bend) {
        let (positions, reports) = track(turn);
        volume.push(format!("{:.2}", limb.volume_change(&positions)));
        pairs.push(format!("{}", limb.intersections(&positions)));
        penetration.push(format!("{:.3}", limb.penetration(&positions, turn)));
        let sum: u32 = reports.iter().map(|r| r.evaluations).sum();
        evaluations = f64::from(sum) / positions.len() as f64;
    }
    row(name, &volume, &pairs, &penetration, evaluations);
}

fn row(name: &str, volume: &[String], pairs: &[String], penetration: &[String], evaluations: f64) {
    let join = |words: &[String]| words.join(" / ");
    println!(
        "{name:<34} {:<30} {:<22} {:<26} {evaluations:.0}",
        join(volume),
        join(pairs),
        join(penetration)
    );
}

fn twists(limb: &Limb, name: &str, track: impl Fn(Turn) -> Vec<Vec3>) {
    let words = [60.0, 90.0, 120.0, 150.0, 180.0].map(|angle| {
        let positions = track(Turn::Twist(angle));
        format!("{:.2}, {:.3}", limb.volume_change(&positions), limb.smallest_radius(&positions))
    });
    println!("{name:<24} {}", words.join(" / "));
}

/// A finger of three bones, curled until it touches itself: the rules of composition compared.
fn finger(seed: u64) {
    let finger = Limb::with_bones(24, 55, seed, 3, 3.0);
    println!("\n3 bones, curls of 80+70 / 100+95 degrees: volume change %, pairs");
    let report = |name: &str, track: &dyn Fn(Turn) -> Vec<Vec3>| {
        let words = [Turn::Curl(80.0, 70.0), Turn::Curl(100.0, 95.0)].map(|turn| {
            let positions = track(turn);
            format!("{:.2}, {}", finger.volume_change(&positions), finger.intersections(&positions))
        });
        println!("{name:<34} {}", words.join(" / "));
    };
    report("LBS", &|turn| finger.skin(Skinning::Linear, turn));
    report("DQS", &|turn| finger.skin(Skinning::DualQuaternion, turn));
    for rule in [Rule::JointPairs, Rule::Branches, Rule::Contact] {
        let union = finger.tree_by(rule, Composition::new(Box::new(Union)));
        let start = |turn| finger.skin(Skinning::DualQuaternion, turn);
        report(&format!("2012 union, {rule:?}"), &|turn| {
            finger.track_2012(&union, turn, start(turn), scheme_2012::Settings::default()).0
        });
        let contact = finger.tree_by(rule, Composition::new(Box::new(Contact::default())));
        for (name, settings) in [
            ("tracked 10", scheme_2014::Settings::tracked()),
            ("+ own side", scheme_2014::Settings::default()),
        ] {
            report(&format!("{name}, contact, {rule:?}"), &|turn| {
                finger.track_2014(&contact, turn, 10.0, settings.clone()).0
            });
        }
    }
}

/// Change of the volume inside the field's surface, per cent, counted at evenly spread points; within 0.2.
fn field_volume_change(limb: &Limb, tree: &Arc<Tree>, turn: Turn) -> f64 {
    let count = |turn: Turn| {
        let field = limb.body(tree, turn);
        let inside = (1..=2_000_000).filter(|&i| {
            let part = |k: f64| (f64::from(i) * k).fract() as f32;
            let at = Vec3::new(part(0.819_172_513), part(0.671_043_607), part(0.549_700_478));
            let point = Vec3::new(-1.3, -1.3, -1.3) + at * Vec3::new(10.6, 6.6, 2.6);
            field.sample(point).value > 0.5
        });
        inside.count() as f64
    };
    100.0 * (count(turn) / count(Turn::Bend(0.0)) - 1.0)
}

use super::*;
use crate::field::conformance::scatter;
use crate::field::operator::{Blend, Bulge, Contact, Controller, Scale, Union};
use crate::field::{Falloff, Operator};

/// A ball whose field ends one radius outside it.
struct Ball {
    centre: Vec3,
    radius: f32,
}

impl Field for Ball {
    fn sample(&self, point: Vec3) -> Sample {
        let away = point - self.centre;
        let distance = f64::from(away.length() - self.radius);
        let falloff = Falloff { radius: f64::from(self.radius) };
        if !self.support().contains(point) || distance >= falloff.radius {
            return Sample::OUTSIDE;
        }
        let outward = away.normalize_or_zero();
        Sample { value: falloff.value(distance) as f32, gradient: falloff.slope(distance) as f32 * outward }
    }

    fn support(&self) -> Support {
        Support { low: self.centre - 2.0 * self.radius, high: self.centre + 2.0 * self.radius }
    }
}

fn ball(x: f32, y: f32) -> Ball {
    Ball { centre: Vec3::new(x, y, 0.0), radius: 1.0 }
}

fn body(tree: Tree, parts: &[Ball]) -> PosedTree<&Ball> {
    PosedTree::new(tree.into(), parts.iter().collect())
}

fn contact() -> Composition {
    Composition::new(Box::new(Contact::default()))
}

/// Contact whatever the angle: the gradient is then exact.
fn always(operator: impl Operator + 'static, opening: f64) -> Composition {
    Composition {
        operator: std::sync::Arc::new(operator),
        controller: Controller::constant(opening, Scale::Amount),
    }
}

const RULES: [Rule; 3] = [Rule::Branches, Rule::JointPairs, Rule::Contact];

#[test]
fn two_parts_are_joined_by_their_operator() {
    let parts = [ball(0.0, 0.0), ball(0.8, 0.0)];
    let operators: [fn() -> Composition; 3] = [
        contact,
        || Composition::new(Box::new(Blend::default())),
        || Composition::new(Box::new(Bulge::default())),
    ];
    for make in operators {
        let composition = make();
        for rule in RULES {
            let tree = Tree::new(rule, &[None, Some(0)], make(), Vec::new()).unwrap();
            let body = body(tree, &parts);
            for point in scatter(body.support(), 500) {
                let joined = composition.join(parts[0].sample(point), parts[1].sample(point));
                let sample = body.sample(point);
                let name = composition.operator.name();
                assert!((sample.value - joined.value).abs() < 1e-5, "{rule:?} {name}: {sample:?} {joined:?}");
                assert!(
                    sample.gradient.distance(joined.gradient) < 1e-4,
                    "{rule:?} {name}: {sample:?} {joined:?}"
                );
            }
        }
    }
}

/// A finger curled so that its tip is in the palm: palm, two phalanges, tip.
fn curled_finger() -> ([Ball; 4], [Option<u32>; 4]) {
    ([ball(0.0, 0.0), ball(1.5, 0.8), ball(1.5, 2.0), ball(0.1, 1.6)], [None, Some(0), Some(1), Some(2)])
}

#[test]
fn limbs_that_are_no_neighbours_have_a_wall_between_them() {
    let (parts, parents) = curled_finger();
    // Half way between tip and palm, inside both.
    let middle = 0.5 * (parts[0].centre + parts[3].centre);
    let blend = || (1..4).map(|part| (part, Composition::new(Box::new(Blend::default())))).collect();
    let value = |rule| {
        let tree = Tree::new(rule, &parents, contact(), blend()).unwrap();
        body(tree, &parts).sample(middle).value
    };
    assert!(parts[0].sample(middle).value > 0.55);
    assert!((value(Rule::Contact) - 0.5).abs() < 1e-3);
    assert!(value(Rule::JointPairs) > 0.55, "joint pairs know no contact between strangers");
    let tree = Tree::new(Rule::Branches, &parents, contact(), Vec::new()).unwrap();
    assert!((body(tree, &parts).sample(middle).value - 0.5).abs() < 1e-2);
}

#[test]
fn the_field_does_not_jump() {
    let parts = [ball(0.0, 0.0), ball(0.9, 0.1), ball(0.5, 0.9), ball(0.4, 0.3)];
    let tree = Tree::new(Rule::Contact, &[None, Some(0), Some(1), None], contact(), Vec::new()).unwrap();
    let body = body(tree, &parts);
    let step = 1e-3;
    let mut switches = 0;
    for start in scatter(Support { low: Vec3::new(-0.5, -0.5, -0.3), high: Vec3::new(1.5, 1.5, 0.3) }, 300) {
        let along = Vec3::new(0.6, 0.64, 0.48);
        let strongest = |p: Vec3| {
            (0..4).max_by(|&a: &usize, &b| parts[a].sample(p).value.total_cmp(&parts[b].sample(p).value))
        };
        for i in 0..200 {
            let (here, there) = (start + along * step * i as f32, start + along * step * (i + 1) as f32);
            switches += usize::from(strongest(here) != strongest(there));
            let change = (body.sample(here).value - body.sample(there).value).abs();
            // The parts change by 1e-3 a step; the controller turns the wall on within a short way.
            assert!(change < 0.02, "{change} at {here}");
        }
    }
    assert!(switches > 20, "the paths must cross from part to part: {switches}");
}

#[test]
fn gradients_are_slopes() {
    let parts = [ball(0.0, 0.0), ball(1.1, 0.2), ball(0.5, 1.0)];
    for rule in RULES {
        let special = vec![(1, always(Blend::default(), 0.4))];
        let tree =
            Tree::new(rule, &[None, Some(0), Some(0)], always(Contact::default(), 1.0), special).unwrap();
        let body = body(tree, &parts);
        let h = 1e-3;
        let points = scatter(body.support(), 2000);
        let (mut good, mut all) = (0, 0);
        for point in points.filter(|p| body.sample(*p).value > 0.05) {
            let slope = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| {
                (body.sample(point + axis * h).value - body.sample(point - axis * h).value) / (2.0 * h)
            });
            all += 1;
            good += usize::from(body.sample(point).gradient.distance(Vec3::from_array(slope)) < 5e-3);
        }
        // Creases are where the field has no slope.
        assert!(all > 300 && good as f32 > 0.98 * all as f32, "{rule:?}: {good} of {all}");
    }
}

#[test]
fn boxes_change_nothing() {
    let parts: Vec<Ball> = (0..40)
        .map(|i| Ball { centre: Vec3::new(i as f32 * 0.7, (i % 7) as f32, 0.0), radius: 0.6 })
        .collect();
    let parents: Vec<Option<u32>> = (0..40u32).map(|i| (i > 0).then(|| (i - 1) / 3)).collect();
    for rule in RULES {
        let tree = Tree::new(rule, &parents, contact(), Vec::new()).unwrap();
        let body = body(tree, &parts);
        let tree = &body.tree;
        let everywhere = vec![Support { low: Vec3::MIN, high: Vec3::MAX }; tree.branches.len()];
        assert!(tree.branches.len() > 5);
        let mut inside = 0;
        for point in scatter(body.support(), 2000) {
            let brute = tree.sample(&everywhere, |part, point| parts[part as usize].sample(point), point);
            assert_eq!(body.sample(point), brute, "{rule:?}");
            inside += usize::from(brute.value > 0.0);
        }
        assert!(inside > 200);
    }
}

#[test]
fn a_chain_of_ten_thousand_parts_and_as_many_siblings() {
    let chain: Vec<Option<u32>> = (0..10_000u32).map(|i| i.checked_sub(1)).collect();
    let star: Vec<Option<u32>> = (0..10_000u32).map(|i| (i > 0).then_some(0)).collect();
    for parents in [chain, star, vec![None; 10_000]] {
        let tree =
            Tree::new(Rule::Branches, &parents, Composition::new(Box::new(Union)), Vec::new()).unwrap();
        let boxes = vec![Support { low: Vec3::MIN, high: Vec3::MAX }; tree.branches.len()];
        let part = |i: u32, _| Sample { value: i as f32 / 10_000.0, gradient: Vec3::X };
        assert_eq!(tree.sample(&boxes, part, Vec3::ZERO).value, 0.9999);
    }
}

#[test]
fn senseless_trees_are_refused_and_empty_ones_are_empty() {
    let make = |parents: &[Option<u32>], special| Tree::new(Rule::Contact, parents, contact(), special);
    assert_eq!(
        make(&[None, Some(7)], vec![]).unwrap_err(),
        TreeError::Parent { part: 1, parent: 7, count: 2 }
    );
    assert_eq!(make(&[None, Some(2), Some(1)], vec![]).unwrap_err(), TreeError::Loop(1));
    assert_eq!(make(&[None], vec![(3, contact())]).unwrap_err(), TreeError::Part(3, 1));
    let none = make(&[], vec![]).unwrap();
    assert_eq!(body(none, &[]).sample(Vec3::ZERO), Sample::OUTSIDE);
}

#[test]
fn a_body_posed_again_is_where_its_parts_are() {
    let tree = Tree::new(Rule::Contact, &[None, Some(0), Some(1), Some(2)], contact(), Vec::new()).unwrap();
    let mut body =
        PosedTree::new(tree.into(), vec![ball(0.0, 0.0), ball(3.0, 0.0), ball(6.0, 0.0), ball(9.0, 0.0)]);
    assert_eq!(body.sample(Vec3::Y * 20.0), Sample::OUTSIDE);
    body.pose(|parts| parts[3] = ball(0.0, 20.0));
    assert!(body.sample(Vec3::Y * 20.0).value > 0.9);
    assert_eq!(body.strongest_other(0, Vec3::Y * 20.5).map(|other| other.0), Some(3));
    assert_eq!(body.strongest_other(3, Vec3::Y * 20.5), None);
    assert_eq!(body.parts().len(), 4);
}

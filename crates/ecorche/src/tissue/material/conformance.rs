//! One suite for every law: stress is the slope of the energy (by differences here, by a complex step in
//! `complex_step`), tangent the slope of the stress, zero at rest,
//! unchanged by rotation, definite after clamping; and the reference values of a second program.

use super::*;
use glam::DQuat;
use serde_json::Value;

pub(super) fn laws() -> Vec<Box<dyn Material>> {
    let lame = Lame::new(3e4, 0.45);
    vec![
        Box::new(StVenantKirchhoff { lame }),
        Box::new(Invertible::new(lame)),
        Box::new(Corotational { lame }),
        Box::new(StableNeoHookean::new(lame)),
        Box::new(Incompressible { bulk: 1e5 }),
        Box::new(Fibre { law: MuscleForce::default(), stretch: Stretch::Full }),
        Box::new(Fibre { law: MuscleForce::default(), stretch: Stretch::Deviatoric }),
        Box::new(Fibre { law: TendonForce::default(), stretch: Stretch::Full }),
        Box::new(muscle(lame, MuscleForce::default(), Stretch::Full)),
        Box::new(tendon(lame, TendonForce::default())),
    ]
}

pub(super) struct Random(pub u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }

    fn gradient(&mut self, spread: f64) -> DMat3 {
        DMat3::IDENTITY + DMat3::from_cols_array(&std::array::from_fn(|_| self.next())) * spread
    }

    fn local(&mut self) -> Local {
        let fibre = DVec3::new(self.next(), self.next(), self.next()).normalize();
        Local {
            fibre,
            activation: 0.5 + 0.5 * self.next(),
            stiffness: 1.0 + 0.5 * self.next(),
            pressure: 0.0,
        }
    }

    fn rotation(&mut self) -> DMat3 {
        let axis = DVec3::new(self.next(), self.next(), self.next()).normalize();
        DMat3::from_quat(DQuat::from_axis_angle(axis, 3.0 * self.next()))
    }
}

fn bump(gradient: &DMat3, k: usize, by: f64) -> DMat3 {
    let mut moved = *gradient;
    moved.col_mut(k % 3)[k / 3] += by;
    moved
}

/// Eighth-order central difference.
fn slope(f: impl Fn(f64) -> f64, step: f64) -> f64 {
    [(1.0, 4.0 / 5.0), (2.0, -1.0 / 5.0), (3.0, 4.0 / 105.0), (4.0, -1.0 / 280.0)]
        .iter()
        .map(|&(k, w)| w * (f(k * step) - f(-k * step)) / step)
        .sum()
}

/// Gradients a law is defined for: inverted ones are left to the laws that accept them, and the muscle
/// curves' joints and the invertible law's limit are not straddled.
pub(super) fn gradients(law: &dyn Material, random: &mut Random) -> Vec<(DMat3, Local)> {
    let mut list = Vec::new();
    while list.len() < 40 {
        let spread = if list.len() % 2 == 0 { 0.25 } else { 0.6 };
        let (gradient, local) = (random.gradient(spread), random.local());
        let stretch = (gradient * local.fibre).length();
        let deviatoric = stretch * gradient.determinant().abs().powf(-1.0 / 3.0);
        let sigma = crate::math::svd::svd(&gradient).sigma;
        let straddles = [0.56, 0.84, 1.4, 1.96, 2.24, 1.0, 1.03]
            .iter()
            .any(|x| (stretch - x).abs() < 0.01 || (deviatoric - x).abs() < 0.01)
            || sigma.to_array().iter().any(|s| (s - 0.6).abs() < 0.01);
        if straddles || (law.needs_positive_volume() && gradient.determinant() < 0.1) {
            continue;
        }
        list.push((gradient, local));
    }
    list
}

#[test]
fn stress_is_the_slope_of_the_energy() {
    for law in laws() {
        for (gradient, local) in gradients(law.as_ref(), &mut Random(1)) {
            let stress = law.stress(&gradient, &local);
            let size = stress.to_cols_array().iter().fold(1e4f64, |a, x| a.max(x.abs()));
            for k in 0..9 {
                let difference = slope(|h| law.energy(&bump(&gradient, k, h), &local), 1e-3);
                let exact = entry(&stress, k / 3, k % 3);
                assert!((difference - exact).abs() < 3e-9 * size, "{} {k}: {difference} {exact}", law.name());
            }
        }
    }
}

#[test]
fn tangent_is_the_slope_of_the_stress() {
    for law in laws() {
        for (gradient, local) in gradients(law.as_ref(), &mut Random(2)) {
            let tangent = law.tangent(&gradient, &local);
            let size = tangent.iter().flatten().fold(1e4f64, |a, x| a.max(x.abs()));
            for c in 0..9 {
                for r in 0..9 {
                    let stress = |h| entry(&law.stress(&bump(&gradient, c, h), &local), r / 3, r % 3);
                    let difference = slope(stress, 1e-3);
                    assert!(
                        (difference - tangent[r][c]).abs() < 1e-8 * size,
                        "{} {r} {c}: {difference} {}",
                        law.name(),
                        tangent[r][c]
                    );
                    assert!((tangent[r][c] - tangent[c][r]).abs() < 1e-11 * size, "{} symmetric", law.name());
                }
            }
        }
    }
}

#[test]
fn nothing_pulls_at_rest_without_activation() {
    for law in laws() {
        let local = Local { activation: 0.0, ..Local::default() };
        assert!(law.energy(&DMat3::IDENTITY, &local).abs() < 1e-10, "{}", law.name());
        let stress = law.stress(&DMat3::IDENTITY, &local);
        assert!(stress.to_cols_array().iter().all(|x| x.abs() < 1e-9), "{} {stress}", law.name());
    }
}

#[test]
fn turning_the_world_turns_the_stress() {
    for law in laws() {
        let mut random = Random(3);
        for (gradient, local) in gradients(law.as_ref(), &mut Random(4)) {
            let turn = random.rotation();
            let (e, turned) = (law.energy(&gradient, &local), law.energy(&(turn * gradient), &local));
            assert!((e - turned).abs() <= 1e-10 * e.abs().max(1e3), "{}", law.name());
            let stress = law.stress(&gradient, &local);
            let off = law.stress(&(turn * gradient), &local) - turn * stress;
            let size = stress.to_cols_array().iter().fold(1e3f64, |a, x| a.max(x.abs()));
            assert!(off.to_cols_array().iter().all(|x| x.abs() < 1e-10 * size), "{}", law.name());
        }
    }
}

#[test]
fn clamped_tangents_have_no_negative_eigenvalue_and_the_element_blocks_agree() {
    // Sums are clamped term by term, so only single terms must be left alone where they are definite.
    let single = laws().len() - 2;
    for (number, law) in laws().into_iter().enumerate() {
        for (gradient, local) in gradients(law.as_ref(), &mut Random(5)) {
            let tangent = law.definite_tangent(&gradient, &local);
            let (values, _) = eigen9(&tangent);
            let largest = values.iter().fold(1.0f64, |a, x| a.max(x.abs()));
            assert!(values.iter().all(|&x| x >= -1e-9 * largest), "{} {values:?}", law.name());
            // Where the exact tangent is already definite nothing changes.
            let exact = law.tangent(&gradient, &local);
            if number < single && eigen9(&exact).0.iter().all(|&x| x > 1e-6 * largest) {
                for (a, b) in exact.iter().flatten().zip(tangent.iter().flatten()) {
                    assert!((a - b).abs() < 1e-9 * largest, "{}", law.name());
                }
            }
            let shape = Shape::new([
                DVec3::ZERO,
                DVec3::new(0.9, 0.1, 0.0),
                DVec3::new(0.2, 1.1, -0.1),
                DVec3::new(0.1, 0.3, 0.8),
            ])
            .unwrap();
            for curvature in [Curvature::Definite, Curvature::Exact] {
                let element = Element { gradient, local: &local, shape: &shape, curvature };
                let (mut fast, mut plain) = (Response::default(), Response::default());
                law.add_response(&element, &mut fast);
                add_stiffness(law.as_ref(), &element, &mut plain);
                for (a, b) in fast.stiffness.iter().flatten().zip(plain.stiffness.iter().flatten()) {
                    assert!((a - b).abs() < 1e-9 * largest, "{} {curvature:?}", law.name());
                }
                let off = fast.stress - law.stress(&gradient, &local);
                assert!(off.to_cols_array().iter().all(|x| x.abs() < 1e-9 * largest), "{}", law.name());
            }
        }
    }
}

#[test]
fn an_inverted_tetrahedron_is_pushed_back() {
    // Flattening further must cost energy all the way through zero volume for the laws that promise it.
    let lame = Lame::new(3e4, 0.45);
    let laws: [Box<dyn Material>; 2] =
        [Box::new(StableNeoHookean::new(lame)), Box::new(Invertible::new(lame))];
    for law in laws {
        let energy = |s: f64| law.energy(&DMat3::from_diagonal(DVec3::new(1.0, 1.0, s)), &Local::default());
        for k in 0..15 {
            let s = 0.9 - 0.1 * k as f64;
            assert!(energy(s - 0.1) > energy(s), "{} at {s}", law.name());
        }
    }
}

fn reference() -> Value {
    serde_json::from_str(include_str!("../../../tests/data/tissue_reference.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

fn matrix(value: &Value) -> DMat3 {
    DMat3::from_cols_array(&numbers(value).try_into().unwrap()).transpose()
}

fn close(a: f64, b: f64, relative: f64, size: f64) -> bool {
    (a - b).abs() <= relative * size.max(b.abs())
}

#[test]
fn materials_agree_with_the_reference() {
    for case in reference()["materials"].as_array().unwrap() {
        let gradient = matrix(&case["gradient"]);
        let lame = Lame::new(case["young"].as_f64().unwrap(), case["poisson"].as_f64().unwrap());
        let local = Local {
            fibre: DVec3::from_slice(&numbers(&case["fibre"])),
            activation: case["activation"].as_f64().unwrap(),
            stiffness: 1.0,
            pressure: 0.0,
        };
        for given in case["laws"].as_array().unwrap() {
            let name = given["law"].as_str().unwrap();
            let law: Box<dyn Material> = match name {
                "stvk" => Box::new(StVenantKirchhoff { lame }),
                "snh" => Box::new(StableNeoHookean::new(lame)),
                "fibre_dev" => Box::new(Fibre { law: MuscleForce::default(), stretch: Stretch::Deviatoric }),
                "fibre_full" => Box::new(Fibre { law: MuscleForce::default(), stretch: Stretch::Full }),
                _ => Box::new(Incompressible { bulk: 1e5 }),
            };
            if let Some(energy) = given["energy"].as_f64() {
                assert!(close(law.energy(&gradient, &local), energy, 1e-9, 1.0), "{name}");
            }
            let stress = law.stress(&gradient, &local);
            let expected = numbers(&given["stress"]);
            let size = expected.iter().fold(0.0f64, |a, x| a.max(x.abs()));
            for (k, &e) in expected.iter().enumerate() {
                assert!(close(entry(&stress, k / 3, k % 3), e, 1e-9, size), "{name} stress {k}");
            }
            let tangent = law.tangent(&gradient, &local);
            let expected = numbers(&given["tangent"]);
            let size = expected.iter().fold(0.0f64, |a, x| a.max(x.abs()));
            for (k, &e) in expected.iter().enumerate() {
                assert!(close(tangent[k / 9][k % 9], e, 1e-7, size), "{name} tangent {k}");
            }
        }
    }
}

#[test]
fn fibre_curves_agree_with_the_reference() {
    let given = &reference()["fibre_law"];
    let force = MuscleForce::default();
    let column = |key: &str| numbers(&given[key]);
    let stretches = column("lam");
    for (k, &stretch) in stretches.iter().enumerate() {
        let x = stretch / force.optimal;
        let [energy, first, second] = force.evaluate(stretch, 1.0);
        let got = [MuscleForce::active(x)[1], force.passive(x)[1], first, second, energy];
        for (value, key) in got.into_iter().zip(["f_active", "f_passive", "dW_act1", "ddW_act1", "W_act1"]) {
            assert!(close(value, column(key)[k], 1e-9, 1e-3), "{key} at {stretch}: {value}");
        }
    }
}

#[test]
fn a_tetrahedron_agrees_with_the_reference() {
    let given = &reference()["tetrahedron"];
    let corners = |key: &str| -> [DVec3; 4] {
        let list = numbers(&given[key]);
        std::array::from_fn(|k| DVec3::from_slice(&list[3 * k..]))
    };
    let law = StableNeoHookean::new(Lame::new(
        given["young"].as_f64().unwrap(),
        given["poisson"].as_f64().unwrap(),
    ));
    let rest = corners("rest");
    // The reference takes either orientation; ours wants the positive one.
    let (mut order, mut now) = ([0, 1, 2, 3], corners("now"));
    let mut oriented = rest;
    if crate::tissue::element::volume(rest) < 0.0 {
        order = [0, 2, 1, 3];
        oriented = order.map(|k| rest[k]);
        now = order.map(|k| now[k]);
    }
    let shape = Shape::new(oriented).unwrap();
    assert!(close(shape.volume, given["volume"].as_f64().unwrap(), 1e-12, 0.0));
    let gradient = shape.gradient(now);
    let forces = shape.forces(&law.stress(&gradient, &Local::default()));
    let expected = numbers(&given["force"]);
    for k in 0..12 {
        assert!(close(forces[order[k / 3]][k % 3], expected[k], 1e-9, 1.0), "force {k}");
    }
    let mut response = Response::default();
    let local = Local::default();
    let element = Element { gradient, local: &local, shape: &shape, curvature: Curvature::Exact };
    add_stiffness(&law, &element, &mut response);
    let stiffness = numbers(&given["stiffness"]);
    for (block, &(a, b)) in response.stiffness.iter().zip(&PAIRS) {
        for k in 0..9 {
            let (row, column) = (3 * order[a] + k / 3, 3 * order[b] + k % 3);
            assert!(close(block[k], stiffness[12 * row + column], 1e-7, 1e3), "stiffness {row} {column}");
        }
    }
}

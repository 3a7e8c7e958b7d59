//! One suite for every operator: partials are slopes, an absent field changes nothing, symmetric, monotone
//! and bounded where promised; and the reference values of a second program.

use super::*;
use crate::field::conformance::{golden, numbers, vectors};
use crate::field::{CompactHrbf, Field, Posed, SurfaceSample, hrbf};
use glam::{Affine3A, DMat4, DVec4, Vec3};

struct Case {
    operator: Box<dyn Operator>,
    symmetric: bool,
    /// Never falls when a value grows.
    monotone: bool,
    /// Largest value for values up to 1.
    largest: f64,
}

fn cases() -> Vec<Case> {
    let case = |operator: Box<dyn Operator>, symmetric, monotone, largest| Case {
        operator,
        symmetric,
        monotone,
        largest,
    };
    let root = 2f64.sqrt();
    vec![
        case(Box::new(Union), true, true, 1.0),
        case(Box::new(Ricci { exponent: 2.0 }), true, true, root),
        case(Box::new(Ricci { exponent: 8.0 }), true, true, root),
        case(Box::new(CleanUnion { bounded: true }), true, true, 1.0),
        case(Box::new(CleanUnion { bounded: false }), true, true, root),
        case(Box::<Blend>::default(), true, true, 1.0),
        case(Box::new(Blend::GRADIENT), true, true, root),
        case(Box::<Bulge>::default(), true, false, 1.0),
        case(Box::<Contact>::default(), true, false, 1.0),
        case(Box::new(Contact { exponent: 2.5 }), true, false, 1.0),
        case(Box::<Detail>::default(), false, true, 1.0),
        case(Box::new(Fillet { width: 0.3 }), true, true, 1.0),
        case(Box::new(Fillet { width: 0.45 }), true, true, 1.0),
    ]
}

/// Values and openings off the borders where partials jump.
fn inputs() -> impl Iterator<Item = (f64, f64, f64)> {
    (1..4000).map(|i| {
        let part = |k: f64| (f64::from(i) * k).fract();
        (part(0.754_877_666), part(0.569_840_290), part(0.430_159_709))
    })
}

#[test]
fn partials_are_slopes() {
    for Case { operator, .. } in cases() {
        let h = 1e-6;
        let (mut checked, mut skipped) = (0, 0);
        for (a, b, t) in inputs() {
            let at = operator.compose(a, b, t);
            let shifted = [(h, 0.0, 0.0), (0.0, h, 0.0), (0.0, 0.0, h)]
                .map(|(x, y, z)| [1.0, -1.0].map(|s| operator.compose(a + s * x, b + s * y, t + s * z)));
            // A partial that jumps between the two sides marks a border of two cases: no slope to compare.
            let jumps = shifted.iter().flatten().any(|s| {
                (s.da - at.da).abs().max((s.db - at.db).abs()).max((s.dopening - at.dopening).abs()) > 1e-3
            });
            if jumps {
                skipped += 1;
                continue;
            }
            checked += 1;
            let partials = [at.da, at.db, at.dopening];
            for (partial, [high, low]) in partials.into_iter().zip(shifted) {
                let slope = (high.value - low.value) / (2.0 * h);
                assert!(
                    (slope - partial).abs() < 1e-4,
                    "{} at {a} {b} {t}: {at:?}, {slope}",
                    operator.name()
                );
            }
        }
        assert!(checked > 3900, "{}: {skipped} of the points lie on borders", operator.name());
    }
}

#[test]
fn an_absent_field_changes_nothing() {
    for Case { operator, .. } in cases() {
        for i in 0..=100 {
            let value = f64::from(i) / 100.0;
            for t in [0.0, 0.3, 1.0] {
                assert_eq!(operator.compose(value, 0.0, t).value, value, "{} first", operator.name());
                if operator.name() != "detail" {
                    assert_eq!(operator.compose(0.0, value, t).value, value, "{} second", operator.name());
                }
            }
        }
    }
}

#[test]
fn symmetric_monotone_and_bounded_where_promised() {
    for Case { operator, symmetric, monotone, largest } in cases() {
        let name = operator.name();
        for (a, b, t) in inputs() {
            let at = operator.compose(a, b, t);
            assert!(at.value >= -1e-12 && at.value <= largest + 1e-9, "{name} at {a} {b} {t}: {at:?}");
            if symmetric {
                let swapped = operator.compose(b, a, t);
                assert!(
                    (swapped.value - at.value).abs() < 1e-12 && (swapped.da - at.db).abs() < 1e-9,
                    "{name}"
                );
            }
            if monotone {
                assert!(at.da >= -1e-12 && at.db >= -1e-12, "{name} at {a} {b} {t}: {at:?}");
            }
        }
        for (a, b) in [(0.0, 0.0), (1.0, 1.0), (0.5, 0.5), (0.7, 0.7), (1.0, 0.5), (1e-300, 1e-300)] {
            for t in [0.0, 0.5, 1.0] {
                let c = operator.compose(a, b, t);
                let all = [c.value, c.da, c.db, c.dopening];
                assert!(all.iter().all(|v| v.is_finite()), "{name} at {a} {b} {t}: {c:?}");
            }
        }
    }
}

#[test]
fn the_surface_is_where_it_is_promised() {
    // A closed operator keeps the union's surface; an open one only adds to it, except that contact cuts.
    for Case { operator, .. } in cases() {
        for (a, b, t) in inputs() {
            let inside = operator.compose(a, b, t).value > 0.5 + 1e-12;
            let either = a.max(b) > 0.5;
            match operator.name() {
                "union" | "clean-union" | "clean-open-union" | "detail" => {
                    assert_eq!(inside, either, "{} at {a} {b}", operator.name());
                }
                "contact" => assert!(!inside || either),
                _ => assert!(inside || !either, "{} at {a} {b} {t}", operator.name()),
            }
        }
    }
}

#[test]
fn reference_values() {
    let golden = &golden()["operators"];
    let (a, b) = (numbers(&golden["a"]), numbers(&golden["b"]));
    let operators: [(&str, Box<dyn Operator>); 6] = [
        ("max", Box::new(Union)),
        ("ricci_2", Box::new(Ricci { exponent: 2.0 })),
        ("ricci_4", Box::new(Ricci { exponent: 4.0 })),
        ("ricci_8", Box::new(Ricci { exponent: 8.0 })),
        ("contact_closed_n4", Box::new(Contact::default())),
        ("detail_eps0.1", Box::new(Detail::default())),
    ];
    for (name, operator) in operators {
        let column = |key: &str| golden[name].get(key).map(numbers);
        let (g, da, db) = (column("g").unwrap(), column("da").unwrap(), column("db").unwrap());
        let opening = column("opening").unwrap_or_else(|| vec![0.0; a.len()]);
        let dopening = column("dopening").unwrap_or_else(|| vec![0.0; a.len()]);
        for i in 0..a.len() {
            let c = operator.compose(a[i], b[i], opening[i]);
            assert!((c.value - g[i]).abs() < 1e-9, "{name} {i}: {c:?} not {}", g[i]);
            // The reference lifts zeros to 1e-6 for Ricci, which shows in the partials.
            if name.starts_with("ricci") && a[i] * b[i] == 0.0 {
                continue;
            }
            assert!((c.da - da[i]).abs() < 1e-9 && (c.db - db[i]).abs() < 1e-9, "{name} {i}: {c:?}");
            assert!((c.dopening - dopening[i]).abs() < 1e-9, "{name} {i}: {c:?}");
        }
    }
}

#[test]
fn reference_composition_of_two_moved_fields() {
    let golden = &golden()["composed"];
    let normals = vectors(&golden["normals"]);
    let field = |points: &str| {
        let samples: Vec<SurfaceSample> = vectors(&golden[points])
            .iter()
            .zip(&normals)
            .map(|(p, n)| SurfaceSample { position: p.as_vec3(), normal: n.as_vec3() })
            .collect();
        CompactHrbf::new(hrbf::fit(&samples, 0.5).unwrap(), golden["r"].as_f64().unwrap() as f32)
    };
    let rows: Vec<DVec4> =
        golden["T2"].as_array().unwrap().iter().map(|r| DVec4::from_slice(&numbers(r))).collect();
    let motion = DMat4::from_cols(rows[0], rows[1], rows[2], rows[3]).transpose().as_mat4();
    let (first, second) = (field("points1"), Posed::new(field("points2"), Affine3A::from_mat4(motion)));
    let compositions = [
        ("max", Composition::new(Box::new(Union))),
        ("blend_elbow_diamond", Composition::new(Box::new(Blend::default()))),
        ("bulge0.3_diamond", Composition::new(Box::new(Bulge::default()))),
        (
            "contact_closed",
            Composition {
                operator: std::sync::Arc::new(Contact::default()),
                controller: Controller::LATE_CONTACT,
            },
        ),
    ];
    for (name, composition) in compositions {
        let (f, gradient) = (numbers(&golden[name]["f"]), vectors(&golden[name]["grad_no_alpha_term"]));
        for (i, query) in vectors(&golden["query"]).iter().enumerate() {
            let point: Vec3 = query.as_vec3();
            let joined = composition.join(first.sample(point), second.sample(point));
            assert!((f64::from(joined.value) - f[i]).abs() < 1e-5, "{name} {i}: {joined:?} not {}", f[i]);
            let error = joined.gradient.as_dvec3().distance(gradient[i]);
            assert!(error < 1e-4, "{name} {i}: {joined:?} not {}", gradient[i]);
        }
    }
}

#[test]
fn every_name_makes_its_operator() {
    for name in NAMES {
        assert_eq!(by_name(name).unwrap().name(), name);
    }
    assert!(by_name("intersection").is_none());
}

//! Reference values of a second program, errors, precision and independence of the unit of length.

use super::*;
use crate::field::conformance::{capsule_samples, golden, numbers, vectors};
use crate::geom::TriMesh;
use crate::geom::poisson_disk::{Settings, scatter};

/// [`Hrbf::distance`] in double precision.
fn exact_distance(hrbf: &Hrbf, point: DVec3) -> (f64, DVec3) {
    let scale = f64::from(hrbf.scale);
    let at = (point - hrbf.middle.as_dvec3()) / scale;
    let (value, gradient) = evaluate(&hrbf.centres, &hrbf.weights, at);
    (scale * value, gradient)
}

fn golden_samples(section: &str) -> (Vec<DVec3>, Vec<DVec3>) {
    let golden = golden();
    (vectors(&golden[section]["points"]), vectors(&golden[section]["normals"]))
}

#[test]
fn reference_matrix() {
    let (points, normals) = golden_samples("hrbf_matrix");
    let golden = golden();
    let matrix = system(&points);
    for (row, expected) in golden["hrbf_matrix"]["matrix"].as_array().unwrap().iter().enumerate() {
        for (column, expected) in numbers(expected).iter().enumerate() {
            assert!((matrix[column * 12 + row] - expected).abs() < 1e-12, "entry {row} {column}");
        }
    }
    let right: Vec<f64> = normals.iter().flat_map(|n| [0.0, n.x, n.y, n.z]).collect();
    assert_eq!(right, numbers(&golden["hrbf_matrix"]["rhs"]));
}

#[test]
fn reference_weights_and_values() {
    let golden = golden();
    let (points, normals) = golden_samples("hrbf");
    let weights = solve_weights(&points, &normals).unwrap();
    let (lambda, beta) = (numbers(&golden["hrbf"]["lambda"]), vectors(&golden["hrbf"]["beta"]));
    for (i, &[l, x, y, z]) in weights.iter().enumerate() {
        assert!((l - lambda[i]).abs() < 1e-9 && DVec3::new(x, y, z).distance(beta[i]) < 1e-9, "centre {i}");
    }
    let (value, gradient) = (numbers(&golden["hrbf"]["value"]), vectors(&golden["hrbf"]["gradient"]));
    let (f, f_gradient) = (numbers(&golden["hrbf"]["f"]), vectors(&golden["hrbf"]["f_gradient"]));
    let falloff = Falloff { radius: golden["hrbf"]["r"].as_f64().unwrap() };
    for (i, &query) in vectors(&golden["hrbf"]["query"]).iter().enumerate() {
        let (d, slope) = evaluate(&points, &weights, query);
        assert!((d - value[i]).abs() < 1e-9 && slope.distance(gradient[i]) < 1e-9, "query {i}");
        assert!((falloff.value(d) - f[i]).abs() < 1e-9, "field at query {i}");
        assert!((falloff.slope(d) * slope).distance(f_gradient[i]) < 1e-9, "field gradient at query {i}");
    }
}

#[test]
fn single_precision_agrees_with_the_exact_sum() {
    let samples = capsule_samples(|p| p + Vec3::new(1.0, 2.0, -3.0));
    let hrbf = fit(&samples, 0.05).unwrap();
    let (low, high) = hrbf.bounds();
    let mut worst = (0.0f64, 0.0f64);
    for i in 0..1000u32 {
        let part = |k: u32| (i.wrapping_mul(k) % 1009) as f32 / 1009.0;
        let point = low + (high - low) * Vec3::new(part(7), part(101), part(577));
        let (d, gradient) = hrbf.distance(point);
        let (exact, exact_gradient) = exact_distance(&hrbf, point.as_dvec3());
        worst.0 = worst.0.max((f64::from(d) - exact).abs() / 0.05);
        worst.1 = worst.1.max(gradient.as_dvec3().distance(exact_gradient));
    }
    assert!(worst.0 < 5e-5 && worst.1 < 5e-5, "error {:e} limb radii, gradient {:e}", worst.0, worst.1);
}

#[test]
fn passes_through_its_samples() {
    let samples = capsule_samples(|p| p);
    let hrbf = fit(&samples, 0.05).unwrap();
    for sample in &samples {
        let (d, gradient) = exact_distance(&hrbf, sample.position.as_dvec3());
        assert!(d.abs() < 1e-8 && gradient.distance(sample.normal.as_dvec3().normalize()) < 1e-6);
    }
}

#[test]
fn points_scattered_over_a_mesh_bring_its_shape_back() {
    // A fine octahedron blown up to a ball of radius 0.1 m, 50 samples.
    let mut mesh = TriMesh::default();
    let n = 12i32;
    for sides in 0..8 {
        let side = |bit: i32| if sides >> bit & 1 == 1 { -1.0f32 } else { 1.0 };
        let turned = (0..3).map(side).product::<f32>() < 0.0;
        let mut corner = |i: i32, j: i32| {
            let flat = Vec3::new(i as f32 * side(0), j as f32 * side(1), (n - i - j) as f32 * side(2));
            mesh.positions.push(0.1 * flat.normalize());
            mesh.positions.len() as u32 - 1
        };
        for i in 0..n {
            for j in 0..n - i {
                let mut triangles = vec![[corner(i, j), corner(i + 1, j), corner(i, j + 1)]];
                if j + 1 < n - i {
                    triangles.push([corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)]);
                }
                for [a, b, c] in triangles {
                    mesh.triangles.push(if turned { [a, c, b] } else { [a, b, c] });
                }
            }
        }
    }
    let normals: Vec<Vec3> = mesh.positions.iter().map(|p| p.normalize()).collect();
    let points = scatter(&mesh, &normals, &Settings { count: 50, seed: 5 });
    let samples: Vec<SurfaceSample> = points.into_iter().map(SurfaceSample::from).collect();
    let hrbf = fit(&samples, 0.1).unwrap();
    for position in &mesh.positions {
        let (d, gradient) = hrbf.distance(*position);
        assert!(d.abs() < 0.02 * 0.1, "{d} m off the ball");
        assert!(gradient.normalize().dot(position.normalize()) > 0.995);
    }
}

#[test]
fn the_unit_of_length_does_not_matter() {
    let metres = capsule_samples(|p| p);
    let hrbf = fit(&metres, 0.05).unwrap();
    for unit in [0.01f32, 100.0] {
        let scaled: Vec<_> =
            metres.iter().map(|s| SurfaceSample { position: s.position * unit, normal: s.normal }).collect();
        let other = fit(&scaled, 0.05 * f64::from(unit)).unwrap();
        let point = DVec3::new(0.11, 0.02, 0.03);
        let (a, b) = (exact_distance(&hrbf, point).0, exact_distance(&other, point * f64::from(unit)).0);
        assert!((a - b / f64::from(unit)).abs() < 1e-7, "{a} and {b} at unit {unit}");
    }
}

#[test]
fn a_cylinder_has_the_known_profile() {
    // Long enough that the ends do not matter in the middle.
    let mut samples = Vec::new();
    for ring in -10..=10 {
        for i in 0..10 {
            let angle = (f64::from(i) + 0.5 * f64::from(ring & 1)) * std::f64::consts::TAU / 10.0;
            let normal = Vec3::new(0.0, angle.cos() as f32, angle.sin() as f32);
            samples.push(SurfaceSample { position: normal + Vec3::X * 0.6 * ring as f32, normal });
        }
    }
    let hrbf = fit(&samples, 1.0).unwrap();
    let at = |rho: f64| exact_distance(&hrbf, DVec3::new(0.0, rho, 0.0)).0;
    assert!((at(0.0) + 0.53).abs() < 0.05, "on the axis {}", at(0.0));
    assert!((at(2.0) - 1.31).abs() < 0.15, "one radius outside {}", at(2.0));
}

#[test]
fn each_error_says_what_is_wrong() {
    let good = capsule_samples(|p| p);
    assert_eq!(fit(&good[..3], 0.05).unwrap_err(), FitError::TooFewSamples(3));
    assert_eq!(fit(&vec![good[0]; 1001], 0.05).unwrap_err(), FitError::TooManySamples(1001));
    assert_eq!(fit(&good, 0.0).unwrap_err(), FitError::Scale(0.0));
    let mut bad = good.clone();
    bad[7] = bad[3];
    assert_eq!(fit(&bad, 0.05).unwrap_err(), FitError::Duplicate(3, 7));
    bad[7] = SurfaceSample { normal: Vec3::ZERO, ..good[7] };
    assert_eq!(fit(&bad, 0.05).unwrap_err(), FitError::BadSample(7));
    bad[7] = SurfaceSample { position: Vec3::NAN, ..good[7] };
    assert_eq!(fit(&bad, 0.05).unwrap_err(), FitError::BadSample(7));
}

#[test]
fn a_senseless_radius_gives_numbers() {
    let hrbf = fit(&capsule_samples(|p| p), 0.05).unwrap();
    for radius in [0.0, -1.0, f32::NAN] {
        let field = CompactHrbf::new(hrbf.clone(), radius);
        for x in [0.0, 0.1, 0.24, 0.25] {
            let sample = field.sample(Vec3::X * x);
            assert!(sample.value.is_finite() && sample.gradient.is_finite(), "radius {radius}: {sample:?}");
        }
    }
}

#[test]
fn support_radius_is_the_distance_to_the_segment() {
    let bone = [Vec3::ZERO, Vec3::X];
    let radius = |p| support_radius([p], bone);
    assert_eq!(radius(Vec3::new(0.5, 0.2, 0.0)), 0.2);
    assert_eq!(radius(Vec3::new(1.3, 0.0, 0.0)), 1.3 - 1.0);
    assert_eq!(support_radius([Vec3::Y], [Vec3::ZERO; 2]), 1.0);
}

#[test]
fn the_field_has_ended_before_its_box_cuts_it() {
    let field = CompactHrbf::new(fit(&capsule_samples(|p| p), 0.05).unwrap(), 0.05);
    let Support { low, high } = field.support();
    for i in 0..=20 {
        for j in 0..=20 {
            let (s, t) = (i as f32 / 20.0, j as f32 / 20.0);
            for face in
                [Vec3::new(0.0, s, t), Vec3::new(1.0, s, t), Vec3::new(s, 0.0, t), Vec3::new(s, t, 1.0)]
            {
                let (distance, _) = field.hrbf().distance(low + (high - low) * face);
                assert!(distance > 0.05, "d = {distance} on the box");
            }
        }
    }
}

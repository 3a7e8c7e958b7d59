use super::*;
use crate::field::conformance::{numbers, scatter, vectors};
use crate::muscle::golden;

fn profiles(a: u8, b: u8, c: u8, d: u8) -> Arc<Profiles> {
    Arc::new(Profiles::new(Profile::beta(a, b).unwrap(), Profile::beta(c, d).unwrap()))
}

#[test]
fn reference_values() {
    for case in golden()["muscle_field"].as_array().unwrap() {
        let points = vectors(&case["P"]);
        let vector = |key: &str| DVec3::from_slice(&numbers(&case[key]));
        let number = |key: &str| case[key].as_f64().unwrap();
        let axis = Axis::new(&points, [vector("n_m0"), vector("n_m1")], 0.0).unwrap();
        assert!((axis.length() - number("length")).abs() < 1e-9);
        assert!((axis.twist() - number("psi")).abs() < 1e-9);
        for (n, wanted) in axis.wide_axes().iter().zip(vectors(&case["frame_normals"])) {
            assert!(n.distance(wanted) < 1e-9);
        }
        let p: Vec<u8> = numbers(&case["profile"]).into_iter().map(|p| p as u8).collect();
        let muscle =
            Spindle::new(axis, profiles(p[0], p[1], p[2], p[3]), number("act"), number("e"), number("w"));
        let wanted = &case["plane"];
        let (s, f) = (numbers(&wanted["s"]), numbers(&wanted["f"]));
        let (gradient, ds) = (vectors(&wanted["grad"]), vectors(&wanted["grad_s"]));
        for (i, q) in vectors(&case["q"]).into_iter().enumerate() {
            let foot = muscle.axis().project(q, 10.0).unwrap();
            assert!((foot.s - s[i]).abs() < 1e-9, "{i}: s {} {}", foot.s, s[i]);
            assert!(foot.ds.distance(ds[i]) < 1e-7, "{i}: grad s {} {}", foot.ds, ds[i]);
            let (value, slope) = muscle.distance_from(q, &foot);
            assert!((value - f[i]).abs() < 1e-9, "{i}: f {value} {}", f[i]);
            assert!(slope.distance(gradient[i]) < 1e-7, "{i}: grad f {slope} {}", gradient[i]);
        }
    }
}

#[test]
fn the_width_follows_the_length_of_a_straight_axis() {
    for case in golden()["width_rule"].as_array().unwrap() {
        let number = |key: &str| case[key].as_f64().unwrap();
        let points: Vec<DVec3> = (0..=10).map(|i| DVec3::X * number("l_new") * 0.1 * f64::from(i)).collect();
        let axis = Axis::new(&points, [DVec3::Y; 2], 0.0).unwrap();
        let volume = PI * number("w").powi(2) * number("l");
        let width = width_for_volume(&axis, &profiles(3, 3, 4, 7), 0.4, volume, number("l"));
        assert!((width - number("w_new")).abs() < 1e-9);
    }
}

/// A bent, twisted, flat muscle of 12 segments.
fn bent() -> Spindle {
    let points: Vec<DVec3> = (0..=12)
        .map(|i| {
            let a = f64::from(i) / 12.0;
            DVec3::new(0.24 * a, 0.03 * (3.0 * a).sin(), 0.02 * a * a)
        })
        .collect();
    let axis = Axis::new(&points, [DVec3::Y, DVec3::Z], 0.0).unwrap();
    Spindle::new(axis, profiles(3, 3, 4, 7), 0.3, 0.8, 0.02)
}

#[test]
fn the_gradient_is_the_slope_on_a_bent_axis() {
    let muscle = bent();
    let (mut close, mut all) = (0, 0);
    for point in scatter(muscle.support(), 3000) {
        let q = point.as_dvec3();
        let h = 1e-6;
        let Some(Near { gradient, .. }) = muscle.near(q, 0.08) else { continue };
        let Some(foot) = muscle.axis().project(q, 0.08) else { continue };
        if q.distance(muscle.axis().at(&foot)) < 1e-3 {
            continue;
        }
        let slope = DVec3::from_array([DVec3::X, DVec3::Y, DVec3::Z].map(|axis| {
            let at = |q: DVec3| muscle.near(q, 1.0).unwrap().distance;
            (at(q + axis * h) - at(q - axis * h)) / (2.0 * h)
        }));
        all += 1;
        close += usize::from(gradient.distance(slope) < 1e-6);
    }
    // The rest straddle a section plane through a vertex, where the gradient has a kink.
    assert!(all > 500 && close as f64 > 0.995 * f64::from(all), "{close} of {all}");
}

/// Volume of the region below the surface, by counting cells of a grid with linear coverage.
fn integrated_volume(muscle: &Spindle, cell: f64) -> f64 {
    let Support { low, high } = muscle.support();
    let (low, high) = (low.as_dvec3(), high.as_dvec3());
    let count = ((high - low) / cell).ceil();
    let reach = 2.0 * muscle.thickest();
    let mut cells = 0.0;
    for x in 0..count.x as i32 {
        for y in 0..count.y as i32 {
            for z in 0..count.z as i32 {
                let at = low + (DVec3::new(f64::from(x), f64::from(y), f64::from(z)) + 0.5) * cell;
                if let Some(near) = muscle.near(at, reach) {
                    cells += (0.5 - near.distance / cell).clamp(0.0, 1.0);
                }
            }
        }
    }
    cells * cell.powi(3)
}

fn muscle_on(points: &[DVec3], eccentricity: f64, volume: f64, bind_length: f64, activation: f64) -> Spindle {
    let axis = Axis::new(points, [DVec3::Z, DVec3::Z], 0.0).unwrap();
    let profiles = profiles(3, 3, 4, 7);
    let width = width_for_volume(&axis, &profiles, activation, volume, bind_length);
    Spindle::new(axis, profiles, activation, eccentricity, width)
}

#[test]
fn the_volume_stays_over_a_motion() {
    let (length, volume) = (0.25, PI * 0.018 * 0.018 * 0.25);
    let cell = 0.0012;
    let straight: Vec<DVec3> = (0..=16).map(|i| DVec3::X * length * f64::from(i) / 16.0).collect();
    let rest = integrated_volume(&muscle_on(&straight, 0.5, volume, length, 0.0), cell);
    assert!((rest / volume - 1.0).abs() < 0.004, "{}", rest / volume);
    // Bending to 120 degrees while shortening by a quarter and tensing.
    for step in 1..=4 {
        let share = f64::from(step) / 4.0;
        let (turn, short) = (share * 2.1, length * (1.0 - 0.25 * share));
        let arc: Vec<DVec3> = (0..=16)
            .map(|i| {
                let a = turn * f64::from(i) / 16.0;
                short / turn * DVec3::new(a.sin(), 1.0 - a.cos(), 0.0)
            })
            .collect();
        let now = integrated_volume(&muscle_on(&arc, 0.5, volume, length, share), cell);
        assert!((now / rest - 1.0).abs() < 0.005, "{share}: {:.4}", now / rest);
    }
    // A sharp right angle in the middle.
    let corner: Vec<DVec3> = (0..=16)
        .map(|i| {
            let x = length * (f64::from(i) / 16.0 - 0.5);
            if x < 0.0 { DVec3::X * x } else { DVec3::Y * x }
        })
        .collect();
    let now = integrated_volume(&muscle_on(&corner, 0.5, volume, length, 0.0), cell);
    assert!((now / rest - 1.0).abs() < 0.03, "{:.4}", now / rest);
}

#[test]
fn far_from_the_origin_nothing_changes() {
    // The search runs in single precision, relative to the axis.
    let near = bent();
    let shift = DVec3::new(100.0, -50.0, 70.0);
    let points: Vec<DVec3> = near.axis().points().iter().map(|p| p + shift).collect();
    let axis = Axis::new(&points, [DVec3::Y, DVec3::Z], 0.0).unwrap();
    let far = Spindle::new(axis, profiles(3, 3, 4, 7), 0.3, 0.8, 0.02);
    for point in scatter(near.support(), 200) {
        let (a, b) = (near.near(point.as_dvec3(), 0.06), far.near(point.as_dvec3() + shift, 0.06));
        let same = a.zip(b).is_none_or(|(a, b)| (a.distance - b.distance).abs() < 1e-9);
        assert!(a.is_some() == b.is_some() && same);
    }
}

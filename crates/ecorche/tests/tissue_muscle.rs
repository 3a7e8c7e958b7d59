//! A spindle muscle that contracts between fixed ends and under load.

use ecorche::tissue::boundary::{BoneTrack, Boundary, Condition, Hold, Place};
use ecorche::tissue::fibres::fibres;
use ecorche::tissue::material::{Lame, Local, MuscleForce, Stretch, TendonForce, muscle, tendon};
use ecorche::tissue::mesh::{Size, from_implicit};
use ecorche::tissue::model::{Body, Model, Tissue};
use ecorche::tissue::step::{Mode, Settings, Simulation};
use glam::DVec3;

const LENGTH: f64 = 0.2;

/// A spindle of 20 mm radius and 200 mm length, cut off at its ends.
fn spindle(p: DVec3) -> f64 {
    let s = (p.x / LENGTH).clamp(0.0, 1.0);
    let radius = 0.007 + 0.013 * (std::f64::consts::PI * s).sin().powi(2);
    let side = (p.y * p.y + p.z * p.z).sqrt() - radius;
    side.max(-p.x).max(p.x - LENGTH)
}

struct Spindle {
    simulation: Simulation,
    insertion: Vec<u32>,
}

fn build(pull: Option<f64>) -> Spindle {
    let meshed = from_implicit(
        spindle,
        DVec3::new(0.0, -0.02, -0.02),
        DVec3::new(LENGTH, 0.02, 0.02),
        Size::Edge(0.009),
    )
    .unwrap();
    assert_eq!(meshed.quality.inverted, 0);
    let mesh = meshed.mesh;
    let end = |from: f64, to: f64| -> Vec<u32> {
        (0..mesh.nodes.len() as u32).filter(|&n| (from..=to).contains(&mesh.nodes[n as usize].x)).collect()
    };
    let (origin, insertion) = (end(-1.0, 0.002), end(LENGTH - 0.002, 1.0));
    let field = fibres(&mesh, &origin, &insertion).unwrap();
    let mut tissue_of = Vec::new();
    for t in 0..mesh.tets.len() {
        let x = mesh.corners(t).iter().map(|p| p.x).sum::<f64>() / 4.0;
        tissue_of.push(u32::from(!(0.15 * LENGTH..=0.85 * LENGTH).contains(&x)));
    }
    let local = field
        .direction
        .iter()
        .map(|&fibre| Local { fibre, activation: 0.0, stiffness: 1.0, pressure: 0.0 })
        .collect();
    let mut conditions: Vec<Condition> = Vec::new();
    for &n in origin.iter().chain(pull.is_none().then_some(&insertion).into_iter().flatten()) {
        conditions.push(Condition::always(Hold::Fix { node: n, bone: 0, at: mesh.nodes[n as usize] }));
    }
    if let Some(load) = pull {
        let force = DVec3::X * (load / insertion.len() as f64);
        conditions.extend(
            insertion.iter().map(|&n| Condition::always(Hold::Pull { place: Place::node(n), force })),
        );
    }
    let flesh = muscle(Lame::from_bulk(3e4, 3e6), MuscleForce::default(), Stretch::Full);
    let cord = tendon(Lame::new(1e7, 0.45), TendonForce::default());
    let body = Body {
        name: "spindle".into(),
        mesh,
        tissues: vec![
            Tissue { material: Box::new(flesh), density: 1060.0 },
            Tissue { material: Box::new(cord), density: 1100.0 },
        ],
        tissue_of,
        local,
    };
    let boundary = Boundary { bones: vec![BoneTrack::still("bone")], conditions };
    let settings = Settings { mode: Mode::QuasiStatic, gravity: DVec3::ZERO, ..Settings::default() };
    let simulation = Simulation::new(Model::new(vec![body]).unwrap(), boundary, settings).unwrap();
    Spindle { simulation, insertion }
}

/// Root mean square distance from the axis of the surface nodes near the middle.
fn belly(simulation: &Simulation, positions: &[DVec3]) -> f64 {
    let rest = &simulation.model.rest;
    let middle: Vec<usize> = (0..rest.len())
        .filter(|&n| (rest[n].x - 0.5 * LENGTH).abs() < 0.02 && spindle(rest[n]).abs() < 1e-4)
        .collect();
    let sum: f64 = middle.iter().map(|&n| positions[n].y.powi(2) + positions[n].z.powi(2)).sum();
    (sum / middle.len() as f64).sqrt()
}

#[test]
fn an_isometric_contraction_bulges_and_keeps_its_volume() {
    let mut spindle = build(None);
    let s = &mut spindle.simulation;
    let (volume, radius) = (s.model.volume(0, &s.model.rest), belly(s, &s.model.rest));
    let mut solves = 0;
    for activation in [0.25, 0.5, 0.75, 1.0] {
        s.model.set_activation(0, activation);
        let report = s.step(1.0).unwrap();
        assert!(report.converged, "{report:?}");
        solves += report.solves;
    }
    // The exact curvature is in use: with the clamped one alone such contractions take three times as many.
    assert!(solves < 50, "{solves}");
    let now = &s.state.positions;
    let growth = belly(s, now) / radius - 1.0;
    let change = s.model.volume(0, now) / volume - 1.0;
    let worst = s.model.smallest_volume_ratio(0, now);
    assert!((0.08..=0.15).contains(&growth), "belly {growth}");
    assert!(change.abs() < 0.002, "volume {change}");
    assert!(worst > 0.0, "inverted: {worst}");
    let forces = s.internal_forces();
    let pull: f64 = spindle.insertion.iter().map(|&n| forces[n as usize].x).sum();
    assert!((60.0..250.0).contains(&pull), "end force {pull}");
    println!("belly {growth:.4} volume {change:.4} smallest ratio {worst:.3} end force {pull:.1} N");
}

#[test]
fn a_heavier_load_shortens_less() {
    let mut lengths = Vec::new();
    for load in [0.0, 20.0, 60.0] {
        let mut spindle = build(Some(load));
        let s = &mut spindle.simulation;
        for activation in [0.25, 0.5, 0.75, 1.0] {
            s.model.set_activation(0, activation);
            s.step(1.0).unwrap();
        }
        let end: f64 = spindle.insertion.iter().map(|&n| s.state.positions[n as usize].x).sum::<f64>();
        lengths.push(end / spindle.insertion.len() as f64 / LENGTH);
        let change = s.model.volume(0, &s.state.positions) / s.model.volume(0, &s.model.rest) - 1.0;
        assert!(change.abs() < 0.005, "volume {change} under {load} N");
        assert!(s.model.smallest_volume_ratio(0, &s.state.positions) > 0.0);
    }
    println!("length under 0, 20, 60 N: {lengths:.3?}");
    assert!(lengths[0] < lengths[1] && lengths[1] < lengths[2] && lengths[2] < 1.0, "{lengths:?}");
    assert!((0.7..0.85).contains(&lengths[0]), "{lengths:?}");
}

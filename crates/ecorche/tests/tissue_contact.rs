//! Bodies that fall, rest, slide, lean on each other and fold onto themselves.

use ecorche::tissue::boundary::{BoneTrack, Boundary, Condition, Hold, Place};
use ecorche::tissue::contact::{
    Against, CollisionSurface, ContactSettings, Intersection, Obstacle, Resolve, Within,
};
use ecorche::tissue::material::{Lame, StableNeoHookean};
use ecorche::tissue::mesh::{Size, from_implicit};
use ecorche::tissue::model::{Body, Model};
use ecorche::tissue::sdf::DistanceGrid;
use ecorche::tissue::step::{Mode, Settings, Simulation};
use ecorche::tissue::tet_mesh::TetMesh;
use glam::{DQuat, DVec3};

fn cube(name: &str, low: DVec3, young: f64) -> Body {
    let mesh = TetMesh::brick(low, low + DVec3::splat(0.1), [3, 3, 3]);
    Body::uniform(name, mesh, Box::new(StableNeoHookean::new(Lame::new(young, 0.4))), 1000.0)
}

fn floor() -> Obstacle {
    let (low, high) = (DVec3::new(-0.5, -0.1, -0.5), DVec3::new(0.5, 0.1, 0.5));
    let shape = DistanceGrid::new(|p| p.y, low, high, 0.02).unwrap();
    Obstacle { name: "floor".into(), bone: 0, shape }
}

fn scene(bodies: Vec<Body>, settings: Settings, contact: ContactSettings) -> Simulation {
    let boundary = Boundary { bones: vec![BoneTrack::still("ground")], conditions: Vec::new() };
    let mut simulation = Simulation::new(Model::new(bodies).unwrap(), boundary, settings).unwrap();
    simulation.contacts.surfaces = (0..simulation.model.parts.len())
        .map(|part| CollisionSurface::boundary(&simulation.model, part))
        .collect();
    simulation.contacts.obstacles = vec![floor()];
    simulation.contacts.settings = contact;
    simulation.contacts.test_everything(false);
    simulation
}

fn lowest(simulation: &Simulation, part: usize) -> f64 {
    let nodes = simulation.model.parts[part].nodes.clone();
    simulation.state.positions[nodes].iter().map(|p| p.y).fold(f64::INFINITY, f64::min)
}

#[test]
fn a_falling_cube_comes_to_rest_on_the_floor() {
    let settings = Settings { mass_damping: 1.0, ..Settings::default() };
    let mut simulation =
        scene(vec![cube("cube", DVec3::Y * 0.03, 2e4)], settings, ContactSettings::default());
    for _ in 0..200 {
        simulation.step(0.005).unwrap();
    }
    assert!(lowest(&simulation, 0).abs() < 0.003, "{}", lowest(&simulation, 0));
    let fastest = simulation.state.velocities.iter().map(|v| v.length()).fold(0.0, f64::max);
    assert!(fastest < 0.02, "{fastest}");
    assert!(simulation.model.smallest_volume_ratio(0, &simulation.state.positions) > 0.7);
}

#[test]
fn a_finer_embedded_surface_carries_the_contact() {
    // The surface is 5 mm larger all round than the tetrahedra: bodies must keep that much apart.
    let bodies =
        vec![cube("lower", DVec3::Y * 0.005, 2e4), cube("upper", DVec3::new(0.004, 0.118, 0.003), 2e4)];
    let settings = Settings { mass_damping: 2.0, ..Settings::default() };
    let contact = ContactSettings { friction: 0.5, modulus: 6e5, ..ContactSettings::default() };
    let mut simulation = scene(bodies, settings, contact);
    simulation.contacts.surfaces = (0..2)
        .map(|part| {
            let rest = &simulation.model.rest[simulation.model.parts[part].nodes.clone()];
            let (low, high) = (rest[0] - DVec3::splat(0.005), rest[rest.len() - 1] + DVec3::splat(0.005));
            let (fine, _) = TetMesh::brick(low, high, [8, 8, 8]).surface();
            CollisionSurface::embedded(&simulation.model, part, &fine)
        })
        .collect();
    for _ in 0..150 {
        simulation.step(0.005).unwrap();
    }
    assert!((lowest(&simulation, 0) - 0.005).abs() < 0.003, "{}", lowest(&simulation, 0));
    let top = simulation.state.positions[simulation.model.parts[0].nodes.clone()]
        .iter()
        .map(|p| p.y)
        .fold(f64::NEG_INFINITY, f64::max);
    let apart = lowest(&simulation, 1) - top;
    assert!(apart > 0.002 && apart < 0.015, "{apart}");
}

#[test]
fn the_constraint_mode_leaves_no_more_than_its_tolerance() {
    let tolerance = 1e-5;
    let contact = ContactSettings {
        resolve: Resolve::Constraint { tolerance, rounds: 30 },
        friction: 0.5,
        ..ContactSettings::default()
    };
    let settings = Settings { mode: Mode::Newton, mass_damping: 1.0, ..Settings::default() };
    let bodies =
        vec![cube("lower", DVec3::Y * 0.01, 2e4), cube("upper", DVec3::new(0.005, 0.12, 0.003), 2e4)];
    let mut simulation = scene(bodies, settings, contact);
    for _ in 0..60 {
        let report = simulation.step(0.01).unwrap();
        assert!(report.penetration <= tolerance, "{}", report.penetration);
    }
    assert!(lowest(&simulation, 0) > -tolerance);
    // The upper cube lies on the lower one.
    assert!(lowest(&simulation, 1) > 0.08 && lowest(&simulation, 1) < 0.105, "{}", lowest(&simulation, 1));
}

#[test]
fn friction_holds_a_cube_on_a_slope_and_without_it_the_cube_slides() {
    let slide = |friction: f64| {
        // A slope of 20 degrees, as gravity tilted over a level floor.
        let gravity = DVec3::new(9.81 * 0.342, -9.81 * 0.94, 0.0);
        let settings = Settings { gravity, mode: Mode::Newton, ..Settings::default() };
        let contact = ContactSettings { friction, ..ContactSettings::default() };
        let mut simulation = scene(vec![cube("cube", DVec3::Y * 0.0005, 1e5)], settings, contact);
        for _ in 0..40 {
            simulation.step(0.01).unwrap();
        }
        let middle = |list: &[DVec3]| list.iter().map(|p| p.x).sum::<f64>() / list.len() as f64;
        middle(&simulation.state.positions) - middle(&simulation.model.rest)
    };
    let (held, free) = (slide(0.6), slide(0.0));
    // Free fall along the slope: half g sin(20) t^2 with t = 0.4 s is 0.268 m.
    assert!(free > 0.2, "{free}");
    assert!(held < 0.02, "{held}");
}

#[test]
fn prongs_pressed_together_do_not_pass_through_each_other() {
    // A fork: two prongs on a base, their tips driven past each other.
    let bar = |p: DVec3, low: DVec3, high: DVec3| {
        let d = (p - (low + high) * 0.5).abs() - (high - low) * 0.5;
        d.max(DVec3::ZERO).length() + d.max_element().min(0.0)
    };
    let fork = |p: DVec3| {
        let base = bar(p, DVec3::ZERO, DVec3::new(0.03, 0.12, 0.04));
        let one = bar(p, DVec3::ZERO, DVec3::new(0.2, 0.035, 0.04));
        let two = bar(p, DVec3::new(0.0, 0.085, 0.0), DVec3::new(0.2, 0.12, 0.04));
        base.min(one).min(two)
    };
    let meshed = from_implicit(fork, DVec3::ZERO, DVec3::new(0.2, 0.12, 0.04), Size::Edge(0.016)).unwrap();
    let mesh = meshed.mesh;
    let bones = vec![
        BoneTrack::still("base"),
        BoneTrack {
            name: "finger".into(),
            keys: vec![(0.0, DQuat::IDENTITY, DVec3::ZERO), (0.3, DQuat::IDENTITY, DVec3::Y * -0.1)],
            pivot: DVec3::ZERO,
        },
    ];
    let mut conditions = Vec::new();
    for (n, p) in mesh.nodes.iter().enumerate() {
        let node = n as u32;
        if p.x < 0.01 {
            conditions.push(Condition::always(Hold::Fix { node, bone: 0, at: *p }));
        } else if p.x > 0.185 && p.y > 0.11 {
            conditions.push(Condition::always(Hold::Fix { node, bone: 1, at: *p }));
        }
    }
    let run = |own: bool| {
        let law = Box::new(StableNeoHookean::new(Lame::new(3e4, 0.4)));
        let model = Model::new(vec![Body::uniform("fork", mesh.clone(), law, 1000.0)]).unwrap();
        let boundary = Boundary { bones: bones.clone(), conditions: conditions.clone() };
        let settings = Settings { gravity: DVec3::ZERO, mass_damping: 5.0, ..Settings::default() };
        let mut simulation = Simulation::new(model, boundary, settings).unwrap();
        if own {
            simulation.contacts.surfaces = vec![CollisionSurface::boundary(&simulation.model, 0)];
            simulation.contacts.tests = vec![(0, Against::Surface(0))];
            simulation.contacts.settings.modulus = 3e5;
        }
        for _ in 0..70 {
            simulation.step(0.005).unwrap();
        }
        simulation.contacts.surfaces = vec![CollisionSurface::boundary(&simulation.model, 0)];
        simulation.contacts.tests = vec![(0, Against::Surface(0))];
        simulation.contacts.deepest(&simulation.moment())
    };
    let (through, kept) = (run(false), run(true));
    assert!(through > 0.008, "{through}");
    assert!(kept < 0.25 * through && kept < 0.003, "{kept} of {through}");
}

/// A square bar along an axis, standing on one of its edges.
fn edgewise_bar(name: &str, centre: DVec3, along: DVec3) -> Body {
    let mut mesh = TetMesh::brick(DVec3::new(-0.2, -0.02, -0.02), DVec3::new(0.2, 0.02, 0.02), [2, 1, 1]);
    let turn =
        DQuat::from_rotation_arc(DVec3::X, along) * DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4);
    for p in &mut mesh.nodes {
        *p = centre + turn * *p;
    }
    Body::uniform(name, mesh, Box::new(StableNeoHookean::new(Lame::new(5e6, 0.4))), 1000.0)
}

#[test]
fn crossing_bars_do_not_cut_each_other_with_their_edges() {
    // Two bars at right angles, edge on edge: no corner of either comes near the other.
    let half = 0.02 * std::f64::consts::SQRT_2;
    let fall = |resolve: Resolve| {
        let bodies = || {
            vec![
                edgewise_bar("lower", DVec3::new(0.03, 0.5, 0.0), DVec3::X),
                edgewise_bar("upper", DVec3::new(0.0, 0.5 + 2.0 * half + 0.005, 0.03), DVec3::Z),
            ]
        };
        let settings =
            Settings { mode: Mode::Newton, mass_damping: 2.0, tolerance: 1e-4, ..Settings::default() };
        let contact = ContactSettings { resolve, ..ContactSettings::default() };
        let mut simulation = scene(bodies(), settings, contact);
        for n in simulation.model.parts[0].nodes.clone() {
            let at = simulation.model.rest[n];
            if (at.x - 0.03).abs() > 0.19 {
                let hold = Hold::Fix { node: n as u32, bone: 0, at };
                simulation.boundary.conditions.push(Condition::always(hold));
            }
        }
        // The upper bar may move up and down only by its ends, so that it cannot roll off.
        for n in simulation.model.parts[1].nodes.clone() {
            for normal in [DVec3::X, DVec3::Z] {
                let (place, at) = (Place::node(n as u32), simulation.model.rest[n]);
                let hold = Hold::Slide { place, bone: 0, at, normal, stiffness: 2e3 };
                simulation.boundary.conditions.push(Condition::always(hold));
            }
        }
        let mut deepest: f64 = 0.0;
        for _ in 0..30 {
            deepest = deepest.max(simulation.step(0.01).unwrap().penetration);
        }
        let middle: f64 = simulation.state.positions[simulation.model.parts[1].nodes.clone()]
            .iter()
            .map(|p| p.y)
            .sum::<f64>()
            / simulation.model.parts[1].nodes.len() as f64;
        (deepest, middle)
    };
    let tolerance = 1e-4;
    let (deepest, kept) = fall(Resolve::Constraint { tolerance, rounds: 40 });
    let (_, through) = fall(Resolve::Penalty);
    assert!(deepest <= tolerance, "{deepest}");
    assert!(kept > 0.5 + 1.5 * half, "{kept}");
    assert!(through < 0.5, "points alone let it through: {through}");
}

#[test]
fn an_edge_over_a_thin_obstacle_is_found_between_its_ends() {
    let tolerance = 1e-4;
    let contact = ContactSettings {
        resolve: Resolve::Constraint { tolerance, rounds: 40 },
        ..ContactSettings::default()
    };
    let mesh = TetMesh::brick(DVec3::new(-0.1, 0.02, -0.1), DVec3::new(0.1, 0.06, 0.1), [1, 1, 1]);
    let law = Box::new(StableNeoHookean::new(Lame::new(1e5, 0.3)));
    let settings = Settings { mode: Mode::Newton, mass_damping: 2.0, ..Settings::default() };
    let mut simulation = scene(vec![Body::uniform("slab", mesh, law, 1000.0)], settings, contact);
    // A round rail under the middle of the slab's lower edges.
    let rail = |p: DVec3| DVec3::new(p.x, p.y, 0.0).length() - 0.015;
    let (low, high) = (DVec3::new(-0.1, -0.1, -0.2), DVec3::new(0.1, 0.1, 0.2));
    simulation.contacts.obstacles[0].shape = DistanceGrid::new(rail, low, high, 0.005).unwrap();
    for _ in 0..15 {
        let report = simulation.step(0.01).unwrap();
        assert!(report.penetration <= tolerance, "{}", report.penetration);
    }
    assert!(lowest(&simulation, 0) > -0.01, "{}", lowest(&simulation, 0));
}

#[test]
fn overlapping_bodies_are_reported_and_blended_in() {
    let bodies = vec![cube("one", DVec3::Y * 0.2, 2e4), cube("two", DVec3::new(0.08, 0.2, 0.003), 2e4)];
    let settings = Settings { gravity: DVec3::ZERO, rest_blend: 0.5, ..Settings::default() };
    let mut simulation = scene(bodies, settings, ContactSettings::default());
    let overlaps = simulation.contacts.overlaps(&simulation.moment());
    assert!(!overlaps.is_empty());
    assert!((overlaps[0].depth - 0.02).abs() < 0.005, "{:?}", overlaps[0]);
    let fastest = |s: &Simulation| s.state.velocities.iter().map(|v| v.length()).fold(0.0, f64::max);
    simulation.step(0.005).unwrap();
    let gentle = fastest(&simulation);
    let bodies = vec![cube("one", DVec3::Y * 0.2, 2e4), cube("two", DVec3::new(0.08, 0.2, 0.003), 2e4)];
    let abrupt_settings = Settings { gravity: DVec3::ZERO, ..Settings::default() };
    let mut abrupt = scene(bodies, abrupt_settings, ContactSettings::default());
    abrupt.step(0.005).unwrap();
    assert!(gentle < 0.05 * fastest(&abrupt), "{gentle} {}", fastest(&abrupt));
}

fn intersections(simulation: &Simulation) -> Vec<Intersection> {
    simulation.contacts.intersections(&simulation.moment())
}

/// The box round a tetrahedron of a body.
fn extent(simulation: &Simulation, part: usize, tet: usize) -> (DVec3, DVec3) {
    let corners =
        simulation.model.corners(simulation.model.parts[part].tets.start + tet, &simulation.model.rest);
    let low = corners.into_iter().reduce(DVec3::min).unwrap();
    (low, corners.into_iter().reduce(DVec3::max).unwrap())
}

#[test]
fn the_tetrahedra_that_overlap_are_named_and_no_others() {
    let soft = || Box::new(StableNeoHookean::new(Lame::new(2e4, 0.4)));
    let start = |bodies| scene(bodies, Settings::default(), ContactSettings::default());
    let pair = vec![cube("one", DVec3::Y * 0.2, 2e4), cube("two", DVec3::new(0.08, 0.21, 0.003), 2e4)];
    let overlapped = start(pair);
    let found = intersections(&overlapped);
    let [only] = &found[..] else { panic!("{found:?}") };
    assert_eq!((only.part, only.within), (0, Within::Body(1)));
    assert!(only.depth > 0.015 && !only.tets.is_empty() && !only.others.is_empty(), "{only:?}");
    assert!(only.tets.iter().all(|&t| extent(&overlapped, 0, t).1.x > 0.08), "{only:?}");
    assert!(only.others.iter().all(|&t| extent(&overlapped, 1, t).0.x < 0.1), "{only:?}");

    // Crossed bars: no corner of one is inside the other.
    let bar = |name: &str, low: DVec3, high: DVec3| {
        Body::uniform(name, TetMesh::brick(low, high, [1, 1, 1]), soft(), 1000.0)
    };
    let along = bar("along", DVec3::new(-0.2, 0.2, -0.02), DVec3::new(0.2, 0.24, 0.02));
    let across = bar("across", DVec3::new(-0.02, 0.21, -0.2), DVec3::new(0.02, 0.25, 0.2));
    let found = intersections(&start(vec![along, across]));
    assert!(found.len() == 1 && !found[0].tets.is_empty() && !found[0].others.is_empty(), "{found:?}");

    let inner = bar("inner", DVec3::new(0.04, 0.24, 0.04), DVec3::new(0.06, 0.26, 0.06));
    let found = intersections(&start(vec![cube("outer", DVec3::Y * 0.2, 2e4), inner]));
    assert!(found.len() == 1 && found[0].others.len() == 6 && !found[0].tets.is_empty(), "{found:?}");

    let beside = vec![cube("one", DVec3::Y * 0.2, 2e4), cube("two", DVec3::new(0.1, 0.2, 0.0), 2e4)];
    assert_eq!(intersections(&start(beside)), Vec::new(), "touching is no overlap");

    let sunk = start(vec![cube("sunk", DVec3::Y * -0.01, 2e4)]);
    let found = intersections(&sunk);
    assert!(found.len() == 1 && found[0].within == Within::Obstacle(0), "{found:?}");
    assert!((found[0].depth - 0.01).abs() < 1e-6, "{found:?}");
    assert!(found[0].tets.iter().all(|&t| extent(&sunk, 0, t).0.y < 0.0));
}

#[test]
fn a_body_that_intersects_itself_is_found_without_contact_tests() {
    // A strip wound one and a quarter times round: its end lies in its beginning.
    let mut mesh = TetMesh::brick(DVec3::ZERO, DVec3::new(1.25, 0.1, 0.1), [40, 1, 1]);
    for p in &mut mesh.nodes {
        let (sin, cos) = (std::f64::consts::TAU * p.x).sin_cos();
        let radius = 1.0 + p.y;
        *p = DVec3::new(radius * cos, -radius * sin, p.z);
    }
    if mesh.quality().inverted > 0 {
        mesh.tets.iter_mut().for_each(|t| t.swap(0, 1));
    }
    let body = Body::uniform("ring", mesh, Box::new(StableNeoHookean::new(Lame::new(2e4, 0.4))), 1000.0);
    let boundary = Boundary { bones: Vec::new(), conditions: Vec::new() };
    let simulation = Simulation::new(Model::new(vec![body]).unwrap(), boundary, Settings::default()).unwrap();
    let found = intersections(&simulation);
    let [only] = &found[..] else { panic!("{found:?}") };
    assert_eq!((only.part, only.within), (0, Within::Body(0)));
    // Cells 0 to 8 lie in cells 32 to 40; six tetrahedra each.
    assert!(only.tets.iter().all(|&t| !(9 * 6..31 * 6).contains(&t)), "{only:?}");
    assert!(only.tets.iter().any(|&t| t < 54) && only.tets.iter().any(|&t| t >= 31 * 6), "{only:?}");
}

#[test]
fn a_kept_overlap_is_no_force_but_resists_more() {
    let pair = || vec![cube("one", DVec3::Y * 0.2, 2e4), cube("two", DVec3::new(0.08, 0.21, 0.003), 2e4)];
    let still = Settings { gravity: DVec3::ZERO, ..Settings::default() };
    let keep = ContactSettings { keep_overlap: true, ..ContactSettings::default() };
    let mut kept = scene(pair(), still, keep);
    for _ in 0..10 {
        let report = kept.step(0.005).unwrap();
        assert!(report.penetration < 1e-9, "{}", report.penetration);
    }
    let moved = |s: &Simulation| {
        s.state.positions.iter().zip(&s.model.rest).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
    };
    assert!(moved(&kept) < 1e-9, "{}", moved(&kept));
    let speed = kept.model.parts[1].nodes.clone();
    kept.state.velocities[speed].fill(DVec3::X * -0.2);
    for _ in 0..40 {
        kept.step(0.005).unwrap();
    }
    let pushed: Vec<DVec3> = kept.model.parts[0].nodes.clone().map(|n| kept.state.velocities[n]).collect();
    assert!(pushed.iter().map(|v| v.x).sum::<f64>() / (pushed.len() as f64) < -0.05, "it is pushed along");
}

#[test]
fn contact_does_not_fight_a_hold_on_the_same_bone() {
    let settings = Settings { mode: Mode::Newton, ..Settings::default() };
    let mut simulation =
        scene(vec![cube("rooted", DVec3::Y * -0.01, 2e4)], settings, ContactSettings::default());
    let rest = simulation.model.rest.clone();
    simulation.boundary.conditions = (0..rest.len())
        .filter(|&n| rest[n].y < 0.0)
        .map(|n| Condition::always(Hold::Fix { node: n as u32, bone: 0, at: rest[n] }))
        .collect();
    assert_eq!(intersections(&simulation), Vec::new());
    assert_eq!(simulation.step(0.01).unwrap().penetration, 0.0);
}

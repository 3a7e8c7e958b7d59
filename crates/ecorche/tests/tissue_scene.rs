//! Scene files: what they build, and what is said about mistakes.

use ecorche::output::pc2::Pc2;
use ecorche::tissue::scene::{CheckpointError, Log, Scene};
use ecorche::tissue::step::StepReport;
use std::path::Path;

const HANGING: &str = r#"version = 1
unit = "UNIT"
[run]
fps = 30
seconds = 0.5
substeps = 2
[material.flesh]
kind = "neo-hookean"
young = 3e4
poisson = 0.45
density = 1060
[[bone]]
name = "wall"
[[body]]
name = "bar"
brick = { low = [0, 0, 0], high = [LENGTH, SIDE, SIDE], cells = [8, 2, 2] }
material = "flesh"
origin = { bone = "wall", near = [0, 0, 0], radius = REACH }
"#;

fn hanging(unit: &str, per_metre: f64) -> String {
    HANGING
        .replace("UNIT", unit)
        .replace("LENGTH", &(0.2 * per_metre).to_string())
        .replace("SIDE", &(0.04 * per_metre).to_string())
        .replace("REACH", &(0.06 * per_metre).to_string())
}

fn parse(text: &str) -> Result<Scene, String> {
    Scene::parse(Path::new("arm.toml"), text).map_err(|e| e.to_string())
}

fn run(scene: &mut Scene, frames: usize) {
    while scene.frame < frames {
        scene.advance().unwrap();
    }
}

#[test]
fn a_scene_in_metres_centimetres_or_millimetres_moves_the_same() {
    let tip = |unit: &str, per_metre: f64| {
        let mut scene = parse(&hanging(unit, per_metre)).unwrap();
        run(&mut scene, 10);
        scene.simulation.state.positions.clone()
    };
    let metres = tip("m", 1.0);
    assert!(metres.iter().any(|p| p.y < -0.02));
    for (unit, per_metre) in [("cm", 100.0), ("mm", 1000.0)] {
        for (a, b) in metres.iter().zip(tip(unit, per_metre)) {
            assert!(a.distance(b) < 1e-7, "{unit}");
        }
    }
}

#[test]
fn a_resumed_scene_ends_with_the_same_bits() {
    let text = hanging("m", 1.0);
    let mut whole = parse(&text).unwrap();
    run(&mut whole, 4);
    let save = whole.checkpoint(&Log::default());
    run(&mut whole, 8);
    let mut resumed = parse(&text).unwrap();
    resumed.resume(&save, &mut Log::default()).unwrap();
    assert_eq!(resumed.frame, 4);
    run(&mut resumed, 8);
    assert_eq!(whole.simulation.state, resumed.simulation.state);

    let mut other = parse(&text.replace("3e4", "4e4")).unwrap();
    assert_eq!(other.resume(&save, &mut Log::default()), Err(CheckpointError::OtherScene));
    assert_eq!(other.resume(b"nothing", &mut Log::default()), Err(CheckpointError::Foreign));
    let mut same = parse(&text).unwrap();
    let cut = &save[..save.len() - 3];
    assert_eq!(same.resume(cut, &mut Log::default()), Err(CheckpointError::Damaged));
}

#[test]
fn a_checkpoint_with_any_bit_flipped_is_refused_and_changes_nothing() {
    let text = hanging("m", 1.0);
    let mut scene = parse(&text).unwrap();
    let mut log = Log::default();
    let points = |scene: &Scene| scene.skin(0).positions;
    log.caches.push(Pc2 { first_frame: 0.0, samples: vec![points(&scene)] });
    log.records.push(scene.record(&StepReport::default()));
    for _ in 0..3 {
        log.records.push(scene.advance().unwrap());
        log.caches[0].samples.push(points(&scene));
    }
    let save = scene.checkpoint(&log);
    let start = parse(&text).unwrap().simulation.state;
    let mut resumed = parse(&text).unwrap();
    for flipped in (0..save.len()).step_by(7) {
        let mut damaged = save.clone();
        damaged[flipped] ^= 1 << (flipped % 8);
        assert!(resumed.resume(&damaged, &mut log.clone()).is_err(), "byte {flipped} was changed");
        assert_eq!(resumed.simulation.state, start);
    }
    // What the run wrote beside the checkpoint is part of it.
    let mut bent = log.clone();
    bent.caches[0].samples[1][2].x += 1e-6;
    assert_eq!(resumed.resume(&save, &mut bent), Err(CheckpointError::OtherLog));
    let mut told = log.clone();
    told.records[2].bodies[0].volume += 1e-9;
    assert_eq!(resumed.resume(&save, &mut told), Err(CheckpointError::OtherLog));
    let mut short = log.clone();
    short.caches[0].samples.pop();
    assert_eq!(resumed.resume(&save, &mut short), Err(CheckpointError::OtherLog));
    // A run that was stopped after it had written more frames than the checkpoint knows goes on from the checkpoint.
    let mut longer = log.clone();
    longer.records.push(scene.advance().unwrap());
    longer.caches[0].samples.push(points(&scene));
    resumed.resume(&save, &mut longer).unwrap();
    assert_eq!((resumed.frame, longer.records.len(), longer.caches[0].samples.len()), (3, 4, 4));
}

#[test]
fn a_checkpoint_belongs_to_the_files_the_scene_names() {
    let folder = tempfile::tempdir().unwrap();
    let corners = [["0", "0", "0"], ["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]];
    let file = folder.path().join("bar.veg");
    std::fs::write(&file, veg(&corners, &[[1, 2, 3, 4]])).unwrap();
    let good = hanging("m", 1.0);
    let brick = good.lines().find(|l| l.starts_with("brick")).unwrap();
    let text = good.replace(brick, "tets = \"bar.veg\"");
    let read = || Scene::parse(&folder.path().join("arm.toml"), &text).unwrap();
    let save = read().checkpoint(&Log::default());
    assert_eq!(read().resume(&save, &mut Log::default()), Ok(()));
    let mut longer = corners;
    longer[1][0] = "1.5";
    std::fs::write(&file, veg(&longer, &[[1, 2, 3, 4]])).unwrap();
    assert_eq!(read().resume(&save, &mut Log::default()), Err(CheckpointError::OtherScene));
}

#[test]
fn mistakes_are_named_with_their_line() {
    let good = hanging("m", 1.0);
    assert!(parse(&good).is_ok());
    let cases: [(&str, &str, &str); 24] = [
        (
            "bone = \"wall\"",
            "bone = \"wal\"",
            "arm.toml:18: body \"bar\", origin: no bone is called \"wal\"; bones: wall",
        ),
        ("young = 3e4", "young = nan", "arm.toml:9: [material.flesh] young: a number is nan or inf"),
        ("low = [0, 0, 0]", "low = [0,\n  nan, 0]", "arm.toml:17: [body]: a number is nan or inf"),
        ("young = 3e4", "young = -1.0", "young and density must be above 0"),
        ("poisson = 0.45", "poisson = 0.5", "poisson must be at least 0 and below 0.5"),
        ("poisson = 0.45", "", "material \"flesh\": give poisson or bulk, and not both"),
        ("poisson = 0.45", "bulk = 1e3", "bulk must be above a third of young"),
        ("version = 1", "version = 1\nup = \"x\"", "arm.toml:2:"),
        ("poisson = 0.45", "poison = 0.45", "arm.toml:10: [material.flesh]: unknown field `poison`"),
        ("material = \"flesh\"", "material = \"flsh\"", "no material is called \"flsh\"; materials: flesh"),
        (
            "near = [0, 0, 0]",
            "near = [9, 0, 0]",
            "no node lies in the region; enlarge it: the nearest node is at [0.200,",
        ),
        ("version = 1", "version = 7", "arm.toml:1: version 7"),
        ("brick = ", "surface = \"no.ply\"\nbrick = ", "give exactly one of surface, tets, spindle, brick"),
        ("cells = [8, 2, 2]", "cells = [0, 2, 2]", "brick cells must be 1 to 500"),
        ("cells = [8, 2, 2]", "cells = [500, 500, 500]", "1000000 in all"),
        ("substeps = 2", "substeps = 0", "arm.toml:6: [run] substeps: must be 1 to 1000"),
        ("fps = 30", "fps = 0", "arm.toml:4: [run] fps: must be above 0"),
        ("seconds = 0.5", "seconds = 1e6", "arm.toml:5: [run] seconds: 1000000 seconds at 30 frames"),
        ("seconds = 0.5", "halvings = 17", "arm.toml:5: [run] halvings: must be at most 16"),
        ("seconds = 0.5", "rest_blend = -1.0", "arm.toml:5: [run] rest_blend: must not be negative"),
        ("seconds = 0.5", "tolerance = 0.0", "arm.toml:5: [run] tolerance: must be above 0"),
        (
            "fps = 30",
            "fps = \"fast\"",
            "arm.toml:4: [run] fps: invalid type: string \"fast\", expected a number",
        ),
        ("seconds = 0.5", "iterations = -3", "arm.toml:5: [run] iterations: invalid value"),
        ("seconds = 0.5", "mode = \"fast\"", "arm.toml:5: [run] mode: unknown variant `fast`"),
    ];
    for (from, to, expected) in cases {
        let text = good.replace(from, to);
        assert_ne!(text, good, "{from}");
        let message = parse(&text).err().unwrap_or_else(|| panic!("{to} was accepted"));
        assert!(message.contains(expected), "{to}: {message}");
    }
    let open = std::env::temp_dir().join(format!("ecorche_open_{}.ply", std::process::id()));
    std::fs::write(&open, "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int i\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n").unwrap();
    let brick = good.lines().find(|l| l.starts_with("brick")).unwrap();
    let text = good.replace(brick, &format!("surface = \"{}\"", open.display()));
    let message = parse(&text).unwrap_err();
    std::fs::remove_file(&open).unwrap();
    assert!(message.contains("the surface is open: 3 edges"), "{message}");
}

#[test]
fn overlapping_bodies_are_named_with_their_tetrahedra_and_line() {
    let second = r#"[[body]]
name = "block"
brick = { low = [0.1, 0.01, 0.01], high = [0.3, 0.05, 0.05], cells = [8, 2, 2] }
material = "flesh"
"#;
    let text = hanging("m", 1.0) + second;
    assert!(parse(&text).unwrap().warnings.is_empty(), "bodies that do not collide may overlap");
    let colliding = text + "[contact]\n";
    let warnings = parse(&colliding).unwrap().warnings;
    let [only] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(only.starts_with("arm.toml:15: bodies \"bar\" and \"block\" overlap by up to"), "{only}");
    for body in ["bar", "block"] {
        let list = only.split(&format!("tetrahedra of \"{body}\": ")).nth(1).unwrap();
        let (numbers, rest) = list.split_once(" (and ").unwrap();
        assert_eq!(numbers.split(", ").filter(|n| n.parse::<usize>().is_ok()).count(), 10, "{only}");
        assert!(rest.split_once(" more)").unwrap().0.parse::<usize>().unwrap() > 0, "{only}");
    }
}

/// A scene whose bar comes from a file of tetrahedra.
fn from_veg(name: &str, veg: &str, kind: &str) -> Result<Scene, String> {
    let path = std::env::temp_dir().join(format!("ecorche_{name}_{}.veg", std::process::id()));
    std::fs::write(&path, veg).unwrap();
    let good = hanging("m", 1.0).replace("kind = \"neo-hookean\"", &format!("kind = \"{kind}\""));
    let brick = good.lines().find(|l| l.starts_with("brick")).unwrap();
    let text = good.replace(brick, &format!("tets = \"{}\"", path.display()))
        + "insertion = { bone = \"wall\", near = [1, 0, 0], radius = 0.5 }\n";
    let scene = parse(&text);
    std::fs::remove_file(&path).unwrap();
    scene
}

fn veg(nodes: &[[&str; 3]], tets: &[[u32; 4]]) -> String {
    let mut out = format!("*VERTICES\n{} 3 0 0\n", nodes.len());
    for (n, p) in nodes.iter().enumerate() {
        out += &format!("{} {}\n", n + 1, p.join(" "));
    }
    out += &format!("*ELEMENTS\nTETS\n{} 4 0\n", tets.len());
    for (t, c) in tets.iter().enumerate() {
        out += &format!("{} {} {} {} {}\n", t + 1, c[0], c[1], c[2], c[3]);
    }
    out
}

#[test]
fn bad_tetrahedra_are_one_error_with_their_number() {
    let corners = [["0", "0", "0"], ["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"], ["1", "1", "0"]];
    let whole = veg(&corners, &[[1, 2, 3, 4], [2, 5, 3, 4]]);
    for kind in ["neo-hookean", "muscle"] {
        assert!(from_veg("whole", &whole, kind).is_ok(), "{:?}", from_veg("whole", &whole, kind).err());
        let flat = from_veg("flat", &veg(&corners, &[[1, 2, 3, 4], [2, 5, 3, 4], [1, 2, 5, 3]]), kind);
        let message = flat.unwrap_err();
        assert!(
            message.contains("arm.toml:15: body \"bar\"") && message.contains("flat or inverted"),
            "{message}"
        );
        assert!(message.contains('2') && !message.contains('\n'), "{message}");
        let mut holed = corners;
        holed[3][1] = "nan";
        let message = from_veg("nan", &veg(&holed, &[[1, 2, 3, 4], [2, 5, 3, 4]]), kind).unwrap_err();
        assert!(message.contains("arm.toml:16:") && message.contains("finite"), "{message}");
    }
    // A second piece far from both ends: its fibres have no direction.
    let far = [["9", "0", "0"], ["9", "1", "0"], ["9", "0", "1"], ["8", "0", "0"]];
    let nodes: Vec<[&str; 3]> = corners.into_iter().chain(far).collect();
    let loose = veg(&nodes, &[[1, 2, 3, 4], [2, 5, 3, 4], [9, 6, 7, 8]]);
    let message = from_veg("loose", &loose, "muscle").unwrap_err();
    assert!(
        message.contains("arm.toml:15: body \"bar\": fibres: the fibre of tetrahedron 2 has no length"),
        "{message}"
    );
}

#[test]
fn a_muscle_without_ends_has_no_fibres_and_says_so() {
    let text = hanging("m", 1.0).replace("kind = \"neo-hookean\"", "kind = \"muscle\"");
    let message = parse(&text).unwrap_err();
    assert!(message.contains("body \"bar\": fibres: no node lies in the insertion"), "{message}");
}

#[test]
fn the_shipped_spindle_keeps_its_volume_and_up_follows_gravity() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenes/spindle.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let coarse = text.replace("size = 8", "size = 12").replace("fps = 20", "fps = 4");
    let mut scene = parse(&coarse).unwrap();
    assert_eq!(scene.up, glam::DVec3::Y);
    for _ in 0..scene.frames {
        let record = scene.advance().unwrap();
        assert!(record.converged && (record.bodies[0].volume - 1.0).abs() < 0.002, "{record:?}");
    }
    let falling = parse(&coarse.replace("gravity = [0.0, 0.0, 0.0]", "gravity = [0, 0, -9.81]")).unwrap();
    assert_eq!(falling.up, glam::DVec3::Z);
}

#[test]
fn the_shipped_scene_builds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenes/arm.toml");
    let scene = Scene::read(&path).unwrap();
    assert_eq!(scene.bodies.len(), 2);
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    for body in &scene.bodies {
        assert_eq!(body.quality.inverted, 0);
        assert!(body.quality.smallest_dihedral > 10.0 && body.quality.largest_dihedral < 165.0);
        assert!(!body.insertion.is_empty());
    }
}

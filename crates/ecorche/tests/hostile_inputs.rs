//! Damaged files that a reader accepts must not break what comes after it: parts, bind, a frame, muscles, measures,
//! a first anatomy, joining pieces, resuming a simulation.
//!
//! Inputs are the project's own samples, written by its own writers and damaged by a seed. Every run looks at the
//! cases that once failed and at a few new ones; `ECORCHE_FUZZ_SECONDS` sets a longer time and
//! `ECORCHE_FUZZ_SEED` where to start. A case that takes too long ends the process and names its seed.

use ecorche::anatomy::{AnatomyFile, init, preset};
use ecorche::bake::piece;
use ecorche::character::{Binding, Character, Pose};
use ecorche::deform::{Body, Stack, Workspace};
use ecorche::frame::Frame;
use ecorche::measure::{FrameInput, Judge};
use ecorche::output::obj;
use ecorche::output::pc2::Pc2;
use ecorche::recipe::{Ingredients, MotionSource, Recipe};
use ecorche::samples;
use ecorche::sampling::{Plan, Sampling};
use ecorche::skinning::Surface;
use ecorche::surface::LayerDef;
use ecorche::tissue::scene::{Log, Scene};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Seeds of cases that once failed.
const FOUND: [u64; 0] = [];
/// New cases of an ordinary run.
const FEW: u64 = 40;
/// Longest a case may take, however busy the machine is.
const LONGEST: Duration = Duration::from_secs(120);

/// Cases that take longer are named.
const SLOW: Duration = Duration::from_secs(20);

/// A generator of numbers that is the same on every machine (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.roll() % count.max(1) as u64) as usize
    }
}

/// Damages bytes in one to six places.
fn damage(bytes: &mut Vec<u8>, dice: &mut Dice) {
    const NUMBERS: [f32; 8] = [f32::NAN, f32::INFINITY, 3e38, -1e20, 0.0, 1e-40, 1e9, -1.0];
    for _ in 0..1 + dice.below(6) {
        if bytes.is_empty() {
            return;
        }
        let at = dice.below(bytes.len());
        match dice.below(8) {
            0 | 1 => bytes[at] ^= 1 << dice.below(8),
            2 => bytes[at] = [0, 1, 0x7f, 0xff, b'0', b'9', b'-', b' '][dice.below(8)],
            3 | 4 => {
                // Arrays of numbers are aligned.
                let at = at & !3;
                let value = match dice.below(2) {
                    0 => NUMBERS[dice.below(8)].to_le_bytes(),
                    _ => [0, 1, 7, u32::MAX, 1 << 31, 65_536, 255, 3][dice.below(8)].to_le_bytes(),
                };
                let end = (at + 4).min(bytes.len());
                bytes[at..end].copy_from_slice(&value[..end - at]);
            }
            5 => {
                // A run of numbers is moved.
                let length = dice.below(64).min(bytes.len() - at);
                let to = dice.below(bytes.len() - length + 1);
                bytes.copy_within(at..at + length, to);
            }
            6 => {
                let digits: Vec<usize> =
                    (0..bytes.len().min(4096)).filter(|&i| bytes[i].is_ascii_digit()).collect();
                if !digits.is_empty() {
                    bytes[digits[dice.below(digits.len())]] = b'0' + dice.below(10) as u8;
                }
            }
            _ if dice.below(4) == 0 => bytes.truncate(at),
            _ => bytes[at] = dice.roll() as u8,
        }
    }
}

/// A skinned character with its first clip as binary glTF.
fn glb(character: &Character) -> Vec<u8> {
    let mesh = &character.meshes[0];
    let Binding::Skin(skin) = &mesh.binding else { panic!("the sample has a skin") };
    let clip = &character.clips[0];
    let mut binary: Vec<u8> = Vec::new();
    let (mut views, mut accessors) = (Vec::new(), Vec::new());
    let mut add = |bytes: Vec<u8>, kind: &str, component: u32, count: usize, more: serde_json::Value| {
        let mut accessor = serde_json::json!({ "bufferView": views.len(), "componentType": component,
            "count": count, "type": kind });
        for (key, value) in more.as_object().unwrap() {
            accessor[key] = value.clone();
        }
        views.push(serde_json::json!({ "buffer": 0, "byteOffset": binary.len(), "byteLength": bytes.len() }));
        accessors.push(accessor);
        binary.extend(bytes);
        accessors.len() - 1
    };
    let floats = |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let none = || serde_json::json!({});
    let points: Vec<f32> = mesh.positions.iter().flat_map(|p| p.to_array()).collect();
    let (low, high) = mesh
        .positions
        .iter()
        .fold((mesh.positions[0], mesh.positions[0]), |(l, h), p| (l.min(*p), h.max(*p)));
    let bounds = serde_json::json!({ "min": low.to_array(), "max": high.to_array() });
    let position = add(floats(&points), "VEC3", 5126, mesh.positions.len(), bounds);
    let indices: Vec<u8> = mesh.triangles.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    let index = add(indices, "SCALAR", 5125, 3 * mesh.triangles.len(), none());
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for v in 0..mesh.positions.len() {
        let mut of: Vec<(u32, f32)> = skin.influences.of(v).take(4).collect();
        of.resize(4, (0, 0.0));
        joints.extend(of.iter().flat_map(|&(joint, _)| (joint as u16).to_le_bytes()));
        weights.extend(of.iter().map(|&(_, weight)| weight));
    }
    let joint = add(joints, "VEC4", 5123, mesh.positions.len(), none());
    let weight = add(floats(&weights), "VEC4", 5126, mesh.positions.len(), none());
    let binds: Vec<f32> =
        skin.joint_from_bind.iter().flat_map(|m| glam::Mat4::from(*m).to_cols_array()).collect();
    let bind = add(floats(&binds), "MAT4", 5126, skin.joints.len(), none());
    let (mut channels, mut samplers) = (Vec::new(), Vec::new());
    for track in &clip.joint_tracks {
        let Some(rotation) = &track.rotation else { continue };
        let ends = serde_json::json!({ "min": [rotation.times[0]], "max": [rotation.times.last()] });
        let input = add(floats(&rotation.times), "SCALAR", 5126, rotation.times.len(), ends);
        let turns: Vec<f32> = rotation.values.iter().flat_map(|q| q.to_array()).collect();
        let output = add(floats(&turns), "VEC4", 5126, rotation.times.len(), none());
        channels.push(serde_json::json!({ "sampler": samplers.len(),
            "target": { "node": track.joint, "path": "rotation" } }));
        samplers.push(serde_json::json!({ "input": input, "output": output }));
    }
    let joints_of = &character.skeleton.joints;
    let mut nodes: Vec<serde_json::Value> = joints_of
        .iter()
        .enumerate()
        .map(|(j, joint)| {
            let children: Vec<usize> = (0..joints_of.len()).filter(|&c| joints_of[c].parent == Some(j)).collect();
            let mut node = serde_json::json!({ "name": joint.name,
                "translation": joint.rest.translation.to_array(), "rotation": joint.rest.rotation.to_array() });
            if !children.is_empty() {
                node["children"] = children.into();
            }
            node
        })
        .collect();
    let mut roots: Vec<usize> = (0..joints_of.len()).filter(|&j| joints_of[j].parent.is_none()).collect();
    roots.push(nodes.len());
    nodes.push(serde_json::json!({ "name": "skin", "mesh": 0, "skin": 0 }));
    let document = serde_json::json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": roots }], "nodes": nodes,
        "meshes": [{ "primitives": [{ "indices": index,
            "attributes": { "POSITION": position, "JOINTS_0": joint, "WEIGHTS_0": weight } }] }],
        "skins": [{ "joints": skin.joints, "inverseBindMatrices": bind }],
        "animations": [{ "name": clip.name, "channels": channels, "samplers": samplers }],
        "buffers": [{ "byteLength": binary.len() }], "bufferViews": views, "accessors": accessors,
    });
    let mut json = document.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((12 + 8 + json.len() as u32 + 8 + binary.len() as u32).to_le_bytes());
    file.extend((json.len() as u32).to_le_bytes());
    file.extend(b"JSON");
    file.extend(json);
    file.extend((binary.len() as u32).to_le_bytes());
    file.extend(b"BIN\0");
    file.extend(binary);
    file
}

fn assert_finite(frame: &Frame) {
    for mesh in &frame.meshes {
        assert!(mesh.positions.iter().all(|p| p.is_finite()), "a frame holds a number that is not finite");
    }
}

/// One frame of a body, in the middle of its first clip.
fn one_frame(body: &Body) -> Frame {
    let character = body.character();
    let mut pose = Pose::rest(character);
    let mut time = 0.0;
    if let Ok(plan) = Plan::new(character.clips.first(), &Sampling { fps: Some(2.0), frames: None }) {
        let frame = plan.len() / 2;
        plan.sample(frame, &mut pose);
        time = plan.time(frame);
    }
    let frame = body.deform(&pose, time, &mut Workspace::default());
    assert_finite(&frame);
    frame
}

/// Everything that can be done with a character.
fn use_character(ingredients: Ingredients) {
    let character = ingredients.character.clone();
    one_frame(&Body::bind(character.clone(), Stack::centre_of_rotation(), None).unwrap());
    let smooth = LayerDef::Smooth(Default::default());
    let smoothed = Stack { surface: vec![smooth], ..Stack::linear() };
    one_frame(&Body::bind(character.clone(), smoothed, None).unwrap());
    if let Ok(body) = ingredients.bind(ingredients.settings(Some(Stack::implicit())), None) {
        one_frame(&body);
    }
    if let Some(surface) = Surface::new(&character)
        && let Ok(judge) = Judge::of(&surface)
    {
        // Errors are answers; endless loops and panics are not.
        let _ = judge.frame(&FrameInput::new(0, &surface.mesh.positions));
    }
    let text = init::write(&character, &preset::place(&character));
    if let Ok(file) = AnatomyFile::parse("init.toml", text)
        && file.check(&character.skeleton).is_ok()
    {
        let anatomy = file.anatomy().clone();
        let fleshed = ingredients.with_anatomy(anatomy, ".".into());
        if let Ok(body) = fleshed.bind(fleshed.settings(Some(Stack::muscles())), None) {
            one_frame(&body);
        }
    }
}

/// A character file.
struct Source {
    ending: &'static str,
    bytes: Vec<u8>,
    /// Where a mesh alone gets its skeleton and clips from.
    motion: MotionSource,
}

impl Source {
    /// Writes `bytes` in place of its own and reads what they are.
    fn read(&self, bytes: &[u8], folder: &Path) -> Option<Ingredients> {
        let path = folder.join(format!("character.{}", self.ending));
        std::fs::write(&path, bytes).unwrap();
        let recipe = Recipe { motion: self.motion.clone(), ..Recipe::of(path.display().to_string()) };
        recipe.read().ok()
    }
}

/// What is damaged, made once.
struct Sources {
    files: Vec<Source>,
    piece: Vec<u8>,
    scene: &'static str,
    checkpoint: Vec<u8>,
}

const SCENE: &str = "version = 1
[run]
fps = 10
seconds = 1
substeps = 1
[material.flesh]
kind = \"neo-hookean\"
young = 3e4
poisson = 0.45
density = 1060
[[body]]
name = \"bar\"
brick = { low = [0, 0, 0], high = [0.1, 0.05, 0.05], cells = [2, 1, 1] }
material = \"flesh\"
";

impl Sources {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Vec::new();
        for sample in ["cylinder", "arm?resolution=2000"] {
            let character = samples::build(sample).unwrap();
            files.push(Source { ending: "glb", bytes: glb(&character), motion: MotionSource::Own });
            let mesh = mesh_alone(sample, folder.path());
            if sample == "cylinder" {
                // Pieces that lie on each other.
                let bytes = copies(std::str::from_utf8(&mesh.bytes).unwrap(), 4).into_bytes();
                files.push(Source { ending: "obj", bytes, motion: mesh.motion.clone() });
            }
            files.push(mesh);
        }
        let path = folder.path().join("piece.pc2");
        let points = vec![glam::Vec3::ONE; 20];
        Pc2 { first_frame: 0.0, samples: vec![points; 5] }.write(&path).unwrap();
        let piece = std::fs::read(path).unwrap();
        let mut scene = Scene::parse(Path::new("scene.toml"), SCENE).unwrap();
        Self { files, piece, scene: SCENE, checkpoint: scene.checkpoint(&Log::default()) }
    }

    fn case(&self, seed: u64, folder: &Path) {
        let mut dice = Dice(seed);
        match dice.below(10) {
            0 => {
                let mut piece = self.piece.clone();
                damage(&mut piece, &mut dice);
                let paths = ["a.pc2", "b.pc2"].map(|name| folder.join(name));
                std::fs::write(&paths[0], &self.piece).unwrap();
                std::fs::write(&paths[1], piece).unwrap();
                let _ = piece::join(&paths, &folder.join("joined.pc2"), false);
            }
            1 => {
                let mut checkpoint = self.checkpoint.clone();
                damage(&mut checkpoint, &mut dice);
                let mut scene = Scene::parse(Path::new("scene.toml"), self.scene).unwrap();
                let resumed = scene.resume(&checkpoint, &mut Log::default());
                assert!(resumed.is_err() || checkpoint == self.checkpoint, "a damaged checkpoint was used");
            }
            _ => {
                let source = &self.files[dice.below(self.files.len())];
                let mut bytes = source.bytes.clone();
                damage(&mut bytes, &mut dice);
                if let Some(ingredients) = source.read(&bytes, folder) {
                    use_character(ingredients);
                }
            }
        }
    }
}

/// Ends the process if no case is finished for too long.
fn watch(cases: mpsc::Receiver<u64>) {
    let mut running = None;
    loop {
        match cases.recv_timeout(LONGEST) {
            Ok(seed) => running = Some(seed),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                eprintln!("seed {running:?} takes longer than {LONGEST:?}");
                std::process::abort();
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn what_a_reader_accepts_breaks_nothing_after_it() {
    let sources = Sources::new();
    let folder = tempfile::tempdir().unwrap();
    let (started, cases) = mpsc::channel();
    let watcher = std::thread::spawn(|| watch(cases));
    let first = variable("ECORCHE_FUZZ_SEED").unwrap_or(1);
    let seconds = variable("ECORCHE_FUZZ_SECONDS").map(Duration::from_secs);
    let start = Instant::now();
    let go_on = |seed: u64| match seconds {
        Some(limit) => start.elapsed() < limit,
        None => seed < first + FEW,
    };
    for seed in FOUND.into_iter().chain((first..).take_while(|&seed| go_on(seed))) {
        started.send(seed).unwrap();
        let begun = Instant::now();
        let result =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sources.case(seed, folder.path())));
        if let Err(panic) = result {
            eprintln!("seed {seed} fails");
            std::panic::resume_unwind(panic);
        }
        if begun.elapsed() > SLOW {
            eprintln!("seed {seed} takes {:.0} s", begun.elapsed().as_secs_f32());
        }
    }
    drop(started);
    watcher.join().unwrap();
}

#[test]
fn the_undamaged_files_are_read_and_used() {
    let sources = Sources::new();
    let folder = tempfile::tempdir().unwrap();
    for source in &sources.files {
        let ingredients = source.read(&source.bytes, folder.path()).unwrap();
        assert!(source.ending != "glb" || ingredients.notes.is_empty(), "{:?}", ingredients.notes);
        use_character(ingredients);
    }
}

/// A sample's mesh without its skeleton, which comes from the sample again.
fn mesh_alone(sample: &str, folder: &Path) -> Source {
    let character = samples::build(sample).unwrap();
    let path = folder.join("mesh.obj");
    let character = std::sync::Arc::new(character);
    obj::write(&path, &character, &ecorche::bake::rest(&character).unwrap()).unwrap();
    let motion = MotionSource::File(format!("sample:{sample}"));
    Source { ending: "obj", bytes: std::fs::read(path).unwrap(), motion }
}

/// The mesh of an OBJ several times, each a mesh of its own.
fn copies(text: &str, count: usize) -> String {
    let vertices = text.lines().filter(|line| line.starts_with("v ")).count();
    let mut all = String::new();
    for copy in 0..count {
        all += &format!("o copy{copy}\n");
        for line in text.lines() {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            if kind == "v" {
                all += &format!("{line}\n");
            } else if kind == "f" {
                let corner = |corner: &str| {
                    let first = corner.split('/').next().unwrap_or_default();
                    (first.parse::<usize>().unwrap() + copy * vertices).to_string()
                };
                all += &format!("f {}\n", rest.split_whitespace().map(corner).collect::<Vec<_>>().join(" "));
            }
        }
    }
    all
}

/// Copies of a skin that lie on each other are one skin: they cost no more than one and move alike. Those that do not
/// quite lie on each other are refused where they would take the square of their number.
#[test]
fn copies_of_a_skin_are_one_and_heaps_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let one = mesh_alone("cylinder?segments=12&rings=16", folder.path());
    let text = std::str::from_utf8(&one.bytes).unwrap();
    let bound = |bytes: &[u8]| {
        let ingredients = one.read(bytes, folder.path()).unwrap();
        ingredients.bind(ingredients.settings(Some(Stack::implicit())), None)
    };
    let single = bound(copies(text, 1).as_bytes()).unwrap();
    let fifty = bound(copies(text, 50).as_bytes()).unwrap();
    let vertices = |body: &Body| body.surface().unwrap().mesh.positions.len();
    assert_eq!(vertices(&fifty), vertices(&single));
    let (alone, among) = (one_frame(&single), one_frame(&fifty));
    assert_eq!(among.meshes.len(), 50);
    assert!(among.meshes.iter().all(|mesh| mesh.positions == alone.meshes[0].positions));

    // Every vertex a little off: no copy is the same as another, and all of them cross.
    let mut dice = Dice(7);
    let mut shaken = String::new();
    for line in copies(text, 120).lines() {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        if words[0] == "v" {
            for word in &mut words[1..4] {
                *word = (word.parse::<f32>().unwrap() + 2e-4 * dice.below(100) as f32).to_string();
            }
        }
        shaken += &format!("{}\n", words.join(" "));
    }
    let refused = bound(shaken.as_bytes()).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("heap of triangles"), "{refused}");
}

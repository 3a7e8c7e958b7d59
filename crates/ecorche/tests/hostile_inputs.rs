//! Damaged files that a reader accepts must not break what comes after it: parts, bind, a frame, muscles, measures,
//! a first anatomy, joining pieces, resuming a simulation.
//!
//! Inputs are the project's own samples, written by its own writers or as binary glTF, damaged by a seed: bytes, or whole
//! arrays of numbers. Every run looks at the cases that once failed and at a few new ones; `ECORCHE_FUZZ_SECONDS` sets a
//! longer time and `ECORCHE_FUZZ_SEED` where to start. A case that takes too long ends the process and names its seed.

mod hostile;

use ecorche::anatomy::{AnatomyFile, init, preset};
use ecorche::bake::piece;
use ecorche::character::{Influences, Pose};
use ecorche::deform::{Body, Stack, Workspace};
use ecorche::frame::Frame;
use ecorche::geom::{SelfContact, TriMesh};
use ecorche::measure::{FrameInput, Judge, JudgeInput};
use ecorche::output::obj;
use ecorche::output::pc2::Pc2;
use ecorche::recipe::{Ingredients, MotionSource, Recipe};
use ecorche::samples;
use ecorche::sampling::{Plan, Sampling};
use ecorche::skinning::Surface;
use ecorche::surface::LayerDef;
use ecorche::tissue::scene::{Log, Scene};
use hostile::rig::Rig;
use hostile::{Dice, damage};
use std::path::Path;
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

/// Seeds of cases that once failed.
const FOUND: [u64; 2] = [47, 83];
/// New cases of an ordinary run.
const FEW: u64 = 40;
/// Longest a case may take, in seconds of one processor.
const LONGEST: Duration = Duration::from_secs(120);
/// A step of a case that takes longer is named, with its seed.
const SLOW: Duration = Duration::from_secs(25);

/// What this process has used of the processors; the time since its start where the system does not tell.
fn used() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let ticks = || -> Option<u64> {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        let (_, fields) = text.rsplit_once(')')?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>().ok());
        ticks.sum()
    };
    ticks().map_or_else(|| start.elapsed(), |ticks| Duration::from_millis(10 * ticks))
}

/// Runs one step of a case and names it if it is slow.
fn step<T>(name: &str, run: impl FnOnce() -> T) -> T {
    let before = used();
    let result = run();
    let took = used() - before;
    if took > SLOW {
        eprintln!("slow: {name} takes {:.0} s of one processor", took.as_secs_f32());
    }
    result
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

/// Everything that can be done with a character. Errors are answers; endless loops and panics are not.
fn use_character(ingredients: Ingredients) {
    let character = ingredients.character.clone();
    step("centres of rotation", || {
        one_frame(&Body::bind(character.clone(), Stack::centre_of_rotation(), None).unwrap())
    });
    step("smoothing", || {
        let smooth = LayerDef::Smooth(Default::default());
        let smoothed = Stack { surface: vec![smooth], ..Stack::linear() };
        one_frame(&Body::bind(character.clone(), smoothed, None).unwrap());
    });
    let body =
        step("parts and bind", || ingredients.bind(ingredients.settings(Some(Stack::implicit())), None).ok());
    step("implicit frame", || body.map(|body| one_frame(&body)));
    step("measure", || {
        if let Some(surface) = Surface::new(&character)
            && let Ok(judge) = Judge::of(&surface)
        {
            let _ = judge.frame(&FrameInput::new(0, &surface.mesh.positions));
        }
    });
    let text = step("init", || init::write(&character, &preset::place(&character)));
    use_anatomy(ingredients, text);
}

/// Muscles as a text has them, if it can be read.
fn use_anatomy(ingredients: Ingredients, text: String) {
    if let Ok(file) = AnatomyFile::parse("init.toml", text)
        && file.check_on(&ingredients.character, Path::new(".")).is_ok()
    {
        let fleshed = ingredients.with_anatomy(file.anatomy().clone(), ".".into());
        let body =
            step("muscles' bind", || fleshed.bind(fleshed.settings(Some(Stack::muscles())), None).ok());
        step("muscles' frame", || body.map(|body| one_frame(&body)));
    }
}

/// One to three of a text's numbers replaced by others.
fn damage_numbers(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let has_number =
        |line: &String| !line.starts_with(['#', '[']) && line.contains(|c: char| c.is_ascii_digit());
    let numbered: Vec<usize> = (0..lines.len()).filter(|&k| has_number(&lines[k])).collect();
    for _ in 0..1 + dice.below(3) {
        let line = &mut lines[numbered[dice.below(numbered.len())]];
        let is_part = |c: char| c.is_ascii_digit() || "+-.".contains(c);
        let starts = line.char_indices().filter(|&(at, c)| is_part(c) && !line[..at].ends_with(is_part));
        let starts: Vec<usize> = starts.map(|(at, _)| at).collect();
        if starts.is_empty() {
            continue;
        }
        let at = starts[dice.below(starts.len())];
        let end = line[at..].find(|c| !is_part(c)).map_or(line.len(), |length| at + length);
        let value = dice.of(&["0.0", "1e-30", "-0.01", "0.3", "1.0", "5.0", "1e4", "1e9", "1e38", "nan"]);
        line.replace_range(at..end, value);
    }
    lines.join("\n")
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
    rigs: [OnceLock<Rig>; RIGS.len()],
    /// Its anatomy is damaged.
    fleshed: OnceLock<Ingredients>,
    piece: Vec<u8>,
    scene: &'static str,
    checkpoint: Vec<u8>,
}

/// Samples that are damaged as arrays.
const RIGS: [&str; 6] = [
    "cylinder?segments=12&rings=16",
    "arm?resolution=2000",
    "hand?resolution=2000",
    "athlete?resolution=5000",
    "dressed?resolution=5000",
    "mannequin?resolution=5000",
];

const FLESHED: &str = "sample:arm?resolution=2000";

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
            let bytes = Rig::of(&character).glb();
            files.push(Source { ending: "glb", bytes, motion: MotionSource::Own });
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
        let rigs = Default::default();
        let fleshed = OnceLock::new();
        Self { files, rigs, fleshed, piece, scene: SCENE, checkpoint: scene.checkpoint(&Log::default()) }
    }

    /// A sample as arrays.
    fn rig(&self, number: usize) -> &Rig {
        self.rigs[number].get_or_init(|| Rig::of(&samples::build(RIGS[number]).unwrap()))
    }

    fn case(&self, seed: u64, folder: &Path) {
        let mut dice = Dice(seed);
        match dice.below(10) {
            0 if dice.below(2) == 0 => {
                let ingredients = self.fleshed.get_or_init(|| Recipe::of(FLESHED).read().unwrap());
                let character = &ingredients.character;
                let text = init::write(character, &preset::place(character));
                use_anatomy(ingredients.clone(), damage_numbers(&text, &mut dice));
            }
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
            2..=6 => {
                // Small ones more often.
                let number = dice.below(RIGS.len()).min(dice.below(RIGS.len()));
                let mut rig = self.rig(number).clone();
                rig.damage(&mut dice);
                let source = Source { ending: "glb", bytes: rig.glb(), motion: MotionSource::Own };
                if let Some(ingredients) = step("reading", || source.read(&source.bytes, folder)) {
                    use_character(ingredients);
                }
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

/// Ends the process if a case takes too long.
fn watch(cases: mpsc::Receiver<u64>) {
    let (mut running, mut begun) = (None, used());
    loop {
        match cases.recv_timeout(Duration::from_secs(1)) {
            Ok(seed) => (running, begun) = (Some(seed), used()),
            Err(mpsc::RecvTimeoutError::Timeout) if used() - begun > LONGEST => {
                eprintln!("seed {running:?} takes longer than {LONGEST:?}");
                std::process::abort();
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
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
    let mut count = 0;
    let go_on = |seed: u64| match seconds {
        Some(limit) => start.elapsed() < limit,
        None => seed < first + FEW,
    };
    for seed in FOUND.into_iter().chain((first..).take_while(|&seed| go_on(seed))) {
        started.send(seed).unwrap();
        let begun = used();
        let result =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sources.case(seed, folder.path())));
        if let Err(panic) = result {
            eprintln!("seed {seed} fails");
            std::panic::resume_unwind(panic);
        }
        count += 1;
        if used() - begun > SLOW {
            eprintln!("seed {seed} takes {:.0} s of one processor", (used() - begun).as_secs_f32());
        }
    }
    if seconds.is_some() {
        eprintln!("{count} cases from seed {first} on, {:.0} s of one processor", used().as_secs_f32());
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

/// Weights scattered at random make a heap of triangles of every pose. The frame says so and stays as skinned, instead of taking
/// minutes to separate what cannot be.
#[test]
fn a_pose_that_is_a_heap_of_triangles_stays_as_skinned() {
    let folder = tempfile::tempdir().unwrap();
    let mut rig = Rig::of(&samples::build("cylinder?segments=96&rings=160").unwrap());
    rig.scatter_weights(&mut Dice(3));
    let source = Source { ending: "glb", bytes: rig.glb(), motion: MotionSource::Own };
    let ingredients = source.read(&source.bytes, folder.path()).unwrap();
    let body = ingredients.bind(ingredients.settings(Some(Stack::implicit())), None).unwrap();
    let before = used();
    let frame = one_frame(&body);
    let took = used() - before;
    let skinned =
        one_frame(&Body::bind(ingredients.character.clone(), Stack::dual_quaternion(), None).unwrap());
    assert_eq!(frame.report.fell_back, body.surface().unwrap().mesh.positions.len());
    let (ours, start) = (&frame.meshes[0].positions, &skinned.meshes[0].positions);
    let far = ours.iter().zip(start).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(far < 0.02, "{far} m from where skinning has it");
    assert!(took < SLOW, "{took:?}");
}

/// Hair and feathers are thousands of pieces; what is measured of each must not make them take hours.
#[test]
fn a_skin_with_thousands_of_flakes_is_bound_soon() {
    let folder = tempfile::tempdir().unwrap();
    let mut rig = Rig::of(&samples::build("cylinder?segments=24&rings=32").unwrap());
    rig.add_flakes(20_000, &mut Dice(5));
    let source = Source { ending: "glb", bytes: rig.glb(), motion: MotionSource::Own };
    let ingredients = source.read(&source.bytes, folder.path()).unwrap();
    let before = used();
    let body = ingredients.bind(ingredients.settings(Some(Stack::implicit())), None).unwrap();
    assert!(used() - before < SLOW, "{:?}", used() - before);
    one_frame(&body);
}

/// All triangles of a disc share its middle: the search for contact takes memory by their number, not by its square.
#[test]
fn a_vertex_that_all_triangles_share_fills_no_memory() {
    let count = 300_000;
    let rim = (0..count).map(|k| {
        let angle = std::f32::consts::TAU * k as f32 / count as f32;
        glam::Vec3::new(angle.cos(), 0.0, angle.sin())
    });
    let positions: Vec<glam::Vec3> = std::iter::once(glam::Vec3::ZERO).chain(rim).collect();
    let triangles: Vec<[u32; 3]> = (0..count).map(|k| [0, 1 + k, 1 + (k + 1) % count]).collect();
    let before = used();
    SelfContact::new(&positions, &triangles);
    assert!(used() - before < Duration::from_secs(10), "{:?}", used() - before);
}

/// Triangles on one edge, like the pages of a book: every ray to its back meets most of them, and their boxes all overlap.
fn book(count: u32) -> TriMesh {
    let page = |k: u32| {
        let angle = std::f32::consts::TAU * k as f32 / count as f32;
        glam::Vec3::new(angle.cos(), 1.0, angle.sin())
    };
    let mut book = TriMesh { positions: vec![glam::Vec3::ZERO, 2.0 * glam::Vec3::Y], triangles: Vec::new() };
    book.positions.extend((0..count).map(page));
    book.triangles.extend((0..count).map(|k| [0, 1, k + 2]));
    book
}

#[test]
fn triangles_on_one_edge_get_weights_soon() {
    let folder = tempfile::tempdir().unwrap();
    let book = book(40_000);
    let points = book.positions.iter().map(|p| format!("v {} {} {}\n", p.x, p.y, p.z));
    let faces = book.triangles.iter().map(|t| format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));
    let bytes = points.chain(faces).collect::<String>().into_bytes();
    let source = Source { ending: "obj", bytes, motion: MotionSource::File("sample:cylinder".into()) };
    let before = used();
    let ingredients = source.read(&source.bytes, folder.path()).unwrap();
    assert!(used() - before < SLOW, "{:?}", used() - before);
    let repairs = &ingredients.character.repairs;
    assert!(repairs.iter().any(|r| r.problem.contains("in the same place")), "{repairs:?}");
    let frame = one_frame(&Body::bind(ingredients.character.clone(), Stack::linear(), None).unwrap());
    assert_eq!(frame.meshes[0].positions.len(), book.positions.len());
}

#[test]
fn triangles_on_one_edge_are_refused_by_measures_soon() {
    let book = book(40_000);
    let vertices = book.positions.len();
    let before = used();
    let judge = Judge::new(JudgeInput {
        rest: &book,
        part_of_vertex: &vec![0; vertices],
        group_of_vertex: None,
        influences: &Influences::new(vec![vec![(0, 1.0)]; vertices]),
    });
    let refused = judge.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("heap of triangles"), "{refused}");
    assert!(used() - before < SLOW, "{:?}", used() - before);
}

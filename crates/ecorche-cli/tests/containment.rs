//! What is written stays where it was asked for: no file outside, none over another, none over what was read.

mod program;

use program::{ecorche, text};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every file below a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        found.extend(if path.is_dir() { files(&path) } else { BTreeSet::from([path]) });
    }
    found
}

/// Names that leave a folder, or become each other once cleaned.
fn hostile(outside: &Path) -> Vec<String> {
    let absolute = outside.join("absolute").display().to_string();
    let names =
        ["../../esc", &absolute, "a/b", "a_b", "a.b", "A_B", "..", " ", "nul", "a\\b", "line\\nbreak"];
    names.map(str::to_owned).into_iter().chain(["x".repeat(300)]).collect()
}

/// A file with one triangle for each of `meshes`, moved by one clip for each of `clips`.
fn gltf(path: &Path, meshes: &[String], clips: &[String]) {
    let positions = [0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let keys = [0f32, 1.0];
    let moves = [0f32, 0.0, 0.0, 0.0, 0.5, 0.0];
    let bytes: Vec<u8> = positions.iter().chain(&keys).chain(&moves).flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(path.with_extension("bin"), &bytes).unwrap();
    let list = |items: Vec<serde_json::Value>| serde_json::Value::from(items);
    let nodes = (0..meshes.len()).map(|m| serde_json::json!({ "mesh": m, "name": format!("node {m}") }));
    let mesh = |name: &String| serde_json::json!({ "name": name, "primitives": [{ "attributes": { "POSITION": 0 } }] });
    let clip = |name: &String| {
        serde_json::json!({ "name": name,
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }],
            "samplers": [{ "input": 1, "output": 2 }] })
    };
    let document = serde_json::json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": (0..meshes.len()).collect::<Vec<_>>() }],
        "nodes": list(nodes.collect()),
        "meshes": list(meshes.iter().map(mesh).collect()),
        "animations": list(clips.iter().map(clip).collect()),
        "buffers": [{ "byteLength": bytes.len(), "uri": path.with_extension("bin").file_name().unwrap().to_str() }],
        "bufferViews": [
            { "buffer": 0, "byteOffset": 0, "byteLength": 36 },
            { "buffer": 0, "byteOffset": 36, "byteLength": 8 },
            { "buffer": 0, "byteOffset": 44, "byteLength": 24 },
        ],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
              "min": [0.0, 0.0, 0.0], "max": [1.0, 1.0, 0.0] },
            { "bufferView": 1, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0.0], "max": [1.0] },
            { "bufferView": 2, "componentType": 5126, "count": 2, "type": "VEC3" },
        ],
    });
    std::fs::write(path, document.to_string()).unwrap();
}

/// Of every cache format.
const ENDINGS: [&str; 6] = ["abc", "pc2", "mdd", "obj", "glb", "usda"];

#[test]
fn every_cache_stays_in_its_folder_and_none_overwrites_another() {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("deep/er");
    std::fs::create_dir_all(&inner).unwrap();
    let names = hostile(outer.path());
    gltf(&inner.join("hostile.gltf"), &names, &names);
    let before = files(outer.path());
    for ending in ENDINGS {
        let folder = inner.join(ending);
        std::fs::create_dir(&folder).unwrap();
        let out = format!("{ending}/out.{ending}");
        let arguments = [
            "bake",
            "hostile.gltf",
            "-o",
            &out,
            "--clip",
            "all",
            "--fps",
            "1",
            "--method",
            "lbs",
            "--no-cache",
        ];
        let output = ecorche(&arguments, &inner);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let clips = names.len();
        let expected = match ending {
            "pc2" | "mdd" => clips * names.len() + 1,
            "obj" => clips * 2,
            _ => clips,
        };
        assert_eq!(files(&folder).len(), expected, "{:?}", files(&folder));
        assert!(files(&folder).iter().all(|f| std::fs::metadata(f).unwrap().len() > 0));
    }
    let outside: Vec<PathBuf> = files(outer.path())
        .difference(&before)
        .filter(|path| !ENDINGS.iter().any(|f| path.starts_with(inner.join(f))))
        .cloned()
        .collect();
    assert!(outside.is_empty(), "{outside:?}");
}

#[test]
fn bodies_of_a_tissue_scene_stay_in_the_folder_and_none_overwrites_another() {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("deep/er");
    std::fs::create_dir_all(&inner).unwrap();
    let mut names = hostile(outer.path());
    names.push("a_b".to_owned());
    let mut scene = String::from(
        "version = 1\n[run]\nfps = 1\nseconds = 1\nsubsteps = 1\n[material.flesh]\nkind = \"neo-hookean\"\nyoung = 3e4\npoisson = 0.45\ndensity = 1060\n",
    );
    for (n, name) in names.iter().enumerate() {
        scene += &format!(
            "[[body]]\nname = {}\nbrick = {{ low = [{n}, 0, 0], high = [{n}.5, 1, 1], cells = [1, 1, 1] }}\nmaterial = \"flesh\"\n",
            serde_json::Value::from(name.as_str())
        );
    }
    std::fs::write(inner.join("scene.toml"), scene).unwrap();
    let before = files(outer.path());
    let output = ecorche(&["tissue", "scene.toml", "-o", "out", "-q"], &inner);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let written: Vec<PathBuf> = files(outer.path()).difference(&before).cloned().collect();
    assert!(written.iter().all(|path| path.parent() == Some(&inner.join("out"))), "{written:?}");
    let count = |ending: &str| written.iter().filter(|p| p.to_string_lossy().ends_with(ending)).count();
    assert_eq!((count(".pc2"), count(".rest.obj")), (names.len(), names.len()), "{written:?}");
    let again = ecorche(&["tissue", "scene.toml", "-o", "out", "-q", "--resume"], &inner);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
}

/// A motion of the arm sample, once under each of the names.
fn arm_motion(path: &Path, clips: &[String]) {
    // Three joints are needed to know whose motion it is.
    let channel =
        |node: u32| serde_json::json!({ "sampler": 0, "target": { "node": node, "path": "rotation" } });
    let clip = |name: &String| {
        serde_json::json!({ "name": name,
            "channels": ([1, 2, 3].map(channel)),
            "samplers": [{ "input": 0, "output": 1 }] })
    };
    let unturned = [0f32, 0.0, 0.0, 1.0];
    let bytes: Vec<u8> =
        [0f32, 1.0].iter().chain(&unturned).chain(&unturned).flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(path.with_extension("bin"), &bytes).unwrap();
    let document = serde_json::json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [
            { "name": "root", "children": [1] },
            { "name": "leftUpperArm", "translation": [0.2, 1.4, 0.0], "children": [2] },
            { "name": "leftLowerArm", "translation": [0.3, 0.0, 0.0], "children": [3] },
            { "name": "leftHand", "translation": [0.25, 0.0, 0.0] },
        ],
        "animations": clips.iter().map(clip).collect::<Vec<_>>(),
        "buffers": [{ "byteLength": bytes.len(), "uri": path.with_extension("bin").file_name().unwrap().to_str() }],
        "bufferViews": [
            { "buffer": 0, "byteOffset": 0, "byteLength": 8 },
            { "buffer": 0, "byteOffset": 8, "byteLength": 32 },
        ],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0.0], "max": [1.0] },
            { "bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC4" },
        ],
    });
    std::fs::write(path, document.to_string()).unwrap();
}

#[test]
fn plots_of_muscles_stay_in_their_folder_and_none_overwrites_another() {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("deep/er");
    std::fs::create_dir_all(inner.join("plots")).unwrap();
    let clips = hostile(outer.path());
    arm_motion(&inner.join("motion.gltf"), &clips);
    let before = files(outer.path());
    let arguments = [
        &["measure", "sample:arm?resolution=2000", "--motion", "motion.gltf", "--clip", "all", "--fps", "1"]
            [..],
        &["--methods", "muscles", "--plot-muscles", "plots/muscles.png", "--no-cache", "-q"],
    ];
    let output = ecorche(&arguments.concat(), &inner);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let written: Vec<PathBuf> = files(outer.path()).difference(&before).cloned().collect();
    assert!(written.iter().all(|path| path.parent() == Some(&inner.join("plots"))), "{written:?}");
    assert_eq!(written.len(), clips.len(), "{written:?}");
    assert!(written.iter().all(|path| std::fs::metadata(path).unwrap().len() > 0), "{written:?}");
}

/// Two frames of the arm sample's joints.
const WALK: &str = "HIERARCHY
ROOT root
{
OFFSET 0 0 0
CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
JOINT leftUpperArm
{
OFFSET 0.2 1.4 0
CHANNELS 3 Zrotation Xrotation Yrotation
JOINT leftLowerArm
{
OFFSET 0.3 0 0
CHANNELS 3 Zrotation Xrotation Yrotation
JOINT leftHand
{
OFFSET 0.25 0 0
CHANNELS 3 Zrotation Xrotation Yrotation
End Site
{
OFFSET 0.1 0 0
}
}
}
}
}
MOTION
Frames: 2
Frame Time: 0.5
0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
0 0 0 0 0 0 0 0 0 30 0 0 0 0 0
";

#[test]
fn what_is_read_is_not_written_over_whatever_it_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |arguments: &[&str]| ecorche(arguments, folder.path());
    let made = run(&[
        "bake",
        "sample:cylinder",
        "-o",
        "hero.glb",
        "--clip",
        "bend",
        "--fps",
        "4",
        "--method",
        "lbs",
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    std::fs::hard_link(at("hero.glb"), at("link.glb")).unwrap();
    std::fs::create_dir(at("sub")).unwrap();
    std::fs::write(at("walk.bvh"), WALK).unwrap();
    std::fs::hard_link(at("walk.bvh"), at("walk.glb")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(at("hero.glb"), at("soft.glb")).unwrap();
    #[cfg(not(unix))]
    std::fs::hard_link(at("hero.glb"), at("soft.glb")).unwrap();
    assert_eq!(run(&["init", "sample:arm", "-o", "arm.toml"]).status.code(), Some(0));
    for pair in [["a.pc2", "0-1"], ["b.pc2", "2-3"]] {
        let [out, frames] = pair;
        let arguments =
            ["bake", "sample:cylinder", "-o", out, "--frames", frames, "--method", "lbs", "--no-mesh", "-q"];
        assert_eq!(run(&arguments).status.code(), Some(0));
    }
    let names = ["hero.glb", "arm.toml", "a.pc2", "b.pc2"];
    let before = names.map(|name| std::fs::read(at(name)).unwrap());
    std::fs::hard_link(at("hero.glb"), at("hero.png")).unwrap();
    std::fs::hard_link(at("hero.glb"), at("field.obj")).unwrap();
    let still = ["--frames", "0-0", "--methods", "lbs"];
    let measure = |more: &[&'static str]| [&["measure", "hero.glb"], &still[..], more].concat();
    let [json, plot] = [measure(&["--json", "hero.glb"]), measure(&["--plot", "hero.png"])];
    std::fs::hard_link(at("hero.glb"), at("hero.rest.obj")).unwrap();
    std::fs::create_dir(at("states")).unwrap();
    std::fs::hard_link(at("hero.glb"), at("states/before-1.state")).unwrap();
    let against = measure(&["--against", "a.pc2", "--json", "a.pc2"]);
    let cases: [&[&str]; 16] = [
        &against,
        &["job", "hero.glb", "-o", ".", "--method", "lbs"],
        &["states", "hero.glb", "-o", "states", "--before", "0,1", "--method", "lbs"],
        &["info", "hero.glb", "--json", "hero.glb"],
        &json,
        &plot,
        &["field", "hero.glb", "-o", "hero.png"],
        &["field", "hero.glb", "-o", "field.obj"],
        &["bake", "hero.glb", "-o", "hero.glb"],
        &["bake", "hero.glb", "-o", "link.glb"],
        &["bake", "hero.glb", "-o", "soft.glb"],
        &["bake", "sub/../hero.glb", "-o", "./hero.glb"],
        &["bake", "sample:arm", "--motion", "walk.bvh", "-o", "walk.glb"],
        &["init", "hero.glb", "-o", "hero.glb", "--force"],
        &["render", "sample:arm", "--anatomy", "arm.toml", "-o", "arm.toml"],
        &["join", "a.pc2", "b.pc2", "-o", "a.pc2"],
    ];
    for arguments in cases {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stdout));
        assert!(text(&output.stderr).contains("would overwrite"), "{arguments:?}: {}", text(&output.stderr));
    }
    let twice = run(&["bake", "hero.glb", "-o", "c.pc2", "--state", "c.pc2"]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(text(&twice.stderr).contains("written twice"), "{}", text(&twice.stderr));
    // One frame of a sequence may be what is read.
    let obj = ["bake", "sample:cylinder", "-o", "s.obj", "--frames", "0-1", "--method", "lbs", "--fps", "4"];
    assert_eq!(run(&obj).status.code(), Some(0));
    let arguments =
        ["bake", "s.0000.obj", "--motion", "walk.bvh", "-o", "s.obj", "--method", "lbs", "--weights", "file"];
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("would overwrite s.0000.obj"), "{}", text(&output.stderr));
    assert_eq!(names.map(|name| std::fs::read(at(name)).unwrap()), before);
}

#[cfg(unix)]
#[test]
fn more_meshes_than_a_process_may_have_open_files_are_baked() {
    let folder = tempfile::tempdir().unwrap();
    let mut obj = String::new();
    for m in 0..300 {
        obj += &format!("o mesh{m}\nv 0 0 {m}\nv 1 0 {m}\nv 0 1 {m}\nf -3 -2 -1\n");
    }
    std::fs::write(folder.path().join("many.obj"), obj).unwrap();
    let command = format!(
        "ulimit -n 64; exec '{}' bake many.obj -o out.pc2 --method lbs --no-cache --weights file",
        env!("CARGO_BIN_EXE_ecorche")
    );
    let output = Command::new("sh").args(["-c", &command]).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let caches = files(folder.path()).into_iter().filter(|p| p.extension().is_some_and(|e| e == "pc2"));
    assert_eq!(caches.count(), 300);
}

#[cfg(unix)]
#[test]
fn what_a_killed_bake_left_is_cleared_by_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let bake = |out: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ecorche"));
        command
            .args([
                "bake",
                "sample:cylinder",
                "-o",
                out,
                "--clip",
                "bend",
                "--fps",
                "50000",
                "--method",
                "dqs",
            ])
            .args(["--no-mesh", "-q", "--no-cache"])
            .current_dir(folder.path());
        command
    };
    for out in ["out.abc", "out.obj", "out.pc2", "out.usda"] {
        let mut killed = bake(out).spawn().unwrap();
        let parts = || {
            let names = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name());
            names.filter(|n| n.to_string_lossy().ends_with(".part")).count()
        };
        while parts() == 0 && killed.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert_eq!(parts(), 1, "{out}: killed too late");
        let next = ecorche(
            &["bake", "sample:cylinder", "-o", out, "--clip", "bend", "--fps", "2", "--method", "dqs", "-q"],
            folder.path(),
        );
        assert_eq!(next.status.code(), Some(0), "{}", text(&next.stderr));
        assert_eq!(parts(), 0, "{out}");
    }
}

//! Files that never end or never start are refused at once.
#![cfg(unix)]

mod program;

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs the command; fails the test if it takes longer than a few seconds.
fn ecorche(arguments: &[&str], folder: &Path) -> (Option<i32>, String) {
    let mut command = program::command(arguments, folder);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{arguments:?} did not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn devices_and_pipes_are_refused_wherever_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for ending in ["obj", "ply", "vtp", "glb", "gltf", "fbx", "usda", "dae", "bvh", "pc2", "toml", "veg"] {
        symlink("/dev/zero", at(&format!("zero.{ending}"))).unwrap();
        fifo(&at(&format!("pipe.{ending}")));
    }
    for ending in ["obj", "glb", "gltf", "fbx", "usda", "dae", "bvh"] {
        for kind in ["zero", "pipe"] {
            let (code, message) = ecorche(&["info", &format!("{kind}.{ending}")], folder.path());
            assert_eq!(code, Some(2), "{kind}.{ending}: {message}");
            assert!(message.contains("pipe or a device"), "{kind}.{ending}: {message}");
        }
    }
    for kind in ["zero", "pipe"] {
        // A bone's surface.
        for ending in ["obj", "ply", "vtp"] {
            let init = ["init", "sample:arm", "-o", "arm.toml", "--force"];
            assert_eq!(ecorche(&init, folder.path()).0, Some(0));
            let text = std::fs::read_to_string(at("arm.toml")).unwrap();
            let bone = format!("{text}\n[[bone]]\nbone = \"leftLowerArm\"\nmesh = \"{kind}.{ending}\"\n");
            std::fs::write(at("bones.toml"), bone).unwrap();
            let arguments = [
                "bake",
                "sample:arm",
                "--anatomy",
                "bones.toml",
                "-o",
                "out.pc2",
                "--frames",
                "0",
                "--method",
                "muscles",
            ];
            let (code, message) = ecorche(&arguments, folder.path());
            assert_eq!(code, Some(2), "{kind}.{ending}: {message}");
            assert!(message.contains(&format!("{kind}.{ending}")), "{message}");
        }
        // A layer that another one refers to, and a buffer.
        std::fs::write(
            at("scene.usda"),
            format!("#usda 1.0\ndef Xform \"a\" (\n    prepend references = @./{kind}.usda@\n)\n{{\n}}\n"),
        )
        .unwrap();
        let (code, message) = ecorche(&["info", "scene.usda"], folder.path());
        assert!(matches!(code, Some(0 | 2)), "{message}");
        std::fs::write(
            at("scene.gltf"),
            format!("{{\"asset\":{{\"version\":\"2.0\"}},\"buffers\":[{{\"byteLength\":4,\"uri\":\"{kind}.obj\"}}]}}"),
        )
        .unwrap();
        let (code, message) = ecorche(&["info", "scene.gltf"], folder.path());
        assert!(matches!(code, Some(0 | 2)), "{message}");
        // An anatomy, a scene of tissue, pieces.
        for arguments in [
            &["info", "sample:arm", "--anatomy", &format!("{kind}.toml")][..],
            &["tissue", &format!("{kind}.toml"), "-o", "out"],
            &["join", &format!("{kind}.pc2"), &format!("{kind}.pc2"), "-o", "joined.pc2"],
            &["join", &format!("{kind}.pc2"), &format!("{kind}.pc2"), "-o", "joined.pc2", "--unchecked"],
        ] {
            let (code, message) = ecorche(arguments, folder.path());
            assert_eq!(code, Some(2), "{arguments:?}: {message}");
        }
    }
}

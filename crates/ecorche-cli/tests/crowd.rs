//! Crowds and parametric muscles as users meet them: files, figures, and what is said about mistakes.

mod program;

use program::{done, ecorche, text};

const SCENE: &str = r#"fps = 10
frames = [0, 2]
[[character]]
name = "arm"
file = "sample:arm?resolution=2000"
[[instance]]
character = "arm"
clip = "curl"
repeat = { columns = 2, rows = 1, spacing = [1.0, 1.0], offset = 0.3 }
"#;

#[test]
fn a_crowd_is_timed_baked_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("scene.toml"), SCENE).unwrap();
    let crowd = ["crowd", "scene.toml", "--no-cache"];
    let output = done(&[&crowd[..], &["-o", "arms.pc2"]].concat(), folder.path());
    let said = text(&output.stdout).to_owned();
    assert!(said.contains("2 instances of 1 characters") && said.contains("3 frames"), "{said}");
    let size = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().len();
    assert!(folder.path().join("arm.rest.obj").exists(), "the mesh that caches are put on");
    assert_eq!(size("arms.001.pc2"), size("arms.002.pc2"));
    done(
        &[&crowd[..], &["-o", "all.pc2", "--merged", "--picture", "arms.png", "--size", "64x48"]].concat(),
        folder.path(),
    );
    assert_eq!(size("all.pc2") - 32, 2 * (size("arms.001.pc2") - 32));
    assert!(size("arms.png") > 100 && folder.path().join("all.rest.obj").exists());
}

#[test]
fn a_crowd_that_cannot_be_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("character = \"arm\"", "character = \"leg\"", "no character \"leg\""),
        ("clip = \"curl\"", "clip = \"sleep\"", "no clip called \"sleep\""),
        ("fps = 10", "fps = 10\nspeed = 2", "scene.toml:2: unknown field"),
        ("frames = [0, 2]", "frames = [2, 0]", "frames [2, 0]"),
    ];
    for (right, mistaken, message) in cases {
        std::fs::write(folder.path().join("scene.toml"), SCENE.replacen(right, mistaken, 1)).unwrap();
        let output = ecorche(&["crowd", "scene.toml", "-o", "out.pc2", "--no-cache"], folder.path());
        assert_eq!(output.status.code(), Some(2), "{mistaken}");
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    }
    let output = ecorche(&["crowd", "nowhere.toml"], folder.path());
    assert!(text(&output.stderr).contains("nowhere.toml"), "{}", text(&output.stderr));
    std::fs::write(folder.path().join("scene.toml"), SCENE).unwrap();
    let output = ecorche(&["crowd", "scene.toml", "--merged"], folder.path());
    assert!(text(&output.stderr).contains("-o"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the scene is there");
}

#[test]
fn a_graphics_card_is_used_or_one_line_says_why_not() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("scene.toml"), SCENE).unwrap();
    let crowd = ["crowd", "scene.toml", "--no-cache", "--gpu"];
    let output =
        done(&[&crowd[..], &["--picture", "arms.png", "--size", "64x48", "--json"]].concat(), folder.path());
    let (said, json) = (text(&output.stderr), text(&output.stdout));
    let card = json.lines().find(|line| line.contains("\"card\"")).unwrap();
    // Which of the two depends on how the program was built, and on the machine.
    let none = card.contains("null");
    assert_eq!(none, said.matches("using the processor").count() == 1, "{said}{card}");
    assert!(folder.path().join("arms.png").exists());
    let output = ecorche(&[&crowd[..], &["-o", "out.pc2"]].concat(), folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--output"), "{}", text(&output.stderr));
}

#[test]
fn keys_tense_a_parametric_muscle_over_their_clip() {
    let folder = tempfile::tempdir().unwrap();
    let keys = |clip: &str, parameter: &str| {
        format!(
            "{MUSCLE}[[keys]]\nclip = \"{clip}\"\nmuscle = \"biceps\"\nside = \"left\"\nparameter = \"{parameter}\"\n\
             values = [[0.0, 1.0]]\n"
        )
    };
    let mut bytes = Vec::new();
    for text in [MUSCLE.to_owned(), keys("curl", "activation"), keys("another", "activation")] {
        std::fs::write(folder.path().join("a.toml"), text).unwrap();
        let bake = ["bake", "sample:arm?resolution=2000", "--anatomy", "a.toml", "--method", "parametric"];
        let frame = ["--clip", "curl", "--frames", "0-0", "--no-mesh", "-o", "out.pc2"];
        done(&[&bake[..], &frame].concat(), folder.path());
        bytes.push(std::fs::read(folder.path().join("out.pc2")).unwrap());
    }
    assert_ne!(bytes[0], bytes[1], "keyed to be tense at the start");
    assert_eq!(bytes[0], bytes[2], "keys of another clip do nothing");
    std::fs::write(folder.path().join("a.toml"), keys("curl", "gain")).unwrap();
    let output = ecorche(&["info", "sample:arm?resolution=2000", "--anatomy", "a.toml"], folder.path());
    let said = text(&output.stderr);
    assert!(said.contains("a.toml:14:") && said.contains("only the activation"), "{said}");
}

const MUSCLE: &str = r#"version = 1
[[parametric]]
name = "biceps"
side = "left"
origin = { bone = "leftUpperArm", at = [0.0, 0.02, 0.015] }
insertion = { bone = "leftLowerArm", at = [0.0, 0.04, 0.01] }
bulge = [0.0, 0.0, 1.0]
centre = 0.5
thickness = [0.004, 0.012, 0.02, 0.02, 0.012, 0.004]
"#;

#[test]
fn wrong_parametric_muscles_are_refused_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let bake = ["bake", "sample:arm?resolution=2000", "--anatomy", "a.toml", "--method", "parametric"];
    let bake = [&bake[..], &["-o", "out.pc2", "--frames", "0-0", "--no-mesh"]].concat();
    let info = ["info", "sample:arm?resolution=2000", "--anatomy", "a.toml"];
    let cases = [
        ("bulge = [0.0, 0.0, 1.0]", "bulge = [0.0, 1.0, 0.0]", ":7:", "5 degrees"),
        // 4 degrees from the line, which is nearly the bone.
        ("bulge = [0.0, 0.0, 1.0]", "bulge = [0.0, 1.0, 0.05]", ":7:", "5 degrees"),
        ("centre = 0.5", "centre = 0.99", ":8:", "must be from 0.05 to 0.95"),
        ("centre = 0.5", "centre = 0.04", ":8:", "must be from 0.05 to 0.95"),
        ("thickness = [0.004", "thickness = [-0.004", ":9:", "must not be negative"),
        ("thickness = [0.004", "thickness = [nan", ":9:", "finite"),
        (
            "leftLowerArm\", at = [0.0, 0.04, 0.01]",
            "leftUpperArm\", at = [0.0, 0.02, 0.015]",
            ":6:",
            "same point",
        ),
        ("leftLowerArm", "leftLowerLeg", ":6:", "no joint \"leftLowerLeg\""),
        ("centre", "center", ":8:", "did you mean \"centre\"?"),
        ("centre = 0.5", "template = \"radial\"", ":8:", "radius"),
    ];
    for (right, mistaken, line, message) in cases {
        std::fs::write(folder.path().join("a.toml"), MUSCLE.replacen(right, mistaken, 1)).unwrap();
        for command in [&bake[..], &info[..]] {
            let output = ecorche(command, folder.path());
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{mistaken}: {said}");
            let named = said.contains(&format!("a.toml{line}")) && said.contains("biceps");
            assert!(named && said.contains(message), "{mistaken}: {said}");
        }
    }
    assert!(!folder.path().join("out.pc2").exists());
}

#[test]
fn a_parametric_muscle_that_touches_nothing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let far = MUSCLE.replace("0.015]", "9.0]").replace("0.01]", "9.0]");
    std::fs::write(folder.path().join("a.toml"), far).unwrap();
    let bake = ["bake", "sample:arm?resolution=2000", "--anatomy", "a.toml", "--method", "parametric"];
    let output = done(&[&bake[..], &["-o", "out.pc2", "--frames", "0-0"]].concat(), folder.path());
    assert!(text(&output.stderr).contains("no skin lies over biceps, left"), "{}", text(&output.stderr));
}

#[test]
fn parametric_muscles_of_absurd_lengths_are_clamped_and_counted_for_the_user() {
    let folder = tempfile::tempdir().unwrap();
    // A millimetre long behind the elbow, which opens it to some centimetres.
    let across = MUSCLE
        .replace("[0.0, 0.02, 0.015]", "[0.0, 0.3125, -0.0288]")
        .replace("[0.0, 0.04, 0.01]", "[0.0, 0.002, -0.03]");
    let bake = ["bake", "sample:arm?resolution=2000", "--anatomy", "a.toml", "--method", "parametric"];
    let frames = ["-o", "out.pc2", "--clip", "curl", "--frames", "0-30", "--no-mesh"];
    let mut said = Vec::new();
    for muscle in [MUSCLE, across.as_str()] {
        std::fs::write(folder.path().join("a.toml"), muscle).unwrap();
        let output = done(&[&bake[..], &frames[..]].concat(), folder.path());
        said.push(text(&output.stderr).to_owned());
    }
    assert!(!said[0].contains("clamped"), "{}", said[0]);
    let told = said[1].contains("up to 1 parametric muscles in a frame") && said[1].contains("30 %");
    assert!(told && said[1].contains("clamped"), "{}", said[1]);
}

#[test]
fn init_writes_parametric_muscles_that_a_bake_uses_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let arm = "sample:arm?resolution=2000";
    done(&["init", arm, "--parametric", "-o", "a.toml"], folder.path());
    let written = std::fs::read_to_string(folder.path().join("a.toml")).unwrap();
    assert!(written.matches("\n[[parametric]]").count() >= 4 && !written.contains("\n[[muscle]]"));
    let bake = ["bake", arm, "--anatomy", "a.toml", "--clip", "curl", "--frames", "20-20", "--no-mesh", "-o"];
    done(&[&bake[..], &["default.pc2"]].concat(), folder.path());
    done(&[&bake[..], &["named.pc2", "--method", "parametric"]].concat(), folder.path());
    done(&[&bake[..], &["skinned.pc2", "--method", "dqs"]].concat(), folder.path());
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("default.pc2"), read("named.pc2"));
    assert_ne!(read("named.pc2"), read("skinned.pc2"));
}

//! An anatomy that cannot be used: `info` and `job` say so before a bake does, in the same words, with file and line.

mod program;

use program::{done, ecorche, text};

/// An anatomy of the arm sample, nothing wrong with it.
const GOOD: &str = r#"version = 1
[skin]
gap = 0.02
[[muscle]]
name = "biceps"
side = "left"
origin = { bone = "leftUpperArm", at = [0.0, 0.01, 0.025] }
insertion = { bone = "leftLowerArm", at = [0.0, 0.045, 0.012] }
via = [{ bone = "leftUpperArm", at = [0.0, 0.12, 0.03] }]
width = 0.017
tone = 2.0
[[fat]]
name = "pad"
bone = "leftUpperArm"
at = [0.0, 0.1, 0.0]
radii = [0.02, 0.03, 0.02]
[[bone]]
bone = "leftUpperArm"
mesh = "bone.obj"
"#;

/// A tetrahedron along the bone.
const BONE: &str =
    "v 0 0.05 0\nv 0.01 0.05 0\nv 0 0.2 0\nv 0 0.05 0.01\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

#[test]
fn info_and_jobs_refuse_what_a_bake_refuses_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("bone.obj"), BONE).unwrap();
    std::fs::write(at("flat.obj"), "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n").unwrap();
    let info = ["info", "sample:arm?resolution=2000", "--anatomy", "a.toml"];
    let bake = [
        "bake",
        "sample:arm?resolution=2000",
        "--anatomy",
        "a.toml",
        "-o",
        "out.pc2",
        "--frames",
        "0-0",
        "-q",
    ];
    let job = ["job", "sample:arm?resolution=2000", "--anatomy", "a.toml", "-o", "job", "-q"];
    std::fs::write(at("a.toml"), GOOD).unwrap();
    assert!(text(&done(&info, folder.path()).stdout).contains("fits"));
    done(&[&bake[..], &["--no-mesh"]].concat(), folder.path());
    std::fs::remove_file(at("out.pc2")).unwrap();

    let whole = "mesh = \"bone.obj\"\n";
    let second = "[[muscle]]\nname = \"biceps\"\nside = \"left\"\nwidth = 0.01\n\
        origin = { bone = \"leftUpperArm\", at = [0.0, 0.0, 0.0] }\n\
        insertion = { bone = \"leftLowerArm\", at = [0.0, 0.0, 0.0] }\n";
    // What is replaced by what, and the line of the fault.
    let cases = [
        ("width = 0.017", "width = 0.5", 10),
        ("width = 0.017", "width = -1.0", 10),
        ("width = 0.017", "width = nan", 10),
        ("tone = 2.0", "tone = 0.0", 11),
        ("tone = 2.0", "tone = inf", 11),
        ("at = [0.0, 0.12, 0.03]", "at = [0.0, 0.01, 0.025]", 4),
        ("bone = \"leftUpperArm\", at = [0.0, 0.12", "bone = \"elbow\", at = [0.0, 0.12", 9),
        ("radii = [0.02,", "radii = [0.0,", 16),
        ("mesh = \"bone.obj\"", "mesh = \"none.obj\"", 19),
        ("mesh = \"bone.obj\"", "mesh = \"flat.obj\"", 19),
        ("mesh = \"bone.obj\"", "mesh = \".\"", 19),
        ("gap = 0.02", "gap = 2.0", 3),
        (whole, &format!("{whole}{second}"), 21),
    ];
    for (good, bad, line) in cases {
        assert!(GOOD.contains(good), "{good}");
        std::fs::write(at("a.toml"), GOOD.replacen(good, bad, 1)).unwrap();
        let said = [&info[..], &bake, &job].map(|arguments| {
            let output = ecorche(arguments, folder.path());
            assert_eq!(output.status.code(), Some(2), "{bad}: {arguments:?}");
            let message = text(&output.stderr);
            assert!(message.contains(&format!("a.toml:{line}:")), "{bad}: {arguments:?}: {message}");
            message
        });
        assert!(said.iter().all(|message| *message == said[0]), "{bad}: {said:?}");
    }
    assert!(!at("out.pc2").exists() && !at("job").exists());
    // Without muscles their faults do not matter to a bake.
    std::fs::write(at("a.toml"), GOOD.replace("bone.obj", "none.obj")).unwrap();
    done(&[&bake[..], &["--no-muscles", "--no-mesh"]].concat(), folder.path());
}

//! The command as users and scripts meet it: exit codes, streams, files.

mod program;

use ecorche::output::Picture;
use program::{done, ecorche, text};
use std::process::Command;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn info_tells_what_is_in_a_character_in_words_and_in_json() {
    let folder = folder();
    let output = ecorche(&["info", "sample:cylinder"], folder.path());
    assert_eq!(output.status.code(), Some(0));
    for word in ["vertices", "joints", "clips", "Y up", "repairs"] {
        assert!(text(&output.stdout).contains(word), "{word}: {}", text(&output.stdout));
    }
    let output = ecorche(&["info", "sample:cylinder", "--json"], folder.path());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["meshes"][0]["components"], 1);
    assert!(output.stderr.is_empty());
    let output = ecorche(&["info", "sample:cylinder", "--parts", "--no-cache"], folder.path());
    assert!(text(&output.stdout).contains("2 over"), "{}", text(&output.stdout));
}

#[test]
fn init_writes_an_anatomy_file_that_fits_and_overwrites_none() {
    let folder = folder();
    let output = ecorche(&["init", "sample:arm", "-o", "arm.toml"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "arm.toml\n");
    assert!(text(&output.stderr).contains("muscles and"), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("not placed"), "{}", text(&output.stderr));
    let output = ecorche(&["info", "sample:arm", "--anatomy", "arm.toml"], folder.path());
    assert!(text(&output.stdout).contains("arm.toml fits"), "{}", text(&output.stdout));
    let output = ecorche(&["init", "sample:arm", "-o", "arm.toml"], folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--force"));
    let output = ecorche(&["init", "sample:arm", "-o", "arm.toml", "--force", "--skin-only"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let written = std::fs::read_to_string(folder.path().join("arm.toml")).unwrap();
    std::fs::write(folder.path().join("arm.toml"), written.replace("grid =", "gird =")).unwrap();
    let output = ecorche(&["info", "sample:arm", "--anatomy", "arm.toml"], folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("did you mean \"grid\"?"), "{}", text(&output.stderr));
}

#[test]
fn bake_prints_the_files_it_made_and_nothing_else_on_standard_output() {
    let folder = folder();
    let output = ecorche(&["bake", "sample:cylinder", "-o", "out.pc2", "--frames", "0-3"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let files: Vec<String> = text(&output.stdout).lines().map(str::to_owned).collect();
    assert_eq!(files, ["out.pc2", "out.pc2.piece.json", "out.rest.obj"]);
    assert!(files.iter().all(|f| folder.path().join(f).exists()));
}

#[test]
fn the_implicit_skin_is_baked_by_default_by_any_scheme_and_from_the_cache_alike() {
    let folder = folder();
    let bake = |out: &str, more: &[&str]| {
        let frame = ["bake", "sample:cylinder", "-o", out, "--frames", "20", "--no-mesh", "-q"];
        let output = ecorche(&[&frame, more].concat(), folder.path());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        std::fs::read(folder.path().join(out)).unwrap()
    };
    let default = bake("default.pc2", &[]);
    assert!(std::fs::read_dir(folder.path().join("cache")).unwrap().count() > 0);
    assert!(default == bake("cached.pc2", &["--method", "implicit", "--tracking", "robust"]));
    assert!(default == bake("anew.pc2", &["--no-cache"]));
    let others = ["dqs", "lbs"].map(|method| bake("other.pc2", &["--method", method]));
    let papers = ["2012", "2014"].map(|scheme| bake("paper.pc2", &["--tracking", scheme]));
    assert!(others.iter().chain(&papers).all(|other| *other != default));
    bake("coherent.pc2", &["--coherent"]);
}

#[test]
fn the_operator_an_anatomy_names_is_used_by_every_scheme() {
    let folder = folder();
    let bake = |anatomy: &str, scheme: &str| {
        std::fs::write(folder.path().join("a.toml"), format!("version = 1\n[skin]\n{anatomy}")).unwrap();
        let frame = ["bake", "sample:cylinder", "-o", "o.pc2", "--frames", "20", "--no-mesh", "-q"];
        done(&[&frame[..], &["--anatomy", "a.toml", "--tracking", scheme]].concat(), folder.path());
        std::fs::read(folder.path().join("o.pc2")).unwrap()
    };
    let joint = "[skin.joint.lower]\nsamples = { remove = [] }\n";
    for (scheme, own, other) in [("2012", "blend", "contact"), ("2014", "contact", "blend")] {
        let named = |name: &str| bake(&format!("operator = \"{name}\"\n"), scheme);
        let unnamed = bake("", scheme);
        assert!(unnamed == named(own), "{scheme} does not use {own} by default");
        assert!(unnamed != named(other), "{scheme} ignores {other}");
        assert!(unnamed == bake(joint, scheme), "{scheme}: a joint that names no operator gets another");
    }
}

#[test]
fn an_option_that_no_method_uses_is_refused() {
    let folder = folder();
    let bake = ["bake", "sample:arm?resolution=2000", "-o", "out.pc2", "--frames", "0-0", "--no-mesh"];
    let cases: [(&[&str], &str); 7] = [
        (&["--method", "muscles", "--tracking", "2014", "--start", "cor"], "no fixed centres of rotation"),
        (&["--method", "lbs", "--tracking", "2012"], "does not track"),
        (&["--method", "dqs", "--coherent"], "does not go on from the frame before"),
        (&["--tracking", "2012", "--coherent"], "does not go on from the frame before"),
        (&["--method", "implicit", "--still-muscles"], "has no muscles"),
        (&["--method", "muscles", "--no-muscles"], "contradicts"),
        (&["--method", "cor", "--tracking", "robust"], "does not track"),
    ];
    for (more, reason) in cases {
        let output = ecorche(&[&bake[..], more].concat(), folder.path());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(text(&output.stderr).contains(reason), "{more:?}: {}", text(&output.stderr));
    }
    assert!(!folder.path().join("out.pc2").exists());
    let job = ["job", "sample:arm?resolution=2000", "-o", "job", "--tracking", "2014", "--start", "cor"];
    let output = ecorche(&job, folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no fixed centres of rotation"), "{}", text(&output.stderr));
    assert!(!folder.path().join("job").exists());
}

#[test]
fn all_clips_go_to_files_named_after_them() {
    let folder = folder();
    let arguments =
        ["bake", "sample:cylinder", "-o", "out.pc2", "--clip", "all", "--fps", "5", "--no-mesh", "-q"];
    let output = ecorche(&arguments, folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).lines().count() >= 2);
    assert!(text(&output.stdout).contains("out.bend.pc2"));
    assert!(output.stderr.is_empty());
}

#[test]
fn mistakes_get_exit_code_two_and_a_message_that_helps() {
    let folder = folder();
    std::fs::write(folder.path().join("broken.glb"), b"glTF but not really").unwrap();
    let cases: [(&[&str], &str); 18] = [
        (&["info", "missing.glb"], "missing.glb"),
        (&["info", "notes.txt"], ".glb"),
        (&["info", "broken.glb"], "broken.glb"),
        (&["info", "sample:nobody"], "athlete"),
        (&["bake", "sample:cylinder", "-o", "out.max"], ".usda"),
        (&["bake", "sample:cylinder", "-o", "out.pc2", "--velocities"], "bake to .abc"),
        (&["job", "sample:arm", "-o", "job", "--clip", "all"], "choose one clip by name"),
        (&["states", "sample:arm", "-o", "states", "--before", "9999"], "choose among those"),
        (&["bake", "sample:cylinder", "-o", "nowhere/out.pc2"], "nowhere/out.pc2"),
        (&["bake", "sample:cylinder", "-o", "out.pc2", "--clip", "dance"], "bend"),
        (&["bake", "sample:cylinder", "-o", "out.pc2", "--frames", "0-99999"], "99999"),
        (&["measure", "sample:cylinder", "--fail-above", "beauty=1"], "pairs"),
        (&["bake", "sample:cylinder", "-o", "out.pc2", "--method", "melt"], "implicit"),
        (&["bake", "sample:cylinder", "-o", "out.pc2", "--tracking", "2013"], "robust, 2012, 2014"),
        (
            &["render", "sample:cylinder", "-o", "out.png", "--method", "dqs", "--show", "contact"],
            "implicit or muscles",
        ),
        (&["field", "sample:cylinder", "-o", "out.jpg"], ".png or .obj"),
        (&["field", "sample:cylinder", "-o", "out.png", "--bone", "tail"], "has no field"),
        (&["field", "sample:cylinder", "-o", "out.png", "--slice", "z=tail"], "--joints"),
    ];
    for (arguments, remedy) in cases {
        let output = ecorche(arguments, folder.path());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        let message = text(&output.stderr);
        assert!(message.contains(remedy), "{arguments:?}: {message}");
        assert!(!message.contains("panicked"), "{message}");
    }
    let left = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name != "cache").collect();
    assert_eq!(left, ["broken.glb"], "something was left behind");
}

#[test]
fn a_passed_limit_is_exit_code_one() {
    let folder = folder();
    let measure = |limit: &str| {
        let arguments =
            ["measure", "sample:cylinder", "--methods", "lbs", "--fps", "4", "--fail-above", limit];
        ecorche(&arguments, folder.path())
    };
    assert_eq!(measure("stretch_max=1000").status.code(), Some(0));
    let failed = measure("stretch_max=1.01");
    assert_eq!(failed.status.code(), Some(1));
    assert!(text(&failed.stderr).contains("stretch_max"));
    assert!(text(&failed.stdout).contains("pairs"), "the table is printed all the same");
}

#[test]
fn a_reference_is_measured_against_and_must_have_the_same_frames() {
    let folder = folder();
    let run = |arguments: &str| ecorche(&arguments.split(' ').collect::<Vec<_>>(), folder.path());
    let baked = run("bake sample:cylinder --clip bend --fps 4 --method dqs -o ref.pc2");
    assert_eq!(baked.status.code(), Some(0), "{}", text(&baked.stderr));
    let measured = run(
        "measure sample:cylinder --clip bend --fps 4 --methods lbs,dqs --against ref.pc2 --json out.json",
    );
    assert_eq!(measured.status.code(), Some(0), "{}", text(&measured.stderr));
    let table = text(&measured.stdout);
    assert!(table.contains("against_mean (mm)") && table.contains("by bone"), "{table}");
    let json = std::fs::read(folder.path().join("out.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let worst = |method: &str| {
        let frames = json["bend"][method]["frames"].as_array().unwrap().iter();
        frames.map(|f| f["against"]["worst"].as_f64().unwrap()).fold(0.0, f64::max)
    };
    assert!(worst("dqs") < 1e-3, "the method that made the reference: {} mm", worst("dqs"));
    assert!(worst("lbs") > 1.0, "{} mm", worst("lbs"));
    for (arguments, remedy) in [
        (
            "measure sample:cylinder --clip bend --fps 8 --methods lbs --against ref.pc2",
            "make it again for these",
        ),
        ("measure sample:cylinder --clip all --fps 4 --methods lbs --against ref.pc2", "--clip"),
        (
            "measure sample:cylinder?rings=20 --clip bend --fps 4 --methods lbs --against ref.pc2",
            "this very character",
        ),
        ("measure sample:cylinder --clip bend --fps 4 --methods lbs --against out.json", ".pc2"),
    ] {
        let refused = run(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments}");
        assert!(text(&refused.stderr).contains(remedy), "{arguments}: {}", text(&refused.stderr));
    }
}

#[test]
fn the_mesh_of_a_cache_does_not_depend_on_the_method() {
    let folder = folder();
    let rest = |method: &str| {
        let out = format!("{method}.pc2");
        let bake = ["bake", "sample:arm", "-o", &out, "--frames", "0", "--method", method, "-q"];
        let output = ecorche(&bake, folder.path());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        std::fs::read(folder.path().join(format!("{method}.rest.obj"))).unwrap()
    };
    let linear = rest("lbs");
    for method in ["dqs", "cor", "implicit", "muscles"] {
        assert!(rest(method) == linear, "{method}");
    }
}

#[test]
fn pieces_join_to_the_bake_made_at_once() {
    let folder = folder();
    let bake = |out: &str, frames: &str| {
        ecorche(&["bake", "sample:cylinder", "-o", out, "--frames", frames, "--no-mesh", "-q"], folder.path())
    };
    bake("whole.pc2", "0-9");
    bake("a.pc2", "0-4");
    bake("b.pc2", "5-9");
    assert_eq!(
        ecorche(&["join", "b.pc2", "a.pc2", "-o", "joined.pc2"], folder.path()).status.code(),
        Some(0)
    );
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("joined.pc2"), read("whole.pc2"));
}

#[test]
fn a_bake_in_pieces_goes_on_from_its_state_with_the_same_bits() {
    let folder = folder();
    let bake = |out: &str, frames: &str, more: &[&str]| {
        let fixed =
            ["bake", "sample:arm?resolution=2000", "--fps", "12", "--no-mesh", "-o", out, "--frames", frames];
        ecorche(&[&fixed, more].concat(), folder.path())
    };
    let shake = |out: &str, frames: &str, more: &[&str]| {
        let output = bake(out, frames, &[&["--clip", "shake"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    };
    shake("whole.pc2", "0-9", &[]);
    for (out, frames) in [("a.pc2", "0-3"), ("b.pc2", "4-6"), ("c.pc2", "7-9")] {
        shake(out, frames, &["--state", "arm.state"]);
    }
    ecorche(&["join", "a.pc2", "b.pc2", "c.pc2", "-o", "joined.pc2"], folder.path());
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(read("joined.pc2") == read("whole.pc2"));
    let kept = read("arm.state");
    let refused: [(&[&str], &str); 4] = [
        (&["--clip", "curl"], "another recipe"),
        (&["--clip", "shake", "--still-muscles"], "another recipe"),
        (&["--clip", "shake"], "frame 10"),
        (&["--clip", "all"], "--clip"),
    ];
    for (more, said) in refused {
        let output = bake("never.pc2", "5-6", &[more, &["--state", "arm.state"]].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(text(&output.stderr).contains(said), "{more:?}: {}", text(&output.stderr));
        assert!(!folder.path().join("never.pc2").exists());
    }
    let other = "bake sample:cylinder -o never.pc2 --clip bend --frames 11 --state arm.state";
    let output = ecorche(&other.split(' ').collect::<Vec<_>>(), folder.path());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(read("arm.state") == kept, "a bake that fails leaves the state as it was");
}

#[test]
fn render_draws_a_png_and_a_comparison() {
    let folder = folder();
    let arguments = "render sample:cylinder -o out.png --clip bend --frames 0-9 --panels 2 --compare lbs,dqs \
                     --size 80x80 --show stretch --wire";
    let output = ecorche(&arguments.split_whitespace().collect::<Vec<_>>(), folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let tracked =
        "render sample:cylinder -o state.png --clip bend --frame 20 --show vertex-state --size 80x80";
    let output = ecorche(&tracked.split_whitespace().collect::<Vec<_>>(), folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(&std::fs::read(folder.path().join("out.png")).unwrap()[1..4], b"PNG");
}

#[test]
fn demo_leaves_caches_pictures_and_measurements_in_one_folder() {
    let folder = folder();
    let output = ecorche(&["demo", "--sample", "cylinder", "-o", "demo"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for file in
        ["bend.pc2", "twist.pc2", "rest.obj", "methods.png", "measure.txt", "measure.json", "pairs.png"]
    {
        assert!(folder.path().join("demo").join(file).exists(), "{file}");
    }
}

#[test]
fn fields_are_drawn_and_written_as_a_mesh() {
    let folder = folder();
    for arguments in [
        "field sample:cylinder -o out.png --size 80x80 --cells 24",
        "field sample:cylinder -o samples.png --samples --size 80x80",
        "field sample:cylinder -o slice.png --clip bend --frames 0-20 --panels 2 --slice z --size 80x80",
        "field sample:cylinder -o field.obj --cells 24 --operator union",
    ] {
        let output = ecorche(&arguments.split_whitespace().collect::<Vec<_>>(), folder.path());
        assert_eq!(output.status.code(), Some(0), "{arguments}: {}", text(&output.stderr));
        let written = text(&output.stdout).lines().next().unwrap().to_owned();
        assert!(folder.path().join(&written).exists(), "{written}");
    }
    let mesh = std::fs::read_to_string(folder.path().join("field.obj")).unwrap();
    assert!(mesh.lines().any(|l| l.starts_with("f ")));
}

#[test]
fn the_benchmark_has_every_table_and_finite_numbers() {
    let folder = folder();
    let arguments =
        ["bench", "--quick", "--threads", "1,2", "--json", "bench.json", "--plots", "plots", "-q"];
    let output = ecorche(&arguments, folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let bytes = std::fs::read(folder.path().join("bench.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let listed = text(&ecorche(&["bench", "--list"], folder.path()).stdout);
    for name in listed.lines().map(|line| line.split_whitespace().next().unwrap()) {
        let rows = json["tables"][name]["rows"].as_array().unwrap_or_else(|| panic!("no table {name}"));
        assert!(!rows.is_empty(), "{name}");
        let numbers =
            rows.iter().flat_map(|row| row.as_object().unwrap().values()).filter_map(|v| v.as_f64());
        assert!(numbers.clone().count() > 0 && numbers.clone().all(|n| n.is_finite() && n >= 0.0), "{name}");
        assert!(text(&output.stdout).contains(&format!("{name}: ")), "{name}");
    }
    assert!(folder.path().join("plots/vertices.png").exists());
    let unknown = ecorche(&["bench", "--table", "vaillant-9"], folder.path());
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("vaillant-2"));
}

#[test]
fn operators_are_drawn_and_unknown_ones_list_the_known() {
    let folder = folder();
    assert_eq!(ecorche(&["operator", "contact"], folder.path()).status.code(), Some(0));
    assert!(folder.path().join("contact.png").exists());
    let unknown = ecorche(&["operator", "glue"], folder.path());
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("clean-union"));
}

/// An ellipse 99 pixels long, as PNG.
fn drawn_muscle() -> Vec<u8> {
    let ink = |i: usize| {
        let (x, y) = ((i % 120) as f32 - 60.0, (i / 120) as f32 - 60.0);
        if (x / 15.0).powi(2) + (y / 50.0).powi(2) < 1.0 { [20; 3] } else { [250; 3] }
    };
    let mut png = Vec::new();
    Picture::from_pixels(120, 120, (0..120 * 120).map(ink).collect()).encode_png(&mut png).unwrap();
    png
}

#[test]
fn a_drawing_becomes_the_lines_of_a_muscle_and_a_picture() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("biceps.png"), drawn_muscle()).unwrap();
    let output = ecorche(&["profile", "biceps.png", "--length", "0.2"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("99.0 pixels") && path("biceps_fit.png").exists());
    let lines = std::fs::read_to_string(path("biceps.toml")).unwrap();
    // The beta profile is 120.6 pixels long and its mean radius 11.13: 0.0923 of 0.2 m.
    assert!(
        lines.contains("\nwidth = 0.0185")
            && lines.contains("\nprofile = { rest = [2, 2], active = [3, 3] }"),
        "{lines}"
    );
    let output = ecorche(&["profile", "biceps.png"], folder.path());
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("biceps.toml: exists"));
    std::fs::write(path("words.png"), "words").unwrap();
    let output = ecorche(&["profile", "words.png", "-o", "out.toml"], folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("words.png: is not a PNG"), "{}", text(&output.stderr));
    assert!(!path("out.toml").exists() && !path("out_fit.png").exists());
    let output = ecorche(&["profile", "biceps.png", "-o", "biceps.png"], folder.path());
    assert_eq!(output.status.code(), Some(2), "overwrites no input");
}

#[test]
fn muscles_go_from_one_body_to_another() {
    let folder = folder();
    done(&["init", "sample:athlete?resolution=5000", "-o", "a.toml", "-q"], folder.path());
    let go = |to: &str, out: &str| {
        ecorche(&["transfer", "a.toml", "sample:athlete?resolution=5000", to, "-o", out], folder.path())
    };
    let output = go("sample:athlete?resolution=8000", "b.toml");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("placed 50 of 50 muscles"), "{}", text(&output.stderr));
    let fits = ecorche(&["info", "sample:athlete?resolution=8000", "--anatomy", "b.toml"], folder.path());
    assert!(text(&fits.stdout).contains("b.toml fits"), "{}", text(&fits.stdout));
    let output = go("sample:cylinder", "c.toml");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("human") && !folder.path().join("c.toml").exists());
}

#[test]
fn a_tissue_simulation_resumes_to_the_same_frames() {
    let folder = folder();
    let scene = concat!(env!("CARGO_MANIFEST_DIR"), "/../ecorche/examples/scenes/arm.toml");
    let run = |out: &str, more: &[&str]| {
        let output = ecorche(&[&["tissue", scene, "-o", out, "-q"], more].concat(), folder.path());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    };
    run("whole", &["--until", "2"]);
    run("pieces", &["--until", "1", "--checkpoint", "1"]);
    run("pieces", &["--until", "2", "--resume"]);
    let read = |out: &str| std::fs::read(folder.path().join(out).join("biceps.pc2")).unwrap();
    assert!(read("whole") == read("pieces"));
}

#[test]
fn the_cached_centres_give_the_same_bake() {
    let folder = folder();
    let bake = |out: &str| {
        ecorche(
            &["bake", "sample:cylinder", "-o", out, "--method", "cor", "--frames", "5", "--no-mesh"],
            folder.path(),
        )
    };
    bake("cold.pc2");
    assert!(std::fs::read_dir(folder.path().join("cache")).unwrap().count() > 0);
    bake("cached.pc2");
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("cold.pc2"), read("cached.pc2"));
}

#[test]
fn manual_pages_and_completions_come_from_the_same_definitions() {
    let folder = folder();
    assert_eq!(ecorche(&["man", "pages"], folder.path()).status.code(), Some(0));
    assert!(folder.path().join("pages/ecorche-bake.1").exists());
    assert!(text(&ecorche(&["completions", "bash"], folder.path()).stdout).contains("--motion"));
    let help = text(&ecorche(&["help", "bake"], folder.path()).stdout);
    assert!(help.contains("Examples:") && help.contains("--frames"));
}

/// A pipe that nobody reads.
fn closed_pipe() -> std::process::Stdio {
    std::io::pipe().unwrap().1.into()
}

/// One run of every command that prints, in the order of the help.
const EVERY_COMMAND: [&str; 21] = [
    "demo --sample cylinder?segments=8&rings=8 -o demo",
    "info sample:cylinder",
    "init sample:arm?resolution=2000 -o anatomy.toml --force",
    "transfer anatomy.toml sample:arm?resolution=2000 sample:arm?resolution=2000 -o moved.toml --force",
    "bake sample:cylinder -o out.pc2 --clip all --fps 2 --method lbs",
    "render sample:cylinder -o out.png --size 40x40 --method lbs",
    "measure sample:cylinder --methods lbs --fps 2 --json out.json",
    "bench --list",
    "crowd crowd.toml",
    "samples",
    "field sample:cylinder -o field.png --size 40x40 --path 5 --clip bend --frame 3",
    "operator union",
    "profile sketch.png --force",
    "join out.bend.pc2 -o joined.pc2 --unchecked",
    "states sample:cylinder --clip bend --fps 2 --before 0,1 --method lbs -o states",
    "job sample:cylinder --clip bend --fps 2 --chunks 2 --method lbs -o job",
    "tissue SCENE -o tissue --until 0",
    "reference sample:cylinder?segments=8&rings=8 -o reference.pc2 --frames 0-0 --fps 2 --edge 0.05",
    "hero sample:arm?resolution=2000 --anatomy anatomy.toml --region leftLowerArm -o hero.pc2 --frames 0-0 --fps 2 --tetrahedra 1500",
    "man pages",
    "completions bash",
];

#[test]
fn a_reader_who_leaves_ends_no_command_and_loses_no_file() {
    let folder = folder();
    let help = text(&ecorche(&["--help"], folder.path()).stdout);
    let (_, listed) = help.split_once("Commands:\n").unwrap();
    let listed =
        listed.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    // The studio serves until it is interrupted; its address is printed in the same way. Maps of wrinkles need texture coordinates,
    // which no sample has.
    let listed: Vec<&str> = listed.filter(|name| !["studio", "wrinkles", "help"].contains(name)).collect();
    let names: Vec<&str> = EVERY_COMMAND.iter().filter_map(|c| c.split(' ').next()).collect();
    assert_eq!(names, listed);
    std::fs::write(folder.path().join("sketch.png"), drawn_muscle()).unwrap();
    let crowd = "frames = [0, 1]\n[[character]]\nname = \"tube\"\nfile = \"sample:cylinder\"\nmethod = \"lbs\"\n[[instance]]\ncharacter = \"tube\"\n";
    std::fs::write(folder.path().join("crowd.toml"), crowd).unwrap();
    let scene = concat!(env!("CARGO_MANIFEST_DIR"), "/../ecorche/examples/scenes/arm.toml");
    for line in EVERY_COMMAND {
        let run = |out: std::process::Stdio, err: std::process::Stdio| {
            let output = Command::new(env!("CARGO_BIN_EXE_ecorche"))
                .args(line.split(' ').map(|word| if word == "SCENE" { scene } else { word }))
                .current_dir(folder.path())
                .env("ECORCHE_CACHE", folder.path().join("cache"))
                .stdout(out)
                .stderr(err)
                .spawn()
                .unwrap()
                .wait_with_output()
                .unwrap();
            (output.status.code(), text(&output.stderr))
        };
        use std::process::Stdio;
        let (code, said) = run(closed_pipe(), Stdio::piped());
        assert!(code == Some(0) && !said.contains("error"), "{line}: {code:?}: {said}");
        let (code, _) = run(Stdio::null(), closed_pipe());
        assert_eq!(code, Some(0), "{line} with a closed standard error");
        #[cfg(target_os = "linux")]
        if line != "man pages" {
            let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
            let (code, said) = run(full.into(), Stdio::piped());
            assert!(
                code == Some(2) && said.contains("standard output: No space"),
                "{line}: {code:?}: {said}"
            );
        }
    }
    for made in ["out.bend.pc2", "out.twist.pc2", "out.rest.obj", "out.json", "demo/pairs.png", "joined.pc2"]
    {
        assert!(folder.path().join(made).exists(), "{made}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_bake_leaves_nothing_behind() {
    let folder = folder();
    let mut child = Command::new(env!("CARGO_BIN_EXE_ecorche"))
        .args(["bake", "sample:arm", "-o", "out.pc2", "--fps", "20000", "--no-mesh"])
        .current_dir(folder.path())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // Wait for the temporary file: the bake is then under way.
    while std::fs::read_dir(folder.path()).unwrap().count() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "ended before it could be interrupted");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn the_studio_takes_its_token_from_the_environment_and_ends_well_when_interrupted() {
    use std::io::BufRead;
    let folder = folder();
    let mut child = Command::new(env!("CARGO_BIN_EXE_ecorche"))
        .args(["studio", "sample:cylinder", "--no-open", "--no-cache", "-q"])
        .current_dir(folder.path())
        .env("ECORCHE_STUDIO_TOKEN", "0123456789abcdef")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
    if address.is_empty() {
        // Built on a machine without Node.
        assert_eq!(child.wait().unwrap().code(), Some(2));
        return;
    }
    assert!(address.trim().ends_with("/0123456789abcdef/"), "{address}");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

//! The file as a whole: round trips, messages, edits.

use super::*;
use crate::character::{Joint, Skeleton};
use crate::math::Transform;
use crate::muscle::definition::{
    ActivationDef, ActivationSource, Attachment, CollideDef, CubicDef, FatDef, Footprint, KeysDef, MuscleDef,
    Parameter, ProfileDef, ProfilesDef, Side, SinesDef,
};
use crate::muscle::parametric::ParametricDef;
use glam::Vec3;

const FILE: &str = r#"# an arm
version = 1

[skin]
operator = "contact"   # everywhere
gap = 0.02

# the elbow differs
[skin.joint."LeftForeArm"]
operator = "bulge"
controller = { points = [[0.7, 0.0], [0.8, 0.0], [1.57, 1.0]], opening = "amount" }

# flexes
[[muscle]]
name = "biceps brachii" # two heads
side = "left"
mirror = true
origin = { bone = "LeftShoulder", at = [0.02, 0.11, 0.01] }
insertion = { bone = "LeftForeArm", at = [0.00, 0.05, 0.01] }
width = 0.021

# extends
[[muscle]]
name = "triceps brachii"
side = "left"
origin = [{ bone = "LeftArm", at = [0, 0, 0] }, { bone = "LeftArm", at = [0, 0.02, 0] }]
insertion = { bone = "LeftForeArm", at = [0.0, -0.02, 0.0] }
fibres = 3
width = 0.025

[[fat]]
name = "belly"
bone = "LeftArm"
at = [0.0, 0.05, 0.09]
radii = [0.11, 0.08, 0.07]

[[keys]]
clip = "curl"
muscle = "biceps brachii"
side = "right"
parameter = "activation"
values = [[0.0, 0.2], [0.5, 1.0]]
# the end
"#;

fn parse(text: &str) -> AnatomyFile {
    AnatomyFile::parse("a.toml", text.to_owned()).unwrap()
}

fn skeleton() -> Skeleton {
    let mut skeleton = Skeleton::default();
    let mut add = |name: &str, parent: Option<usize>, x: f32| {
        let rest = Transform { translation: Vec3::new(x, 0.0, 0.0), ..Transform::IDENTITY };
        skeleton.joints.push(Joint { name: name.to_owned(), parent, rest, in_skin: true });
    };
    add("Chest", None, 0.0);
    add("Jaw", Some(0), 0.1);
    for (side, sign, first) in [("Left", 1.0, 2), ("Right", -1.0, 6)] {
        add(&format!("{side}Shoulder"), Some(0), 0.1 * sign);
        add(&format!("{side}Arm"), Some(first), 0.1 * sign);
        add(&format!("{side}ForeArm"), Some(first + 1), 0.3 * sign);
        add(&format!("{side}Hand"), Some(first + 2), 0.25 * sign);
    }
    skeleton
}

#[test]
fn a_file_says_what_it_says_and_keeps_its_text() {
    let file = parse(FILE);
    assert_eq!(file.text(), FILE);
    let Anatomy { skin, body, .. } = file.anatomy();
    assert_eq!(skin.at("LeftForeArm").0, Some("bulge"));
    assert_eq!(skin.at("RightForeArm").0, Some("contact"));
    assert_eq!(body.muscle.len(), 2);
    assert_eq!(body.muscle[1].origin.0.len(), 2);
    assert_eq!(body.fat[0].radii.y, 0.08);
    assert_eq!(body.keys[0].values, [[0.0, 0.2], [0.5, 1.0]]);
    assert_eq!(file.check(&skeleton()), Ok(()));
}

#[test]
fn every_field_of_a_muscle_and_a_fat_pad_is_written_and_read() {
    let point = |bone: &str, x: f32| Attachment { bone: bone.to_owned(), at: Vec3::new(x, 0.1, 1.0 / 3.0) };
    let muscle = MuscleDef {
        mirror: true,
        via: vec![point("b \"quoted\"", 0.3)],
        fibres: 3,
        particles: 30,
        eccentricity: 0.5,
        wide_axis: Some(Vec3::X),
        profile: ProfilesDef {
            rest: ProfileDef::Cubic(CubicDef { peak: 0.4 }),
            active: ProfileDef::Sines(SinesDef { sines: vec![1.0, 0.1] }),
        },
        activation: ActivationDef {
            from: ActivationSource::Shortening,
            gain: 1.5,
            base: 0.1,
            full_shortening: 0.3,
            full_angle: 1.5,
            curve: vec![[0.0, 0.0], [0.5, 0.8]],
        },
        gain: 1.1,
        tone: 5.0,
        strength: 10.0,
        tendon: 0.2,
        stiffness: 300.0,
        damping: 9.0,
        friction: 0.1,
        collide: CollideDef { bones: false, muscles: true, skin: false },
        parts: vec!["c".to_owned()],
        ..MuscleDef::new(
            "m. quädriceps",
            Side::Left,
            Footprint(vec![point("a", 0.1), point("a", 0.2)]),
            point("b", 0.7).into(),
            0.0123,
        )
    };
    let fat = FatDef {
        mirror: true,
        axes: Some([Vec3::Y, Vec3::Z]),
        stiffness: 400.0,
        damping: 3.0,
        parts: vec!["d".to_owned()],
        ..FatDef::new("pad", Side::Right, "a", Vec3::X, Vec3::splat(0.1))
    };
    let file = parse(&format!("version = 1\n{}{}", write::muscle(&muscle), write::fat(&fat)));
    assert_eq!(file.anatomy().body.muscle, [muscle]);
    assert_eq!(file.anatomy().body.fat, [fat]);
}

/// The text, changed, must be refused with `line: ... words`.
fn refused(from: &str, to: &str, line: usize, words: &[&str]) {
    assert!(FILE.contains(from), "{from}");
    let text = FILE.replacen(from, to, 1);
    let error = match AnatomyFile::parse("a.toml", text) {
        Err(error) => error,
        Ok(file) => file.check(&skeleton()).expect_err(to),
    };
    let message = error.to_string();
    assert_eq!(error.problems[0].line, line, "{message}");
    assert!(message.starts_with(&format!("a.toml:{line}:")), "{message}");
    for word in words {
        assert!(message.contains(word), "{message} lacks {word}");
    }
}

#[test]
fn every_mistake_is_told_with_its_line_its_name_and_a_remedy() {
    refused("width = 0.021", "widht = 0.021", 14, &["muscle \"biceps brachii\"", "has no width"]);
    refused(
        "width = 0.021",
        "widht = 0.021",
        14,
        &[":20:1:", "unknown key \"widht\"; did you mean \"width\"?"],
    );
    refused("width = 0.021", "width = 0", 20, &["\"biceps brachii\" width: 0 must be above zero"]);
    refused("width = 0.021", "width = \"wide\"", 20, &["must be a number, not string"]);
    refused("operator = \"contact\"", "operator = \"contcat\"", 5, &["did you mean \"contact\"", "union"]);
    refused("opening = \"amount\"", "opening = \"much\"", 11, &["theta, amount"]);
    refused("[0.7, 0.0]", "[0.9, 0.0]", 11, &["skin.joint.LeftForeArm.controller", "sort them"]);
    refused("controller = {", "controller = 3 # {", 11, &["controller"]);
    refused(
        "\"triceps brachii\"",
        "\"biceps brachii\"",
        24,
        &["a second muscle \"biceps brachii\" of the left"],
    );
    refused(
        "bone = \"LeftShoulder\"",
        "bone = \"LeftShouldr\"",
        18,
        &["no joint", "did you mean \"LeftShoulder\""],
    );
    refused("\"LeftForeArm\"]", "\"LeftFoearm\"]", 9, &["no joint \"LeftFoearm\"", "LeftForeArm"]);
    refused("[0.02, 0.11, 0.01]", "[20, 11, 1]", 14, &["m long, the bones it spans", "metres"]);
    refused("version = 1", "version = 9", 2, &["version: 9 is not known"]);
    refused("version = 1\n", "\n", 1, &["has no version; write version = 1"]);
    refused("[[fat]]", "[fat]", 31, &["[[fat]] above each"]);
    refused("fibres = 3", "fibres = 0", 28, &["from 1 to 50"]);
    refused("side = \"right\"", "side = \"middle\"", 39, &["no muscle \"biceps brachii\" of side"]);
    refused("mirror = true", "mirror = maybe", 17, &["not TOML"]);
    refused("[0.5, 1.0]", "[0.0, 1.0]", 42, &["must rise"]);
    refused("[0.5, 1.0]", "[0.5, 2.0]", 42, &["2 at 0.5 s must be from 0 to 1"]);
    refused("side = \"left\"\nmirror", "mirror", 16, &["needs a side"]);
}

#[test]
fn all_problems_of_a_file_are_told_at_once() {
    let text = FILE.replace("width = ", "width = -").replace("grid", "gird").replace("operator", "oprator");
    let error = AnatomyFile::parse("a.toml", text).unwrap_err();
    assert_eq!(error.problems.len(), 4, "{error}");
    assert!(error.problems.is_sorted_by_key(|p| p.line));
}

#[test]
fn an_anatomy_of_another_character_is_told_in_one_line() {
    let athlete = crate::samples::build("athlete?resolution=5000").unwrap();
    let preset = super::preset::place(&athlete);
    let file = AnatomyFile::parse("athlete.toml", super::init::write(&athlete, &preset)).unwrap();
    assert_eq!(file.check(&athlete.skeleton), Ok(()));
    let said = file.check(&skeleton()).unwrap_err().to_string();
    assert_eq!(said.lines().count(), 1, "{said}");
    for words in ["athlete.toml", "another character", "3 of the 13 ", "joints it names match", "transfer"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

fn biceps() -> Target {
    Target::Entry(Kind::Muscle, "biceps brachii".to_owned(), Side::Left)
}

fn set(target: Target, field: &str, value: impl Into<Value>) -> Edit {
    Edit::Set { target, field: field.to_owned(), value: value.into() }
}

fn edits() -> Vec<Edit> {
    let elbow = || Target::Joint("LeftForeArm".to_owned());
    let new = parse(FILE).anatomy().body.muscle[0].clone();
    let calf = |side: Side| Target::Entry(Kind::Parametric, "calf".to_owned(), side);
    let parametric = ParametricDef {
        name: "calf".to_owned(),
        side: Side::Left,
        origin: new.origin.0[0].clone(),
        insertion: new.insertion.0[0].clone(),
        bulge: Vec3::Z,
        thickness: [0.004, 0.01, 0.02, 0.02, 0.01, 0.004],
        ..ParametricDef::default()
    };
    vec![
        set(biceps(), "width", 0.5f32),
        set(biceps(), "eccentricity", 0.25f32),
        set(biceps(), "origin.at", Vec3::new(0.1, 0.2, 0.3)),
        set(biceps(), "collide.bones", false),
        set(biceps(), "activation.gain", 2.0f32),
        Edit::Clear { target: biceps(), field: "eccentricity".to_owned() },
        set(Target::Skin, "tracking", "2012"),
        set(Target::Skin, "operator", "union"),
        set(elbow(), "operator", "ricci"),
        set(elbow(), "controller", "elbow"),
        Edit::Clear { target: elbow(), field: "controller".to_owned() },
        set(Target::Joint("Right Arm.x".to_owned()), "operator", "blend"),
        Edit::AddMuscle(Box::new(MuscleDef { name: "brachialis".to_owned(), ..new })),
        Edit::Duplicate { target: biceps(), name: "biceps \"2\"".to_owned() },
        Edit::Mirror { target: biceps(), linked: false },
        Edit::Remove(biceps()),
        Edit::AddFat(Box::new(FatDef::new("pad", Side::Left, "LeftArm", Vec3::ZERO, Vec3::ONE))),
        set(Target::Entry(Kind::Fat, "pad".to_owned(), Side::Left), "damping", 3.0f32),
        Edit::Remove(Target::Entry(Kind::Fat, "belly".to_owned(), Side::Middle)),
        set(Target::Keys(0), "muscle", "triceps brachii"),
        Edit::Remove(Target::Keys(0)),
        Edit::Remove(elbow()),
        Edit::AddParametric(Box::new(parametric)),
        set(calf(Side::Left), "centre", 0.4f32),
        Edit::Mirror { target: calf(Side::Left), linked: true },
        Edit::Remove(calf(Side::Right)),
    ]
}

#[test]
fn edits_do_what_they_say_and_keep_comments() {
    let mut file = parse(FILE);
    let mut apply = |edit: &Edit| {
        file.apply(edit).unwrap();
        file.clone()
    };
    let all = edits();
    assert_eq!(apply(&all[0]).anatomy().body.muscle[0].width, 0.5);
    assert_eq!(apply(&all[1]).anatomy().body.muscle[0].eccentricity, 0.25);
    assert_eq!(apply(&all[2]).anatomy().body.muscle[0].origin.0[0].at, Vec3::new(0.1, 0.2, 0.3));
    assert!(!apply(&all[3]).anatomy().body.muscle[0].collide.bones);
    assert_eq!(apply(&all[4]).anatomy().body.muscle[0].activation.gain, 2.0);
    assert_eq!(apply(&all[5]).anatomy().body.muscle[0].eccentricity, 0.0);
    assert_eq!(apply(&all[6]).anatomy().skin.tracking, TrackingDef::Paper2012);
    assert_eq!(apply(&all[7]).anatomy().skin.operator.as_deref(), Some("union"));
    assert_eq!(apply(&all[8]).anatomy().skin.at("LeftForeArm").0, Some("ricci"));
    let controller = ControllerDef::Preset("elbow".to_owned());
    assert_eq!(apply(&all[9]).anatomy().skin.at("LeftForeArm").1, Some(&controller));
    assert_eq!(apply(&all[10]).anatomy().skin.at("LeftForeArm").1, None);
    assert_eq!(apply(&all[11]).anatomy().skin.at("Right Arm.x").0, Some("blend"));
    let names =
        |file: &AnatomyFile| file.anatomy().body.muscle.iter().map(|m| m.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&apply(&all[12])), ["biceps brachii", "triceps brachii", "brachialis"]);
    assert_eq!(names(&apply(&all[13])), ["biceps brachii", "biceps \"2\"", "triceps brachii", "brachialis"]);
    assert!(!apply(&all[14]).anatomy().body.muscle[0].mirror);
    assert_eq!(names(&apply(&all[15])), ["biceps \"2\"", "triceps brachii", "brachialis"]);
    assert_eq!(apply(&all[16]).anatomy().body.fat.len(), 2);
    assert_eq!(apply(&all[17]).anatomy().body.fat[1].damping, 3.0);
    assert_eq!(apply(&all[18]).anatomy().body.fat[0].name, "pad");
    assert_eq!(apply(&all[19]).anatomy().body.keys[0].muscle, "triceps brachii");
    assert!(apply(&all[20]).anatomy().body.keys.is_empty());
    let last = apply(&all[21]);
    assert!(!last.anatomy().skin.joint.contains_key("LeftForeArm"));
    for comment in ["# an arm", "# everywhere", "# extends", "# two heads"] {
        assert!(last.text().contains(comment), "{}", last.text());
    }
    assert!(!last.text().contains("# the elbow differs"), "a block's comment goes with it");
    let calves = |file: &AnatomyFile| file.anatomy().body.parametric.clone();
    assert_eq!(calves(&apply(&all[22]))[0].thickness[2], 0.02);
    assert_eq!(calves(&apply(&all[23]))[0].centre, 0.4);
    assert!(calves(&apply(&all[24]))[0].mirror);
    assert!(calves(&apply(&all[25])).is_empty(), "found by the side of its mirror image");
}

#[test]
fn undo_gives_back_the_same_bytes_and_redo_the_edits() {
    let mut file = parse(FILE);
    let mut history = History::default();
    let mut texts = vec![file.text().to_owned()];
    for edit in edits() {
        history.apply(&mut file, &edit).unwrap();
        texts.push(file.text().to_owned());
    }
    for text in texts.iter().rev().skip(1) {
        assert_eq!(history.undo(&mut file), Ok(true));
        assert_eq!(file.text(), text);
    }
    assert_eq!(history.undo(&mut file), Ok(false));
    assert_eq!(file, parse(FILE));
    for text in &texts[1..] {
        assert_eq!(history.redo(&mut file), Ok(true));
        assert_eq!(file.text(), text);
    }
}

#[test]
fn an_edit_with_a_wrong_result_is_refused_and_changes_nothing() {
    let mut file = parse(FILE);
    for edit in [
        set(biceps(), "width", -1.0f32),
        set(biceps(), "colour", "red"),
        set(Target::Skin, "operator", "glue"),
        Edit::Duplicate { target: biceps(), name: "triceps brachii".to_owned() },
        Edit::Remove(Target::Entry(Kind::Muscle, "gluteus".to_owned(), Side::Left)),
        Edit::Splice { start: 3, removed: 1_000_000, inserted: String::new() },
    ] {
        assert!(file.apply(&edit).is_err(), "{edit:?}");
        assert_eq!(file, parse(FILE));
    }
}

#[test]
fn edits_travel_as_json() {
    for edit in edits() {
        let text = serde_json::to_string(&edit).unwrap();
        assert_eq!(serde_json::from_str::<Edit>(&text).unwrap(), edit, "{text}");
    }
}

#[test]
fn no_text_makes_it_panic() {
    // Pieces of the file shuffled, cut and changed: near enough to TOML to get far.
    let pieces: Vec<&str> = FILE.split_inclusive(['\n', ' ', ',', '=', '[', ']', '"']).collect();
    let skeleton = skeleton();
    arbtest::arbtest(|u| {
        let mut text = FILE.to_owned();
        for _ in 0..u.int_in_range(1..=6)? {
            let mut at = u.choose_index(text.len().max(1))?;
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let mut end = (at + u.int_in_range(0..=12)?).min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let piece = match u.int_in_range(0..=4)? {
                0 => (*u.choose(&pieces)?).to_owned(),
                1 => u.arbitrary::<char>()?.to_string(),
                2 => u.arbitrary::<f32>()?.to_string(),
                3 => String::new(),
                _ => (*u
                    .choose(&["nan", "inf", "1e999", "{}", "[]", "[[", "]]", "''", "\u{e9}", "-", "."])?)
                .to_owned(),
            };
            text.replace_range(at.min(end)..end, &piece);
        }
        if let Ok(mut file) = AnatomyFile::parse("a.toml", text) {
            let _ = file.check(&skeleton);
            let before = file.text().to_owned();
            for edit in edits() {
                if let Ok(back) = file.apply(&edit) {
                    file.apply(&back).unwrap();
                    assert_eq!(file.text(), before);
                }
            }
        }
        Ok(())
    })
    .budget_ms(700);
}

#[test]
fn keys_are_written_and_read_and_taken_back() {
    let mut file = parse(FILE);
    let keys = KeysDef {
        clip: "curl".to_owned(),
        muscle: "biceps brachii".to_owned(),
        side: Side::Left,
        parameter: Parameter::Eccentricity,
        values: vec![[0.0, 0.25], [1.5, 0.5]],
    };
    let inverse = file.apply(&Edit::AddKeys(Box::new(keys.clone()))).unwrap();
    assert_eq!(file.anatomy().body.keys[1..], [keys]);
    assert_eq!(file.check(&skeleton()), Ok(()));
    file.apply(&inverse).unwrap();
    assert_eq!(file.text(), FILE);
}

#[test]
fn samples_of_a_joint_are_read_and_those_without_a_direction_refused() {
    let with = |samples: &str| {
        AnatomyFile::parse("a.toml", format!("version = 1\n[skin.joint.a]\nsamples = {{ {samples} }}\n"))
    };
    let file = with("add = [[0.1, 0.0, 0.0, 0.0, 2.0, 0.0]], remove = [[1, 2, 3]]").unwrap();
    let samples = &file.anatomy().skin.joint["a"].samples;
    assert_eq!(samples.add, [[0.1, 0.0, 0.0, 0.0, 2.0, 0.0]]);
    assert_eq!(samples.remove, [[1.0, 2.0, 3.0]]);
    let error = with("add = [[0.1, 0.0, 0.0, 0.0, 0.0, 0.0]]").unwrap_err();
    assert!(error.to_string().contains("outward"), "{error}");
}

/// All tables that can be reached from one.
fn tables_of(table: &'static keys::Table, found: &mut Vec<&'static keys::Table>) {
    fn within(kind: &keys::Kind, found: &mut Vec<&'static keys::Table>) {
        match kind {
            keys::Kind::Table(table) | keys::Kind::ByName(table) => tables_of(table, found),
            keys::Kind::List(of, ..) => within(of, found),
            keys::Kind::Either(kinds) => kinds.iter().for_each(|kind| within(kind, found)),
            _ => {}
        }
    }
    if !found.iter().any(|t| t.name == table.name) {
        found.push(table);
        table.keys.iter().for_each(|key| within(&key.kind, found));
    }
}

fn fields(thing: impl serde::Serialize) -> Vec<String> {
    let json = serde_json::to_value(thing).unwrap();
    json.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn the_types_have_the_keys_of_the_tables_and_no_others() {
    let check = |table: &keys::Table, mut fields: Vec<String>| {
        let mut keys: Vec<&str> = table.keys.iter().map(|key| key.name).collect();
        keys.sort();
        fields.sort();
        assert_eq!(keys, fields, "{}", table.name);
    };
    check(&keys::SKIN, fields(SkinDef::default()));
    check(&keys::JOINT, fields(JointDef::default()));
    check(&keys::WRINKLES, fields(WrinkleDef::default()));
    check(&keys::WRINKLED_JOINT, fields(JointWrinkles::default()));
    check(&keys::STROKE, fields(Stroke::default()));
    check(&keys::DAB, fields(Dab::default()));
    check(&keys::THESIS, fields(ThesisDef::default()));
    check(&keys::MUSCLE, fields(MuscleDef::default()));
    check(&keys::PARAMETRIC, fields(crate::muscle::parametric::ParametricDef::default()));
    check(&keys::FAT, fields(FatDef::default()));
    check(&keys::BONE, fields(crate::muscle::definition::BoneDef::default()));
    check(&keys::KEYS, fields(KeysDef::default()));
    let mut all = Vec::new();
    tables_of(&keys::FILE, &mut all);
    for key in all.iter().flat_map(|table| table.keys) {
        assert!(key.about.ends_with('.') && key.about.len() > 5, "{}: {}", key.name, key.about);
        if let (Some(slider), keys::Kind::Number(range)) = (key.slider, key.kind) {
            for end in [slider.low, slider.high] {
                assert_eq!(range.broken_by(end / slider.scale), None, "{} by its slider", key.name);
            }
        }
    }
}

/// One entry of each table with all defaults written out, so that each is known to be allowed; then every choice.
#[test]
fn every_default_and_every_choice_of_the_tables_can_be_read() {
    let entry = |list: &str, required: &str, table: &keys::Table, other: Option<(&str, String)>| {
        let mut text = format!("version = 1\n{list}\n{required}\n");
        for key in table.keys {
            let value = match &other {
                Some((name, value)) if *name == key.name => Some(value.clone()),
                _ => table.default_of(key).map(|value| value.to_string()),
            };
            if let Some(value) = value.filter(|_| !required.contains(&format!("{} = ", key.name))) {
                text.push_str(&format!("{} = {value}\n", key.name));
            }
        }
        AnatomyFile::parse("a.toml", text.clone()).unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    let ends = "name = \"a\"\nwidth = 0.1\norigin = [{ bone = \"a\", at = [0, 0, 0] }, { bone = \"a\", at = [0, 1, 0] }]\n\
                insertion = { bone = \"a\", at = [0, 0, 0] }";
    let pad = "name = \"a\"\nbone = \"a\"\nat = [0, 0, 0]\nradii = [1, 1, 1]";
    let line = "name = \"a\"\nradius = 0.1\nbulge = [1, 0, 0]\nthickness = [0, 0.1, 0.1, 0.1, 0.1, 0]\n\
                origin = { bone = \"a\", at = [0, 0, 0] }\ninsertion = { bone = \"a\", at = [0, 1, 0] }";
    let pairs = "clip = \"a\"\nmuscle = \"a\"\nvalues = [[0, 0.5]]";
    for (list, required, table) in [
        ("[skin]", "", &keys::SKIN),
        ("[skin.joint.a]", "", &keys::JOINT),
        ("[wrinkles]", "", &keys::WRINKLES),
        ("[wrinkles.joint.a]", "", &keys::WRINKLED_JOINT),
        ("[wrinkles.thesis]", "", &keys::THESIS),
        ("[[wrinkles.stroke]]", "points = [[0, 0, 0], [0, 1, 0]]", &keys::STROKE),
        ("[[wrinkles.dab]]", "at = [0, 0, 0]", &keys::DAB),
        ("[[muscle]]", ends, &keys::MUSCLE),
        ("[[parametric]]", line, &keys::PARAMETRIC),
        ("[[fat]]", pad, &keys::FAT),
        ("[[bone]]", "bone = \"a\"", &keys::BONE),
    ] {
        let file = entry(list, required, table, None);
        assert_eq!(file.anatomy().skin.joint.len(), usize::from(list == "[skin.joint.a]"));
        for key in table.keys {
            if let keys::Kind::Choice(choices) = key.kind {
                for choice in choices {
                    entry(list, required, table, Some((key.name, format!("\"{choice}\""))));
                }
            }
        }
    }
    for parameter in ["activation", "gain", "eccentricity", "stiffness"] {
        entry("[[keys]]", pairs, &keys::KEYS, Some(("parameter", format!("\"{parameter}\""))));
    }
}

const OLD: &str = "version = 1
[skin]
leash = 0.3 # far
joining = \"detail\"
[[muscle]]
name = \"a\"
origin = { bone = \"LeftArm\", at = [0, 0, 0] }
insertion = { bone = \"LeftForeArm\", at = [0, 0, 0] }
width = 0.01
broad = [1, 0, 0]
";

#[test]
fn earlier_names_of_keys_are_read_and_an_edit_writes_the_present_one() {
    let mut file = parse(OLD);
    let new =
        parse(&OLD.replace("leash", "max_offset").replace("joining", "blend").replace("broad", "wide_axis"));
    assert_eq!(file.anatomy(), new.anatomy());
    assert_eq!(file.anatomy().skin.max_offset, 0.3);
    assert_eq!(file.anatomy().skin.blend, Grooves::Detail);
    assert_eq!(file.text(), OLD, "reading changes nothing");

    let back = file.apply(&set(Target::Skin, "max_offset", 0.2f32)).unwrap();
    assert!(
        file.text().contains("max_offset = 0.2 # far") && !file.text().contains("leash"),
        "{}",
        file.text()
    );
    assert!(file.text().contains("joining"), "what nobody edits stays as it is written");
    file.apply(&back).unwrap();
    assert_eq!(file.text(), OLD);
    file.apply(&set(Target::Skin, "leash", 0.1f32)).unwrap();
    assert!(file.text().contains("max_offset = 0.1"), "an earlier name in an edit means the present one");
    file.apply(&Edit::Clear { target: Target::Skin, field: "blend".to_owned() }).unwrap();
    assert_eq!(file.anatomy().skin.blend, Grooves::Fillet);
    let muscle = Target::Entry(Kind::Muscle, "a".to_owned(), Side::Middle);
    file.apply(&set(muscle, "wide_axis", Vec3::Y)).unwrap();
    assert_eq!(file.anatomy().body.muscle[0].wide_axis, Some(Vec3::Y));
    assert!(file.text().contains("wide_axis = [0.0, 1.0, 0.0]") && !file.text().contains("broad"));
}

#[test]
fn a_key_under_both_its_names_is_refused() {
    let text = OLD.replace("joining", "max_offset = 0.1\njoining");
    let error = AnatomyFile::parse("a.toml", text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a.toml:3:1: skin.leash: \"leash\" is the earlier name of \"max_offset\", which is there too; remove one"
    );
}

#[test]
fn a_number_out_of_range_is_told_the_range() {
    refused(
        "width = 0.021",
        "width = 0.021\ndamping = 1000000000",
        21,
        &["1000000000 must be from 0 to 10000"],
    );
    refused("width = 0.021", "width = 0.021\ntone = 0", 21, &["0 must be above zero"]);
    refused("width = 0.021", "width = 0.021\nfibres = 51", 21, &["51 must be a whole number from 1 to 50"]);
    refused("width = 0.021", "width = inf", 20, &["inf must be a finite number"]);
    refused("width = 0.021", "width = 0.021\nprofile = { rest = { peek = 0.4 } }", 21, &["peak"]);
}

#[test]
fn pieces_have_roles_and_unknown_names_are_refused_with_line_and_remedy() {
    use crate::pieces::{Layering, PieceDef, RoleDef};
    let text = "version = 1\n[skin]\nlayers = \"one\"\n[[piece]]\nmesh = \"cylinder\"\nindex = 0\nrole = \"worn\"\n\
                on = [\"cylinder\"]\n";
    let file = parse(text);
    let wanted = PieceDef {
        mesh: Some("cylinder".to_owned()),
        index: Some(0),
        role: RoleDef::Worn,
        on: vec!["cylinder".to_owned()],
        ..PieceDef::default()
    };
    assert_eq!(file.anatomy().piece, [wanted]);
    assert_eq!(file.anatomy().skin.layers, Layering::One);
    let character = crate::samples::build("cylinder").unwrap();
    assert_eq!(file.check_pieces(&character), Ok(()));
    for (from, to, line, words) in [
        ("mesh = \"cylinder\"", "mesh = \"cylindr\"", 5, "did you mean \"cylinder\""),
        ("index = 0", "index = 7", 6, "it has 1, counted from 0"),
        ("role = \"worn\"", "role = \"cloth\"", 7, "loose"),
        ("on = [\"cylinder\"]", "apart = [\"Coat\"]", 8, "it has \"cylinder\""),
        ("layers = \"one\"", "layers = \"two\"", 3, "auto"),
        ("mesh = \"cylinder\"\nindex = 0\n", "", 5, "write mesh, material or index"),
    ] {
        let error = match AnatomyFile::parse("a.toml", text.replacen(from, to, 1)) {
            Err(error) => error,
            Ok(file) => file.check_pieces(&character).expect_err(to),
        };
        assert_eq!(error.problems[0].line, line, "{error}");
        assert!(error.to_string().contains(words), "{error} lacks {words}");
    }
}

#[test]
fn wrinkles_are_read_and_their_joints_checked() {
    let file = parse(
        "version = 1\n[wrinkles]\nwavelength = 0.012\njoints = [\"LeftForeArm\"]\n[wrinkles.joint.LeftForeArm]\ngain = 0.5\n",
    );
    let wrinkles = file.anatomy().wrinkles.clone().unwrap();
    assert_eq!((wrinkles.wavelength, wrinkles.joint["LeftForeArm"].gain), (Some(0.012), Some(0.5)));
    assert_eq!(parse("version = 1\n[wrinkles]\n").anatomy().wrinkles, Some(WrinkleDef::default()));
    assert_eq!(parse("version = 1\n").anatomy().wrinkles, None);
    for (text, said) in [
        ("gain = nan", "finite"),
        ("wavelength = 0.0", "must be above 0"),
        ("sharpness = 0.9", "must be from 0 to 0.25"),
        ("amplitude = 1.0", "unknown key"),
    ] {
        let error = AnatomyFile::parse("a.toml", format!("version = 1\n[wrinkles]\n{text}\n")).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

use super::*;
use crate::character::Pose;
use crate::deform::Workspace;
use crate::sampling::{Plan, Sampling};

fn recipe(json: &str) -> Recipe {
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_recipe_reads_back_as_written_and_refuses_what_it_does_not_know() {
    let full = Recipe {
        character: "hero.fbx".to_owned(),
        motion: MotionSource::File("walk.bvh".to_owned()),
        weights: WeightSource::Heat,
        anatomy: AnatomySource::Text { text: "version = 1".to_owned(), folder: "here".into() },
        stack: Some(Stack::muscles()),
        tracking: Some(Tracking::Robust),
        start: Some(Skinning::CentreOfRotation),
        coherent: true,
        muscles: MuscleUse::Still,
        surface: vec![LayerDef::Smooth(Default::default())],
        wrinkles: WrinkleUse::Wavelength(0.01),
        subdivide: 2,
    };
    let text = serde_json::to_string(&full).unwrap();
    assert_eq!(recipe(&text), full);
    assert_eq!(recipe(r#"{"character": "sample:arm"}"#), Recipe::of("sample:arm"));
    for wrong in
        ["{}", r#"{"character": "a", "clip": "b"}"#, r#"{"character": "a", "stack": "melt"}"#, "\"a\""]
    {
        assert!(serde_json::from_str::<Recipe>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_sample_has_its_own_muscles_unless_they_are_left_out_or_others_are_given() {
    let own = Recipe::of("sample:arm?resolution=2000");
    let read = |recipe: &Recipe| recipe.read().unwrap();
    assert!(read(&own).has_muscles());
    assert_eq!(read(&own).settings(None).stack, Stack::muscles());
    let off = Recipe { muscles: MuscleUse::Off, ..own.clone() };
    assert!(!read(&off).has_muscles());
    assert_eq!(read(&off).settings(None).stack, Stack::implicit());
    let papers = Recipe { tracking: Some(Tracking::Scheme2014), ..own.clone() };
    let papers = read(&papers).settings(None).stack;
    assert_eq!(papers, Stack::muscles().with_tracking(Tracking::Scheme2014));
    let anatomy =
        AnatomySource::Text { text: "version = 1\n[skin]\ngap = 0.1\n".to_owned(), folder: ".".into() };
    let given = read(&Recipe { anatomy, ..own });
    assert!(!given.has_muscles());
    assert_eq!(given.settings(None).robust.gap, 0.1);
}

#[test]
fn tracking_starts_where_the_recipe_says_or_else_the_anatomy() {
    let anatomy =
        AnatomySource::Text { text: "version = 1\n[skin]\nstart = \"cor\"\n".to_owned(), folder: ".".into() };
    let given = Recipe { anatomy, ..Recipe::of("sample:cylinder") };
    let start = |recipe: &Recipe, stack: Stack| recipe.read().unwrap().settings(Some(stack)).stack.skinning;
    assert_eq!(start(&Recipe::of("sample:cylinder"), Stack::implicit()), Skinning::DualQuaternion);
    assert_eq!(start(&given, Stack::implicit()), Skinning::CentreOfRotation);
    assert_eq!(start(&given, Stack::linear()), Skinning::Linear, "nothing starts there");
    let other = Stack::implicit().with_start(Skinning::Linear);
    assert_eq!(start(&given, other.clone()), Skinning::Linear, "the stack names another");
    let recipe = Recipe { start: Some(Skinning::DualQuaternion), ..given };
    assert_eq!(start(&recipe, other), Skinning::DualQuaternion);
}

#[test]
fn errors_name_the_file_the_thing_and_the_remedy() {
    let error = |recipe: Recipe| recipe.build(None).unwrap_err().to_string();
    assert!(error(Recipe::of("missing.glb")).contains("missing.glb"));
    assert!(error(Recipe::of("sample:nobody")).contains("athlete"));
    let anatomy = |text: &str| AnatomySource::Text { text: text.to_owned(), folder: ".".into() };
    let typo =
        Recipe { anatomy: anatomy("version = 1\n[skin]\ngapp = 0.1\n"), ..Recipe::of("sample:cylinder") };
    assert!(error(typo).contains("did you mean \"gap\"?"));
    let cylinder = Recipe::of("sample:cylinder").read().unwrap();
    assert!(cylinder.clip("dance").unwrap_err().to_string().contains("bend"));
}

#[test]
fn a_key_changes_with_what_determines_frames_and_with_nothing_else() {
    let read = |json: &str| recipe(json).read().unwrap();
    let sampled = |ingredients: &Ingredients, stack: Stack, clip: &str, fps: f32| {
        let sampling = Sampling { fps: Some(fps), frames: None };
        let plan = Plan::new(ingredients.character.clip(clip), &sampling).unwrap();
        ingredients.key(&ingredients.settings(Some(stack)), &plan)
    };
    let key = |ingredients: &Ingredients, stack: Stack, clip: &str| sampled(ingredients, stack, clip, 24.0);
    let plain = read(r#"{"character": "sample:arm?resolution=2000"}"#);
    let muscles = key(&plain, Stack::muscles(), "curl");
    let again = read(r#"{"character": "sample:arm?resolution=2000", "weights": "file"}"#);
    assert_eq!(muscles, key(&again, Stack::muscles(), "curl"));
    let still = read(r#"{"character": "sample:arm?resolution=2000", "muscles": "still"}"#);
    let finer = read(r#"{"character": "sample:arm?resolution=2500"}"#);
    let mut tense = plain.clone();
    tense.body.muscle[0].tone += 0.01;
    for other in [
        sampled(&plain, Stack::muscles(), "curl", 30.0),
        key(&plain, Stack::implicit(), "curl"),
        key(&plain, Stack::muscles(), "shake"),
        key(&still, Stack::muscles(), "curl"),
        key(&finer, Stack::muscles(), "curl"),
        key(&tense, Stack::muscles(), "curl"),
    ] {
        assert_ne!(muscles, other);
    }
    assert_eq!(
        key(&plain, Stack::linear(), "curl"),
        key(&tense, Stack::linear(), "curl"),
        "not under this skin"
    );
}

#[test]
fn one_character_is_bound_for_several_methods() {
    let ingredients = Recipe::of("sample:cylinder").read().unwrap();
    let rest = Pose::rest(&ingredients.character);
    for method in [Stack::linear(), Stack::implicit()] {
        let body = ingredients.bind(ingredients.settings(Some(method.clone())), None).unwrap();
        assert_eq!(*body.stack(), method);
        assert_eq!(body.deform(&rest, 0.0, &mut Workspace::default()).report.fell_back, 0);
    }
}

#[test]
fn a_character_in_memory_bound_in_another_way_is_as_if_it_were_read_again() {
    let own = Recipe::of("sample:arm?resolution=2000");
    let in_memory = own.read_of(samples::build("arm?resolution=2000").unwrap()).unwrap();
    let off = Recipe { muscles: MuscleUse::Off, coherent: true, ..own };
    let (again, anew) = (in_memory.with_recipe(&off).unwrap(), off.read().unwrap());
    assert!(Arc::ptr_eq(&again.character, &in_memory.character), "nothing is read or copied");
    let key = |read: &Ingredients| {
        let plan = Plan::new(read.character.clips.first(), &Sampling::default()).unwrap();
        read.key(&read.settings(None), &plan)
    };
    assert_eq!(key(&again), key(&anew));
    assert_ne!(key(&again), key(&in_memory));
}

#[test]
fn wrinkles_come_from_the_anatomy_unless_they_are_asked_for_or_left_out() {
    let anatomy = |text: &str| AnatomySource::Text { text: text.to_owned(), folder: ".".into() };
    let plain = Recipe::of("sample:cylinder?segments=12&rings=12");
    let creased = Recipe { anatomy: anatomy("version = 1\n[wrinkles]\ngain = 0.5\n"), ..plain.clone() };
    let settings = |recipe: &Recipe| {
        let ingredients = recipe.read().unwrap();
        ingredients.settings(Some(Stack::linear())).stack.surface
    };
    let gain = |gain| WrinkleDef { gain, ..WrinkleDef::default() };
    assert!(settings(&plain).is_empty());
    assert_eq!(settings(&creased), [LayerDef::Wrinkles(gain(0.5))]);
    assert!(settings(&Recipe { wrinkles: WrinkleUse::Off, ..creased.clone() }).is_empty());
    assert_eq!(
        settings(&Recipe { wrinkles: WrinkleUse::On, ..plain.clone() }),
        [LayerDef::Wrinkles(gain(1.0))]
    );
    let long = settings(&Recipe { wrinkles: WrinkleUse::Wavelength(0.2), ..creased });
    assert_eq!(long, [LayerDef::Wrinkles(WrinkleDef { wavelength: Some(0.2), ..gain(0.5) })]);
    let finer = Recipe { subdivide: 1, ..plain.clone() }.read().unwrap().character;
    let triangles = |recipe: &Recipe| recipe.read().unwrap().character.meshes[0].triangles.len();
    assert_eq!(finer.meshes[0].triangles.len(), 4 * triangles(&plain));
    let error = Recipe { subdivide: 40, ..plain }.read().unwrap_err().to_string();
    assert!(error.contains("4 times at most"), "{error}");
}

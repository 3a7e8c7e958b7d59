//! On a graphics card as on the processor. Without an adapter the tests say so and do nothing: a software driver
//! (`mesa-vulkan-drivers`) is one.

use ecorche::character::Pose;
use ecorche::crowd::{Crowd, Detail, Instance};
use ecorche::deform::{Body, Stack, Workspace};
use ecorche::output::raster::View;
use ecorche::recipe::{MuscleUse, Recipe};
use ecorche_gpu::{Gpu, GpuCrowd, GpuProjector, TOLERANCE};
use glam::{Affine3A, Quat, Vec3};
use std::sync::OnceLock;

/// The card, once for all tests.
fn gpu() -> Option<&'static Gpu> {
    static GPU: OnceLock<Option<Gpu>> = OnceLock::new();
    let found = GPU.get_or_init(|| match Gpu::new() {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            eprintln!("SKIPPED, nothing was tested on a graphics card: {error}");
            None
        }
    });
    found.as_ref()
}

fn body(recipe: Recipe, stack: Stack) -> Body {
    let ingredients = recipe.read().unwrap();
    ingredients.bind(ingredients.settings(Some(stack)), None).unwrap()
}

fn arm(stack: Stack) -> Body {
    body(Recipe { muscles: MuscleUse::Still, ..Recipe::of("sample:arm?resolution=2000") }, stack)
}

fn clip(body: &Body, name: &str) -> Option<usize> {
    Some(body.character().clips.iter().position(|clip| clip.name == name).unwrap())
}

/// Instances in a row, each turned, at its own moment, more and more tense.
fn row(body: &Body, name: &str, count: usize) -> Vec<Instance> {
    let clip = clip(body, name);
    let one = |k: usize| Instance {
        clip,
        offset: 0.23 * k as f32,
        tension: (0.3 * k as f32).min(1.0),
        place: Affine3A::from_rotation_translation(
            Quat::from_rotation_y(0.4 * k as f32),
            Vec3::new(1.2 * k as f32, 0.0, 0.0),
        ),
        ..Instance::default()
    };
    (0..count).map(one).collect()
}

/// Largest distance of a position from the processor's over the size, and of a normal.
fn apart(crowd: &Crowd, card: &GpuCrowd) -> (f32, f32) {
    let (mut position, mut normal) = (0f32, 0f32);
    for (k, member) in crowd.members().iter().enumerate() {
        let size = crowd.body(k).character().meshes.iter().map(|m| m.surface().size()).fold(0.0, f32::max);
        let read = card.read(crowd, k).unwrap();
        assert_eq!(read.meshes.len(), member.frame.meshes.len());
        for (a, b) in read.meshes.iter().zip(&member.frame.meshes) {
            assert_eq!((a.positions.len(), a.normals.len()), (b.positions.len(), b.normals.len()));
            let of =
                |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
            position = position.max(of(&a.positions, &b.positions) / size);
            normal = normal.max(of(&a.normals, &b.normals));
        }
    }
    (position, normal)
}

#[test]
fn every_skinning_and_its_muscles_are_where_the_processor_has_them() {
    let Some(gpu) = gpu() else { return };
    let stacks = ["lbs", "dqs", "cor", "lbs+parametric", "parametric", "cor+parametric"];
    for stack in stacks {
        let body = arm(stack.parse().unwrap());
        let instances = row(&body, "curl", 5);
        let mut crowd = Crowd::new(vec![body], instances, Detail::default()).unwrap();
        let mut card = GpuCrowd::new(gpu, &crowd).unwrap();
        for time in [0.0, 0.6] {
            let report = crowd.frame(time, None);
            let on_card = card.frame(&crowd, time, None).unwrap();
            assert_eq!((on_card.levels, on_card.muscles), (report.levels, report.muscles), "{stack}");
            let (position, normal) = apart(&crowd, &card);
            assert!(position < TOLERANCE, "{stack} at {time} s: {position:e} of the size");
            assert!(normal < 1e-3, "{stack} at {time} s: normals {normal:e}");
        }
    }
}

#[test]
fn several_characters_of_several_meshes_and_joints_that_stretch() {
    let Some(gpu) = gpu() else { return };
    let bodies = vec![
        body(Recipe::of("sample:mannequin"), Stack::dual_quaternion()),
        body(Recipe::of("sample:cylinder"), Stack::centre_of_rotation()),
        arm(Stack::parametric()),
    ];
    let names = ["wave", "bend", "curl"];
    let mut instances = Vec::new();
    for k in 0..6 {
        let (body, clips) = (k % 3, &bodies[k % 3].character().clips);
        let clip =
            clips.iter().position(|clip| clip.name == names[body]).or(Some(0)).filter(|_| !clips.is_empty());
        instances.push(Instance { body, clip, offset: 0.31 * k as f32, ..Instance::default() });
    }
    let mut crowd = Crowd::new(bodies, instances, Detail::default()).unwrap();
    let mut card = GpuCrowd::new(gpu, &crowd).unwrap();
    crowd.frame(0.4, None);
    card.frame(&crowd, 0.4, None).unwrap();
    let (position, normal) = apart(&crowd, &card);
    assert!(position < TOLERANCE, "{position:e} of the size");
    assert!(normal < 1e-3, "normals {normal:e}");
}

#[test]
fn distant_instances_are_skinned_and_then_left_alone() {
    let Some(gpu) = gpu() else { return };
    let body = arm(Stack::parametric());
    let mut instances = row(&body, "curl", 3);
    for (instance, x) in instances.iter_mut().zip([1.0, 5.0, 50.0]) {
        instance.place = Affine3A::from_translation(Vec3::X * x);
    }
    let detail = Detail { full: 2.0, skinning: 10.0 };
    let mut crowd = Crowd::new(vec![body], instances, detail).unwrap();
    let mut card = GpuCrowd::new(gpu, &crowd).unwrap();
    for time in [0.9, 0.4] {
        let report = crowd.frame(time, Some(Vec3::ZERO));
        let on_card = card.frame(&crowd, time, Some(Vec3::ZERO)).unwrap();
        assert_eq!(on_card.levels, report.levels);
        assert!(apart(&crowd, &card).0 < TOLERANCE, "at {time} s");
    }
}

#[test]
fn the_picture_is_drawn_from_the_card_and_shows_every_instance() {
    let Some(gpu) = gpu() else { return };
    let body = arm(Stack::parametric());
    let crowd = Crowd::new(vec![body.clone()], row(&body, "curl", 3), Detail::default()).unwrap();
    let mut card = GpuCrowd::new(gpu, &crowd).unwrap();
    card.frame(&crowd, 0.5, None).unwrap();
    let picture = card.picture(&crowd, View::Front, 240, 120).unwrap();
    let behind = picture.pixel(0, 0);
    let covered = |x: usize| (0..120).any(|y| picture.pixel(x, y) != behind);
    // Runs of columns that show something: three arms side by side.
    let runs = (1..240).filter(|&x| covered(x) && !covered(x - 1)).count();
    assert!((0..240).any(covered) && !covered(0) && !covered(239), "it fits the picture");
    assert_eq!(runs, 3, "three arms apart from each other");
}

#[test]
fn a_method_that_needs_the_processor_is_refused_by_name() {
    let Some(gpu) = gpu() else { return };
    let crowd =
        Crowd::new(vec![arm(Stack::implicit())], vec![Instance::default()], Detail::default()).unwrap();
    let error = GpuCrowd::new(gpu, &crowd).unwrap_err().to_string();
    assert!(error.contains("implicit") && error.contains("parametric"), "{error}");
}

#[test]
fn projections_end_where_the_processor_takes_them() {
    let Some(gpu) = gpu() else { return };
    // A bent elbow presses on itself; both bodies are the same but for where they project.
    let bind = || arm(Stack::implicit());
    let (here, there) = (bind(), bind());
    assert!(GpuProjector::offload(gpu, &there).unwrap());
    let curl = &here.character().clips[clip(&here, "curl").unwrap()];
    let mut pose = Pose::rest(here.character());
    let (mut contacts, mut off, mut moved) = (0, 0, 0f32);
    let size = here.surface().unwrap().mesh.size();
    for time in [0.3, 0.6, 0.9] {
        curl.sample(curl.start + time * curl.length(), &mut pose);
        let a = here.deform(&pose, time, &mut Workspace::default());
        let b = there.deform(&pose, time, &mut Workspace::default());
        contacts += a.report.tracking.unwrap().contacts;
        let pairs = a.meshes[0].positions.iter().zip(&b.meshes[0].positions);
        for (a, b) in pairs {
            moved = moved.max(a.distance(*b));
            off += usize::from(a.distance(*b) > 1e-4 * size);
        }
        assert_eq!(a.report.fell_back, b.report.fell_back);
    }
    assert!(contacts > 50, "the arm must press on itself: {contacts}");
    assert_eq!(off, 0, "vertices farther than a ten thousandth of the size; the farthest {moved} m");
}

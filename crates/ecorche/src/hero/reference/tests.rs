use super::*;
use crate::samples;
use std::sync::OnceLock;

fn tube() -> Arc<Character> {
    Arc::new(samples::build("cylinder?segments=16&rings=24").unwrap())
}

fn coarse() -> Settings {
    Settings { edge: Some(0.05), ..Settings::default() }
}

/// The tube bent by some degrees about its middle joint.
fn bent(character: &Character, degrees: f32) -> Pose {
    let mut pose = Pose::rest(character);
    let joint = (0..character.skeleton.len())
        .filter(|&j| character.skeleton.joints[j].in_skin)
        .nth(1)
        .expect("the tube has two bones");
    pose.local[joint].rotation *= glam::Quat::from_rotation_x(degrees.to_radians());
    pose
}

/// Flesh, frame and figures at 60 degrees, solved once for all tests.
fn at_60() -> &'static (Reference, Frame, PoseReport) {
    static BENT: OnceLock<(Reference, Frame, PoseReport)> = OnceLock::new();
    BENT.get_or_init(|| {
        let character = tube();
        let mut flesh = Reference::new(character.clone(), &coarse()).unwrap();
        let (frame, report) = flesh.deform(&bent(&character, 60.0), 0.0).unwrap();
        (flesh, frame, report)
    })
}

#[test]
fn a_bent_tube_settles_keeps_its_volume_and_does_not_pass_through_itself() {
    let (_, _, report) = at_60();
    assert!(report.converged, "{report:?}");
    assert!(report.steps >= 6, "no step turns by more than ten degrees: {report:?}");
    assert!(report.volume_drift.abs() < 0.01, "{report:?}");
    assert!(report.skin_volume_drift.is_some_and(|drift| drift.abs() < 0.01), "{report:?}");
    assert_eq!((report.pairs, report.inverted), (0, 0));
    assert!(report.residual < 3e-2, "before the last step: {report:?}");
}

#[test]
fn bones_are_followed_exactly() {
    let (flesh, ..) = at_60();
    let goals = flesh.goals(&flesh.local);
    assert!(goals.len() > 10);
    let mut moved: f64 = 0.0;
    for (node, goal) in goals {
        assert!(flesh.flesh.positions[node as usize].distance(goal) < 1e-12);
        moved = moved.max(flesh.flesh.model.rest[node as usize].distance(goal));
    }
    assert!(moved > 0.1, "the second bone has turned");
}

#[test]
fn the_rest_pose_is_exact() {
    let character = tube();
    let mut flesh = Reference::new(character.clone(), &coarse()).unwrap();
    let (frame, report) = flesh.deform(&Pose::rest(&character), 0.0).unwrap();
    assert!(report.converged && report.volume_drift.abs() < 1e-6);
    for (a, b) in frame.meshes[0].positions.iter().zip(&character.meshes[0].positions) {
        assert!(a.distance(*b) < 1e-5, "{a} {b}");
    }
}

#[test]
fn a_character_that_moves_as_a_whole_is_not_deformed() {
    let character = tube();
    let mut flesh = Reference::new(character.clone(), &coarse()).unwrap();
    let mut pose = Pose::rest(&character);
    let turn = glam::Quat::from_rotation_z(2.5);
    pose.local[0].rotation = turn * pose.local[0].rotation;
    pose.local[0].translation += Vec3::new(5.0, 0.0, -3.0);
    let (frame, report) = flesh.deform(&pose, 0.0).unwrap();
    assert_eq!(report.steps, 1);
    let skinned =
        Body::bind(character, Stack::linear(), None).unwrap().deform(&pose, 0.0, &mut Workspace::default());
    for (a, b) in frame.meshes[0].positions.iter().zip(&skinned.meshes[0].positions) {
        assert!(a.distance(*b) < 1e-4, "{a} {b}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let character = tube();
            let mut flesh = Reference::new(character.clone(), &coarse()).unwrap();
            flesh.deform(&bent(&character, 10.0), 0.0).unwrap()
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn an_open_skin_is_refused_in_plain_words() {
    let mut character = samples::build("cylinder?segments=16&rings=24").unwrap();
    character.meshes[0].triangles.pop();
    let error = Reference::new(Arc::new(character), &coarse()).unwrap_err().to_string();
    assert!(error.contains("not closed") && error.contains("3 edges"), "{error}");
}

#[test]
fn a_region_needs_bones_on_both_sides() {
    let character = tube();
    let first = character.skeleton.joints.iter().position(|j| j.in_skin);
    let error = Reference::new(character, &Settings { region: first, ..coarse() }).unwrap_err();
    assert!(matches!(error, ReferenceError::NoRegion(_)), "{error}");
}

#[test]
fn a_fold_closes_and_stays_outside_itself() {
    let character = tube();
    let mut flesh = Reference::new(character.clone(), &coarse()).unwrap();
    let (frame, report) = flesh.deform(&bent(&character, 125.0), 0.0).unwrap();
    assert!(report.converged, "{report:?}");
    assert_eq!((report.pairs, report.inverted), (0, 0));
    assert!(report.volume_drift.abs() < 0.01, "{report:?}");
    // Somewhere skin that lay far apart now touches: within the barrier's width.
    let (rest, now) = (&character.meshes[0].positions, &frame.meshes[0].positions);
    let near = 2.0 * flesh.summary().contact_distance as f32;
    let touch = (0..now.len())
        .any(|a| (0..a).any(|b| now[a].distance(now[b]) < near + 0.02 && rest[a].distance(rest[b]) > 0.15));
    assert!(touch, "the fold stays open");
}

#[test]
fn around_a_region_the_skin_is_skinned() {
    let character = Arc::new(samples::build("arm").unwrap());
    let joint = character.skeleton.find("leftLowerArm").unwrap();
    let settings = Settings { region: Some(joint), edge: Some(0.02), ..Settings::default() };
    let mut flesh = Reference::new(character.clone(), &settings).unwrap();
    let mut pose = Pose::rest(&character);
    pose.local[joint].rotation *= glam::Quat::from_rotation_x(0.3);
    let (frame, report) = flesh.deform(&pose, 0.0).unwrap();
    assert!(report.converged && report.pairs == 0, "{report:?}");
    let skinned = Body::bind(character, Stack::dual_quaternion(), None).unwrap().deform(
        &pose,
        0.0,
        &mut Workspace::default(),
    );
    let distances: Vec<f32> = frame.meshes[0]
        .positions
        .iter()
        .zip(&skinned.meshes[0].positions)
        .map(|(a, b)| a.distance(*b))
        .collect();
    let same = distances.iter().filter(|d| **d == 0.0).count();
    assert!(same > 300 && same < distances.len() - 300, "the hand is not part of the region: {same}");
    assert!(distances.iter().all(|d| *d < 0.02), "no tear at the border");
}

#[test]
fn a_finer_mesh_hardly_changes_the_answer() {
    let character = tube();
    let (flesh, frame, _) = at_60();
    let finer = Settings { edge: Some(0.05 / 1.4), ..coarse() };
    let mut other = Reference::new(character.clone(), &finer).unwrap();
    let (theirs, report) = other.deform(&bent(&character, 60.0), 0.0).unwrap();
    assert!(report.converged, "{report:?}");
    let difference = flesh.difference(&other, frame, &theirs);
    assert!(difference.mean < 0.003, "the tube is 0.23 m thick: {difference:?}");
}

#[test]
fn who_no_longer_wants_an_answer_is_not_kept_waiting() {
    let character = tube();
    let mut flesh = Reference::new(character.clone(), &coarse()).unwrap();
    let error = flesh.deform_while(&bent(&character, 60.0), 0.0, || false).unwrap_err();
    assert!(matches!(error, ReferenceError::Interrupted), "{error}");
}

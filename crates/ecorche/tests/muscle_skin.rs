//! Muscles under the skin of whole characters: the skin bulges, sinks, swings, stays smooth, and is itself at rest.

use ecorche::character::{Binding, Character, Pose};
use ecorche::deform::{Body, Playback, Settings, Stack, State, Workspace};
use ecorche::field::Field;
use ecorche::frame::Frame;
use ecorche::muscle::Motion;
use ecorche::samples;
use ecorche::sampling::{Plan, Sampling};
use glam::{Quat, Vec3};
use std::path::Path;
use std::sync::{Arc, LazyLock};

fn arm() -> &'static (Arc<Character>, Body) {
    static ARM: LazyLock<(Arc<Character>, Body)> = LazyLock::new(|| {
        let character = Arc::new(samples::build("arm?resolution=2000").unwrap());
        let body = bind(&character, Stack::muscles().into());
        (character, body)
    });
    &ARM
}

fn bind(character: &Arc<Character>, settings: Settings) -> Body {
    Body::bind_with(character.clone(), settings, &samples::arm::muscles(), Path::new("."), None).unwrap()
}

fn plan<'a>(character: &'a Character, clip: &str) -> Plan<'a> {
    Plan::new(character.clip(clip), &Sampling { fps: Some(24.0), frames: None }).unwrap()
}

fn farthest(a: &Frame, b: &Frame) -> f32 {
    let pairs = a.meshes.iter().zip(&b.meshes).flat_map(|(a, b)| a.positions.iter().zip(&b.positions));
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

/// Mean displacement, outward, of the skin over the belly of a muscle since rest, seen from its upper bone, metres. The
/// belly is where the muscle is thickest now, or at a share of its length at rest.
fn risen(
    character: &Character,
    body: &Body,
    frame: &Frame,
    pose: &Pose,
    muscle: &ecorche::muscle::Shape,
    at_rest: Option<f64>,
) -> f32 {
    let surface = body.surface().unwrap();
    let positions = surface.positions(frame);
    let joint = character.skeleton.find("leftUpperArm").unwrap();
    let bind_from_posed = surface.posed_from_rest(character, pose)[joint].inverse();
    let share = |i: &i32| f64::from(*i) / 100.0;
    let thickness = |i: &i32| muscle.thickness(share(i));
    let thickest = (1..100).max_by(|a, b| thickness(a).total_cmp(&thickness(b))).unwrap();
    let belly = match at_rest {
        Some(s) => muscle.place(s).0.as_vec3(),
        None => bind_from_posed.transform_point3(muscle.place(share(&thickest)).0.as_vec3()),
    };
    let normals = surface.mesh.normals();
    let (mut sum, mut count) = (0.0, 0);
    for (v, &p) in surface.mesh.positions.iter().enumerate() {
        let out = p - belly;
        if out.length() < 0.05 && out.normalize().dot(normals[v]) > 0.85 {
            sum += (bind_from_posed.transform_point3(positions[v]) - p).dot(normals[v]);
            count += 1;
        }
    }
    assert!(count >= 3, "{count} vertices above it");
    sum / count as f32
}

#[test]
fn the_skin_at_rest_is_the_files() {
    let (character, body) = arm();
    let rest = body.rest(&mut Workspace::default());
    let plain = Body::bind(character.clone(), Stack::dual_quaternion(), None)
        .unwrap()
        .rest(&mut Workspace::default());
    assert!(farthest(&rest, &plain) < 1e-6 * character.size(), "{}", farthest(&rest, &plain));
}

#[test]
fn skin_rises_over_the_contracted_biceps_and_sinks_over_the_stretched_triceps() {
    let (character, body) = arm();
    let plan = plan(character, "curl");
    let (mut playback, mut workspace) = (Playback::new(body, &plan), Workspace::default());
    let plain = Body::bind(character.clone(), Stack::implicit(), None).unwrap();
    let at_bind = body.musculature().unwrap().at_bind();
    let mut risen_at = |number: usize| {
        let frame = playback.frame(number, &mut workspace);
        assert!(frame.report.muscles.unwrap().deepest < 1e-3);
        let alone = plain.deform(playback.pose(), 0.0, &mut Workspace::default());
        let now = &frame.found.flesh.muscles[0].shape;
        // Stretched, the triceps slides towards the elbow: its upper half gets thinner where it lay.
        let then = &at_bind.muscles[1].shape;
        [(now, None), (then, Some(0.4))].map(|(field, at)| {
            [&frame, &alone].map(|f| 1e3 * risen(character, body, f, playback.pose(), field, at))
        })
    };
    for number in [8, 12, 16, 20, 26] {
        println!("frame {number}: biceps, triceps with and without muscles {:.2?} mm", risen_at(number));
    }
    let [biceps, _] = risen_at(16);
    let [_, triceps] = risen_at(26);
    assert!(biceps[0] > biceps[1] + 4.0, "over the biceps {biceps:?} mm");
    assert!(triceps[0] < -0.5 && triceps[0] < triceps[1] - 0.5, "over the triceps {triceps:?} mm");
}

/// How far muscles stand out of the skin, before they yield to it and after, millimetres.
fn stands_out(body: &Body, frame: &Frame) -> [f64; 2] {
    let surface = body.surface().unwrap();
    let positions = surface.positions(frame);
    [&frame.found.free_flesh, &frame.found.flesh]
        .map(|flesh| 1e3 * ecorche::measure::pierce(flesh, &positions, &surface.mesh.triangles).deepest)
}

#[test]
fn muscles_yield_to_the_skin_and_keep_their_volume() {
    let (character, body) = arm();
    let plan = plan(character, "curl");
    let (mut playback, mut workspace) = (Playback::new(body, &plan), Workspace::default());
    let (mut worst, mut free) = (0.0f64, 0.0f64);
    for number in [0, 8, 12, 16, 20, 26] {
        let frame = playback.frame(number, &mut workspace);
        let [before, after] = stands_out(body, &frame);
        (free, worst) = (free.max(before), worst.max(after));
        let whole: f64 = frame.found.free_flesh.muscles.iter().map(|m| m.shape.volume()).sum();
        let lost = f64::from(frame.report.muscles.unwrap().lost) / whole;
        println!("frame {number}: {before:.2} mm, then {after:.2}; {:.2} % lost", 100.0 * lost);
        assert!(lost < 0.03, "frame {number}: {lost} of the volume is lost");
    }
    assert!(free > 5.0, "the skin cannot follow everything: {free} mm");
    assert!(worst < 0.5, "{worst} mm");
    let rest = body.rest(&mut workspace);
    let axes = rest.found.flesh.muscles.iter().zip(&rest.found.free_flesh.muscles);
    let moved = axes.map(|(a, b)| a.shape.place(0.5).0.distance(b.shape.place(0.5).0)).fold(0.0, f64::max);
    assert!(moved < 1e-4, "at rest nothing has to yield: {moved} m");
}

/// Before skin meets skin: in a fold the nearest wall may change, and a muscle between them with it.
#[test]
fn what_yields_follows_the_pose_without_jumps() {
    let (character, body) = arm();
    let clip = character.clip("curl").unwrap();
    let (mut pose, mut workspace) = (Pose::rest(character), Workspace::default());
    let mut rings = |at: f32| {
        clip.sample(clip.start + at, &mut pose);
        let frame = body.deform(&pose, 0.0, &mut workspace);
        let muscles = frame.found.flesh.muscles.iter();
        muscles
            .flat_map(|m| m.shape.rings().map(|r| (r.centre, r.radius)).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let start = 0.45f32;
    let mut last = rings(start);
    for step in 1..=8 {
        let next = rings(start + 2e-4 * step as f32);
        let far = |(a, b): (&(glam::DVec3, f64), &(glam::DVec3, f64))| a.0.distance(b.0) + (a.1 - b.1).abs();
        let moved = last.iter().zip(&next).map(far).fold(0.0, f64::max);
        assert!(moved < 1.5e-3, "step {step}: a section jumps by {} mm", 1e3 * moved);
        last = next;
    }
}

#[test]
fn definition_scales_what_shows() {
    let (character, body) = arm();
    let mut pose = Pose::rest(character);
    let clip = character.clip("curl").unwrap();
    clip.sample(clip.start + 16.0 / 24.0, &mut pose);
    let plain = Body::bind(character.clone(), Stack::implicit(), None).unwrap();
    let plain = plain.deform(&pose, 0.0, &mut Workspace::default());
    let with = |definition: f32| {
        let mut settings = body.settings().clone();
        settings.robust.definition = definition;
        farthest(&bind(character, settings).deform(&pose, 0.0, &mut Workspace::default()), &plain)
    };
    let [soft, lean, comic] = [0.0, 1.0, 1.5].map(with);
    assert_eq!(soft, 0.0, "no muscle shows");
    assert!(lean > 4e-3 && comic > 1.3 * lean, "{lean} {comic}");
}

#[test]
fn a_clip_starts_with_its_muscles_at_rest() {
    let (character, body) = arm();
    let (mut state, mut workspace) = (State::default(), Workspace::default());
    let mut pose = Pose::rest(character);
    let clip = character.clip("curl").unwrap();
    let mut frame = |number: u32, at: f32| {
        clip.sample(at, &mut pose);
        body.deform_next(&pose, number as f32 / 24.0, &mut state, &mut workspace)
    };
    let bent = 16.0 / 24.0;
    let first = frame(0, bent);
    assert_eq!(first.meshes, frame(1, bent).meshes, "the skeleton stands still");
    // A motion too small to stir anything, but no standing still: what had only been stopped would now go on.
    let moved = farthest(&first, &frame(2, bent + 1e-4));
    assert!(moved < 1e-3, "the skin moves by {} mm", 1e3 * moved);
}

#[test]
fn the_swing_after_the_shake_dies_away_in_muscle_and_skin() {
    let (character, body) = arm();
    let clip = character.clip("shake").unwrap();
    let (mut state, mut workspace) = (State::of_clip("shake"), Workspace::default());
    let mut pose = Pose::rest(character);
    let stop = 22;
    let mut frames = Vec::new();
    for frame in 0..=stop + 48 {
        clip.sample(clip.start + frame.min(stop) as f32 / 24.0, &mut pose);
        frames.push(body.deform_next(&pose, frame as f32 / 24.0, &mut state, &mut workspace));
    }
    let settled = &frames[frames.len() - 1];
    let away = [0, 12, 24].map(|after| farthest(&frames[stop + after], settled));
    println!("skin is {away:?} m away 0, 0.5 and 1 s after the arm stops");
    assert!(away[0] > 3e-4, "{away:?}");
    assert!(away[1] < 0.3 * away[0] && away[2] < 0.1 * away[0], "{away:?}");
}

#[test]
fn a_frame_is_the_same_however_one_came_to_it() {
    let (character, body) = arm();
    let plan = plan(character, "shake");
    let mut workspace = Workspace::default();
    let mut through = Playback::new(body, &plan);
    let played: Vec<Frame> = (0..=12).map(|n| through.frame(n, &mut workspace)).collect();
    let alone = Playback::new(body, &plan).frame(12, &mut workspace);
    assert_eq!(alone, played[12]);
    assert_eq!(through.frame(5, &mut workspace), played[5], "back");
    // Held, reset and resumed by hand.
    let mut pose = Pose::rest(character);
    let mut state = State::of_clip("shake");
    for n in 0..=8 {
        plan.sample(n, &mut pose);
        let frame = body.deform_next(&pose, plan.time(n), &mut state, &mut workspace);
        let held = body.deform_next(&pose, plan.time(n), &mut state, &mut workspace);
        assert_eq!((&frame, &held), (&played[n], &played[n]), "frame {n}");
    }
    let saved = state.clone();
    state.reset();
    assert_ne!(state, saved);
    let mut resumed = saved;
    plan.sample(9, &mut pose);
    assert_eq!(body.deform_next(&pose, plan.time(9), &mut resumed, &mut workspace), played[9]);
}

#[test]
fn the_same_bits_on_one_thread_and_on_two() {
    let (character, body) = arm();
    let plan = plan(character, "curl");
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Playback::new(body, &plan).frame(14, &mut Workspace::default()))
    };
    let [one, two] = [run(1), run(2)];
    assert!(one == two);
    let rings = |frame: &Frame| -> Vec<_> {
        frame.found.flesh.muscles.iter().flat_map(|m| m.shape.rings().collect::<Vec<_>>()).collect()
    };
    assert!(rings(&one) == rings(&two), "what yields to the skin, too");
}

#[test]
fn twice_the_substeps_change_the_swing_by_less_than_a_twentieth() {
    let (character, body) = arm();
    let plan = plan(character, "shake");
    let coarse = body.settings().clone();
    let mut fine = coarse.clone();
    fine.muscles.substeps_per_second *= 2.0;
    let mut still = coarse.clone();
    still.muscles.motion = Motion::Kinematic;
    let anatomy = samples::arm::muscles();
    let [coarse, fine, still] = [coarse, fine, still].map(|settings| {
        Body::bind_with(character.clone(), settings, &anatomy, Path::new("."), None).unwrap()
    });
    let mut workspace = Workspace::default();
    let mut axes = |body: &Body| {
        let mut playback = Playback::new(body, &plan);
        let mut path = Vec::new();
        for n in 0..=30 {
            let (flesh, _) = playback.advance(n, &mut workspace).unwrap();
            path.push(flesh.muscles.iter().map(|m| m.shape.place(0.5).0).collect::<Vec<_>>());
        }
        path
    };
    let (coarse, fine, still) = (axes(&coarse), axes(&fine), axes(&still));
    let far = |a: &[Vec<glam::DVec3>], b: &[Vec<glam::DVec3>]| {
        let pairs = a.iter().flatten().zip(b.iter().flatten());
        pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
    };
    let (change, amplitude) = (far(&coarse, &fine), far(&coarse, &still));
    println!("substeps change {:.3} mm of {:.3} mm", 1e3 * change, 1e3 * amplitude);
    assert!(amplitude > 1e-3 && change < 0.05 * amplitude, "{change} {amplitude}");
}

#[test]
fn the_athlete_runs_on_a_hundred_muscles() {
    let character = Arc::new(samples::build("athlete?resolution=5000").unwrap());
    let anatomy = samples::anatomy("athlete", &character).unwrap().in_full(&character);
    assert!(anatomy.muscle.len() >= 100, "{} muscles on both sides", anatomy.muscle.len());
    let body = Body::bind_with(character.clone(), Stack::muscles(), &anatomy, Path::new("."), None).unwrap();
    let rest = body.rest(&mut Workspace::default());
    let plain = Body::bind(character.clone(), Stack::dual_quaternion(), None)
        .unwrap()
        .rest(&mut Workspace::default());
    assert!(farthest(&rest, &plain) < 1e-6 * character.size(), "at rest {}", farthest(&rest, &plain));
    let plan = Plan::new(character.clip("run"), &Sampling { fps: Some(12.0), frames: Some(0..=4) }).unwrap();
    let (mut playback, mut workspace) = (Playback::new(&body, &plan), Workspace::default());
    for n in 0..=4 {
        let frame = playback.frame(n, &mut workspace);
        let muscles = frame.report.muscles.unwrap();
        assert!(muscles.deepest < 1e-3 && muscles.resets == 0, "frame {n}: {muscles:?}");
        let all = || frame.meshes.iter().flat_map(|m| &m.positions);
        assert!(all().all(|p: &Vec3| p.is_finite()));
        let [_, out] = stands_out(&body, &frame);
        assert!(out < 2.0, "frame {n}: a muscle stands out of the skin by {out} mm");
    }
}

/// What shows of the muscles is smooth: they roughen free skin by a tenth at most.
#[test]
fn muscles_leave_the_skin_smooth() {
    use ecorche::measure::{Judge, judge_clips};
    let character = Arc::new(samples::build("athlete?resolution=5000").unwrap());
    let anatomy = samples::anatomy("athlete", &character).unwrap().in_full(&character);
    let bodies = [Stack::implicit(), Stack::muscles()]
        .map(|stack| Body::bind_with(character.clone(), stack, &anatomy, Path::new("."), None).unwrap());
    let surface = bodies[0].surface().unwrap();
    let judge = Judge::of(surface).unwrap();
    let plan = Plan::new(character.clip("wave"), &Sampling { fps: Some(6.0), frames: Some(0..=4) }).unwrap();
    let figures =
        judge_clips(&judge, surface, &bodies, &plan, None, |_| std::ops::ControlFlow::Continue(())).unwrap();
    let [without, with] = [0, 1].map(|b| figures[b].of("roughness").unwrap().mean);
    assert!(with < 1.1 * without, "{with} degrees with muscles, {without} without");
}

/// The pose seen in a mirror. A right joint's frame is the mirror image of the left one's with its x axis turned around.
fn mirrored(character: &Character, pose: &Pose) -> Pose {
    let mut mirrored = pose.clone();
    for (joint, local) in character.skeleton.joints.iter().zip(&pose.local) {
        let name = match (joint.name.strip_prefix("left"), joint.name.strip_prefix("right")) {
            (Some(rest), _) => format!("right{rest}"),
            (_, Some(rest)) => format!("left{rest}"),
            _ => joint.name.clone(),
        };
        let there = &mut mirrored.local[character.skeleton.find(&name).unwrap()];
        *there = *local;
        there.translation.x = -local.translation.x;
        let [x, y, z, w] = local.rotation.to_array();
        there.rotation = Quat::from_xyzw(x, -y, -z, w);
    }
    mirrored
}

/// Each vertex's mirror image at rest.
fn images(points: &[Vec3]) -> Vec<usize> {
    let key = |p: Vec3| p.to_array().map(|x| (x * 1e6).round() as i64);
    let by_place: std::collections::BTreeMap<_, usize> =
        points.iter().enumerate().map(|(v, &p)| (key(p), v)).collect();
    points.iter().map(|&p| by_place[&key(p * Vec3::new(-1.0, 1.0, 1.0))]).collect()
}

#[test]
fn a_mirrored_pose_gives_mirrored_skin() {
    let character = Arc::new(samples::build("athlete?resolution=5000").unwrap());
    let anatomy = samples::anatomy("athlete", &character).unwrap().in_full(&character);
    let images = images(&character.meshes[0].positions);
    // Poses without contact: where skin meets skin, tracking decides between left and right.
    for (method, clip, time) in
        [(Stack::implicit(), "squat", 8.0 / 3.0), (Stack::muscles(), "squat", 8.0 / 3.0)]
    {
        let body =
            Body::bind_with(character.clone(), method.clone(), &anatomy, Path::new("."), None).unwrap();
        let mut pose = Pose::rest(&character);
        let clip = character.clip(clip).unwrap();
        clip.sample(clip.start + time, &mut pose);
        let [here, there] = [pose.clone(), mirrored(&character, &pose)]
            .map(|pose| body.deform(&pose, 0.0, &mut Workspace::default()));
        let (here, there) = (&here.meshes[0].positions, &there.meshes[0].positions);
        let off = |v: usize| (here[v] * Vec3::new(-1.0, 1.0, 1.0)).distance(there[images[v]]);
        let worst = (0..here.len()).max_by(|&a, &b| off(a).total_cmp(&off(b))).unwrap();
        println!("{method}, {}: {:.1e} of the size", clip.name, off(worst) / character.size());
        assert!(off(worst) < 1e-5 * character.size(), "{method}, {}: {}", clip.name, off(worst));
    }
}

#[test]
fn fields_of_a_symmetric_body_are_mirror_images() {
    let character = Arc::new(samples::build("athlete?resolution=5000").unwrap());
    let body = Body::bind(character.clone(), Stack::implicit(), None).unwrap();
    let parts = body.parts().unwrap();
    let part = |name: &str| {
        let joint = character.skeleton.find(name).unwrap() as u32;
        parts.parts.iter().find(|part| part.joint == joint).unwrap()
    };
    let mirror = Vec3::new(-1.0, 1.0, 1.0);
    for (left, right) in
        [("leftUpperArm", "rightUpperArm"), ("leftUpperLeg", "rightUpperLeg"), ("hips", "hips")]
    {
        let (left, right) = (&part(left).field, &part(right).field);
        for &p in &character.meshes[0].positions {
            let (a, b) = (left.sample(p), right.sample(p * mirror));
            assert!((a.value - b.value).abs() < 5e-5, "{} {}", a.value, b.value);
            assert!(a.gradient.distance(b.gradient * mirror) < 5e-3, "{} {}", a.gradient, b.gradient);
        }
    }
}

/// The arm with its muscles, all lengths multiplied by `scale`.
fn scaled_arm(scale: f32) -> (Arc<Character>, Body) {
    let mut character = samples::build("arm?resolution=2000").unwrap();
    character.skeleton.joints.iter_mut().for_each(|joint| joint.rest.translation *= scale);
    for mesh in &mut character.meshes {
        mesh.positions.iter_mut().for_each(|p| *p *= scale);
        if let Binding::Skin(skin) = &mut mesh.binding {
            skin.joint_from_bind.iter_mut().for_each(|m| m.translation *= scale);
        }
    }
    let tracks = character.clips.iter_mut().flat_map(|clip| &mut clip.joint_tracks);
    for track in tracks.filter_map(|track| track.translation.as_mut()) {
        track.values.iter_mut().for_each(|p| *p *= scale);
    }
    let mut muscles = samples::arm::muscles();
    for muscle in &mut muscles.muscle {
        let ends = muscle.origin.0.iter_mut().chain(&mut muscle.insertion.0);
        ends.for_each(|end| end.at *= scale);
        muscle.width *= scale;
        for force in [&mut muscle.tone, &mut muscle.strength, &mut muscle.stiffness] {
            *force *= scale.powi(4);
        }
    }
    let character = Arc::new(character);
    let settings = Settings::from(Stack::muscles());
    let body = Body::bind_with(character.clone(), settings, &muscles, Path::new("."), None).unwrap();
    (character, body)
}

#[test]
fn dwarfs_and_giants_move_alike() {
    let shaken = |scale: f32| {
        let (character, body) = scaled_arm(scale);
        let (plan, mut workspace) = (plan(&character, "shake"), Workspace::default());
        let mut playback = Playback::new(&body, &plan);
        let frames = [4, 8, 12].map(|number| playback.frame(number, &mut workspace));
        (frames, character.size())
    };
    let (human, size) = shaken(1.0);
    for scale in [0.01, 100.0] {
        let (mut other, _) = shaken(scale);
        for (mine, theirs) in human.iter().zip(&mut other) {
            theirs.meshes.iter_mut().flat_map(|m| &mut m.positions).for_each(|p| *p /= scale);
            let off = farthest(mine, theirs) / size;
            assert!(off < 1e-3, "{scale} times as large: skin is off by {off:.1e} of the size");
        }
    }
}

//! A small shot of the arm sample, from its muscles to its skin.

use super::*;
use crate::sampling::Sampling;

/// The arm's four muscles, coarse, over the first frames of its curl.
fn shot() -> Shot {
    let arm = Arc::new(crate::samples::build("arm?resolution=2000").unwrap());
    let sampling = Sampling { fps: Some(10.0), frames: Some(2..=3) };
    let plan = Plan::new(arm.clip("curl"), &sampling).unwrap();
    let mut settings = Settings { region: region::find(&arm, "leftArm"), ..Settings::default() };
    settings.bodies.budget = 1500.0;
    settings.muscles.substeps = 1;
    let body = crate::samples::arm::muscles();
    Shot::new(arm.clone(), &body, Path::new("."), &plan, &settings).unwrap()
}

fn play(shot: &mut Shot, folder: &Path) -> (Vec<Found>, Vec<(Frame, FrameReport)>) {
    let mut found = Vec::new();
    let mut tell = |event: Event<'_>| {
        if let Event::Begin(_, what) = event {
            found.push(what);
        }
    };
    let mut simulated = shot.simulate(folder, &[1; 32], &|| true, &mut tell).unwrap();
    let frames = (0..shot.frames()).map(|k| shot.frame(k, &mut simulated).unwrap()).collect();
    (found, frames)
}

#[test]
fn an_arm_bends_without_inverted_flesh_and_goes_on_where_it_was_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let mut shot = shot();
    assert!(shot.summary().muscles.len() >= 3, "{:?}", shot.summary());
    assert_eq!(shot.summary().tangled, 0);
    let (found, whole) = play(&mut shot, folder.path());
    assert_eq!(found, [Found::Nothing; 3]);
    for (_, report) in &whole {
        assert_eq!(report.muscles.inverted + report.fat.inverted, 0, "{report:?}");
        assert_eq!(report.pairs, 0, "{report:?}");
        assert!(report.muscles.volume.abs() < 0.02, "{report:?}");
    }
    let moments = shot.timeline.moments.len();
    // Half of the last record of the fat is lost.
    let path = folder.path().join("fat.stage");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - bytes.len() / (2 * moments)]).unwrap();
    let (found, again) = play(&mut shot, folder.path());
    assert_eq!(found, [Found::Sound(moments), Found::Sound(moments), Found::CutShort(moments - 1)]);
    for ((a, _), (b, _)) in whole.iter().zip(&again) {
        assert_eq!(a.meshes[0].positions, b.meshes[0].positions);
    }
    // Damage to the muscles costs what came of it.
    let path = folder.path().join("muscles.stage");
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 40;
    bytes[last] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let (found, again) = play(&mut shot, folder.path());
    assert_eq!(found, [Found::Damaged(moments - 1), Found::Sound(moments - 1), Found::Sound(moments - 1)]);
    assert_eq!(whole[1].0.meshes[0].positions, again[1].0.meshes[0].positions);
}

#[test]
fn a_region_without_muscles_is_refused_by_name() {
    let arm = Arc::new(crate::samples::build("arm?resolution=2000").unwrap());
    let plan = Plan::new(None, &Sampling::default()).unwrap();
    let settings = Settings { region: region::find(&arm, "leftArm"), ..Settings::default() };
    let none = BodyDef::default();
    let error = Shot::new(arm, &none, Path::new("."), &plan, &settings).unwrap_err();
    assert!(error.to_string().contains("no muscle of the anatomy lies in the region"), "{error}");
}

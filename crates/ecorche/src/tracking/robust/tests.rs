//! The tracker as a whole.

use super::{Tracked, Tracker, Workspace};
use crate::character::Pose;
use crate::parts::Parts;
use crate::skinning::Surface;
use glam::{Affine3A, Vec3};

/// A sample ready to be tracked in one pose of a clip.
struct Scene {
    tracker: Tracker,
    rest: Vec<Vec3>,
    posed_from_bind: Vec<Affine3A>,
}

impl Scene {
    fn new(sample: &str, clip: &str, time: f32) -> Self {
        let character = crate::samples::build(sample).unwrap();
        let surface = Surface::new(&character).unwrap();
        let parts = Parts::build(&surface, &character, &Default::default(), None);
        let tracker = Tracker::new(&character, &surface, &parts, Default::default(), Vec::new(), None);
        let mut pose = Pose::rest(&character);
        character.clip(clip).unwrap().sample(time, &mut pose);
        let world = pose.world(&character.skeleton);
        let posed_from_bind = world.iter().zip(surface.joint_from_bind()).map(|(&w, &b)| w * b).collect();
        Self { tracker, rest: surface.mesh.positions.clone(), posed_from_bind }
    }

    fn track(&self, trace: Option<u32>, workspace: &mut Workspace, tracked: &mut Tracked) {
        self.tracker.track(&self.posed_from_bind, &self.rest, None, None, trace, workspace, tracked);
    }
}

/// What two frames must have in common to be the same.
fn assert_same(a: &Tracked, b: &Tracked) {
    let bits = |tracked: &Tracked| -> Vec<[u32; 3]> {
        tracked.positions.iter().map(|p| p.to_array().map(f32::to_bits)).collect()
    };
    assert_eq!(bits(a), bits(b));
    assert_eq!(a.reports, b.reports);
    assert_eq!(a.cosines, b.cosines);
    assert_eq!(a.partners, b.partners);
    assert_eq!((a.pairs, a.rounds), (b.pairs, b.rounds));
    assert_eq!(a.path, b.path);
}

#[test]
fn a_workspace_serves_trackers_of_different_sizes_in_any_order() {
    let scenes = [
        Scene::new("hand?resolution=2000", "fist", 1.0),
        Scene::new("cylinder", "bend", 1.0),
        Scene::new("cylinder?segments=12&rings=24", "bend", 1.0),
    ];
    let fresh = scenes.each_ref().map(|scene| {
        let mut tracked = Tracked::default();
        scene.track(Some(7), &mut Workspace::default(), &mut tracked);
        tracked
    });
    let has_contact = |tracked: &Tracked| tracked.reports.iter().any(|report| report.contact > 0.0);
    assert!(fresh.iter().all(has_contact), "every scene has skin in contact");
    let (mut workspace, mut tracked) = (Workspace::default(), Tracked::default());
    for scene in [0, 2, 1, 0, 1, 2, 2, 0] {
        scenes[scene].track(Some(7), &mut workspace, &mut tracked);
        assert_same(&tracked, &fresh[scene]);
    }
}

#[test]
fn only_a_traced_vertex_has_a_path() {
    let scene = Scene::new("cylinder?segments=12&rings=24", "bend", 1.0);
    let (mut workspace, mut tracked) = (Workspace::default(), Tracked::default());
    scene.track(Some(5), &mut workspace, &mut tracked);
    let end = tracked.path.last().map(|step| step.1);
    assert_eq!(end, Some(tracked.positions[5]), "the path ends where the vertex is");
    for nothing in [None, Some(u32::MAX)] {
        scene.track(nothing, &mut workspace, &mut tracked);
        assert!(tracked.path.is_empty());
    }
}

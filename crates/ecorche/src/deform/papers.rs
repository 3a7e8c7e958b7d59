//! The schemes of 2012 and 2014 on a whole character, to compare with.
//!
//! The 2014 scheme carries positions from pose to pose. The joints' local transforms are blended in even steps on the way. It starts
//! from bind, so that a frame depends on its pose alone; or from the frame before, as the thesis has it, if it gets a [`State`].

use super::field::{self, BodyField, sound};
use super::fleshed::UnderSkin;
use super::implicit::has_part;
use super::{Settings, Tracking};
use crate::character::Character;
use crate::field::Field;
use crate::field::operator::controller;
use crate::field::tree::Tree;
use crate::frame::Found;
use crate::geom::Adjacency;
use crate::math::Transform;
use crate::parts::{FOLLOWS, Parts};
use crate::skinning::{self, Skinner, Surface};
use crate::tracking::VertexReport;
use crate::tracking::papers::arap::blended_rotations;
use crate::tracking::papers::own_side::PartFields;
use crate::tracking::papers::scheme_2014::{Motion, substeps};
use crate::tracking::papers::{Vertices, scheme_2012, scheme_2014};
use glam::{Affine3A, Quat, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Vertices handled by a thread at a time.
const VERTICES_PER_TASK: usize = 128;

#[derive(Debug)]
pub(super) struct Papers {
    skinner: Skinner,
    scheme: Scheme,
    /// Of each vertex: the part it is kept on the side of, and the limb's radius.
    part: Vec<u32>,
    limb_radius: Vec<f32>,
    /// Local transforms of the joints at bind time.
    bind: Vec<Transform>,
    /// What lies in the parts at bind; `None` without any.
    under: Option<UnderSkin>,
}

/// What the scheme of 2014 left in a frame, to go on from. Empty before the first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    positions: Vec<Vec3>,
    world_from_joint: Vec<Affine3A>,
}

impl State {
    /// As before the first frame.
    pub fn reset(&mut self) {
        self.positions.clear();
        self.world_from_joint.clear();
    }

    /// Whether it is empty or of a surface of `vertices` on `joints`.
    pub fn is_of(&self, vertices: usize, joints: usize) -> bool {
        let lengths = (self.positions.len(), self.world_from_joint.len());
        lengths == (0, 0) || lengths == (vertices, joints)
    }
}

#[derive(Debug)]
enum Scheme {
    Of2012(scheme_2012::Tracker),
    Of2014(scheme_2014::Tracker),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    pub positions: Vec<Vec3>,
    iso: Vec<f32>,
    skinning: skinning::Workspace,
    of_2012: scheme_2012::Workspace,
    of_2014: scheme_2014::Workspace,
}

/// A frame as the schemes see it.
pub(super) struct Scene<'a> {
    pub character: &'a Character,
    pub surface: &'a Surface,
    pub parts: &'a Parts,
    pub tree: &'a Arc<Tree>,
    pub world_from_joint: &'a [Affine3A],
    pub posed_from_bind: &'a [Affine3A],
    /// Bind space, morphs blended in.
    pub rest: &'a [Vec3],
    /// What lies in the parts in the pose; `None` without any.
    pub under: Option<UnderSkin>,
}

impl Papers {
    pub fn new(
        character: &Character,
        surface: &Surface,
        start: Skinner,
        parts: &Parts,
        tree: &Arc<Tree>,
        under: Option<UnderSkin>,
        settings: &Settings,
    ) -> Self {
        let adjacency = Adjacency::new(&surface.mesh);
        let scheme = if settings.stack.tracking == Some(Tracking::Scheme2012) {
            Scheme::Of2012(scheme_2012::Tracker::new(&surface.mesh, &adjacency, settings.scheme_2012))
        } else {
            Scheme::Of2014(scheme_2014::Tracker::new(&surface.mesh, &adjacency, settings.scheme_2014.clone()))
        };
        let radius = |&p: &u32| parts.parts.get(p as usize).map_or(1.0, |p| p.inner_radius);
        Self {
            skinner: start,
            scheme,
            limb_radius: parts.part_of_vertex.iter().map(radius).collect(),
            part: sides(surface, parts, tree, under.as_ref(), settings),
            bind: local_at_bind(character, surface),
            under,
        }
    }

    /// `state`: where the frame before ended, and then where this one does.
    pub fn track(&self, scene: &Scene, state: Option<&mut State>, w: &mut Workspace, found: &mut Found) {
        let count = scene.rest.len();
        let posed_from_bind: Vec<Affine3A> = scene.posed_from_bind.iter().map(sound).collect();
        found.reports.resize(count, VertexReport::default());
        found.cosines.resize(count, 1.0);
        w.positions.clear();
        w.positions.extend_from_slice(scene.rest);
        if scene.parts.parts.is_empty() {
            self.skinner.skin(&posed_from_bind, scene.rest, &mut w.positions, &mut w.skinning);
            return;
        }
        let still = vec![Affine3A::IDENTITY; posed_from_bind.len()];
        let at_rest = field::posed(scene.tree, scene.parts, &still, self.under.as_ref());
        let iso = |v: usize| if has_part(scene.parts, v) { at_rest.sample(scene.rest[v]).value } else { 0.0 };
        (0..count).into_par_iter().with_min_len(VERTICES_PER_TASK).map(iso).collect_into_vec(&mut w.iso);
        let vertices = Vertices { iso: &w.iso, limb_radius: &self.limb_radius, part: &self.part };
        let (positions, reports) = (&mut w.positions, &mut found.reports);
        let field = match &self.scheme {
            Scheme::Of2012(tracker) => {
                self.skinner.skin(&posed_from_bind, scene.rest, positions, &mut w.skinning);
                let field = field::posed(scene.tree, scene.parts, &posed_from_bind, scene.under.as_ref());
                tracker.track(&field, &vertices, positions, reports, &mut w.of_2012);
                field
            }
            Scheme::Of2014(tracker) => {
                // A morph moves the resting skin, which positions of an earlier frame do not know of.
                let morphed = scene.rest != scene.surface.mesh.positions;
                let before = state.as_deref().filter(|s| s.positions.len() == count && !morphed);
                if let Some(before) = before {
                    positions.copy_from_slice(&before.positions);
                }
                let field = field::posed(scene.tree, scene.parts, &posed_from_bind, scene.under.as_ref());
                let from = before.map(|s| s.world_from_joint.as_slice());
                let mut motion = Way::new(self, scene, from, &posed_from_bind, field, &mut w.skinning);
                let steps = substeps(motion.largest_turn(), tracker.settings().largest_turn);
                tracker.track(&mut motion, steps, &vertices, positions, reports, &mut w.of_2014);
                let field = motion.field;
                if let Some(state) = state {
                    state.positions.clone_from(positions);
                    state.world_from_joint.clear();
                    state.world_from_joint.extend(scene.world_from_joint.iter().map(sound));
                }
                field
            }
        };
        for (v, report) in reports.iter_mut().enumerate().filter(|(v, _)| !has_part(scene.parts, *v)) {
            *report = VertexReport { fell_back: false, ..VertexReport::default() };
            debug_assert!(w.iso[v] == 0.0);
        }
        let (positions, reports) = (&w.positions, &found.reports);
        let cosine = |v: usize| {
            let (own, other) = field.own_and_other(self.part[v], positions[v]);
            let meets = reports[v].contact > 0.0 && own.value > 0.0 && other.value > 0.0;
            if meets { controller::angle(own.gradient, other.gradient).cos() as f32 } else { 1.0 }
        };
        (0..count)
            .into_par_iter()
            .with_min_len(VERTICES_PER_TASK)
            .map(cosine)
            .collect_into_vec(&mut found.cosines);
    }
}

/// The motion to the pose, from bind or from an earlier pose.
struct Way<'a, 'w> {
    papers: &'a Papers,
    scene: &'a Scene<'a>,
    /// Local transforms where the way begins, and in the pose.
    start: Vec<Transform>,
    end: Vec<Transform>,
    posed_from_bind: &'a [Affine3A],
    before: Vec<Affine3A>,
    field: BodyField<'a>,
    unmoved: Vec<Vec3>,
    skinning: &'w mut skinning::Workspace,
}

impl<'a, 'w> Way<'a, 'w> {
    /// `from`: the joints of an earlier pose in the world; bind without one.
    fn new(
        papers: &'a Papers,
        scene: &'a Scene<'a>,
        from: Option<&[Affine3A]>,
        posed_from_bind: &'a [Affine3A],
        field: BodyField<'a>,
        skinning: &'w mut skinning::Workspace,
    ) -> Self {
        let binds = scene.surface.joint_from_bind();
        let (start, before) = match from {
            Some(world) => {
                let moved = world.iter().zip(binds).map(|(&world, &bind)| sound(&(world * bind)));
                (local(scene.character, world), moved.collect())
            }
            None => (papers.bind.clone(), vec![Affine3A::IDENTITY; posed_from_bind.len()]),
        };
        let world: Vec<Affine3A> = scene.world_from_joint.iter().map(sound).collect();
        Self {
            papers,
            scene,
            start,
            end: local(scene.character, &world),
            posed_from_bind,
            before,
            field,
            unmoved: Vec::new(),
            skinning,
        }
    }

    /// Largest turn of all joints but roots: turning the whole body needs no tracking.
    fn largest_turn(&self) -> f32 {
        let joints = self.scene.character.skeleton.joints.iter();
        let turns = joints.zip(&self.start).zip(&self.end).filter(|((joint, _), _)| joint.parent.is_some());
        turns.map(|((_, start), end)| start.rotation.angle_between(end.rotation)).fold(0.0, f32::max)
    }

    /// Motion of every joint from bind space when a share of the way is done.
    fn motions(&self, share: f32) -> Vec<Affine3A> {
        if share >= 1.0 {
            return self.posed_from_bind.to_vec();
        }
        let mut world: Vec<Affine3A> = Vec::with_capacity(self.end.len());
        for ((joint, start), end) in
            self.scene.character.skeleton.joints.iter().zip(&self.start).zip(&self.end)
        {
            let local = Transform {
                translation: start.translation.lerp(end.translation, share),
                rotation: start.rotation.slerp(end.rotation, share),
                scale: start.scale.lerp(end.scale, share),
            };
            let local = local.to_affine();
            world.push(joint.parent.map_or(local, |parent| world[parent] * local));
        }
        let binds = self.scene.surface.joint_from_bind();
        world.iter().zip(binds).map(|(&world, &bind)| sound(&(world * bind))).collect()
    }
}

impl Motion for Way<'_, '_> {
    fn advance(&mut self, _from: f32, to: f32, positions: &mut [Vec3], rotations: &mut [Quat]) {
        let after = self.motions(to);
        let increments: Vec<Affine3A> =
            self.before.iter().zip(&after).map(|(b, a)| sound(&(*a * b.inverse()))).collect();
        self.unmoved.clear();
        self.unmoved.extend_from_slice(positions);
        self.papers.skinner.skin(&increments, &self.unmoved, positions, self.skinning);
        let turns: Vec<Quat> = after.iter().map(|m| Transform::from_affine(*m).0.rotation).collect();
        blended_rotations(&self.scene.surface.influences, &turns, rotations);
        let joints = self.scene.parts.parts.iter().map(|p| p.joint as usize);
        self.field.pose(|fields| {
            fields.iter_mut().zip(joints).for_each(|(field, joint)| field.set_motion(after[joint]));
        });
        self.before = after;
    }

    fn fields(&self) -> &dyn PartFields {
        &self.field
    }
}

/// The part each vertex is kept on the side of; [`FOLLOWS`] for vertices whose part has lost to another at rest already.
fn sides(
    surface: &Surface,
    parts: &Parts,
    tree: &Arc<Tree>,
    under: Option<&UnderSkin>,
    settings: &Settings,
) -> Vec<u32> {
    let scheme = &settings.scheme_2014;
    let Some(pass) = &scheme.own_side else { return parts.part_of_vertex.clone() };
    let joints = surface.joint_from_bind().len();
    let at_rest = field::posed(tree, parts, &vec![Affine3A::IDENTITY; joints], under);
    let side = |(&part, &rest): (&u32, &Vec3)| {
        let (own, other) = at_rest.own_and_other(part, rest);
        let opposed = controller::angle(own.gradient, other.gradient) >= f64::from(pass.least_angle);
        let lost = own.value - other.value < pass.gap.max(scheme.contact_band);
        if other.value > 0.5 && opposed && lost { FOLLOWS } else { part }
    };
    parts.part_of_vertex.iter().zip(&surface.mesh.positions).map(side).collect()
}

/// Local transforms of joints that are in the world.
fn local(character: &Character, world: &[Affine3A]) -> Vec<Transform> {
    let local = |(j, joint): (usize, &crate::character::Joint)| {
        let parent = joint.parent.map_or(Affine3A::IDENTITY, |p| world[p]);
        Transform::from_affine(sound(&(parent.inverse() * world[j]))).0
    };
    character.skeleton.joints.iter().enumerate().map(local).collect()
}

/// Local transforms at bind time: known of joints in a skin; others hang on their parent as the file has them.
fn local_at_bind(character: &Character, surface: &Surface) -> Vec<Transform> {
    let joints = &character.skeleton.joints;
    let mut in_skin = vec![false; joints.len()];
    for joint in character.meshes.iter().filter_map(|m| m.skin()).flat_map(|skin| &skin.joints) {
        in_skin[*joint] = true;
    }
    let mut world: Vec<Affine3A> = Vec::with_capacity(joints.len());
    for (j, joint) in joints.iter().enumerate() {
        let parent = joint.parent.map_or(Affine3A::IDENTITY, |p| world[p]);
        world.push(if in_skin[j] {
            sound(&surface.joint_from_bind()[j].inverse())
        } else {
            parent * joint.rest.to_affine()
        });
    }
    local(character, &world)
}

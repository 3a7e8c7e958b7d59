//! The schemes of 2012 and 2014 on a whole character, to compare with.
//!
//! The 2014 scheme carries positions from pose to pose. Here it always starts from bind: the joints' local
//! transforms are blended in even steps, so that a frame depends on its pose alone.

use super::field::{self, BodyField, sound};
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
use std::sync::Arc;

/// Largest turn of a joint in one substep, radians: 10 degrees, enough for bends up to 150 on a plain limb
/// ([`crate::tracking`]). Not tuned on characters.
const LARGEST_TURN: f32 = 10.0 * std::f32::consts::PI / 180.0;

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
}

impl Papers {
    pub fn new(
        character: &Character,
        surface: &Surface,
        start: Skinner,
        parts: &Parts,
        tree: &Arc<Tree>,
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
            part: sides(surface, parts, tree, settings),
            bind: local_at_bind(character, surface),
        }
    }

    pub fn track(&self, scene: &Scene, w: &mut Workspace, found: &mut Found) {
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
        let at_rest = field::posed(scene.tree, scene.parts, &vec![Affine3A::IDENTITY; posed_from_bind.len()]);
        let iso = |v: usize| if has_part(scene.parts, v) { at_rest.sample(scene.rest[v]).value } else { 0.0 };
        (0..count).into_par_iter().with_min_len(VERTICES_PER_TASK).map(iso).collect_into_vec(&mut w.iso);
        let vertices = Vertices { iso: &w.iso, limb_radius: &self.limb_radius, part: &self.part };
        let (positions, reports) = (&mut w.positions, &mut found.reports);
        let field = match &self.scheme {
            Scheme::Of2012(tracker) => {
                self.skinner.skin(&posed_from_bind, scene.rest, positions, &mut w.skinning);
                let field = field::posed(scene.tree, scene.parts, &posed_from_bind);
                tracker.track(&field, &vertices, positions, reports, &mut w.of_2012);
                field
            }
            Scheme::Of2014(tracker) => {
                let mut motion = FromBind::new(self, scene, &posed_from_bind, at_rest, &mut w.skinning);
                let steps = substeps(motion.largest_turn(), LARGEST_TURN);
                tracker.track(&mut motion, steps, &vertices, positions, reports, &mut w.of_2014);
                motion.field
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

/// The motion from bind to the pose.
struct FromBind<'a, 'w> {
    papers: &'a Papers,
    scene: &'a Scene<'a>,
    /// Local transforms in the pose.
    pose: Vec<Transform>,
    posed_from_bind: &'a [Affine3A],
    before: Vec<Affine3A>,
    field: BodyField<'a>,
    start: Vec<Vec3>,
    skinning: &'w mut skinning::Workspace,
}

impl<'a, 'w> FromBind<'a, 'w> {
    fn new(
        papers: &'a Papers,
        scene: &'a Scene<'a>,
        posed_from_bind: &'a [Affine3A],
        field: BodyField<'a>,
        skinning: &'w mut skinning::Workspace,
    ) -> Self {
        let joints = &scene.character.skeleton.joints;
        let world: Vec<Affine3A> = scene.world_from_joint.iter().map(sound).collect();
        let local = |(j, joint): (usize, &crate::character::Joint)| {
            let parent = joint.parent.map_or(Affine3A::IDENTITY, |p| world[p]);
            Transform::from_affine(sound(&(parent.inverse() * world[j]))).0
        };
        Self {
            papers,
            scene,
            pose: joints.iter().enumerate().map(local).collect(),
            posed_from_bind,
            before: vec![Affine3A::IDENTITY; posed_from_bind.len()],
            field,
            start: Vec::new(),
            skinning,
        }
    }

    /// Largest turn of all joints but roots: turning the whole body needs no tracking.
    fn largest_turn(&self) -> f32 {
        let joints = self.scene.character.skeleton.joints.iter();
        let turns =
            joints.zip(&self.papers.bind).zip(&self.pose).filter(|((joint, _), _)| joint.parent.is_some());
        turns.map(|((_, bind), pose)| bind.rotation.angle_between(pose.rotation)).fold(0.0, f32::max)
    }

    /// Motion of every joint from bind space when a share of the way is done.
    fn motions(&self, share: f32) -> Vec<Affine3A> {
        if share >= 1.0 {
            return self.posed_from_bind.to_vec();
        }
        let mut world: Vec<Affine3A> = Vec::with_capacity(self.pose.len());
        for ((joint, bind), pose) in
            self.scene.character.skeleton.joints.iter().zip(&self.papers.bind).zip(&self.pose)
        {
            let local = Transform {
                translation: bind.translation.lerp(pose.translation, share),
                rotation: bind.rotation.slerp(pose.rotation, share),
                scale: bind.scale.lerp(pose.scale, share),
            };
            let local = local.to_affine();
            world.push(joint.parent.map_or(local, |parent| world[parent] * local));
        }
        let binds = self.scene.surface.joint_from_bind();
        world.iter().zip(binds).map(|(&world, &bind)| sound(&(world * bind))).collect()
    }
}

impl Motion for FromBind<'_, '_> {
    fn advance(&mut self, _from: f32, to: f32, positions: &mut [Vec3], rotations: &mut [Quat]) {
        let after = self.motions(to);
        let increments: Vec<Affine3A> =
            self.before.iter().zip(&after).map(|(b, a)| sound(&(*a * b.inverse()))).collect();
        self.start.clear();
        self.start.extend_from_slice(positions);
        self.papers.skinner.skin(&increments, &self.start, positions, self.skinning);
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
fn sides(surface: &Surface, parts: &Parts, tree: &Arc<Tree>, settings: &Settings) -> Vec<u32> {
    let scheme = &settings.scheme_2014;
    let Some(pass) = &scheme.own_side else { return parts.part_of_vertex.clone() };
    let joints = surface.joint_from_bind().len();
    let at_rest = field::posed(tree, parts, &vec![Affine3A::IDENTITY; joints]);
    let side = |(&part, &rest): (&u32, &Vec3)| {
        let (own, other) = at_rest.own_and_other(part, rest);
        let opposed = controller::angle(own.gradient, other.gradient) >= f64::from(pass.least_angle);
        let lost = own.value - other.value < pass.gap.max(scheme.contact_band);
        if other.value > 0.5 && opposed && lost { FOLLOWS } else { part }
    };
    parts.part_of_vertex.iter().zip(&surface.mesh.positions).map(side).collect()
}

/// Local transforms at bind time: known of joints in a skin; others hang on their parent as the file has them.
fn local_at_bind(character: &Character, surface: &Surface) -> Vec<Transform> {
    let joints = &character.skeleton.joints;
    let mut in_skin = vec![false; joints.len()];
    for joint in character.meshes.iter().filter_map(|m| m.skin()).flat_map(|skin| &skin.joints) {
        in_skin[*joint] = true;
    }
    let mut world: Vec<Affine3A> = Vec::with_capacity(joints.len());
    let mut local = Vec::with_capacity(joints.len());
    for (j, joint) in joints.iter().enumerate() {
        let parent = joint.parent.map_or(Affine3A::IDENTITY, |p| world[p]);
        let at_bind = if in_skin[j] {
            sound(&surface.joint_from_bind()[j].inverse())
        } else {
            parent * joint.rest.to_affine()
        };
        local.push(Transform::from_affine(sound(&(parent.inverse() * at_bind))).0);
        world.push(at_bind);
    }
    local
}

//! What elastic flesh does in the poses of a clip: the reference that skinning methods are measured against.
//!
//! The skin's solid is filled with tetrahedra of one size ([`crate::tissue::mesh`]). Nodes within the bones follow their
//! joints exactly ([`super::cores`]); the others settle where the energy of a nearly incompressible neo-Hookean material
//! and the skin's contact with itself is least ([`super::equilibrium`]). Poses are reached from the bind pose, or from
//! the pose before, through steps of a few degrees. The skin's vertices lie within the tetrahedra.
//!
//! Limits. No gravity, friction, muscles or sliding skin: flesh sticks to its bones. Morphs are left out. Parts that are
//! thinner than an element and a half are thickened. The result depends on the size of the elements, most
//! in a closed fold; [`Difference`] between two sizes tells how much.

use super::barrier::Barrier;
use super::cores::{self, Bone};
use super::equilibrium::{self, Equilibrium};
use crate::character::{Character, Pose};
use crate::deform::{BindError, Body, Stack, Workspace};
use crate::frame::{Frame, FrameMesh};
use crate::geom::sdf::{SdfError, SurfaceDistance};
use crate::geom::{Adjacency, SelfContact, TriMesh};
use crate::pieces::skeleton::Bones;
use crate::skinning::Surface;
use crate::tissue::boundary::Place;
use crate::tissue::embed::embed;
use crate::tissue::material::{Lame, LogarithmicNeoHookean};
use crate::tissue::mesh::{self, MeshError, Meshed, Size};
use crate::tissue::model::{self, Model, ModelError};
use crate::tissue::solve::SolveError;
use glam::{DAffine3, DQuat, DVec3, Vec3, Vec3A};
use serde::Serialize;
use std::sync::Arc;

/// How fine the flesh is meshed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Resolution {
    /// Three or four elements between bone and skin; at most some 60,000 tetrahedra.
    #[default]
    Coarse,
    /// Elements of two thirds of the edge; at most some 200,000 tetrahedra.
    Fine,
}

impl std::str::FromStr for Resolution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "coarse" => Ok(Self::Coarse),
            "fine" => Ok(Self::Fine),
            _ => Err(format!("no resolution is called \"{text}\"; use coarse or fine")),
        }
    }
}

impl Resolution {
    /// Elements in the depth of a bone under its skin, and most tetrahedra.
    fn bounds(self) -> (f64, f64) {
        match self {
            Self::Coarse => (3.5, 60e3),
            Self::Fine => (5.25, 200e3),
        }
    }
}

/// What the flesh is like.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How fine it is.
    pub resolution: Resolution,
    /// Edge of the elements, metres; `None` takes what the resolution asks for.
    pub edge: Option<f64>,
    /// Poisson's ratio, 0 to below 0.5: resistance to change of volume.
    pub poisson: f64,
    /// Shape of the bones.
    pub bones: cores::Shape,
    /// Only the flesh along the bone that ends at this joint and the bones that begin there; the rest of the skin comes
    /// from dual quaternions. `None` takes everything.
    pub region: Option<usize>,
    /// Largest turn of a joint in one step, radians.
    pub turn: f64,
    /// When a pose counts as found.
    pub solve: equilibrium::Settings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            resolution: Resolution::Coarse,
            edge: None,
            // Chosen, not tuned: the arm then keeps its volume within 1 % at every angle of its curl.
            poisson: 0.485,
            bones: cores::Shape::default(),
            region: None,
            turn: 5f64.to_radians(),
            solve: equilibrium::Settings::default(),
        }
    }
}

/// Why there is no reference.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// Nothing is skinned.
    #[error("\"{0}\" has no skinned mesh; give it weights")]
    NoSkin(String),
    /// The skin does not enclose a solid.
    #[error(
        "\"{name}\": the skin is not closed: {open} edges have one triangle, {non_manifold} more than two; close the holes, or \
         join the meshes into one"
    )]
    NotClosed {
        /// The character.
        name: String,
        /// Edges with one triangle.
        open: usize,
        /// Edges with three triangles or more.
        non_manifold: usize,
    },
    /// The skin bounds no solid.
    #[error("\"{name}\": {source}")]
    Skin {
        /// The character.
        name: String,
        /// Why.
        source: SdfError,
    },
    /// The solid could not be meshed.
    #[error("\"{name}\": {source}")]
    Mesh {
        /// The character.
        name: String,
        /// Why.
        source: MeshError,
    },
    /// The mesh cannot be simulated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// No bone lies inside the flesh.
    #[error("\"{0}\": no bone lies inside the skin; check that the skeleton is bound to this mesh")]
    NoBones(String),
    /// The joint of the region has no bones.
    #[error(
        "joint \"{0}\" has no bone with flesh on both sides; choose a joint between two bones, such as an elbow"
    )]
    NoRegion(String),
    /// The linear systems cannot be solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The rest of the skin.
    #[error(transparent)]
    Bind(#[from] BindError),
}

/// What the flesh was made into.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Tetrahedra.
    pub tetrahedra: usize,
    /// Their nodes.
    pub nodes: usize,
    /// Nodes that follow bones.
    pub bone_nodes: usize,
    /// Edge of the lattice, metres.
    pub edge: f64,
    /// Distance that contact keeps at most, metres.
    pub contact_distance: f64,
    /// Vertices of the skin that follow the flesh.
    pub vertices: usize,
    /// Vertices on parts that are too thin for the tetrahedra; they are skinned with dual quaternions.
    pub outside: usize,
}

/// How well one pose was solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PoseReport {
    /// Steps from the pose before.
    pub steps: usize,
    /// Linear systems solved.
    pub iterations: usize,
    /// Largest force that is left on a free node, over the largest that a bone takes.
    pub residual: f64,
    /// Whether every step converged.
    pub converged: bool,
    /// Tetrahedra without positive volume.
    pub inverted: usize,
    /// Smallest volume of a tetrahedron over its volume at rest.
    pub smallest_volume: f64,
    /// Pairs of triangles of the resulting skin that pass through each other, beyond those of the rest shape. Of a region
    /// only those with a triangle in it.
    pub pairs: usize,
    /// Change of the flesh's volume, as a part of it.
    pub volume_drift: f64,
    /// Change of the volume inside the whole skin, as a part of it; `None` of a region.
    pub skin_volume_drift: Option<f64>,
}

/// How far two results of the same frame lie apart, metres, over the vertices that follow flesh in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Difference {
    /// Mean distance.
    pub mean: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Largest.
    pub worst: f64,
}

/// The flesh of a character in some pose.
#[derive(Debug)]
pub struct Reference {
    character: Arc<Character>,
    surface: Surface,
    /// Skins what has no flesh.
    around: Body,
    flesh: Equilibrium,
    /// Nodes that follow bones, with their joint.
    led: Vec<(u32, u32)>,
    /// Of each joint, the nearest joint above it that leads nodes.
    above: Vec<Option<usize>>,
    /// In whose frame the flesh is solved.
    anchor: usize,
    joint_from_bind: Vec<DAffine3>,
    /// Parent-from-joint of the pose that was solved last.
    local: Vec<(DVec3, DQuat, DVec3)>,
    place: Vec<Place>,
    /// How much of the flesh each vertex of the surface takes; the rest is skinned.
    share: Vec<f64>,
    crossings: SelfContact,
    crossings_at_rest: usize,
    rest_volumes: [f64; 2],
    /// Whether there is no region.
    whole: bool,
    turn: f64,
    summary: Summary,
    workspace: Workspace,
}

/// Young's modulus, pascals. Balance does not depend on it.
const YOUNG: f64 = 1e4;

/// Width of the contact barrier over the edge of an element.
const CONTACT: f64 = 0.08;

/// Least weight of a node in a vertex that follows the flesh. Where the skin is meshed well, vertices lie inside their
/// tetrahedron or a little beside it.
const OUTSIDE: f64 = -0.5;

/// How many times a step that does not converge is halved.
const HALVINGS: u32 = 3;

impl Reference {
    /// Fills the skin of a character with flesh, in its bind pose.
    pub fn new(character: Arc<Character>, settings: &Settings) -> Result<Self, ReferenceError> {
        let name = character.name.clone();
        let surface = Surface::new(&character).ok_or_else(|| ReferenceError::NoSkin(name.clone()))?;
        let joint_of_vertex: Vec<u32> = surface
            .regions
            .region_of_vertex
            .iter()
            .map(|&r| surface.regions.regions[r as usize].joint)
            .collect();
        let skeleton = Bones::new(&character, &surface, &joint_of_vertex);
        let (skin, vertex_of) = largest_piece(&surface.mesh);
        let adjacency = Adjacency::new(&skin);
        let (open, non_manifold) = (adjacency.open_edges(), adjacency.non_manifold_edges());
        if open + non_manifold > 0 {
            return Err(ReferenceError::NotClosed { name, open, non_manifold });
        }
        let distance = SurfaceDistance::new(&skin)
            .map_err(|source| ReferenceError::Skin { name: name.clone(), source })?;
        let all = bones(&character, &skeleton, &distance);
        let region = match settings.region {
            Some(joint) => Some(
                Region::new(&character, &skeleton, &all, joint)
                    .ok_or_else(|| ReferenceError::NoRegion(character.skeleton.joints[joint].name.clone()))?,
            ),
            None => None,
        };
        let own: &[Bone] = region.as_ref().map_or(&all, |r| &r.bones);
        let meshed = fill(&skin, &distance, own, region.as_ref(), settings)
            .map_err(|source| ReferenceError::Mesh { name: name.clone(), source })?;
        let Meshed { mesh, edge, .. } = meshed;
        let mut joint_of = cores::led_by(&mesh, edge, own, &distance, &settings.bones);
        if let Some(region) = &region {
            for (joint, &node) in joint_of.iter_mut().zip(&mesh.nodes) {
                if region.depth(node) < 1.2 * edge {
                    *joint = region.nearest(node);
                }
            }
            cores::release_between(&mesh, &mut joint_of);
        }
        let led: Vec<(u32, u32)> = (0u32..)
            .zip(&joint_of)
            .filter(|(_, joint)| **joint != u32::MAX)
            .map(|(node, &joint)| (node, joint))
            .collect();
        if led.len() < 3 {
            return Err(ReferenceError::NoBones(name));
        }
        let (anchor, above) = chain(&character, &led);

        // The vertices that follow flesh, and the contact surface among them.
        let points: Vec<DVec3> = surface.mesh.positions.iter().map(|p| p.as_dvec3()).collect();
        let place = embed(&mesh, &points);
        let lost: Vec<bool> = place.iter().map(|p| p.weights.iter().any(|&w| w < OUTSIDE)).collect();
        let depth = |v: usize| region.as_ref().map_or(f64::INFINITY, |r| r.depth(points[v]));
        let share: Vec<f64> = (0..points.len())
            .map(|v| if lost[v] { 0.0 } else { ease((depth(v) - 1.2 * edge) / (2.0 * edge)) })
            .collect();
        let kept = |v: u32| depth(v as usize) > 0.0 && !lost[v as usize];
        let (contact, places) = contact_surface(&skin, &vertex_of, &place, kept);
        let outside = (0..points.len()).filter(|&v| lost[v] && depth(v) > 0.0).count();
        let stiffness = cores::stiffness(&mesh, &joints_within(own), &distance, &settings.bones);
        let law = LogarithmicNeoHookean { lame: Lame::new(YOUNG, settings.poisson) };
        let mut body = model::Body::uniform("flesh", mesh, Box::new(law), 1000.0);
        for (local, stiffness) in body.local.iter_mut().zip(stiffness) {
            local.stiffness = stiffness;
        }
        let model = Model::new(vec![body])?;
        let barrier = Barrier::new(&contact, CONTACT * edge, YOUNG);
        let summary = Summary {
            tetrahedra: model.tets.len(),
            nodes: model.rest.len(),
            bone_nodes: led.len(),
            edge,
            contact_distance: barrier.width(),
            vertices: share.iter().filter(|s| **s > 0.0).count(),
            outside,
        };
        let rest_volumes = [model.volume(0, &model.rest), surface.mesh.volume()];
        let mut held = vec![false; model.rest.len()];
        led.iter().for_each(|&(node, _)| held[node as usize] = true);
        let flesh = Equilibrium::new(model, places, barrier, held, settings.solve)?;
        let mut crossings = SelfContact::new(&surface.mesh.positions, &surface.mesh.triangles);
        let at_rest = crossings.find(&surface.mesh.positions).pairs;
        let crossings_at_rest = count_in(&at_rest, &surface.mesh, &share);
        let bind: Vec<DAffine3> = skeleton.bind_from_joint.iter().map(|m| wide(*m)).collect();
        let local = locals(&character, &bind);
        Ok(Self {
            around: Body::bind(character.clone(), Stack::dual_quaternion(), None)?,
            character,
            surface,
            flesh,
            led,
            above,
            anchor,
            joint_from_bind: bind.iter().map(|m| m.inverse()).collect(),
            local,
            place,
            share,
            crossings,
            crossings_at_rest,
            rest_volumes,
            whole: region.is_none(),
            turn: settings.turn,
            summary,
            workspace: Workspace::default(),
        })
    }

    /// What the flesh was made into.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// Moves the flesh into a pose, from the last one that was asked for, and gives the skin in it.
    pub fn deform(&mut self, pose: &Pose, time: f32) -> Result<(Frame, PoseReport), ReferenceError> {
        let world: Vec<DAffine3> = pose.world(&self.character.skeleton).into_iter().map(wide).collect();
        let goal = locals(&self.character, &world);
        let mut report = PoseReport { converged: true, ..PoseReport::default() };
        let steps = self.steps_to(&goal);
        let start = self.local.clone();
        for step in 1..=steps {
            let part = |k: f64| blend(&start, &goal, k / steps as f64);
            self.step(&part(step as f64 - 1.0), &part(step as f64), HALVINGS, &mut report)?;
        }
        self.local = goal;
        let frame = self.frame(pose, time, &mut report);
        Ok((frame, report))
    }

    /// One step between two poses, in halves where it does not converge.
    fn step(
        &mut self,
        from: &Local,
        to: &Local,
        halvings: u32,
        report: &mut PoseReport,
    ) -> Result<(), ReferenceError> {
        let before = self.flesh.positions.clone();
        let goals = self.goals(to);
        let done = self.flesh.lead(&goals);
        report.steps += 1;
        let done = match done {
            Err(SolveError::NotDefinite) => equilibrium::Settled::default(),
            other => other?,
        };
        report.iterations += done.solves;
        report.residual = done.residual;
        if done.converged {
            return Ok(());
        }
        if halvings == 0 {
            report.converged = false;
            return Ok(());
        }
        self.flesh.positions = before;
        let middle = blend(from, to, 0.5);
        self.step(from, &middle, halvings - 1, report)?;
        self.step(&middle, to, halvings - 1, report)
    }

    /// Map of every joint from bind space to a pose, in the anchor's frame; and the anchor's own.
    fn maps(&self, local: &Local) -> (Vec<DAffine3>, DAffine3) {
        let mut world: Vec<DAffine3> = Vec::with_capacity(local.len());
        for (joint, &(t, r, s)) in self.character.skeleton.joints.iter().zip(local) {
            let own = DAffine3::from_scale_rotation_translation(s, r, t);
            world.push(joint.parent.map_or(own, |p| world[p] * own));
        }
        let maps: Vec<DAffine3> = world.iter().zip(&self.joint_from_bind).map(|(w, j)| *w * *j).collect();
        let (_, turn, shift) = maps[self.anchor].to_scale_rotation_translation();
        let anchor = DAffine3::from_rotation_translation(turn, shift);
        let back = anchor.inverse();
        (maps.iter().map(|m| back * *m).collect(), anchor)
    }

    fn goals(&self, local: &Local) -> Vec<(u32, DVec3)> {
        let (maps, _) = self.maps(local);
        let rest = &self.flesh.model.rest;
        self.led
            .iter()
            .map(|&(node, joint)| (node, maps[joint as usize].transform_point3(rest[node as usize])))
            .collect()
    }

    /// Steps to a pose, so that no joint turns farther than allowed in one.
    fn steps_to(&self, goal: &Local) -> usize {
        let (from, to) = (self.maps(&self.local).0, self.maps(goal).0);
        let mut most = 0.0f64;
        for &(_, joint) in &self.led {
            let joint = joint as usize;
            let Some(above) = self.above[joint] else { continue };
            let turn =
                |maps: &[DAffine3]| (maps[above].inverse() * maps[joint]).to_scale_rotation_translation().1;
            most = most.max(turn(&from).angle_between(turn(&to)));
        }
        ((most / self.turn).ceil() as usize).max(1)
    }

    fn frame(&mut self, pose: &Pose, time: f32, report: &mut PoseReport) -> Frame {
        let mut frame = self.around.deform(pose, time, &mut self.workspace);
        let (_, anchor) = self.maps(&self.local);
        let positions = &self.flesh.positions;
        let mut points: Vec<Vec3A> = Vec::with_capacity(self.place.len());
        for ((m, v), (place, &share)) in self.surface.source().zip(self.place.iter().zip(&self.share)) {
            let skinned = frame.meshes[m].positions[v].as_dvec3();
            let point = if share > 0.0 {
                skinned.lerp(anchor.transform_point3(place.at(positions)), share)
            } else {
                skinned
            };
            points.push(point.as_vec3a());
        }
        let mut corners = Vec::new();
        for (m, FrameMesh { positions, normals }) in frame.meshes.iter_mut().enumerate() {
            if self.surface.scatter(&self.character, m, &points, positions) {
                self.character.meshes[m].shading.normals_into(positions, &mut corners, normals);
            }
        }
        let skin: Vec<Vec3> = points.iter().map(|&p| p.into()).collect();
        let [flesh, whole] = self.rest_volumes;
        let model = &self.flesh.model;
        report.inverted = self.flesh.inverted();
        report.smallest_volume = model.smallest_volume_ratio(0, positions);
        let pairs = self.crossings.find(&skin).pairs;
        report.pairs =
            count_in(&pairs, &self.surface.mesh, &self.share).saturating_sub(self.crossings_at_rest);
        report.volume_drift = model.volume(0, positions) / flesh - 1.0;
        let inside = || crate::geom::mesh::volume(&skin, &self.surface.mesh.triangles);
        report.skin_volume_drift = self.whole.then(|| inside() / whole - 1.0);
        frame
    }

    /// How far two frames lie apart where this and `other` have flesh.
    pub fn difference(&self, other: &Self, own: &Frame, others: &Frame) -> Difference {
        let mut distances: Vec<f64> = self
            .surface
            .source()
            .zip(self.share.iter().zip(&other.share))
            .filter(|(_, (a, b))| **a > 0.0 && **b > 0.0)
            .map(|((m, v), _)| {
                own.meshes[m].positions[v].as_dvec3().distance(others.meshes[m].positions[v].as_dvec3())
            })
            .collect();
        distances.sort_by(f64::total_cmp);
        let count = distances.len();
        if count == 0 {
            return Difference::default();
        }
        Difference {
            mean: distances.iter().sum::<f64>() / count as f64,
            p95: distances[(0.95 * (count - 1) as f64).round() as usize],
            worst: distances[count - 1],
        }
    }
}

/// Translation, rotation and scale of every joint relative to its parent.
type Local = Vec<(DVec3, DQuat, DVec3)>;

fn wide(m: glam::Affine3A) -> DAffine3 {
    DAffine3 {
        matrix3: glam::Mat3::from(m.matrix3).as_dmat3(),
        translation: Vec3::from(m.translation).as_dvec3(),
    }
}

fn locals(character: &Character, world: &[DAffine3]) -> Local {
    let joints = &character.skeleton.joints;
    let of = |(joint, world_from_joint): (&crate::character::Joint, &DAffine3)| {
        let own = joint.parent.map_or(*world_from_joint, |p| world[p].inverse() * *world_from_joint);
        let (scale, rotation, translation) = own.to_scale_rotation_translation();
        (translation, rotation.normalize(), scale)
    };
    joints.iter().zip(world).map(of).collect()
}

fn blend(from: &Local, to: &Local, part: f64) -> Local {
    if part >= 1.0 {
        return to.clone();
    }
    let mixed = |(a, b): (&(DVec3, DQuat, DVec3), &(DVec3, DQuat, DVec3))| {
        (a.0.lerp(b.0, part), a.1.slerp(b.1, part), a.2.lerp(b.2, part))
    };
    from.iter().zip(to).map(mixed).collect()
}

/// Pairs of triangles of which at least one follows the flesh.
fn count_in(pairs: &[[u32; 2]], mesh: &TriMesh, share: &[f64]) -> usize {
    let follows = |t: u32| mesh.triangles[t as usize].iter().any(|&v| share[v as usize] > 0.0);
    pairs.iter().filter(|p| p.iter().any(|&t| follows(t))).count()
}

fn ease(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The connected piece with the largest volume as a mesh of its own, and its vertices in the whole.
fn largest_piece(whole: &TriMesh) -> (TriMesh, Vec<u32>) {
    let (piece_of, count) = Adjacency::new(whole).components();
    let mut volumes = vec![0.0; count];
    for triangle in &whole.triangles {
        let [a, b, c] = triangle.map(|v| whole.positions[v as usize].as_dvec3());
        volumes[piece_of[triangle[0] as usize] as usize] += a.dot(b.cross(c)) / 6.0;
    }
    let largest = (0..count).max_by(|&a, &b| volumes[a].abs().total_cmp(&volumes[b].abs())).unwrap_or(0);
    part_of(whole, |v| piece_of[v as usize] as usize == largest)
}

/// The triangles all of whose vertices are kept, and their vertices in the whole.
fn part_of(whole: &TriMesh, keep: impl Fn(u32) -> bool) -> (TriMesh, Vec<u32>) {
    let mut renamed = vec![u32::MAX; whole.positions.len()];
    let mut vertex_of = Vec::new();
    let mut mesh = TriMesh::default();
    for triangle in whole.triangles.iter().filter(|t| t.iter().all(|&v| keep(v))) {
        mesh.triangles.push(triangle.map(|v| {
            if renamed[v as usize] == u32::MAX {
                renamed[v as usize] = vertex_of.len() as u32;
                vertex_of.push(v);
                mesh.positions.push(whole.positions[v as usize]);
            }
            renamed[v as usize]
        }));
    }
    (mesh, vertex_of)
}

/// The part of the skin that is tested for contact, and where its vertices are in the flesh.
fn contact_surface(
    skin: &TriMesh,
    vertex_of: &[u32],
    place: &[Place],
    kept: impl Fn(u32) -> bool,
) -> (TriMesh, Vec<Place>) {
    let (mesh, of_skin) = part_of(skin, |v| kept(vertex_of[v as usize]));
    let places = of_skin.iter().map(|&v| place[vertex_of[v as usize] as usize]).collect();
    (mesh, places)
}

/// Every bone that has length and lies inside the skin at least in part.
fn bones(character: &Character, skeleton: &Bones, skin: &SurfaceDistance) -> Vec<Bone> {
    let mut list = Vec::new();
    let joints = &character.skeleton.joints;
    for joint in (0..joints.len()).filter(|&j| joints[j].in_skin) {
        for [from, to] in skeleton.segments(&[joint as u32]) {
            let ends = [from.as_dvec3(), to.as_dvec3()];
            let inside = (0..=8).any(|k| skin.signed(ends[0].lerp(ends[1], f64::from(k) / 8.0)) < 0.0);
            if ends[0].distance(ends[1]) > 1e-6 && inside {
                list.push(Bone { joint: joint as u32, ends, jointed: [false; 2] });
            }
        }
    }
    let copy = list.clone();
    for bone in &mut list {
        for (jointed, end) in bone.jointed.iter_mut().zip(bone.ends) {
            *jointed =
                copy.iter().any(|o| o.joint != bone.joint && o.ends.iter().any(|e| e.distance(end) < 1e-6));
        }
    }
    list
}

/// Where bones of different joints meet.
fn joints_within(bones: &[Bone]) -> Vec<DVec3> {
    let mut list: Vec<DVec3> = Vec::new();
    for (k, bone) in bones.iter().enumerate() {
        for end in bone.ends {
            let meets = bones[..k]
                .iter()
                .any(|o| o.joint != bone.joint && o.ends.iter().any(|e| e.distance(end) < 1e-6));
            if meets && list.iter().all(|p| p.distance(end) > 1e-6) {
                list.push(end);
            }
        }
    }
    list
}

/// The joint in whose frame to solve: the first that leads nodes. And of each joint, the nearest above it that does.
fn chain(character: &Character, led: &[(u32, u32)]) -> (usize, Vec<Option<usize>>) {
    let joints = character.skeleton.len();
    let mut leads = vec![false; joints];
    led.iter().for_each(|&(_, joint)| leads[joint as usize] = true);
    let anchor = leads.iter().position(|&l| l).unwrap_or(0);
    let above = (0..joints)
        .map(|j| character.skeleton.nearest_ancestor(j, |a| leads[a]).or((j != anchor).then_some(anchor)))
        .collect();
    (anchor, above)
}

/// The flesh that is nearer to some bones than to all others.
struct Region {
    joint: DVec3,
    bones: Vec<Bone>,
    others: Vec<Bone>,
}

impl Region {
    /// The bones that begin at a joint and the one that ends there; `None` unless there are both.
    fn new(character: &Character, skeleton: &Bones, all: &[Bone], joint: usize) -> Option<Self> {
        let at = skeleton.position[joint].as_dvec3();
        let above = character.skeleton.nearest_ancestor(joint, |a| {
            all.iter().any(|b| b.joint as usize == a && b.ends[1].distance(at) < 1e-6)
        })?;
        let is_own = |b: &Bone| {
            b.joint as usize == joint || (b.joint as usize == above && b.ends[1].distance(at) < 1e-6)
        };
        let (bones, others): (Vec<Bone>, Vec<Bone>) = all.iter().partition(|b| is_own(b));
        bones.iter().any(|b| b.joint as usize == joint).then_some(Self { joint: at, bones, others })
    }

    /// How far inside the region a point is, metres; negative outside.
    fn depth(&self, point: DVec3) -> f64 {
        let nearest = |list: &[Bone]| list.iter().map(|b| from_axis(b, point)).fold(f64::INFINITY, f64::min);
        // Far from all other bones there is no border.
        0.5 * (nearest(&self.others) - nearest(&self.bones)).min(1e9)
    }

    /// The joint of the nearest bone.
    fn nearest(&self, point: DVec3) -> u32 {
        let nearest = self.bones.iter().min_by(|a, b| from_axis(a, point).total_cmp(&from_axis(b, point)));
        nearest.map_or(u32::MAX, |b| b.joint)
    }
}

fn from_axis(bone: &Bone, point: DVec3) -> f64 {
    let [a, b] = bone.ends;
    let along = b - a;
    let t = ((point - a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
    point.distance(a + along * t)
}

/// Tetrahedra inside the skin, or inside the region of it.
fn fill(
    skin: &TriMesh,
    distance: &SurfaceDistance,
    bones: &[Bone],
    region: Option<&Region>,
    settings: &Settings,
) -> Result<Meshed, MeshError> {
    let (layers, most) = settings.resolution.bounds();
    let depth = |p: DVec3| (-distance.signed(p)).max(0.0);
    let mut depths: Vec<f64> = match region {
        Some(region) => vec![depth(region.joint)],
        None => bones.iter().map(|b| depth(b.ends[0].midpoint(b.ends[1]))).collect(),
    };
    depths.retain(|d| *d > 0.0);
    depths.sort_by(f64::total_cmp);
    let middle = depths.get(depths.len() / 2).copied().unwrap_or(0.1 * f64::from(skin.size()));
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for point in skin.positions.iter().map(|p| p.as_dvec3()) {
        if region.is_none_or(|r| r.depth(point) > 0.0) {
            (low, high) = (low.min(point), high.max(point));
        }
    }
    // Twelve tetrahedra fill a cell of the lattice. What a region holds is judged by its bones.
    let volume = match region {
        Some(_) => bones
            .iter()
            .map(|b| (depth(b.ends[0].midpoint(b.ends[1])), b.ends[0].distance(b.ends[1])))
            .map(|(d, length)| std::f64::consts::PI * d * d * (length + d))
            .sum(),
        None => skin.volume().abs(),
    };
    let edge = settings.edge.unwrap_or_else(|| (middle / layers).max((12.0 * volume / most).cbrt()));
    let Some(region) = region else { return mesh::from_surface(skin, Size::Edge(edge), 1.5 * edge) };
    let inside = |p: DVec3| distance.signed(p).max(-region.depth(p));
    let margin = DVec3::splat(edge);
    mesh::from_implicit(inside, low - margin, high + margin, Size::Edge(edge))
}

#[cfg(test)]
mod tests;

//! What elastic flesh does in the poses of a clip: the reference that skinning methods are measured against.
//!
//! The space between skin and bones is filled with tetrahedra ([`super::filling`]). Nodes on the bones follow them exactly
//! ([`super::cores`]); the others settle where the energy of a nearly incompressible neo-Hookean material
//! and the skin's contact with itself is least ([`super::equilibrium`]). Poses are reached from the bind pose, or from
//! the pose before, through steps of a few degrees. The skin's vertices lie within the tetrahedra.
//!
//! Limits. No gravity, friction, muscles or sliding skin: flesh sticks to its bones. Morphs are left out. Parts that are
//! thinner than an element and a half are thickened. The result depends on the size of the elements, most
//! in a closed fold; [`Reference::difference`] between two sizes tells how much.

use super::barrier::Barrier;
use super::cores::{self, Bone, Cores};
use super::dilatation;
use super::equilibrium::{self, Equilibrium};
use super::filling::{Filling, Focus, Grading, fill};
use super::motion::{Local, Motion, blend, wide};
use super::region::{self, Region};
pub use super::report::{PoseReport, ReferenceError, Summary};
use super::skin::{Embedded, largest_piece};
use crate::character::{Character, Pose};
use crate::deform::{Body, Stack, Workspace};
use crate::frame::{Frame, FrameMesh};
use crate::geom::sdf::SurfaceDistance;
use crate::geom::{Adjacency, SelfContact, TriMesh};
use crate::pieces::skeleton::Bones;
use crate::skinning::Surface;
use crate::tissue::model::Model;
use crate::tissue::solve::SolveError;
use glam::{DAffine3, DVec3, Vec3, Vec3A};
use serde::Serialize;
use std::sync::Arc;

/// How finely the flesh is meshed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Resolution {
    /// Five elements across the depth of the joint; at most about 60,000 tetrahedra.
    #[default]
    Coarse,
    /// Elements of two thirds of that edge length; at most about 200,000 tetrahedra.
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
    /// Elements in the depth of the joint, or of a bone, under the skin, and most tetrahedra.
    fn bounds(self) -> (f64, f64) {
        match self {
            Self::Coarse => (5.0, 60e3),
            Self::Fine => (7.5, 200e3),
        }
    }
}

/// What the flesh is like.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How fine it is.
    pub resolution: Resolution,
    /// Edge of the elements, metres, where they are shortest; `None` takes what the resolution asks for.
    pub edge: Option<f64>,
    /// Poisson's ratio, 0 to below 0.5: resistance to change of volume.
    pub poisson: f64,
    /// Shape of the bones.
    pub bones: cores::Shape,
    /// Only the flesh along the bone that ends at this joint and the bones that begin there; the rest of the skin comes
    /// from dual quaternions. `None` takes everything.
    pub region: Option<usize>,
    /// The joint around which elements are shortest; `None` takes the region's. Without either they have one size.
    pub focus: Option<usize>,
    /// Largest turn of a joint in one step, radians.
    pub turn: f64,
    /// When a pose counts as solved.
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
            focus: None,
            // Not sensitive: the arm at 100 degrees takes 79 solves in steps of 10 degrees and 116 in steps of 5.
            turn: 10f64.to_radians(),
            solve: equilibrium::Settings::default(),
        }
    }
}

/// Distance between two results of the same frame, metres, over the vertices that follow flesh in both.
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
    /// Skins the vertices without flesh.
    around: Body,
    flesh: Equilibrium,
    cores: Cores,
    /// Nodes that follow cores, with their leader.
    led: Vec<(u32, u32)>,
    motion: Motion,
    /// The pose that was solved last.
    local: Local,
    skin: Embedded,
    crossings: SelfContact,
    crossings_at_rest: usize,
    rest_volumes: [f64; 2],
    /// Whether there is no region.
    whole: bool,
    turn: f64,
    summary: Summary,
    workspace: Workspace,
}

/// Young's modulus, pascals. The equilibrium does not depend on it.
const YOUNG: f64 = 1e4;

/// Width of the contact barrier over the depth of the bones under the skin, so that it does not change with the mesh. At 0.02 the arm's
/// fold stays open by less than a millimetre.
const CONTACT: f64 = 0.02;

/// How far the shortest elements reach around the joint, over its depth under the skin: as far as a bent elbow deforms the skin.
const FINE: f64 = 2.0;

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
        let (piece, vertex_of) = largest_piece(&surface.mesh);
        let adjacency = Adjacency::new(&piece);
        let (open, non_manifold) = (adjacency.open_edges(), adjacency.non_manifold_edges());
        if open + non_manifold > 0 {
            return Err(ReferenceError::NotClosed { name, open, non_manifold });
        }
        let distance = SurfaceDistance::new(&piece)
            .map_err(|source| ReferenceError::Skin { name: name.clone(), source })?;
        let all = region::bones(&character, &skeleton, &distance);
        let region = match settings.region {
            Some(joint) => Some(
                Region::new(&character, &skeleton, &all, joint)
                    .ok_or_else(|| ReferenceError::NoRegion(character.skeleton.joints[joint].name.clone()))?,
            ),
            None => None,
        };
        let own: &[Bone] = region.as_ref().map_or(&all, |r| &r.bones);
        let cores = Cores::new(own, &distance, &settings.bones);
        let focus = settings.focus.or(settings.region).map(|joint| skeleton.position[joint].as_dvec3());
        let (grading, depth) = grade(&piece, &distance, own, focus, settings);
        let Filling { mesh, led } = fill(&piece, &distance, &cores, region.as_ref(), &grading)
            .map_err(|source| ReferenceError::Mesh { name: name.clone(), source })?;
        if led.len() < 3 {
            return Err(ReferenceError::NoBones(name));
        }
        let skin = Embedded::new(&surface.mesh, &vertex_of, &mesh, region.as_ref(), &grading);
        let barrier = Barrier::new(&skin.contact.0, CONTACT * depth, YOUNG);
        let (body, bulk) = dilatation::flesh(mesh, YOUNG, settings.poisson);
        let model = Model::new(vec![body])?;
        let summary = Summary {
            tetrahedra: model.tets.len(),
            nodes: model.rest.len(),
            bone_nodes: led.len(),
            edge: grading.edge,
            contact_distance: barrier.width(),
            vertices: skin.share.iter().filter(|s| **s > 0.0).count(),
            outside: skin.outside,
        };
        let rest_volumes = [model.volume(0, &model.rest), surface.mesh.volume()];
        let mut held = vec![false; model.rest.len()];
        led.iter().for_each(|&(node, _)| held[node as usize] = true);
        let flesh = Equilibrium::new(model, bulk, skin.contact_places(), barrier, held, settings.solve)?;
        let mut crossings = SelfContact::new(&surface.mesh.positions, &surface.mesh.triangles);
        let at_rest = crossings.find(&surface.mesh.positions).pairs;
        let crossings_at_rest = skin.count_in(&at_rest, &surface.mesh.triangles);
        let bind: Vec<DAffine3> = skeleton.bind_from_joint.iter().map(|m| wide(*m)).collect();
        let motion = Motion::new(character.clone(), &bind, &cores.leaders);
        let local = motion.relative(&bind);
        Ok(Self {
            around: Body::bind(character.clone(), Stack::dual_quaternion(), None)?,
            character,
            surface,
            flesh,
            cores,
            led,
            motion,
            local,
            skin,
            crossings,
            crossings_at_rest,
            rest_volumes,
            whole: region.is_none(),
            turn: settings.turn,
            summary,
            workspace: Workspace::default(),
        })
    }

    /// How the flesh was meshed.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// Moves the flesh to a pose, starting from the last one, and returns the skin.
    pub fn deform(&mut self, pose: &Pose, time: f32) -> Result<(Frame, PoseReport), ReferenceError> {
        self.deform_while(pose, time, || true)
    }

    /// As [`Reference::deform`], while `go_on`, asked before every step, returns true.
    pub fn deform_while(
        &mut self,
        pose: &Pose,
        time: f32,
        go_on: impl Fn() -> bool,
    ) -> Result<(Frame, PoseReport), ReferenceError> {
        let goal = self.motion.local(pose);
        let mut report = PoseReport { converged: true, ..PoseReport::default() };
        let steps = self.motion.steps(&self.local, &goal, self.turn);
        let start = self.local.clone();
        for step in 1..=steps {
            if !go_on() {
                self.local = blend(&start, &goal, (step as f64 - 1.0) / steps as f64);
                return Err(ReferenceError::Interrupted);
            }
            let part = |k: f64| blend(&start, &goal, k / steps as f64);
            self.step(&part(step as f64 - 1.0), &part(step as f64), HALVINGS, &mut report)?;
        }
        self.local = goal;
        let frame = self.frame(pose, time, &mut report);
        Ok((frame, report))
    }

    /// One step between two poses, halved where it does not converge.
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

    fn goals(&self, local: &Local) -> Vec<(u32, DVec3)> {
        let (maps, _) = self.motion.maps(local);
        let leaders: Vec<DAffine3> = self.cores.leaders.iter().map(|l| l.map(&maps)).collect();
        let rest = &self.flesh.model.rest;
        self.led
            .iter()
            .map(|&(node, leader)| (node, leaders[leader as usize].transform_point3(rest[node as usize])))
            .collect()
    }

    fn frame(&mut self, pose: &Pose, time: f32, report: &mut PoseReport) -> Frame {
        let mut frame = self.around.deform(pose, time, &mut self.workspace);
        let (_, anchor) = self.motion.maps(&self.local);
        let positions = &self.flesh.positions;
        let mut points: Vec<Vec3A> = Vec::with_capacity(self.skin.place.len());
        for ((m, v), (place, &share)) in
            self.surface.source().zip(self.skin.place.iter().zip(&self.skin.share))
        {
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
                self.character.meshes[m].shading.normals_into(positions, &mut corners, normals, false);
            }
        }
        let skin: Vec<Vec3> = points.iter().map(|&p| p.into()).collect();
        let [flesh, whole] = self.rest_volumes;
        let model = &self.flesh.model;
        report.inverted = self.flesh.inverted();
        report.smallest_volume = model.smallest_volume_ratio(0, positions);
        let pairs = self.crossings.find(&skin).pairs;
        report.pairs =
            self.skin.count_in(&pairs, &self.surface.mesh.triangles).saturating_sub(self.crossings_at_rest);
        report.volume_drift = model.volume(0, positions) / flesh - 1.0;
        let inside = || crate::geom::mesh::volume(&skin, &self.surface.mesh.triangles);
        report.skin_volume_drift = self.whole.then(|| inside() / whole - 1.0);
        frame
    }

    /// For each mesh, runs of vertices (first, last) that follow flesh alone.
    pub fn runs(&self) -> Vec<Vec<[usize; 2]>> {
        let share: Vec<f32> = self.skin.share.iter().map(|s| *s as f32).collect();
        let of = |m: usize| {
            let mut runs: Vec<[usize; 2]> = Vec::new();
            let of_mesh = self.surface.to_mesh(&self.character, m, &share);
            for v in (0..of_mesh.len()).filter(|&v| of_mesh[v] >= 1.0) {
                match runs.last_mut() {
                    Some(run) if run[1] + 1 == v => run[1] = v,
                    _ => runs.push([v, v]),
                }
            }
            runs
        };
        (0..self.character.meshes.len()).map(of).collect()
    }

    /// Distance between two frames where both this and `other` have flesh.
    pub fn difference(&self, other: &Self, own: &Frame, others: &Frame) -> Difference {
        let mut distances: Vec<f64> = self
            .surface
            .source()
            .zip(self.skin.share.iter().zip(&other.skin.share))
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

/// Edge length of the elements, and the median depth of the bones or the depth of the joint in focus.
fn grade(
    piece: &TriMesh,
    distance: &SurfaceDistance,
    bones: &[Bone],
    focus: Option<DVec3>,
    settings: &Settings,
) -> (Grading, f64) {
    let (layers, most) = settings.resolution.bounds();
    let depth = |p: DVec3| (-distance.signed(p)).max(0.0);
    let mut depths: Vec<f64> = match focus {
        Some(joint) => vec![depth(joint)],
        None => bones.iter().map(|b| depth(b.ends[0].midpoint(b.ends[1]))).collect(),
    };
    depths.retain(|d| *d > 0.0);
    depths.sort_by(f64::total_cmp);
    let middle = depths.get(depths.len() / 2).copied().unwrap_or(0.1 * f64::from(piece.size()));
    // Twelve tetrahedra fill a cell of the lattice. Around a focus lies a limb as thick as the joint is deep.
    let volume = match focus {
        Some(_) => 2.0 * std::f64::consts::PI * FINE * middle.powi(3),
        None => piece.volume().abs(),
    };
    let edge = settings.edge.unwrap_or_else(|| (middle / layers).max((12.0 * volume / most).cbrt()));
    let focus = focus.map(|centre| Focus { centre, reach: FINE * middle });
    (Grading { edge, focus }, middle)
}

#[cfg(test)]
mod tests;

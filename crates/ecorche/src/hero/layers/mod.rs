//! A simulated shot of any rigged character with an anatomy: muscles, fascia, fat, skin.
//!
//! [`Shot::new`] makes solids of the anatomy's muscles and bones at bind ([`bodies`]), a [`fascia`] around them and [`fat`] between it and
//! the skin. [`Shot::simulate`] runs the stages one after the other, each for the whole shot: [`muscles`] on moving bones, the
//! fascia on the muscles, fat on the fascia. Nothing acts back on what came before. What a stage has computed is kept in a file
//! ([`stage`]), so that a shot goes on where it was interrupted. [`Shot::frame`] gives the skin.
//!
//! The shot begins in the bind pose and reaches its first frame through small turns, without inertia. From there on muscles have
//! inertia, in the world; fat has none, and is solved in the frame of the region's first joint.
//!
//! Limits. One region at a time is meant; the skin's own triangles carry the fat, so a dense skin is slow. Morphs are left out of the
//! simulated skin. Fat does not push muscles.

pub mod bodies;
pub mod fascia;
pub mod fat;
pub mod muscles;
pub mod picture;
pub mod stage;
pub mod timeline;

use super::region::{self, Region};
use super::skin::{largest_piece, part_of};
use crate::anatomy::BindFrames;
use crate::character::{Character, Pose};
use crate::deform::{BindError, Body, Stack, Workspace};
use crate::frame::{Frame, FrameMesh};
use crate::geom::sdf::{SdfError, SurfaceDistance};
use crate::geom::{Adjacency, SelfContact, TriMesh};
use crate::muscle::definition::BodyDef;
use crate::muscle::{BuildError, Musculature};
use crate::pieces::skeleton::Bones;
use crate::sampling::Plan;
use crate::skinning::{self, Skinner, Skinning, Surface};
use crate::tissue::solve::SolveError;
use bodies::Bodies;
use fascia::{Fascia, Under};
use fat::{Fat, FatError, Target};
use glam::{Affine3A, DVec3, Vec3, Vec3A};
use muscles::{MuscleError, Muscles};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stage::{Found, Stage, StageError};
use std::path::Path;
use std::sync::Arc;
use timeline::{Carriers, Timeline};

/// What a shot is like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Only the flesh along the bone that ends at this joint and the bones that begin there; `None` takes everything.
    pub region: Option<usize>,
    /// How solids are made.
    pub bodies: bodies::Settings,
    /// What muscles are like.
    pub muscles: muscles::Settings,
    /// Where the fascia lies.
    pub fascia: fascia::Settings,
    /// What fat is like.
    pub fat: fat::Settings,
}

/// Why there is no shot.
#[derive(Debug, thiserror::Error)]
pub enum HeroError {
    /// Nothing is skinned.
    #[error("\"{0}\" has no skinned mesh; give it weights")]
    NoSkin(String),
    /// The joint of the region has no bones.
    #[error(
        "joint \"{0}\" has no bone with flesh on both sides; choose a joint between two bones, such as an elbow"
    )]
    NoRegion(String),
    /// The skin bounds no solid.
    #[error("\"{name}\": {source}")]
    Skin {
        /// The character.
        name: String,
        /// Why.
        source: SdfError,
    },
    /// Nothing is to be simulated.
    #[error(
        "no muscle of the anatomy lies in the region{0}; choose another region, or give the anatomy muscles there"
    )]
    NoMuscles(String),
    /// Muscles of the anatomy.
    #[error(transparent)]
    Anatomy(#[from] BuildError),
    /// The muscle stage.
    #[error(transparent)]
    Muscles(#[from] MuscleError),
    /// The fat stage.
    #[error(transparent)]
    Fat(#[from] FatError),
    /// A linear system of the fat.
    #[error("fat: {0}")]
    Solve(#[from] SolveError),
    /// Files of the stages.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The skin around a region.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A record that fits nothing.
    #[error(
        "the {0} on disk were written by another version of the program; remove the folder of the stages"
    )]
    Unfit(&'static str),
    /// The caller stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// How a shot was made, before anything moves.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Muscles that are simulated.
    pub muscles: Vec<String>,
    /// Muscles that could not be meshed, and why.
    pub left_out: Vec<(String, String)>,
    /// Tetrahedra of all muscles.
    pub muscle_tetrahedra: usize,
    /// Edge of their lattice, metres.
    pub edge: f64,
    /// Vertices that slide on another muscle.
    pub sliding: usize,
    /// Tetrahedra of the fat.
    pub fat_tetrahedra: usize,
    /// Vertices of the skin above the fat.
    pub vertices: usize,
    /// Median thickness of the fat, metres.
    pub fat_thickness: f64,
    /// Vertices of the character's welded skin inside a muscle as the anatomy has it, or hardly above one.
    pub inside: Vec<u32>,
    /// Prisms between fascia and skin that are turned over.
    pub tangled: usize,
    /// Moments between the bind pose and the first frame.
    pub lead_in: usize,
    /// Bytes of the muscles' matrices.
    pub matrix_bytes: usize,
}

/// The stages, in their order.
pub const STAGES: [&str; 3] = ["muscles", "fascia", "fat"];

/// What happens during [`Shot::simulate`].
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A stage begins; what was found of it.
    Begin(&'a str, Found),
    /// A stage has done this many of its moments, in so many seconds for the last.
    Done(&'a str, usize, usize, f64),
}

/// The figures of one frame.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct FrameReport {
    /// Its number.
    pub frame: usize,
    /// Of the muscles.
    pub muscles: muscles::Report,
    /// Of the fascia.
    pub fascia: fascia::Report,
    /// Of the fat.
    pub fat: fat::Report,
    /// Pairs of triangles of the skin that pass through each other beyond those at bind, at least one in the region.
    pub pairs: usize,
}

/// A character's layers, ready to be simulated on a clip.
#[derive(Debug)]
pub struct Shot {
    character: Arc<Character>,
    surface: Surface,
    skinner: Skinner,
    around: Body,
    musculature: Musculature,
    bind: Vec<Affine3A>,
    bodies: Bodies,
    timeline: Timeline,
    clip: String,
    /// Skin over the fat, and its vertices on the surface.
    patch: (TriMesh, Vec<u32>),
    /// Weight of the simulated skin at each vertex of the patch.
    share: Vec<f64>,
    border: Vec<u32>,
    fascia: Fascia,
    crossings_at_rest: usize,
    settings: Settings,
    scale: f64,
    summary: Summary,
}

/// The stages of a shot on disk.
#[derive(Debug)]
pub struct Simulated {
    stages: Vec<Stage>,
    crossings: SelfContact,
    workspace: Workspace,
}

/// Largest turn of a joint between two moments before the first frame, radians.
const TURN: f64 = 0.14;
/// Depth inside a region over which skinning fades to flesh, metres at human size: from, to.
const FADE: [f64; 2] = [0.006, 0.03];

impl Shot {
    /// Makes the layers of a character in its bind pose. `folder`: where the files of bones are.
    pub fn new(
        character: Arc<Character>,
        definition: &BodyDef,
        folder: &Path,
        plan: &Plan,
        settings: &Settings,
    ) -> Result<Self, HeroError> {
        let name = character.name.clone();
        let surface = Surface::new(&character).ok_or_else(|| HeroError::NoSkin(name.clone()))?;
        let joint_of_vertex: Vec<u32> = surface
            .regions
            .region_of_vertex
            .iter()
            .map(|&r| surface.regions.regions[r as usize].joint)
            .collect();
        let skeleton = Bones::new(&character, &surface, &joint_of_vertex);
        let (piece, vertex_of) = largest_piece(&surface.mesh);
        let distance =
            SurfaceDistance::new(&piece).map_err(|source| HeroError::Skin { name: name.clone(), source })?;
        let all = region::bones(&character, &skeleton, &distance);
        let region = match settings.region {
            Some(joint) => Some(
                Region::new(&character, &skeleton, &all, joint)
                    .ok_or_else(|| HeroError::NoRegion(character.skeleton.joints[joint].name.clone()))?,
            ),
            None => None,
        };
        let own = region.as_ref().map_or(&all, |r| &r.bones);
        let mut joints: Vec<usize> = own.iter().map(|b| b.joint as usize).collect();
        joints.sort_unstable();
        joints.dedup();
        let bind = BindFrames::of(&character).bind_from_bone;
        let musculature = Musculature::new(definition, &character.skeleton, &bind, folder, Vec::new())?;
        let scale = musculature.scale();
        let depth = |p: DVec3| region.as_ref().map_or(f64::INFINITY, |r| r.depth(p));
        let carriers = Carriers::new(&character, &skeleton.bind_from_joint);
        let points: Vec<DVec3> = surface.mesh.positions.iter().map(|p| p.as_dvec3()).collect();
        let bodies = Bodies::new(
            &musculature,
            &joints,
            |p| depth(p) > 0.0,
            &carriers,
            &distance,
            &points,
            &settings.bodies,
        );
        if bodies.muscles.is_empty() {
            let why = bodies.left_out.first().map_or(String::new(), |(n, why)| format!(" ({n}: {why})"));
            return Err(HeroError::NoMuscles(why));
        }
        let patch = patch(&piece, &vertex_of, |p| depth(p) > 0.0);
        let [from, to] = FADE.map(|d| d * scale);
        let rim = rim(&patch.0);
        let inside: Vec<f64> = patch.0.positions.iter().map(|p| depth(p.as_dvec3())).collect();
        let border: Vec<u32> =
            (0..inside.len() as u32).filter(|&v| rim[v as usize] || inside[v as usize] < from).collect();
        let share = inside.iter().map(|d| {
            let t = ((d - from) / (to - from)).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        });
        let share = share.collect();
        let mut solids: Vec<TriMesh> = bodies.muscles.iter().map(|m| m.mesh.surface().0).collect();
        solids.extend(bodies.bones.iter().map(|b| b.surface.clone()));
        let thickness = distance.thickness();
        let normals = smooth_normals(&piece);
        let on_piece = places(&patch.1, &vertex_of, surface.mesh.positions.len());
        let normals: Vec<DVec3> = on_piece.iter().map(|&v| normals[v as usize]).collect();
        // Vertices at the same place are one in the distance; then numbers differ, and a share of nothing is known.
        let known = thickness.len() == piece.positions.len();
        let thickness: Vec<f64> =
            on_piece.iter().map(|&v| if known { thickness[v as usize] } else { f64::INFINITY }).collect();
        let fascia =
            Fascia::new(&patch.0, &normals, &thickness, &Under::new(&solids), scale, &settings.fascia);
        let timeline = Timeline::new(&character, plan, &skeleton.bind_from_joint, &joints, TURN);
        let skinner = Skinner::of_surface(&surface, Skinning::DualQuaternion, &[]);
        let mut crossings = SelfContact::new(&surface.mesh.positions, &surface.mesh.triangles);
        let at_rest = crossings.find(&surface.mesh.positions).pairs;
        let clip = plan.clip.map_or_else(String::new, |c| c.name.clone());
        let mut depths = fascia.depth.clone();
        depths.sort_by(f64::total_cmp);
        let summary = Summary {
            muscles: bodies.muscles.iter().map(|m| m.name.clone()).collect(),
            left_out: bodies.left_out.clone(),
            muscle_tetrahedra: bodies.tetrahedra(),
            edge: bodies.edge,
            sliding: 0,
            fat_tetrahedra: 6 * patch.0.triangles.len(),
            vertices: patch.0.positions.len(),
            fat_thickness: depths.get(depths.len() / 2).copied().unwrap_or(0.0),
            inside: bodies.inside.iter().copied().filter(|&v| depth(points[v as usize]) > 0.0).collect(),
            tangled: fascia.tangled,
            lead_in: timeline.lead_in,
            matrix_bytes: 0,
        };
        let mut shot = Self {
            around: Body::bind(character.clone(), Stack::dual_quaternion(), None)?,
            character,
            surface,
            skinner,
            musculature,
            bind,
            bodies,
            timeline,
            clip,
            patch,
            share,
            border,
            fascia,
            crossings_at_rest: 0,
            settings: settings.clone(),
            scale,
            summary,
        };
        shot.crossings_at_rest = shot.count_in(&at_rest);
        Ok(shot)
    }

    /// How it was made.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Frames of the shot.
    pub fn frames(&self) -> usize {
        self.timeline.moments.len() - self.timeline.lead_in
    }

    fn muscles(&self) -> Result<Muscles, MuscleError> {
        Muscles::new(
            &self.bodies,
            &self.musculature,
            &self.character.skeleton,
            &self.clip,
            &self.timeline,
            &self.bind,
            &self.settings.muscles,
        )
    }

    fn fat(&self) -> Result<Fat, FatError> {
        Fat::new(&self.patch.0, &self.fascia.rest, self.border.clone(), self.scale, &self.settings.fat)
    }

    /// Keys of the stages: `input` is that of the character, its anatomy and the clip.
    fn keys(&self, input: &[u8; 32]) -> [[u8; 32]; 3] {
        let s = &self.settings;
        let own = [
            format!("{:?} {:?} {:?}", s.region, s.bodies, s.muscles),
            format!("{:?}", s.fascia),
            format!("{:?}", s.fat),
        ];
        let frames = self.timeline.moments.iter().filter_map(|m| m.frame).next().unwrap_or(0);
        let mut above = *blake3::hash(&[&input[..], &frames.to_le_bytes()].concat()).as_bytes();
        own.map(|text| {
            above = *blake3::hash(&[&above[..], text.as_bytes()].concat()).as_bytes();
            above
        })
    }

    /// Runs all stages whose records are not in `folder` yet, while `go_on`, asked before every moment, returns true. `input` is a key of
    /// everything that determines the character, its anatomy and the clip.
    pub fn simulate(
        &mut self,
        folder: &Path,
        input: &[u8; 32],
        go_on: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> Result<Simulated, HeroError> {
        let stages = self.run_stages(STAGES.len(), folder, input, go_on, tell)?;
        let mesh = &self.surface.mesh;
        let crossings = SelfContact::new(&mesh.positions, &mesh.triangles);
        Ok(Simulated { stages, crossings, workspace: Workspace::default() })
    }

    /// Runs the first `stages` of [`STAGES`], as [`Shot::simulate`] runs all of them: a shot can be simulated by several processes, one
    /// after the other.
    pub fn simulate_first(
        &mut self,
        stages: usize,
        folder: &Path,
        input: &[u8; 32],
        go_on: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), HeroError> {
        self.run_stages(stages, folder, input, go_on, tell).map(|_| ())
    }

    fn run_stages(
        &mut self,
        stages: usize,
        folder: &Path,
        input: &[u8; 32],
        go_on: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> Result<Vec<Stage>, HeroError> {
        let names = &STAGES[..stages.min(STAGES.len())];
        let count = self.timeline.moments.len();
        let keys = self.keys(input);
        let mut stages = Vec::new();
        // A stage that starts anew makes those after it start anew.
        let mut valid = count;
        for (name, key) in names.iter().zip(&keys) {
            let path = folder.join(format!("{name}.stage"));
            let (stage, found) = Stage::open(&path, key, valid)?;
            valid = stage.len();
            stages.push((stage, found));
        }
        let mut list = stages.into_iter();
        let mut done = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let Some((mut stage, found)) = list.next() else { break };
            tell(Event::Begin(name, found));
            let mut told = |k: usize, seconds: f64| tell(Event::Done(name, k, count, seconds));
            match index {
                0 => self.run_muscles(&mut stage, go_on, &mut told)?,
                1 => self.run_fascia(&mut stage, &mut done, go_on, &mut told)?,
                _ => self.run_fat(&mut stage, &mut done, go_on, &mut told)?,
            }
            done.push(stage);
        }
        Ok(done)
    }

    fn run_muscles(
        &mut self,
        stage: &mut Stage,
        go_on: &dyn Fn() -> bool,
        told: &mut dyn FnMut(usize, f64),
    ) -> Result<(), HeroError> {
        let count = self.timeline.moments.len();
        let mut muscles = self.muscles()?;
        self.summary.sliding = muscles.sliding();
        self.summary.matrix_bytes = muscles.bytes();
        if stage.is_empty() {
            stage.push(&muscles.save(&muscles::Report::default()))?;
        } else if stage.len() < count {
            let last = stage.len() - 1;
            let bytes = stage.read(last)?;
            muscles.load(&bytes, last, &self.timeline).ok_or(HeroError::Unfit(STAGES[0]))?;
        }
        while stage.len() < count {
            if !go_on() {
                return Err(HeroError::Interrupted);
            }
            let report = muscles.advance(&self.timeline)?;
            stage.push(&muscles.save(&report))?;
            told(stage.len(), report.seconds);
        }
        Ok(())
    }

    /// Where dual quaternions take points of the surface at a moment, in the anchor's frame.
    fn skinned(&self, moment: usize, rest: &[Vec3]) -> Vec<DVec3> {
        let moment = &self.timeline.moments[moment];
        let mut out = vec![Vec3::ZERO; rest.len()];
        let maps = self.surface.posed_from_rest(&self.character, &moment.pose);
        self.skinner.skin(&maps, rest, &mut out, &mut skinning::Workspace::default());
        let back = moment.anchor.inverse();
        self.patch.1.iter().map(|&v| back.transform_point3(out[v as usize].as_dvec3())).collect()
    }

    fn run_fascia(
        &self,
        stage: &mut Stage,
        before: &mut [Stage],
        go_on: &dyn Fn() -> bool,
        told: &mut dyn FnMut(usize, f64),
    ) -> Result<(), HeroError> {
        let count = self.timeline.moments.len();
        if stage.len() == count {
            return Ok(());
        }
        let mut muscles = self.muscles()?;
        let mut rest = self.surface.mesh.positions.clone();
        for (&v, p) in self.patch.1.iter().zip(&self.fascia.rest) {
            rest[v as usize] = p.as_vec3();
        }
        while stage.len() < count {
            if !go_on() {
                return Err(HeroError::Interrupted);
            }
            let k = stage.len();
            let under = self.under(&mut muscles, &mut before[0], k)?;
            let (points, report) = self.fascia.pose(&self.skinned(k, &rest), &under);
            stage.push(&join(&report, points.iter().copied()))?;
            told(stage.len(), report.seconds);
        }
        Ok(())
    }

    /// What lies under the fascia at a moment, in the anchor's frame.
    fn under(&self, muscles: &mut Muscles, stage: &mut Stage, moment: usize) -> Result<Under, HeroError> {
        muscles.load(&stage.read(moment)?, moment, &self.timeline).ok_or(HeroError::Unfit(STAGES[0]))?;
        let (mut solids, bones) = muscles.surfaces();
        solids.extend(bones);
        let back = self.timeline.moments[moment].world.inverse();
        for solid in &mut solids {
            solid.positions.iter_mut().for_each(|p| *p = back.transform_point3(p.as_dvec3()).as_vec3());
        }
        Ok(Under::new(&solids))
    }

    fn run_fat(
        &self,
        stage: &mut Stage,
        before: &mut [Stage],
        go_on: &dyn Fn() -> bool,
        told: &mut dyn FnMut(usize, f64),
    ) -> Result<(), HeroError> {
        let count = self.timeline.moments.len();
        if stage.len() == count {
            return Ok(());
        }
        let mut fat = self.fat()?;
        let rest = &self.surface.mesh.positions;
        let mut targets = |k: usize| -> Result<Vec<Target>, HeroError> {
            let (_, fascia) =
                split::<fascia::Report>(&before[1].read(k)?).ok_or(HeroError::Unfit(STAGES[1]))?;
            let skin = self.skinned(k, rest);
            Ok(fascia.into_iter().zip(skin).map(|(fascia, skin)| Target { fascia, skin }).collect())
        };
        if stage.is_empty() {
            stage.push(&fat.save(&fat::Report::default()))?;
        } else {
            let last = stage.len() - 1;
            fat.load(&stage.read(last)?, &targets(last)?).ok_or(HeroError::Unfit(STAGES[2]))?;
        }
        while stage.len() < count {
            if !go_on() {
                return Err(HeroError::Interrupted);
            }
            let report = fat.advance(&targets(stage.len())?)?;
            stage.push(&fat.save(&report))?;
            told(stage.len(), report.seconds);
        }
        Ok(())
    }

    /// The skin of frame `index` of the shot, and its figures.
    pub fn frame(&self, index: usize, simulated: &mut Simulated) -> Result<(Frame, FrameReport), HeroError> {
        let k = self.timeline.lead_in + index;
        let moment = &self.timeline.moments[k];
        let mut frame = self.around.deform(&moment.pose, moment.time, &mut simulated.workspace);
        let [muscles, fascia, fat] = &mut simulated.stages[..] else {
            return Ok((frame, FrameReport::default()));
        };
        let (muscle_report, _) =
            split::<muscles::Report>(&muscles.read(k)?).ok_or(HeroError::Unfit(STAGES[0]))?;
        let (fascia_report, _) =
            split::<fascia::Report>(&fascia.read(k)?).ok_or(HeroError::Unfit(STAGES[1]))?;
        let (fat_report, nodes) = split::<fat::Report>(&fat.read(k)?).ok_or(HeroError::Unfit(STAGES[2]))?;
        let mut points: Vec<Vec3A> =
            self.surface.source().map(|(m, v)| frame.meshes[m].positions[v].into()).collect();
        let skin = nodes.iter().skip(2).step_by(3);
        for ((&v, p), &share) in self.patch.1.iter().zip(skin).zip(&self.share) {
            let own = points[v as usize].as_dvec3();
            points[v as usize] = own.lerp(moment.anchor.transform_point3(*p), share).as_vec3a();
        }
        let mut corners = Vec::new();
        for (m, FrameMesh { positions, normals }) in frame.meshes.iter_mut().enumerate() {
            if self.surface.scatter(&self.character, m, &points, positions) {
                self.character.meshes[m].shading.normals_into(positions, &mut corners, normals, false);
            }
        }
        let flat: Vec<Vec3> = points.iter().map(|&p| p.into()).collect();
        let pairs = simulated.crossings.find(&flat).pairs;
        let report = FrameReport {
            frame: moment.frame.unwrap_or(0),
            muscles: muscle_report,
            fascia: fascia_report,
            fat: fat_report,
            pairs: self.count_in(&pairs).saturating_sub(self.crossings_at_rest),
        };
        Ok((frame, report))
    }

    /// The pose of frame `index` of the shot.
    pub fn pose(&self, index: usize) -> &Pose {
        &self.timeline.moments[self.timeline.lead_in + index].pose
    }

    /// Pairs of triangles of which at least one follows the simulated skin.
    fn count_in(&self, pairs: &[[u32; 2]]) -> usize {
        let mut follows = vec![false; self.surface.mesh.positions.len()];
        self.patch.1.iter().zip(&self.share).for_each(|(&v, s)| follows[v as usize] = *s > 0.0);
        let touched = |t: u32| self.surface.mesh.triangles[t as usize].iter().any(|&v| follows[v as usize]);
        pairs.iter().filter(|p| p.iter().any(|&t| touched(t))).count()
    }
}

/// The largest connected part of a piece inside a region, and its vertices on the whole surface.
fn patch(piece: &TriMesh, vertex_of: &[u32], is_inside: impl Fn(DVec3) -> bool) -> (TriMesh, Vec<u32>) {
    let (all, on_piece) = part_of(piece, |v| is_inside(piece.positions[v as usize].as_dvec3()));
    let (part, count) = Adjacency::new(&all).components();
    let mut sizes = vec![0usize; count];
    part.iter().for_each(|&p| sizes[p as usize] += 1);
    let largest = (0..count).max_by_key(|&p| (sizes[p], count - p)).unwrap_or(0) as u32;
    let (mesh, on_all) = part_of(&all, |v| part[v as usize] == largest);
    let vertices = on_all.iter().map(|&v| vertex_of[on_piece[v as usize] as usize]).collect();
    (mesh, vertices)
}

/// Numbers on a piece of vertices of the whole surface that belong to it.
fn places(of: &[u32], vertex_of: &[u32], count: usize) -> Vec<u32> {
    let mut place = vec![0u32; count];
    (0u32..).zip(vertex_of).for_each(|(k, &v)| place[v as usize] = k);
    of.iter().map(|&v| place[v as usize]).collect()
}

/// Which vertices lie on an open edge.
fn rim(mesh: &TriMesh) -> Vec<bool> {
    let mut rim = vec![false; mesh.positions.len()];
    for edge in Adjacency::new(mesh).edges.iter().filter(|e| e.triangles.len() == 1) {
        edge.vertices.iter().for_each(|&v| rim[v as usize] = true);
    }
    rim
}

/// Normals averaged over neighbours a few times, so that offsets do not cross.
fn smooth_normals(mesh: &TriMesh) -> Vec<DVec3> {
    let adjacency = Adjacency::new(mesh);
    let mut normals: Vec<DVec3> = mesh.normals().iter().map(|n| n.as_dvec3()).collect();
    for _ in 0..3 {
        normals = (0..normals.len())
            .map(|v| {
                let around = adjacency.vertex_ring.get(v).iter().map(|&u| normals[u as usize]).sum::<DVec3>();
                let ring = adjacency.vertex_ring.get(v).len().max(1) as f64;
                (normals[v] + around / ring).normalize_or(normals[v])
            })
            .collect();
    }
    normals
}

/// A report and vectors as bytes.
fn join(report: &impl Serialize, vectors: impl Iterator<Item = DVec3>) -> Vec<u8> {
    let text = serde_json::to_vec(report).unwrap_or_default();
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(&text);
    for v in vectors {
        v.to_array().iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
    }
    bytes
}

/// What [`join`] made; `None` for other bytes.
fn split<R: DeserializeOwned>(bytes: &[u8]) -> Option<(R, Vec<DVec3>)> {
    let (length, rest) = bytes.split_at_checked(8)?;
    let length = u64::from_le_bytes(length.try_into().ok()?) as usize;
    let (text, numbers) = rest.split_at_checked(length)?;
    let report = serde_json::from_slice(text).ok()?;
    let words = numbers.as_chunks::<8>().0.iter().map(|w| f64::from_le_bytes(*w)).collect::<Vec<_>>();
    Some((report, words.chunks_exact(3).map(DVec3::from_slice).collect()))
}

#[cfg(test)]
mod tests;

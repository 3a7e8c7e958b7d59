//! One frame, from a pose to deformed meshes.
//!
//! [`Body::bind`] makes a character ready; what it holds depends on the [`Stack`]:
//!
//! | the stack has | a body has | in a frame |
//! |---|---|---|
//! | skinning alone | weights, laid out mesh by mesh | each mesh is skinned |
//! | tracking | the welded surface, its parts and their fields, a tracker | the surface is skinned and tracked, then given back to the meshes |
//! | flesh under the skin | muscles and fat under the parts | they move, and the parts' fields with them |
//! | parametric muscles | the muscles, what each vertex keeps of them | they displace the skinned vertices |
//! | layers on the surface | the welded surface, the layers | they displace the vertices |
//!
//! Meshes that hang on a joint without a skin move with it for every stack.

mod binary;
mod field;
mod flesh;
mod fleshed;
mod implicit;
mod layers;
mod papers;
mod playback;
mod saved;
mod settings;
mod stack;
#[cfg(test)]
mod tests;
mod yielding;

pub use crate::dynamics::{Settings as DynamicsSettings, Solver as DynamicsSolver};
pub use field::BodyField;
pub use fleshed::PartField;
pub use playback::Playback;
pub use saved::{SavedState, StateError};
pub use settings::{MuscleSettings, Settings};
pub use stack::{Stack, StackError, Tracking, Under, UnknownName};

use crate::anatomy::BindFrames;
use crate::cache::{Cache, Key};
use crate::character::{Character, Mesh, Pose};
use crate::frame::{Frame, FrameMesh, FrameReport, MuscleReport, ParametricReport};
use crate::geom::self_contact::most_crossings;
use crate::geom::{SelfContact, TriMesh};
use crate::muscle::definition::BodyDef;
use crate::muscle::parametric::{self, Parametric};
use crate::muscle::{self, BuildError, Flesh, Musculature};
use crate::parts::Parts;
use crate::skinning::{self, CentresOfRotation, Skinner, Skinning, Surface};
use crate::surface::wrinkles::{MapError, WrinkleError, WrinkleMap, WrinkleSummary};
use crate::surface::{self, LayerDef, Layers, SurfaceReport};
use crate::tracking::{VertexReport, robust};
use crate::watch::Watch;
use glam::{Affine3A, Vec3, Vec3A};
use implicit::{Implicit, TrackingState};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A character made ready to be deformed by one stack: immutable, to be shared between threads.
#[derive(Clone, Debug)]
pub struct Body {
    character: Arc<Character>,
    settings: Settings,
    skinners: Arc<[Skinner]>,
    /// Of this body and its clones, in this process.
    id: u64,
    /// The welded surface; `None` without tracking and layers on the surface, and for a character without skin.
    surface: Option<Arc<Surface>>,
    /// `None` without tracking, and for a character without skin.
    implicit: Option<Arc<Implicit>>,
    /// `None` without any, and for a character without skin.
    parametric: Option<Arc<Parametric>>,
    /// `None` without layers on the surface, and for a character without skin.
    layers: Option<Arc<Layers>>,
}

/// Why a character could not be bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The layers of the stack do not fit together.
    #[error(transparent)]
    Stack(#[from] StackError),
    /// Muscles or fat of the anatomy.
    #[error(transparent)]
    Anatomy(#[from] BuildError),
    /// Wrinkles that were asked for.
    #[error(transparent)]
    Wrinkles(#[from] WrinkleError),
    /// There is no outside for skin to be on.
    #[error(
        "more than {most} pairs of the skin's {triangles} triangles cross at rest: it is a heap of triangles, which cannot \
         be tracked; remove meshes that lie on each other, or choose a skinning without tracking"
    )]
    Crossing {
        /// Triangles of the skin.
        triangles: usize,
        /// Pairs that may cross.
        most: usize,
    },
    /// Whoever waited for it asked it to stop.
    #[error("stopped before the body was bound")]
    Stopped,
}

/// Refuses a surface that crosses itself nearly everywhere at rest: it has no parts, and cannot be tracked.
pub fn check_rest(surface: &Surface) -> Result<(), BindError> {
    let TriMesh { positions, triangles } = &surface.mesh;
    let most = most_crossings(triangles.len());
    match SelfContact::new(positions, triangles).find_up_to(positions, most) {
        Some(_) => Ok(()),
        None => Err(BindError::Crossing { triangles: triangles.len(), most }),
    }
}

/// What a running animation remembers from frame to frame; empty before the first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    tracking: TrackingState,
    /// Moment and muscles.
    flesh: Option<(f32, muscle::State)>,
    /// Of each layer on the surface.
    surface: Vec<Vec<f32>>,
    /// The clip whose keys the muscles follow.
    clip: Option<String>,
}

impl State {
    /// Before the first frame of a clip, whose keyed parameters muscles follow.
    pub fn of_clip(name: &str) -> Self {
        Self { clip: Some(name.to_owned()), ..Self::default() }
    }

    /// Forgets where the skin was; muscles and fat keep swinging.
    pub fn reset_skin(&mut self) {
        self.tracking.reset();
        self.surface.iter_mut().for_each(Vec::clear);
    }

    /// Forgets everything; the next frame is a first one.
    pub fn reset(&mut self) {
        self.reset_skin();
        self.flesh = None;
    }
}

/// Scratch memory of [`Body::deform`], reused from frame to frame. Holds nothing to read. One that another body has used
/// is emptied first.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// The body whose scratch this is.
    body: Option<u64>,
    world_from_joint: Vec<Affine3A>,
    morphed: Vec<Vec3>,
    corner_normals: Vec<[Vec3; 3]>,
    skinning: skinning::Workspace,
    implicit: implicit::Workspace,
    parametric: parametric::Workspace,
    layers: surface::Workspace,
}

impl Workspace {
    fn belong_to(&mut self, body: &Body) {
        if self.body != Some(body.id) {
            *self = Self { body: Some(body.id), ..Self::default() };
        }
    }
}

/// What one of many asks for beside its pose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How<'a> {
    /// The clip whose keys parametric muscles follow; that of the state without one.
    pub clip: Option<&'a str>,
    /// Least activation of all parametric muscles, 0 to 1.
    pub tension: f32,
    /// Without parametric muscles.
    pub bare: bool,
    /// On the calling thread, where skinning, parametric muscles and normals are concerned.
    pub alone: bool,
}

/// A number for every body, unique in this process.
fn next_id() -> u64 {
    static BODIES: AtomicU64 = AtomicU64::new(0);
    BODIES.fetch_add(1, Ordering::Relaxed)
}

impl Body {
    /// Prepares every mesh of `character`. What takes long is looked up in `cache` first, if given,
    /// and kept there. Fails if the layers of the stack do not fit together.
    pub fn bind(
        character: Arc<Character>,
        settings: impl Into<Settings>,
        cache: Option<&Cache>,
    ) -> Result<Self, BindError> {
        Self::bind_with(character, settings, &BodyDef::default(), Path::new("."), cache)
    }

    /// As [`Body::bind`], with muscles and fat for a stack that has [`Under::Flesh`]. `folder`: where the files of
    /// bones are relative to.
    pub fn bind_with(
        character: Arc<Character>,
        settings: impl Into<Settings>,
        anatomy: &BodyDef,
        folder: &Path,
        cache: Option<&Cache>,
    ) -> Result<Self, BindError> {
        Self::bind_watched(character, settings, (anatomy, folder), cache, &Watch::default())
    }

    /// As [`Body::bind_with`], told to `watch`, which may stop it: then it fails with [`BindError::Stopped`].
    pub fn bind_watched(
        character: Arc<Character>,
        settings: impl Into<Settings>,
        (anatomy, folder): (&BodyDef, &Path),
        cache: Option<&Cache>,
        watch: &Watch,
    ) -> Result<Self, BindError> {
        let settings = settings.into();
        settings.stack.check()?;
        let skinners: Arc<[Skinner]> = character
            .meshes
            .iter()
            .map(|mesh| match (settings.stack.skinning, cache) {
                (Skinning::CentreOfRotation, Some(cache)) => {
                    Skinner::with_centres(mesh, cached_centres(mesh, cache))
                }
                (skinning, _) => Skinner::new(mesh, skinning),
            })
            .collect();
        let Stack { tracking, surface: layers, under, .. } = &settings.stack;
        let welded = tracking.is_some() || !layers.is_empty();
        let surface = if welded { Surface::new(&character).map(Arc::new) } else { None };
        let implicit = surface.clone().filter(|_| tracking.is_some());
        let implicit = implicit.map(|surface| {
            let start = Skinner::of_surface(&surface, settings.stack.skinning, &skinners);
            Implicit::new(&character, surface, start, &settings, (anatomy, folder), cache, watch)
        });
        let implicit = implicit.transpose()?.map(Arc::new);
        let parametric =
            (*under == Under::Parametric).then(|| bind_parametric(&character, surface.as_deref(), anatomy));
        let parametric = parametric.transpose()?.flatten().map(Arc::new);
        let mut body = Self {
            character,
            settings,
            skinners,
            id: next_id(),
            surface,
            implicit,
            parametric,
            layers: None,
        };
        body.layers = body.build_layers(None)?;
        Ok(body)
    }

    /// The layers of the settings; `earlier`: of the same surface. `None` without any, and without skin.
    fn build_layers(&self, earlier: Option<&Layers>) -> Result<Option<Arc<Layers>>, WrinkleError> {
        let Stack { surface: definitions, skinning, .. } = &self.settings.stack;
        let Some(surface) = self.surface.as_deref().filter(|_| !definitions.is_empty()) else {
            return Ok(None);
        };
        let skinner = Skinner::of_surface(surface, *skinning, &self.skinners);
        let rest = surface::Rest { character: &self.character, surface, skinner: &skinner };
        Ok(Some(Arc::new(Layers::new(rest, definitions, earlier)?)))
    }

    /// The same body with other layers on the surface. All else is shared, and layers it has are kept, so this is nearly free
    /// but for wrinkles it had not.
    pub fn with_layers(&self, layers: Vec<LayerDef>) -> Result<Self, BindError> {
        let mut body = Self { id: next_id(), ..self.clone() };
        body.settings.stack.surface = layers;
        body.settings.stack.check()?;
        if !body.settings.stack.surface.is_empty() {
            body.surface = body.surface.or_else(|| Surface::new(&self.character).map(Arc::new));
        }
        body.layers = body.build_layers(self.layers.as_deref())?;
        Ok(body)
    }

    /// What the layer of wrinkles does; `None` without one, and without skin.
    pub fn wrinkles(&self) -> Option<WrinkleSummary> {
        Some(self.layers.as_ref()?.wrinkles()?.summary())
    }

    /// The pattern of wrinkles in texture coordinates, a picture per mesh and set of stripes, `size` texels to a side.
    pub fn wrinkle_maps(&self, size: usize) -> Result<Vec<WrinkleMap>, MapError> {
        let wrinkles = self.layers.as_ref().and_then(|layers| layers.wrinkles());
        let (surface, wrinkles) = self.surface.as_ref().zip(wrinkles).ok_or(MapError::Smooth)?;
        wrinkles.maps(&self.character, surface, size)
    }

    /// How much the skin folds in the frame that was deformed last with `workspace`: per file vertex of mesh `m`, one number for each
    /// set of stripes. A height is that times wavelength, mask and wave, over pi. Zeros without wrinkles.
    pub fn folds(&self, m: usize, workspace: &Workspace) -> Vec<[f32; 3]> {
        let count = self.character.meshes[m].positions.len();
        let Some((surface, layers)) = self.surface.as_ref().zip(self.layers.as_ref()) else {
            return vec![[0.0; 3]; count];
        };
        let folds = layers.folds(&workspace.layers);
        let fold = |v| surface.vertex_of(&self.character, m, v).and_then(|s| folds.get(s as usize));
        (0..count).map(|v| fold(v).map_or([0.0; 3], |fold| fold.to_array())).collect()
    }

    /// Of every triangle of the surface that wrinkles fully: its corners, and its length across the creases relative to rest, in a frame
    /// without wrinkles and in one with them. Empty without wrinkles.
    pub fn lengths_across_creases(&self, smooth: &Frame, wrinkled: &Frame) -> Vec<([u32; 3], [f32; 2])> {
        let layers = self.layers.as_ref().and_then(|layers| layers.wrinkles());
        let Some((surface, wrinkles)) = self.surface.as_ref().zip(layers) else { return Vec::new() };
        wrinkles.lengths(&surface.positions(smooth), &surface.positions(wrinkled)).collect()
    }

    /// What tracks contact: its projections can be [moved elsewhere](crate::tracking::robust::offload). `None` without tracking,
    /// without skin, and for the schemes of the papers. Clones of the body share it.
    pub fn tracker(&self) -> Option<&robust::Tracker> {
        self.implicit.as_ref()?.tracker()
    }

    /// The character this body was made of.
    pub fn character(&self) -> &Arc<Character> {
        &self.character
    }

    /// What skins a mesh of the character.
    pub fn skinner(&self, mesh: usize) -> &Skinner {
        &self.skinners[mesh]
    }

    /// The stack it was bound for.
    pub fn stack(&self) -> &Stack {
        &self.settings.stack
    }

    /// What it was bound with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The welded surface; `None` without skin, and for a stack of skinning alone.
    pub fn surface(&self) -> Option<&Surface> {
        self.surface.as_deref()
    }

    /// The parts of the skin and their fields; `None` without tracking or skin.
    pub fn parts(&self) -> Option<&Parts> {
        self.implicit.as_ref().map(|i| &i.parts)
    }

    /// Muscles and fat; `None` unless the stack has [`Under::Flesh`] and there are any.
    pub fn musculature(&self) -> Option<&Musculature> {
        self.implicit.as_ref().and_then(|i| i.musculature())
    }

    /// Parametric muscles; `None` unless the stack has [`Under::Parametric`] and there are any.
    pub fn parametric(&self) -> Option<&Parametric> {
        self.parametric.as_deref()
    }

    /// Whether there are muscles or fat.
    pub fn has_muscles(&self) -> bool {
        self.musculature().is_some()
    }

    /// The character in `pose`, which must be one of its own (see [`Pose::rest`]). Depends on nothing else:
    /// muscles are where the pose alone puts them.
    pub fn deform(&self, pose: &Pose, time: f32, workspace: &mut Workspace) -> Frame {
        let mut frame = Frame::default();
        self.deform_into(pose, time, None, workspace, &mut frame);
        frame
    }

    /// The next frame of an animation; the frames before left `state`. Muscles swing on from there, and with
    /// [`Settings::coherent`] tracking starts from there. Otherwise the same as [`Body::deform`].
    ///
    /// A frame with the time and pose of the last keeps the muscles as they are; one before it, or more than half a second after
    /// it, counts as the first: muscles start settled in its pose.
    pub fn deform_next(&self, pose: &Pose, time: f32, state: &mut State, workspace: &mut Workspace) -> Frame {
        let mut frame = Frame::default();
        self.deform_into(pose, time, Some(state), workspace, &mut frame);
        frame
    }

    /// Moves the muscles to a frame without the skin; `None` without muscles.
    pub fn advance(
        &self,
        pose: &Pose,
        time: f32,
        state: &mut State,
        workspace: &mut Workspace,
    ) -> Option<(Flesh, MuscleReport)> {
        let implicit = self.implicit.as_ref()?;
        workspace.belong_to(self);
        pose.world_into(&self.character.skeleton, &mut workspace.world_from_joint);
        implicit.pose(&workspace.world_from_joint, &mut workspace.implicit);
        implicit.move_muscles(time, Some(state), &self.settings.muscles, &mut workspace.implicit)
    }

    /// As [`Body::deform`], or [`Body::deform_next`] with a state, into a frame that exists, to reuse its memory: after a few
    /// frames of the same body a skin without muscles is deformed without allocating.
    pub fn deform_into(
        &self,
        pose: &Pose,
        time: f32,
        state: Option<&mut State>,
        workspace: &mut Workspace,
        frame: &mut Frame,
    ) {
        self.trace_into(pose, time, state, None, workspace, frame);
    }

    /// As [`Body::deform_into`], and records the path of a vertex of the welded surface ([`Surface::vertex_of`]) in
    /// [`Found::path`](crate::frame::Found::path).
    pub fn trace_into(
        &self,
        pose: &Pose,
        time: f32,
        state: Option<&mut State>,
        vertex: Option<u32>,
        workspace: &mut Workspace,
        frame: &mut Frame,
    ) {
        self.run(pose, time, state, vertex, How::default(), workspace, frame);
    }

    /// A frame of one of many: see [`How`].
    pub(crate) fn deform_as(
        &self,
        pose: &Pose,
        time: f32,
        how: How,
        workspace: &mut Workspace,
        frame: &mut Frame,
    ) {
        self.run(pose, time, None, None, how, workspace, frame);
    }

    fn run(
        &self,
        pose: &Pose,
        time: f32,
        mut state: Option<&mut State>,
        vertex: Option<u32>,
        how: How,
        workspace: &mut Workspace,
        frame: &mut Frame,
    ) {
        workspace.belong_to(self);
        workspace.skinning.alone = how.alone;
        let Workspace {
            world_from_joint,
            morphed,
            corner_normals,
            skinning,
            implicit: w,
            parametric,
            layers,
            ..
        } = workspace;
        let Frame { meshes, report, found, .. } = frame;
        frame.time = time;
        *report = FrameReport::default();
        found.clear();
        pose.world_into(&self.character.skeleton, world_from_joint);
        if let Some(implicit) = &self.implicit {
            implicit.gather(&self.character, pose, morphed, w);
            implicit.pose(world_from_joint, w);
            let started = std::time::Instant::now();
            let moved = implicit.move_muscles(time, state.as_deref_mut(), &self.settings.muscles, w);
            if let Some((flesh, muscles)) = moved {
                found.flesh = flesh;
                found.stages.push(("muscles", started.elapsed().as_secs_f64() * 1e3));
                report.muscles = Some(muscles);
            }
            let coherent = state.as_deref_mut().filter(|_| self.settings.coherent);
            let tracking = coherent.map(|s| &mut s.tracking);
            let at = (&*self.character, world_from_joint.as_slice());
            let (tracked, fell_back) = implicit.track(at, &self.settings, tracking, vertex, w, found);
            report.tracking = Some(tracked);
            report.fell_back += fell_back;
        }
        meshes.resize_with(self.skinners.len(), FrameMesh::default);
        let bound = self.character.meshes.iter().zip(self.skinners.iter());
        for (m, ((mesh, skinner), FrameMesh { positions, .. })) in bound.zip(&mut *meshes).enumerate() {
            positions.clear();
            positions.resize(mesh.positions.len(), Vec3::ZERO);
            let tracked = self.implicit.as_ref().is_some_and(|implicit| {
                implicit.surface.scatter(&self.character, m, w.positions(), positions)
            });
            if !tracked {
                mesh.morphed(morph_weights(pose, m), morphed);
                let skinned = skinner.skin(world_from_joint, morphed, positions, skinning);
                report.fell_back += skinned.vertices_of_joints_at_rest + skinned.vertices_at_rest;
            }
        }
        if let Some(muscles) = self.parametric.as_ref().filter(|_| !how.bare) {
            let clip = how.clip.or(state.as_deref().and_then(|state| state.clip.as_deref()));
            let clamped =
                muscles.pose_at(world_from_joint, how.tension, clip.map(|clip| (clip, time)), parametric);
            let mut moved =
                ParametricReport { muscles: muscles.len(), clamped, ..ParametricReport::default() };
            for (m, mesh) in meshes.iter_mut().enumerate() {
                let displaced = muscles.displace(&parametric.posed, m, &mut mesh.positions, how.alone);
                moved.displaced += displaced.vertices;
                moved.largest = moved.largest.max(displaced.largest);
                report.fell_back += displaced.fell_back;
            }
            found.parametric.extend_from_slice(&parametric.posed);
            found.parametric_muscles = Some(muscles.clone());
            report.parametric = Some(moved);
        }
        let started = std::time::Instant::now();
        if let Some(displaced) = self.displace(time, world_from_joint, state, layers, meshes, &found.reports)
        {
            report.surface = Some(displaced);
            report.fell_back += displaced.fell_back;
            found.stages.push(("surface", started.elapsed().as_secs_f64() * 1e3));
        }
        if let (Some(implicit), Some(muscles)) = (&self.implicit, &mut report.muscles) {
            let started = std::time::Instant::now();
            found.free_flesh.clone_from(&found.flesh);
            implicit.yield_to_skin(meshes, &mut found.flesh, w, muscles);
            found.stages.push(("yield", started.elapsed().as_secs_f64() * 1e3));
        }
        for (mesh, FrameMesh { positions, normals }) in self.character.meshes.iter().zip(meshes) {
            mesh.shading.normals_into(positions, corner_normals, normals, how.alone);
        }
    }

    /// Runs the layers on the surface; `None` without.
    fn displace(
        &self,
        time: f32,
        world_from_joint: &[Affine3A],
        state: Option<&mut State>,
        w: &mut surface::Workspace,
        meshes: &mut [FrameMesh],
        tracked: &[VertexReport],
    ) -> Option<SurfaceReport> {
        let (surface, layers) = self.surface.as_ref().zip(self.layers.as_ref())?;
        w.positions.clear();
        w.positions.extend(surface.source().map(|(m, v)| Vec3A::from(meshes[m].positions[v])));
        w.contact.clear();
        w.contact.extend(tracked.iter().map(|report| report.contact));
        w.contact.resize(w.positions.len(), 0.0);
        w.posed_from_bind.clear();
        let posed =
            world_from_joint.iter().zip(surface.joint_from_bind()).map(|(&world, &bind)| world * bind);
        w.posed_from_bind.extend(posed);
        let report = layers.displace(&surface.mesh, time, state.map(|s| &mut s.surface), w);
        for (m, mesh) in meshes.iter_mut().enumerate() {
            surface.displace(&self.character, m, &w.displacements, &mut mesh.positions);
        }
        Some(report)
    }

    /// Whether a frame depends on those before it through a layer on the surface.
    fn layers_remember(&self) -> bool {
        self.layers.as_ref().is_some_and(|layers| layers.remember())
    }

    /// The character as its file shows it when nothing is animated.
    pub fn rest(&self, workspace: &mut Workspace) -> Frame {
        self.deform(&Pose::rest(&self.character), 0.0, workspace)
    }
}

/// The anatomy's parametric muscles, or else its muscles made into such; `None` without any, and without skin.
fn bind_parametric(
    character: &Character,
    surface: Option<&Surface>,
    anatomy: &BodyDef,
) -> Result<Option<Parametric>, BindError> {
    let own = if surface.is_none() { Surface::new(character) } else { None };
    let Some(surface) = surface.or(own.as_ref()) else { return Ok(None) };
    let bind = BindFrames::of(character).bind_from_bone;
    let converted;
    let definitions = if anatomy.parametric.is_empty() {
        converted = parametric::convert(anatomy, character, surface, &bind)?;
        &converted
    } else {
        &anatomy.parametric
    };
    if definitions.is_empty() {
        return Ok(None);
    }
    let made = Parametric::new(definitions, character, surface, &bind).map_err(BuildError::from)?;
    Ok(Some(made.with_keys(&anatomy.keys)))
}

fn morph_weights(pose: &Pose, mesh: usize) -> &[f32] {
    pose.morph_weights.get(mesh).map_or(&[][..], Vec::as_slice)
}

/// Centres of rotation from the cache, or computed and kept there.
fn cached_centres(mesh: &Mesh, cache: &Cache) -> CentresOfRotation {
    let Some(skin) = mesh.skin() else { return CentresOfRotation::default() };
    let mut weights = Vec::new();
    for v in 0..skin.influences.len() {
        weights.push(skin.influences.of(v).len() as u32);
        weights.extend(skin.influences.of(v).flat_map(|(joint, weight)| [joint, weight.to_bits()]));
    }
    let key = Key::new(
        "centres of rotation",
        &[
            bytemuck::cast_slice(&mesh.positions),
            bytemuck::cast_slice(&mesh.triangles),
            bytemuck::cast_slice(&mesh.weld.surface_of_vertex),
            bytemuck::cast_slice(&weights),
        ],
    );
    if let Some(bytes) = cache.get(key) {
        return CentresOfRotation::from_parts(
            bytes.chunks_exact(12).map(bytemuck::pod_read_unaligned).collect(),
        );
    }
    let centres = CentresOfRotation::compute(mesh);
    cache.put(key, bytemuck::cast_slice(centres.as_slice()));
    centres
}

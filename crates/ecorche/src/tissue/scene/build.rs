//! From a parsed scene file to a simulation.

use super::{
    BodyFile, BoneFile, Collide, ContactMode, EndFile, HoldFile, HoldKind, MaterialFile, MaterialKind,
    ModeFile, SceneError, SceneFile, SolverFile, Source, Up, warnings,
};
use crate::geom::{TriMesh, surface_file};
use crate::tissue::boundary::{BoneTrack, Boundary, Condition, Hold, Place};
use crate::tissue::contact::{Against, CollisionSurface, ContactSettings, Contacts, Obstacle, Resolve};
use crate::tissue::element::Shape;
use crate::tissue::embed::embed;
use crate::tissue::fibres::fibres;
use crate::tissue::material::{
    Composite, Corotational, Incompressible, Invertible, Lame, Local, Material, MuscleForce,
    StVenantKirchhoff, StableNeoHookean, Stretch, TendonForce, muscle, tendon,
};
use crate::tissue::mesh::{self, Size, gmsh, veg, vtk};
use crate::tissue::model::{Body, Model, Tissue};
use crate::tissue::sdf::{DistanceGrid, SurfaceDistance};
use crate::tissue::step::{Mode, Settings, Simulation, Solver};
use crate::tissue::tet_mesh::{Quality, TetMesh};
use glam::{DQuat, DVec3};
use std::path::PathBuf;
use toml::Spanned;

/// A body of a scene as it is shown and measured.
#[derive(Debug)]
pub struct SceneBody {
    /// Name.
    pub name: String,
    /// Index of the body in the model.
    pub part: usize,
    /// Times and activations, ascending.
    pub activation: Vec<(f64, f64)>,
    /// Surface shown and written: ties of its vertices, and triangles.
    pub skin: Vec<Place>,
    /// Triangles of the skin.
    pub triangles: Vec<[u32; 3]>,
    /// Model nodes held at the insertion; empty without one.
    pub insertion: Vec<u32>,
    /// Shape of its tetrahedra.
    pub quality: Quality,
    /// Volume of the tetrahedra over that of the surface they fill.
    pub volume_ratio: f64,
    /// Fibre potential of its nodes, 0 at the origin; empty without fibres.
    pub potential: Vec<f64>,
}

/// A bone of a scene as it is shown.
#[derive(Debug)]
pub struct SceneBone {
    /// Name.
    pub name: String,
    /// Its surface in bone coordinates, if it has one.
    pub surface: Option<TriMesh>,
}

/// A scene ready to run.
#[derive(Debug)]
pub struct Scene {
    /// The simulation.
    pub simulation: Simulation,
    /// Its bodies.
    pub bodies: Vec<SceneBody>,
    /// Its bones, as in the boundary.
    pub bones: Vec<SceneBone>,
    /// Unit axis that points up in pictures: as the scene says, otherwise Z where gravity is along it, otherwise Y.
    pub up: DVec3,
    /// Metres in one unit of the scene file.
    pub metres_per_unit: f64,
    /// Frames per second.
    pub fps: f64,
    /// Number of frames after the first state.
    pub frames: usize,
    /// Steps per frame.
    pub substeps: u32,
    /// Frames done.
    pub frame: usize,
    /// What intersects in the first state and in the given surfaces, as sentences that name the elements.
    pub warnings: Vec<String>,
    /// The files it names, as they were read.
    pub inputs: Vec<PathBuf>,
    pub(super) key: [u8; 32],
}

pub(super) type Offset = Option<usize>;

pub(super) fn at<T>(spanned: &Spanned<T>) -> Offset {
    Some(spanned.span().start)
}

fn vector(v: [f64; 3], scale: f64) -> DVec3 {
    DVec3::from_array(v) * scale
}

pub(super) fn build(source: &Source, file: &SceneFile) -> Result<Scene, SceneError> {
    let unit = file.unit.metres();
    check_run(source, file)?;
    let mut bones = Vec::new();
    let mut tracks = Vec::new();
    let mut distances = Vec::new();
    for given in &file.bone {
        let (bone, track) = bone(source, given.get_ref(), unit)?;
        distances.push(match &bone.surface {
            Some(surface) => Some(SurfaceDistance::new(surface).map_err(|e| {
                source.error(
                    given.get_ref().surface.as_ref().and_then(at),
                    format!("bone \"{}\": {e}", bone.name),
                )
            })?),
            None => None,
        });
        bones.push(bone);
        tracks.push(track);
    }
    if file.body.is_empty() {
        return Err(source.error(None, "the scene has no body; add a [[body]] table"));
    }
    let mut builder = Builder {
        source,
        file,
        unit,
        bones: &bones,
        distances: &distances,
        conditions: Vec::new(),
        warnings: Vec::new(),
    };
    let (mut model_bodies, mut bodies) = (Vec::new(), Vec::new());
    let mut first_node = 0;
    for given in &file.body {
        let (body, scene_body) = builder.body(given.get_ref(), first_node, bodies.len())?;
        first_node += body.mesh.nodes.len();
        model_bodies.push(body);
        bodies.push(scene_body);
    }
    let model = Model::new(model_bodies).map_err(|e| {
        let given = file.body.iter().map(|b| &b.get_ref().name).find(|name| *name.get_ref() == e.body());
        source.error(given.and_then(at), e.to_string())
    })?;
    for given in &file.hold {
        builder.hold(given, &model)?;
    }
    let Builder { conditions, warnings: builder_warnings, .. } = builder;
    let boundary = Boundary { bones: tracks, conditions };
    let mut simulation =
        Simulation::new(model, boundary, settings(file)).map_err(|e| source.error(None, e.to_string()))?;
    simulation.contacts = contacts(source, file, &simulation.model, &bodies, &bones, &distances)?;
    let mut warnings = builder_warnings;
    warnings.extend(warnings::first_state(source, file, &simulation));
    let (fps, seconds) = (*file.run.fps.get_ref(), *file.run.seconds.get_ref());
    Ok(Scene {
        simulation,
        bodies,
        bones,
        up: match file.up {
            Some(Up::Z) => DVec3::Z,
            None if file.run.gravity[2].abs() > file.run.gravity[1].abs() => DVec3::Z,
            _ => DVec3::Y,
        },
        metres_per_unit: unit,
        fps,
        frames: (seconds * fps).round() as usize,
        substeps: *file.run.substeps.get_ref(),
        frame: 0,
        warnings,
        inputs: source.inputs.borrow().clone(),
        key: *source.content.borrow().finalize().as_bytes(),
    })
}

fn check_run(source: &Source, file: &SceneFile) -> Result<(), SceneError> {
    let run = &file.run;
    let wrong = |key: &str, at: Offset, what: &str| Err(source.error(at, format!("[run] {key}: {what}")));
    let (fps, seconds) = (*run.fps.get_ref(), *run.seconds.get_ref());
    if fps <= 0.0 {
        return wrong("fps", at(&run.fps), "must be above 0");
    }
    if seconds < 0.0 {
        return wrong("seconds", at(&run.seconds), "must be at least 0");
    }
    if seconds * fps > 1e6 {
        let given =
            [("seconds", &run.seconds), ("fps", &run.fps)].into_iter().find(|(_, v)| !v.span().is_empty());
        let (key, value) = given.unwrap_or(("fps", &run.fps));
        let what = format!("{seconds} seconds at {fps} frames per second are more than a million frames");
        return wrong(key, at(value), &what);
    }
    if !(1..=1000).contains(run.substeps.get_ref()) {
        return wrong("substeps", at(&run.substeps), "must be 1 to 1000");
    }
    if *run.halvings.get_ref() > 16 {
        return wrong("halvings", at(&run.halvings), "must be at most 16");
    }
    let not_negative = [
        ("mass_damping", &run.mass_damping),
        ("stiffness_damping", &run.stiffness_damping),
        ("rest_blend", &run.rest_blend),
    ];
    if let Some((key, value)) = not_negative.into_iter().find(|(_, v)| *v.get_ref() < 0.0) {
        return wrong(key, at(value), "must not be negative");
    }
    if *run.tolerance.get_ref() <= 0.0 {
        return wrong("tolerance", at(&run.tolerance), "must be above 0");
    }
    Ok(())
}

fn settings(file: &SceneFile) -> Settings {
    let run = &file.run;
    Settings {
        gravity: vector(run.gravity, 1.0),
        mode: match run.mode {
            ModeFile::SemiImplicit => Mode::SemiImplicit,
            ModeFile::Newton => Mode::Newton,
            ModeFile::QuasiStatic => Mode::QuasiStatic,
        },
        solver: match run.solver {
            SolverFile::Auto => Solver::Auto,
            SolverFile::Direct => Solver::Direct,
            SolverFile::KeptFactor => Solver::KeptFactor,
            SolverFile::ConjugateGradients => Solver::ConjugateGradients,
        },
        mass_damping: *run.mass_damping.get_ref(),
        stiffness_damping: *run.stiffness_damping.get_ref(),
        tolerance: *run.tolerance.get_ref(),
        most_iterations: run.iterations.max(1),
        halvings: *run.halvings.get_ref(),
        rest_blend: *run.rest_blend.get_ref(),
        ..Settings::default()
    }
}

fn bone(source: &Source, file: &BoneFile, unit: f64) -> Result<(SceneBone, BoneTrack), SceneError> {
    let name = file.name.get_ref().clone();
    let mut keys = Vec::new();
    for key in &file.key {
        let axis = vector(key.axis.unwrap_or([0.0, 0.0, 1.0]), 1.0);
        let Some(axis) = axis.try_normalize() else {
            return Err(source.error(at(&file.name), format!("bone \"{name}\": a key's axis has no length")));
        };
        let turn = DQuat::from_axis_angle(axis, key.turn.unwrap_or(0.0).to_radians());
        keys.push((key.time, turn, vector(key.shift.unwrap_or_default(), unit)));
    }
    if keys.windows(2).any(|w| w[0].0 >= w[1].0) {
        return Err(source.error(at(&file.name), format!("bone \"{name}\": key times must ascend")));
    }
    let surface = match (&file.surface, &file.capsule) {
        (Some(path), None) => Some(read_surface(source, path, unit)?),
        (None, Some(c)) => {
            let (from, to, radius) = (vector(c.from, unit), vector(c.to, unit), c.radius * unit);
            let shape = |p: DVec3| {
                let along =
                    ((p - from).dot(to - from) / from.distance_squared(to).max(1e-30)).clamp(0.0, 1.0);
                p.distance(from.lerp(to, along)) - radius
            };
            let reach = DVec3::splat(radius);
            let meshed =
                mesh::from_implicit(shape, from.min(to) - reach, from.max(to) + reach, Size::Layers(6))
                    .map_err(|e| source.error(at(&file.name), format!("bone \"{name}\": {e}")))?;
            Some(meshed.mesh.surface().0)
        }
        (None, None) => None,
        _ => {
            return Err(
                source.error(at(&file.name), format!("bone \"{name}\": give surface or capsule, not both"))
            );
        }
    };
    let pivot = vector(file.pivot.unwrap_or_default(), unit);
    Ok((SceneBone { name: name.clone(), surface }, BoneTrack { name, keys, pivot }))
}

/// A path as the scene names it, relative to the scene's folder.
fn beside(source: &Source, path: &Spanned<String>) -> PathBuf {
    source.path.parent().map_or_else(|| PathBuf::from(path.get_ref()), |p| p.join(path.get_ref()))
}

fn read_bytes(source: &Source, path: &Spanned<String>) -> Result<(PathBuf, Vec<u8>), SceneError> {
    let full = beside(source, path);
    let bytes =
        crate::input::read(&full).map_err(|e| source.error(at(path), format!("{}: {e}", full.display())))?;
    source.add_content(&bytes);
    source.inputs.borrow_mut().push(full.clone());
    Ok((full, bytes))
}

/// A surface in metres, from an OBJ, PLY or VTP file.
fn read_surface(source: &Source, path: &Spanned<String>, unit: f64) -> Result<TriMesh, SceneError> {
    let mut surface = surface_file::read(&beside(source, path))
        .map_err(|problem| source.error(at(path), problem.to_string()))?;
    for p in &mut surface.positions {
        *p *= unit as f32;
    }
    Ok(surface)
}

struct Builder<'a> {
    source: &'a Source<'a>,
    file: &'a SceneFile,
    unit: f64,
    bones: &'a [SceneBone],
    distances: &'a [Option<SurfaceDistance>],
    conditions: Vec<Condition>,
    warnings: Vec<String>,
}

impl Builder<'_> {
    fn bone(&self, name: &Spanned<String>, what: &str) -> Result<usize, SceneError> {
        self.bones.iter().position(|b| b.name == *name.get_ref()).ok_or_else(|| {
            let known: Vec<&str> = self.bones.iter().map(|b| b.name.as_str()).collect();
            let known = if known.is_empty() { "there are none".into() } else { known.join(", ") };
            self.source
                .error(at(name), format!("{what}: no bone is called \"{}\"; bones: {known}", name.get_ref()))
        })
    }

    fn material(&self, name: &Spanned<String>) -> Result<Tissue, SceneError> {
        let Some(given) = self.file.material.get(name.get_ref()) else {
            let known: Vec<&str> = self.file.material.keys().map(String::as_str).collect();
            let what =
                format!("no material is called \"{}\"; materials: {}", name.get_ref(), known.join(", "));
            return Err(self.source.error(at(name), what));
        };
        let m = given.get_ref();
        let wrong = |what: &str| {
            Err(self.source.error(at(given), format!("material \"{}\": {what}", name.get_ref())))
        };
        if m.young <= 0.0 || m.density <= 0.0 {
            return wrong("young and density must be above 0");
        }
        let lame = match (m.poisson, m.bulk) {
            (Some(poisson), None) if (0.0..0.5).contains(&poisson) => Lame::new(m.young, poisson),
            (Some(_), None) => return wrong("poisson must be at least 0 and below 0.5"),
            (None, Some(bulk)) if bulk > m.young / 3.0 => Lame::from_bulk(m.young, bulk),
            (None, Some(_)) => return wrong("bulk must be above a third of young"),
            (None, None) if m.kind == MaterialKind::Muscle => {
                let peak = m.peak.unwrap_or(MuscleForce::default().peak);
                Lame::from_bulk(m.young, (FIRMNESS * peak).max(m.young))
            }
            _ => return wrong("give poisson or bulk, and not both"),
        };
        Ok(Tissue { material: law(m, lame), density: m.density })
    }

    fn mesh(&self, file: &BodyFile) -> Result<(mesh::Meshed, Option<TriMesh>), SceneError> {
        let name = file.name.get_ref();
        let fail = |what: String| self.source.error(at(&file.name), format!("body \"{name}\": {what}"));
        let kinds =
            [file.surface.is_some(), file.tets.is_some(), file.spindle.is_some(), file.brick.is_some()];
        if kinds.iter().filter(|&&k| k).count() != 1 {
            return Err(fail("give exactly one of surface, tets, spindle, brick".into()));
        }
        let size = match (file.size, file.layers) {
            (Some(edge), None) => Size::Edge(edge * self.unit),
            (None, layers) => Size::Layers(layers.unwrap_or(4)),
            (Some(_), Some(_)) => return Err(fail("give size or layers, not both".into())),
        };
        let ready = |tets: TetMesh| {
            let quality = tets.quality();
            mesh::Meshed { edge: tets.mean_edge(), quality, volume_ratio: 1.0, dropped_pieces: 0, mesh: tets }
        };
        if let Some(path) = &file.surface {
            let surface = read_surface(self.source, path, self.unit)?;
            let thinnest = file.thinnest.unwrap_or(0.0) * self.unit;
            let meshed = mesh::from_surface(&surface, size, thinnest)
                .map_err(|e| self.source.error(at(path), format!("body \"{name}\": {e}")))?;
            return Ok((meshed, Some(surface)));
        }
        if let Some(path) = &file.tets {
            let (full, bytes) = read_bytes(self.source, path)?;
            let text = String::from_utf8_lossy(&bytes);
            let ending = full.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
            let read = match ending.as_str() {
                "veg" => veg::read(&text),
                "vtk" => vtk::read(&text),
                "msh" => gmsh::read(&text),
                _ => return Err(self.source.error(at(path), "tetrahedra are read from .veg, .vtk and .msh")),
            };
            let mut tets =
                read.map_err(|e| self.source.error(at(path), format!("{}: {e}", full.display())))?;
            if let Some(node) = tets.nodes.iter().position(|p| !p.is_finite()) {
                let what = format!("{}: node {node} is not a finite number", full.display());
                return Err(self.source.error(at(path), what));
            }
            for p in &mut tets.nodes {
                *p *= self.unit;
            }
            return Ok((ready(tets), None));
        }
        if let Some(s) = &file.spindle {
            let (from, to) = (vector(s.from, self.unit), vector(s.to, self.unit));
            let (radius, tip) = (s.radius * self.unit, s.tip * self.unit);
            let Some(axis) = (to - from).try_normalize() else {
                return Err(fail("the spindle has no length".into()));
            };
            let length = from.distance(to);
            if !(radius > 0.0 && tip > 0.0) {
                return Err(fail("radius and tip must be above 0".into()));
            }
            let shape = |p: DVec3| {
                let x = (p - from).dot(axis);
                let side = (p - from - axis * x).length();
                let wave = (std::f64::consts::PI * (x / length).clamp(0.0, 1.0)).sin();
                (side - (tip + (radius - tip) * wave * wave)).max(-x).max(x - length)
            };
            let reach = DVec3::splat(radius.max(tip));
            let meshed = mesh::from_implicit(shape, from.min(to) - reach, from.max(to) + reach, size)
                .map_err(|e| fail(e.to_string()))?;
            return Ok((meshed, None));
        }
        match &file.brick {
            Some(b)
                if b.cells.iter().all(|&c| (1..=500).contains(&c))
                    && b.cells.iter().product::<usize>() <= MOST_CELLS =>
            {
                let (low, high) = (vector(b.low, self.unit), vector(b.high, self.unit));
                if !low.cmplt(high).all() {
                    return Err(fail("the brick's low corner must be below its high one".into()));
                }
                Ok((ready(TetMesh::brick(low, high, b.cells)), None))
            }
            _ => Err(fail(format!("brick cells must be 1 to 500 along each side, {MOST_CELLS} in all"))),
        }
    }

    /// Nodes of a mesh in an end's region.
    fn region(
        &self,
        mesh: &TetMesh,
        end: &Spanned<EndFile>,
        bone: usize,
        what: &str,
    ) -> Result<Vec<u32>, SceneError> {
        let e = end.get_ref();
        let surface_nodes = || {
            let mut nodes: Vec<u32> = mesh.boundary().into_iter().flatten().collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        };
        let found: Vec<u32> = match (e.near, e.radius, e.within) {
            (Some(near), Some(radius), None) => {
                let (near, radius) = (vector(near, self.unit), radius * self.unit);
                (0..mesh.nodes.len() as u32)
                    .filter(|&n| mesh.nodes[n as usize].distance(near) <= radius)
                    .collect()
            }
            (None, None, Some(within)) => {
                let Some(distance) = &self.distances[bone] else {
                    let what =
                        format!("{what}: bone \"{}\" has no surface; give near and radius", e.bone.get_ref());
                    return Err(self.source.error(at(end), what));
                };
                let within = within * self.unit;
                surface_nodes()
                    .into_iter()
                    .filter(|&n| distance.signed(mesh.nodes[n as usize]) <= within)
                    .collect()
            }
            _ => return Err(self.source.error(at(end), format!("{what}: give near and radius, or within"))),
        };
        if found.is_empty() {
            let mut message = format!("{what}: no node lies in the region; enlarge it");
            if let Some(near) = e.near {
                let near = vector(near, self.unit);
                let nearest = mesh
                    .nodes
                    .iter()
                    .min_by(|a, b| a.distance_squared(near).total_cmp(&b.distance_squared(near)))
                    .map_or(DVec3::ZERO, |p| *p);
                let (p, away) = (nearest / self.unit, nearest.distance(near) / self.unit);
                message +=
                    &format!(": the nearest node is at [{:.3}, {:.3}, {:.3}], {away:.3} away", p.x, p.y, p.z);
            }
            return Err(self.source.error(at(end), message));
        }
        Ok(found)
    }

    fn body(
        &mut self,
        file: &BodyFile,
        first_node: usize,
        part: usize,
    ) -> Result<(Body, SceneBody), SceneError> {
        let name = file.name.get_ref().clone();
        let (meshed, surface) = self.mesh(file)?;
        if let Some(surface) = &surface {
            self.warnings.extend(warnings::crossed(self.source, &file.name, surface));
        }
        let mesh = meshed.mesh;
        let flat: Vec<usize> =
            (0..mesh.tets.len()).filter(|&t| Shape::new(mesh.corners(t)).is_none()).collect();
        if !flat.is_empty() {
            let what = format!(
                "body \"{name}\": {} rest tetrahedra are flat or inverted: {}; remesh the surface or swap two of their corners",
                flat.len(),
                warnings::listed(&flat)
            );
            return Err(self.source.error(at(&file.name), what));
        }
        let mut tissues = vec![self.material(&file.material)?];
        let mut ends = [Vec::new(), Vec::new()];
        for (k, end) in [&file.origin, &file.insertion].into_iter().enumerate() {
            let Some(end) = end else { continue };
            let what = format!("body \"{name}\", {}", ["origin", "insertion"][k]);
            let e = end.get_ref();
            let bone = self.bone(&e.bone, &what)?;
            ends[k] = self.region(&mesh, end, bone, &what)?;
            for &n in &ends[k] {
                let rest = mesh.nodes[n as usize];
                let node = n + first_node as u32;
                let hold = match e.soft {
                    Some(stiffness) => {
                        Hold::Spring { place: Place::node(node), bone, at: rest, stiffness, rest: 0.0 }
                    }
                    None => Hold::Fix { node, bone, at: rest },
                };
                self.conditions.push(Condition {
                    hold,
                    from: e.from.unwrap_or(f64::NEG_INFINITY),
                    until: e.until.unwrap_or(f64::INFINITY),
                });
            }
        }
        let fail = |what: String| self.source.error(at(&file.name), format!("body \"{name}\": {what}"));
        let needs_fibres = file.tendon.is_some()
            || self
                .file
                .material
                .get(file.material.get_ref())
                .is_some_and(|m| matches!(m.get_ref().kind, MaterialKind::Muscle | MaterialKind::Tendon));
        let count = mesh.tets.len();
        let mut local = vec![Local::default(); count];
        let mut tissue_of = vec![0u32; count];
        let mut potential = Vec::new();
        if needs_fibres {
            let [origin, insertion] = &ends;
            let field = fibres(&mesh, origin, insertion).map_err(|e| fail(format!("fibres: {e}")))?;
            for (l, &fibre) in local.iter_mut().zip(&field.direction) {
                l.fibre = fibre;
            }
            if let Some(given) = &file.tendon {
                if !(0.0..0.5).contains(&given.part) {
                    return Err(fail("tendon.part is the part of the fibre at each end, 0 to 0.5".into()));
                }
                tissues.push(self.material(&given.material)?);
                for (t, tet) in mesh.tets.iter().enumerate() {
                    let u = tet.iter().map(|&n| field.potential[n as usize]).sum::<f64>() / 4.0;
                    tissue_of[t] = u32::from(u < given.part || u > 1.0 - given.part);
                }
            }
            potential = field.potential;
        }
        let activation: Vec<(f64, f64)> = file.activation.iter().map(|a| (a[0], a[1])).collect();
        if activation.windows(2).any(|w| w[0].0 >= w[1].0)
            || activation.iter().any(|a| !(0.0..=1.0).contains(&a.1))
        {
            return Err(fail(
                "activation is a list of [time, value] with times ascending and values 0 to 1".into(),
            ));
        }
        let skin_surface = match &file.skin {
            Some(path) => Some(read_surface(self.source, path, self.unit)?),
            None => surface,
        };
        let shift = |p: Place| Place { nodes: p.nodes.map(|n| n + first_node as u32), ..p };
        let (skin, triangles) = match skin_surface {
            Some(surface) => {
                let points: Vec<DVec3> = surface.positions.iter().map(|p| p.as_dvec3()).collect();
                (embed(&mesh, &points).into_iter().map(shift).collect(), surface.triangles)
            }
            None => {
                let (surface, node_of) = mesh.surface();
                let places = node_of.iter().map(|&n| shift(Place::node(n))).collect();
                (places, surface.triangles)
            }
        };
        let scene_body = SceneBody {
            name: name.clone(),
            part,
            activation,
            skin,
            triangles,
            insertion: ends[1].iter().map(|n| n + first_node as u32).collect(),
            quality: meshed.quality,
            volume_ratio: meshed.volume_ratio,
            potential,
        };
        Ok((Body { name, mesh, tissues, tissue_of, local }, scene_body))
    }

    fn hold(&mut self, given: &Spanned<HoldFile>, model: &Model) -> Result<(), SceneError> {
        let h = given.get_ref();
        let part_named = |name: &Spanned<String>| {
            model.parts.iter().position(|p| p.name == *name.get_ref()).ok_or_else(|| {
                self.source.error(at(name), format!("[[hold]]: no body is called \"{}\"", name.get_ref()))
            })
        };
        let part = part_named(&h.body)?;
        let (near, radius) = (vector(h.near, self.unit), h.radius * self.unit);
        let nodes: Vec<u32> = model.parts[part]
            .nodes
            .clone()
            .filter(|&n| model.rest[n].distance(near) <= radius)
            .map(|n| n as u32)
            .collect();
        let fail = |what: &str| self.source.error(at(given), format!("[[hold]]: {what}"));
        if nodes.is_empty() {
            return Err(fail("no node lies in the region; enlarge radius"));
        }
        let stiffness = h.stiffness.unwrap_or(100.0);
        if stiffness <= 0.0 {
            return Err(fail("stiffness must be above 0, in newtons per metre"));
        }
        let bone = match &h.bone {
            Some(name) => Some(self.bone(name, "[[hold]]")?),
            None => None,
        };
        let need_bone = || bone.ok_or_else(|| fail("this kind of hold needs a bone"));
        let normals = if h.kind == HoldKind::Slide { node_normals(model, part) } else { Vec::new() };
        let target = match (&h.to, h.kind) {
            (Some(name), HoldKind::Join) => Some(part_named(name)?),
            (None, HoldKind::Join) => return Err(fail("a join needs `to`, the other body")),
            _ => None,
        };
        let count = nodes.len() as f64;
        for node in nodes {
            let rest = model.rest[node as usize];
            let place = Place::node(node);
            let hold = match h.kind {
                HoldKind::Fix => Hold::Fix { node, bone: need_bone()?, at: rest },
                HoldKind::Spring => {
                    Hold::Spring { place, bone: need_bone()?, at: rest, stiffness, rest: 0.0 }
                }
                HoldKind::Slide => {
                    let normal = normals[node as usize - model.parts[part].nodes.start];
                    // Only the surface slides; nodes inside have no normal.
                    if normal == DVec3::ZERO {
                        continue;
                    }
                    Hold::Slide { place, bone: need_bone()?, at: rest, normal, stiffness }
                }
                HoldKind::Join => {
                    let to = target.unwrap_or(part);
                    let nearest = model.parts[to].nodes.clone().min_by(|&a, &b| {
                        model.rest[a].distance_squared(rest).total_cmp(&model.rest[b].distance_squared(rest))
                    });
                    let Some(other) = nearest else { continue };
                    let second = Place::node(other as u32);
                    Hold::Join { first: place, second, stiffness, rest: model.rest[other].distance(rest) }
                }
                HoldKind::Pull => {
                    let force = h.force.ok_or_else(|| fail("a pull needs `force`, in newtons"))?;
                    Hold::Pull { place, force: vector(force, 1.0) / count }
                }
            };
            self.conditions.push(Condition {
                hold,
                from: h.from.unwrap_or(f64::NEG_INFINITY),
                until: h.until.unwrap_or(f64::INFINITY),
            });
        }
        Ok(())
    }
}

/// Outward normals of a body's boundary nodes at rest; zero inside.
fn node_normals(model: &Model, part: usize) -> Vec<DVec3> {
    let surface = CollisionSurface::boundary(model, part);
    let normals = surface.mesh(&model.rest).normals();
    let first = model.parts[part].nodes.start;
    let mut out = vec![DVec3::ZERO; model.parts[part].nodes.len()];
    for (place, normal) in surface.places.iter().zip(normals) {
        out[place.nodes[0] as usize - first] = normal.as_dvec3();
    }
    out
}

/// Bulk modulus of a muscle over its fibres' peak stress, where the scene does not say. Fibres compress their matrix
/// by a third of their pull, which costs pull / (3 bulk) of the volume: at 0.7, Poisson's ratio 0.48
/// with the usual moduli, an arm's biceps loses 3.3 %; at 10 a quarter of a per cent.
const FIRMNESS: f64 = 10.0;

/// Cells of a brick in all: six million tetrahedra. 500 along each side would be 750 million, more than fits in memory.
const MOST_CELLS: usize = 1_000_000;

fn law(m: &MaterialFile, lame: Lame) -> Box<dyn Material> {
    let stretch = if m.deviatoric == Some(true) { Stretch::Deviatoric } else { Stretch::Full };
    let base: Box<dyn Material> = match m.kind {
        MaterialKind::NeoHookean => Box::new(StableNeoHookean::new(lame)),
        MaterialKind::Stvk => Box::new(StVenantKirchhoff { lame }),
        MaterialKind::Invertible => Box::new(Invertible::new(lame)),
        MaterialKind::Corotational => Box::new(Corotational { lame }),
        MaterialKind::Muscle => {
            let d = MuscleForce::default();
            let force = MuscleForce {
                peak: m.peak.unwrap_or(d.peak),
                optimal: m.optimal.unwrap_or(d.optimal),
                passive: m.passive.unwrap_or(d.passive),
                exponent: m.exponent.unwrap_or(d.exponent),
                linear_from: m.linear_from.unwrap_or(d.linear_from),
            };
            Box::new(muscle(lame, force, stretch))
        }
        MaterialKind::Tendon => {
            let d = TendonForce::default();
            let force = TendonForce {
                scale: m.peak.unwrap_or(d.scale),
                exponent: m.exponent.unwrap_or(d.exponent),
                linear_from: m.linear_from.unwrap_or(d.linear_from),
            };
            Box::new(tendon(lame, force))
        }
    };
    match m.incompressible {
        Some(bulk) => {
            Box::new(Composite::new("incompressible", vec![base, Box::new(Incompressible { bulk })]))
        }
        None => base,
    }
}

fn contacts(
    source: &Source,
    file: &SceneFile,
    model: &Model,
    bodies: &[SceneBody],
    bones: &[SceneBone],
    distances: &[Option<SurfaceDistance>],
) -> Result<Contacts, SceneError> {
    let mut contacts = Contacts::default();
    let Some(given) = &file.contact else { return Ok(contacts) };
    let c = given.get_ref();
    let unit = file.unit.metres();
    if c.modulus <= 0.0 || c.friction < 0.0 || c.thickness < 0.0 {
        return Err(
            source.error(at(given), "[contact]: modulus must be above 0, friction and thickness not below")
        );
    }
    contacts.settings = ContactSettings {
        resolve: match c.mode {
            ContactMode::Penalty => Resolve::Penalty,
            ContactMode::Constraint if c.tolerance > 0.0 => {
                Resolve::Constraint { tolerance: c.tolerance * unit, rounds: c.rounds.max(1) }
            }
            ContactMode::Constraint => {
                return Err(
                    source.error(at(given), "[contact]: the constraint mode needs a tolerance above 0")
                );
            }
        },
        modulus: c.modulus,
        friction: c.friction,
        thickness: c.thickness * unit,
        keep_overlap: c.keep_overlap,
    };
    for (bone, (shown, distance)) in bones.iter().zip(distances).enumerate() {
        let (Some(surface), Some(distance)) = (&shown.surface, distance) else { continue };
        let (low, high) = surface.bounds();
        let cell = file.bone[bone].get_ref().cell.map_or(f64::from(surface.size()) / 80.0, |c| c * unit);
        let shape = DistanceGrid::new(|p| distance.signed(p), low.as_dvec3(), high.as_dvec3(), cell)
            .map_err(|e| source.error(at(&file.bone[bone]), format!("bone \"{}\": {e}", shown.name)))?;
        contacts.obstacles.push(Obstacle { name: shown.name.clone(), bone, shape });
    }
    for (body, given) in bodies.iter().zip(&file.body) {
        match given.get_ref().collide {
            Collide::None => {}
            Collide::Boundary => contacts.surfaces.push(CollisionSurface::boundary(model, body.part)),
            Collide::Skin => {
                let rest = TriMesh {
                    positions: body.skin.iter().map(|p| p.at(&model.rest).as_vec3()).collect(),
                    triangles: body.triangles.clone(),
                };
                contacts.surfaces.push(CollisionSurface::embedded(model, body.part, &rest));
            }
        }
    }
    contacts.test_everything(c.own);
    if !c.bodies {
        contacts.tests.retain(|(s, against)| match against {
            Against::Surface(o) => o == s,
            Against::Obstacle(_) => true,
        });
    }
    Ok(contacts)
}

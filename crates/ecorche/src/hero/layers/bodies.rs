//! Muscles and bones as solids: an anatomy's muscles at bind, apart from each other, inside the skin, as tetrahedra with fibres.
//!
//! Where muscles overlap, a point belongs to the one it is relatively deepest in: `phi_i / r_i` is least, with the distance
//! `phi_i` (negative inside) and the mean radius `r_i`. So a thin muscle in a thick one keeps its core. Bones win over muscles, and muscles
//! end at a clearance under the skin. All of it is one function for each muscle, of which the tetrahedra are made.

use super::timeline::{Carrier, Carriers};
use crate::dynamics::{self, Keep};
use crate::geom::TriMesh;
use crate::geom::bvh::Aabb;
use crate::geom::sdf::{DistanceGrid, SurfaceDistance};
use crate::muscle::{Musculature, Shape};
use crate::tissue::fibres::{FibreField, fibres};
use crate::tissue::mesh::{Size, Thickened, from_implicit};
use crate::tissue::tet_mesh::TetMesh;
use glam::DVec3;
use rayon::prelude::*;

/// How solids are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Edge of the tetrahedra, metres; `None` takes what gives about `budget` of them.
    pub edge: Option<f64>,
    /// Tetrahedra of all muscles together.
    pub budget: f64,
    /// Distance between muscles, and from muscles to bones, metres at human size.
    pub gap: f64,
    /// Distance from muscles to the skin, metres at human size.
    pub clearance: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { edge: None, budget: 16e3, gap: 3e-4, clearance: 4e-3 }
    }
}

/// A muscle as a solid.
#[derive(Debug)]
pub struct MuscleBody {
    /// Name and side.
    pub name: String,
    /// Index of its definition.
    pub muscle: usize,
    /// Its fibres among those of the musculature.
    pub strands: Vec<usize>,
    /// At bind.
    pub mesh: TetMesh,
    /// Potential and directions.
    pub field: FibreField,
    /// Nodes held at origin and insertion, each with the index of its carrier.
    pub held: [Vec<(u32, usize)>; 2],
    /// Joints of origin and insertion: muscles with the same are a group.
    pub ends: [usize; 2],
}

/// A bone as a solid.
#[derive(Debug)]
pub struct BoneBody {
    /// Its joint.
    pub joint: usize,
    /// Its carrier.
    pub carrier: usize,
    /// Distance in bind space.
    pub shape: DistanceGrid,
    /// Its surface in bind space.
    pub surface: TriMesh,
}

/// All solids of a shot.
#[derive(Debug, Default)]
pub struct Bodies {
    /// Muscles.
    pub muscles: Vec<MuscleBody>,
    /// Bones.
    pub bones: Vec<BoneBody>,
    /// What moves them.
    pub carriers: Vec<Carrier>,
    /// Muscles that could not be meshed, and why.
    pub left_out: Vec<(String, String)>,
    /// Vertices of the skin inside a muscle as the anatomy has it, or closer to it than half the clearance. The muscle is thinned there.
    pub inside: Vec<u32>,
    /// Edge of the tetrahedra, metres.
    pub edge: f64,
}

/// A muscle before it is apart from the others.
struct Raw {
    name: String,
    muscle: usize,
    strands: Vec<usize>,
    parts: Vec<Thickened>,
    radius: f64,
    bounds: Aabb,
    volume: f64,
}

impl Raw {
    fn signed(&self, p: DVec3) -> f64 {
        self.parts.iter().map(|part| part.signed(p)).fold(f64::INFINITY, f64::min)
    }
}

/// Vertices around a muscle's surface.
const AROUND: usize = 24;

/// Thickness of tendons, in edges: thinner ones would be lost.
const THINNEST: f64 = 1.6;

impl Bodies {
    /// Solids of the muscles that lie at least by half where `is_inside`, and of the bones that they hold on to and of
    /// those that `joints` carry. `points` are the skin's vertices, `skin` the distance to it, all in bind space.
    pub fn new(
        musculature: &Musculature,
        joints: &[usize],
        is_inside: impl Fn(DVec3) -> bool,
        carriers: &Carriers,
        skin: &SurfaceDistance,
        points: &[DVec3],
        settings: &Settings,
    ) -> Self {
        let scale = musculature.scale();
        let flesh = musculature.at_bind();
        let ends: Vec<[usize; 2]> = musculature.ends().collect();
        let lies_inside = |f: usize| {
            let axis = flesh.muscles[f].shape.axis_points();
            2 * axis.iter().filter(|p| is_inside(**p)).count() >= axis.len()
        };
        let inside: Vec<bool> = (0..flesh.muscles.len()).map(lies_inside).collect();
        // A fan is taken whole, if half of its fibres are.
        let wanted = |f: usize| {
            let own = || (0..inside.len()).filter(|&g| flesh.muscles[g].muscle == flesh.muscles[f].muscle);
            2 * own().filter(|&g| inside[g]).count() >= own().count()
        };
        let mut of_muscle: Vec<(usize, Vec<usize>)> = Vec::new();
        for (f, posed) in flesh.muscles.iter().enumerate().filter(|(f, _)| wanted(*f)) {
            match of_muscle.last_mut() {
                Some((muscle, list)) if *muscle == posed.muscle => list.push(f),
                _ => of_muscle.push((posed.muscle, vec![f])),
            }
        }
        let mut bodies = Self::default();
        let all: f64 = of_muscle.iter().flat_map(|m| &m.1).map(|&f| flesh.muscles[f].shape.volume()).sum();
        // Twelve tetrahedra fill a cell of the lattice; tendons are thickened, which adds about as much again.
        let edge = settings.edge.unwrap_or_else(|| (20.0 * all / settings.budget).cbrt());
        bodies.edge = edge;
        let thinnest = THINNEST * edge;
        let shape_of = |f: usize| -> &Shape { &flesh.muscles[f].shape };
        let raws: Vec<Result<Raw, (String, String)>> = of_muscle
            .into_par_iter()
            .map(|(muscle, strands)| {
                let definition = &musculature.definition().muscle[muscle];
                let name = format!("{} {}", definition.name, definition.side.name());
                let mut bounds = Aabb::EMPTY;
                let mut parts = Vec::new();
                for &f in &strands {
                    let drawn = shape_of(f).surface(AROUND, 0.12);
                    bounds = bounds.union(Aabb::around(&drawn.mesh.positions));
                    parts.push(
                        Thickened::new(&drawn.mesh, thinnest).map_err(|e| (name.clone(), e.to_string()))?,
                    );
                }
                let radius = strands.iter().map(|&f| shape_of(f).width()).fold(0.0, f64::max).max(0.5 * edge);
                let volume = strands.iter().map(|&f| shape_of(f).volume()).sum();
                Ok(Raw { name, muscle, strands, parts, radius, bounds, volume })
            })
            .collect();
        let mut sound = Vec::new();
        for raw in raws {
            match raw {
                Ok(raw) if raw.volume > 0.0 => sound.push(raw),
                Ok(raw) => bodies.left_out.push((raw.name, "it has no volume".into())),
                Err(out) => bodies.left_out.push(out),
            }
        }
        let mut held_on: Vec<usize> =
            sound.iter().flat_map(|raw| &raw.strands).flat_map(|&f| ends[f]).collect();
        held_on.extend_from_slice(joints);
        bodies.add_bones(musculature, &held_on, carriers);
        let near = 0.5 * settings.clearance * scale;
        bodies.inside = (0..points.len() as u32)
            .into_par_iter()
            .filter(|&v| {
                let p = points[v as usize];
                sound.iter().any(|raw| {
                    raw.bounds.distance_squared(p.as_vec3()).sqrt() < near as f32 && raw.signed(p) < near
                })
            })
            .collect();
        let made: Vec<Result<TetMesh, String>> = (0..sound.len())
            .into_par_iter()
            .map(|i| bodies.mesh(i, &sound, skin, scale, edge, settings))
            .collect();
        for (raw, mesh) in sound.iter().zip(made) {
            let done = mesh.and_then(|mesh| {
                bodies.hold(
                    raw,
                    mesh,
                    &ends,
                    &|f: usize| [0.0, 1.0].map(|s| shape_of(f).place(s).0),
                    carriers,
                )
            });
            match done {
                Ok(body) => bodies.muscles.push(body),
                Err(why) => bodies.left_out.push((raw.name.clone(), why)),
            }
        }
        bodies
    }

    fn add_bones(&mut self, musculature: &Musculature, joints: &[usize], carriers: &Carriers) {
        let system = musculature.system();
        for obstacle in system.obstacles().iter().filter(|o| o.keep == Keep::Outside) {
            let joint = obstacle.frame;
            if !joints.contains(&joint) {
                continue;
            }
            let bind = system.bind()[joint];
            let (shape, surface) = match &obstacle.shape {
                dynamics::Shape::Capsule { ends, radius } => {
                    let ends = ends.map(|e| bind.point(e));
                    let radius = *radius;
                    let distance = move |p: DVec3| crate::hero::region::from_axis(ends, p).0 - radius;
                    let low = ends[0].min(ends[1]) - DVec3::splat(radius);
                    let high = ends[0].max(ends[1]) + DVec3::splat(radius);
                    let Ok(grid) = DistanceGrid::new(distance, low, high, 0.4 * radius) else { continue };
                    let Ok(meshed) = from_implicit(distance, low, high, Size::Layers(3)) else { continue };
                    (grid, meshed.mesh.surface().0)
                }
                _ => {
                    let Some((_, own)) = musculature.bone_surfaces().find(|(j, _)| *j == joint) else {
                        continue;
                    };
                    let mut surface = own.clone();
                    surface.positions.iter_mut().for_each(|p| *p = bind.point(p.as_dvec3()).as_vec3());
                    let Ok(distance) = SurfaceDistance::new(&surface) else { continue };
                    let (low, high) = surface.bounds();
                    let cell = f64::from((high - low).max_element()) / 80.0;
                    let sampled =
                        DistanceGrid::new(|p| distance.signed(p), low.as_dvec3(), high.as_dvec3(), cell);
                    let Ok(grid) = sampled else { continue };
                    (grid, surface)
                }
            };
            // A bone is rigid: it turns with its joint alone.
            let carrier = self.carrier(Carrier { twist: None, ..carriers.of(joint, bind.translation) });
            self.bones.push(BoneBody { joint, carrier, shape, surface });
        }
    }

    fn carrier(&mut self, carrier: Carrier) -> usize {
        self.carriers.iter().position(|c| *c == carrier).unwrap_or_else(|| {
            self.carriers.push(carrier);
            self.carriers.len() - 1
        })
    }

    /// The tetrahedra of one muscle, apart from all else.
    fn mesh(
        &self,
        own: usize,
        all: &[Raw],
        skin: &SurfaceDistance,
        scale: f64,
        edge: f64,
        settings: &Settings,
    ) -> Result<TetMesh, String> {
        let raw = &all[own];
        let (gap, clearance) = (settings.gap * scale, settings.clearance * scale);
        let grown = |b: &Aabb| Aabb {
            low: b.low - glam::Vec3::splat(2.0 * edge as f32),
            high: b.high + glam::Vec3::splat(2.0 * edge as f32),
        };
        let room = grown(&raw.bounds);
        let others: Vec<&Raw> = (0..all.len())
            .filter(|&i| i != own && grown(&all[i].bounds).overlaps(&room))
            .map(|i| &all[i])
            .collect();
        let distance = |p: DVec3| {
            let phi = raw.signed(p);
            if phi > 2.0 * edge {
                return phi;
            }
            let mut value = phi;
            for other in &others {
                if grown(&other.bounds).distance_squared(p.as_vec3()) > 0.0 {
                    continue;
                }
                let (r, s) = (raw.radius, other.radius);
                let there = other.signed(p);
                value = value.max((phi / r - there / s) * r * s / (r + s) + 0.5 * gap);
            }
            for bone in &self.bones {
                value = value.max(gap - bone.shape.sample(p).0);
            }
            value.max(skin.signed(p) + clearance)
        };
        let (low, high) = (room.low.as_dvec3(), room.high.as_dvec3());
        let meshed = from_implicit(distance, low, high, Size::Edge(edge)).map_err(|e| e.to_string())?;
        Ok(meshed.mesh)
    }

    /// Finds what is held at both ends, and the fibres between.
    fn hold(
        &mut self,
        raw: &Raw,
        mesh: TetMesh,
        ends: &[[usize; 2]],
        tips_of: &dyn Fn(usize) -> [DVec3; 2],
        carriers: &Carriers,
    ) -> Result<MuscleBody, String> {
        let mut held: [Vec<(u32, usize)>; 2] = [Vec::new(), Vec::new()];
        for &f in &raw.strands {
            let tips = tips_of(f);
            let length = tips[0].distance(tips[1]);
            for (end, list) in held.iter_mut().enumerate() {
                let tip = tips[end];
                let carrier = self.carrier(carriers.of(ends[f][end], tip));
                let nearest = mesh.nodes.iter().map(|p| p.distance(tip)).fold(f64::INFINITY, f64::min);
                if nearest > 0.35 * length {
                    return Err(format!("nothing of it is left near its {}", ["origin", "insertion"][end]));
                }
                let reach = nearest + (1.3 * self.edge).min(0.2 * length);
                for (n, p) in (0u32..).zip(&mesh.nodes) {
                    if p.distance(tip) <= reach && list.iter().all(|h| h.0 != n) {
                        list.push((n, carrier));
                    }
                }
            }
        }
        for list in &mut held {
            list.sort_unstable();
        }
        let taken: Vec<u32> = held[0].iter().map(|h| h.0).collect();
        held[1].retain(|h| !taken.contains(&h.0));
        let nodes = |k: usize| held[k].iter().map(|h| h.0).collect::<Vec<u32>>();
        let field = fibres(&mesh, &nodes(0), &nodes(1)).map_err(|e| e.to_string())?;
        Ok(MuscleBody {
            name: raw.name.clone(),
            muscle: raw.muscle,
            strands: raw.strands.clone(),
            mesh,
            field,
            held,
            ends: ends[raw.strands[0]],
        })
    }

    /// Tetrahedra of all muscles.
    pub fn tetrahedra(&self) -> usize {
        self.muscles.iter().map(|m| m.mesh.tets.len()).sum()
    }
}

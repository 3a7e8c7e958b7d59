//! Which skin each muscle moves, how much, and the displacement itself.

use super::definition::{ParametricDef, Template, Weighting};
use super::pose::{EDGE, Muscle, Posed, smoothstep};
use crate::character::{Character, Skeleton};
use crate::geom::TriMesh;
use crate::skinning::Surface;
use glam::{Vec3, Vec3A};
use rayon::prelude::*;

/// Muscles on one vertex; those of least weight are left out.
const MOST: usize = 4;
/// Vertices handled by a thread at a time.
const BLOCK: usize = 2048;
/// The border of a template, as a share of its size: weights rise over it.
const BORDER: f32 = 0.15;
/// Skin that skinning moves against the muscle by this share of the muscle's half thickness is let go. The paper has no such
/// limit; without one, skin beside hips and shoulders is torn out (squat of the athlete: roughness 3.2 of the start's, 1 is
/// none). Below a quarter two-bone muscles, such as pectorals, lose their skin in everyday poses.
const GRIP: f32 = 0.5;
/// Edges of the mesh over which weights rise from the side and the ends of a muscle. With 0 the jump of mh_base is 1.19 times
/// as rough as its start; with 1.5 hardly anything moves on meshes as coarse as CesiumMan's.
const FEATHER: f32 = 0.5;
/// Weights below this are nothing.
const LEAST: f32 = 1e-3;

/// What a vertex keeps of a muscle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Number of the muscle.
    pub muscle: u16,
    /// Whether one bone carries the muscle's line: skin that moves against it is skinning's doing and not the muscle's.
    pub on_one_bone: bool,
    /// In `(0, 1]`.
    pub weight: f32,
    /// From the muscle's surface to the vertex at bind, along the bulge direction, metres; negative inside.
    pub fat: f32,
    /// From the middle of the section to that surface at bind, metres.
    pub height: f32,
}

/// What the vertices of a mesh keep of the muscles.
#[derive(Clone, Debug, Default)]
pub struct Influence {
    /// Vertices that a muscle moves, ascending.
    vertices: Vec<u32>,
    /// First entry of each, and the end.
    starts: Vec<u32>,
    entries: Vec<Entry>,
    /// First of `vertices` in each block of the mesh, and the end.
    blocks: Vec<u32>,
}

/// What muscles did to a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Displaced {
    /// Vertices that moved.
    pub vertices: usize,
    /// The largest displacement, metres.
    pub largest: f32,
    /// Vertices whose displacement was not finite; left where they were.
    pub fell_back: usize,
}

impl Displaced {
    fn and(self, other: Self) -> Self {
        Self {
            vertices: self.vertices + other.vertices,
            largest: self.largest.max(other.largest),
            fell_back: self.fell_back + other.fell_back,
        }
    }
}

impl Influence {
    fn new(of_vertex: &[Vec<Entry>], vertices: usize) -> Self {
        let mut this = Self { starts: vec![0], ..Self::default() };
        for (v, entries) in of_vertex.iter().enumerate() {
            if v % BLOCK == 0 {
                this.blocks.push(this.vertices.len() as u32);
            }
            if !entries.is_empty() {
                this.vertices.push(v as u32);
                this.entries.extend_from_slice(entries);
                this.starts.push(this.entries.len() as u32);
            }
        }
        this.blocks.resize(vertices.div_ceil(BLOCK), this.vertices.len() as u32);
        this.blocks.push(this.vertices.len() as u32);
        this
    }

    /// Number of vertices that a muscle moves.
    pub fn vertices(&self) -> usize {
        self.vertices.len()
    }

    /// Vertex, muscle and weight of everything it holds.
    pub fn weights(&self) -> impl Iterator<Item = (u32, usize, f32)> + '_ {
        self.vertices.iter().enumerate().flat_map(|(k, &v)| {
            self.entries_of(k).iter().map(move |entry| (v, usize::from(entry.muscle), entry.weight))
        })
    }

    /// The vertices that a muscle moves, ascending, each with what it keeps: at most four muscles.
    pub fn entries(&self) -> impl Iterator<Item = (u32, &[Entry])> + '_ {
        self.vertices.iter().enumerate().map(|(k, &v)| (v, self.entries_of(k)))
    }

    fn entries_of(&self, k: usize) -> &[Entry] {
        &self.entries[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    pub(super) fn mark(&self, used: &mut [bool]) {
        self.entries.iter().for_each(|entry| used[usize::from(entry.muscle)] = true);
    }

    pub(super) fn displace(&self, posed: &[Posed], positions: &mut [Vec3], alone: bool) -> Displaced {
        if self.blocks.len() != positions.len().div_ceil(BLOCK) + 1 {
            return Displaced::default();
        }
        let one = |(block, positions): (usize, &mut [Vec3])| self.block(block, posed, positions);
        if alone || positions.len() <= BLOCK {
            positions.chunks_mut(BLOCK).enumerate().map(one).fold(Displaced::default(), Displaced::and)
        } else {
            let blocks = positions.par_chunks_mut(BLOCK).enumerate().map(one);
            blocks.reduce(Displaced::default, Displaced::and)
        }
    }

    fn block(&self, block: usize, posed: &[Posed], positions: &mut [Vec3]) -> Displaced {
        let mut report = Displaced::default();
        for k in self.blocks[block] as usize..self.blocks[block + 1] as usize {
            let position = &mut positions[self.vertices[k] as usize - block * BLOCK];
            let point = Vec3A::from(*position);
            let (mut sum, mut weights) = (Vec3A::ZERO, 0.0);
            for entry in self.entries_of(k) {
                let muscle = &posed[usize::from(entry.muscle)];
                if let Some(seen) = muscle.see(point) {
                    let thicker = seen.height - entry.height;
                    let slipped = seen.to_middle + entry.height + entry.fat;
                    let grip = 1.0 - smoothstep(slipped.abs() / (GRIP * seen.reach));
                    let weight = entry.weight * seen.fade * grip;
                    let moved = if entry.on_one_bone { thicker } else { thicker + slipped };
                    // A muscle pushes skin and does not pull it: flesh around one that thins holds the skin.
                    sum += weight * moved.max(0.0) * Vec3A::from(muscle.bulge.truncate());
                    weights += weight;
                }
            }
            let moved = sum / f32::max(1.0, weights);
            let length = moved.length();
            if !length.is_finite() {
                report.fell_back += 1;
            } else if length > 0.0 {
                *position = (point + moved).into();
                report.vertices += 1;
                report.largest = report.largest.max(length);
            }
        }
        report
    }
}

/// The influences of every mesh of a character, with the muscles at bind.
pub(super) fn influences(
    definitions: &[ParametricDef],
    muscles: &[Muscle],
    posed: &[Posed],
    character: &Character,
    surface: &Surface,
) -> Vec<Influence> {
    let count = surface.mesh.positions.len();
    let edges = mean_edges(&surface.mesh);
    let of_muscle = |k: usize| -> Vec<(u32, Entry)> {
        let (definition, muscle) = (&definitions[k], &posed[k]);
        let limb = limb(definition, &muscles[k], &character.skeleton);
        let thickest = (1..200).map(|i| muscle.thickness_at(i as f32 / 200.0)).fold(0.0, f32::max);
        let entry = |v: usize| {
            let point = Vec3A::from(surface.mesh.positions[v]);
            let around = muscle.around(point)?;
            let seen = muscle.see(point);
            let above = around.above / (BORDER * muscle.bulge.w * around.thickness);
            let inside = match definition.template {
                Template::Radial => (definition.radius - around.distance) / (BORDER * definition.radius),
                Template::HalfSpace => above,
                // A border narrower than the mesh's edges would be a step.
                Template::Fitted => {
                    above.min(seen?.border / (EDGE * around.thickness).max(FEATHER * edges[v]))
                }
            };
            let height = seen.map_or(0.0, |seen| seen.height);
            let own: f32 =
                surface.influences.of(v).filter(|(j, _)| limb[*j as usize]).map(|(_, weight)| weight).sum();
            let strength = match definition.weights {
                Weighting::Binary => 1.0,
                Weighting::Spline => around.thickness / thickest,
            };
            let weight = smoothstep(inside) * smoothstep(2.0 * own - 1.0) * strength.clamp(0.0, 1.0);
            (weight > LEAST).then_some((
                v as u32,
                Entry {
                    muscle: k as u16,
                    on_one_bone: muscles[k].is_on_one_bone(),
                    weight,
                    fat: -(around.to_middle + height),
                    height,
                },
            ))
        };
        (0..count).filter_map(entry).collect()
    };
    let found: Vec<Vec<(u32, Entry)>> = (0..posed.len()).into_par_iter().map(of_muscle).collect();
    let mut of_surface: Vec<Vec<Entry>> = vec![Vec::new(); count];
    for (v, entry) in found.into_iter().flatten() {
        of_surface[v as usize].push(entry);
    }
    for entries in &mut of_surface {
        // The sort is stable: of equal weights the earlier muscle stays.
        entries.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        entries.truncate(MOST);
        entries.sort_by_key(|entry| entry.muscle);
    }
    let of_mesh = |m: usize| {
        let vertices = character.meshes[m].positions.len();
        let of_vertex: Vec<Vec<Entry>> = (0..vertices)
            .map(|v| match surface.vertex_of(character, m, v) {
                Some(s) => of_surface[s as usize].clone(),
                None => Vec::new(),
            })
            .collect();
        Influence::new(&of_vertex, vertices)
    };
    (0..character.meshes.len()).map(of_mesh).collect()
}

/// Mean length of the edges of each vertex, metres; above zero.
fn mean_edges(mesh: &TriMesh) -> Vec<f32> {
    let mut sums = vec![(0f32, 0f32); mesh.positions.len()];
    for triangle in &mesh.triangles {
        for k in 0..3 {
            let [a, b] = [triangle[k], triangle[(k + 1) % 3]].map(|v| v as usize);
            let length = mesh.positions[a].distance(mesh.positions[b]);
            for v in [a, b] {
                sums[v] = (sums[v].0 + length, sums[v].1 + 1.0);
            }
        }
    }
    sums.into_iter().map(|(sum, count)| (sum / count.max(1.0)).max(f32::MIN_POSITIVE)).collect()
}

/// Of each joint, whether its skin belongs to the muscle: the named ones, else those from its first joint to its last.
fn limb(definition: &ParametricDef, muscle: &Muscle, skeleton: &Skeleton) -> Vec<bool> {
    let mut limb = vec![false; skeleton.len()];
    if !definition.parts.is_empty() {
        definition.parts.iter().filter_map(|name| skeleton.find(name)).for_each(|joint| limb[joint] = true);
        return limb;
    }
    between(skeleton, muscle.joints(), &mut limb);
    limb
}

/// Marks two joints and those between them in the hierarchy.
pub(super) fn between(skeleton: &Skeleton, [mut a, mut b]: [usize; 2], marked: &mut [bool]) {
    loop {
        marked[a] = true;
        marked[b] = true;
        if a == b {
            return;
        }
        // Parents come first, so the later of two different joints is not an ancestor of the other.
        let later = if a > b { &mut a } else { &mut b };
        match skeleton.joints[*later].parent {
            Some(parent) => *later = parent,
            None => return,
        }
    }
}

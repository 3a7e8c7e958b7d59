//! Bodies that lie on each other and slide: muscles of a group.
//!
//! A vertex of one surface that lies within [`Settings::reach`] edges of another at rest keeps its distance along the other's
//! normal: energy `k/2 ((x - q).n - d)^2` with the nearest point `q` of the other surface, its normal `n` and the distance `d`
//! at rest. The force acts on both, by the weights of `q` in its triangle. Along the surface there is no force. Pull that is
//! larger than [`Settings::tear`] lets go, until the bodies meet again.
//!
//! Based on: Fabio Turchet. Physics-based Modelling, Simulation, Placement and Learning for Musculo-Skeletal Animations.
//! 2018, chapter 4.
//! Differs in: the other surface moves and is pushed back; what slides keeps its distance at rest, so that the rest shape has
//! no forces.

use super::boundary::Place;
use super::model::Model;
use super::terms::Term;
use crate::geom::Bvh;
use crate::geom::intersect::closest_with_weights;
use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;

/// How bodies hold on to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Pressure for a distance that is off by an edge, pascals, above 0.
    pub modulus: f64,
    /// Vertices that lie within this many edges of the other surface at rest slide on it.
    pub reach: f64,
    /// Edges within which the nearest point is searched later.
    pub search: f64,
    /// Tension at which the hold tears, pascals.
    pub tear: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { modulus: 1e5, reach: 0.6, search: 3.0, tear: 1e5 }
    }
}

/// The boundary of one body.
#[derive(Clone, Debug)]
struct Skin {
    nodes: Vec<u32>,
    triangles: Vec<[u32; 3]>,
    /// A third of the area of the triangles around each node.
    areas: Vec<f64>,
    edge: f64,
}

/// A vertex that slides on a surface.
#[derive(Clone, Copy, Debug)]
struct Bound {
    skin: usize,
    vertex: usize,
    on: usize,
    distance: f64,
}

/// Where a bound vertex is now.
#[derive(Clone, Copy, Debug)]
struct Touch {
    node: Place,
    other: Place,
    normal: DVec3,
    /// Distance along the normal at rest.
    distance: f64,
    /// How much farther it is now.
    off: f64,
    stiffness: f64,
}

/// All pairs of bodies that slide on each other. Empty by default.
#[derive(Clone, Debug, Default)]
pub struct Sliding {
    settings: Settings,
    skins: Vec<Skin>,
    bound: Vec<Bound>,
    /// Torn in this step.
    torn: Vec<bool>,
    active: Vec<Touch>,
    looks: u32,
}

/// Largest cosine between the normals of a vertex and of what it slides on: sides around a corner are not met.
const AGAINST: f64 = -0.3;

/// Searches after which a vertex keeps its nearest point until the end of the step, as contacts do.
const SETTLED: u32 = 4;

impl Sliding {
    /// Ties the surfaces of pairs of bodies, both ways, where they touch in the rest shape.
    pub fn new(model: &Model, pairs: &[[usize; 2]], settings: Settings) -> Self {
        let skins: Vec<Skin> = (0..model.parts.len()).map(|part| Skin::new(model, part)).collect();
        let mut sliding = Self { settings, skins, ..Self::default() };
        for &[a, b] in pairs {
            for (from, on) in [(a, b), (b, a)] {
                let reach = settings.reach * sliding.skins[from].edge;
                let tree = sliding.skins[on].tree(&model.rest);
                let normals = sliding.skins[from].normals(&model.rest);
                for vertex in 0..sliding.skins[from].nodes.len() {
                    let point = model.rest[sliding.skins[from].nodes[vertex] as usize];
                    let facing = normals[vertex];
                    let found = sliding.skins[on].nearest(&tree, &model.rest, point, facing, reach);
                    if let Some((_, _, distance)) = found {
                        sliding.bound.push(Bound { skin: from, vertex, on, distance });
                    }
                }
            }
        }
        sliding.torn = vec![false; sliding.bound.len()];
        sliding
    }

    /// Whether nothing slides.
    pub fn is_empty(&self) -> bool {
        self.bound.is_empty()
    }

    /// Whether a vertex of one of two bodies slides on the other.
    pub fn joins(&self, a: usize, b: usize) -> bool {
        self.bound.iter().any(|v| [v.skin, v.on] == [a, b] || [v.skin, v.on] == [b, a])
    }

    /// Vertices that slide, and how many of them are torn off.
    pub fn counts(&self) -> [usize; 2] {
        [self.bound.len(), self.torn.iter().filter(|t| **t).count()]
    }

    /// Finds what is torn at the start of a step.
    pub(super) fn begin_step(&mut self, start: &[DVec3]) {
        if self.is_empty() {
            return;
        }
        let found = self.find(start);
        self.torn = found
            .iter()
            .zip(&self.bound)
            .map(|(touch, b)| {
                let area = self.skins[b.skin].areas[b.vertex];
                touch.is_none_or(|t| t.off * t.stiffness > self.settings.tear * area)
            })
            .collect();
        self.looks = 0;
    }

    /// Finds the nearest points, unless they are settled.
    pub(super) fn detect(&mut self, positions: &[DVec3]) {
        if self.is_empty() {
            return;
        }
        self.looks += 1;
        if self.looks <= SETTLED {
            let found = self.find(positions);
            self.active =
                found.into_iter().zip(&self.torn).filter_map(|(t, torn)| t.filter(|_| !torn)).collect();
        }
    }

    /// Adds the forces; returns their energy.
    pub(super) fn add_terms(&self, positions: &[DVec3], terms: &mut Vec<Term>) -> f64 {
        let mut energy = 0.0;
        for touch in &self.active {
            let n = touch.normal;
            let now = (touch.node.at(positions) - touch.other.at(positions)).dot(n);
            let off = now - touch.distance;
            energy += 0.5 * touch.stiffness * off * off;
            let support = touch.node.support().chain(touch.other.support().map(|(node, w)| (node, -w)));
            let outer = DMat3::from_cols(n * n.x, n * n.y, n * n.z) * touch.stiffness;
            terms.push(Term::new(support, n * (touch.stiffness * off), outer));
        }
        energy
    }

    fn find(&self, positions: &[DVec3]) -> Vec<Option<Touch>> {
        let trees: Vec<Bvh> = self.skins.par_iter().map(|s| s.tree(positions)).collect();
        let normals: Vec<Vec<DVec3>> = self.skins.par_iter().map(|s| s.normals(positions)).collect();
        self.bound
            .par_iter()
            .with_min_len(64)
            .map(|b| {
                let (own, other) = (&self.skins[b.skin], &self.skins[b.on]);
                let node = own.nodes[b.vertex];
                let point = positions[node as usize];
                let reach = self.settings.search * own.edge;
                let facing = normals[b.skin][b.vertex];
                let (place, normal, distance) =
                    other.nearest(&trees[b.on], positions, point, facing, reach)?;
                let stiffness = self.settings.modulus * own.areas[b.vertex] / own.edge;
                let off = distance - b.distance;
                Some(Touch {
                    node: Place::node(node),
                    other: place,
                    normal,
                    distance: b.distance,
                    off,
                    stiffness,
                })
            })
            .collect()
    }
}

impl Skin {
    fn new(model: &Model, part: usize) -> Self {
        let part = &model.parts[part];
        let tets = &model.tets[part.tets.clone()];
        let triangles: Vec<[u32; 3]> =
            super::tet_mesh::boundary_faces(tets).into_iter().map(|(face, _)| face).collect();
        let mut nodes: Vec<u32> = triangles.iter().flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut areas = vec![0.0; nodes.len()];
        let local = |n: u32| nodes.partition_point(|&m| m < n);
        for t in &triangles {
            let [a, b, c] = t.map(|n| model.rest[n as usize]);
            let third = (b - a).cross(c - a).length() / 6.0;
            t.iter().for_each(|&n| areas[local(n)] += third);
        }
        Self { nodes, triangles, areas, edge: part.edge }
    }

    fn tree(&self, positions: &[DVec3]) -> Bvh {
        let boxes: Vec<crate::geom::bvh::Aabb> = self
            .triangles
            .iter()
            .map(|t| crate::geom::bvh::Aabb::around(&t.map(|n| positions[n as usize].as_vec3())))
            .collect();
        Bvh::new(&boxes)
    }

    /// Unit normals of the nodes.
    fn normals(&self, positions: &[DVec3]) -> Vec<DVec3> {
        let mut normals = vec![DVec3::ZERO; self.nodes.len()];
        for t in &self.triangles {
            let [a, b, c] = t.map(|n| positions[n as usize]);
            let doubled = (b - a).cross(c - a);
            t.iter().for_each(|&n| normals[self.nodes.partition_point(|&m| m < n)] += doubled);
        }
        normals.iter().map(|n| n.normalize_or_zero()).collect()
    }

    /// The nearest point of the surface within a distance where it looks against `facing`, its outward normal, and how far the
    /// point is along it.
    fn nearest(
        &self,
        tree: &Bvh,
        positions: &[DVec3],
        point: DVec3,
        facing: DVec3,
        within: f64,
    ) -> Option<(Place, DVec3, f64)> {
        let at: Vec3 = point.as_vec3();
        let corners = |t: u32| self.triangles[t as usize].map(|n| positions[n as usize]);
        let (triangle, _) = tree.nearest_item(at, within as f32, |t| {
            let [a, b, c] = corners(t);
            let against = (b - a).cross(c - a).normalize_or_zero().dot(facing) < AGAINST;
            against.then(|| closest_with_weights([a, b, c], point).0.distance_squared(point) as f32)
        })?;
        let [a, b, c] = corners(triangle);
        let (nearest, share) = closest_with_weights([a, b, c], point);
        let normal = (b - a).cross(c - a).try_normalize()?;
        let nodes = self.triangles[triangle as usize];
        let place = Place {
            nodes: [nodes[0], nodes[1], nodes[2], nodes[0]],
            weights: [share[0], share[1], share[2], 0.0],
        };
        Some((place, normal, (point - nearest).dot(normal)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tissue::boundary::{BoneTrack, Boundary, Condition, Hold};
    use crate::tissue::material::{Lame, StableNeoHookean};
    use crate::tissue::model::Body;
    use crate::tissue::step::{Mode, Simulation};
    use crate::tissue::tet_mesh::TetMesh;
    use glam::DQuat;

    fn brick(low: DVec3, high: DVec3) -> Body {
        let mesh = TetMesh::brick(low, high, [6, 2, 3]);
        Body::uniform("brick", mesh, Box::new(StableNeoHookean::new(Lame::new(1e4, 0.4))), 1000.0)
    }

    /// Two bricks, one on the other; the upper one is moved by a shift of the nodes on its top.
    fn moved(shift: DVec3) -> (Simulation, [f64; 2]) {
        let bodies = vec![
            brick(DVec3::ZERO, DVec3::new(0.12, 0.02, 0.04)),
            brick(DVec3::new(0.0, 0.0205, 0.0), DVec3::new(0.12, 0.0405, 0.04)),
        ];
        let model = Model::new(bodies).unwrap();
        let mut boundary = Boundary::default();
        boundary.bones.push(BoneTrack::still("floor"));
        let keys = vec![(0.0, DQuat::IDENTITY, DVec3::ZERO), (1.0, DQuat::IDENTITY, shift)];
        boundary.bones.push(BoneTrack { name: "lid".into(), keys, pivot: DVec3::ZERO });
        for (node, &at) in model.rest.iter().enumerate() {
            let node = node as u32;
            if at.y == 0.0 {
                boundary.conditions.push(Condition::always(Hold::Fix { node, bone: 0, at }));
            } else if at.y > 0.04 {
                boundary.conditions.push(Condition::always(Hold::Fix { node, bone: 1, at }));
            }
        }
        let settings = crate::tissue::step::Settings {
            gravity: DVec3::ZERO,
            mode: Mode::QuasiStatic,
            tolerance: 1e-4,
            ..Default::default()
        };
        let sliding = Sliding::new(&model, &[[0, 1]], Settings::default());
        assert!(sliding.joins(0, 1) && sliding.counts()[0] > 20);
        let mut simulation = Simulation::new(model, boundary, settings).unwrap();
        simulation.sliding = sliding;
        for _ in 0..4 {
            assert!(simulation.step(0.25).unwrap().converged);
        }
        let mean = |from: f64, to: f64, axis: DVec3| {
            let near = |p: &&DVec3| p.y > from && p.y < to;
            let (rest, now) = (&simulation.model.rest, &simulation.state.positions);
            let moves = rest.iter().zip(now).filter(|(p, _)| near(p)).map(|(p, q)| (*q - *p).dot(axis));
            let moves: Vec<f64> = moves.collect();
            moves.iter().sum::<f64>() / moves.len() as f64
        };
        let axis = shift.normalize();
        let ends = [mean(0.0199, 0.0201, axis), mean(0.0204, 0.0206, axis)];
        (simulation, ends)
    }

    #[test]
    fn what_slides_is_not_dragged_along() {
        let (_, [below, above]) = moved(DVec3::X * 0.01);
        assert!(above > 0.0095, "{above}");
        assert!(below.abs() < 2e-4, "{below}");
    }

    #[test]
    fn what_is_pulled_off_comes_along_and_both_sides_share_the_stretch() {
        let (_, [below, above]) = moved(DVec3::Y * 0.002);
        assert!(below > 0.0005, "{below}");
        assert!(above - below < 0.0005, "the gap opens by {}", above - below);
    }
}

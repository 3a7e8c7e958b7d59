//! The surface of a soft body as collisions see it.

use super::super::boundary::Place;
use super::super::embed::{Locator, closest_on_triangle, embed};
use super::super::model::Model;
use super::super::tet_mesh::TetMesh;
use crate::geom::bvh::Bvh;
use crate::geom::{TriMesh, mesh};
use glam::{DVec3, Vec3};

/// Points and triangles that collide, tied to the tetrahedra of one body.
#[derive(Debug)]
pub struct CollisionSurface {
    /// Body it belongs to.
    pub part: usize,
    /// Tie of each vertex, in the model's node numbers.
    pub places: Vec<Place>,
    /// Triangles, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// A third of the area of the triangles around each vertex at rest.
    pub areas: Vec<f64>,
    rest: Vec<DVec3>,
    rest_single: Vec<Vec3>,
    rest_tree: Bvh,
}

/// The body's tetrahedra where they are now.
#[derive(Debug)]
pub(super) struct Moved {
    locator: Locator,
}

/// Where a point has entered a body.
#[derive(Debug)]
pub(super) struct Entry {
    /// Nearest place of the surface.
    pub place: Place,
    /// Outward normal there.
    pub normal: DVec3,
}

/// A point of a body's own surface collides with parts at least this many edges away at rest: closer ones
/// are its own flesh.
const OWN_EDGES: f64 = 2.5;

impl CollisionSurface {
    /// The boundary of a body's tetrahedra.
    pub fn boundary(model: &Model, part: usize) -> Self {
        let mesh = part_mesh(model, part);
        let (surface, node_of) = mesh.surface();
        let first = model.parts[part].nodes.start as u32;
        let places = node_of.iter().map(|&n| Place::node(n + first)).collect();
        Self::new(part, places, surface)
    }

    /// A finer surface tied to a body's tetrahedra.
    pub fn embedded(model: &Model, part: usize, surface: &TriMesh) -> Self {
        let mesh = part_mesh(model, part);
        let first = model.parts[part].nodes.start as u32;
        let points: Vec<DVec3> = surface.positions.iter().map(|p| p.as_dvec3()).collect();
        let places = embed(&mesh, &points)
            .into_iter()
            .map(|p| Place { nodes: p.nodes.map(|n| n + first), ..p })
            .collect();
        Self::new(part, places, surface.clone())
    }

    fn new(part: usize, places: Vec<Place>, surface: TriMesh) -> Self {
        let mut areas = vec![0.0; surface.positions.len()];
        for t in 0..surface.triangles.len() {
            let [a, b, c] = surface.corners(t).map(|p| p.as_dvec3());
            let third = (b - a).cross(c - a).length() / 6.0;
            for &v in &surface.triangles[t] {
                areas[v as usize] += third;
            }
        }
        let rest_tree = Bvh::over_triangles(&surface.positions, &surface.triangles);
        Self {
            part,
            places,
            areas,
            rest: surface.positions.iter().map(|p| p.as_dvec3()).collect(),
            rest_single: surface.positions,
            rest_tree,
            triangles: surface.triangles,
        }
    }

    /// Where the vertices are.
    pub fn points(&self, positions: &[DVec3]) -> Vec<DVec3> {
        self.places.iter().map(|p| p.at(positions)).collect()
    }

    /// The surface as a triangle mesh in a state.
    pub fn mesh(&self, positions: &[DVec3]) -> TriMesh {
        TriMesh {
            positions: self.places.iter().map(|p| p.at(positions).as_vec3()).collect(),
            triangles: self.triangles.clone(),
        }
    }

    /// Volume enclosed in a state.
    pub fn volume(&self, positions: &[DVec3]) -> f64 {
        let points: Vec<Vec3> = self.points(positions).iter().map(|p| p.as_vec3()).collect();
        mesh::volume(&points, &self.triangles)
    }

    pub(super) fn moved(&self, model: &Model, positions: &[DVec3]) -> Moved {
        let tets = &model.tets[model.parts[self.part].tets.clone()];
        Moved { locator: Locator::new(positions, tets) }
    }

    /// If `point` is inside this body: the nearest place of its surface, judged in the rest shape. `own` is
    /// the vertex when the point is of this very surface.
    pub(super) fn enter(
        &self,
        model: &Model,
        positions: &[DVec3],
        moved: &Moved,
        points: &[DVec3],
        point: DVec3,
        own: Option<usize>,
    ) -> Option<Entry> {
        let range = model.parts[self.part].tets.clone();
        let tets = &model.tets[range];
        let far = OWN_EDGES * model.parts[self.part].edge;
        let home = own.map(|v| self.rest[v]);
        let accept = |t: usize| {
            home.is_none_or(|h| {
                let middle = tets[t].iter().fold(DVec3::ZERO, |s, &n| s + model.rest[n as usize]) / 4.0;
                middle.distance(h) > far
            })
        };
        let (t, weights) = moved.locator.find(positions, tets, point, accept)?;
        let rest = tets[t].iter().zip(weights).fold(DVec3::ZERO, |s, (&n, w)| s + model.rest[n as usize] * w);
        let nearest = self.rest_tree.nearest(
            rest.as_vec3(),
            f32::INFINITY,
            &self.rest_single,
            &self.triangles,
            |_, p| home.is_none_or(|h| p.as_dvec3().distance(h) > far),
        )?;
        let triangle = self.triangles[nearest.triangle as usize];
        let (_, share) = closest_on_triangle(triangle.map(|v| self.rest[v as usize]), rest);
        let [a, b, c] = triangle.map(|v| points[v as usize]);
        let normal = (b - a).cross(c - a).try_normalize()?;
        // A vertex tied to a single node keeps three nodes; otherwise the tie of the nearest corner's
        // tetrahedron carries the point.
        let single = triangle.map(|v| self.places[v as usize]);
        let place = if single.iter().all(|p| p.weights[0] == 1.0) {
            Place {
                nodes: [single[0].nodes[0], single[1].nodes[0], single[2].nodes[0], single[0].nodes[0]],
                weights: [share[0], share[1], share[2], 0.0],
            }
        } else {
            let corner = (0..3).max_by(|&i, &j| share[i].total_cmp(&share[j])).unwrap_or(0);
            single[corner]
        };
        // The surface may have turned so that the rest's nearest place is no way out; then leave it alone.
        ((point - place.at(positions)).dot(normal) <= 0.0).then_some(Entry { place, normal })
    }
}

fn part_mesh(model: &Model, part: usize) -> TetMesh {
    let p = &model.parts[part];
    let first = p.nodes.start as u32;
    TetMesh {
        nodes: model.rest[p.nodes.clone()].to_vec(),
        tets: model.tets[p.tets.clone()].iter().map(|t| t.map(|n| n - first)).collect(),
    }
}

//! The surface of a soft body as collisions see it.

use super::super::boundary::Place;
use super::super::embed::{Locator, embed};
use super::super::model::Model;
use super::super::tet_mesh::TetMesh;
use crate::geom::bvh::Bvh;
use crate::geom::intersect::Ray;
use crate::geom::intersect::closest_with_weights;
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
    /// Edges between vertices that are nodes themselves; none for embedded surfaces.
    pub(super) edges: Vec<[u32; 2]>,
    rest: Vec<DVec3>,
    rest_single: Vec<Vec3>,
    rest_tree: Bvh,
}

/// The body's tetrahedra where they are now.
#[derive(Debug)]
pub(super) struct Moved {
    locator: Locator,
    /// The surface's points and a tree over its triangles, where edges are tested.
    surface: Option<(Vec<Vec3>, Bvh)>,
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
/// are its own neighbourhood.
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
        let single = |v: u32| places[v as usize].weights[0] == 1.0;
        let mut edges: Vec<[u32; 2]> = surface
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
            .filter(|&[a, b]| a < b && single(a) && single(b))
            .collect();
        edges.sort_unstable();
        Self {
            part,
            places,
            areas,
            edges,
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

    /// Where a vertex is at rest.
    pub(super) fn home(&self, vertex: usize) -> DVec3 {
        self.rest[vertex]
    }

    /// The vertex, or the first vertex of an edge; edges are numbered after the vertices.
    pub(super) fn corner_of(&self, item: usize) -> u32 {
        item.checked_sub(self.places.len()).map_or(item as u32, |e| self.edges[e][0])
    }

    /// Area that belongs to a vertex, or to an edge (edges are numbered after the vertices).
    pub(super) fn area_of(&self, item: usize) -> f64 {
        match item.checked_sub(self.places.len()) {
            None => self.areas[item],
            Some(e) => self.edges[e].iter().map(|&v| 0.5 * self.areas[v as usize]).sum(),
        }
    }

    /// Prepares queries in a state; `points` where edges are tested too.
    pub(super) fn moved(&self, model: &Model, positions: &[DVec3], points: Option<&Vec<DVec3>>) -> Moved {
        let tets = &model.tets[model.parts[self.part].tets.clone()];
        let surface = points.map(|points| {
            let single: Vec<Vec3> = points.iter().map(|p| p.as_vec3()).collect();
            let tree = Bvh::over_triangles(&single, &self.triangles);
            (single, tree)
        });
        Moved { locator: Locator::new(positions, tets), surface }
    }

    /// If a segment enters this body and leaves it again: the middle of its first piece inside, as a fraction of the
    /// segment, and the nearest place of the surface. Where that place is on one of the two triangles the segment passes,
    /// and these are neighbours, the segment cuts their common edge: the place is then on that edge, and the way out is
    /// perpendicular to edge and segment. `home` is where the segment is at rest, if it belongs to this surface.
    pub(super) fn cut(
        &self,
        model: &Model,
        positions: &[DVec3],
        moved: &Moved,
        points: &[DVec3],
        [a, b]: [DVec3; 2],
        home: Option<DVec3>,
    ) -> Option<(f64, Entry)> {
        let (single, tree) = moved.surface.as_ref()?;
        let ray = Ray::new(a.as_vec3(), (b - a).as_vec3());
        let mut hits = tree.all_hits(&ray, 1.0, single, &self.triangles);
        let far = OWN_EDGES * model.parts[self.part].edge;
        if let Some(home) = home {
            hits.retain(|hit| {
                let corners = self.triangles[hit.triangle as usize].map(|v| self.rest[v as usize]);
                ((corners[0] + corners[1] + corners[2]) / 3.0).distance(home) > far
            });
        }
        let inside = hits.windows(2).find(|h| h[0].front && !h[1].front)?;
        let along = 0.5 * f64::from(inside[0].distance + inside[1].distance);
        let point = a.lerp(b, along);
        let [enter, leave] = [0, 1].map(|k| self.triangles[inside[k].triangle as usize]);
        let shared: Vec<u32> = enter.into_iter().filter(|v| leave.contains(v)).collect();
        let nearest = self.enter(model, positions, moved, points, point, home);
        let &[u, v] = &shared[..] else { return Some((along, nearest?)) };
        let normal = |t: [u32; 3]| {
            let [a, b, c] = t.map(|v| points[v as usize]);
            (b - a).cross(c - a).normalize_or_zero()
        };
        let sides = [normal(enter), normal(leave)];
        // A segment just under a face that cuts off the face's corner passes two sides which are neighbours, but
        // the way out is through the face.
        if let Some(hit) = nearest.filter(|hit| sides.iter().all(|n| n.dot(hit.normal) < 0.9)) {
            return Some((along, hit));
        }
        let (from, to) = (points[u as usize], points[v as usize]);
        let outward = sides[0] + sides[1];
        let across = (b - a).cross(to - from);
        let crossing = across.length() > 0.1 * a.distance(b) * from.distance(to);
        let normal =
            if crossing { across * across.dot(outward).signum() } else { outward }.try_normalize()?;
        let t = ((point - from).dot(to - from) / from.distance_squared(to)).clamp(0.0, 1.0);
        let [first, second] = [u, v].map(|v| self.places[v as usize].nodes[0]);
        let place = Place { nodes: [first, second, first, first], weights: [1.0 - t, t, 0.0, 0.0] };
        ((point - place.at(positions)).dot(normal) <= 0.0).then_some((along, Entry { place, normal }))
    }

    /// If `point` is inside this body: the nearest place of its surface, judged in the rest shape. `home` is
    /// where the point is at rest, if it belongs to this surface.
    pub(super) fn enter(
        &self,
        model: &Model,
        positions: &[DVec3],
        moved: &Moved,
        points: &[DVec3],
        point: DVec3,
        home: Option<DVec3>,
    ) -> Option<Entry> {
        let range = model.parts[self.part].tets.clone();
        let tets = &model.tets[range];
        let far = OWN_EDGES * model.parts[self.part].edge;
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
        let (_, share) = closest_with_weights(triangle.map(|v| self.rest[v as usize]), rest);
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
        // The surface may have turned so that the place nearest at rest is not the way out; then leave it alone.
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

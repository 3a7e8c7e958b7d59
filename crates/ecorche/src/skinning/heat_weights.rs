//! Weights for meshes without any: each bone heats the skin that sees it, and the heat spreads.
//!
//! Based on: Baran, Popovic. Automatic rigging and animation of 3D characters. 2007.
//!
//! The weights of bone `i` are the equilibrium of `-L w + M H w = M H p`:
//!
//! | symbol | variable | meaning |
//! |---|---|---|
//! | L | [`Laplacian::edge_weights`] | cotangent Laplacian, no unit |
//! | M | [`Laplacian::vertex_areas`] | area of each vertex |
//! | H | `heat` | c / d^2, d the distance to the nearest visible bone; 0 where none is visible |
//! | p | share | 1 where bone `i` is that bone; bones at the same distance share |
//! | c | [`HeatSettings::heat`] | 1; the areas cancel the squared distance, so it has no unit |
//!
//! Differs in: the nearest *visible* bone counts, not the nearest one if it is visible; a bone is seen
//! along a ray inside the vertex's own connected component, not through a distance field, so that
//! clothes do not hide the bones of the body; and nothing is left without weights:
//! - a component that sees no bone (eyes, teeth, buckles) follows the nearest skin that does, as one
//!   rigid piece if it is small;
//! - if no component sees a bone (open or inside-out meshes), or if the triangles are a heap through which the rays
//!   would take hours, the nearest bone counts, seen or not.
//!
//! A joint owns the segments to its children. One without children goes on in its parent's direction,
//! through `LEAF_DEPTH` of what is left to the surface; beside siblings at its parent's own place it
//! has no direction and is a point. A joint whose children are all at its own place has no bone: they
//! have. Nor has a root outside of the skin (a master control on the floor), nor a child of such a root
//! that is outside too.

use crate::character::{Binding, Character, Influences, Mesh, Pose, Repair, Skeleton, Skin, add_up_repeated};
use crate::geom::bvh::{Bvh, Hit};
use crate::geom::intersect::Ray;
use crate::geom::{Adjacency, Laplacian, TriMesh};
use crate::math::sparse::{FactorError, SparseCholesky};
use glam::{Affine3A, Vec3};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How far a last bone reaches towards the surface. At 1 finger tips would be at distance 0 and take
/// all heat, at 0.5 a long hand is nearer to the forearm than to its own joint.
const LEAF_DEPTH: f32 = 0.9;

/// A bone may lie this share of its distance outside of the skin and still be seen: toe and finger
/// bones of real files touch the skin or cross it.
const OUTSIDE_SLACK: f32 = 0.05;

/// Bones whose distances differ by less than this share are equally near: two bones at their common
/// joint.
const SAME_DISTANCE: f32 = 1e-4;

/// Components below this share of the surface's size follow the skin as one piece: eyes (0.02 of a
/// body) do, trousers (0.5) must not.
const RIGID_SIZE: f32 = 0.1;

/// Rays to bones that look at more triangles per vertex and bone, on average, go through a heap: Geno's (clothes, 9,332 vertices) look
/// at 4, those of 40,000 triangles on one edge at nearly all. Few bones count as `FEW_BONES`; few triangles are no heap.
const LOOKED_AT: usize = 20;
const FEW_BONES: usize = 50;
const FEW_LOOKED_AT: usize = 10_000_000;

/// Settings of [`heat_weights`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatSettings {
    /// Heat of the bones against the conduction of the skin; 1 is the paper's value. Higher makes
    /// transitions between bones narrower.
    pub heat: f64,
    /// Most joints per vertex; the lightest are dropped.
    pub most_influences: usize,
    /// Weights below this are dropped.
    pub least_weight: f32,
}

impl Default for HeatSettings {
    fn default() -> Self {
        Self { heat: 1.0, most_influences: 8, least_weight: 0.01 }
    }
}

/// Why there are no automatic weights.
#[derive(Debug, thiserror::Error)]
pub enum HeatError {
    /// The skeleton has no joint that could hold skin.
    #[error("{mesh}: the skeleton has no bones to take weights from; add joints or paint weights")]
    NoBones {
        /// The mesh.
        mesh: String,
    },
    /// There is nothing to give weights to.
    #[error("{mesh}: has no vertices; leave it out")]
    NoVertices {
        /// The mesh.
        mesh: String,
    },
    /// The equations could not be solved.
    #[error("{mesh}: heat diffusion failed: {source}; repair the mesh or paint weights")]
    Factor {
        /// The mesh.
        mesh: String,
        /// What failed.
        source: FactorError,
    },
}

/// Weights found by heat diffusion.
#[derive(Clone, Debug)]
pub struct HeatWeights {
    /// Skeleton joints the weights refer to, ascending.
    pub joints: Vec<usize>,
    /// Weights of every vertex of the file; joints are numbered as in `joints`.
    pub influences: Influences,
    /// What the heat did not reach and what was done about it.
    pub repairs: Vec<Repair>,
}

/// A joint with the segments that heat the skin, in world space.
#[derive(Clone, Debug, PartialEq)]
pub struct Bone {
    /// Skeleton joint.
    pub joint: usize,
    /// Both ends of each segment; at least one segment.
    pub segments: Vec<[Vec3; 2]>,
}

/// Weights of a mesh from the skeleton's rest pose, whatever weights it has already.
pub fn heat_weights(
    mesh: &Mesh,
    skeleton: &Skeleton,
    settings: &HeatSettings,
) -> Result<HeatWeights, HeatError> {
    let rest = rest_world(skeleton);
    let mut joint_at: Vec<Vec3> = rest.iter().map(|m| m.translation.into()).collect();
    let mut surface = mesh.surface();
    match &mesh.binding {
        Binding::Skin(skin) => {
            for (&joint, from_bind) in skin.joints.iter().zip(&skin.joint_from_bind) {
                let at = from_bind.inverse().translation;
                if at.is_finite() && joint < joint_at.len() {
                    joint_at[joint] = at.into();
                }
            }
        }
        Binding::Node => move_points(&mut surface.positions, rest.get(mesh.joint)),
    }
    let joints = bone_joints(skeleton, &[mesh.joint]);
    let (joints, lists, repairs) =
        surface_weights(&mesh.name, &surface, skeleton, &joint_at, &joints, settings)?;
    let per_vertex = mesh.weld.surface_of_vertex.iter().map(|&s| lists[s as usize].clone());
    Ok(HeatWeights { joints, influences: Influences::new(per_vertex), repairs })
}

/// Meshes that a skeleton should move but cannot: the character has joints and no skin at all, and
/// the mesh does not hang on one of the bones.
pub fn weightless_meshes(character: &Character) -> Vec<usize> {
    if character.meshes.iter().any(|m| m.skin().is_some()) {
        return Vec::new();
    }
    let carriers: Vec<usize> = character.meshes.iter().map(|m| m.joint).collect();
    let joints = bone_joints(&character.skeleton, &carriers);
    let mut in_bones = vec![false; character.skeleton.len()];
    for (joint, flag) in (0..).zip(character.skeleton.joints.iter()) {
        in_bones[joint] = joints.binary_search(&joint).is_ok() || flag.parent.is_some_and(|p| in_bones[p]);
    }
    let weightless = |&m: &usize| !in_bones.get(character.meshes[m].joint).copied().unwrap_or(false);
    if joints.is_empty() { Vec::new() } else { (0..character.meshes.len()).filter(weightless).collect() }
}

/// Gives the listed `meshes` of a character weights and turns them into skinned ones. They are solved
/// together, so that eyes follow the head of the body they belong to. Repairs are returned and added
/// to the character's.
pub fn give_weights(
    character: &mut Character,
    meshes: &[usize],
    settings: &HeatSettings,
) -> Result<Vec<Repair>, HeatError> {
    let rest = rest_world(&character.skeleton);
    let joint_at: Vec<Vec3> = rest.iter().map(|m| m.translation.into()).collect();
    let mut whole = TriMesh::default();
    let mut firsts = Vec::new();
    // Copies that lie on each other are heated once.
    let mut known: HashMap<blake3::Hash, usize> = HashMap::new();
    for &m in meshes {
        let mesh = &character.meshes[m];
        let mut surface = mesh.surface();
        if mesh.skin().is_none() {
            move_points(&mut surface.positions, rest.get(mesh.joint));
        }
        let first = whole.positions.len() as u32;
        let shared = *known.entry(surface.content()).or_insert(first as usize);
        firsts.push(shared);
        if shared != first as usize {
            continue;
        }
        whole.positions.extend(surface.positions);
        whole.triangles.extend(surface.triangles.iter().map(|t| t.map(|v| v + first)));
    }
    let carriers: Vec<usize> = meshes.iter().map(|&m| character.meshes[m].joint).collect();
    let joints = bone_joints(&character.skeleton, &carriers);
    let (joints, lists, repairs) =
        surface_weights(&character.name, &whole, &character.skeleton, &joint_at, &joints, settings)?;
    for &joint in &joints {
        character.skeleton.joints[joint].in_skin = true;
    }
    for (&m, first) in meshes.iter().zip(firsts) {
        let mesh = &mut character.meshes[m];
        if mesh.skin().is_none() {
            let carrier = rest.get(mesh.joint);
            move_points(&mut mesh.positions, carrier);
            for offset in mesh.morphs.iter_mut().flat_map(|morph| &mut morph.offsets) {
                *offset = carrier.map_or(*offset, |world| world.transform_vector3(*offset));
            }
        }
        let per_vertex = mesh.weld.surface_of_vertex.iter().map(|&s| lists[first + s as usize].clone());
        mesh.binding = Binding::Skin(Skin {
            influences: Influences::new(per_vertex),
            joint_from_bind: joints.iter().map(|&j| rest[j].inverse()).collect(),
            joints: joints.clone(),
            dual_quaternion: false,
        });
    }
    character.repairs.extend(repairs.iter().cloned());
    Ok(repairs)
}

fn rest_world(skeleton: &Skeleton) -> Vec<Affine3A> {
    let local = skeleton.joints.iter().map(|j| j.rest).collect();
    Pose { local, morph_weights: Vec::new() }.world(skeleton)
}

fn move_points(points: &mut [Vec3], world: Option<&Affine3A>) {
    if let Some(world) = world {
        for p in points {
            *p = world.transform_point3(*p);
        }
    }
}

/// Joints that may own bones, ascending: those that skins use, or else all but the nodes that only
/// carry meshes. Joints whose rest matrix cannot be inverted are left out.
fn bone_joints(skeleton: &Skeleton, carriers: &[usize]) -> Vec<usize> {
    let rest = rest_world(skeleton);
    let mut has_child = vec![false; skeleton.len()];
    for parent in skeleton.joints.iter().filter_map(|j| j.parent) {
        has_child[parent] = true;
    }
    let some_in_skin = skeleton.joints.iter().any(|j| j.in_skin);
    (0..skeleton.len())
        .filter(|&j| {
            let wanted = if some_in_skin {
                skeleton.joints[j].in_skin
            } else {
                has_child[j] || (skeleton.joints[j].parent.is_some() && !carriers.contains(&j))
            };
            wanted && rest[j].inverse().is_finite()
        })
        .collect()
}

/// The bones of `joints` (ascending) with every joint of the skeleton at `joint_at`.
fn bones(
    skeleton: &Skeleton,
    joint_at: &[Vec3],
    joints: &[usize],
    surface: &TriMesh,
    bvh: &Bvh,
) -> Vec<Bone> {
    let shortest = 1e-5 * surface.size();
    let joints = without_outer_roots(skeleton, joint_at, joints, surface, bvh);
    // Nodes between two joints of a skin are no joints of it.
    let owns = |joint: usize| joints.binary_search(&joint).is_ok();
    let ends = skeleton.bone_ends(owns, owns);
    let segment = |owner: usize, end: usize| [joint_at[owner], joint_at[end]];
    let is_long = |[a, b]: &[Vec3; 2]| a.distance(*b) > shortest;
    let mut segments: Vec<Vec<[Vec3; 2]>> = ends
        .iter()
        .enumerate()
        .map(|(owner, ends)| ends.iter().map(|&end| segment(owner, end)).filter(is_long).collect())
        .collect();
    for &joint in joints.iter().filter(|&&j| ends[j].is_empty()) {
        let at = joint_at[joint];
        // An only child at its parent's place takes the direction that led there.
        let mut above = skeleton.nearest_ancestor(joint, owns);
        while let Some(place) = above.filter(|&o| joint_at[o].distance(at) <= shortest) {
            above = if ends[place].len() == 1 { skeleton.nearest_ancestor(place, owns) } else { None };
        }
        let along = above.map_or(Vec3::ZERO, |owner| at - joint_at[owner]);
        let hit = (along != Vec3::ZERO)
            .then(|| {
                let ray = Ray::new(at, along);
                bvh.first_hit(&ray, f32::MAX, &surface.positions, &surface.triangles, |_| true)
            })
            .flatten();
        // Leaving through the back of a triangle means that the joint is inside.
        let reach = hit.filter(|h| !h.front).map_or(0.0, |h| LEAF_DEPTH * h.distance);
        segments[joint].push([at, at + along * reach]);
    }
    let usable =
        |joint: usize| !segments[joint].is_empty() && segments[joint].iter().flatten().all(|p| p.is_finite());
    let of_joint = |joint: usize| Bone { joint, segments: segments[joint].clone() };
    joints.iter().copied().filter(|&joint| usable(joint)).map(of_joint).collect()
}

/// Leaves out roots outside of the surface, and then their children outside of it, and so on; unless
/// nothing would be left.
fn without_outer_roots(
    skeleton: &Skeleton,
    joint_at: &[Vec3],
    joints: &[usize],
    surface: &TriMesh,
    bvh: &Bvh,
) -> Vec<usize> {
    let mut kept = Vec::with_capacity(joints.len());
    for &joint in joints {
        // Parents come first, so `kept` is complete as far as the ancestors go.
        let hangs_on_kept = skeleton.nearest_ancestor(joint, |j| kept.binary_search(&j).is_ok()).is_some();
        if hangs_on_kept || is_inside(joint_at[joint], surface, bvh) {
            kept.push(joint);
        }
    }
    if kept.is_empty() { joints.to_vec() } else { kept }
}

/// Whether most of three rays from the point leave the surface through its inside.
fn is_inside(point: Vec3, surface: &TriMesh, bvh: &Bvh) -> bool {
    // Oblique, so that the edges of boxes and of mirrored bodies are missed.
    let directions =
        [Vec3::new(0.93, 0.31, 0.17), Vec3::new(-0.23, 0.94, 0.27), Vec3::new(-0.19, -0.29, -0.94)];
    let leaves = |direction: &Vec3| {
        let ray = Ray::new(point, *direction);
        bvh.first_hit(&ray, f32::MAX, &surface.positions, &surface.triangles, |_| true)
            .is_some_and(|h| !h.front)
    };
    directions.iter().filter(|d| leaves(d)).count() >= 2
}

/// The point of the bone nearest to `p`, and its distance.
fn nearest_on_bone(bone: &Bone, p: Vec3) -> (Vec3, f32) {
    let on_segment = |&[a, b]: &[Vec3; 2]| {
        let along = b - a;
        let s = ((p - a).dot(along) / along.length_squared().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        let nearest = a + along * s;
        (nearest, nearest.distance(p))
    };
    bone.segments
        .iter()
        .map(on_segment)
        .fold((Vec3::ZERO, f32::MAX), |best, next| if next.1 < best.1 { next } else { best })
}

/// The bones that heat one vertex; none where none is seen.
#[derive(Clone, Debug, Default)]
struct Source {
    bones: Vec<u32>,
    distance: f32,
}

/// A surface with all that the visibility of its bones needs.
struct Scene<'a> {
    surface: &'a TriMesh,
    bvh: &'a Bvh,
    bones: &'a [Bone],
    component: &'a [u32],
    normals: Vec<Vec3>,
    /// One per component.
    shapes: Vec<Shape>,
    /// Triangles that rays to bones have looked at so far.
    looked_at: AtomicUsize,
}

impl Scene<'_> {
    /// The nearest visible bones of vertex `v`, or the nearest ones if `through` skin too.
    fn source(&self, v: usize, through: bool) -> Source {
        let p = self.surface.positions[v];
        let mut near: Vec<(f32, u32, Vec3)> = Vec::with_capacity(self.bones.len());
        for (b, bone) in self.bones.iter().enumerate() {
            let (point, distance) = nearest_on_bone(bone, p);
            if distance.is_finite() {
                near.push((distance, b as u32, point));
            }
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut source = Source::default();
        for (distance, bone, point) in near {
            if !source.bones.is_empty() && distance > source.distance * (1.0 + SAME_DISTANCE) {
                break;
            }
            if through || self.sees(v, point) {
                if source.bones.is_empty() {
                    source.distance = distance;
                }
                source.bones.push(bone);
            }
        }
        source
    }

    /// Whether rays have looked at so many triangles that most of these must lie in the same place. Then what is seen so far is
    /// of no use: when that was found out depends on the threads.
    fn is_heap(&self) -> bool {
        let (vertices, bones) = (self.surface.positions.len(), self.bones.len().max(FEW_BONES));
        self.looked_at.load(Ordering::Relaxed) > (LOOKED_AT * bones * vertices).max(FEW_LOOKED_AT)
    }

    /// Whether the way from vertex `v` to `point` stays inside the vertex's component: it starts
    /// inward, and the first skin it meets is left through the inside, at the point or after it.
    fn sees(&self, v: usize, point: Vec3) -> bool {
        let p = self.surface.positions[v];
        let way = point - p;
        let component = self.component[v];
        let shape = self.shapes[component as usize];
        let inward = if shape.inside_out { way } else { -way };
        if inward.dot(self.normals[v]) < 0.0 {
            return false;
        }
        if self.is_heap() {
            return false;
        }
        let (positions, triangles) = (&self.surface.positions, &self.surface.triangles);
        let accept = |hit: &Hit| {
            let triangle = triangles[hit.triangle as usize];
            // The first part of the way is skipped for sheets that touch the vertex without sharing it.
            hit.distance > 1e-3
                && !triangle.contains(&(v as u32))
                && self.component[triangle[0] as usize] == component
        };
        let (ray, mut looked_at) = (Ray::new(p, way), 0);
        let count = |more| looked_at += more;
        let hit = self.bvh.first_hit_counted(&ray, f32::MAX, positions, triangles, accept, count);
        self.looked_at.fetch_add(looked_at, Ordering::Relaxed);
        // Next to a sharp edge a way may start outside although it goes against the vertex's normal.
        hit.map_or(!shape.closed, |hit| hit.distance > 1.0 - OUTSIDE_SLACK && hit.front == shape.inside_out)
    }
}

/// How a connected component of the surface encloses space.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Whether it has no open edge.
    closed: bool,
    /// Whether its triangles face inward.
    inside_out: bool,
}

/// `(bone, weight)` of every vertex of a surface.
type WeightLists = Vec<Vec<(u32, f32)>>;

fn surface_weights(
    name: &str,
    surface: &TriMesh,
    skeleton: &Skeleton,
    joint_at: &[Vec3],
    joints: &[usize],
    settings: &HeatSettings,
) -> Result<(Vec<usize>, WeightLists, Vec<Repair>), HeatError> {
    let subject = format!("mesh \"{name}\"");
    if surface.positions.is_empty() {
        return Err(HeatError::NoVertices { mesh: subject });
    }
    let bvh = Bvh::over_triangles(&surface.positions, &surface.triangles);
    let bones = bones(skeleton, joint_at, joints, surface, &bvh);
    if bones.is_empty() {
        return Err(HeatError::NoBones { mesh: subject });
    }
    let adjacency = Adjacency::new(surface);
    let (component, components) = adjacency.components();
    let shapes = shapes(surface, &adjacency, &component, components);
    let normals = surface.normals();
    let looked_at = AtomicUsize::new(0);
    let scene =
        Scene { surface, bvh: &bvh, bones: &bones, component: &component, normals, shapes, looked_at };
    let count = surface.positions.len();
    let mut repairs = Vec::new();
    let mut sources: Vec<Source> = (0..count).into_par_iter().map(|v| scene.source(v, false)).collect();
    let mut reached = reached_components(&sources, &component, components);
    let blind = match scene.is_heap() {
        true => Some(
            "automatic weights: most triangles lie in the same place, so what sees a bone is not looked for",
        ),
        false if reached.contains(&true) => None,
        false => Some("automatic weights: no vertex sees a bone from the inside"),
    };
    if let Some(problem) = blind {
        sources = (0..count).into_par_iter().map(|v| scene.source(v, true)).collect();
        reached = reached_components(&sources, &component, components);
        repairs.push(Repair::new(&subject, problem, "the nearest bone counts, seen or not"));
    }
    let heated: Vec<bool> = component.iter().map(|&c| reached[c as usize]).collect();
    let mut lists = diffuse(surface, &adjacency, &sources, &heated, bones.len(), settings)
        .map_err(|source| HeatError::Factor { mesh: subject.clone(), source })?;
    follow(surface, &bvh, &component, &reached, &mut lists);
    for list in &mut lists {
        prune(list, settings);
    }
    let followers = reached.iter().filter(|r| !**r).count();
    if followers > 0 {
        let vertices = heated.iter().filter(|h| !**h).count();
        repairs.push(Repair::new(
            &subject,
            format!(
                "automatic weights: {followers} components ({vertices} vertices) see no bone from the inside"
            ),
            "they follow the nearest skin that does",
        ));
    }
    let mut used = vec![false; bones.len()];
    for &(bone, _) in lists.iter().flatten() {
        used[bone as usize] = true;
    }
    let idle: Vec<&str> = bones
        .iter()
        .zip(&used)
        .filter(|(_, used)| !**used)
        .map(|(bone, _)| skeleton.joints[bone.joint].name.as_str())
        .collect();
    if !idle.is_empty() {
        let first = idle[..idle.len().min(4)].join(", ");
        let more = if idle.len() > 4 { ", ..." } else { "" };
        repairs.push(Repair::new(
            &subject,
            format!("automatic weights: {} bones are nearest to no vertex ({first}{more})", idle.len()),
            "they move no vertex",
        ));
    }
    Ok((bones.iter().map(|b| b.joint).collect(), lists, repairs))
}

fn reached_components(sources: &[Source], component: &[u32], components: usize) -> Vec<bool> {
    let mut reached = vec![false; components];
    for (source, &c) in sources.iter().zip(component) {
        reached[c as usize] |= !source.bones.is_empty();
    }
    reached
}

/// Which components are closed, and which are inside out. For open ones the volume between the
/// surface and the middle of its box decides.
fn shapes(surface: &TriMesh, adjacency: &Adjacency, component: &[u32], components: usize) -> Vec<Shape> {
    let mut shapes = vec![Shape { closed: true, inside_out: false }; components];
    for edge in adjacency.edges.iter().filter(|e| e.triangles.len() == 1) {
        shapes[component[edge.vertices[0] as usize] as usize].closed = false;
    }
    let boxes = component_boxes(surface, component, components);
    let mut volumes = vec![0.0f64; components];
    for triangle in &surface.triangles {
        let c = component[triangle[0] as usize] as usize;
        let middle = ((boxes[c].0 + boxes[c].1) * 0.5).as_dvec3();
        let [a, b, d] = triangle.map(|v| surface.positions[v as usize].as_dvec3() - middle);
        volumes[c] += a.dot(b.cross(d));
    }
    for (shape, volume) in shapes.iter_mut().zip(volumes) {
        shape.inside_out = volume < 0.0;
    }
    shapes
}

/// Smallest and largest corner of the box around each component.
fn component_boxes(surface: &TriMesh, component: &[u32], components: usize) -> Vec<(Vec3, Vec3)> {
    let mut boxes = vec![(Vec3::MAX, Vec3::MIN); components];
    for (p, &c) in surface.positions.iter().zip(component) {
        let (low, high) = &mut boxes[c as usize];
        (*low, *high) = (low.min(*p), high.max(*p));
    }
    boxes
}

/// Solves the heat equation of every bone on the heated components; the others get empty lists.
fn diffuse(
    surface: &TriMesh,
    adjacency: &Adjacency,
    sources: &[Source],
    heated: &[bool],
    bone_count: usize,
    settings: &HeatSettings,
) -> Result<WeightLists, FactorError> {
    let laplacian = Laplacian::new(surface, adjacency);
    let count = surface.positions.len();
    let nearest = 1e-4 * f64::from(surface.size()).max(f64::MIN_POSITIVE);
    let heat: Vec<f64> = sources
        .iter()
        .zip(&laplacian.vertex_areas)
        .map(|(source, area)| {
            let distance = f64::from(source.distance).max(nearest);
            if source.bones.is_empty() { 0.0 } else { settings.heat * area / (distance * distance) }
        })
        .collect();
    let mut diagonal = heat.clone();
    let mut lower = Vec::with_capacity(adjacency.edges.len() + count);
    for (edge, &weight) in adjacency.edges.iter().zip(&laplacian.edge_weights) {
        let [a, b] = edge.vertices.map(|v| v as usize);
        if heated[a] {
            diagonal[a] += weight;
            diagonal[b] += weight;
            lower.push((b, a, -weight));
        }
    }
    // Rows of components without heat are a unit matrix: their solution is 0.
    lower.extend((0..count).map(|v| (v, v, if heated[v] { diagonal[v] } else { 1.0 })));
    let factor = SparseCholesky::new(count, &lower)?;
    let mut columns = vec![Vec::new(); bone_count];
    for (v, source) in sources.iter().enumerate() {
        for &bone in &source.bones {
            let column = &mut columns[bone as usize];
            if column.is_empty() {
                column.resize(count, 0.0);
            }
            column[v] = heat[v] / source.bones.len() as f64;
        }
    }
    let mut lit: Vec<u32> = (0..bone_count as u32).filter(|&b| !columns[b as usize].is_empty()).collect();
    let mut lists = vec![Vec::new(); count];
    // In batches, so that a hundred thousand vertices times hundreds of bones never are in memory at once.
    while !lit.is_empty() {
        let batch: Vec<u32> = lit.drain(..lit.len().min(32)).collect();
        let mut solved: Vec<Vec<f64>> =
            batch.iter().map(|&b| std::mem::take(&mut columns[b as usize])).collect();
        factor.solve_in_place(&mut solved);
        for (&bone, weights) in batch.iter().zip(&solved) {
            for (list, &weight) in lists.iter_mut().zip(weights) {
                if weight > 1e-4 {
                    list.push((bone, weight as f32));
                }
            }
        }
    }
    Ok(lists)
}

/// Gives components without heat the weights of the nearest heated surface.
fn follow(surface: &TriMesh, bvh: &Bvh, component: &[u32], reached: &[bool], lists: &mut WeightLists) {
    let count = reached.len();
    let boxes = component_boxes(surface, component, count);
    let largest_rigid = RIGID_SIZE * surface.size();
    let weights_near = |p: Vec3| -> Vec<(u32, f32)> {
        let accept = |t: u32, _: Vec3| reached[component[surface.triangles[t as usize][0] as usize] as usize];
        let found = bvh.nearest(p, f32::MAX.sqrt(), &surface.positions, &surface.triangles, accept);
        let Some(nearest) = found else { return Vec::new() };
        let corner_shares = barycentric(surface.corners(nearest.triangle as usize), nearest.point);
        let mut mixed = Vec::new();
        for (v, share) in surface.triangles[nearest.triangle as usize].into_iter().zip(corner_shares) {
            mixed.extend(lists[v as usize].iter().map(|&(bone, weight)| (bone, weight * share)));
        }
        mixed.sort_by_key(|&(bone, _)| bone);
        add_up_repeated(&mut mixed);
        mixed
    };
    let of_piece: Vec<Option<Vec<(u32, f32)>>> = (0..count)
        .into_par_iter()
        .map(|c| {
            let (low, high) = boxes[c];
            (!reached[c] && low.distance(high) < largest_rigid).then(|| weights_near((low + high) * 0.5))
        })
        .collect();
    let followed: Vec<Option<Vec<(u32, f32)>>> = (0..surface.positions.len())
        .into_par_iter()
        .map(|v| {
            let c = component[v] as usize;
            (!reached[c]).then(|| of_piece[c].clone().unwrap_or_else(|| weights_near(surface.positions[v])))
        })
        .collect();
    for (list, followed) in lists.iter_mut().zip(followed) {
        if let Some(followed) = followed {
            *list = followed;
        }
    }
}

/// Shares of the three corners in a point of their triangle.
fn barycentric(corners: [Vec3; 3], point: Vec3) -> [f32; 3] {
    let [a, b, c] = corners.map(|p| p.as_dvec3());
    let p = point.as_dvec3();
    let normal = (b - a).cross(c - a);
    let square = normal.length_squared();
    if square <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let of_b = ((p - a).cross(c - a).dot(normal) / square).clamp(0.0, 1.0);
    let of_c = ((b - a).cross(p - a).dot(normal) / square).clamp(0.0, 1.0);
    [(1.0 - of_b - of_c).max(0.0) as f32, of_b as f32, of_c as f32]
}

/// Keeps the heaviest weights, at least one.
fn prune(list: &mut Vec<(u32, f32)>, settings: &HeatSettings) {
    list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let enough = list.iter().take_while(|(_, w)| *w >= settings.least_weight).count();
    list.truncate(enough.min(settings.most_influences).max(1));
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, chain, tube};
    use super::super::{Skinner, Skinning, Workspace};
    use super::*;
    use crate::character::{Joint, Morph};
    use crate::math::Transform;

    /// A mesh whose positions are in the world: it hangs on no joint of the skeleton.
    fn mesh(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Mesh {
        Mesh { joint: usize::MAX, ..fixture::mesh(positions, triangles) }
    }

    /// A tube of radius 1 and height 12 around joints at heights 0.5, 6 and 11.5.
    fn limb() -> (Mesh, Skeleton) {
        let (positions, triangles) = tube(0.0, 12.0, 48, 16);
        (mesh(positions, triangles), chain(&[0.5, 6.0, 11.5]))
    }

    fn solve(mesh: &Mesh, skeleton: &Skeleton) -> HeatWeights {
        heat_weights(mesh, skeleton, &HeatSettings::default()).expect("weights")
    }

    fn weight(found: &HeatWeights, v: usize, joint: usize) -> f32 {
        found.influences.of(v).filter(|&(slot, _)| found.joints[slot as usize] == joint).map(|(_, w)| w).sum()
    }

    #[test]
    fn a_straight_limb_goes_over_smoothly_and_evenly_at_its_joint() {
        let (mesh, skeleton) = limb();
        let found = solve(&mesh, &skeleton);
        assert!(found.influences.len() == mesh.positions.len());
        for v in 0..mesh.positions.len() {
            let y = mesh.positions[v].y;
            let lower = weight(&found, v, 0);
            assert!((found.influences.of(v).map(|(_, w)| w).sum::<f32>() - 1.0).abs() < 1e-5);
            assert!(y > 3.0 || lower > 0.9, "{y}: {lower}");
            assert!(y < 9.0 || lower < 0.1, "{y}: {lower}");
            assert!(y != 6.0 || (lower - 0.5).abs() < 0.02, "{y}: {lower}");
        }
        let column: Vec<f32> = (0..=48).map(|ring| weight(&found, ring * 16, 0)).collect();
        assert!(column.windows(2).all(|w| w[1] <= w[0] + 1e-4), "{column:?}");
    }

    #[test]
    fn weights_do_not_depend_on_the_unit() {
        let (mesh, skeleton) = limb();
        let plain = solve(&mesh, &skeleton);
        for scale in [0.001f32, 100.0] {
            let (mut mesh, mut skeleton) = limb();
            mesh.positions.iter_mut().for_each(|p| *p *= scale);
            skeleton.joints.iter_mut().for_each(|j| j.rest.translation *= scale);
            let scaled = solve(&mesh, &skeleton);
            for v in 0..mesh.positions.len() {
                assert!((weight(&plain, v, 1) - weight(&scaled, v, 1)).abs() < 1e-3, "{scale}");
            }
        }
    }

    #[test]
    fn heat_does_not_jump_to_a_limb_that_is_near_but_not_seen() {
        // Two fingers whose skins nearly touch, the second one's bones nearer to the first one's skin
        // than its own far bone is.
        let (mut positions, mut triangles) = tube(0.0, 6.0, 24, 16);
        let count = positions.len() as u32;
        positions.extend(positions.clone().into_iter().map(|p| p + Vec3::X * 2.05));
        triangles.extend(triangles.clone().into_iter().map(|t| t.map(|v| v + count)));
        let mesh = mesh(positions, triangles);
        let mut skeleton = chain(&[0.5, 5.5]);
        skeleton.joints[0].rest.translation.x = -0.9;
        let aside = |name: &str, parent, at: Vec3| Joint {
            name: name.into(),
            parent,
            rest: Transform { translation: at, ..Transform::IDENTITY },
            in_skin: true,
        };
        skeleton.joints.push(aside("second", None, Vec3::new(2.05, 0.5, 0.0)));
        skeleton.joints.push(aside("second tip", Some(2), Vec3::Y * 5.0));
        let found = solve(&mesh, &skeleton);
        for v in 0..mesh.positions.len() {
            let of_first = weight(&found, v, 0) + weight(&found, v, 1);
            assert!((of_first - if v < count as usize { 1.0 } else { 0.0 }).abs() < 1e-4, "{v}: {of_first}");
        }
    }

    #[test]
    fn a_control_on_the_floor_takes_no_skin() {
        let (mesh, _) = limb();
        let mut skeleton = chain(&[-3.0, 0.5, 6.0, 11.5]);
        // A target for inverse kinematics beside the limb, and a helper without length.
        let aside = |name: &str, parent, at| Joint {
            name: String::from(name),
            parent: Some(parent),
            rest: Transform { translation: at, ..Transform::IDENTITY },
            in_skin: true,
        };
        skeleton.joints.push(aside("target", 0, Vec3::new(1.5, 6.0, 0.0)));
        skeleton.joints.push(aside("helper", 3, Vec3::ZERO));
        skeleton.joints.push(aside("tip", 3, Vec3::Y * 0.2));
        let found = solve(&mesh, &skeleton);
        assert!(!found.joints.contains(&0) && !found.joints.contains(&4), "{:?}", found.joints);
        for v in 0..mesh.positions.len() {
            let y = mesh.positions[v].y;
            assert!(y > 3.0 || weight(&found, v, 1) > 0.9, "{y}");
            assert!(y != 6.0 || (weight(&found, v, 1) - 0.5).abs() < 0.02, "{y}");
        }
    }

    #[test]
    fn an_eye_follows_the_skin_around_it_in_one_piece() {
        let (mut positions, mut triangles) = tube(0.0, 12.0, 48, 16);
        let body = positions.len();
        let (eye, eye_triangles) = tube(-0.5, 0.5, 2, 8);
        positions.extend(eye.iter().map(|&p| p * 0.2 + Vec3::new(0.75, 6.5, 0.0)));
        triangles.extend(eye_triangles.iter().map(|t| t.map(|v| v + body as u32)));
        let mesh = mesh(positions, triangles);
        let found = solve(&mesh, &chain(&[0.5, 6.0, 11.5]));
        let first: Vec<_> = found.influences.of(body).collect();
        assert!(first.len() > 1);
        for v in body..mesh.positions.len() {
            assert_eq!(found.influences.of(v).collect::<Vec<_>>(), first);
        }
        assert!(
            found.repairs.iter().any(|r| r.problem.contains("1 components (26 vertices)")),
            "{:?}",
            found.repairs
        );
    }

    #[test]
    fn broken_surfaces_get_weights_too() {
        let (positions, triangles) = tube(0.0, 12.0, 24, 8);
        let skeleton = chain(&[0.5, 6.0, 11.5]);
        let wall = triangles.len() - 16;
        let inside_out: Vec<[u32; 3]> = triangles.iter().map(|t| [t[0], t[2], t[1]]).collect();
        let open = triangles[..wall].to_vec();
        let open_inside_out = inside_out[..wall].to_vec();
        // A flap on an inner edge, a triangle without area, and vertices without triangles.
        let mut ragged = triangles.clone();
        ragged.extend([[8, 16, 40], [3, 3, 4], [5, 5, 5], [10, 11, 12]]);
        let all = [triangles, inside_out, open, open_inside_out, ragged, Vec::new()];
        for (case, triangles) in all.into_iter().enumerate() {
            let mesh = mesh(positions.clone(), triangles);
            let found = solve(&mesh, &skeleton);
            for v in 0..mesh.positions.len() {
                let y = mesh.positions[v].y;
                let lower = weight(&found, v, 0);
                assert!(y > 2.0 || lower > 0.7, "{case} {y}: {lower}");
                assert!(y < 10.0 || lower < 0.3, "{case} {y}: {lower}");
            }
        }
    }

    #[test]
    fn a_weightless_character_becomes_a_skinned_one_that_rests_where_it_was() {
        let (mut body, mut skeleton) = limb();
        skeleton.joints.iter_mut().for_each(|j| j.in_skin = false);
        skeleton.joints.push(Joint {
            name: "carrier".into(),
            parent: None,
            rest: Transform { scale: Vec3::splat(2.0), ..Transform::IDENTITY },
            in_skin: false,
        });
        body.joint = 3;
        body.positions.iter_mut().for_each(|p| *p *= 0.5);
        body.morphs.push(Morph { name: "m".into(), vertices: vec![0], offsets: vec![Vec3::X], weight: 0.0 });
        let (positions, triangles) = tube(0.0, 1.0, 2, 5);
        let mut sword = mesh(positions, triangles);
        sword.joint = 2;
        let mut character = Character { skeleton, meshes: vec![body, sword], ..Character::default() };
        assert_eq!(weightless_meshes(&character), [0]);
        give_weights(&mut character, &[0], &HeatSettings::default()).expect("weights");
        let body = &character.meshes[0];
        assert_eq!(body.morphs[0].offsets, [Vec3::X * 2.0]);
        let mut out = vec![Vec3::ZERO; body.positions.len()];
        let world = Pose::rest(&character).world(&character.skeleton);
        Skinner::new(body, Skinning::Linear).skin(
            &world,
            &body.positions,
            &mut out,
            &mut Workspace::default(),
        );
        let (expected, _) = tube(0.0, 12.0, 48, 16);
        assert!(out.iter().zip(expected).all(|(a, b)| a.distance(b) < 1e-5));
        assert!(character.meshes[1].skin().is_none());
        assert!(weightless_meshes(&character).is_empty());
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let (mesh, skeleton) = limb();
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
            pool.install(|| solve(&mesh, &skeleton)).influences
        };
        let one = on(1);
        assert_eq!(one, on(2));
        assert_eq!(one, on(7));
    }

    #[test]
    fn a_skeleton_without_bones_is_an_error_that_says_so() {
        let (mesh, _) = limb();
        let error =
            heat_weights(&mesh, &Skeleton::default(), &HeatSettings::default()).expect_err("no bones");
        assert!(error.to_string().contains("no bones"));
    }
}

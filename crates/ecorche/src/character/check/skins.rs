//! Weights and bind matrices, and one bind space for all meshes of a character.
//!
//! A file may keep a mesh in centimetres under an armature scaled by 0.01, or bind it in another
//! pose than it shows. Here each skinned mesh is carried into *bind space*: the world as it was at
//! bind time, in metres. The map `bind_from_mesh` is the skin matrix of a reference joint in the
//! file's rest pose; meshes that share a joint get maps that agree on that joint's bind frame, so
//! that body, clothes and shoes fit together there. The skinned result does not depend on the
//! choice: `world_from_joint * joint_from_bind * bind_from_mesh = world_from_joint * joint_from_mesh`.

use crate::character::raw::{RawCharacter, RawSkin};
use crate::character::{Binding, Influences, Mesh, Repair, Skeleton, Skin};
use crate::geom::bvh::Aabb;
use crate::geom::{Bvh, TriMesh, Weld, mesh::bounds};
use glam::{DAffine3, DMat4};

/// Weight sums farther than this from one are reported.
const SUM_TOLERANCE: f32 = 1e-2;

/// A bind matrix squeezing a volume below this share of its length scale cubed is taken as singular.
const SINGULAR: f64 = 1e-9;

/// Binds every mesh whose raw data has a usable skin.
pub fn bind(
    raw: &RawCharacter,
    joint_of_node: &[usize],
    skeleton: &mut Skeleton,
    meshes: &mut [Mesh],
    repairs: &mut Vec<Repair>,
) {
    let rest = rest_world(skeleton);
    let depth = depths(skeleton);
    let mut bind_frame: Vec<Option<DAffine3>> = vec![None; skeleton.len()];
    // Larger meshes first, so that the body decides where clothes and eyes are bound.
    let mut order: Vec<usize> = (0..meshes.len()).collect();
    order.sort_by_key(|&m| std::cmp::Reverse(meshes[m].positions.len()));
    for m in order {
        let Some(raw_skin) = &raw.meshes[m].skin else { continue };
        let subject = format!("mesh \"{}\"", meshes[m].name);
        let joints: Vec<Option<usize>> =
            raw_skin.joints.iter().map(|&n| joint_of_node.get(n).copied()).collect();
        let Some(influences) = check_influences(raw_skin, &joints, &meshes[m], &subject, repairs) else {
            continue;
        };
        let mut joint_from_mesh = check_bind_matrices(raw, raw_skin, &subject, repairs);

        let weight = total_weights(&influences, joints.len());
        let usable = |k: usize| joint_from_mesh[k].is_some() && joints[k].is_some();
        let candidates = || (0..joints.len()).filter(|&k| usable(k));
        let shared = candidates()
            .filter(|&k| bind_frame[joints[k].unwrap_or(0)].is_some() && weight[k] > 0.0)
            .max_by(|&a, &b| weight[a].total_cmp(&weight[b]).then(b.cmp(&a)));
        let root = candidates().min_by_key(|&k| (depth[joints[k].unwrap_or(0)], k));
        let bind_from_mesh = match (shared, root) {
            (Some(k), _) => {
                bind_frame[joints[k].unwrap_or(0)].zip(joint_from_mesh[k]).map(|(frame, map)| frame * map)
            }
            (None, Some(k)) => joint_from_mesh[k].map(|map| rest[joints[k].unwrap_or(0)] * map),
            (None, None) => None,
        };
        let bind_from_mesh = bind_from_mesh.filter(|map| !is_singular(map)).unwrap_or_else(|| {
            let node = rest[meshes[m].joint];
            if is_singular(&node) { DAffine3::IDENTITY } else { node }
        });

        // A joint without a usable matrix is taken as bound where it rests.
        for (k, joint) in joints.iter().enumerate() {
            if joint_from_mesh[k].is_none() {
                let frame = joint.map_or(DAffine3::IDENTITY, |j| bind_frame[j].unwrap_or(rest[j]));
                let map = if is_singular(&frame) { DAffine3::IDENTITY } else { frame.inverse() };
                joint_from_mesh[k] = Some(map * bind_from_mesh);
            }
        }
        let mesh_from_bind = bind_from_mesh.inverse();
        let joint_from_bind: Vec<DAffine3> =
            joint_from_mesh.iter().map(|map| map.unwrap_or(DAffine3::IDENTITY) * mesh_from_bind).collect();
        for (k, joint) in joints.iter().enumerate() {
            if let Some(j) = joint {
                skeleton.joints[*j].in_skin = true;
                bind_frame[*j].get_or_insert(joint_from_bind[k].inverse());
            }
        }
        carry(&mut meshes[m], bind_from_mesh);
        meshes[m].binding = Binding::Skin(Skin {
            joints: joints.iter().map(|j| j.unwrap_or(0)).collect(),
            joint_from_bind: joint_from_bind.iter().map(|a| a.as_affine3a()).collect(),
            influences,
            dual_quaternion: raw_skin.dual_quaternion,
        });
        if bind_from_mesh.matrix3.determinant() < 0.0 {
            super::meshes::turn_faces(&mut meshes[m]);
            repairs.push(Repair::new(&subject, "is mirrored by its skin", "faces turned over"));
        }
    }
}

/// Moves rest positions and morphs of a mesh into bind space.
fn carry(mesh: &mut Mesh, bind_from_mesh: DAffine3) {
    for p in &mut mesh.positions {
        *p = bind_from_mesh.transform_point3(p.as_dvec3()).as_vec3();
    }
    for offset in mesh.morphs.iter_mut().flat_map(|m| &mut m.offsets) {
        *offset = bind_from_mesh.transform_vector3(offset.as_dvec3()).as_vec3();
    }
}

fn rest_world(skeleton: &Skeleton) -> Vec<DAffine3> {
    let mut world: Vec<DAffine3> = Vec::with_capacity(skeleton.len());
    for joint in &skeleton.joints {
        let local = DAffine3::from_scale_rotation_translation(
            joint.rest.scale.as_dvec3(),
            joint.rest.rotation.as_dquat().normalize(),
            joint.rest.translation.as_dvec3(),
        );
        world.push(joint.parent.map_or(local, |p| world[p] * local));
    }
    world
}

fn depths(skeleton: &Skeleton) -> Vec<usize> {
    let mut depth: Vec<usize> = Vec::with_capacity(skeleton.len());
    for joint in &skeleton.joints {
        depth.push(joint.parent.map_or(0, |p| depth[p] + 1));
    }
    depth
}

fn is_singular(map: &DAffine3) -> bool {
    let m = map.matrix3;
    let length = m.x_axis.length().max(m.y_axis.length()).max(m.z_axis.length());
    !map.is_finite() || m.determinant().abs() <= SINGULAR * length.powi(3)
}

/// The bind matrices in our axes and units, `None` where unusable.
fn check_bind_matrices(
    raw: &RawCharacter,
    skin: &RawSkin,
    subject: &str,
    repairs: &mut Vec<Repair>,
) -> Vec<Option<DAffine3>> {
    let scale = f64::from(raw.world.metres_per_unit);
    let axes = raw.world.axes.as_dmat3();
    let convert = |m: DMat4| {
        let user = DAffine3::from_mat4(m);
        DAffine3 {
            matrix3: axes * user.matrix3 * axes.transpose(),
            translation: axes * user.translation * scale,
        }
    };
    let given = |k: usize| skin.joint_from_mesh.get(k).map(|m| convert(m.as_dmat4()));
    let matrices: Vec<Option<DAffine3>> =
        (0..skin.joints.len()).map(|k| given(k).filter(|map| !is_singular(map))).collect();
    let bad = matrices.iter().filter(|m| m.is_none()).count();
    if bad > 0 {
        let problem = format!("{bad} of {} bind matrices are missing or singular", matrices.len());
        repairs.push(Repair::new(subject, problem, "those joints are taken as bound where they rest"));
    }
    matrices
}

/// Cleans the weights; `None` if the skin holds no usable weight at all.
fn check_influences(
    skin: &RawSkin,
    joints: &[Option<usize>],
    mesh: &Mesh,
    subject: &str,
    repairs: &mut Vec<Repair>,
) -> Option<Influences> {
    let mut lists: Vec<Vec<(u32, f32)>> = vec![Vec::new(); mesh.positions.len()];
    let (mut misplaced, mut broken) = (0, 0);
    for &(vertex, joint, weight) in &skin.influences {
        let exists = joints.get(joint as usize).is_some_and(Option::is_some);
        match lists.get_mut(vertex as usize) {
            Some(list) if exists && weight.is_finite() && weight >= 0.0 => {
                if weight > 0.0 {
                    list.push((joint, weight));
                }
            }
            Some(_) if exists => broken += 1,
            _ => misplaced += usize::from(weight != 0.0),
        }
    }
    if misplaced > 0 {
        let problem = format!("{misplaced} weights name joints or vertices that do not exist");
        repairs.push(Repair::new(subject, problem, "dropped"));
    }
    if broken > 0 {
        repairs.push(Repair::new(subject, format!("{broken} weights are negative or not finite"), "dropped"));
    }
    let sums: Vec<f32> = lists.iter().map(|l| l.iter().map(|i| i.1).sum()).collect();
    let weightless: Vec<usize> = (0..lists.len()).filter(|&v| sums[v] <= 0.0).collect();
    if weightless.len() == lists.len() {
        if !lists.is_empty() {
            repairs.push(Repair::new(
                subject,
                "its skin holds no usable weight",
                "the mesh moves with its node",
            ));
        }
        return None;
    }
    let off: Vec<f32> =
        sums.iter().copied().filter(|s| *s > 0.0 && (s - 1.0).abs() > SUM_TOLERANCE).collect();
    if !off.is_empty() {
        let (low, high) = off.iter().fold((f32::MAX, f32::MIN), |(low, high), &s| (low.min(s), high.max(s)));
        let problem = format!("weights of {} vertices sum to {low:.3} to {high:.3}", off.len());
        repairs.push(Repair::new(subject, problem, "normalised to 1"));
    }
    if !weightless.is_empty() {
        let problem = format!("{} vertices have no weight", weightless.len());
        repairs.push(Repair::new(subject, problem, "they take those of the nearest weighted vertex"));
        fill_weightless(mesh, &mut lists, &weightless);
    }
    Some(Influences::new(lists))
}

/// Spreads weights over the surface ring by ring, then to what no ring reaches by distance.
fn fill_weightless(mesh: &Mesh, lists: &mut [Vec<(u32, f32)>], weightless: &[usize]) {
    let (low, high) = bounds(&mesh.positions);
    let weld = Weld::new(&mesh.positions, 1e-6 * low.distance(high), |_, _| true);
    let triangles: Vec<[u32; 3]> = mesh
        .faces
        .triangle_corners()
        .iter()
        .map(|t| t.map(|c| weld.surface_of_vertex[mesh.faces.corners[c as usize] as usize]))
        .collect();
    let surface = TriMesh { positions: weld.gather(&mesh.positions), triangles };
    let ring = crate::geom::Adjacency::new(&surface).vertex_ring;
    let mut source: Vec<Option<usize>> = vec![None; surface.positions.len()];
    for v in 0..lists.len() {
        if !lists[v].is_empty() {
            source[weld.surface_of_vertex[v] as usize].get_or_insert(v);
        }
    }
    let mut front: Vec<usize> = (0..source.len()).filter(|&s| source[s].is_some()).collect();
    while !front.is_empty() {
        let mut next = Vec::new();
        for &s in &front {
            for &n in ring.get(s) {
                if source[n as usize].is_none() {
                    source[n as usize] = source[s];
                    next.push(n as usize);
                }
            }
        }
        front = next;
    }
    let weighted: Vec<usize> = (0..lists.len()).filter(|&v| !lists[v].is_empty()).collect();
    let points: Vec<Aabb> = weighted.iter().map(|&v| Aabb::around(&[mesh.positions[v]])).collect();
    let tree = Bvh::new(&points);
    for &v in weightless {
        let from = source[weld.surface_of_vertex[v] as usize].or_else(|| {
            let at = mesh.positions[v];
            let distance = |w: u32| Some(at.distance_squared(mesh.positions[weighted[w as usize]]));
            tree.nearest_item(at, f32::INFINITY, distance).map(|(w, _)| weighted[w as usize])
        });
        if let Some(from) = from {
            lists[v] = lists[from].clone();
        }
    }
}

fn total_weights(influences: &Influences, joints: usize) -> Vec<f32> {
    let mut total = vec![0.0; joints];
    for v in 0..influences.len() {
        for (joint, weight) in influences.of(v) {
            total[joint as usize] += weight;
        }
    }
    total
}

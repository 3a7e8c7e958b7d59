//! Which joint bends each vertex of the skin, how thick the limb is there, and which wavelength that asks for.

use super::WrinkleError;
use super::definition::WrinkleDef;
use super::patch::Patch;
use crate::character::Skeleton;
use crate::skinning::Surface;
use glam::Vec3;
use serde::Serialize;

/// Edges to a wavelength: with fewer, ridges and valleys miss the vertices.
pub(super) const LEAST_EDGES: f32 = 4.0;
/// Less weight than this does not make a vertex one of a joint.
const LEAST_WEIGHT: f32 = 0.02;
/// A joint with fewer vertices that can wrinkle is left out.
const LEAST_VERTICES: usize = 12;

/// The skin of one joint.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrinkledJoint {
    /// The joint's name.
    pub name: String,
    /// Vertices that can wrinkle.
    pub vertices: usize,
    /// From crease to crease at rest, metres.
    pub wavelength: f32,
    /// Of the limb, metres.
    pub radius: f32,
    /// Mean length of an edge there, metres.
    pub edge: f32,
    /// How often the mesh must be subdivided, each time halving its edges, before wrinkles are drawn; 0: they are.
    pub subdivisions: u32,
}

/// How often edges of this length must be halved for a wavelength.
fn subdivisions(wavelength: f32, edge: f32) -> u32 {
    // A mesh of uneven edges is not refused for a twentieth.
    let too_long = 0.95 * LEAST_EDGES * edge / wavelength;
    if too_long > 1.0 { too_long.log2().ceil().min(20.0) as u32 } else { 0 }
}

/// Of each vertex of the surface, the nearest joint of those that bend it: it turns the vertex, or what the vertex hangs on.
/// `None` for a vertex that no joint bends.
pub(super) fn bending_joints(surface: &Surface, skeleton: &Skeleton) -> Vec<Option<u32>> {
    let in_skin = |j: usize| skeleton.joints[j].in_skin;
    let above: Vec<Option<usize>> =
        (0..skeleton.len()).map(|j| skeleton.nearest_ancestor(j, in_skin).filter(|_| in_skin(j))).collect();
    let mut below = vec![Vec::new(); skeleton.len()];
    for (j, parent) in above.iter().enumerate() {
        if let Some(parent) = *parent {
            below[parent].push(j);
        }
    }
    let at = joint_positions(surface);
    let nearest = |v: usize| {
        let place = surface.mesh.positions[v];
        let own =
            surface.influences.of(v).filter(|&(_, weight)| weight >= LEAST_WEIGHT).map(|(j, _)| j as usize);
        let bending = own.flat_map(|j| std::iter::once(j).chain(below[j].iter().copied()));
        let bending = bending.filter(|&j| above[j].is_some());
        let distances = bending.map(|j| (at[j].distance_squared(place), j as u32));
        distances
            .filter(|d| d.0.is_finite())
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .map(|d| d.1)
    };
    (0..surface.mesh.positions.len()).map(nearest).collect()
}

fn joint_positions(surface: &Surface) -> Vec<Vec3> {
    surface.joint_from_bind().iter().map(|map| Vec3::from(map.inverse().translation)).collect()
}

/// The joints named, or all. An error if one does not exist or bends no skin.
pub(super) fn wanted(
    def: &WrinkleDef,
    skeleton: &Skeleton,
    joint_of: &[Option<u32>],
) -> Result<Vec<bool>, WrinkleError> {
    let mut bends = vec![false; skeleton.len()];
    joint_of.iter().flatten().for_each(|&j| bends[j as usize] = true);
    let find = |name: &String| {
        let joint = skeleton.find(name).ok_or_else(|| WrinkleError::NoJoint { joint: name.clone() })?;
        if bends[joint] { Ok(joint) } else { Err(WrinkleError::NoSkin { joint: name.clone() }) }
    };
    let mut wanted = if def.joints.is_empty() { bends.clone() } else { vec![false; skeleton.len()] };
    for name in &def.joints {
        wanted[find(name)?] = true;
    }
    for (name, own) in &def.joint {
        wanted[find(name)?] &= own.gain != Some(0.0);
    }
    Ok(wanted)
}

/// The joints whose skin can wrinkle, by number, with what is drawn of each. An error if a wavelength that was asked for needs
/// a finer mesh, or if no joint's skin is fine enough.
pub(super) fn joints(
    def: &WrinkleDef,
    surface: &Surface,
    skeleton: &Skeleton,
    joint_of: &[Option<u32>],
    patch: &Patch,
) -> Result<Vec<(u32, WrinkledJoint)>, WrinkleError> {
    let at = joint_positions(surface);
    let joint_at = |v: usize| joint_of[patch.vertices[v] as usize];
    let mut vertices = vec![Vec::new(); skeleton.len()];
    (0..patch.len()).for_each(|v| {
        if let Some(j) = joint_at(v) {
            vertices[j as usize].push(v);
        }
    });
    let mut edges = vec![(0.0, 0usize); skeleton.len()];
    for edge in &patch.edges {
        if let Some(j) = joint_at(edge.a).filter(|_| joint_at(edge.a) == joint_at(edge.b)) {
            edges[j as usize].0 += edge.length;
            edges[j as usize].1 += 1;
        }
    }
    let mut found = Vec::new();
    let mut worst: Option<WrinkledJoint> = None;
    for (j, own) in vertices.iter().enumerate() {
        let (sum, count) = edges[j];
        if own.len() < LEAST_VERTICES || count == 0 {
            continue;
        }
        let along = bone_direction(skeleton, &at, j);
        let mut radii: Vec<f32> = own
            .iter()
            .map(|&v| (patch.position(v).as_vec3() - at[j]).reject_from_normalized(along).length())
            .collect();
        radii.sort_by(f32::total_cmp);
        let radius = radii[radii.len() / 2];
        let name = &skeleton.joints[j].name;
        let given = def.joint.get(name).and_then(|own| own.wavelength).or(def.wavelength);
        let wavelength = given.unwrap_or(def.share * radius);
        let edge = (sum / count as f64) as f32;
        if wavelength.is_nan() || wavelength <= 0.0 {
            continue;
        }
        let subdivisions = subdivisions(wavelength, edge);
        let joint =
            WrinkledJoint { name: name.clone(), vertices: own.len(), wavelength, radius, edge, subdivisions };
        if given.is_some() && subdivisions > 0 {
            return Err(WrinkleError::Coarse { joint });
        }
        if worst.as_ref().is_none_or(|w| subdivisions < w.subdivisions) {
            worst = Some(joint.clone());
        }
        found.push((j as u32, joint));
    }
    match worst {
        Some(joint) if joint.subdivisions > 0 => Err(WrinkleError::Coarse { joint }),
        _ => Ok(found),
    }
}

/// Along the bone that starts at a joint, or else the one that ends there; zero without either.
pub(super) fn bone_direction(skeleton: &Skeleton, at: &[Vec3], joint: usize) -> Vec3 {
    let children =
        skeleton.children(joint).filter(|&c| skeleton.joints[c].in_skin).map(|c| at[c] - at[joint]);
    let longest = children.max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
    let parent =
        || skeleton.nearest_ancestor(joint, |j| skeleton.joints[j].in_skin).map(|p| at[joint] - at[p]);
    // Without a direction, distances are those to the joint itself.
    longest.or_else(parent).and_then(Vec3::try_normalize).unwrap_or(Vec3::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_halved_until_four_make_a_wavelength() {
        assert_eq!(subdivisions(0.04, 0.01), 0);
        assert_eq!(subdivisions(0.02, 0.01), 1);
        assert_eq!(subdivisions(0.012, 0.01), 2);
        assert_eq!(subdivisions(1e-9, 1.0), 20);
    }
}

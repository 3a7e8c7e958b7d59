//! `Skeleton` and `SkelAnimation` prims.

use super::layer::{Attribute, Fault, Layer, Value};
use crate::character::Interpolation;
use crate::character::raw::{RawChannel, RawNode, RawTrack};
use crate::math::Transform;
use glam::{DMat4, Quat, Vec3};
use std::collections::BTreeMap;

/// Keys of all tracks of a file: 300 joints for two hours at 24 a second, three channels each.
const MOST_KEYS: usize = 160_000_000;

/// A skeleton's joints among the nodes.
pub struct Skeleton {
    /// Node of each joint, in the skeleton's order.
    pub nodes: Vec<usize>,
    /// Place in that order of each joint's token.
    pub joint_of_token: BTreeMap<String, usize>,
    /// Skeleton-from-joint when the skin was bound; may be shorter than `nodes`.
    pub bind: Vec<DMat4>,
}

impl Skeleton {
    /// Adds the joints of skeleton `prim`, carried by `node`, to `nodes`.
    pub fn read(layer: &Layer, prim: usize, node: usize, nodes: &mut Vec<RawNode>) -> Self {
        let tokens = layer.still(prim, "joints").map_or(&[][..], Value::texts);
        let matrices =
            |name| layer.still(prim, name).map_or(Vec::new(), |v| v.matrices().collect::<Vec<_>>());
        let (rest, bind) = (matrices("restTransforms"), matrices("bindTransforms"));
        let joint_of_token: BTreeMap<String, usize> =
            tokens.iter().enumerate().map(|(j, token)| (token.clone(), j)).collect();
        let names = layer.still(prim, "jointNames").map_or(&[][..], Value::texts);
        let first = nodes.len();
        for (j, token) in tokens.iter().enumerate() {
            let parent = parent_token(token, &joint_of_token);
            let local = match (rest.get(j), bind.get(j), parent.and_then(|p| bind.get(p))) {
                (Some(rest), _, _) => *rest,
                (None, Some(bind), Some(parent)) => parent.inverse() * *bind,
                (None, Some(bind), None) => *bind,
                (None, None, _) => DMat4::IDENTITY,
            };
            let last = token.rsplit('/').next().unwrap_or(token);
            nodes.push(RawNode {
                name: names.get(j).map_or(last, String::as_str).to_owned(),
                parent: Some(parent.map_or(node, |p| first + p)),
                local: Transform::from_matrix(local.as_mat4()).0,
            });
        }
        Self { nodes: (first..nodes.len()).collect(), joint_of_token, bind }
    }
}

/// The nearest joint whose token is a leading part of `token`.
fn parent_token(token: &str, joint_of_token: &BTreeMap<String, usize>) -> Option<usize> {
    let mut above = token;
    // A token of a million slashes is no skeleton; sixty-four generations are looked at.
    for _ in 0..64 {
        above = above.rsplit_once('/')?.0;
        if let Some(&joint) = joint_of_token.get(above) {
            return Some(joint);
        }
    }
    None
}

/// Reads animations, counting their keys.
pub struct AnimationReader<'a> {
    layer: &'a Layer,
    /// Time codes in a second.
    rate: f64,
    keys_left: usize,
}

impl<'a> AnimationReader<'a> {
    /// For a scene of `rate` time codes per second.
    pub fn new(layer: &'a Layer, rate: f64) -> Self {
        Self { layer, rate, keys_left: MOST_KEYS }
    }

    /// Tracks of the joints that animation `prim` moves.
    pub fn joint_tracks(&mut self, prim: usize, skeleton: &Skeleton) -> Result<Vec<RawTrack>, Fault> {
        let tokens = self.layer.still(prim, "joints").map_or(&[][..], Value::texts);
        let nodes: Vec<(usize, usize)> = tokens
            .iter()
            .enumerate()
            .filter_map(|(k, token)| Some((k, skeleton.nodes[*skeleton.joint_of_token.get(token)?])))
            .collect();
        let vectors = |value: &Value| value.vectors().map(|v| v.as_vec3()).collect::<Vec<Vec3>>();
        let quaternions = |value: &Value| value.quaternions().map(|q| q.as_quat()).collect::<Vec<Quat>>();
        let mut tracks = self.tracks(prim, "translations", &nodes, vectors, RawChannel::Translation)?;
        tracks.extend(self.tracks(prim, "rotations", &nodes, quaternions, RawChannel::Rotation)?);
        tracks.extend(self.tracks(prim, "scales", &nodes, vectors, RawChannel::Scale)?);
        Ok(tracks)
    }

    /// Tracks of the blend shapes that animation `prim` weighs, given `(mesh, morph)` of each name.
    pub fn morph_tracks(
        &mut self,
        prim: usize,
        morphs_of_name: &BTreeMap<String, Vec<(usize, usize)>>,
    ) -> Result<Vec<RawTrack>, Fault> {
        let names = self.layer.still(prim, "blendShapes").map_or(&[][..], Value::texts);
        let morphs: Vec<(usize, (usize, usize))> = names
            .iter()
            .enumerate()
            .flat_map(|(k, name)| {
                morphs_of_name.get(name).into_iter().flatten().map(move |&morph| (k, morph))
            })
            .collect();
        let weights = |value: &Value| value.numbers().iter().map(|&n| n as f32).collect::<Vec<f32>>();
        self.tracks(prim, "blendShapeWeights", &morphs, weights, |(mesh, morph), values| {
            RawChannel::Morph(mesh, morph, values)
        })
    }

    /// One track for each `(element, target)` of an array attribute.
    fn tracks<T: Copy, G: Copy>(
        &mut self,
        prim: usize,
        name: &str,
        targets: &[(usize, G)],
        elements: impl Fn(&Value) -> Vec<T>,
        channel: impl Fn(G, Vec<T>) -> RawChannel,
    ) -> Result<Vec<RawTrack>, Fault> {
        let Some(attribute) = self.layer.attribute(prim, name) else { return Ok(Vec::new()) };
        let keys = attribute.samples.len().max(1).saturating_mul(targets.len());
        self.keys_left = self.keys_left.checked_sub(keys).ok_or_else(|| {
            Fault::broken(self.layer.path(prim), "has more keys than two hours of a large character")
        })?;
        let moments = moments(attribute, self.rate);
        let mut times = vec![Vec::new(); targets.len()];
        let mut values = vec![Vec::new(); targets.len()];
        for (time, value) in moments {
            let elements = elements(value);
            for (slot, &(element, _)) in targets.iter().enumerate() {
                if let Some(&element) = elements.get(element) {
                    times[slot].push(time);
                    values[slot].push(element);
                }
            }
        }
        let tracks = targets.iter().zip(times).zip(values).filter(|((_, times), _)| !times.is_empty());
        Ok(tracks
            .map(|((&(_, target), times), values)| RawTrack {
                times,
                interpolation: Interpolation::Linear,
                channel: channel(target, values),
            })
            .collect())
    }
}

/// Seconds and values of an attribute; one moment when it does not move.
fn moments(attribute: &Attribute, rate: f64) -> Vec<(f32, &Value)> {
    if attribute.samples.is_empty() {
        return attribute.still().map(|value| (0.0, value)).into_iter().collect();
    }
    attribute.samples.iter().map(|(time, value)| ((time / rate) as f32, value.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_joint_without_its_parent_hangs_on_the_next_above() {
        let joints: BTreeMap<String, usize> = [("hip".into(), 0), ("hip/a/knee".into(), 1)].into();
        assert_eq!(parent_token("hip/a/knee", &joints), Some(0));
        assert_eq!(parent_token("hip", &joints), None);
    }
}

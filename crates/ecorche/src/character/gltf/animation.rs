//! From glTF animations to raw clips.

use super::accessor::Accessors;
use super::document::{Animation, Sampler};
use super::{Fault, Report};
use crate::character::Interpolation;
use crate::character::raw::{RawChannel, RawClip, RawMesh, RawTrack};
use glam::{Quat, Vec3};

/// The clip of one animation. `mesh_of_node` tells which raw mesh a node's weights animate.
pub fn read_clip(
    accessors: &Accessors,
    animation: &Animation,
    subject: &str,
    meshes: &[RawMesh],
    mesh_of_node: &[Option<usize>],
    report: &mut Report,
) -> Result<RawClip, Fault> {
    let mut clip = RawClip {
        name: animation.name.clone().unwrap_or_default(),
        fps: animation.extras.fps,
        ..RawClip::default()
    };
    for channel in &animation.channels {
        // Channels without a node animate something an extension names: lights, materials.
        let Some(node) = channel.target.node else { continue };
        let Some(sampler) = animation.samplers.get(channel.sampler.0) else {
            report.add(subject, "a channel whose sampler does not exist", "left out");
            continue;
        };
        let interpolation = match sampler.interpolation.as_deref() {
            None | Some("LINEAR") => Interpolation::Linear,
            Some("STEP") => Interpolation::Step,
            Some("CUBICSPLINE") => Interpolation::CubicSpline,
            Some(other) => {
                report.add(subject, format!("unknown interpolation {other:?}"), "read as LINEAR");
                Interpolation::Linear
            }
        };
        let times = report.optional(subject, "key times", accessors.floats::<1>(sampler.input.0));
        let times: Vec<f32> = times.into_iter().map(|[t]| t).collect();
        let mut vectors = || -> Vec<Vec3> {
            let values = report.optional(subject, "key values", accessors.floats::<3>(sampler.output.0));
            values.into_iter().map(Vec3::from).collect()
        };
        let channel = match channel.target.path.as_str() {
            "translation" => RawChannel::Translation(node.0, vectors()),
            "scale" => RawChannel::Scale(node.0, vectors()),
            "rotation" => {
                let values = report.optional(subject, "key values", accessors.floats::<4>(sampler.output.0));
                RawChannel::Rotation(node.0, values.into_iter().map(Quat::from_array).collect())
            }
            "weights" => {
                let mesh = mesh_of_node.get(node.0).copied().flatten();
                let Some((mesh, raw)) = mesh.and_then(|m| Some((m, meshes.get(m)?))) else {
                    report.add(subject, "morph weights of a node without a mesh", "left out");
                    continue;
                };
                let keys = MorphKeys { times, interpolation, mesh, morph_count: raw.morphs.len() };
                clip.tracks.extend(keys.split(accessors, sampler, subject, report)?);
                continue;
            }
            other => {
                report.add(subject, format!("unknown channel {other:?}"), "left out");
                continue;
            }
        };
        clip.tracks.push(RawTrack { times, interpolation, channel });
    }
    Ok(clip)
}

/// The keys of a weights channel, which animates all morphs of a mesh at once.
struct MorphKeys {
    times: Vec<f32>,
    interpolation: Interpolation,
    mesh: usize,
    morph_count: usize,
}

impl MorphKeys {
    /// One track for each morph. At each key the file has a weight for every morph; with cubic
    /// splines the in-tangents of all morphs, then the weights of all, then the out-tangents.
    fn split(
        self,
        accessors: &Accessors,
        sampler: &Sampler,
        subject: &str,
        report: &mut Report,
    ) -> Result<Vec<RawTrack>, Fault> {
        let values = report.optional(subject, "morph weights", accessors.floats::<1>(sampler.output.0));
        let groups_per_key = if self.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let group_count = values.len().checked_div(self.morph_count).unwrap_or(0);
        let key_count = self.times.len().min(group_count / groups_per_key);
        if key_count != self.times.len() || values.len() != key_count * groups_per_key * self.morph_count {
            report.add(
                subject,
                format!(
                    "{} morph weights do not suit {} keys of {} morphs",
                    values.len(),
                    self.times.len(),
                    self.morph_count
                ),
                format!("{key_count} keys used"),
            );
        }
        accessors
            .spend(self.times.len().saturating_mul(size_of::<f32>()).saturating_mul(self.morph_count))?;
        let track = |morph: usize| {
            let weights = values.iter().skip(morph).step_by(self.morph_count);
            let weights = weights.take(key_count * groups_per_key).map(|&[w]| w).collect();
            RawTrack {
                times: self.times[..key_count].to_vec(),
                interpolation: self.interpolation,
                channel: RawChannel::Morph(self.mesh, morph, weights),
            }
        };
        Ok((0..self.morph_count).map(track).collect())
    }
}

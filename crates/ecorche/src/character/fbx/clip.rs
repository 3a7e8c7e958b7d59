//! Animation stacks of an FBX file, as straight lines between keys.
//!
//! FBX animates Euler angles and pivots with splines in layers. The library evaluates all of that
//! into translations, rotations and scales per node; between its keys we interpolate linearly. Keys
//! closer than about 1/20 s are kept as they are: exporters that sample every frame write Euler
//! angles that wrap around between frames, where a straight turn is what was meant.

use super::mesh::MorphSlots;
use super::{allocator, quat, vec3};
use crate::character::raw::{RawChannel, RawCharacter, RawClip, RawTrack};
use crate::character::{Interpolation, Repair};

/// Curved keys are replaced by straight ones at this rate or the next multiple of the file's own,
/// per second. Chosen, not measured: twice the rate of film, so that film frames stay exact.
const LEAST_RESAMPLE_RATE: f64 = 48.0;
/// Straight keys that replace one curved one, at most: 85 seconds at 48 per second.
const MOST_SEGMENTS: usize = 4096;

/// Adds one clip per animation stack; `memory_limit` holds for all of them together, bytes.
pub(super) fn add_clips(
    scene: &ufbx::Scene,
    index_of_node: &[Option<usize>],
    slots: &MorphSlots,
    memory_limit: usize,
    raw: &mut RawCharacter,
) -> Result<(), Box<ufbx::Error>> {
    let mut budget = memory_limit;
    for stack in &scene.anim_stacks {
        let baked = ufbx::bake_anim(scene, &stack.anim, bake_options(scene, budget))?;
        budget = budget.saturating_sub(baked.metadata.result_memory_used);
        raw.clips.push(clip(scene, stack, &baked, index_of_node, slots, &mut raw.repairs));
    }
    Ok(())
}

fn frames_per_second(scene: &ufbx::Scene) -> Option<f64> {
    let fps = scene.settings.frames_per_second;
    (fps.is_finite() && (0.1..=10_000.0).contains(&fps)).then_some(fps)
}

fn bake_options(scene: &ufbx::Scene, memory_limit: usize) -> ufbx::BakeOpts {
    let fps = frames_per_second(scene).unwrap_or(30.0);
    ufbx::BakeOpts {
        temp_allocator: allocator(memory_limit),
        result_allocator: allocator(memory_limit),
        resample_rate: fps * (LEAST_RESAMPLE_RATE / fps).ceil(),
        max_keyframe_segments: MOST_SEGMENTS,
        step_handling: ufbx::BakeStepHandling::IdenticalTime,
        ..Default::default()
    }
}

fn clip(
    scene: &ufbx::Scene,
    stack: &ufbx::AnimStack,
    baked: &ufbx::BakedAnim,
    index_of_node: &[Option<usize>],
    slots: &MorphSlots,
    repairs: &mut Vec<Repair>,
) -> RawClip {
    let mut tracks = Vec::new();
    for node in &baked.nodes {
        let Some(joint) = index_of_node.get(node.typed_id as usize).copied().flatten() else { continue };
        let moved = vector_keys(&node.translation_keys, node.constant_translation, vec3);
        tracks.extend(track(moved, |values| RawChannel::Translation(joint, values)));
        let keys = node.rotation_keys.iter().map(|k| (k.time, quat(k.value)));
        let turned = separate_steps(keys, node.constant_rotation);
        tracks.extend(track(turned, |values| RawChannel::Rotation(joint, values)));
        let scaled = vector_keys(&node.scale_keys, node.constant_scale, vec3);
        tracks.extend(track(scaled, |values| RawChannel::Scale(joint, values)));
    }
    for element in &baked.elements {
        let Some(slots) = slots.get(&element.element_id) else { continue };
        let Some(weight) = element.props.iter().find(|p| &*p.name == "DeformPercent") else { continue };
        for slot in slots {
            let keys =
                vector_keys(&weight.keys, weight.constant_value, |v| v.x as f32 / 100.0 / slot.full_weight);
            tracks.extend(track(keys, |values| RawChannel::Morph(slot.mesh, slot.morph, values)));
        }
    }
    let name = stack.element.name.to_string();
    let stated = (stack.time_begin as f32, stack.time_end as f32);
    let keyed = (baked.key_time_min as f32, baked.key_time_max as f32);
    let sound = |(start, end): (f32, f32)| start.is_finite() && end.is_finite() && start < end;
    let range = if sound(stated) {
        Some(stated)
    } else if sound(keyed) && !tracks.is_empty() {
        repairs.push(Repair::new(
            format!("clip \"{name}\""),
            "states no length",
            format!("took that of its keys, {:.2} to {:.2} s", keyed.0, keyed.1),
        ));
        Some(keyed)
    } else {
        None
    };
    RawClip { name, fps: frames_per_second(scene).map(|fps| fps as f32), range, tracks }
}

fn track<T>(
    (times, values): (Vec<f32>, Vec<T>),
    channel: impl FnOnce(Vec<T>) -> RawChannel,
) -> Option<RawTrack> {
    let interpolation = Interpolation::Linear;
    (!times.is_empty()).then(|| RawTrack { times, interpolation, channel: channel(values) })
}

fn vector_keys<T: Copy>(
    keys: &[ufbx::BakedVec3],
    constant: bool,
    value: impl Fn(ufbx::Vec3) -> T,
) -> (Vec<f32>, Vec<T>) {
    separate_steps(keys.iter().map(|k| (k.time, value(k.value))), constant)
}

/// Key times in single precision, rising. Of several keys at one time (a step) the first arrives
/// and the last leaves: the first moves to the moment just before. A constant keeps one key.
fn separate_steps<T: Copy>(keys: impl Iterator<Item = (f64, T)>, constant: bool) -> (Vec<f32>, Vec<T>) {
    let (mut times, mut values) = (Vec::<f32>::new(), Vec::<T>::new());
    for (time, value) in keys.take(if constant { 1 } else { usize::MAX }) {
        let time = time as f32;
        let count = times.len();
        if count == 0 || times[count - 1] < time {
            times.push(time);
            values.push(value);
            continue;
        }
        let arriving = times[count - 1].next_down();
        if count == 1 || times[count - 2] < arriving {
            times.push(times[count - 1]);
            times[count - 1] = arriving;
            values.push(value);
        } else {
            // More than two at once: only the outer ones count.
            values[count - 1] = value;
        }
    }
    (times, values)
}

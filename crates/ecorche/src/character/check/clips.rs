//! Animation channels: sorted, sound, one per joint and kind.

use super::{TakenNames, unique_name};
use crate::character::raw::{RawChannel, RawCharacter, RawClip, RawTrack};
use crate::character::{Clip, Interpolation, JointTrack, Mesh, MorphTrack, Repair, Track, World};
use glam::{Quat, Vec3};
use std::collections::BTreeMap;

/// Checks every clip; those with nothing left are dropped.
pub fn check(
    raw: &RawCharacter,
    joint_of_node: &[usize],
    meshes: &[Mesh],
    repairs: &mut Vec<Repair>,
) -> Vec<Clip> {
    let mut taken = TakenNames::new();
    let mut clips = Vec::new();
    for (i, clip) in raw.clips.iter().enumerate() {
        let name = unique_name(&clip.name, &format!("clip_{i}"), &mut taken);
        let subject = format!("clip \"{name}\"");
        match check_clip(clip, &name, raw.world, joint_of_node, meshes, repairs) {
            Some(clip) => clips.push(clip),
            None => repairs.push(Repair::new(subject, "has no usable track", "dropped")),
        }
    }
    clips
}

fn check_clip(
    clip: &RawClip,
    name: &str,
    world: World,
    joint_of_node: &[usize],
    meshes: &[Mesh],
    repairs: &mut Vec<Repair>,
) -> Option<Clip> {
    let mut joints: BTreeMap<usize, JointTrack> = BTreeMap::new();
    let mut morphs: BTreeMap<(usize, usize), Option<Track<f32>>> = BTreeMap::new();
    let (mut unusable, mut repeated) = (0, 0);
    let mut odd = OddKeys::default();
    for track in &clip.tracks {
        let kept = match &track.channel {
            RawChannel::Morph(mesh, morph, weights) => {
                let exists = meshes.get(*mesh).is_some_and(|m| *morph < m.morphs.len());
                check_track(track, weights, |w| w, |w| w.is_finite(), &mut odd)
                    .filter(|_| exists)
                    .map(|track| set(morphs.entry((*mesh, *morph)).or_default(), track))
            }
            RawChannel::Translation(node, values) => with_joint(*node, joint_of_node, &mut joints, |joint| {
                let finite = |v: Vec3| v.is_finite();
                let track = check_track(track, values, |v| world.to_internal(v), finite, &mut odd)?;
                Some(set(&mut joint.translation, track))
            }),
            RawChannel::Rotation(node, values) => with_joint(*node, joint_of_node, &mut joints, |joint| {
                let track = check_rotations(track, values, world, &mut odd)?;
                Some(set(&mut joint.rotation, track))
            }),
            RawChannel::Scale(node, values) => with_joint(*node, joint_of_node, &mut joints, |joint| {
                let finite = |v: Vec3| v.is_finite();
                let track = check_track(track, values, |v| world.scale_to_internal(v), finite, &mut odd)?;
                Some(set(&mut joint.scale, track))
            }),
        };
        match kept {
            None => unusable += 1,
            Some(false) => repeated += 1,
            Some(true) => {}
        }
    }
    let subject = format!("clip \"{name}\"");
    if unusable > 0 {
        let problem = format!("{unusable} tracks are empty, not finite or name missing targets");
        repairs.push(Repair::new(&subject, problem, "dropped"));
    }
    if repeated > 0 {
        let problem = format!("{repeated} tracks repeat a channel");
        repairs.push(Repair::new(&subject, problem, "the first of each is used"));
    }
    odd.report(&subject, repairs);
    let joint_tracks: Vec<JointTrack> = joints
        .into_values()
        .filter(|t| t.translation.is_some() || t.rotation.is_some() || t.scale.is_some())
        .collect();
    let morph_tracks: Vec<MorphTrack> = morphs
        .into_iter()
        .filter_map(|((mesh, morph), weight)| Some(MorphTrack { mesh, morph, weight: weight? }))
        .collect();
    let key_times = all_times(&joint_tracks, &morph_tracks);
    let (first_key, last_key) = key_times.iter().fold((f32::MAX, f32::MIN), |(low, high), times| {
        (low.min(times[0]), high.max(times[times.len() - 1]))
    });
    if key_times.is_empty() {
        return None;
    }
    let (start, end) = match clip.range {
        Some((a, b)) if a.is_finite() && b.is_finite() && b >= a => (a, b),
        _ => (first_key, last_key),
    };
    let fps = clip.fps.filter(|f| f.is_finite() && *f > 0.0).or_else(|| keyed_fps(&key_times));
    Some(Clip { name: name.to_owned(), start, end, fps, joint_tracks, morph_tracks })
}

/// Fills an empty channel; tells whether it was empty.
fn set<T>(channel: &mut Option<Track<T>>, track: Track<T>) -> bool {
    let empty = channel.is_none();
    channel.get_or_insert(track);
    empty
}

fn with_joint(
    node: usize,
    joint_of_node: &[usize],
    joints: &mut BTreeMap<usize, JointTrack>,
    change: impl FnOnce(&mut JointTrack) -> Option<bool>,
) -> Option<bool> {
    let joint = *joint_of_node.get(node)?;
    change(joints.entry(joint).or_insert_with(|| JointTrack { joint, ..JointTrack::default() }))
}

/// Keys that were left out or moved in the tracks of one clip.
#[derive(Default)]
struct OddKeys {
    /// Tracks with another number of times than of values.
    uneven: usize,
    /// Tracks whose times go back.
    disordered: usize,
    /// Keys that are not finite.
    broken: usize,
}

impl OddKeys {
    fn report(&self, subject: &str, repairs: &mut Vec<Repair>) {
        for (count, problem, remedy) in [
            (
                self.uneven,
                "tracks have more times than values, or fewer",
                "those without a partner are left out",
            ),
            (self.disordered, "tracks have times that go back", "their keys are sorted"),
            (self.broken, "keys are not finite", "left out"),
        ] {
            if count > 0 {
                repairs.push(Repair::new(subject, format!("{count} {problem}"), remedy));
            }
        }
    }
}

/// Keeps the finite keys in order of time, the first of equal times, converted by `convert`.
fn check_track<T: Copy>(
    track: &RawTrack,
    values: &[T],
    convert: impl Fn(T) -> T,
    finite: impl Fn(T) -> bool,
    odd: &mut OddKeys,
) -> Option<Track<T>> {
    let per_key = if track.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let count = track.times.len().min(values.len() / per_key);
    let of_key = |key: usize| &values[per_key * key..per_key * (key + 1)];
    let mut keys: Vec<usize> =
        (0..count).filter(|&k| track.times[k].is_finite() && of_key(k).iter().all(|&v| finite(v))).collect();
    if track.times.len() * per_key != values.len() && count > 0 {
        odd.uneven += 1;
    }
    odd.broken += count - keys.len();
    odd.disordered += usize::from(keys.windows(2).any(|w| track.times[w[0]] > track.times[w[1]]));
    keys.sort_by(|&a, &b| track.times[a].total_cmp(&track.times[b]).then(a.cmp(&b)));
    keys.dedup_by(|later, kept| track.times[*later] == track.times[*kept]);
    (!keys.is_empty()).then(|| Track {
        times: keys.iter().map(|&k| track.times[k]).collect(),
        values: keys.iter().flat_map(|&k| of_key(k).iter().map(|&v| convert(v))).collect(),
        interpolation: track.interpolation,
    })
}

/// As [`check_track`], with the keyed quaternions made unit length (spline tangents keep theirs).
fn check_rotations(raw: &RawTrack, values: &[Quat], world: World, odd: &mut OddKeys) -> Option<Track<Quat>> {
    let finite = |q: Quat| q.is_finite();
    let mut track = check_track(raw, values, |q| world.rotation_to_internal(q), finite, odd)?;
    let (first, step) = if track.interpolation == Interpolation::CubicSpline { (1, 3) } else { (0, 1) };
    for q in track.values.iter_mut().skip(first).step_by(step) {
        *q = if q.length_squared() > 1e-12 { q.normalize() } else { Quat::IDENTITY };
    }
    Some(track)
}

fn all_times<'a>(joints: &'a [JointTrack], morphs: &'a [MorphTrack]) -> Vec<&'a [f32]> {
    let mut all: Vec<&[f32]> = Vec::new();
    for track in joints {
        all.extend(track.translation.as_ref().map(|t| t.times.as_slice()));
        all.extend(track.rotation.as_ref().map(|t| t.times.as_slice()));
        all.extend(track.scale.as_ref().map(|t| t.times.as_slice()));
    }
    all.extend(morphs.iter().map(|t| t.weight.times.as_slice()));
    all
}

/// The rate at which the densest track is keyed, if it is keyed evenly at a usual rate.
fn keyed_fps(tracks: &[&[f32]]) -> Option<f32> {
    const USUAL: [f32; 10] = [12.0, 15.0, 24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 100.0, 120.0];
    let densest = tracks.iter().max_by_key(|t| t.len()).filter(|t| t.len() > 2)?;
    let mut steps: Vec<f32> = densest.windows(2).map(|w| w[1] - w[0]).collect();
    steps.sort_by(f32::total_cmp);
    let rate = 1.0 / steps[steps.len() / 2];
    USUAL.into_iter().find(|usual| (rate / usual - 1.0).abs() < 0.01)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw_track(times: &[f32], channel: RawChannel) -> RawTrack {
        RawTrack { times: times.to_vec(), interpolation: Interpolation::Linear, channel }
    }

    fn checked(tracks: Vec<RawTrack>) -> (Option<Clip>, Vec<Repair>) {
        let clip = RawClip { tracks, ..RawClip::default() };
        let mut repairs = Vec::new();
        (check_clip(&clip, "test", World::default(), &[0, 1], &[], &mut repairs), repairs)
    }

    #[test]
    fn disordered_and_broken_keys_are_sorted_out() {
        let values = vec![Vec3::X, Vec3::NAN, Vec3::Y, Vec3::Z];
        let (clip, repairs) =
            checked(vec![raw_track(&[1.0, 0.2, 0.5, 1.0], RawChannel::Translation(1, values))]);
        let said: Vec<String> = repairs.iter().map(Repair::to_string).collect();
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("1 tracks have times that go back"), "{said:?}");
        assert!(said[1].contains("1 keys are not finite"), "{said:?}");
        let clip = clip.unwrap();
        let track = clip.joint_tracks[0].translation.clone().unwrap();
        assert_eq!(track.times, [0.5, 1.0]);
        assert_eq!(track.values, [Vec3::Y, Vec3::X]);
        assert_eq!((clip.start, clip.end), (0.5, 1.0));
    }

    #[test]
    fn the_first_of_repeated_tracks_counts_and_empty_ones_are_dropped() {
        let (clip, repairs) = checked(vec![
            raw_track(&[], RawChannel::Scale(0, vec![])),
            raw_track(&[0.0], RawChannel::Scale(0, vec![Vec3::ONE])),
            raw_track(&[0.0], RawChannel::Scale(0, vec![Vec3::ZERO])),
            raw_track(&[0.0], RawChannel::Rotation(7, vec![Quat::IDENTITY])),
        ]);
        assert_eq!(clip.unwrap().joint_tracks[0].scale.as_ref().unwrap().values, [Vec3::ONE]);
        assert_eq!(repairs.len(), 2);
    }

    #[test]
    fn tracks_with_fewer_values_than_times_are_named() {
        let (clip, repairs) =
            checked(vec![raw_track(&[0.0, 1.0, 2.0, 3.0], RawChannel::Translation(1, vec![Vec3::X; 2]))]);
        assert_eq!(clip.unwrap().end, 1.0);
        assert!(repairs[0].to_string().contains("more times than values"), "{:?}", repairs[0]);
    }

    #[test]
    fn a_clip_without_tracks_is_no_clip() {
        assert!(checked(vec![]).0.is_none());
    }

    #[test]
    fn the_rate_shows_in_the_keys() {
        let times: Vec<f32> = (0..10).map(|k| k as f32 / 24.0).collect();
        assert_eq!(keyed_fps(&[&times]), Some(24.0));
        assert_eq!(keyed_fps(&[&[0.0, 1.0]]), None);
    }
}

//! Animations.

use super::*;
use crate::character::Interpolation;
use crate::character::raw::{RawChannel, RawTrack};
use glam::{Quat, Vec3};

/// A triangle with two morphs on node 0, and one clip with one channel.
fn animated(path: &str, interpolation: &str, output: impl FnOnce(&mut TinyFile) -> usize) -> TinyFile {
    let mut file = TinyFile::with_primitive(|file| {
        let positions = file.triangle();
        json!({"attributes": {"POSITION": positions}, "targets": [{"POSITION": 0}, {"POSITION": 0}]})
    });
    let input = file.list(F32, "SCALAR", &[0.5f32, 1.0]);
    let output = output(&mut file);
    file.json["animations"] = json!([{
        "channels": [{"sampler": 0, "target": {"node": 0, "path": path}}],
        "samplers": [{"input": input, "output": output, "interpolation": interpolation}]
    }]);
    file
}

fn tracks(file: &TinyFile) -> Vec<RawTrack> {
    file.read_sound().clips.remove(0).tracks
}

#[test]
fn translations_and_scales_in_every_interpolation() {
    let kinds = [
        ("LINEAR", Interpolation::Linear, 2),
        ("STEP", Interpolation::Step, 2),
        ("CUBICSPLINE", Interpolation::CubicSpline, 6),
    ];
    for (name, interpolation, values) in kinds {
        let keys: Vec<[f32; 3]> = (0..values).map(|v| [v as f32, 0.0, 0.0]).collect();
        let expected: Vec<Vec3> = keys.iter().copied().map(Vec3::from).collect();
        for path in ["translation", "scale"] {
            let track = tracks(&animated(path, name, |f| f.list(F32, "VEC3", &keys))).remove(0);
            assert_eq!((track.interpolation, track.times.as_slice()), (interpolation, &[0.5, 1.0][..]));
            let (RawChannel::Translation(0, found) | RawChannel::Scale(0, found)) = track.channel else {
                panic!("{path}: {:?}", track.channel)
            };
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn rotations_as_normalised_integers() {
    let file = animated("rotation", "LINEAR", |file| {
        let output = file.list(I16, "VEC4", &[[0i16, 0, 32767, 0], [0, 0, 0, -32768]]);
        file.json["accessors"][output]["normalized"] = json!(true);
        output
    });
    let RawChannel::Rotation(0, found) = tracks(&file).remove(0).channel else { panic!("a rotation") };
    assert_eq!(found, [Quat::from_xyzw(0.0, 0.0, 1.0, 0.0), Quat::from_xyzw(0.0, 0.0, 0.0, -1.0)]);
}

fn weights(track: &RawTrack) -> (usize, &[f32]) {
    let RawChannel::Morph(0, morph, weights) = &track.channel else { panic!("{:?}", track.channel) };
    (*morph, weights)
}

#[test]
fn weights_are_split_into_a_track_for_each_morph() {
    let linear = tracks(&animated("weights", "LINEAR", |f| f.list(F32, "SCALAR", &[1f32, 2.0, 3.0, 4.0])));
    assert_eq!(linear.iter().map(weights).collect::<Vec<_>>(), [(0, &[1.0, 3.0][..]), (1, &[2.0, 4.0])]);
    // In-tangents of both morphs, weights of both, out-tangents of both; then the next key.
    let values: Vec<f32> = (0..12).map(|v| v as f32).collect();
    let cubic = tracks(&animated("weights", "CUBICSPLINE", |f| f.list(F32, "SCALAR", &values)));
    assert_eq!(weights(&cubic[1]), (1, &[1.0, 3.0, 5.0, 7.0, 9.0, 11.0][..]));
}

#[test]
fn too_few_weights_shorten_the_tracks() {
    let file = animated("weights", "LINEAR", |f| f.list(F32, "SCALAR", &[1f32, 2.0, 3.0]));
    let (raw, repairs) = file.read_mended();
    assert_eq!(raw.clips[0].tracks[1].times, [0.5]);
    assert!(repairs[0].contains("3 morph weights do not suit 2 keys of 2 morphs"), "{repairs:?}");
}

#[test]
fn empty_samplers_repeated_channels_and_missing_names_are_passed_on() {
    let mut file = animated("translation", "LINEAR", |f| f.list(F32, "VEC3", &[[0f32; 3]; 0]));
    let channel = file.json["animations"][0]["channels"][0].clone();
    file.json["animations"][0]["channels"] = json!([channel, channel]);
    let clip = file.read_sound().clips.remove(0);
    assert_eq!((clip.name.as_str(), clip.fps, clip.tracks.len()), ("", None, 2));
    assert!(matches!(&clip.tracks[0].channel, RawChannel::Translation(0, values) if values.is_empty()));
}

#[test]
fn the_rate_comes_from_the_extras() {
    let mut file = animated("translation", "LINEAR", |f| f.list(F32, "VEC3", &[[0f32; 3]; 2]));
    file.json["animations"][0]["extras"] = json!({"fps": 24});
    assert_eq!(file.read_sound().clips[0].fps, Some(24.0));
    file.json["animations"][0]["extras"] = json!({"fps": "film"});
    assert_eq!(file.read_sound().clips[0].fps, None);
}

#[test]
fn channels_of_other_things_are_left_out() {
    let mut file = animated("translation", "LINEAR", |f| f.list(F32, "VEC3", &[[0f32; 3]; 2]));
    file.json["nodes"].as_array_mut().unwrap().push(json!({}));
    file.json["animations"][0]["channels"] = json!([
        {"sampler": 0, "target": {"path": "pointer", "extensions": {"KHR_animation_pointer": {}}}},
        {"sampler": 7, "target": {"node": 0, "path": "scale"}},
        {"sampler": 0, "target": {"node": 0, "path": "visibility"}},
        {"sampler": 0, "target": {"node": 1, "path": "weights"}}
    ]);
    let (raw, repairs) = file.read_mended();
    assert!(raw.clips[0].tracks.is_empty());
    assert_eq!(repairs.len(), 3, "{repairs:?}");
}

#[test]
fn a_broken_sampler_costs_only_its_channel() {
    let mut file = animated("translation", "LINEAR", |f| f.list(F32, "VEC3", &[[0f32; 3]; 2]));
    file.json["animations"][0]["samplers"][0]["output"] = json!(99);
    let (raw, repairs) = file.read_mended();
    assert_eq!((raw.meshes.len(), raw.clips.len()), (1, 1));
    assert!(repairs[0].contains("accessor 99: it does not exist"), "{repairs:?}");
}

//! BVH: motion capture, a skeleton and one clip without a mesh.
//!
//! The channels of a joint are multiplied in the order they are listed; position channels replace
//! the joint's offset. End sites become joints `NAME_end`, so that the last bone of a limb has a
//! length.
//!
//! BVH states neither unit nor axes. The unit is guessed from the bones, which do not change with
//! the pose: the longest path along bones from the root to the end of a limb is 1.1 to 1.6 m in an adult.
//! Y is up, unless the skeleton reaches farthest along Z both at rest and in the first frame.

use super::raw::{RawChannel, RawCharacter, RawClip, RawNode, RawTrack};
use super::{Interpolation, ReadError, Repair, World};
use crate::math::Transform;
use glam::{Quat, Vec3};
use std::path::Path;

/// Units tried in this order: centimetres, metres, the unit of the CMU collection, inches,
/// decimetres, millimetres.
const UNITS: [(f32, &str); 6] = [
    (0.01, "1 cm"),
    (1.0, "1 m"),
    (0.056_444, "5.64 cm, the unit of the CMU collection"),
    (0.0254, "1 inch"),
    (0.1, "10 cm"),
    (0.001, "1 mm"),
];
/// Length of the longest limb, measured from the root, metres. Below 0.82 a MakeHuman walk in
/// decimetres is taken for CMU units; below 1.17 as the upper end CMU walks find no unit. The upper
/// end itself is chosen, not tuned.
const LONGEST_LIMB: std::ops::Range<f32> = 0.9..2.0;
/// Frames per second when the file gives none.
const DEFAULT_FPS: f64 = 30.0;
/// A rate this close to a whole number, as a share of it, is meant to be that: files write
/// 0.0083333 for 1/120. The 29.97 of television is 0.001 away from 30.
const WHOLE_RATE: f64 = 2e-4;

/// Reads a whole file held in memory. BVH needs no other files, so `_base_dir` is unused.
pub fn read_bytes(
    bytes: &[u8],
    _base_dir: Option<&Path>,
    path_for_errors: &Path,
) -> Result<RawCharacter, ReadError> {
    let text = String::from_utf8_lossy(bytes);
    let mut raw = RawCharacter::default();
    let mut lines = text.lines();
    let joints = read_hierarchy(&mut lines, &mut raw);
    if raw.nodes.is_empty() {
        return Err(ReadError::Malformed {
            path: path_for_errors.to_owned(),
            thing: "HIERARCHY".to_owned(),
            problem: "it has no ROOT".to_owned(),
            remedy: "check that it is a BVH file; export or download it again".to_owned(),
        });
    }
    let stem = path_for_errors.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let first_frame = read_motion(&mut lines, &joints, &stem, &mut raw);
    raw.world = guess_world(&mut raw, &first_frame);
    Ok(raw)
}

#[derive(Clone, Copy, PartialEq)]
enum Channel {
    Position(usize),
    Rotation(usize),
    /// Something else that takes a place in each frame.
    Unknown,
}

impl Channel {
    fn named(word: &str) -> Self {
        let word = word.to_ascii_lowercase();
        let axis = match word.as_bytes().first() {
            Some(b'x') => 0,
            Some(b'y') => 1,
            Some(b'z') => 2,
            _ => return Self::Unknown,
        };
        match &word[1..] {
            "position" | "translation" => Self::Position(axis),
            "rotation" => Self::Rotation(axis),
            _ => Self::Unknown,
        }
    }
}

/// A node that has channels.
struct MovingJoint {
    node: usize,
    channels: Vec<Channel>,
}

/// Reads up to and including the line MOTION.
fn read_hierarchy<'a>(lines: &mut impl Iterator<Item = &'a str>, raw: &mut RawCharacter) -> Vec<MovingJoint> {
    let mut joints = Vec::new();
    // Nodes whose braces are open; `latest` waits for its brace.
    let mut open: Vec<usize> = Vec::new();
    let mut latest = None;
    for line in lines {
        // Some exporters put braces on the line of the name.
        for statement in split_braces(line) {
            let mut words = statement.split_whitespace();
            let keyword = words.next().unwrap_or_default().to_ascii_uppercase();
            let rest = || statement.trim()[keyword.len()..].trim();
            match keyword.as_str() {
                "MOTION" => {
                    if !open.is_empty() {
                        raw.repairs.push(Repair::new(
                            "HIERARCHY",
                            format!("{} closing braces are missing", open.len()),
                            "closed before MOTION",
                        ));
                    }
                    return joints;
                }
                "ROOT" | "JOINT" | "END" | "ENDSITE" => {
                    let parent = open.last().copied();
                    let name = match (keyword.as_str(), parent) {
                        ("END" | "ENDSITE", Some(parent)) => format!("{}_end", raw.nodes[parent].name),
                        _ => rest().to_owned(),
                    };
                    latest = Some(raw.nodes.len());
                    raw.nodes.push(RawNode { name, parent, ..RawNode::default() });
                }
                "{" => open.extend(latest.take().or(open.last().copied())),
                "}" => {
                    open.pop();
                }
                "OFFSET" => {
                    if let Some(node) = latest.or(open.last().copied()) {
                        let mut numbers = words.map(|w| w.parse().unwrap_or(f32::NAN));
                        raw.nodes[node].local.translation =
                            Vec3::from_array(std::array::from_fn(|_| numbers.next().unwrap_or(0.0)));
                    }
                }
                "CHANNELS" => {
                    if let Some(node) = latest.or(open.last().copied()) {
                        let stated = words.next().and_then(|w| w.parse::<usize>().ok());
                        let channels: Vec<Channel> = words.map(Channel::named).collect();
                        if stated != Some(channels.len()) || channels.contains(&Channel::Unknown) {
                            raw.repairs.push(Repair::new(
                                format!("joint \"{}\"", raw.nodes[node].name),
                                format!("odd channels: {}", rest()),
                                "used those that are named",
                            ));
                        }
                        joints.push(MovingJoint { node, channels });
                    }
                }
                _ => {}
            }
        }
    }
    joints
}

/// The line in pieces: braces alone, and what is between them.
fn split_braces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line.trim();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = match rest.find(['{', '}']) {
            Some(0) => 1,
            Some(end) => end,
            None => rest.len(),
        };
        let (piece, after) = rest.split_at(end);
        rest = after.trim_start();
        Some(piece)
    })
}

/// Adds the clip; returns the local transforms of the first frame.
fn read_motion<'a>(
    lines: &mut impl Iterator<Item = &'a str>,
    joints: &[MovingJoint],
    name: &str,
    raw: &mut RawCharacter,
) -> Vec<Transform> {
    let subject = format!("clip \"{name}\"");
    let mut stated_frames = None;
    let mut frame_time = None;
    let mut values: Vec<f32> = Vec::new();
    let mut unreadable = 0usize;
    for line in lines {
        let line = line.trim();
        let lower = line.get(..10).unwrap_or(line).to_ascii_lowercase();
        let last_word = || line.rsplit([' ', '\t', ':']).next().unwrap_or_default();
        if lower.starts_with("frames") {
            stated_frames = last_word().parse::<usize>().ok();
        } else if lower.starts_with("frame") {
            frame_time = last_word().parse::<f64>().ok();
        } else {
            values.extend(line.split_whitespace().map(|word| {
                word.parse().unwrap_or_else(|_| {
                    unreadable += 1;
                    f32::NAN
                })
            }));
        }
    }
    let width: usize = joints.iter().map(|j| j.channels.len()).sum();
    let frames = values.len().checked_div(width).unwrap_or(0);
    if unreadable > 0 {
        raw.repairs.push(Repair::new(&subject, format!("{unreadable} values are not numbers"), "left out"));
    }
    if stated_frames != Some(frames) || values.len() != frames * width {
        let stated = stated_frames.map_or_else(|| "an unknown number of".to_owned(), |n| n.to_string());
        raw.repairs.push(Repair::new(
            &subject,
            format!("states {stated} frames of {width} values but holds {} values", values.len()),
            format!("used the {frames} whole frames"),
        ));
    }
    let fps = frame_time.filter(|t| t.is_finite() && *t > 0.0).map(|t| 1.0 / t).unwrap_or_else(|| {
        raw.repairs.push(Repair::new(&subject, "states no time between frames", "30 frames per second"));
        DEFAULT_FPS
    });
    let fps = if (fps - fps.round()).abs() < WHOLE_RATE * fps { fps.round() } else { fps };

    let mut first_frame: Vec<Transform> = raw.nodes.iter().map(|n| n.local).collect();
    if frames == 0 {
        return first_frame;
    }
    let time = |frame: usize| (frame as f64 / fps) as f32;
    let times: Vec<f32> = (0..frames).map(time).collect();
    let mut tracks = Vec::new();
    let mut first_value = 0;
    for joint in joints {
        let of_frame =
            |f: usize| &values[f * width + first_value..f * width + first_value + joint.channels.len()];
        let rest = raw.nodes[joint.node].local.translation;
        if joint.channels.iter().any(|c| matches!(c, Channel::Position(_))) {
            let moved: Vec<Vec3> =
                (0..frames).map(|f| position(&joint.channels, of_frame(f), rest)).collect();
            first_frame[joint.node].translation = moved[0];
            tracks.push(track(&times, moved, |values| RawChannel::Translation(joint.node, values)));
        }
        if joint.channels.iter().any(|c| matches!(c, Channel::Rotation(_))) {
            let turned: Vec<Quat> = (0..frames).map(|f| rotation(&joint.channels, of_frame(f))).collect();
            first_frame[joint.node].rotation = turned[0];
            tracks.push(track(&times, turned, |values| RawChannel::Rotation(joint.node, values)));
        }
        first_value += joint.channels.len();
    }
    let range = Some((0.0, time(frames - 1)));
    raw.clips.push(RawClip { name: name.to_owned(), fps: Some(fps as f32), range, tracks });
    first_frame
}

fn position(channels: &[Channel], values: &[f32], offset: Vec3) -> Vec3 {
    let mut position = offset;
    for (channel, &value) in channels.iter().zip(values) {
        if let Channel::Position(axis) = *channel {
            position[axis] = value;
        }
    }
    position
}

fn rotation(channels: &[Channel], values: &[f32]) -> Quat {
    channels.iter().zip(values).fold(Quat::IDENTITY, |rotation, (channel, &degrees)| match *channel {
        Channel::Rotation(axis) => rotation * Quat::from_axis_angle(Vec3::AXES[axis], degrees.to_radians()),
        _ => rotation,
    })
}

/// A track; one that never changes keeps one key.
fn track<T: PartialEq>(
    times: &[f32],
    mut values: Vec<T>,
    channel: impl FnOnce(Vec<T>) -> RawChannel,
) -> RawTrack {
    if values.iter().all(|v| *v == values[0]) {
        values.truncate(1);
    }
    let times = times[..values.len()].to_vec();
    RawTrack { times, interpolation: Interpolation::Linear, channel: channel(values) }
}

fn guess_world(raw: &mut RawCharacter, first_frame: &[Transform]) -> World {
    let longest = longest_limb(&raw.nodes);
    let fitting = UNITS.iter().find(|(unit, _)| LONGEST_LIMB.contains(&(longest * unit)));
    // Nothing human: the nearest, in ratio, of the units in use.
    let off = |unit: f32| (longest * unit / 1.35).ln().abs();
    let (unit, said) = match fitting {
        Some(found) => *found,
        None if longest > 0.0 => {
            UNITS.into_iter().min_by(|a, b| off(a.0).total_cmp(&off(b.0))).unwrap_or(UNITS[0])
        }
        None => UNITS[0],
    };
    raw.repairs.push(Repair::new(
        "file",
        "BVH states no unit of length",
        format!("one unit taken as {said}: the longest limb is then {:.2} m", longest * unit),
    ));
    let rest: Vec<Transform> = raw.nodes.iter().map(|n| n.local).collect();
    let lies_along_z = [rest.as_slice(), first_frame].iter().all(|pose| {
        let size = extent(&raw.nodes, pose);
        size.z > 1.2 * size.y && size.z >= size.x
    });
    if lies_along_z {
        raw.repairs.push(Repair::new("file", "the skeleton reaches farthest along Z", "Z taken as up"));
        World::z_up(unit)
    } else {
        World::y_up(unit)
    }
}

/// Longest path along the bones from a root to an end, in the file's unit.
fn longest_limb(nodes: &[RawNode]) -> f32 {
    // Parents come first: a node is opened before its children.
    let mut way = vec![0f32; nodes.len()];
    for (i, node) in nodes.iter().enumerate() {
        if let Some(parent) = node.parent {
            let length = node.local.translation.length();
            way[i] = way[parent] + if length.is_finite() { length } else { 0.0 };
        }
    }
    way.into_iter().fold(0.0, f32::max)
}

fn extent(nodes: &[RawNode], pose: &[Transform]) -> Vec3 {
    let mut world = Vec::with_capacity(nodes.len());
    let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
    for (node, local) in nodes.iter().zip(pose) {
        let local = local.to_affine();
        let here = node.parent.map_or(local, |parent: usize| world[parent] * local);
        world.push(here);
        let point = Vec3::from(here.translation);
        if point.is_finite() {
            low = low.min(point);
            high = high.max(point);
        }
    }
    (high - low).max(Vec3::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::damage::damaged;

    const ARM: &str = "HIERARCHY
ROOT Hips
{
\tOFFSET 0 0 0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT Upper Arm
\t{
\t\tOFFSET 0 100 0
\t\tCHANNELS 3 Zrotation Xrotation Yrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 30.0 0 0
\t\t}
\t}
}
MOTION
Frames: 2
Frame Time: .05
1 2 3 90 0 0 0 0 0
1 2 3 90 90 0 0 0 1e1
";

    fn parse(text: &str) -> RawCharacter {
        read_bytes(text.as_bytes(), None, Path::new("walk.bvh")).unwrap()
    }

    fn rotations(raw: &RawCharacter, joint: usize) -> &[Quat] {
        raw.clips[0]
            .tracks
            .iter()
            .find_map(|t| match &t.channel {
                RawChannel::Rotation(node, values) if *node == joint => Some(values.as_slice()),
                _ => None,
            })
            .unwrap()
    }

    #[test]
    fn hierarchy_and_frames_are_read() {
        let raw = parse(ARM);
        let names: Vec<&str> = raw.nodes.iter().map(|n| n.name.as_str()).collect();
        assert_eq!(names, ["Hips", "Upper Arm", "Upper Arm_end"]);
        assert_eq!(raw.nodes[2].parent, Some(1));
        assert_eq!(raw.clips[0].range, Some((0.0, 0.05)));
        assert_eq!(raw.clips[0].fps, Some(20.0));
        assert_eq!(raw.repairs.len(), 1, "only the unit: {:?}", raw.repairs);
    }

    #[test]
    fn rotations_multiply_in_the_order_of_the_channels() {
        let raw = parse(ARM);
        // First about Z, then about the turned X: the local Y axis ends up along the world's Z.
        let turned = rotations(&raw, 0)[1] * Vec3::Y;
        assert!(turned.distance(Vec3::Z) < 1e-6, "{turned}");
    }

    #[test]
    fn a_different_order_gives_a_different_turn() {
        let raw = parse(&ARM.replacen("Zrotation Xrotation", "Xrotation Zrotation", 1));
        let turned = rotations(&raw, 0)[1] * Vec3::Y;
        assert!(turned.distance(Vec3::NEG_X) < 1e-6, "{turned}");
    }

    #[test]
    fn centimetres_inches_and_cmu_units_are_told_apart() {
        for (scale, metres) in [(1.0, 0.01), (0.01, 1.0), (0.4, 0.0254), (0.18, 0.056_444)] {
            let scaled =
                ARM.replace("100", &(100.0 * scale).to_string()).replace("30.0", &(30.0 * scale).to_string());
            assert_eq!(parse(&scaled).world.metres_per_unit, metres, "{scale}");
        }
    }

    #[test]
    fn z_up_needs_rest_and_motion_to_agree() {
        let lying = ARM.replace("0 100 0", "0 0 100").replace("1 2 3 90 0 0", "0 0 0 0 0 0");
        assert_eq!(parse(&lying).world.up_name(), "Z");
        let standing_in_motion = lying.replace("0 0 0 0 0 0 0 0 0", "0 0 0 0 -90 0 0 0 0");
        assert_eq!(parse(&standing_in_motion).world.up_name(), "Y");
    }

    #[test]
    fn wrong_frame_counts_are_mended() {
        for wrong in ["Frames: 7", "Frames: 1", "Frames: many"] {
            let raw = parse(&ARM.replace("Frames: 2", wrong));
            assert_eq!(raw.clips[0].range, Some((0.0, 0.05)));
            assert!(raw.repairs.iter().any(|r| r.problem.contains("frames")));
        }
    }

    #[test]
    fn no_frame_time_means_thirty_a_second() {
        let raw = parse(&ARM.replace("Frame Time: .05", "Frame Time: 0"));
        assert_eq!(raw.clips[0].fps, Some(30.0));
    }

    #[test]
    fn braces_on_the_name_line_and_a_missing_end_site_are_fine() {
        let raw = parse(
            "HIERARCHY\nROOT a {\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\nJOINT b { OFFSET 0 1 0 } }\nMOTION\nFrames: 1\nFrame Time: 0.1\n5\n",
        );
        assert_eq!(raw.nodes.len(), 2);
        assert_eq!(raw.nodes[1].local.translation, Vec3::Y);
        assert_eq!(raw.clips.len(), 1);
    }

    #[test]
    fn a_chain_of_sixty_thousand_joints_needs_no_stack() {
        let mut text = String::from("HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\n");
        for _ in 0..60_000 {
            text.push_str("JOINT j\n{\nOFFSET 0 1 0\n");
        }
        assert_eq!(parse(&text).nodes.len(), 60_001);
    }

    #[test]
    fn a_file_without_root_is_an_error_that_says_so() {
        let error = read_bytes(b"hello", None, Path::new("a.bvh")).unwrap_err().to_string();
        assert!(error.starts_with("a.bvh") && error.contains("ROOT"), "{error}");
    }

    #[test]
    fn damaged_files_never_panic() {
        arbtest::arbtest(|u| {
            let bytes = damaged(u, ARM.as_bytes(), &["{", "}", "\n", " ", "9", ".", "-", "e", "X"])?;
            let _ = read_bytes(&bytes, None, Path::new("fuzz.bvh"));
            Ok(())
        });
    }
}

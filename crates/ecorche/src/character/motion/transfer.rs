//! Carrying channels from the motion's joints to the character's.

use super::Transfer;
use super::matching::{Match, MatchedBy, Pairing};
use crate::character::humanoid::{HumanoidBone, Part, Side, joint_of};
use crate::character::{Character, Clip, Interpolation, JointTrack, Pose, Skeleton, Track};
use crate::math::Transform;
use glam::{Affine3A, Quat, Vec3};

/// Bones count as pointing the same way within this angle, radians: 10 degrees. Chosen, not tuned.
const SAME_DIRECTION: f32 = 0.17;
/// Share of the bones that must do so; a few helper joints may differ.
const MOST_BONES: f32 = 0.9;
/// Difference of resting offsets that still is the same skeleton, as a share of the largest offset.
const SAME_OFFSET: f32 = 0.01;
/// Moments of a clip at which its floor is looked for.
const FLOOR_SAMPLES: usize = 64;
/// Frames taken from one clip at most: an hour at 120 per second is 432,000.
const MOST_FRAMES: usize = 1_000_000;

/// A skeleton at one moment.
struct Moment {
    world: Vec<Affine3A>,
    /// World orientation of each joint, scales left aside.
    rotation: Vec<Quat>,
}

impl Moment {
    fn of(skeleton: &Skeleton, pose: &Pose) -> Self {
        let mut rotation: Vec<Quat> = Vec::with_capacity(skeleton.len());
        for (joint, local) in skeleton.joints.iter().zip(&pose.local) {
            let turned = joint.parent.map_or(local.rotation, |p| rotation[p] * local.rotation);
            rotation.push(turned.normalize());
        }
        Self { world: pose.world(skeleton), rotation }
    }

    fn point(&self, joint: usize) -> Vec3 {
        self.world[joint].translation.into()
    }
}

/// Both skeletons at rest and how their joints correspond.
struct Join<'a> {
    character: &'a Character,
    motion: &'a Character,
    pairing: &'a Pairing,
    rest: Moment,
    motion_rest: Moment,
    /// For each joint of the character its index in the matches.
    match_of: Vec<Option<usize>>,
}

/// Carries over every clip; returns how, and the ratio of sizes.
pub(super) fn carry_over(
    character: &Character,
    motion: &Character,
    pairing: &Pairing,
) -> (Transfer, f32, Vec<Clip>) {
    let mut match_of = vec![None; character.skeleton.len()];
    for (index, found) in pairing.matches.iter().enumerate() {
        match_of[found.joint] = Some(index);
    }
    let join = Join {
        character,
        motion,
        pairing,
        rest: Moment::of(&character.skeleton, &Pose::rest(character)),
        motion_rest: Moment::of(&motion.skeleton, &Pose::rest(motion)),
        match_of,
    };
    if join.same_skeleton() || join.motion_has_no_rest() {
        return (Transfer::SameSkeleton, 1.0, motion.clips.iter().map(|c| join.copied(c)).collect());
    }
    let same_frames = join.same_frames();
    let transfer = if same_frames { Transfer::SameFrames } else { Transfer::RestDifferences };
    let scale = join.scale();
    let facing = if same_frames { Quat::IDENTITY } else { join.facing() };
    let before = if same_frames { None } else { Some(join.corrections(facing)) };
    let clips = motion.clips.iter().map(|c| join.resampled(c, scale, facing, before.as_deref())).collect();
    (transfer, scale, clips)
}

impl Join<'_> {
    /// The nearest match above a joint of the character.
    fn match_above(&self, joint: usize) -> Option<&Match> {
        let joints = &self.character.skeleton.joints;
        let mut above = joints[joint].parent;
        while let Some(j) = above {
            if let Some(index) = self.match_of[j] {
                return Some(&self.pairing.matches[index]);
            }
            above = joints[j].parent;
        }
        None
    }

    /// Bones as pairs of matched joints, parent first.
    fn bones(&self) -> impl Iterator<Item = (&Match, &Match)> {
        self.pairing.matches.iter().filter_map(|child| Some((self.match_above(child.joint)?, child)))
    }

    fn same_skeleton(&self) -> bool {
        let (skeleton, moving) = (&self.character.skeleton, &self.motion.skeleton);
        let offset = |skeleton: &Skeleton, j: usize| skeleton.joints[j].rest.translation;
        let largest = self.bones().map(|(_, c)| offset(skeleton, c.joint).length()).fold(0.0, f32::max);
        self.pairing.matches.iter().all(|m| {
            if m.by == MatchedBy::Bone {
                return false;
            }
            let (parent, motion_parent) = (skeleton.joints[m.joint].parent, moving.joints[m.motion].parent);
            let above = parent.and_then(|p| self.match_of[p]).map(|index| self.pairing.matches[index].motion);
            if above.is_some() {
                let apart = offset(skeleton, m.joint).distance(offset(moving, m.motion));
                return above == motion_parent && apart <= SAME_OFFSET * largest;
            }
            // The top of the matched part: what is above it must place it alike.
            let place =
                |moment: &Moment, joint: Option<usize>| joint.map_or(Affine3A::IDENTITY, |j| moment.world[j]);
            let (ours, theirs) = (place(&self.rest, parent), place(&self.motion_rest, motion_parent));
            let apart = Vec3::from(ours.translation - theirs.translation).length();
            apart <= SAME_OFFSET * largest && ours.matrix3.abs_diff_eq(theirs.matrix3, SAME_OFFSET)
        })
    }

    /// Whether the motion's file leaves its joints unplaced, as files with nothing but animation do: every bone has
    /// no length. Its channels are then meant for the character's own joints.
    fn motion_has_no_rest(&self) -> bool {
        let rest = |m: &Match| self.motion.skeleton.joints[m.motion].rest;
        let named = self.pairing.matches.iter().all(|m| m.by != MatchedBy::Bone);
        named
            && self.bones().next().is_some()
            && self.bones().all(|(_, child)| rest(child).translation == Vec3::ZERO)
            && self.pairing.matches.iter().all(|m| same_rotation(rest(m), Transform::IDENTITY))
    }

    fn same_frames(&self) -> bool {
        let (mut same, mut bones) = (0usize, 0usize);
        for (parent, child) in self.bones() {
            let along = |moment: &Moment, parent: usize, child: usize| {
                let way = moment.point(child) - moment.point(parent);
                (moment.rotation[parent].inverse() * way).try_normalize()
            };
            let ours = along(&self.rest, parent.joint, child.joint);
            let theirs = along(&self.motion_rest, parent.motion, child.motion);
            if let (Some(ours), Some(theirs)) = (ours, theirs) {
                bones += 1;
                let named = parent.by != MatchedBy::Bone && child.by != MatchedBy::Bone;
                same += usize::from(named && ours.angle_between(theirs) < SAME_DIRECTION);
            }
        }
        bones + 1 >= super::LEAST_MATCHES && same as f32 >= MOST_BONES * bones as f32
    }

    /// Size of the character over that of the motion: legs if both have them, else all bones.
    fn scale(&self) -> f32 {
        let ours = leg_length(&self.pairing.bones, &self.rest);
        let theirs = leg_length(&self.pairing.motion_bones, &self.motion_rest);
        let (ours, theirs) = match (ours, theirs) {
            (Some(ours), Some(theirs)) => (ours, theirs),
            _ => self.bones().fold((0.0, 0.0), |(ours, theirs), (parent, child)| {
                let length = |moment: &Moment, a, b| moment.point(a).distance(moment.point(b));
                (
                    ours + length(&self.rest, parent.joint, child.joint),
                    theirs + length(&self.motion_rest, parent.motion, child.motion),
                )
            }),
        };
        let scale = ours / theirs;
        if scale.is_finite() && scale > 0.0 { scale } else { 1.0 }
    }

    /// The quarter turns about the vertical from where the motion faces at rest to where the
    /// character does.
    fn facing(&self) -> Quat {
        let ours = heading(&self.pairing.bones, &self.rest);
        let theirs = heading(&self.pairing.motion_bones, &self.motion_rest);
        match (ours, theirs) {
            (Some(ours), Some(theirs)) => {
                let quarters = ((ours - theirs) / std::f32::consts::FRAC_PI_2).round();
                Quat::from_rotation_y(quarters * std::f32::consts::FRAC_PI_2)
            }
            _ => Quat::IDENTITY,
        }
    }

    /// For each match `A` of [`Transfer::RestDifferences`].
    fn corrections(&self, facing: Quat) -> Vec<Quat> {
        let mut corrections: Vec<Quat> = Vec::with_capacity(self.pairing.matches.len());
        for found in &self.pairing.matches {
            let bone = self.pairing.bones[found.joint];
            let inherited = self.match_above(found.joint).and_then(|above| self.match_of[above.joint]);
            let correction = match bone.map(|b| b.part) {
                Some(Part::Foot | Part::Toes) => Quat::IDENTITY,
                _ => bone
                    .and_then(|bone| self.limb_correction(found, bone, facing))
                    .unwrap_or_else(|| inherited.map_or(Quat::IDENTITY, |index| corrections[index])),
            };
            corrections.push(correction);
        }
        corrections
    }

    /// The shortest turn from the character's resting limb to the motion's.
    fn limb_correction(&self, found: &Match, bone: HumanoidBone, facing: Quat) -> Option<Quat> {
        let part = match bone.part {
            Part::UpperArm => Part::LowerArm,
            Part::LowerArm => Part::Hand,
            Part::UpperLeg => Part::LowerLeg,
            Part::LowerLeg => Part::Foot,
            _ => return None,
        };
        let end = joint_of(&self.pairing.bones, HumanoidBone { part, ..bone })?;
        let motion_end = self.pairing.matches[self.match_of[end]?].motion;
        let ours = (self.rest.point(end) - self.rest.point(found.joint)).try_normalize()?;
        let theirs =
            (self.motion_rest.point(motion_end) - self.motion_rest.point(found.motion)).try_normalize()?;
        Some(Quat::from_rotation_arc(ours, facing * theirs))
    }

    /// The match that carries the body: the hips, or else the topmost.
    fn root(&self) -> usize {
        let hips = joint_of(&self.pairing.bones, HumanoidBone::centre(Part::Hips));
        hips.and_then(|hips| self.match_of[hips]).unwrap_or(0)
    }

    /// The channels of matched joints as they are; what the clip leaves alone rests as in the motion, if that says how.
    fn copied(&self, clip: &Clip) -> Clip {
        let has_rest = !self.motion_has_no_rest();
        let once = |start: f32| vec![start];
        let mut joint_tracks = Vec::new();
        for found in &self.pairing.matches {
            let ours = self.character.skeleton.joints[found.joint].rest;
            let theirs = self.motion.skeleton.joints[found.motion].rest;
            let track = clip.joint_tracks.iter().find(|t| t.joint == found.motion).cloned();
            let mut track = track.unwrap_or_default();
            track.joint = found.joint;
            let linear = Interpolation::Linear;
            if has_rest && track.rotation.is_none() && !same_rotation(ours, theirs) {
                let values = vec![theirs.rotation];
                track.rotation = Some(Track { times: once(clip.start), values, interpolation: linear });
            }
            if track.rotation.is_some() || track.translation.is_some() || track.scale.is_some() {
                joint_tracks.push(track);
            }
        }
        Clip { joint_tracks, morph_tracks: Vec::new(), ..clip.clone() }
    }

    /// Rotations of every match and the path of the root, frame by frame. `before` holds `A` per
    /// match; without it orientations are copied.
    fn resampled(&self, clip: &Clip, scale: f32, facing: Quat, before: Option<&[Quat]>) -> Clip {
        let matches = &self.pairing.matches;
        let times = frame_times(clip);
        let root = self.root();
        let floor = Vec3::Y * self.floor();
        let motion_floor = Vec3::Y * self.motion_floor(clip, &times);
        let mut rotations = vec![Vec::with_capacity(times.len()); matches.len()];
        let mut way = Vec::with_capacity(times.len());
        let mut motion_pose = Pose::rest(self.motion);
        let mut pose = Pose::rest(self.character);
        for &time in &times {
            clip.sample(time, &mut motion_pose);
            let moment = Moment::of(&self.motion.skeleton, &motion_pose);
            let mut world: Vec<(Affine3A, Quat)> = Vec::with_capacity(pose.local.len());
            for (joint, described) in self.character.skeleton.joints.iter().enumerate() {
                let (above, turned) =
                    described.parent.map_or((Affine3A::IDENTITY, Quat::IDENTITY), |p| world[p]);
                if let Some(index) = self.match_of[joint] {
                    let theirs = moment.rotation[matches[index].motion];
                    let ours = before.map_or(theirs, |corrections| {
                        let away = theirs * self.motion_rest.rotation[matches[index].motion].inverse();
                        facing * away * facing.inverse() * corrections[index] * self.rest.rotation[joint]
                    });
                    let local = (turned.inverse() * ours).normalize();
                    pose.local[joint].rotation = local;
                    rotations[index].push(local);
                    if index == root {
                        let point =
                            facing * (moment.point(matches[index].motion) - motion_floor) * scale + floor;
                        let local = above.inverse().transform_point3(point);
                        // A parent scaled to nothing leaves no way back.
                        let local = if local.is_finite() { local } else { described.rest.translation };
                        pose.local[joint].translation = local;
                        way.push(local);
                    }
                }
                let local: Transform = pose.local[joint];
                world.push((above * local.to_affine(), (turned * local.rotation).normalize()));
            }
        }
        let mut joint_tracks: Vec<JointTrack> = Vec::with_capacity(matches.len());
        for (found, values) in matches.iter().zip(rotations) {
            let rotation = Some(Track { times: times.clone(), values, interpolation: Interpolation::Linear });
            joint_tracks.push(JointTrack { joint: found.joint, rotation, ..JointTrack::default() });
        }
        joint_tracks[root].translation =
            Some(Track { times, values: way, interpolation: Interpolation::Linear });
        Clip { joint_tracks, morph_tracks: Vec::new(), ..clip.clone() }
    }

    /// Height of the floor under the character's meshes, or joints if it has none.
    fn floor(&self) -> f32 {
        let points = self.character.meshes.iter().flat_map(|mesh| {
            // Skinned positions are in the world already.
            let world_from_mesh =
                if mesh.skin().is_some() { Affine3A::IDENTITY } else { self.rest.world[mesh.joint] };
            mesh.positions.iter().map(move |&p| world_from_mesh.transform_point3(p).y)
        });
        let lowest_point = points.fold(f32::MAX, f32::min);
        let joints = self.pairing.matches.iter().map(|m| self.rest.point(m.joint).y);
        let lowest = if lowest_point < f32::MAX { lowest_point } else { joints.fold(f32::MAX, f32::min) };
        floor_below(lowest, leg_length(&self.pairing.bones, &self.rest))
    }

    /// Height of the floor the motion happens on, from its lowest joint over the clip.
    fn motion_floor(&self, clip: &Clip, times: &[f32]) -> f32 {
        let mut pose = Pose::rest(self.motion);
        let mut lowest = f32::MAX;
        for &time in times.iter().step_by(times.len().div_ceil(FLOOR_SAMPLES).max(1)) {
            clip.sample(time, &mut pose);
            let world = pose.world(&self.motion.skeleton);
            lowest =
                self.pairing.matches.iter().map(|m| world[m.motion].translation.y).fold(lowest, f32::min);
        }
        floor_below(lowest, leg_length(&self.pairing.motion_bones, &self.motion_rest))
    }
}

/// The floor is at height 0 unless the lowest point is more than a quarter of a leg from it, as in
/// files with the hips in the origin. The quarter is chosen, not tuned.
fn floor_below(lowest: f32, leg: Option<f32>) -> f32 {
    match leg {
        Some(leg) if lowest.is_finite() && lowest.abs() > 0.25 * leg => lowest,
        _ => 0.0,
    }
}

fn same_rotation(a: Transform, b: Transform) -> bool {
    a.rotation.angle_between(b.rotation) < 1e-4
}

/// Mean length from hip to knee to ankle.
fn leg_length(bones: &[Option<HumanoidBone>], moment: &Moment) -> Option<f32> {
    let mut lengths = [Side::Left, Side::Right].into_iter().filter_map(|side| {
        let point = |part| Some(moment.point(joint_of(bones, HumanoidBone { part, side })?));
        let (hip, knee, ankle) = (point(Part::UpperLeg)?, point(Part::LowerLeg)?, point(Part::Foot)?);
        Some(hip.distance(knee) + knee.distance(ankle))
    });
    let first = lengths.next()?;
    let mean = lengths.next().map_or(first, |second| 0.5 * (first + second));
    (mean > 0.0).then_some(mean)
}

/// Direction a figure faces: angle about the vertical from +Z, from where its left and right are.
fn heading(bones: &[Option<HumanoidBone>], moment: &Moment) -> Option<f32> {
    [Part::UpperLeg, Part::UpperArm].into_iter().find_map(|part| {
        let point = |side| Some(moment.point(joint_of(bones, HumanoidBone { part, side })?));
        let ahead = (point(Side::Left)? - point(Side::Right)?).cross(Vec3::Y);
        (ahead.length() > 0.0).then(|| ahead.x.atan2(ahead.z))
    })
}

/// Every frame of the clip, and its end.
fn frame_times(clip: &Clip) -> Vec<f32> {
    let fps = clip.fps.filter(|fps| fps.is_finite() && *fps > 0.0).unwrap_or(30.0);
    let frames = clip.frame_count(fps).min(MOST_FRAMES);
    let mut times: Vec<f32> = (0..frames).map(|f| clip.frame_time(f, fps)).collect();
    // Far from zero single precision may not tell neighbouring frames apart.
    times.dedup_by(|next, last| *next <= *last);
    if times.last().is_some_and(|&last| clip.end - last > 0.01 / fps) {
        times.push(clip.end);
    }
    times
}

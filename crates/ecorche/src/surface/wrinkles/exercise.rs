//! The poses that tell how skin folds: the exercise of the range of motion, and clips that are named.

use super::WrinkleError;
use super::compression::Compression;
use crate::character::motion::{farthest_turns, range_of_motion};
use crate::character::{Character, Clip, Pose};
use crate::geom::TriMesh;
use crate::skinning::{self, Skinner, Surface};
use glam::{DVec3, Quat, Vec3};

/// The poses that tell where skin is compressed.
pub(super) struct Exercise<'a> {
    pub character: &'a Character,
    pub surface: &'a Surface,
    skinner: &'a Skinner,
    poses: Vec<Pose>,
}

/// Poses of a clip that count, evenly spaced.
const POSES_PER_CLIP: usize = 24;

impl<'a> Exercise<'a> {
    /// Where the exercise of the range of motion turns joints farthest, and poses of the clips that are named.
    pub fn new(
        character: &'a Character,
        surface: &'a Surface,
        skinner: &'a Skinner,
        clips: &[String],
    ) -> Result<Self, WrinkleError> {
        let mut poses = Vec::new();
        let mut add = |clip: &Clip, time: f32| {
            let mut pose = Pose::rest(character);
            clip.sample(time, &mut pose);
            poses.push(pose);
        };
        if let Some(range) = range_of_motion(character) {
            farthest_turns(&range).into_iter().for_each(|time| add(&range, time));
        }
        for name in clips {
            let clip = character.clip(name).ok_or_else(|| no_clip(name, character))?;
            for k in 0..POSES_PER_CLIP {
                let share = (k as f32 + 0.5) / POSES_PER_CLIP as f32;
                add(clip, clip.start + share * (clip.end - clip.start));
            }
        }
        Ok(Self { character, surface, skinner, poses })
    }

    /// How `joint` bends against `parent` in the pose that compresses the skin of `of` most; `None` if none bends it by 20 degrees.
    /// Turns about `along`, the limb, are twist and no bends.
    pub fn strongest_bend(
        &self,
        [parent, joint]: [usize; 2],
        along: Vec3,
        of: impl Fn(usize) -> bool,
    ) -> Option<Quat> {
        let rest = &self.surface.mesh;
        let corners = rest.triangles.iter().enumerate().filter(|(_, t)| t.iter().all(|&v| of(v as usize)));
        let own: Vec<usize> = corners.map(|(t, _)| t).collect();
        let triangles = own.iter().map(|&t| rest.triangles[t]).collect();
        let part = TriMesh { positions: rest.positions.clone(), triangles };
        let mut positions = vec![Vec3::ZERO; rest.positions.len()];
        let mut workspace = skinning::Workspace::default();
        let mut best: Option<(f64, Quat)> = None;
        for pose in &self.poses {
            let posed = self.surface.posed_from_rest(self.character, pose);
            let [above, below] = [parent, joint].map(|j| Quat::from_mat3a(&posed[j].matrix3).normalize());
            let turn = above.inverse() * below;
            let turn = if turn.w < 0.0 { -turn } else { turn };
            let (axis, angle) = turn.to_axis_angle();
            if angle.to_degrees() < 20.0 || axis.dot(along).abs() > std::f32::consts::FRAC_1_SQRT_2 {
                continue;
            }
            self.skinner.skin(&posed, &rest.positions, &mut positions, &mut workspace);
            let mut compression = Compression::new(&part);
            compression.add(&part, &positions);
            let sum: f64 = (0..own.len()).map(|t| compression.most(t)).sum();
            if best.is_none_or(|(most, _)| sum > most) {
                best = Some((sum, turn));
            }
        }
        best.map(|(_, turn)| turn)
    }

    /// Compression of the skin over the poses, except along the lines that are taken.
    pub fn compression(&self, taken: &[Vec<DVec3>]) -> Compression {
        let rest = &self.surface.mesh;
        let mut compression = Compression::beside(rest, taken);
        let mut positions = vec![Vec3::ZERO; rest.positions.len()];
        let mut workspace = skinning::Workspace::default();
        for pose in &self.poses {
            let posed = self.surface.posed_from_rest(self.character, pose);
            self.skinner.skin(&posed, &rest.positions, &mut positions, &mut workspace);
            compression.add(rest, &positions);
        }
        compression
    }
}

fn no_clip(name: &str, character: &Character) -> WrinkleError {
    let names: Vec<&str> = character.clips.iter().map(|clip| clip.name.as_str()).collect();
    let known = if names.is_empty() {
        "it has none; leave it out".to_owned()
    } else {
        format!("name one of {}", names.join(", "))
    };
    WrinkleError::NoClip { clip: name.to_owned(), known }
}

//! Where in a clip a page is.

use ecorche::character::{Character, Clip, Pose};
use ecorche::sampling::DEFAULT_FPS;
use glam::Vec3;
use std::time::Instant;

/// How far joints may be from where they were for a clip to be a cycle, in sizes of the character: runs that were
/// captured close to 0.01, a step forward is 0.2.
const SEAM: f32 = 0.02;

/// Moments of a clip that are looked at to tell how far it reaches.
const LOOKS: usize = 24;

/// A clip with its frames.
#[derive(Clone, Copy, Debug)]
pub struct Reel<'a> {
    clip: Option<&'a Clip>,
    /// Frames per second.
    pub fps: f32,
    /// Number of the last frame.
    pub last: usize,
}

impl<'a> Reel<'a> {
    /// The clip called `name`; the rest pose without one.
    pub fn new(character: &'a Character, name: Option<&str>) -> Self {
        let clip = name.and_then(|name| character.clip(name));
        let fps = clip.and_then(|c| c.fps).unwrap_or(DEFAULT_FPS);
        Self { clip, fps, last: clip.map_or(0, |c| c.frame_count(fps) - 1) }
    }

    /// Moment of a frame, whole or not, seconds: for whole ones what a bake takes.
    pub fn time(&self, at: f64) -> f32 {
        self.clip.map_or(0.0, |c| (f64::from(c.start) + at / f64::from(self.fps)) as f32)
    }

    /// The pose at a frame.
    pub fn sample(&self, at: f64, pose: &mut Pose) {
        if let Some(clip) = self.clip {
            clip.sample(self.time(at), pose);
        }
    }

    /// Whether it ends in the pose it starts with, so that muscles can swing on when it repeats.
    pub fn is_cycle(&self, character: &Character) -> bool {
        let [first, last] = [0.0, self.last as f64].map(|at| {
            let mut pose = Pose::rest(character);
            self.sample(at, &mut pose);
            pose.world(&character.skeleton)
        });
        let near = SEAM * character.size();
        self.last > 0 && first.iter().zip(&last).all(|(a, b)| a.translation.distance(b.translation) < near)
    }

    /// The box that joints stay in, its low and its high corner; sideways relative to the first joint that branches.
    pub fn reach(&self, character: &Character) -> [Vec3; 2] {
        let skeleton = &character.skeleton;
        let mut children = vec![0; skeleton.len()];
        skeleton.joints.iter().filter_map(|joint| joint.parent).for_each(|parent| children[parent] += 1);
        let hub = (0..skeleton.len()).find(|&j| skeleton.joints[j].in_skin && children[j] > 1).unwrap_or(0);
        let mut pose = Pose::rest(character);
        let moments = self.last.clamp(1, LOOKS);
        let mut corners: Option<[Vec3; 2]> = None;
        for k in 0..=moments {
            self.sample(self.last as f64 * k as f64 / moments as f64, &mut pose);
            let world = pose.world(skeleton);
            let sideways = world.get(hub).map_or(Vec3::ZERO, |m| Vec3::from(m.translation).with_y(0.0));
            for (m, _) in world.iter().zip(&skeleton.joints).filter(|(_, joint)| joint.in_skin) {
                let place = Vec3::from(m.translation) - sideways;
                let [low, high] = corners.unwrap_or([place; 2]);
                corners = Some([low.min(place), high.max(place)]);
            }
        }
        corners.unwrap_or_default()
    }

    /// A moment within the clip: `at` itself, or where it is when the clip repeats or ends.
    pub fn within(&self, at: f64, repeat: bool) -> f64 {
        let last = self.last as f64;
        if !at.is_finite() || last == 0.0 {
            0.0
        } else if (0.0..=last).contains(&at) {
            at
        } else if repeat {
            at.rem_euclid(last)
        } else {
            at.clamp(0.0, last)
        }
    }
}

/// A clock that runs or is stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Frame at `since`.
    at: f64,
    since: Instant,
    /// Frames per second; 0 when stopped.
    rate: f64,
}

impl Clock {
    /// Stopped at the start.
    pub fn new(now: Instant) -> Self {
        Self { at: 0.0, since: now, rate: 0.0 }
    }

    /// The frame at `now`.
    pub fn read(&self, now: Instant) -> f64 {
        self.at + self.rate * now.saturating_duration_since(self.since).as_secs_f64()
    }

    /// Continues at another rate, from `at` or from where it is.
    pub fn set(&mut self, now: Instant, at: Option<f64>, rate: f64) {
        *self = Self { at: at.unwrap_or_else(|| self.read(now)), since: now, rate };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_clock_goes_on_where_it_stood() {
        let start = Instant::now();
        let second = |s: u64| start + Duration::from_secs(s);
        let mut clock = Clock::new(start);
        clock.set(start, Some(5.0), 30.0);
        assert_eq!(clock.read(second(2)), 65.0);
        clock.set(second(2), None, 0.0);
        assert_eq!(clock.read(second(9)), 65.0);
        clock.set(second(9), None, 10.0);
        assert_eq!(clock.read(second(10)), 75.0);
    }

    #[test]
    fn a_run_is_a_cycle_and_half_of_it_is_not() {
        let athlete = ecorche::samples::build("athlete?resolution=5000").unwrap();
        assert!(Reel::new(&athlete, Some("run")).is_cycle(&athlete));
        let still = Reel::new(&athlete, None);
        assert!(!still.is_cycle(&athlete));
        let mut half = athlete.clone();
        let run = half.clips.iter_mut().find(|clip| clip.name == "run").unwrap();
        run.end = 0.5 * (run.start + run.end);
        assert!(!Reel::new(&half, Some("run")).is_cycle(&half));
    }

    #[test]
    fn a_squat_reaches_as_high_as_it_begins_wherever_it_happens() {
        let athlete = ecorche::samples::build("athlete?resolution=5000").unwrap();
        let [low, high] = Reel::new(&athlete, Some("squat")).reach(&athlete);
        let [still_low, still_high] = Reel::new(&athlete, None).reach(&athlete);
        assert!((high.y - still_high.y).abs() < 0.1 && (low.y - still_low.y).abs() < 0.1);
        let [run_low, run_high] = Reel::new(&athlete, Some("run")).reach(&athlete);
        assert!(
            (run_high - run_low).max_element() < 1.2 * athlete.size(),
            "the way it runs is not part of it"
        );
        let mut away = athlete.clone();
        away.skeleton.joints.truncate(0);
        away.clips.clear();
        assert_eq!(Reel::new(&away, None).reach(&away), [Vec3::ZERO; 2]);
    }

    #[test]
    fn whole_frames_are_the_moments_a_bake_takes() {
        let character = ecorche::samples::build("cylinder").unwrap();
        let clip = &character.clips[0];
        let reel = Reel::new(&character, Some(&clip.name));
        for frame in 0..=reel.last {
            assert_eq!(reel.time(frame as f64), clip.frame_time(frame, reel.fps));
        }
        let last = reel.last as f64;
        assert_eq!(reel.within(last + 1.5, true), 1.5);
        assert_eq!(reel.within(last + 1.5, false), last);
        assert_eq!(reel.within(f64::NAN, true), 0.0);
        assert_eq!(Reel::new(&character, None).within(7.0, true), 0.0);
    }
}

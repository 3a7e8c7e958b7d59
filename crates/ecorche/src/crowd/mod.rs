//! Many characters at once: what they share is held once, each has only its pose and its frame.
//!
//! ```
//! use ecorche::crowd::{Crowd, Detail, Instance};
//! use ecorche::deform::{Body, Stack};
//! use std::sync::Arc;
//!
//! let tube = Arc::new(ecorche::samples::build("cylinder")?);
//! let body = Body::bind(tube, Stack::linear(), None)?;
//! let one = Instance { clip: Some(0), ..Instance::default() };
//! let other = Instance { offset: 0.5, place: glam::Affine3A::from_translation(glam::Vec3::X), ..one };
//! let mut crowd = Crowd::new(vec![body], vec![one, other], Detail::default())?;
//! let report = crowd.frame(0.25, None);
//! assert_eq!(report.levels, [2, 0, 0]);
//! assert_ne!(crowd.members()[0].frame.meshes, crowd.members()[1].frame.meshes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! Threads go over instances, so that each is made by one thread; results do not depend on how many there are.
//! [`scene`] reads crowds from a file.

mod picture;
pub mod scene;
#[cfg(test)]
mod tests;
mod write;

pub use picture::picture;
pub use scene::{Scene, SceneError};
pub use write::{Writer, rest_mesh};

use crate::character::{Clip, Pose};
use crate::deform::{Body, How, Workspace};
use crate::frame::Frame;
use glam::{Affine3A, Vec3};
use rayon::prelude::*;
use std::sync::Mutex;

/// One of a crowd.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    /// Index of its body.
    pub body: usize,
    /// Index of its clip, which is repeated; `None` for the rest pose.
    pub clip: Option<usize>,
    /// Seconds by which it is ahead of the crowd's time.
    pub offset: f32,
    /// World from the character's own space.
    pub place: Affine3A,
    /// Least activation of all its parametric muscles, 0 to 1.
    pub tension: f32,
}

impl Default for Instance {
    fn default() -> Self {
        Self { body: 0, clip: None, offset: 0.0, place: Affine3A::IDENTITY, tension: 0.0 }
    }
}

impl Instance {
    /// Its clip; `None` without one, and where its body has none of that number.
    pub fn clip_of<'a>(&self, body: &'a Body) -> Option<&'a Clip> {
        body.character().clips.get(self.clip?)
    }

    /// Its pose at a time of the crowd, seconds; `pose` is one of its body's. Returns the moment of its clip, or `time`
    /// without one.
    pub fn sample(&self, body: &Body, time: f32, pose: &mut Pose) -> f32 {
        let Some(clip) = self.clip_of(body) else { return time };
        let moment = clip.start + wrapped(time + self.offset, clip.length());
        clip.sample(moment, pose);
        moment
    }
}

/// Up to which distance from the eye instances are deformed how, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detail {
    /// With everything its body was bound for.
    pub full: f32,
    /// By skinning, without parametric muscles. Beyond, instances stay as they are.
    pub skinning: f32,
}

impl Default for Detail {
    /// Everything for all.
    fn default() -> Self {
        Self { full: f32::INFINITY, skinning: f32::INFINITY }
    }
}

/// How an instance was deformed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// With everything.
    #[default]
    Full,
    /// By skinning.
    Skinning,
    /// Not at all: its frame is an earlier one.
    None,
}

/// An instance as it is now.
#[derive(Clone, Debug, Default)]
pub struct Member {
    /// In the character's own space; [`Instance::place`] takes it to the world.
    pub frame: Frame,
    /// How it was made.
    pub level: Level,
    pose: Pose,
    /// The body that the pose is of.
    body: usize,
}

/// What was done for a frame of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct CrowdReport {
    /// Instances of each level: full, skinning, none.
    pub levels: [usize; 3],
    /// Parametric muscles that were moved.
    pub muscles: usize,
    /// Parametric muscles whose length or volume was clamped.
    pub clamped: usize,
    /// Vertices that fell back to a simpler position.
    pub fell_back: usize,
}

/// An instance that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("instance {}: {what}", instance + 1)]
pub struct CrowdError {
    /// Which, counted from 0.
    pub instance: usize,
    /// What, and what to do about it.
    pub what: String,
}

/// A crowd that plays.
#[derive(Debug)]
pub struct Crowd {
    bodies: Vec<Body>,
    instances: Vec<Instance>,
    detail: Detail,
    members: Vec<Member>,
    /// Scratch of each body, as many as threads needed one at a time.
    scratch: Vec<Mutex<Vec<Workspace>>>,
}

impl Crowd {
    /// Instances of bodies; an error for one that names a body or a clip that is not there, or a number that is not finite.
    pub fn new(bodies: Vec<Body>, instances: Vec<Instance>, detail: Detail) -> Result<Self, CrowdError> {
        for (k, instance) in instances.iter().enumerate() {
            let wrong = |what: String| Err(CrowdError { instance: k, what });
            let Some(body) = bodies.get(instance.body) else {
                return wrong(format!("no body {}; there are {}", instance.body, bodies.len()));
            };
            let clips = body.character().clips.len();
            if instance.clip.is_some_and(|clip| clip >= clips) {
                return wrong(format!("no clip {}; its character has {clips}", instance.clip.unwrap_or(0)));
            }
            if !(instance.place.is_finite() && instance.offset.is_finite()) {
                return wrong("place and offset must be finite numbers".to_owned());
            }
            if !(0.0..=1.0).contains(&instance.tension) {
                return wrong(format!("tension {} must be from 0 to 1", instance.tension));
            }
        }
        let member = |instance: &Instance| Member {
            pose: Pose::rest(bodies[instance.body].character()),
            body: instance.body,
            ..Member::default()
        };
        let members = instances.iter().map(member).collect();
        let scratch = bodies.iter().map(|_| Mutex::default()).collect();
        Ok(Self { members, scratch, bodies, instances, detail })
    }

    /// Deforms all of them for a moment, seconds. `eye`: where they are seen from, world; `None` gives all full detail. After
    /// a few frames it asks for no more memory, where bodies have neither tracking nor layers on the surface.
    pub fn frame(&mut self, time: f32, eye: Option<Vec3>) -> CrowdReport {
        let Self { bodies, instances, detail, members, scratch } = self;
        members.par_iter_mut().zip(&*instances).with_max_len(1).for_each(|(member, instance)| {
            member.level = detail.level(instance, eye);
            if member.level == Level::None && !member.frame.meshes.is_empty() {
                return;
            }
            let (Some(body), Some(pool)) = (bodies.get(instance.body), scratch.get(instance.body)) else {
                return;
            };
            if member.body != instance.body {
                (member.body, member.pose) = (instance.body, Pose::rest(body.character()));
            }
            let moment = instance.sample(body, time, &mut member.pose);
            // A thread that panicked left nothing half done in the pool: it holds whole workspaces only.
            let taken = pool.lock().unwrap_or_else(|poison| poison.into_inner()).pop();
            let mut workspace = taken.unwrap_or_default();
            let clip = instance.clip_of(body).map(|clip| clip.name.as_str());
            let how = How { clip, tension: instance.tension, bare: member.level != Level::Full, alone: true };
            body.deform_as(&member.pose, moment, how, &mut workspace, &mut member.frame);
            pool.lock().unwrap_or_else(|poison| poison.into_inner()).push(workspace);
        });
        let mut report = CrowdReport::default();
        for member in members {
            report.levels[member.level as usize] += 1;
            if member.level != Level::None {
                let moved = member.frame.report.parametric.unwrap_or_default();
                report.muscles += moved.muscles;
                report.clamped += moved.clamped;
                report.fell_back += member.frame.report.fell_back;
            }
        }
        report
    }

    /// The instances as they are now, in order.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// What they were made of.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// To change places, tensions and clips between frames. Tension outside 0 to 1 is clamped when used, a clip that is not there
    /// leaves the pose as it is, and an instance of a body that is not there keeps its last frame.
    pub fn instances_mut(&mut self) -> &mut [Instance] {
        &mut self.instances
    }

    /// Up to which distance they are deformed how.
    pub fn detail(&self) -> Detail {
        self.detail
    }

    /// The bodies that instances share.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The body of an instance.
    pub fn body(&self, instance: usize) -> &Body {
        &self.bodies[self.instances[instance].body]
    }
}

impl Detail {
    /// How to deform an instance that is seen from `eye`, world; [`Level::Full`] without one.
    pub fn level(&self, instance: &Instance, eye: Option<Vec3>) -> Level {
        let Some(eye) = eye else { return Level::Full };
        let distance = eye.distance(instance.place.translation.into());
        match distance {
            d if d <= self.full => Level::Full,
            d if d <= self.skinning => Level::Skinning,
            _ => Level::None,
        }
    }
}

/// A time within `[0, length)`; 0 for a clip without length.
fn wrapped(time: f32, length: f32) -> f32 {
    if length > 0.0 && time.is_finite() { time.rem_euclid(length) } else { 0.0 }
}

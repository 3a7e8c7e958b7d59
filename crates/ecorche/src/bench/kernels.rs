//! Small pieces of work of fixed size: what a frame is made of, to be timed and counted alone.
//!
//! Everything is made by code and does the same in every run, so that instructions can be counted and compared.

use crate::character::{Character, Pose};
use crate::deform::{self, Body, Stack};
use crate::field::{CompactHrbf, Composition, Field, Grid, GridSettings, Sample, SurfaceSample, hrbf};
use crate::frame::Frame;
use crate::muscle::definition::{Attachment, BodyDef, MuscleDef, Side};
use crate::muscle::{self, Musculature};
use crate::samples::cylinder::{self, CylinderSettings};
use crate::skinning::{self, Skinner};
use glam::Vec3;
use std::path::Path;
use std::sync::Arc;

/// A piece of work.
pub struct Kernel {
    /// A word for it.
    pub name: &'static str,
    /// What it does how often, e.g. "4096 samples".
    pub amount: String,
    work: Box<dyn FnMut() -> f32 + Send>,
}

impl Kernel {
    /// Does the work once; the result says nothing but that it was done.
    pub fn run(&mut self) -> f32 {
        (self.work)()
    }
}

/// Names of all kernels.
pub const NAMES: [&str; 7] = ["grid", "hrbf", "operator", "linear", "dual-quaternion", "muscles", "track"];

/// The kernel of that name, ready to run; `None` if there is none.
pub fn kernel(name: &str) -> Option<Kernel> {
    let name = *NAMES.iter().find(|own| **own == name)?;
    let (amount, work) = match name {
        "grid" => grid(),
        "hrbf" => exact(),
        "operator" => operator(),
        "linear" => skin(skinning::Skinning::Linear),
        "dual-quaternion" => skin(skinning::Skinning::DualQuaternion),
        "muscles" => muscles(),
        _ => track(),
    };
    Some(Kernel { name, amount, work })
}

type Work = (String, Box<dyn FnMut() -> f32 + Send>);

/// Evenly spread points of an ellipsoid as long as a thigh, with normals.
pub(super) fn ellipsoid(count: usize) -> Vec<SurfaceSample> {
    let radii = Vec3::new(0.06, 0.15, 0.06);
    let golden_angle = std::f32::consts::PI * (3.0 - 5.0f32.sqrt());
    (0..count)
        .map(|i| {
            let y = 1.0 - 2.0 * (i as f32 + 0.5) / count as f32;
            let (sine, cosine) = (golden_angle * i as f32).sin_cos();
            let on_sphere = Vec3::new(cosine * (1.0 - y * y).sqrt(), y, sine * (1.0 - y * y).sqrt());
            SurfaceSample { position: on_sphere * radii, normal: (on_sphere / radii).normalize() }
        })
        .collect()
}

fn field(samples: usize) -> CompactHrbf {
    match hrbf::fit(&ellipsoid(samples), 0.06) {
        Ok(hrbf) => CompactHrbf::new(hrbf, 0.06),
        Err(error) => unreachable!("points of an ellipsoid are a surface: {error}"),
    }
}

fn samples_of(field: impl Field + 'static, count: usize) -> Work {
    let points = super::fields::points(count);
    let work = move || points.iter().map(|&p| field.sample(p).value).sum();
    (format!("{count} samples"), Box::new(work))
}

fn grid() -> Work {
    match Grid::bake(&field(64), &GridSettings { resolution: 24 }) {
        Ok(grid) => samples_of(grid, 4096),
        Err(error) => unreachable!("24 cells are allowed: {error}"),
    }
}

fn exact() -> Work {
    samples_of(field(64), 512)
}

fn operator() -> Work {
    let Some(contact) = Composition::by_name("contact") else { unreachable!("contact is an operator") };
    let sample = |i: usize, turn: f32| {
        let (sine, cosine) = (turn * i as f32).sin_cos();
        Sample { value: 0.5 + 0.4 * sine, gradient: Vec3::new(cosine, sine, 0.3) }
    };
    let pairs: Vec<[Sample; 2]> = (0..4096).map(|i| [sample(i, 0.37), sample(i, 0.73)]).collect();
    let work = move || pairs.iter().map(|[a, b]| contact.join(*a, *b).value).sum();
    ("4096 pairs".to_owned(), Box::new(work))
}

fn bent_tube(segments: usize, rings: usize) -> (Arc<Character>, Pose) {
    let tube = cylinder::build(&CylinderSettings { segments, rings, ..CylinderSettings::default() });
    let mut pose = Pose::rest(&tube);
    if let Some(clip) = tube.clip("bend") {
        clip.sample(0.5 * (clip.start + clip.end), &mut pose);
    }
    (Arc::new(tube), pose)
}

fn skin(method: skinning::Skinning) -> Work {
    let (tube, pose) = bent_tube(48, 64);
    let world = pose.world(&tube.skeleton);
    let skinner = Skinner::new(&tube.meshes[0], method);
    let mut out = vec![Vec3::ZERO; tube.meshes[0].positions.len()];
    let mut workspace = skinning::Workspace::default();
    let amount = format!("{} vertices", out.len());
    let work = move || {
        skinner.skin(&world, &tube.meshes[0].positions, &mut out, &mut workspace);
        out[0].x
    };
    (amount, Box::new(work))
}

fn muscles() -> Work {
    let (tube, pose) = bent_tube(8, 8);
    let definition = (0..6).map(|k| {
        let (sine, cosine) = (k as f32 * std::f32::consts::TAU / 6.0).sin_cos();
        let at = |bone: &str, y: f32| Attachment {
            bone: bone.into(),
            at: Vec3::new(0.05 * cosine, y, 0.05 * sine),
        };
        let ends = [at("lower", 0.1), at("upper", 0.3)].map(Into::into);
        let [origin, insertion] = ends;
        MuscleDef {
            particles: 30,
            ..MuscleDef::new(&format!("muscle {k}"), Side::Middle, origin, insertion, 0.02)
        }
    });
    let body = BodyDef { muscle: definition.collect(), ..BodyDef::default() };
    let bind = Pose::rest(&tube).world(&tube.skeleton);
    let musculature = match Musculature::new(&body, &tube.skeleton, &bind, Path::new("."), Vec::new()) {
        Ok(musculature) => musculature,
        Err(error) => unreachable!("the tube has these bones: {error}"),
    };
    let start = musculature.at_rest(&bind);
    let world = pose.world(&tube.skeleton);
    let mut workspace = muscle::Workspace::default();
    let settings = muscle::Settings::default();
    let work = move || {
        let mut state = start.clone();
        musculature.step(&mut state, &world, &[], 1.0 / 24.0, &settings, &mut workspace).deepest as f32
    };
    ("6 muscles of 30 particles, one frame".to_owned(), Box::new(work))
}

fn track() -> Work {
    let (tube, pose) = bent_tube(24, 24);
    let vertices = tube.meshes[0].positions.len();
    let body = Body::bind(tube, Stack::implicit(), None).expect("the implicit stack is never refused");
    let mut workspace = deform::Workspace::default();
    let mut frame = Frame::default();
    let work = move || {
        body.deform_into(&pose, 0.0, None, &mut workspace, &mut frame);
        frame.meshes[0].positions[0].x
    };
    (format!("{vertices} vertices, one frame"), Box::new(work))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_do_the_same_every_time() {
        for name in NAMES {
            let mut kernel = kernel(name).unwrap();
            let first = kernel.run();
            assert!(first.is_finite() && kernel.run() == first, "{name}: {first}");
            assert_eq!(kernel.name, name);
        }
        assert!(kernel("sleep").is_none());
    }
}

//! What lies under the skin, drawn: muscles, tendons, bones, fat, attachments.

use crate::dynamics::{self, Keep};
use crate::geom::{TriMesh, tube};
use crate::muscle::{DrawnSurface, FatPad, Flesh, Musculature};
use crate::output::Colour;
use crate::output::colour::ColourMap;
use crate::output::legend::Legend;
use crate::output::raster::{self, Dots, Scene, Surface, shapes};
use glam::{DVec3, Vec3};
use std::f64::consts::TAU;
use std::fmt;
use std::str::FromStr;

/// What the colour of a muscle says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MuscleColour {
    /// How active it is, from pale to red.
    #[default]
    Activation,
    /// How tense it is, by a scale in newtons.
    Tension,
}

/// A name that is none of the colours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("muscles are not coloured by \"{0}\"; choose activation or tension")]
pub struct UnknownColour(String);

impl FromStr for MuscleColour {
    type Err = UnknownColour;

    fn from_str(name: &str) -> Result<Self, UnknownColour> {
        match name {
            "activation" => Ok(Self::Activation),
            "tension" => Ok(Self::Tension),
            _ => Err(UnknownColour(name.to_owned())),
        }
    }
}

impl fmt::Display for MuscleColour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Activation => "activation",
            Self::Tension => "tension",
        })
    }
}

/// How muscles are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuscleLook {
    /// What their colour says.
    pub colour: MuscleColour,
    /// How much of the skin is seen; 0 takes it off.
    pub skin: f32,
}

impl Default for MuscleLook {
    fn default() -> Self {
        Self { colour: MuscleColour::Activation, skin: 0.22 }
    }
}

/// Vertices around a muscle.
const AROUND: usize = 18;
/// Radius of a tendon over the mean radius of its muscle.
const TENDON: f64 = 0.16;
/// Share of the largest thickness below which a muscle is all tendon, and above which it is all flesh.
const FLESHY: [f64; 2] = [0.12, 0.4];
/// A muscle without activation, and with all of it.
const SLACK: u32 = 0xB0716B;
const TENSE: u32 = 0xD0231A;
/// Where muscles hold on.
const ATTACHMENT: u32 = 0x3E5C76;

/// Largest tension among what is shown, newtons.
pub(super) fn largest_tension<'f>(flesh: impl Iterator<Item = &'f Flesh>) -> f32 {
    flesh.flat_map(|f| &f.muscles).fold(1.0, |most, m| most.max(m.tension as f32))
}

/// The scale of tensions.
pub(super) fn legend(largest: f32) -> Legend {
    Legend::new("tension", "N", [0.0, largest], ColourMap::Sequential, &[])
}

/// Adds everything under the skin to a scene.
pub(super) fn add(scene: &mut Scene<'_>, body: &Musculature, flesh: &Flesh, look: MuscleLook, largest: f32) {
    for posed in &flesh.muscles {
        let DrawnSurface { mesh, thickness } = posed.shape.surface(AROUND, TENDON);
        let surface = Surface::new(mesh.positions, mesh.triangles);
        let flesh_colour = match look.colour {
            MuscleColour::Activation => {
                Colour::hex(SLACK).mix(Colour::hex(TENSE), posed.shape.activation() as f32)
            }
            MuscleColour::Tension => ColourMap::Sequential.at(posed.tension as f32 / largest),
        };
        let tendon = Colour::hex(raster::BONE);
        let thickest = thickness.iter().copied().fold(1e-12, f64::max);
        let fleshy = |t: f64| ((t / thickest - FLESHY[0]) / (FLESHY[1] - FLESHY[0])).clamp(0.0, 1.0) as f32;
        let colours: Vec<Colour> = thickness.iter().map(|&t| tendon.mix(flesh_colour, fleshy(t))).collect();
        scene.surfaces.push(Surface { gloss: 0.5, ..surface.colours(colours) });
    }
    for pad in &flesh.fat {
        let mesh = ellipsoid(&pad.field);
        let surface = Surface::new(mesh.positions, mesh.triangles).colour(Colour::hex(raster::FAT));
        scene.surfaces.push(surface.alpha(0.55));
    }
    let mut bones = TriMesh::default();
    for obstacle in body.system().obstacles().iter().filter(|o| o.keep == Keep::Outside) {
        let Some(frame) = flesh.frames.get(obstacle.frame) else { continue };
        if let dynamics::Shape::Capsule { ends, radius } = &obstacle.shape {
            shapes::append(&mut bones, &bone(ends.map(|p| frame.point(p)), *radius));
        }
    }
    for (joint, surface) in body.bone_surfaces() {
        let Some(frame) = flesh.frames.get(*joint) else { continue };
        let mut posed = surface.clone();
        posed.positions.iter_mut().for_each(|p| *p = frame.point(p.as_dvec3()).as_vec3());
        shapes::append(&mut bones, &posed);
    }
    scene.surfaces.push(Surface::new(bones.positions, bones.triangles).colour(Colour::hex(raster::BONE)));
    let ends = flesh.muscles.iter().flat_map(|m| [0.0, 1.0].map(|s| m.shape.place(s).0.as_vec3()));
    scene.dots.push(Dots {
        points: ends.collect(),
        width: 3.0,
        colour: Colour::hex(ATTACHMENT),
        alpha: 0.9,
        lift: 0.004,
    });
}

/// A bone: thin in the middle, thick at both ends.
fn bone([start, end]: [DVec3; 2], radius: f64) -> TriMesh {
    const RINGS: usize = 15;
    let Some(along) = (end - start).try_normalize() else { return TriMesh::default() };
    let (u, v) = along.any_orthonormal_pair();
    let mut mesh = TriMesh::default();
    for i in 0..RINGS {
        let t = i as f64 / (RINGS - 1) as f64;
        let from_middle = (2.0 * t - 1.0).abs();
        // Round at the very ends.
        let round = (1.0 - ((from_middle - 0.9).max(0.0) / 0.1).powi(2)).max(0.0).sqrt();
        let reach = radius * (0.8 + 0.9 * from_middle.powi(6)) * round;
        for k in 0..AROUND {
            let (sine, cosine) = (TAU * k as f64 / AROUND as f64).sin_cos();
            mesh.positions.push((start.lerp(end, t) + reach * (cosine * u + sine * v)).as_vec3());
        }
    }
    mesh.triangles.extend(tube::sides(RINGS, AROUND));
    mesh
}

fn ellipsoid(pad: &FatPad) -> TriMesh {
    let mut mesh = shapes::ball(Vec3::ZERO, 1.0, 4);
    for p in &mut mesh.positions {
        *p = pad.world_from_pad.point(p.as_dvec3() * pad.radii).as_vec3();
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bone_has_a_volume() {
        assert!(bone([DVec3::ZERO, DVec3::Y], 0.01).volume() > 0.0);
    }

    #[test]
    fn colours_read_as_written() {
        for colour in [MuscleColour::Activation, MuscleColour::Tension] {
            assert_eq!(colour.to_string().parse(), Ok(colour));
        }
        assert!("mood".parse::<MuscleColour>().unwrap_err().to_string().contains("activation"));
    }
}

//! Muscles and fat as a page draws them: strands, around which the graphics card puts tubes, and ellipsoids.

use crate::drawn::Cube;
use crate::wire::wire;
use ecorche::anatomy::{Anatomy, BindFrames};
use ecorche::character::Character;
use ecorche::muscle::definition::Side;
use ecorche::muscle::{BuildError, Flesh, Musculature, Ring, Shape};
use glam::{Affine3A, DMat3, Vec3};
use serde::Serialize;
use std::path::Path;

wire! {
    /// The muscle or fat pad that a strand or an ellipsoid belongs to.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Owner {
        /// The name in the anatomy.
        pub name: String,
        /// The side.
        pub side: Side,
    }
}

wire! {
    /// The owners of strands and pads, in the order of their numbers.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    pub struct Owners {
        /// Of the strands.
        pub muscles: Vec<Owner>,
        /// Of the pads.
        pub fat: Vec<Owner>,
        /// Rings of every strand.
        pub rings: usize,
    }
}

/// Muscles and fat in one moment, as numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strands {
    /// Eight numbers per ring (place, thickness, wide direction, half axis across it), [`Owners::rings`] rings per
    /// strand; shorter ones repeat their last.
    pub rings: Vec<f32>,
    /// Activation (0 to 1), tension (newtons) and length over that at bind of each strand.
    pub states: Vec<f32>,
    /// World from the unit ball, sixteen numbers per pad, column by column.
    pub pads: Vec<f32>,
}

/// Numbers of a ring.
const RING: usize = 8;

impl Strands {
    /// The rings in 16 bits a number: places and thicknesses relative to the cube, directions from -1 to 1.
    pub fn rounded(&self, numbers: &mut Vec<u16>) -> Cube {
        let (rings, _) = self.rings.as_chunks::<RING>();
        let cube = Cube::around(rings.iter().map(|ring| Vec3::from_slice(ring)));
        let whole = f32::from(u16::MAX);
        numbers.clear();
        numbers.reserve(self.rings.len());
        for ring in rings {
            let [x, y, z] = cube.round(Vec3::from_slice(ring));
            let thickness = (ring[3] / cube.side * whole + 0.5) as u16;
            let [a, b, c] = [4, 5, 6].map(|k| ((0.5 * ring[k] + 0.5) * whole + 0.5) as u16);
            numbers.extend([x, y, z, thickness, a, b, c, (ring[7] * whole + 0.5) as u16]);
        }
        cube
    }
}

/// The muscles and fat of an anatomy on a character whose body has none.
#[derive(Debug)]
pub struct Cast(Musculature);

impl Cast {
    /// Builds the muscles on the skeleton. Surfaces of bones are in `folder`.
    pub fn new(anatomy: &Anatomy, character: &Character, folder: &Path) -> Result<Self, BuildError> {
        let bind = BindFrames::of(character).bind_from_bone;
        let body = anatomy.in_full(character);
        Ok(Self(Musculature::new(&body, &character.skeleton, &bind, folder, Vec::new())?))
    }

    /// Muscles and fat come to rest in a pose.
    pub fn settle(&self, world_from_joint: &[Affine3A]) -> (&Musculature, Flesh) {
        (&self.0, self.0.pose(&self.0.at_rest(world_from_joint)))
    }
}

/// Puts `flesh` into numbers and their owners into `owners`; true if the owners changed.
pub fn draw(musculature: &Musculature, flesh: &Flesh, strands: &mut Strands, owners: &mut Owners) -> bool {
    let body = musculature.definition();
    let bind = musculature.at_bind();
    let rings = flesh.muscles.iter().map(|m| m.shape.rings().len()).max().unwrap_or(0);
    strands.rings.clear();
    strands.states.clear();
    strands.pads.clear();
    for (muscle, at_bind) in flesh.muscles.iter().zip(&bind.muscles) {
        strand(&muscle.shape, rings, &mut strands.rings);
        let stretch = muscle.shape.length() / at_bind.shape.length().max(1e-9);
        strands.states.extend([muscle.shape.activation(), muscle.tension, stretch].map(|x| x as f32));
    }
    for fat in &flesh.fat {
        let turn = DMat3::from_quat(fat.field.world_from_pad.rotation);
        let [x, y, z] = [0, 1, 2].map(|k| turn.col(k) * fat.field.radii[k]);
        let at = fat.field.world_from_pad.translation;
        let matrix = glam::DMat4::from_cols(x.extend(0.0), y.extend(0.0), z.extend(0.0), at.extend(1.0));
        strands.pads.extend(matrix.to_cols_array().map(|x| x as f32));
    }
    let muscles = flesh.muscles.iter().map(|m| (&body.muscle[m.muscle].name, body.muscle[m.muscle].side));
    let fat = flesh.fat.iter().map(|f| (&body.fat[f.pad].name, body.fat[f.pad].side));
    let known = |list: &[Owner], k: usize, (name, side): (&String, Side)| {
        list.get(k).is_some_and(|owner| owner.name == *name && owner.side == side)
    };
    let same = owners.rings == rings
        && owners.muscles.len() == flesh.muscles.len()
        && owners.fat.len() == flesh.fat.len()
        && muscles.clone().enumerate().all(|(k, of)| known(&owners.muscles, k, of))
        && fat.clone().enumerate().all(|(k, of)| known(&owners.fat, k, of));
    if !same {
        let owner = |(name, side): (&String, Side)| Owner { name: name.clone(), side };
        *owners = Owners { muscles: muscles.map(owner).collect(), fat: fat.map(owner).collect(), rings };
    }
    !same
}

/// Adds the rings of a muscle, the last repeated until there are `rings`.
fn strand(shape: &Shape, rings: usize, numbers: &mut Vec<f32>) {
    let own: Vec<Ring> = shape.rings().collect();
    let last = own.len().saturating_sub(1);
    for Ring { centre, radius, wide_axis, flatness } in (0..rings).filter_map(|k| own.get(k.min(last))) {
        numbers.extend(centre.extend(*radius).as_vec4().to_array());
        numbers.extend(wide_axis.extend(*flatness).as_vec4().to_array());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecorche::character::Pose;
    use ecorche::field::Field;
    use ecorche::muscle::definition::{Attachment, MuscleDef};

    #[test]
    fn a_tube_lies_on_the_muscle_s_surface() {
        let arm = ecorche::samples::build("arm?resolution=2000").unwrap();
        let at = |bone: &str, at: Vec3| Attachment { bone: bone.into(), at }.into();
        let origin = at("leftUpperArm", Vec3::new(0.0, 0.02, 0.02));
        let insertion = at("leftLowerArm", Vec3::new(0.0, 0.04, 0.01));
        let mut anatomy = Anatomy::default();
        anatomy.body.muscle.push(MuscleDef {
            eccentricity: 0.6,
            ..MuscleDef::new("biceps", Side::Left, origin, insertion, 0.018)
        });
        let cast = Cast::new(&anatomy, &arm, Path::new("")).unwrap();
        let (musculature, flesh) = cast.settle(&Pose::rest(&arm).world(&arm.skeleton));
        let (mut strands, mut owners) = (Strands::default(), Owners::default());
        assert!(draw(musculature, &flesh, &mut strands, &mut owners));
        assert!(!draw(musculature, &flesh, &mut strands, &mut owners), "nothing new to tell");
        assert_eq!((owners.muscles.len(), owners.fat.len()), (1, 0));
        assert_eq!(strands.rings.len(), RING * owners.rings);
        let mut rounded = Vec::new();
        let cube = strands.rounded(&mut rounded);
        for (ring, numbers) in strands.rings.chunks(RING).zip(rounded.chunks(RING)) {
            let share = |k: usize| f32::from(numbers[k]) / 65535.0;
            for k in 0..3 {
                assert!((cube.corner[k] + share(k) * cube.side - ring[k]).abs() < 1e-5 * cube.side);
                assert!((2.0 * share(4 + k) - 1.0 - ring[4 + k]).abs() < 2e-5);
            }
            assert!((share(3) * cube.side - ring[3]).abs() < 1e-5 * cube.side);
            assert!((share(7) - ring[7]).abs() < 1e-5);
        }
        let field = &flesh.muscles[0].shape;
        let rings: Vec<&[f32]> = strands.rings.chunks(RING).collect();
        // The ends are points, where the field has an edge.
        for k in 3..owners.rings - 3 {
            let vector = |numbers: &[f32]| Vec3::from_slice(numbers);
            let (place, wide_axis) = (vector(rings[k]), vector(&rings[k][4..]));
            let tangent = (vector(rings[k + 1]) - vector(rings[k - 1])).normalize();
            let (thickness, short) = (rings[k][3], rings[k][7]);
            // As the page's shader has it.
            for side in 0..12 {
                let (sine, cosine) = (side as f32 / 12.0 * std::f32::consts::TAU).sin_cos();
                let radius = thickness / ((short * cosine).powi(2) + (sine / short).powi(2)).sqrt();
                let vertex = place + (wide_axis * cosine + tangent.cross(wide_axis) * sine) * radius;
                let value = field.sample(vertex).value;
                assert!((value - 0.5).abs() < 0.05, "{value}");
            }
        }
    }
}

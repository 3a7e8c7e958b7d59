//! Muscles and fat as a page draws them: tubes around the axes, ellipsoids.

use ecorche::anatomy::{Anatomy, BindFrames};
use ecorche::character::Character;
use ecorche::muscle::definition::Side;
use ecorche::muscle::{BuildError, Flesh, ImplicitMuscle, Musculature};
use glam::{Affine3A, DMat3, DVec3};
use serde::Serialize;
use std::path::Path;

/// Vertices around a tube.
pub const SIDES: usize = 12;

/// A fibre to be drawn: `rings` of [`SIDES`] vertices each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tube {
    /// The muscle's name.
    pub name: String,
    /// Its side.
    pub side: Side,
    /// Cross sections.
    pub rings: usize,
    /// From 0 to 1.
    pub activation: f64,
    /// Newtons.
    pub tension: f64,
    /// Length over that at bind.
    pub stretch: f64,
}

/// A fat pad to be drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ball {
    /// Its name.
    pub name: String,
    /// Its side.
    pub side: Side,
    /// World from the unit ball, column by column.
    pub matrix: [f64; 16],
}

/// The muscles and fat of an anatomy on a character whose body has none.
#[derive(Debug)]
pub struct Cast(Musculature);

impl Cast {
    /// Puts the muscles on the skeleton. What `folder` holds are the surfaces of bones.
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

/// What is drawn of `flesh`, and the tubes' vertices in the order of the list.
pub fn draw(musculature: &Musculature, flesh: &Flesh, vertices: &mut Vec<f32>) -> (Vec<Tube>, Vec<Ball>) {
    let body = musculature.definition();
    let bind = musculature.at_bind();
    vertices.clear();
    let tubes = flesh.muscles.iter().zip(&bind.muscles).map(|(muscle, at_bind)| {
        let definition = &body.muscle[muscle.muscle];
        Tube {
            name: definition.name.clone(),
            side: definition.side,
            rings: tube(&muscle.field, vertices),
            activation: muscle.field.activation(),
            tension: muscle.tension,
            stretch: muscle.field.axis().length() / at_bind.field.axis().length().max(1e-9),
        }
    });
    let tubes = tubes.collect();
    let balls = flesh.fat.iter().map(|fat| {
        let definition = &body.fat[fat.pad];
        let turn = DMat3::from_quat(fat.field.world_from_pad.rotation);
        let [x, y, z] = [0, 1, 2].map(|k| turn.col(k) * fat.field.radii[k]);
        let at = fat.field.world_from_pad.translation;
        let matrix = glam::DMat4::from_cols(x.extend(0.0), y.extend(0.0), z.extend(0.0), at.extend(1.0));
        Ball { name: definition.name.clone(), side: definition.side, matrix: matrix.to_cols_array() }
    });
    (tubes, balls.collect())
}

/// Adds the vertices of a muscle's surface; returns the number of rings.
fn tube(muscle: &ImplicitMuscle, vertices: &mut Vec<f32>) -> usize {
    let axis = muscle.axis();
    for (k, &point) in axis.points().iter().enumerate() {
        let (tangent, broad) = (axis.tangents()[k], axis.normals()[k]);
        let narrow = tangent.cross(broad);
        let thickness = muscle.thickness(axis.share(k));
        for side in 0..SIDES {
            let (sine, cosine) = (side as f64 / SIDES as f64 * std::f64::consts::TAU).sin_cos();
            let direction: DVec3 = broad * cosine + narrow * sine;
            let vertex = point + direction * (thickness * muscle.section().radius(cosine).0);
            vertices.extend(vertex.as_vec3().to_array());
        }
    }
    axis.points().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecorche::character::Pose;
    use ecorche::field::Field;
    use ecorche::muscle::definition::{Attachment, MuscleDef};
    use glam::Vec3;

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
        let mut vertices = Vec::new();
        let (tubes, balls) = draw(musculature, &flesh, &mut vertices);
        assert_eq!((tubes.len(), balls.len()), (1, 0));
        assert_eq!(vertices.len(), 3 * SIDES * tubes[0].rings);
        let field = &flesh.muscles[0].field;
        // The ends are points, where the field has an edge.
        for p in vertices.chunks(3).skip(3 * SIDES).take(SIDES * (tubes[0].rings - 6)) {
            let value = field.sample(Vec3::from_slice(p)).value;
            assert!((value - 0.5).abs() < 0.05, "{value}");
        }
    }
}

//! A field carried along by its bone.
//!
//! With `B` the motion from rest and `M` its linear part, `f(x, t) = f(B^-1 x)` and the gradient is
//! `M^-T grad f(B^-1 x)`.

use super::{Field, Sample, Support};
use glam::{Affine3A, Vec3};

/// A field in bone (or rest) space seen from the world.
#[derive(Clone, Debug)]
pub struct Posed<F> {
    field: F,
    world_from_field: Affine3A,
    field_from_world: Affine3A,
}

impl<F: Field> Posed<F> {
    /// Places the field by a motion that can be undone; scale included.
    pub fn new(field: F, world_from_field: Affine3A) -> Self {
        Self { field, world_from_field, field_from_world: world_from_field.inverse() }
    }

    /// Moves the field elsewhere.
    pub fn set_motion(&mut self, world_from_field: Affine3A) {
        self.world_from_field = world_from_field;
        self.field_from_world = world_from_field.inverse();
    }
}

impl<F: Field> Field for Posed<F> {
    #[inline]
    fn sample(&self, point: Vec3) -> Sample {
        let at_rest = self.field.sample(self.field_from_world.transform_point3(point));
        let gradient = self.field_from_world.matrix3.transpose() * at_rest.gradient;
        Sample { value: at_rest.value, gradient }
    }

    fn support(&self) -> Support {
        self.field.support().moved(&self.world_from_field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::conformance::capsule;
    use glam::Quat;

    #[test]
    fn a_field_moved_back_is_where_it_was() {
        let rest = capsule(|p| p);
        let motion =
            Affine3A::from_rotation_translation(Quat::from_rotation_z(1.2), Vec3::new(0.3, 0.1, -0.2));
        let mut posed = Posed::new(rest.clone(), motion);
        let point = Vec3::new(0.08, 0.03, 0.0);
        let moved = posed.sample(motion.transform_point3(point));
        assert!((moved.value - rest.sample(point).value).abs() < 1e-5);
        let scaled = Affine3A::from_scale(Vec3::splat(2.0)) * motion;
        posed.set_motion(scaled);
        let larger = posed.sample(scaled.transform_point3(point));
        assert!((larger.gradient.length() - 0.5 * rest.sample(point).gradient.length()).abs() < 1e-3);
        posed.set_motion(Affine3A::IDENTITY);
        assert_eq!(posed.sample(point), rest.sample(point));
    }
}

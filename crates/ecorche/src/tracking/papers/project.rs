//! Moving one vertex towards its iso-value.
//!
//! | symbol | here | meaning | unit |
//! |---|---|---|---|
//! | f, g | `sample` | value and gradient where the vertex is | -, 1/m |
//! | e | `iso` | the value it wants | - |
//! | h | `step` | `s (e - f) g / |g|^2` | m |
//! | s | `factor` | sigma of 2012, lambda of 2014 | - |
//! | R | `limb_radius` | yardstick | m |
//!
//! Based on: Vaillant et al. Implicit Skinning. 2012 ([`Newton`]); Vaillant et al. Robust Iso-Surface
//! Tracking. 2014, and Roussellet. Thesis. 2018, algorithm 3.1 ([`Bracketed`]).
//! Differs in: the sign of the step, printed the other way round in 2012, which moves away from the surface;
//! steps are clamped and not taken without a gradient; a vertex that meets a contact in 2012 is brought up to
//! it, which the paper leaves open: keeping the last position leaves it 0.02 to 0.04 R short.

use crate::field::operator::controller::angle;
use crate::field::{Field, Sample};
use glam::Vec3;

/// A vertex and the field where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// Metres.
    pub position: Vec3,
    /// The field there.
    pub sample: Sample,
}

impl Place {
    /// Samples the field at a position.
    #[inline]
    pub fn at(field: &dyn Field, position: Vec3, evaluations: &mut u32) -> Self {
        *evaluations += 1;
        Self { position, sample: field.sample(position) }
    }
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Already there, within the tolerance.
    Arrived,
    /// Moved.
    Moved,
    /// Not moved: no gradient, or the step would lead away.
    Stuck,
    /// Moved up to where the gradient turns: a contact.
    Contact,
}

/// Squared gradient times squared limb radius below which there is no direction. A limb's gradient is about 1
/// / R.
const NO_GRADIENT: f32 = 1e-8;

/// The step towards the iso-value, at most `largest` limb radii long; what holds otherwise if there is none.
#[inline]
fn newton_step(
    sample: Sample,
    iso: f32,
    tolerance: f32,
    factor: f32,
    largest: f32,
    limb_radius: f32,
) -> Result<Vec3, Progress> {
    if (sample.value - iso).abs() < tolerance {
        return Err(Progress::Arrived);
    }
    let squared = sample.gradient.length_squared();
    // False for NaN too.
    let steep = squared * limb_radius * limb_radius > NO_GRADIENT;
    let step = sample.gradient * (factor * (iso - sample.value) / squared);
    if steep { Ok(step.clamp_length_max(largest * limb_radius)) } else { Err(Progress::Stuck) }
}

/// The projection of 2012.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newton {
    /// Sigma. 0.35, as printed, needs 16 steps to come within 1e-3, 1 needs 3 but steps over the creases
    /// beside a contact: a bend of 90 degrees keeps 34 to 44 intersecting pairs where 0.35 and 0.5 keep 0 to
    /// 9.
    pub factor: f32,
    /// Whether a step that crosses the iso-surface is cut back to it.
    pub bisect: bool,
    /// A gradient that turns by more than this within a step, radians, is a contact. Bends by less than it
    /// have none; above 75 degrees contacts of a right angle are missed.
    pub largest_turn: f32,
    /// Largest step, limb radii.
    pub largest_step: f32,
    /// Nearer than this to the iso-value nothing moves.
    pub tolerance: f32,
    /// Halvings of a step to find a contact or the iso-surface.
    pub halvings: u32,
}

impl Default for Newton {
    fn default() -> Self {
        Self {
            factor: 0.5,
            bisect: true,
            largest_turn: 55f32.to_radians(),
            largest_step: 0.25,
            tolerance: 1e-4,
            halvings: 12,
        }
    }
}

impl Newton {
    /// The numbers of the paper: short steps, none cut back or clamped.
    pub(crate) const PRINTED: Self = Self {
        factor: 0.35,
        bisect: false,
        largest_turn: 0.959_931_1,
        largest_step: f32::INFINITY,
        tolerance: 1e-4,
        halvings: 12,
    };

    /// One step of one vertex.
    pub fn step(
        &self,
        field: &dyn Field,
        place: &mut Place,
        iso: f32,
        limb_radius: f32,
        evaluations: &mut u32,
    ) -> Progress {
        let before = *place;
        let error = before.sample.value - iso;
        let next =
            newton_step(before.sample, iso, self.tolerance, self.factor, self.largest_step, limb_radius);
        let step = match next {
            Ok(step) => step,
            Err(progress) => return progress,
        };
        let after = Place::at(field, before.position + step, evaluations);
        let turned =
            |p: &Place| angle(before.sample.gradient, p.sample.gradient) > f64::from(self.largest_turn);
        if turned(&after) {
            *place = last_before(field, before, step, self.halvings, evaluations, turned, |_| false);
            return Progress::Contact;
        }
        *place = after;
        if self.bisect && error * (after.sample.value - iso) < 0.0 {
            let beyond = |p: &Place| error * (p.sample.value - iso) < 0.0;
            let near = |p: &Place| (p.sample.value - iso).abs() < self.tolerance;
            if !near(&after) {
                *place = last_before(field, before, step, self.halvings, evaluations, beyond, near);
            }
        }
        Progress::Moved
    }
}

/// The projection of 2014.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracketed {
    /// Nearer than this to the iso-value nothing moves.
    pub tolerance: f32,
    /// Largest step, limb radii; without it small gradients throw vertices across the body.
    pub largest_step: f32,
    /// Halvings of a step that crosses the iso-surface.
    pub halvings: u32,
}

impl Default for Bracketed {
    fn default() -> Self {
        Self { tolerance: 1e-4, largest_step: 0.25, halvings: 16 }
    }
}

impl Bracketed {
    /// One step of one vertex, `factor` (lambda) of the way.
    pub fn step(
        &self,
        field: &dyn Field,
        place: &mut Place,
        iso: f32,
        factor: f32,
        limb_radius: f32,
        evaluations: &mut u32,
    ) -> Progress {
        let before = *place;
        let error = before.sample.value - iso;
        let next = newton_step(before.sample, iso, self.tolerance, factor, self.largest_step, limb_radius);
        let step = match next {
            Ok(step) => step,
            Err(progress) => return progress,
        };
        let after = Place::at(field, before.position + step, evaluations);
        let error_after = after.sample.value - iso;
        if error_after.abs() < self.tolerance {
            *place = after;
        } else if error * error_after < 0.0 {
            let beyond = |p: &Place| error * (p.sample.value - iso) < 0.0;
            let near = |p: &Place| (p.sample.value - iso).abs() < self.tolerance;
            *place = last_before(field, before, step, self.halvings, evaluations, beyond, near);
        } else if error * (error - error_after) < 0.0 || !error_after.is_finite() {
            return Progress::Stuck;
        } else {
            *place = after;
        }
        Progress::Moved
    }
}

/// The last place along `step` before `beyond` holds, by halving; any place that is `near` enough ends it.
fn last_before(
    field: &dyn Field,
    start: Place,
    step: Vec3,
    halvings: u32,
    evaluations: &mut u32,
    beyond: impl Fn(&Place) -> bool,
    near: impl Fn(&Place) -> bool,
) -> Place {
    let (mut low, mut high) = (0.0f32, 1.0f32);
    let mut best = start;
    for _ in 0..halvings {
        let middle = 0.5 * (low + high);
        let place = Place::at(field, start.position + middle * step, evaluations);
        if near(&place) {
            return place;
        }
        if beyond(&place) {
            high = middle;
        } else {
            low = middle;
            best = place;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::{Falloff, Support};
    use crate::tracking::papers::golden::{golden, numbers, vectors};

    /// Unit balls around some centres, united; ends one radius outside.
    struct Balls(Vec<Vec3>);

    impl Field for Balls {
        fn sample(&self, point: Vec3) -> Sample {
            let nearest =
                self.0.iter().min_by(|a, b| a.distance(point).total_cmp(&b.distance(point))).unwrap();
            let away = point - *nearest;
            let (falloff, distance) = (Falloff { radius: 1.0 }, f64::from(away.length()) - 1.0);
            let value = falloff.value(distance) as f32;
            Sample { value, gradient: falloff.slope(distance) as f32 * away.normalize_or_zero() }
        }

        fn support(&self) -> Support {
            Support { low: Vec3::splat(-9.0), high: Vec3::splat(9.0) }
        }
    }

    #[test]
    fn reference_step() {
        let golden = &golden()["newton_step_sphere"];
        let (x, new) = (vectors(&golden["x"]), vectors(&golden["x_new"]));
        let (iso, f, grad) = (numbers(&golden["iso"]), numbers(&golden["f"]), vectors(&golden["grad"]));
        for i in 0..x.len() {
            let sample = Sample { value: f[i] as f32, gradient: grad[i].as_vec3() };
            let step = newton_step(sample, iso[i] as f32, 0.0, 0.35, f32::INFINITY, 1.0).unwrap();
            let moved = x[i].as_vec3() + step;
            assert!(moved.as_dvec3().distance(new[i]) < 2e-6, "{i}: {moved} not {}", new[i]);
        }
    }

    #[test]
    fn both_arrive_on_a_ball_from_either_side() {
        let field = Balls(vec![Vec3::ZERO]);
        for start in [Vec3::X * 0.3, Vec3::new(0.0, 1.2, 0.9), Vec3::new(-0.7, 0.7, 0.1)] {
            let mut n = 0;
            let (mut a, mut b) = (Place::at(&field, start, &mut n), Place::at(&field, start, &mut n));
            for _ in 0..16 {
                Newton::default().step(&field, &mut a, 0.45, 1.0, &mut n);
                Bracketed::default().step(&field, &mut b, 0.45, 1.0, 1.0, &mut n);
            }
            assert!((a.sample.value - 0.45).abs() < 1e-4 && (b.sample.value - 0.45).abs() < 1e-4);
            assert!(a.position.normalize().distance(start.normalize()) < 1e-5, "radially");
            assert!(n < 60);
        }
    }

    #[test]
    fn a_contact_is_approached_from_its_own_side() {
        // Inside the left ball, left of the crease at x = 0.6; its surface lies beyond the crease.
        let field = Balls(vec![Vec3::ZERO, Vec3::X * 1.2]);
        let mut n = 0;
        let mut place = Place::at(&field, Vec3::new(0.5, 0.1, 0.0), &mut n);
        let newton = Newton { largest_step: 1.0, ..Newton::default() };
        assert_eq!(newton.step(&field, &mut place, 0.5, 1.0, &mut n), Progress::Contact);
        assert!(place.position.x < 0.6 && place.position.x > 0.599, "{}", place.position);
    }

    #[test]
    fn steps_are_clamped_and_not_taken_blindly() {
        let field = Balls(vec![Vec3::ZERO]);
        let mut n = 0;
        let mut far = Place::at(&field, Vec3::X * 1.99, &mut n);
        assert_eq!(Bracketed::default().step(&field, &mut far, 0.5, 1.0, 1.0, &mut n), Progress::Moved);
        assert!((far.position.x - 1.74).abs() < 1e-4, "a quarter of the radius: {}", far.position.x);
        for at in [Vec3::ZERO, Vec3::X * 3.0] {
            let mut lost = Place::at(&field, at, &mut n);
            assert_eq!(Bracketed::default().step(&field, &mut lost, 0.5, 1.0, 1.0, &mut n), Progress::Stuck);
            assert_eq!(Newton::default().step(&field, &mut lost, 0.5, 1.0, &mut n), Progress::Stuck);
            assert_eq!(lost.position, at);
        }
    }
}

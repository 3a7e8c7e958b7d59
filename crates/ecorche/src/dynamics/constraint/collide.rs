//! Solid shapes that particles stay outside of, or inside.
//!
//! A particle keeps `C = side * f(p) - clearance >= 0`, f the shape's signed distance (negative inside), side 1
//! outside and -1 inside. If not, `p -= C grad f / |grad f|^2`. The clearance is the particle's radius, or what
//! it had at bind if that is less.

use super::super::Rigid;
use super::friction;
use crate::geom::sdf::DistanceGrid;
use glam::DVec3;
use std::fmt::Debug;
use std::sync::Arc;

/// A shape given by a distance-like function.
pub trait SignedDistance: Debug + Send + Sync {
    /// Value (metres, negative inside) and gradient.
    fn distance(&self, point: DVec3) -> (f64, DVec3);
}

/// A solid in the coordinates of its frame.
#[derive(Clone, Debug)]
pub enum Shape {
    /// All points closer than `radius` to the segment.
    Capsule {
        /// Ends of the segment, metres.
        ends: [DVec3; 2],
        /// Metres.
        radius: f64,
    },
    /// A closed surface, by its distance on a grid.
    Grid(Arc<DistanceGrid>),
    /// Any other distance function.
    Function(Arc<dyn SignedDistance>),
}

/// On which side of an obstacle particles stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// A bone.
    #[default]
    Outside,
    /// The skin.
    Inside,
}

/// A solid carried by a frame.
#[derive(Clone, Debug)]
pub struct Obstacle {
    /// The frame that carries it.
    pub frame: usize,
    /// Its shape.
    pub shape: Shape,
    /// Which side is free.
    pub keep: Keep,
    /// A ball around it in the frame's coordinates: centre and radius, metres. Nothing further out is tested
    /// when the outside is free.
    pub reach: (DVec3, f64),
}

/// Slope of a distance-like function below which its value does not tell the distance. Near the edge of a
/// skin's field it goes to zero, and a particle there would be thrown a hundred metres.
const LEAST_STEEPNESS: f64 = 0.5;

/// A particle to be moved out of an obstacle.
#[derive(Clone, Copy, Debug)]
pub(in crate::dynamics) struct Meeting {
    /// Depth, metres, above zero.
    pub depth: f64,
    /// Unit, in the world, towards free space.
    pub normal: DVec3,
}

impl Obstacle {
    /// A capsule between two points of a frame.
    pub(crate) fn capsule(frame: usize, ends: [DVec3; 2], radius: f64) -> Self {
        let reach = ((ends[0] + ends[1]) * 0.5, 0.5 * ends[0].distance(ends[1]) + radius);
        Self { frame, shape: Shape::Capsule { ends, radius }, keep: Keep::Outside, reach }
    }

    /// Distance to the surface in frame coordinates, positive where particles may be, and its gradient.
    #[inline]
    pub(crate) fn free_distance(&self, local: DVec3) -> (f64, DVec3) {
        let (value, gradient) = match &self.shape {
            Shape::Capsule { ends: [a, b], radius } => {
                let along = *b - *a;
                let square = along.length_squared();
                let t = if square > 0.0 { ((local - *a).dot(along) / square).clamp(0.0, 1.0) } else { 0.0 };
                let out = local - (*a + t * along);
                let length = out.length();
                // On the axis any direction will do; a fixed one is deterministic.
                let normal = if length > 1e-12 {
                    out / length
                } else {
                    along.any_orthogonal_vector().normalize_or(DVec3::X)
                };
                (length - radius, normal)
            }
            Shape::Grid(grid) => grid.sample(local),
            Shape::Function(function) => function.distance(local),
        };
        match self.keep {
            Keep::Outside => (value, gradient),
            Keep::Inside => (-value, -gradient),
        }
    }

    /// How a particle at `point` penetrates its clearance, or else its distance from doing so, metres.
    #[inline]
    pub(in crate::dynamics) fn meet(
        &self,
        frame: &Rigid,
        point: DVec3,
        clearance: f64,
    ) -> Result<Meeting, f64> {
        let (value, gradient) = self.free_distance(frame.point_back(point));
        let steepness = gradient.length();
        // Also false for a NaN.
        if value < clearance && steepness > 1e-9 {
            let depth = (clearance - value) / steepness.max(LEAST_STEEPNESS);
            Ok(Meeting { depth, normal: frame.vector(gradient / steepness) })
        } else {
            Err(value - clearance)
        }
    }
}

/// Moves a particle out of an obstacle, with friction against its surface. `before`: where the particle was when
/// the substep began; `frames`: where the obstacle was then and is now. Returns how far it was from touching.
#[inline]
pub(in crate::dynamics) fn push_out(
    point: &mut DVec3,
    before: &mut DVec3,
    obstacle: &Obstacle,
    frames: (&Rigid, &Rigid),
    clearance: f64,
    coefficient: f64,
) -> f64 {
    let (then, now) = frames;
    let meeting = match obstacle.meet(now, *point, clearance) {
        Ok(meeting) => meeting,
        Err(gap) => return gap,
    };
    let surface = now.point(then.point_back(*before));
    let correction = friction::correction(*point - surface, meeting.normal, meeting.depth, coefficient);
    *point += correction.moved;
    *before += correction.silent;
    0.0
}

/// As [`push_out`] for an obstacle of flesh, which yields; `weight`: inverse mass of the particle; `flesh` and `h` as
/// [`friction::yielding`] has them.
#[inline]
pub(in crate::dynamics) fn press_out(
    point: &mut DVec3,
    before: DVec3,
    obstacle: &Obstacle,
    frames: (&Rigid, &Rigid),
    (weight, coefficient, flesh, h): (f64, f64, f64, f64),
) -> f64 {
    let (then, now) = frames;
    match obstacle.meet(now, *point, 0.0) {
        Ok(meeting) => {
            let moved = *point - now.point(then.point_back(before));
            let Meeting { depth, normal } = meeting;
            *point += friction::yielding(moved, normal, depth, [weight; 2], coefficient, flesh, h);
            0.0
        }
        Err(gap) => gap,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_particle_is_put_on_the_surface_and_carried_by_friction() {
        let capsule = Obstacle::capsule(0, [DVec3::ZERO, DVec3::X], 0.1);
        let still = Rigid::IDENTITY;
        let mut p = DVec3::new(0.5, 0.05, 0.0);
        let mut before = p;
        push_out(&mut p, &mut before, &capsule, (&still, &still), 0.02, 0.0);
        assert!(p.distance(DVec3::new(0.5, 0.12, 0.0)) < 1e-12);
        // The surface slides along x; with enough friction the particle moves with it.
        let moved = Rigid { translation: DVec3::X * 0.01, ..still };
        let mut before = DVec3::new(0.5, 0.12, 0.0);
        let mut p = DVec3::new(0.5, 0.10, 0.0);
        push_out(&mut p, &mut before, &capsule, (&still, &moved), 0.02, 10.0);
        assert!(p.distance(DVec3::new(0.51, 0.12, 0.0)) < 1e-12);
    }

    #[test]
    fn inside_is_the_free_side_of_a_skin() {
        let mut ball = Obstacle::capsule(0, [DVec3::ZERO, DVec3::ZERO], 0.1);
        ball.keep = Keep::Inside;
        let mut p = DVec3::Y * 0.15;
        let mut before = p;
        push_out(&mut p, &mut before, &ball, (&Rigid::IDENTITY, &Rigid::IDENTITY), 0.0, 0.0);
        assert!(p.distance(DVec3::Y * 0.1) < 1e-12);
        let mut before = p;
        push_out(&mut p, &mut before, &ball, (&Rigid::IDENTITY, &Rigid::IDENTITY), 0.0, 0.0);
        assert!(p.distance(DVec3::Y * 0.1) < 1e-12);
    }
}

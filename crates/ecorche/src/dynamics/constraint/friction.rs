//! Coulomb friction on displacements.
//!
//! A particle that was pushed out of a surface by `pressed` may slide against it, but loses as much of its
//! sliding as `coefficient * pressed`: at rest on a moving surface it goes with it.
//!
//! Based on: Roussellet. Doctoral thesis. 2018.
//! Differs in: the thesis subtracts a speed from a length; here all terms are lengths, and sliding is measured
//! against the surface instead of the world.

use glam::DVec3;

/// How a contact moves a particle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Correction {
    /// What to add to its position, metres.
    pub moved: DVec3,
    /// The part of it that is no motion: what was wrong before the substep is put right without giving speed, or
    /// a muscle that thickens would throw its neighbour.
    pub silent: DVec3,
}

impl std::ops::Add for Correction {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { moved: self.moved + other.moved, silent: self.silent + other.silent }
    }
}

impl std::ops::Mul<f64> for Correction {
    type Output = Self;
    fn mul(self, share: f64) -> Self {
        Self { moved: self.moved * share, silent: self.silent * share }
    }
}

/// Moves a particle out along the unit `normal` by `depth`, and brakes its sliding. `moved`: displacement of the
/// particle in this substep relative to the surface.
#[inline]
pub fn correction(moved: DVec3, normal: DVec3, depth: f64, coefficient: f64) -> Correction {
    let approach = (-moved.dot(normal)).max(0.0).min(depth);
    let sliding = moved - moved.dot(normal) * normal;
    let length = sliding.length();
    let held = if length > 1e-15 { (coefficient * depth / length).min(1.0) } else { 0.0 };
    Correction { moved: depth * normal - held * sliding, silent: (depth - approach) * normal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sticks_below_the_cone_and_slides_above() {
        let moved = DVec3::new(0.003, -0.01, 0.0);
        let along = |coefficient: f64| correction(moved, DVec3::Y, 0.01, coefficient).moved.x;
        assert!(
            (along(0.5) + 0.003).abs() < 1e-15 && (along(0.1) + 0.001).abs() < 1e-15 && along(0.0) == 0.0
        );
    }

    #[test]
    fn an_overlap_that_was_there_before_gives_no_speed() {
        let resting = correction(DVec3::ZERO, DVec3::Y, 0.01, 0.5);
        assert_eq!(resting.moved, resting.silent);
        let falling = correction(DVec3::NEG_Y * 0.02, DVec3::Y, 0.01, 0.5);
        assert_eq!(falling.silent, DVec3::ZERO);
    }
}

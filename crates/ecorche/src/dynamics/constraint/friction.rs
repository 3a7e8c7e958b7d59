//! Coulomb friction on displacements.
//!
//! A particle that was pushed out of a surface by `pressed` may slide against it, but loses as much of its
//! sliding as `coefficient * pressed`: at rest on a moving surface it goes with it.
//!
//! Based on: Roussellet. Doctoral thesis. 2018.
//! Differs in: the thesis subtracts a speed from a length; here all terms are lengths, and sliding is measured
//! against the surface instead of the world.

use glam::DVec3;

/// What to add to the position. `moved`: displacement of the particle in this substep relative to the surface;
/// `normal`: unit.
#[inline]
pub fn correction(moved: DVec3, normal: DVec3, pressed: f64, coefficient: f64) -> DVec3 {
    let sliding = moved - moved.dot(normal) * normal;
    let length = sliding.length();
    if length <= 1e-15 {
        return DVec3::ZERO;
    }
    -sliding * (coefficient * pressed / length).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sticks_below_the_cone_and_slides_above() {
        let moved = DVec3::new(0.003, -0.01, 0.0);
        assert_eq!(correction(moved, DVec3::Y, 0.01, 0.5), DVec3::new(-0.003, 0.0, 0.0));
        assert!(correction(moved, DVec3::Y, 0.01, 0.1).distance(DVec3::new(-0.001, 0.0, 0.0)) < 1e-15);
        assert_eq!(correction(moved, DVec3::Y, 0.01, 0.0), DVec3::ZERO);
    }
}

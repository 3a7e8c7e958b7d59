//! Coulomb friction on displacements.
//!
//! A particle that was kept from coming `pressed` closer to a surface may slide against it, but loses as much of its
//! sliding as `coefficient * pressed`: a particle at rest on a moving surface moves with it. An overlap from before the
//! substep does not press: otherwise a strand squeezed between two others would stick more with shorter substeps.
//!
//! Based on: Roussellet. Doctoral thesis. 2018.
//! Differs in: the thesis subtracts a speed from a length; here all terms are lengths, and sliding is measured
//! against the surface instead of the world.

use glam::DVec3;

/// How a contact moves a particle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Correction {
    /// What to add to its position, metres.
    pub moved: DVec3,
    /// The part of it that adds no speed: it corrects an overlap from before the substep. Otherwise a muscle that thickens
    /// would throw its neighbour.
    pub silent: DVec3,
}

/// Moves a particle out along the unit `normal` by `depth`, and brakes its sliding. `moved`: displacement of the
/// particle in this substep relative to the surface.
#[inline]
pub(crate) fn correction(moved: DVec3, normal: DVec3, depth: f64, coefficient: f64) -> Correction {
    let approach = (-moved.dot(normal)).max(0.0).min(depth);
    let sliding = moved - moved.dot(normal) * normal;
    let length = sliding.length();
    let held = if length > 1e-15 { (coefficient * approach / length).min(1.0) } else { 0.0 };
    Correction { moved: depth * normal - held * sliding, silent: (depth - approach) * normal }
}

/// How hard a particle of flesh pressed against flesh pushes back at human size, N/m: half a millimetre for a newton.
/// Rigid muscles would bounce and catch on each other, each time a little differently, and more so with shorter substeps.
pub(in crate::dynamics) const FLESH: f64 = 2000.0;
/// Of critical damping.
const FLESH_DAMPING: f64 = 0.5;

/// Moves a particle of flesh that is `depth` inside other flesh. `moved`: as for [`correction`]; `weights`: inverse mass
/// of the particle, and of both sides together; `flesh`: how hard it pushes back, N/m; `h`: length of the substep, seconds.
#[inline]
pub(crate) fn yielding(
    moved: DVec3,
    normal: DVec3,
    depth: f64,
    weights: [f64; 2],
    coefficient: f64,
    flesh: f64,
    h: f64,
) -> DVec3 {
    let [own, both] = weights;
    let approach = -moved.dot(normal);
    let (spring, damper) = (h * h * flesh, 2.0 * FLESH_DAMPING * (flesh / both).sqrt() * h);
    // An implicit Euler step of spring and damper; flesh does not stick.
    let pressed = ((spring * depth + damper * approach) / (1.0 + both * (spring + damper))).max(0.0);
    let sliding = moved + approach * normal;
    let length = sliding.length();
    let held = if length > 1e-15 { (coefficient * both * pressed / length).min(1.0) } else { 0.0 };
    own * pressed * normal - held * own / both * sliding
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
    fn flesh_yields_and_pushes_back_as_hard_whatever_the_substep() {
        // Held against a wall by one newton, a particle comes to rest where the spring carries it.
        for h in [1.0 / 600.0, 1.0 / 2400.0] {
            let (mass, mut height, mut speed) = (0.01, 0.0, 0.0);
            for _ in 0..(1.0 / h) as usize {
                let fallen = (speed - h / mass) * h;
                let depth = -(height + fallen);
                let push = if depth > 0.0 {
                    yielding(DVec3::Y * fallen, DVec3::Y, depth, [1.0 / mass; 2], 0.2, FLESH, h).y
                } else {
                    0.0
                };
                height += fallen + push;
                speed = (fallen + push) / h;
            }
            assert!((height + 1.0 / FLESH).abs() < 1e-6, "{height}");
        }
    }

    #[test]
    fn an_overlap_that_was_there_before_gives_no_speed() {
        let resting = correction(DVec3::ZERO, DVec3::Y, 0.01, 0.5);
        assert_eq!(resting.moved, resting.silent);
        let falling = correction(DVec3::NEG_Y * 0.02, DVec3::Y, 0.01, 0.5);
        assert_eq!(falling.silent, DVec3::ZERO);
    }
}

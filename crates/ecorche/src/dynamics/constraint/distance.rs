//! Two particles at a distance.
//!
//! With `C = |p_j - p_i| - rest`, w inverse masses, h the substep, `a = compliance / h^2`:
//! `dlambda = (-C - a lambda) / (w_i + w_j + a)`, `p_i -= w_i dlambda n`, `p_j += w_j dlambda n`. The force is
//! `lambda / h^2`, whatever the substep and the number of iterations.
//!
//! Based on: Macklin et al. XPBD. 2016; [`Distance::project`]: Mueller et al. Position Based Dynamics. 2007.

use glam::DVec3;

/// Which change of length meets resistance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resists {
    /// Both: a spring.
    #[default]
    Both,
    /// Only lengthening: a cord.
    Stretch,
    /// Only shortening: a strut.
    Compression,
}

/// A link between two particles of a strand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// The particles, counted within the strand.
    pub ends: [usize; 2],
    /// Length without force, metres.
    pub rest: f64,
    /// Inverse stiffness, m/N; 0 is rigid.
    pub compliance: f64,
    /// What it resists.
    pub resists: Resists,
    /// Whether the strand's pull (see [`crate::dynamics::Drive`]) stiffens it.
    pub pulled: bool,
}

impl Distance {
    /// Length and unit direction from the first end to the second; `None` where they coincide.
    #[inline]
    fn span(&self, position: &[DVec3]) -> Option<(f64, DVec3)> {
        let between = position[self.ends[1]] - position[self.ends[0]];
        let length = between.length();
        // False for a NaN.
        (length > 1e-12).then(|| (length, between / length))
    }

    #[inline]
    fn is_slack(&self, error: f64) -> bool {
        match self.resists {
            Resists::Both => false,
            Resists::Stretch => error < 0.0,
            Resists::Compression => error > 0.0,
        }
    }

    /// One XPBD correction; `lambda` starts at 0 in each substep. `scaled` is compliance / h^2.
    #[inline]
    pub(crate) fn solve(&self, position: &mut [DVec3], inverse_mass: &[f64], scaled: f64, lambda: &mut f64) {
        let Some((length, along)) = self.span(position) else { return };
        let [i, j] = self.ends;
        let error = length - self.rest;
        let weight = inverse_mass[i] + inverse_mass[j];
        if (self.is_slack(error) && *lambda == 0.0) || weight == 0.0 {
            return;
        }
        let mut change = (-error - scaled * *lambda) / (weight + scaled);
        // A cord never pushes, a strut never pulls, over all iterations together.
        match self.resists {
            Resists::Both => {}
            Resists::Stretch => change = (*lambda + change).min(0.0) - *lambda,
            Resists::Compression => change = (*lambda + change).max(0.0) - *lambda,
        }
        *lambda += change;
        position[i] -= inverse_mass[i] * change * along;
        position[j] += inverse_mass[j] * change * along;
    }

    /// One correction of plain PBD with a stiffness in `(0, 1]` that depends on steps and iterations.
    #[inline]
    pub(crate) fn project(&self, position: &mut [DVec3], inverse_mass: &[f64], stiffness: f64) {
        let Some((length, along)) = self.span(position) else { return };
        let [i, j] = self.ends;
        let error = length - self.rest;
        let weight = inverse_mass[i] + inverse_mass[j];
        if self.is_slack(error) || weight == 0.0 {
            return;
        }
        let change = stiffness * error / weight;
        position[i] += inverse_mass[i] * change * along;
        position[j] -= inverse_mass[j] * change * along;
    }

    /// Tension at these positions when the compliance is divided by `stiffer`, newtons; negative pushes.
    pub(crate) fn tension(&self, position: &[DVec3], stiffer: f64) -> f64 {
        let Some((length, _)) = self.span(position) else { return 0.0 };
        let error = length - self.rest;
        if self.is_slack(error) || self.compliance <= 0.0 { 0.0 } else { error * stiffer / self.compliance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn reference_values() {
        let golden: Value =
            serde_json::from_str(include_str!("../../../tests/data/golden_muscle.json")).unwrap();
        let golden = &golden["pbd"];
        let number = |key: &str| golden[key].as_f64().unwrap();
        let vectors = |key: &str| -> Vec<DVec3> { serde_json::from_value(golden[key].clone()).unwrap() };
        let start = vectors("p");
        let weights: Vec<f64> = serde_json::from_value(golden["inv_mass"].clone()).unwrap();
        let link = Distance {
            ends: [0, 1],
            rest: number("d0"),
            compliance: number("alpha"),
            resists: Resists::Both,
            pulled: false,
        };
        let mut p = start.clone();
        link.project(&mut p, &weights, number("k"));
        for (i, moved) in vectors("dp_pbd").into_iter().enumerate() {
            assert!((p[i] - start[i]).distance(moved) < 1e-12);
        }
        let (mut p, mut lambda) = (start.clone(), 0.0);
        let h = number("dt");
        link.solve(&mut p, &weights, link.compliance / (h * h), &mut lambda);
        assert!((lambda - number("dlambda_first_iter")).abs() < 1e-12);
        for (i, moved) in vectors("dp_xpbd").into_iter().enumerate() {
            assert!((p[i] - start[i]).distance(moved) < 1e-12);
        }
        // The compliance at which one XPBD correction is one PBD correction.
        let same = number("alpha_equiv_of_k");
        let (mut xpbd, mut pbd, mut lambda) = (start.clone(), start, 0.0);
        link.solve(&mut xpbd, &weights, same / (h * h), &mut lambda);
        link.project(&mut pbd, &weights, number("k"));
        assert!(xpbd[0].distance(pbd[0]) < 1e-12);
    }

    #[test]
    fn a_cord_does_not_push() {
        let cord =
            Distance { ends: [0, 1], rest: 1.0, compliance: 0.0, resists: Resists::Stretch, pulled: false };
        let mut p = [DVec3::ZERO, DVec3::X * 0.5];
        cord.solve(&mut p, &[1.0, 1.0], 0.0, &mut 0.0);
        assert_eq!(p[1], DVec3::X * 0.5);
        p[1] = DVec3::X * 2.0;
        cord.solve(&mut p, &[0.0, 1.0], 0.0, &mut 0.0);
        assert_eq!(p, [DVec3::ZERO, DVec3::X]);
    }
}

//! Controllers: how far a joint opens, by the angle between the two fields' gradients.
//!
//! Three control points `(a0, o0) (a1, o1) (a2, o2)` joined by a smooth step, flat beyond the ends:
//!
//! | alpha | opening |
//! |---|---|
//! | up to a0 | `o0` |
//! | a0 to a1 | `o1 + (o0 - o1) kappa((alpha - a1)/(a0 - a1))^w0` |
//! | a1 to a2 | `o1 + (o2 - o1) kappa((alpha - a1)/(a2 - a1))^w1` |
//! | from a2 | `o2` |
//!
//! with `kappa(x) = 1 - exp(1 - 1/(1 - exp(1 - 1/x)))`, all of whose derivatives vanish at 0 and 1.
//!
//! | preset | abscissa | points | w0, w1 | opens |
//! |---|---|---|---|---|
//! | `elbow` | angle | (0, pi/4) (pi/4, 2 pi/15) (pi/2, pi/4) | 1, 1 | a blend at half a right angle |
//! | `finger` | cosine | (-1, pi/4) (0.2, 0.3 pi/4) (0.75, pi/4) | 1, 1 | a wider one near a right angle |
//! | `bulge` | angle | (pi/8, pi/4) (pi/2, 0) (pi, 0) | 0.05, 1 | wide from a right angle on |
//! | `contact` | angle | (pi/4, 0) (pi/4, 0) (pi/2, 1) | 1, 1 | contact from 45 degrees, full at 90 |
//! | `late-contact` | angle | (pi/3, 0) (pi/3, 0) (2 pi/3, 1) | 1, 1 | contact around 90 degrees |
//!
//! Based on: Vaillant et al. Implicit Skinning. 2012, Table 1; the step is reconstructed, after Gourmel et
//! al. A Gradient-Based Implicit Blend. 2013.
//! Differs in: contact from 45 degrees on; "around 90" leaves up to twice the penetration.

use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, FRAC_PI_4, FRAC_PI_8, PI};

/// What the abscissas of the control points are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Abscissa {
    /// The angle between the gradients, radians.
    Angle,
    /// Its cosine: points run from opposite (-1) to equal directions (1).
    Cosine,
}

/// What the ordinates of the control points are, and how an operator's opening follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Theta in `[0, pi/4]`, radians; the opening is its tangent, 1 closed.
    Theta,
    /// The opening itself, as for a contact amount.
    Amount,
}

/// Why control points make no curve.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ControllerError {
    /// The abscissas must not fall.
    #[error("controller points at {0}, {1}, {2} are not in order; sort them by angle or cosine")]
    Order(f64, f64, f64),
    /// An ordinate is out of range.
    #[error("controller opening {value} is outside 0 to {largest}")]
    Opening {
        /// What was given.
        value: f64,
        /// pi/4 for angles, 1 for amounts.
        largest: f64,
    },
    /// A steepness is not a positive number.
    #[error("controller steepness {0} must be above zero")]
    Steepness(f64),
}

/// A curve from gradient angle to opening, see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Controller {
    points: [(f64, f64); 3],
    steepness: [f64; 2],
    abscissa: Abscissa,
    scale: Scale,
}

impl Controller {
    /// A blend around a bent elbow or knee.
    pub(crate) const ELBOW: Self = Self {
        points: [(0.0, FRAC_PI_4), (FRAC_PI_4, 2.0 * PI / 15.0), (FRAC_PI_2, FRAC_PI_4)],
        steepness: [1.0, 1.0],
        abscissa: Abscissa::Angle,
        scale: Scale::Theta,
    };

    /// A wider blend for fingers.
    pub(crate) const FINGER: Self = Self {
        points: [(-1.0, FRAC_PI_4), (0.2, 0.3 * FRAC_PI_4), (0.75, FRAC_PI_4)],
        steepness: [1.0, 1.0],
        abscissa: Abscissa::Cosine,
        scale: Scale::Theta,
    };

    /// Opens quickly at a right angle.
    pub(crate) const BULGE: Self = Self {
        points: [(FRAC_PI_8, FRAC_PI_4), (FRAC_PI_2, 0.0), (PI, 0.0)],
        steepness: [0.05, 1.0],
        abscissa: Abscissa::Angle,
        scale: Scale::Theta,
    };

    /// Contact from 45 degrees, full at 90.
    pub(crate) const CONTACT: Self = Self {
        points: [(FRAC_PI_4, 0.0), (FRAC_PI_4, 0.0), (FRAC_PI_2, 1.0)],
        steepness: [1.0, 1.0],
        abscissa: Abscissa::Angle,
        scale: Scale::Amount,
    };

    /// Contact from 60 degrees, full at 120.
    pub const LATE_CONTACT: Self =
        Self { points: [(FRAC_PI_3, 0.0), (FRAC_PI_3, 0.0), (2.0 * FRAC_PI_3, 1.0)], ..Self::CONTACT };

    /// Names of the presets, for messages and completion.
    pub const NAMES: [&str; 5] = ["elbow", "finger", "bulge", "contact", "late-contact"];

    /// The preset of that name; `None` if there is none.
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "elbow" => Self::ELBOW,
            "finger" => Self::FINGER,
            "bulge" => Self::BULGE,
            "contact" => Self::CONTACT,
            "late-contact" => Self::LATE_CONTACT,
            _ => return None,
        })
    }

    /// A curve through free control points `(abscissa, ordinate)`, sorted by abscissa. A steepness below 1
    /// leaves the middle point faster, above 1 slower.
    pub fn new(
        points: [(f64, f64); 3],
        steepness: [f64; 2],
        abscissa: Abscissa,
        scale: Scale,
    ) -> Result<Self, ControllerError> {
        let [a0, a1, a2] = points.map(|p| p.0);
        if !(a0 <= a1 && a1 <= a2 && a0.is_finite() && a2.is_finite()) {
            return Err(ControllerError::Order(a0, a1, a2));
        }
        let largest = match scale {
            Scale::Theta => FRAC_PI_4,
            Scale::Amount => 1.0,
        };
        if let Some(&(_, value)) = points.iter().find(|(_, o)| !(0.0..=largest).contains(o)) {
            return Err(ControllerError::Opening { value, largest });
        }
        if let Some(&w) = steepness.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
            return Err(ControllerError::Steepness(w));
        }
        Ok(Self { points, steepness, abscissa, scale })
    }

    /// The same opening at every angle.
    pub fn constant(opening: f64, scale: Scale) -> Self {
        let points = [(0.0, opening), (0.0, opening), (PI, opening)];
        Self { points, steepness: [1.0, 1.0], abscissa: Abscissa::Angle, scale }
    }

    /// The curve's ordinate at an angle in `[0, pi]`.
    pub(crate) fn ordinate(&self, angle: f64) -> f64 {
        let x = match self.abscissa {
            Abscissa::Angle => angle,
            Abscissa::Cosine => angle.cos(),
        };
        let [(a0, o0), (a1, o1), (a2, o2)] = self.points;
        let piece =
            |end: f64, ordinate: f64, w: f64| o1 + (ordinate - o1) * step_power((x - a1) / (end - a1), w);
        if x <= a0 {
            o0
        } else if x >= a2 {
            o2
        } else if x <= a1 {
            piece(a0, o0, self.steepness[0])
        } else {
            piece(a2, o2, self.steepness[1])
        }
    }

    /// The operator's opening at an angle in `[0, pi]`.
    #[inline]
    pub fn opening(&self, angle: f64) -> f64 {
        let ordinate = self.ordinate(angle);
        match self.scale {
            Scale::Theta => ordinate.tan(),
            Scale::Amount => ordinate,
        }
    }
}

/// `kappa(x)^w`: from 0 at 0 to 1 at 1, flat at both ends.
fn step_power(x: f64, w: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let y = (1.0 - 1.0 / x).exp();
    if y < 1e-9 {
        // kappa is y to the precision of f64: powers of tiny numbers are avoided.
        return (w * (1.0 - 1.0 / x)).exp();
    }
    let kappa = -(-(y / (1.0 - y))).exp_m1();
    kappa.powf(w)
}

/// Angle between two gradients in radians; 0, which closes every preset, where one of them vanishes.
#[inline]
pub(crate) fn angle(first: Vec3, second: Vec3) -> f64 {
    let (first, second) = (first.as_dvec3(), second.as_dvec3());
    let (long, other) = (first.length(), second.length());
    // Also false for NaN.
    if !(long > 1e-12 && other > 1e-12) {
        return 0.0;
    }
    (first.dot(second) / (long * other)).clamp(-1.0, 1.0).acos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::conformance::{golden, numbers};

    #[test]
    fn reference_values() {
        let golden = &golden()["controllers"];
        let alpha = numbers(&golden["alpha"]);
        for (name, controller) in [("elbow", Controller::ELBOW), ("bulge", Controller::BULGE)] {
            for (&alpha, expected) in alpha.iter().zip(numbers(&golden[name])) {
                let got = controller.ordinate(alpha);
                assert!((got - expected).abs() < 1e-9, "{name} at {alpha}: {got}");
            }
        }
        let expected = numbers(&golden["contact_60_120"]);
        for (alpha, expected) in alpha.iter().zip(expected) {
            assert!((Controller::LATE_CONTACT.opening(*alpha) - expected).abs() < 1e-9);
        }
        for (x, expected) in numbers(&golden["kappa_x"]).into_iter().zip(numbers(&golden["kappa"])) {
            assert!((step_power(x, 1.0) - expected).abs() < 1e-9, "kappa at {x}");
        }
    }

    #[test]
    fn the_opening_has_no_jumps_and_stays_in_range() {
        for name in Controller::NAMES {
            let controller = Controller::by_name(name).unwrap();
            for i in 0..=1000 {
                let angle = f64::from(i) * PI / 1000.0;
                let (before, at) = (controller.opening(angle - 1e-6), controller.opening(angle));
                assert!((0.0..=1.0 + 1e-12).contains(&at), "{name} at {angle}: {at}");
                assert!((at - before).abs() < 1e-4, "{name} jumps at {angle}: {before} to {at}");
            }
        }
    }

    #[test]
    fn equal_directions_close_every_blend_and_open_no_contact() {
        for name in ["elbow", "finger", "bulge"] {
            let opening = Controller::by_name(name).unwrap().opening(0.0);
            assert!((opening - 1.0).abs() < 1e-12, "{name}");
        }
        assert_eq!(Controller::CONTACT.opening(0.0), 0.0);
        assert_eq!(Controller::CONTACT.opening(FRAC_PI_2), 1.0);
    }

    #[test]
    fn angles_between_gradients() {
        assert!((angle(Vec3::X, Vec3::Y * 3.0) - FRAC_PI_2).abs() < 1e-12);
        assert!((angle(Vec3::X, -Vec3::X) - PI).abs() < 1e-12);
        assert_eq!((angle(Vec3::X, Vec3::ZERO), angle(Vec3::NAN, Vec3::X)), (0.0, 0.0));
    }

    #[test]
    fn free_points_are_checked() {
        let make = |points, steepness| Controller::new(points, steepness, Abscissa::Angle, Scale::Amount);
        let good = [(0.0, 0.0), (1.0, 0.2), (2.0, 1.0)];
        assert!((make(good, [1.0, 1.0]).unwrap().opening(1.0) - 0.2).abs() < 1e-12);
        assert!(matches!(
            make([(1.0, 0.0), (0.5, 0.0), (2.0, 1.0)], [1.0; 2]),
            Err(ControllerError::Order(..))
        ));
        assert!(matches!(make([(f64::NAN, 0.0); 3], [1.0; 2]), Err(ControllerError::Order(..))));
        assert!(matches!(make([(0.0, 2.0); 3], [1.0; 2]), Err(ControllerError::Opening { .. })));
        assert_eq!(make(good, [0.0, 1.0]), Err(ControllerError::Steepness(0.0)));
        let constant = Controller::constant(0.3, Scale::Amount);
        assert!([0.0, 1.0, PI].iter().all(|a| constant.opening(*a) == 0.3));
    }
}

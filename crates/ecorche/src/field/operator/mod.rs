//! Operators join two fields into one; a controller says how far the joint is open.
//!
//! One file per operator, each with value and exact partials. Operators and controllers work on `f64`: they
//! handle three numbers per point, and the roots of the [`openable`] family lose half their digits in `f32`.
//!
//! | operator | opening | use |
//! |---|---|---|
//! | [`Union`] | none | sharp crease |
//! | [`Ricci`] | none | blend everywhere; bulges where fields align |
//! | [`CleanUnion`] | none | the union's surface with a smooth field around it |
//! | [`Blend`] | `tan theta` | smooth joint where the gradients say so |
//! | [`Bulge`] | `tan theta` | contact crease with the flesh pushed up beside it |
//! | [`Contact`] | contact amount | a wall between two limbs that press on each other |
//! | [`Detail`] | none | small shapes on a main one |
//! | [`Fillet`] | none | muscles and the skin that spans the grooves between them; not chosen by name |
//!
//! [`Table`] holds any of them as numbers, for those that are slow to solve.

pub mod blend;
pub mod bulge;
pub mod clean_union;
#[cfg(test)]
mod conformance;
pub mod contact;
pub mod controller;
pub mod detail;
pub mod fillet;
pub mod openable;
pub mod ricci;
pub mod table;
pub mod union;

pub use blend::Blend;
pub use bulge::Bulge;
pub use clean_union::CleanUnion;
pub use contact::Contact;
pub use controller::{Abscissa, Controller, ControllerError, Scale};
pub use detail::Detail;
pub use fillet::Fillet;
pub use ricci::Ricci;
pub use table::{Table, TableError, TableSettings};
pub use union::Union;

use super::Sample;
use std::fmt::Debug;
use std::sync::Arc;

/// A composed value and its derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Composed {
    /// The new field's value.
    pub value: f64,
    /// Derivative by the first value.
    pub da: f64,
    /// Derivative by the second value.
    pub db: f64,
    /// Derivative by the opening; 0 for operators without one.
    pub dopening: f64,
}

impl Composed {
    /// The first value as it is.
    pub(crate) fn first(a: f64) -> Self {
        Self { value: a, da: 1.0, db: 0.0, dopening: 0.0 }
    }

    /// The second value as it is.
    pub(crate) fn second(b: f64) -> Self {
        Self { value: b, da: 0.0, db: 1.0, dopening: 0.0 }
    }

    /// The larger value; the first of equals.
    pub(crate) fn larger(a: f64, b: f64) -> Self {
        if a >= b { Self::first(a) } else { Self::second(b) }
    }
}

/// A rule that makes one compact field of two.
pub trait Operator: Debug + Send + Sync {
    /// Name as written in anatomy files and on the command line.
    fn name(&self) -> &'static str;

    /// Composes two values in `[0, 1]`. `opening` is in `[0, 1]`; its meaning depends on the operator.
    fn compose(&self, a: f64, b: f64, opening: f64) -> Composed;

    /// Whether it lowers the larger value where the other is near, as a wall between two limbs does.
    fn separates(&self) -> bool {
        false
    }

    /// The controller used when none is chosen.
    fn default_controller(&self) -> Controller {
        Controller::constant(1.0, Scale::Amount)
    }
}

impl dyn Operator + '_ {
    /// Joins two samples taken at the same point, without the gradient of the opening.
    #[inline]
    pub(crate) fn join(&self, first: Sample, second: Sample, opening: f64) -> Sample {
        let joined = self.compose(f64::from(first.value), f64::from(second.value), opening);
        Sample {
            value: joined.value as f32,
            gradient: joined.da as f32 * first.gradient + joined.db as f32 * second.gradient,
        }
    }
}

/// Names of the operators that can be chosen, for messages and completion.
pub const NAMES: [&str; 9] = [
    "union",
    "ricci",
    "clean-union",
    "gradient-blend",
    "blend",
    "bulge",
    "contact",
    "detail",
    "clean-open-union",
];

/// The operator of that name with its default settings; `None` if there is none.
pub fn by_name(name: &str) -> Option<Box<dyn Operator>> {
    Some(match name {
        "union" => Box::new(Union),
        "ricci" => Box::new(Ricci::default()),
        "clean-union" => Box::new(CleanUnion::default()),
        "clean-open-union" => Box::new(CleanUnion { bounded: false }),
        "gradient-blend" => Box::new(Blend::GRADIENT),
        "blend" => Box::new(Blend::default()),
        "bulge" => Box::new(Bulge::default()),
        "contact" => Box::new(Contact::default()),
        "detail" => Box::new(Detail::default()),
        _ => return None,
    })
}

/// An operator with its controller: what sits at a joint.
#[derive(Clone, Debug)]
pub struct Composition {
    /// How values are joined.
    pub operator: Arc<dyn Operator>,
    /// How the angle between the gradients opens the joint.
    pub controller: Controller,
}

impl Composition {
    /// The operator under its default controller.
    pub fn new(operator: Box<dyn Operator>) -> Self {
        let controller = operator.default_controller();
        Self { operator: operator.into(), controller }
    }

    /// The operator of that name as it is fastest to evaluate, under its default controller; `None` if there is
    /// none.
    pub fn by_name(name: &str) -> Option<Self> {
        let operator = by_name(name)?;
        let searched = matches!(name, "bulge" | "clean-union" | "clean-open-union");
        Some(if searched { Self::tabulated(operator.as_ref()) } else { Self::new(operator) })
    }

    /// The operator read from a [`Table`] of the default size, under its default controller. Pays for the bulge
    /// and the clean union.
    pub fn tabulated(operator: &dyn Operator) -> Self {
        match Table::bake(operator, &TableSettings::default()) {
            Ok(table) => Self::new(Box::new(table)),
            Err(error) => unreachable!("the default size is one of those allowed: {error}"),
        }
    }

    /// Joins two samples taken at the same point.
    ///
    /// The gradient leaves out how the opening changes with the angle between the gradients, which would take
    /// second derivatives of both fields: 1 degree off on average near the surface, 7 in one of twenty
    /// points.
    #[inline]
    pub fn join(&self, first: Sample, second: Sample) -> Sample {
        let opening = self.controller.opening(controller::angle(first.gradient, second.gradient));
        self.operator.join(first, second, opening)
    }
}

//! An operator read from a table of values and partials.
//!
//! Axes are a, b and the opening, each over `[0, 1]`; trilinear in between. The partials are stored: those of
//! the interpolated values jump from cell to cell. Closed forms (union, contact, blend, detail) are faster
//! than the table; it pays for the bulge (9 times) and the clean union (4 times), whose roots are searched.
//!
//! Errors at 129 x 129 x 33 nodes, over all of `[0, 1]^3`, values rms and largest:
//!
//! | operator | rms | largest |
//! |---|---|---|
//! | blend | 6.0e-5 | 1.8e-3 |
//! | bulge | 1.1e-4 | 3.5e-3 |
//! | clean union | 3.7e-5 | 1.5e-3 |
//!
//! The largest sit on the creases, where partials blend from one side to the other over one cell.
//!
//! Based on: Vaillant et al. Implicit Skinning. 2012, which tabulates on the GPU.
//! Differs in: partials stored beside the values; the opening axis is `tan theta`, not theta.

use super::{Composed, Controller, Operator};
use rayon::prelude::*;

/// How finely an operator is tabulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSettings {
    /// Cells along a and b. Doubling it halves the error on creases and takes 4 times the memory.
    pub values: usize,
    /// Cells along the opening.
    pub openings: usize,
}

impl Default for TableSettings {
    /// 128 and 32: at 64 gradients turn by 6 degrees in one of a hundred points; more openings gain nothing.
    fn default() -> Self {
        Self { values: 128, openings: 32 }
    }
}

/// Largest number of cells along an axis.
const MAX_CELLS: usize = 256;

/// Why an operator was not tabulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// A number of cells outside `1..=MAX_CELLS`.
    #[error("operator table of {0} cells along an axis; choose 1 to {MAX_CELLS}")]
    Cells(usize),
}

/// A tabulated operator, see the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    name: &'static str,
    controller: Controller,
    separates: bool,
    settings: TableSettings,
    /// Value, partials by a, b and opening; a fastest, opening slowest.
    nodes: Vec<[f32; 4]>,
}

impl Table {
    /// Tabulates an operator.
    pub fn bake(operator: &dyn Operator, settings: &TableSettings) -> Result<Self, TableError> {
        let TableSettings { values, openings } = *settings;
        if let Some(&cells) = [values, openings].iter().find(|c| !(1..=MAX_CELLS).contains(*c)) {
            return Err(TableError::Cells(cells));
        }
        let (row, slice) = (values + 1, (values + 1) * (values + 1));
        let mut nodes = vec![[0.0f32; 4]; slice * (openings + 1)];
        nodes.par_chunks_mut(slice).enumerate().for_each(|(k, nodes)| {
            for (i, node) in nodes.iter_mut().enumerate() {
                let at = |index: usize, cells: usize| index as f64 / cells as f64;
                let c = operator.compose(at(i % row, values), at(i / row, values), at(k, openings));
                *node = [c.value as f32, c.da as f32, c.db as f32, c.dopening as f32];
            }
        });
        Ok(Self {
            name: operator.name(),
            controller: operator.default_controller(),
            separates: operator.separates(),
            settings: *settings,
            nodes,
        })
    }
}

impl Operator for Table {
    fn name(&self) -> &'static str {
        self.name
    }

    fn compose(&self, a: f64, b: f64, opening: f64) -> Composed {
        let TableSettings { values, openings } = self.settings;
        let locate = |v: f64, cells: usize| {
            let at = v.clamp(0.0, 1.0) * cells as f64;
            let cell = (at as usize).min(cells - 1);
            (cell, (at - cell as f64) as f32)
        };
        let ((i, x), (j, y), (k, z)) = (locate(a, values), locate(b, values), locate(opening, openings));
        let (row, slice) = (values + 1, (values + 1) * (values + 1));
        let first = i + row * j + slice * k;
        let mix = |a: [f32; 4], b: [f32; 4], t: f32| -> [f32; 4] {
            std::array::from_fn(|n| a[n] + t * (b[n] - a[n]))
        };
        let edge = |n: usize| mix(self.nodes[n], self.nodes[n + 1], x);
        let face = |n: usize| mix(edge(n), edge(n + row), y);
        let [value, da, db, dopening] = mix(face(first), face(first + slice), z).map(f64::from);
        Composed { value, da, db, dopening }
    }

    fn separates(&self) -> bool {
        self.separates
    }

    fn default_controller(&self) -> Controller {
        self.controller
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Blend, Bulge, CleanUnion};
    use super::*;

    /// Root mean square and largest error of the value.
    fn errors(operator: &dyn Operator) -> (f64, f64) {
        let table = Table::bake(operator, &TableSettings::default()).unwrap();
        let (mut sum, mut largest, count) = (0.0, 0.0f64, 50_000);
        for i in 1..=count {
            let part = |k: f64| (f64::from(i) * k).fract();
            let (a, b, t) = (part(0.754_877_666), part(0.569_840_290), part(0.430_159_709));
            let error = (table.compose(a, b, t).value - operator.compose(a, b, t).value).abs();
            sum += error * error;
            largest = largest.max(error);
        }
        ((sum / f64::from(count)).sqrt(), largest)
    }

    #[test]
    fn the_error_is_the_documented_one() {
        let operators: [(&dyn Operator, f64, f64); 3] = [
            (&Blend::default(), 8e-5, 2.5e-3),
            (&Bulge::default(), 1.3e-4, 4e-3),
            (&CleanUnion::default(), 5e-5, 2e-3),
        ];
        for (operator, rms_limit, limit) in operators {
            let (rms, largest) = errors(operator);
            assert!(rms < rms_limit && largest < limit, "{}: {rms:e}, {largest:e}", operator.name());
        }
    }

    #[test]
    fn an_absent_field_changes_nothing() {
        let table = Table::bake(&Bulge::default(), &TableSettings { values: 32, openings: 4 }).unwrap();
        for i in 0..=100 {
            let value = f64::from(i) / 100.0;
            assert!((table.compose(value, 0.0, 0.3).value - value).abs() < 1e-6);
            assert!((table.compose(0.0, value, 0.3).value - value).abs() < 1e-6);
        }
        assert_eq!((table.name(), table.default_controller()), ("bulge", Controller::BULGE));
        assert!(table.compose(f64::NAN, 2.0, -1.0).value.is_nan(), "no panic on senseless values");
    }

    #[test]
    fn senseless_sizes_are_refused() {
        for cells in [0, 257, usize::MAX] {
            let settings = TableSettings { values: cells, openings: 4 };
            assert_eq!(Table::bake(&CleanUnion::default(), &settings), Err(TableError::Cells(cells)));
        }
    }
}

//! `ecorche operator`: an operator's graph and its controller's curve.

use super::write_png;
use crate::arguments::OperatorArguments;
use crate::console::Console;
use crate::{Failure, Outcome};
use ecorche::field::Controller;
use ecorche::field::operator::{NAMES, by_name};
use ecorche::output::operator_graph::operator_graph;

/// Pixels of each square.
const SIDE: usize = 320;

/// Draws the operator.
pub fn run(arguments: &OperatorArguments, console: &Console) -> Result<Outcome, Failure> {
    let operator = by_name(&arguments.name).ok_or_else(|| {
        format!("no operator is called \"{}\"; there are {}", arguments.name, NAMES.join(", "))
    })?;
    let controller = match &arguments.controller {
        Some(name) => Controller::by_name(name).ok_or_else(|| {
            format!("no controller is called \"{name}\"; there are {}", Controller::NAMES.join(", "))
        })?,
        None => operator.default_controller(),
    };
    if let Some(bad) = arguments.openings.iter().find(|o| !(0.0..=1.0).contains(*o)) {
        return Err(format!("an opening of {bad} is out of range; give numbers from 0 to 1").into());
    }
    let path = arguments.output.clone().unwrap_or_else(|| format!("{}.png", arguments.name).into());
    let graph = operator_graph(operator.as_ref(), &controller, &arguments.openings, SIDE);
    write_png(&path, &graph, console)?;
    Ok(Outcome::Done)
}

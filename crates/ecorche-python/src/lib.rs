//! Écorché as a Python package. Arguments become a [`Recipe`](ecorche::recipe::Recipe), the library does the rest.
//!
//! The Python side is `python/ecorche`; its stub `_engine.pyi` describes what is here, and a test compares the two.

mod anatomy;
mod arguments;
mod arrays;
mod body;
mod character;
mod error;
mod frame;
mod from_arrays;
mod job;
mod poses;

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs a command line, whose first word is the program's name, and returns the exit code.
#[pyfunction]
#[pyo3(signature = (arguments, /))]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| ecorche_cli::run(arguments))
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Stopped", module.py().get_type::<error::Stopped>())?;
    module.add_class::<anatomy::Anatomy>()?;
    module.add_class::<anatomy::Muscle>()?;
    module.add_class::<body::Baked>()?;
    module.add_class::<body::Body>()?;
    module.add_class::<character::Character>()?;
    module.add_class::<character::Clip>()?;
    module.add_class::<character::Placed>()?;
    module.add_class::<frame::Frame>()?;
    module.add_class::<frame::Frames>()?;
    module.add_function(wrap_pyfunction!(character::read, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)
}

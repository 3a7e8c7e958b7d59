//! The library's errors as Python's, with the library's own text.

use pyo3::exceptions::{PyException, PyFileNotFoundError, PyOSError, PyPermissionError, PyValueError};
use pyo3::prelude::*;
use std::error::Error;
use std::io;

pyo3::create_exception!(ecorche, Stopped, PyException, "The progress function asked to stop.");

/// `FileNotFoundError` or another `OSError` where the operating system refused, else `ValueError`.
pub fn raised(error: impl Error + 'static) -> PyErr {
    let text = error.to_string();
    let causes = std::iter::successors(Some(&error as &(dyn Error + 'static)), |error| (*error).source());
    match causes.filter_map(|cause| cause.downcast_ref::<io::Error>()).last().map(io::Error::kind) {
        Some(io::ErrorKind::NotFound) => PyFileNotFoundError::new_err(text),
        Some(io::ErrorKind::PermissionDenied) => PyPermissionError::new_err(text),
        Some(_) => PyOSError::new_err(text),
        None => PyValueError::new_err(text),
    }
}

/// `ValueError` about an argument.
pub fn wrong(argument: &str, problem: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("{argument}: {problem}"))
}

//! Arrays in and out. Error messages name the argument.

use crate::error::wrong;
use glam::Vec3;
use numpy::ndarray::ArrayView2;
use numpy::{Element, PyArray2, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The length an array must have along one axis; `None` for any.
type Side = Option<usize>;

/// The values of an array of 32-bit floats, row by row, and the length of its first axis.
pub fn floats(name: &str, value: &Bound<'_, PyAny>, shape: &[Side]) -> PyResult<(Vec<f32>, usize)> {
    numbers::<f32>(name, "float32", value, shape)
}

/// The values of an array of 32- or 64-bit matrices, and the length of its first axis.
pub fn matrices(name: &str, value: &Bound<'_, PyAny>, shape: &[Side]) -> PyResult<(Vec<f64>, usize)> {
    if value.cast::<PyArrayDyn<f64>>().is_ok() {
        return numbers::<f64>(name, "float64", value, shape);
    }
    let (single, first) = floats(name, value, shape)?;
    Ok((single.into_iter().map(f64::from).collect(), first))
}

/// Indices: integers of any width, 0 or above, row by row, and the shape of the array.
pub fn indices(name: &str, value: &Bound<'_, PyAny>, shape: &[Side]) -> PyResult<(Vec<u32>, Vec<usize>)> {
    let whole = signed(name, value, shape)?;
    let indices = whole.0.into_iter().map(|i| {
        u32::try_from(i).map_err(|_| wrong(name, format_args!("{i} is not an index; indices count from 0")))
    });
    Ok((indices.collect::<PyResult<_>>()?, whole.1))
}

/// Integers of any width, and the shape of the array.
pub fn signed(name: &str, value: &Bound<'_, PyAny>, shape: &[Side]) -> PyResult<(Vec<i64>, Vec<usize>)> {
    let dtype = described(name, value)?;
    if !dtype.contains("int") {
        return Err(wrong(name, format_args!("an array of whole numbers expected, {dtype} given")));
    }
    let wide = value.call_method1("astype", ("int64",))?;
    let array = wide.cast::<PyArrayDyn<i64>>()?;
    check_shape(name, array.shape(), shape)?;
    Ok((array.readonly().as_array().iter().copied().collect(), array.shape().to_vec()))
}

fn numbers<T: Element + Copy>(
    name: &str,
    kind: &str,
    value: &Bound<'_, PyAny>,
    shape: &[Side],
) -> PyResult<(Vec<T>, usize)> {
    let dtype = described(name, value)?;
    let Ok(array) = value.cast::<PyArrayDyn<T>>() else {
        return Err(wrong(
            name,
            format_args!("{kind} expected, {dtype} given; convert it with .astype(\"{kind}\")"),
        ));
    };
    check_shape(name, array.shape(), shape)?;
    Ok((array.readonly().as_array().iter().copied().collect(), array.shape()[0]))
}

/// The type of an array's elements; an error for anything that is not an array.
fn described(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let dtype = value.getattr("dtype").and_then(|dtype| dtype.getattr("name"));
    let is_array = value.hasattr("__array_interface__")? && value.hasattr("astype")?;
    match dtype {
        Ok(dtype) if is_array => dtype.extract(),
        _ => Err(wrong(name, format_args!("a NumPy array expected, {} given", value.get_type().name()?))),
    }
}

fn check_shape(name: &str, found: &[usize], expected: &[Side]) -> PyResult<()> {
    let fits = found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, side)| side.is_none_or(|side| side == *found));
    if fits {
        return Ok(());
    }
    let letters = ["N", "M", "K", "L"];
    let side = |(i, side): (usize, &Side)| side.map_or_else(|| letters[i % 4].to_owned(), |n| n.to_string());
    Err(wrong(
        name,
        format_args!(
            "shape ({}) expected, ({}) given",
            listed(expected.iter().enumerate().map(side)),
            listed(found.iter().map(usize::to_string))
        ),
    ))
}

/// A tuple as Python writes it: a single element is followed by a comma.
fn listed(sides: impl Iterator<Item = String>) -> String {
    let sides: Vec<String> = sides.collect();
    if let [one] = &sides[..] { format!("{one},") } else { sides.join(", ") }
}

/// A read-only `(V, 3)` array of `points`, which `owner` holds and never changes: nothing is copied, and the array keeps the
/// owner alive.
///
/// # Safety
/// `owner` must own the memory of `points` and keep it in place and unchanged for as long as it lives.
pub unsafe fn view<'py>(points: &[Vec3], owner: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let flat: &[f32] = bytemuck::cast_slice(points);
    let rows = ArrayView2::from_shape((points.len(), 3), flat).map_err(|e| wrong("points", e))?;
    // SAFETY: the caller promises that the owner keeps the memory.
    let array = unsafe { PyArray2::borrow_from_array(&rows, owner) };
    array.readwrite().make_nonwriteable();
    Ok(array)
}

/// The parts of a tuple of `N`.
pub fn tuple<'py, const N: usize>(value: &Bound<'py, PyAny>) -> Option<[Bound<'py, PyAny>; N]> {
    let tuple = value.cast::<PyTuple>().ok()?;
    tuple.iter().collect::<Vec<_>>().try_into().ok()
}

//! Joint transforms, as the matrices that [`from_arrays`](crate::from_arrays) takes.

use ecorche::character::World;
use glam::{Affine3A, Mat3};
use numpy::{PyArray, PyArray1, PyArray4, PyArrayMethods};
use pyo3::prelude::*;

/// World from joint of `frames` poses, one after the other, in the user's space: `(F, J, 4, 4)` float32, rows first.
pub fn matrices<'py>(
    py: Python<'py>,
    world: World,
    poses: &[Affine3A],
    frames: usize,
) -> PyResult<Bound<'py, PyArray4<f32>>> {
    let joints = poses.len() / frames.max(1);
    let mut flat = Vec::with_capacity(16 * poses.len());
    for pose in poses {
        let turned = world.axes.transpose() * Mat3::from(pose.matrix3) * world.axes;
        let at = world.to_user(pose.translation.into()).to_array();
        for (row, at) in at.into_iter().enumerate() {
            flat.extend(turned.row(row).to_array());
            flat.push(at);
        }
        flat.extend([0.0, 0.0, 0.0, 1.0]);
    }
    let flat: Bound<'_, PyArray1<f32>> = PyArray::from_vec(py, flat);
    flat.reshape([frames, joints, 4, 4])
}

//! Transforms of prims: `xformOpOrder` and its operations, at rest and over time.

use super::layer::{Attribute, Layer, Value};
use crate::character::transform_keys::between_matrices;
use glam::{DMat4, DQuat, DVec3};

/// The operations of one prim, outermost first.
pub struct XformStack<'a> {
    operations: Vec<Operation<'a>>,
    /// Whether the prim ignores the transforms above it.
    pub resets: bool,
}

struct Operation<'a> {
    /// `translate`, `rotateXYZ`, ...
    kind: &'a str,
    attribute: &'a Attribute,
    inverted: bool,
}

impl<'a> XformStack<'a> {
    /// The operations `prim` lists.
    pub fn of(layer: &'a Layer, prim: usize) -> Self {
        let mut stack = Self { operations: Vec::new(), resets: false };
        for name in layer.still(prim, "xformOpOrder").map_or(&[][..], Value::texts) {
            if name == "!resetXformStack!" {
                stack.operations.clear();
                stack.resets = true;
                continue;
            }
            let (inverted, name) = match name.strip_prefix("!invert!") {
                Some(name) => (true, name),
                None => (false, name.as_str()),
            };
            let kind = name.split(':').nth(1).unwrap_or_default();
            if let Some(attribute) = layer.attribute(prim, name) {
                stack.operations.push(Operation { kind, attribute, inverted });
            }
        }
        stack
    }

    /// Time codes at which any operation has a sample, ascending.
    pub fn times(&self) -> Vec<f64> {
        let mut times: Vec<f64> =
            self.operations.iter().flat_map(|op| op.attribute.samples.iter().map(|s| s.0)).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// Parent-from-prim when nothing moves.
    pub fn rest(&self) -> DMat4 {
        self.product(|op| op.attribute.still().and_then(|value| matrix(op.kind, value)))
    }

    /// Parent-from-prim at a time code.
    pub fn at(&self, time: f64) -> DMat4 {
        self.product(|op| matrix(op.kind, &sample(op, time)?))
    }

    fn product(&self, matrix_of: impl Fn(&Operation) -> Option<DMat4>) -> DMat4 {
        self.operations.iter().fold(DMat4::IDENTITY, |above, op| {
            let matrix = matrix_of(op).unwrap_or(DMat4::IDENTITY);
            above * if op.inverted { matrix.inverse() } else { matrix }
        })
    }
}

/// The value at a time code: straight between samples, held outside them.
fn sample(operation: &Operation, time: f64) -> Option<Value> {
    let samples = &operation.attribute.samples;
    let next = samples.partition_point(|s| s.0 <= time);
    if samples.is_empty() {
        return operation.attribute.still().cloned();
    }
    let (a, b) = (&samples[next.saturating_sub(1)], &samples[next.min(samples.len() - 1)]);
    let share = if b.0 > a.0 { ((time - a.0) / (b.0 - a.0)).clamp(0.0, 1.0) } else { 0.0 };
    match operation.kind {
        "orient" => {
            let q = a.1.quaternions().next()?.slerp(b.1.quaternions().next()?, share);
            return Some(Value::Numbers { width: 4, values: vec![q.w, q.x, q.y, q.z] });
        }
        "transform" if share > 0.0 => {
            let between = between_matrices(a.1.matrices().next()?, b.1.matrices().next()?, share);
            return Some(Value::Numbers { width: 16, values: between.to_cols_array().to_vec() });
        }
        _ => {}
    }
    let Value::Numbers { width, values } = a.1.as_ref() else { return None };
    let other = b.1.numbers();
    let mix = |(i, &x): (usize, &f64)| x + (other.get(i).copied().unwrap_or(x) - x) * share;
    Some(Value::Numbers { width: *width, values: values.iter().enumerate().map(mix).collect() })
}

fn matrix(kind: &str, value: &Value) -> Option<DMat4> {
    let number = || value.number();
    let vector = || value.vectors().next();
    let about = |axis: char, degrees: f64| {
        let angle = degrees.to_radians();
        match axis {
            'X' => DMat4::from_rotation_x(angle),
            'Y' => DMat4::from_rotation_y(angle),
            _ => DMat4::from_rotation_z(angle),
        }
    };
    let along = |axis: &str, n: f64, rest: f64| match axis {
        "X" => DVec3::new(n, rest, rest),
        "Y" => DVec3::new(rest, n, rest),
        _ => DVec3::new(rest, rest, n),
    };
    match kind {
        "translate" => vector().map(DMat4::from_translation),
        "scale" => vector().map(DMat4::from_scale),
        "orient" => {
            let q = value.quaternions().next()?;
            Some(DMat4::from_quat(if q.length_squared() > 0.0 { q.normalize() } else { DQuat::IDENTITY }))
        }
        "transform" => value.matrices().next(),
        "translateX" | "translateY" | "translateZ" => {
            Some(DMat4::from_translation(along(&kind[9..], number()?, 0.0)))
        }
        "scaleX" | "scaleY" | "scaleZ" => Some(DMat4::from_scale(along(&kind[5..], number()?, 1.0))),
        "rotateX" | "rotateY" | "rotateZ" => Some(about(kind.chars().last()?, number()?)),
        "rotateXYZ" | "rotateXZY" | "rotateYXZ" | "rotateYZX" | "rotateZXY" | "rotateZYX" => {
            let angles = vector()?;
            // The first letter turns first.
            Some(kind[6..].chars().fold(DMat4::IDENTITY, |done, axis| {
                let degrees = match axis {
                    'X' => angles.x,
                    'Y' => angles.y,
                    _ => angles.z,
                };
                about(axis, degrees) * done
            }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{layer::ROOT, text};
    use super::*;

    fn stack_of(body: &str) -> Layer {
        text::parse(format!("#usda 1.0\ndef Xform \"a\" {{ {body} }}").as_bytes()).unwrap()
    }

    #[test]
    fn operations_apply_from_the_last_to_the_first() {
        let layer = stack_of(
            "float3 xformOp:rotateXYZ = (90, 0, 90)\n double3 xformOp:translate = (1, 2, 3)
             float3 xformOp:scale = (2, 2, 2)
             uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:rotateXYZ\", \"xformOp:scale\"]",
        );
        let prim = layer.find(ROOT, "/a").unwrap();
        let rest = XformStack::of(&layer, prim).rest();
        // Y doubled, turned to Z by X, left there by Z, then moved.
        assert!(rest.transform_point3(DVec3::Y).distance(DVec3::new(1.0, 2.0, 5.0)) < 1e-9);
    }

    #[test]
    fn a_pivot_and_its_inverse_cancel() {
        let layer = stack_of(
            "float3 xformOp:translate:pivot = (4, 5, 6)
             float xformOp:rotateZ.timeSamples = { 0: 0, 10: 90 }
             uniform token[] xformOpOrder =
                 [\"xformOp:translate:pivot\", \"xformOp:rotateZ\", \"!invert!xformOp:translate:pivot\"]",
        );
        let stack = XformStack::of(&layer, layer.find(ROOT, "/a").unwrap());
        assert_eq!(stack.times(), [0.0, 10.0]);
        let pivot = DVec3::new(4.0, 5.0, 6.0);
        assert!(stack.at(5.0).transform_point3(pivot).distance(pivot) < 1e-9);
        let half = stack.at(5.0).transform_vector3(DVec3::X);
        assert!((half.x - 0.5f64.sqrt()).abs() < 1e-9);
    }
}

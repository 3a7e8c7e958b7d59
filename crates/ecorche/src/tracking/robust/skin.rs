//! Stage `skin`: where tracking starts. Skinning, by dual quaternions unless another was chosen, and the displacement by what
//! lies under the skin.

use super::pose::Posed;
use super::tracker::{State, Tracked, Tracker, VERTICES_PER_TASK, Workspace};
use crate::math::DualQuat;
use crate::parts::FOLLOWS;
use crate::skinning::{self, Skinner, Skinning};
use glam::{Affine3A, Mat3A, Quat, Vec3, Vec3A, Vec4};
use rayon::prelude::*;

/// Scratch of a start other than dual quaternions.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    skinning: skinning::Workspace,
    rest: Vec<Vec3>,
    positions: Vec<Vec3>,
}

impl Tracker {
    /// Starts from where `skinner` takes the surface. Vertices turn as under dual quaternions all the same: the matrices of
    /// linear blending collapse in deep bends.
    #[must_use]
    pub fn starting_from(mut self, skinner: Skinner) -> Self {
        self.start = Some(skinner).filter(|s| s.skinning() != Skinning::DualQuaternion);
        self
    }

    /// Skinned positions and motions, the values at rest, and the positions to start from.
    pub(super) fn skin(
        &self,
        posed: &Posed,
        posed_from_bind: &[Affine3A],
        rest: &[Vec3],
        state: Option<&State>,
        w: &mut Workspace,
        tracked: &mut Tracked,
    ) {
        let model = &self.model;
        w.rest.clear();
        if rest.len() == self.len() {
            w.rest.extend(rest.iter().map(|&p| Vec3A::from(p)));
        } else {
            w.rest.extend_from_slice(&model.rest);
        }
        let rest = &w.rest;
        let moved = |v: usize| rest[v] != model.rest[v];
        let iso = |v: usize| {
            if !moved(v) || model.iso[v] == 0.0 {
                return model.iso[v];
            }
            model.value_at_rest(rest[v].into())
        };
        (0..self.len()).into_par_iter().with_min_len(VERTICES_PER_TASK).map(iso).collect_into_vec(&mut w.iso);
        let other = self.start.as_ref().map(|skinner| {
            let Scratch { skinning, rest: from, positions } = &mut w.start;
            from.clear();
            from.extend(rest.iter().map(|&p| Vec3::from(p)));
            positions.resize(from.len(), Vec3::ZERO);
            skinner.skin(posed_from_bind, from, positions, skinning);
            positions.as_slice()
        });
        let skinned = |v: usize| skin_vertex(posed, v, rest[v], other.map(|other| other[v]));
        (0..self.len())
            .into_par_iter()
            .with_min_len(VERTICES_PER_TASK)
            .map(skinned)
            .collect_into_vec(&mut w.skinned);
        let is_morphed = (0..self.len()).any(|v| rest[v] != model.rest[v]);
        w.plain.clone_from(&w.skinned);
        tracked.note_at("skin", &w.skinned);
        self.swell.displace(
            posed,
            &self.rest_surface.triangles,
            rest,
            is_morphed,
            &self.plate,
            &mut w.skinned,
            &mut w.swell,
        );
        tracked.note_at("swell", &w.skinned);
        self.lift.displace(posed.layers, model, rest, &self.plate, &mut w.skinned, &mut w.lift);
        tracked.note_at("lift", &w.skinned);
        self.blend.displace(posed, &self.plate, &mut w.skinned, &mut w.blend);
        tracked.note_at("blend", &w.skinned);
        let skinned = w.skinned.par_iter().with_min_len(4 * VERTICES_PER_TASK);
        match state {
            Some(state) => {
                let from = |(s, &offset): (&(Vec3A, Mat3A), &Vec3A)| s.0 + s.1 * offset;
                skinned.zip(&state.offsets).map(from).collect_into_vec(&mut tracked.positions);
            }
            None => skinned.map(|s| s.0).collect_into_vec(&mut tracked.positions),
        }
    }
}

/// Position of vertex `v` that rests at `rest`, displaced with the flesh under it, and the matrix of its motion. `start`: where
/// another skinning than dual quaternions takes it.
fn skin_vertex(posed: &Posed, v: usize, rest: Vec3A, start: Option<Vec3>) -> (Vec3A, Mat3A) {
    let (x, turn) = blend(posed, v, rest);
    let x = start.map_or(x, Vec3A::from);
    let model = posed.model;
    // What has no part of its own goes along with that of its strongest joint.
    let strongest = model.influences_of(v).first().map_or(FOLLOWS, |i| model.part_of_joint[i.0 as usize]);
    let part = if model.part[v] == FOLLOWS { strongest } else { model.part[v] };
    (posed.displace(part, x), turn)
}

fn blend(posed: &Posed, v: usize, rest: Vec3A) -> (Vec3A, Mat3A) {
    let list = posed.model.influences_of(v);
    let Some(&(strongest, _)) = list.first() else { return (rest, Mat3A::IDENTITY) };
    let side = posed.rigid[strongest as usize].real;
    let mut sum = DualQuat { real: Vec4::ZERO, dual: Vec4::ZERO };
    let mut stretch = Mat3A::ZERO;
    for &(joint, weight) in list {
        let motion = posed.rigid[joint as usize];
        sum = sum.plus(motion, weight.copysign(side.dot(motion.real)));
        if posed.stretched {
            stretch += posed.stretch[joint as usize] * weight;
        }
    }
    let length = sum.real.length();
    if !(length > 0.0 && length.is_finite()) {
        return (rest, Mat3A::IDENTITY);
    }
    let rotation = Mat3A::from_quat(Quat::from_vec4(sum.real / length));
    if posed.stretched {
        (sum.transform_point(stretch * rest), rotation * stretch)
    } else {
        (sum.transform_point(rest), rotation)
    }
}

//! Stage `skin`, its last part: skin goes up and down with the muscles under it.
//!
//! How far the muscles stand under a vertex is a smooth minimum of the distances to their bellies: with d the distances, w the
//! share of each muscle in the skin there, R the inner radius and k the width over which grooves are rounded,
//! `D = -k log(e^(-R/k) + sum of w (e^(-d/k) - e^(-R/k)))`. Muscles deeper than R have no say. Skin is lifted by what D is
//! smaller than at rest, less with depth, up to a soft limit; then that height is diffused along the skin and goes along the
//! skin's broad normals. At rest it is zero.

use super::RestLayers;
use super::model::Model;
use super::plate::Plate;
use super::pose::smoothstep;
use super::tracker::VERTICES_PER_TASK;
use crate::tracking::Layers;
use glam::{Mat3A, Vec3A};
use rayon::prelude::*;
use std::sync::Arc;

/// In inner radii: muscles up to this deep under the skin move it in full, those deeper than one less and less.
const FULL_DEPTH: f32 = 0.3;
/// In inner radii, the width over which grooves between muscles are rounded, and where they are not. With 0.2 frame 5 of the athlete's wave is no
/// smoother than with this.
const ROUNDING: f32 = 0.15;
const LEAST_ROUNDING: f32 = 0.02;
/// In inner radii, or thicknesses of the skin where that is less: most that skin is lifted, and that it sinks.
const MOST_UP: f32 = 0.25;
const MOST_DOWN: f32 = 0.1;
/// Share of what muscles sink that skin follows: fat and skin are in between, and no vacuum draws them in.
const SINKING: f32 = 0.5;
/// In inner radii: the height of the skin is diffused along it over this far. Frame 4 of the athlete's wave has a roughness of 1.27 degrees without
/// muscles, 1.52 with 0.2 and 1.40 with 0.3. With 0.5 it has no less, and the arm sample's biceps hardly shows.
const SPREAD: f32 = 0.35;
const ROUNDS: usize = 30;
/// Rounds in which shares and limits are smoothed along the skin at rest.
const SMOOTHING_ROUNDS: usize = 6;
/// Shares below this are left out.
const LEAST_SHARE: f32 = 0.01;
/// In sizes of the surface: changes of distance below this are rounding.
const LEAST_CHANGE: f32 = 1e-6;

/// Skin over muscles; made once.
#[derive(Clone, Default)]
pub(super) struct Lift {
    /// Factor on the lift.
    definition: f32,
    least: f32,
    /// k, in inner radii.
    rounding: f32,
    vertices: Vec<LiftedVertex>,
    /// Fibre and its share, vertex by vertex.
    fibres: Vec<(u32, f32)>,
    /// Factor on the lift by each fibre.
    gains: Vec<f32>,
    /// Of each vertex of the surface: what of its height is its own in a round of diffusion, and its neighbours with what is
    /// theirs.
    own: Vec<f32>,
    starts: Vec<u32>,
    edges: Vec<(u32, f32)>,
    /// At rest.
    layers: Option<Arc<dyn Layers>>,
}

#[derive(Clone, Copy, Debug)]
struct LiftedVertex {
    vertex: u32,
    /// Its part of the list of fibres.
    first: u32,
    count: u32,
    /// D at rest, metres.
    rest: f32,
    /// R, metres.
    radius: f32,
    /// Metres.
    most: [f32; 2],
}

/// Scratch of [`Lift::displace`].
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    found: Vec<f32>,
    wanted: Vec<f32>,
    heights: Vec<f32>,
    next: Vec<f32>,
}

impl Lift {
    pub fn new(model: &Model, plate: &Plate, under: Option<RestLayers>) -> Self {
        let Some(RestLayers { layers, shares, gains, rounds_grooves }) = under else {
            return Self::default();
        };
        let count = model.rest.len();
        let mut lists: Vec<Vec<(u32, f32)>> = vec![Vec::new(); count];
        let smooth = |list: &Vec<(u32, f32)>| {
            let mut numbers = vec![0.0; count];
            list.iter().for_each(|&(v, share)| numbers[v as usize] = share);
            let numbers = plate.smoothed(numbers, SMOOTHING_ROUNDS);
            let shares = numbers.into_iter().enumerate().filter(|s| s.1 > LEAST_SHARE);
            shares.map(|(v, share)| (v as u32, share)).collect()
        };
        let smooth: Vec<Vec<(u32, f32)>> = shares.par_iter().map(smooth).collect();
        for (fibre, list) in smooth.into_iter().enumerate() {
            list.into_iter().for_each(|(v, share)| lists[v as usize].push((fibre as u32, share)));
        }
        let most = plate.smoothed(model.local_radius.clone(), SMOOTHING_ROUNDS);
        let mut lift = Self {
            definition: model.settings.definition,
            least: LEAST_CHANGE * model.size,
            gains,
            rounding: if rounds_grooves { ROUNDING } else { LEAST_ROUNDING },
            ..Self::default()
        };
        for (v, list) in lists.into_iter().enumerate().filter(|(v, list)| {
            !list.is_empty() && plate.radius[*v] > 0.0 && model.part[*v] != crate::parts::FOLLOWS
        }) {
            lift.vertices.push(LiftedVertex {
                vertex: v as u32,
                first: lift.fibres.len() as u32,
                count: list.len() as u32,
                rest: 0.0,
                radius: plate.radius[v],
                most: [MOST_UP, MOST_DOWN].map(|share| share * most[v].min(plate.radius[v])),
            });
            lift.fibres.extend(list);
        }
        let rest = |vertex: &LiftedVertex| lift.depth(vertex, &*layers, model.rest[vertex.vertex as usize]).0;
        let rest: Vec<f32> = lift.vertices.par_iter().map(rest).collect();
        lift.vertices.iter_mut().zip(rest).for_each(|(vertex, rest)| vertex.rest = rest);
        lift.layers = Some(layers);
        lift.starts.push(0);
        for v in 0..count {
            let square = |v: usize| (SPREAD * plate.radius[v]).powi(2);
            let flow = |e: &(u32, f32)| e.1.max(0.0) * 0.5 * (square(v) + square(e.0 as usize));
            let ring = plate.edges(v);
            let total = ring.iter().map(flow).sum::<f32>() + plate.area[v];
            let total = total.max(f32::MIN_POSITIVE);
            lift.own.push(plate.area[v] / total);
            lift.edges.extend(ring.iter().map(|e| (e.0, flow(e) / total)));
            lift.starts.push(lift.edges.len() as u32);
        }
        lift
    }

    /// D of a vertex at `x`, and the mean gain of the muscles there.
    #[inline]
    fn depth(&self, vertex: &LiftedVertex, layers: &dyn Layers, x: Vec3A) -> (f32, f32) {
        let width = self.rounding * vertex.radius;
        let least = (-1.0 / self.rounding).exp();
        let (mut sum, mut gain, mut total) = (least, 0.0, 0.0);
        let fibres = vertex.first as usize..(vertex.first + vertex.count) as usize;
        for &(fibre, share) in &self.fibres[fibres] {
            let Some(distance) = layers.distance(fibre, x.into(), vertex.radius) else { continue };
            // Far inside a muscle the power would not be finite.
            let near = share * ((-distance / width).min(60.0).exp() - least);
            sum += near;
            total += near;
            gain += near * self.gains[fibre as usize];
        }
        (-width * sum.ln(), if total > 0.0 { gain / total } else { 1.0 })
    }

    /// Displaces skinned positions. `rest` is where the skin rests, morphs included.
    pub fn displace(
        &self,
        layers: Option<&dyn Layers>,
        model: &Model,
        rest: &[Vec3A],
        plate: &Plate,
        skinned: &mut [(Vec3A, Mat3A)],
        scratch: &mut Scratch,
    ) {
        let (Some(layers), Some(at_rest)) = (layers, &self.layers) else { return };
        if self.definition == 0.0 || self.vertices.is_empty() {
            return;
        }
        let Scratch { found, wanted, heights, next } = scratch;
        let height = |vertex: &LiftedVertex| {
            let v = vertex.vertex as usize;
            let before = match rest[v] == model.rest[v] {
                true => vertex.rest,
                false => self.depth(vertex, &**at_rest, rest[v]).0,
            };
            let (now, gain) = self.depth(vertex, layers, skinned[v].0);
            let rise = before - now;
            if !(rise.abs() > self.least && rise.is_finite()) {
                return 0.0;
            }
            let rise = rise - self.least.copysign(rise);
            let nearest = now.min(before) / vertex.radius;
            let rise = rise * gain * (1.0 - smoothstep((nearest - FULL_DEPTH) / (1.0 - FULL_DEPTH)));
            let (rise, most) =
                if rise > 0.0 { (rise, vertex.most[0]) } else { (SINKING * rise, vertex.most[1]) };
            let share = rise / most.max(f32::MIN_POSITIVE);
            self.definition * rise / (1.0 + share * share).sqrt()
        };
        self.vertices.par_iter().with_min_len(VERTICES_PER_TASK / 4).map(height).collect_into_vec(found);
        if found.iter().all(|&height| height == 0.0) {
            return;
        }
        wanted.clear();
        wanted.resize(skinned.len(), 0.0);
        self.vertices
            .iter()
            .zip(&*found)
            .for_each(|(vertex, &height)| wanted[vertex.vertex as usize] = height);
        heights.clone_from(wanted);
        for _ in 0..ROUNDS {
            let step = |v: usize| {
                let ring = &self.edges[self.starts[v] as usize..self.starts[v + 1] as usize];
                ring.iter().fold(self.own[v] * wanted[v], |sum, e| sum + e.1 * heights[e.0 as usize])
            };
            let all = (0..skinned.len()).into_par_iter().with_min_len(4 * VERTICES_PER_TASK);
            all.map(step).collect_into_vec(next);
            std::mem::swap(heights, next);
        }
        let lifted = skinned.par_iter_mut().zip(heights.par_iter()).with_min_len(4 * VERTICES_PER_TASK);
        lifted.enumerate().for_each(|(v, (skinned, &height))| {
            if height != 0.0 && plate.radius[v] > 0.0 {
                skinned.0 += skinned.1 * plate.normal[v] * height;
            }
        });
    }
}

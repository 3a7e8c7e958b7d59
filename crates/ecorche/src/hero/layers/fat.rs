//! The third stage: fat, as two layers of prisms between fascia and skin. Each prism is three tetrahedra.
//!
//! Inner nodes slide on the fascia: a spring holds each along the fascia's normal, both ways, and a twentieth of it along
//! the surface. The outer layer is the skin itself, in its own triangles; it never passes through itself
//! (`hero::barrier`), and no tetrahedron is turned over. At the border of a region all layers follow skinning. Fat has no inertia.

use crate::geom::TriMesh;
use crate::hero::barrier::Barrier;
use crate::hero::dilatation;
use crate::hero::equilibrium::{self, Equilibrium, Pull, Settled};
use crate::tissue::boundary::Place;
use crate::tissue::element::volume;
use crate::tissue::model::{Model, ModelError};
use crate::tissue::solve::SolveError;
use crate::tissue::tet_mesh::TetMesh;
use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

/// What fat is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Poisson's ratio.
    pub poisson: f64,
    /// Stiffness of the hold on the fascia, over that of the fat.
    pub hold: f64,
    /// The part of it along the surface.
    pub along: f64,
    /// Width of the contact barrier, metres at human size.
    pub contact: f64,
    /// When a moment counts as solved.
    pub solve: equilibrium::Settings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            poisson: 0.46,
            hold: 4.0,
            along: 0.05,
            contact: 6e-4,
            solve: equilibrium::Settings { tolerance: 5e-3, most_solves: 40 },
        }
    }
}

/// How a moment was solved.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Report {
    /// Steps from the moment before.
    pub steps: usize,
    /// Linear systems solved.
    pub solves: usize,
    /// Steps that did not converge.
    pub unconverged: usize,
    /// Tetrahedra without positive volume.
    pub inverted: usize,
    /// Relative change of volume.
    pub volume: f64,
    /// Farthest inner node from its place on the fascia, along its normal, metres.
    pub lifted: f64,
    /// Seconds.
    pub seconds: f64,
}

/// Fat in some moment.
#[derive(Debug)]
pub struct Fat {
    flesh: Equilibrium,
    triangles: Vec<[u32; 3]>,
    /// Vertices of the fascia whose three nodes follow skinning.
    border: Vec<u32>,
    /// Stiffness of each hold, newtons per metre.
    stiffness: Vec<f64>,
    targets: Vec<Target>,
    volume: f64,
    step: f64,
    settings: Settings,
}

/// Where a vertex should be: fascia and skin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Target {
    /// On the fascia.
    pub fascia: DVec3,
    /// Where skinning has the skin.
    pub skin: DVec3,
}

/// Layers of prisms.
const LAYERS: usize = 2;
/// Nodes of a vertex: fascia, between, skin.
const NODES: usize = LAYERS + 1;
/// Edges that a target moves in one step, and most steps of a moment. All nodes are moved along with the fascia first, so a step may be
/// longer than an element.
const STEP: f64 = 3.0;
const MOST_STEPS: usize = 8;
/// Young's modulus, pascals. The equilibrium does not depend on it.
const YOUNG: f64 = 1e4;

/// The three tetrahedra of a prism with the corners `low` and, above them in the same order, `high`; `triangle` are the numbers that
/// decide the diagonals, so that neighbours agree. Facing up, `triangle` turns counter-clockwise.
fn split<T: Copy>(triangle: [u32; 3], low: [T; 3], high: [T; 3]) -> [[T; 4]; 3] {
    let mut order = [0usize, 1, 2];
    order.sort_unstable_by_key(|&k| triangle[k]);
    let [a, b, c] = order;
    let even = matches!(order, [0, 1, 2] | [1, 2, 0] | [2, 0, 1]);
    let tets = [
        [low[a], low[b], low[c], high[c]],
        [low[a], low[b], high[c], high[b]],
        [low[a], high[b], high[c], high[a]],
    ];
    if even { tets } else { tets.map(|[p, q, r, s]| [q, p, r, s]) }
}

/// Whether every tetrahedron between a triangle of the inner sheet and the skin has volume.
pub fn is_sound(triangle: [u32; 3], inner: &[DVec3], outer: &[DVec3]) -> bool {
    let low = triangle.map(|v| inner[v as usize]);
    let high = triangle.map(|v| outer[v as usize]);
    let size = (high[1] - high[0]).cross(high[2] - high[0]).length() / 6.0;
    let thick = (0..3).map(|k| low[k].distance(high[k])).sum::<f64>() / 3.0;
    (0..LAYERS).all(|l| {
        let at = |k: usize, l: usize| low[k].lerp(high[k], l as f64 / LAYERS as f64);
        let (below, above) = ([0, 1, 2].map(|k| at(k, l)), [0, 1, 2].map(|k| at(k, l + 1)));
        split(triangle, below, above).iter().all(|t| volume(*t) > 0.02 * size * thick / LAYERS as f64)
    })
}

impl Fat {
    /// Between a fascia and a skin in bind space; `border` vertices follow skinning.
    pub fn new(
        skin: &TriMesh,
        fascia: &[DVec3],
        border: Vec<u32>,
        scale: f64,
        settings: &Settings,
    ) -> Result<Self, FatError> {
        let mut mesh = TetMesh::default();
        for (p, f) in skin.positions.iter().zip(fascia) {
            let outer = p.as_dvec3();
            mesh.nodes.extend((0..NODES).map(|l| f.lerp(outer, l as f64 / LAYERS as f64)));
        }
        for &triangle in &skin.triangles {
            for l in 0..LAYERS {
                let node = |v: u32, l: usize| v * NODES as u32 + l as u32;
                let (low, high) = (triangle.map(|v| node(v, l)), triangle.map(|v| node(v, l + 1)));
                mesh.tets.extend(split(triangle, low, high));
            }
        }
        let mut area = vec![0.0; fascia.len()];
        for t in &skin.triangles {
            let [a, b, c] = t.map(|v| fascia[v as usize]);
            let third = (b - a).cross(c - a).length() / 6.0;
            t.iter().for_each(|&v| area[v as usize] += third);
        }
        let stiffness = skin.positions.iter().zip(fascia).zip(&area);
        let stiffness = stiffness
            .map(|((p, f), area)| settings.hold * YOUNG * area / p.as_dvec3().distance(*f).max(1e-4 * scale));
        let mut held = vec![false; mesh.nodes.len()];
        for &v in &border {
            (0..NODES).for_each(|l| held[v as usize * NODES + l] = true);
        }
        let places = (0..fascia.len()).map(|v| Place::node((v * NODES + LAYERS) as u32)).collect();
        let barrier = Barrier::new(skin, settings.contact * scale, YOUNG);
        let (body, bulk) = dilatation::flesh(mesh, YOUNG, settings.poisson);
        let model = Model::new(vec![body])?;
        let volume = model.volume(0, &model.rest);
        let step = STEP * model.parts[0].edge;
        let targets = skin.positions.iter().zip(fascia);
        let targets = targets.map(|(p, f)| Target { fascia: *f, skin: p.as_dvec3() }).collect();
        let flesh = Equilibrium::new(model, bulk, places, barrier, held, settings.solve)?;
        Ok(Self {
            flesh,
            triangles: skin.triangles.clone(),
            border,
            stiffness: stiffness.collect(),
            targets,
            volume,
            step,
            settings: *settings,
        })
    }

    /// Tetrahedra and nodes.
    pub fn size(&self) -> [usize; 2] {
        [self.flesh.model.tets.len(), self.flesh.model.rest.len()]
    }

    /// Moves to the next moment's targets.
    pub fn advance(&mut self, goal: &[Target]) -> Result<Report, SolveError> {
        let clock = std::time::Instant::now();
        let mut report = Report::default();
        // A run that goes on from here has no more than the positions.
        self.flesh.forget()?;
        let farthest = self
            .targets
            .iter()
            .zip(goal)
            .fold(0.0f64, |m, (a, b)| m.max(a.fascia.distance(b.fascia)).max(a.skin.distance(b.skin)));
        let steps = ((farthest / self.step).ceil() as usize).clamp(1, MOST_STEPS);
        let start = std::mem::take(&mut self.targets);
        for k in 1..=steps {
            let part = k as f64 / steps as f64;
            let between = |(a, b): (&Target, &Target)| Target {
                fascia: a.fascia.lerp(b.fascia, part),
                skin: a.skin.lerp(b.skin, part),
            };
            let now: Vec<Target> = start.iter().zip(goal).map(between).collect();
            let of = |v: usize| (goal[v].fascia - start[v].fascia) / steps as f64;
            let moves: Vec<DVec3> = (0..goal.len()).flat_map(|v| std::iter::repeat_n(of(v), NODES)).collect();
            self.flesh.shift(&moves);
            self.flesh.pulls = self.pulls(&now);
            let goals: Vec<(u32, DVec3)> = self
                .border
                .iter()
                .flat_map(|&v| {
                    let t = now[v as usize];
                    (0..NODES).map(move |l| {
                        ((v as usize * NODES + l) as u32, t.fascia.lerp(t.skin, l as f64 / LAYERS as f64))
                    })
                })
                .collect();
            let done = match self.flesh.lead(&goals) {
                Err(SolveError::NotDefinite) => Settled::default(),
                other => other?,
            };
            report.steps += 1;
            report.solves += done.solves;
            report.unconverged += usize::from(!done.converged);
        }
        self.targets = goal.to_vec();
        let x = &self.flesh.positions;
        report.inverted = self.flesh.inverted();
        report.volume = self.flesh.model.volume(0, x) / self.volume - 1.0;
        let off = |p: &Pull| (x[p.node as usize] - p.target).dot(p.normal).abs();
        report.lifted = self.flesh.pulls.iter().map(off).fold(0.0, f64::max);
        report.seconds = clock.elapsed().as_secs_f64();
        Ok(report)
    }

    fn pulls(&self, now: &[Target]) -> Vec<Pull> {
        let mesh = TriMesh {
            positions: now.iter().map(|t| t.fascia.as_vec3()).collect(),
            triangles: self.triangles.clone(),
        };
        let normals = mesh.normals();
        let mut free = vec![true; now.len()];
        self.border.iter().for_each(|&v| free[v as usize] = false);
        (0..now.len())
            .filter(|&v| free[v])
            .map(|v| {
                let n = normals[v].as_dvec3();
                let outer = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
                let (k, along) = (self.stiffness[v], self.settings.along);
                let stiffness = outer * (k * (1.0 - along)) + DMat3::IDENTITY * (k * along);
                Pull { node: (v * NODES) as u32, target: now[v].fascia, normal: n, stiffness }
            })
            .collect()
    }

    /// A layer's nodes: 0 is on the fascia, 2 the skin.
    pub fn layer(&self, layer: usize) -> Vec<DVec3> {
        self.flesh.positions.iter().skip(layer.min(LAYERS)).step_by(NODES).copied().collect()
    }

    /// What must be saved to go on, as bytes, with the report.
    pub fn save(&self, report: &Report) -> Vec<u8> {
        super::join(report, self.flesh.positions.iter().copied())
    }

    /// Takes up what [`Fat::save`] gave for a moment with these targets; `None` if it does not fit.
    pub fn load(&mut self, bytes: &[u8], targets: &[Target]) -> Option<Report> {
        let (report, positions) = super::split::<Report>(bytes)?;
        if positions.len() != self.flesh.positions.len() {
            return None;
        }
        self.flesh.positions = positions;
        self.targets = targets.to_vec();
        Some(report)
    }
}

/// Why there is no fat.
#[derive(Debug, thiserror::Error)]
pub enum FatError {
    /// The tetrahedra.
    #[error("fat: {0}; the fascia is tangled, see the warning before")]
    Model(#[from] ModelError),
    /// The linear systems.
    #[error("fat: {0}")]
    Solve(#[from] SolveError),
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    /// A flat square of skin, 10 cm wide, and a fascia 1 cm below it.
    fn patch() -> (TriMesh, Vec<DVec3>, Vec<u32>) {
        let mut skin = TriMesh::default();
        for i in 0..81 {
            skin.positions.push(Vec3::new((i % 9) as f32 * 0.0125, 0.0, (i / 9) as f32 * 0.0125));
        }
        for i in 0..64u32 {
            let a = i / 8 * 9 + i % 8;
            skin.triangles.extend([[a, a + 9, a + 1], [a + 1, a + 9, a + 10]]);
        }
        let inner = skin.positions.iter().map(|p| p.as_dvec3() - DVec3::Y * 0.01).collect();
        let rim = |v: &u32| v.is_multiple_of(9) || v % 9 == 8 || v / 9 == 0 || v / 9 == 8;
        (skin, inner, (0..81).filter(rim).collect())
    }

    #[test]
    fn prisms_fill_the_space_and_neighbours_share_faces() {
        let (skin, inner, border) = patch();
        let fat = Fat::new(&skin, &inner, border, 1.0, &Settings::default()).unwrap();
        assert!((fat.volume / 1e-4 - 1.0).abs() < 1e-5, "{}", fat.volume);
        let faces = crate::tissue::tet_mesh::boundary_faces(&fat.flesh.model.tets);
        // Above and below 128 triangles each, around it two triangles for each of 32 edges and two layers.
        assert_eq!(faces.len(), 2 * 128 + 32 * 2 * 2);
    }

    #[test]
    fn a_muscle_that_bulges_lifts_the_skin_and_what_is_at_rest_stays() {
        let (skin, inner, border) = patch();
        let mut fat = Fat::new(&skin, &inner, border, 1.0, &Settings::default()).unwrap();
        let rest: Vec<Target> = fat.targets.clone();
        let report = fat.advance(&rest).unwrap();
        let moved = |fat: &Fat| {
            let pairs = fat.layer(2).into_iter().zip(&skin.positions);
            pairs.map(|(p, q)| p.distance(q.as_dvec3())).fold(0.0, f64::max)
        };
        assert!(moved(&fat) < 1e-6 && report.unconverged == 0, "{} {report:?}", moved(&fat));
        let bulge = |t: &Target| {
            let d = t.fascia - DVec3::new(0.05, -0.01, 0.05);
            Target { fascia: t.fascia + DVec3::Y * 0.006 * (-d.length_squared() / 4e-4).exp(), ..*t }
        };
        let goal: Vec<Target> = rest.iter().map(bulge).collect();
        let report = fat.advance(&goal).unwrap();
        assert!(report.unconverged == 0 && report.inverted == 0, "{report:?}");
        let top = fat.layer(2)[40].y;
        assert!(top > 0.002 && top < 0.006, "the skin above rises by {top}");
        assert!(report.volume.abs() < 0.15, "{report:?}");
    }
}

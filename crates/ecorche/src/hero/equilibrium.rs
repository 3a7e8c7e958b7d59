//! Static equilibrium of soft flesh: some nodes are prescribed (led), the others settle where the energy of elasticity and contact
//! is least.
//!
//! Newton with a line search that lets no tetrahedron invert and no triangles of the skin meet. Led nodes move
//! straight to their goals, as far as both allow, and the linearised energy moves the others with them. What
//! contact couples is part of the factorised matrix.

use super::barrier::{Barrier, Touch};
use super::dilatation::Dilatation;
use crate::tissue::assemble::Assembler;
use crate::tissue::boundary::Place;
use crate::tissue::element::volume;
use crate::tissue::material::Curvature;
use crate::tissue::model::Model;
use crate::tissue::solve::{Factor, SolveError};
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// Stiffness added to every node, relative to the mean of the diagonal.
const LOOSE: f64 = 1e-7;

/// The exact curvature is tried after steps shorter than this part of an element, and the clamped one where that turns out
/// not to be definite. Not sensitive: the arm's curl takes 396 solves with 0.05 and 386 with 0.3.
const EXACT_WITHIN: f64 = 0.3;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Converged when no node would move farther than this part of an element edge.
    pub tolerance: f64,
    /// Linear solves after which a state counts as not converged.
    pub most_solves: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-3, most_solves: 150 }
    }
}

/// How a state was reached.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settled {
    /// Linear systems solved.
    pub solves: usize,
    /// Length of the last Newton step, in element edges.
    pub last_step: f64,
    /// Largest force that is left on a free node, over the largest force on a led one.
    pub residual: f64,
    /// Whether the tolerance was reached and the led nodes are where they should be.
    pub converged: bool,
}

/// A spring that draws a node to a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// The node.
    pub node: u32,
    /// Where it is drawn to, metres.
    pub target: DVec3,
    /// Unit direction in which it is held most.
    pub normal: DVec3,
    /// Newtons per metre; symmetric, positive.
    pub stiffness: DMat3,
}

/// Flesh that is moved from one equilibrium to the next.
#[derive(Debug)]
pub struct Equilibrium {
    /// The tetrahedra and their material.
    pub model: Model,
    /// Where the nodes are, metres.
    pub positions: Vec<DVec3>,
    /// Springs to places in space.
    pub pulls: Vec<Pull>,
    /// Vertices of the contact surface, within the tetrahedra.
    skin: Vec<Place>,
    barrier: Barrier,
    dilatation: Dilatation,
    settings: Settings,
    led: Vec<bool>,
    edge: f64,
    work: Workspace,
}

#[derive(Debug)]
struct Workspace {
    assembler: Assembler,
    factor: Factor,
    values: Vec<f64>,
    /// The values before rows and columns of led nodes are taken out.
    whole: Vec<f64>,
    forces: Vec<DVec3>,
    right: Vec<DVec3>,
    product: Vec<DVec3>,
    /// Largest force on a free and on a led node at the last assembly.
    force_of: [f64; 2],
}

impl Equilibrium {
    /// Starts in the rest shape. `led` tells which nodes follow goals; patches of tetrahedra keep their volume with
    /// `bulk`, a Lamé parameter in pascals.
    pub fn new(
        model: Model,
        bulk: f64,
        skin: Vec<Place>,
        barrier: Barrier,
        led: Vec<bool>,
        settings: Settings,
    ) -> Result<Self, SolveError> {
        let positions = model.rest.clone();
        let edge = model.parts.iter().map(|p| p.edge).fold(f64::INFINITY, f64::min);
        let dilatation = Dilatation::new(&model, bulk);
        let work = Workspace::new(&model, &dilatation.links().collect::<Vec<_>>())?;
        Ok(Self { model, positions, pulls: Vec::new(), skin, barrier, dilatation, settings, led, edge, work })
    }

    /// Tetrahedra without positive volume.
    pub fn inverted(&self) -> usize {
        (0..self.model.tets.len()).filter(|&t| volume(self.model.corners(t, &self.positions)) <= 0.0).count()
    }

    /// Forgets which nodes contact has coupled, so that what follows depends on the positions alone.
    pub fn forget(&mut self) -> Result<(), SolveError> {
        self.work = Workspace::new(&self.model, &self.dilatation.links().collect::<Vec<_>>())?;
        Ok(())
    }

    /// Moves every node by its move, as far as no tetrahedron inverts and nothing meets; returns the part of the way. Where
    /// all move alike this is a better start for [`Equilibrium::lead`] than what the energy finds.
    pub fn shift(&mut self, moves: &[DVec3]) -> f64 {
        let part = self.limit(moves, 1.0);
        for (x, d) in self.positions.iter_mut().zip(moves) {
            *x += *d * part;
        }
        part
    }

    /// Moves the led nodes to `goals` and lets the others settle. After an error the state lies somewhere on the way.
    pub fn lead(&mut self, goals: &[(u32, DVec3)]) -> Result<Settled, SolveError> {
        let mut done = Settled::default();
        let mut blocked = 0;
        loop {
            let mut moves = vec![DVec3::ZERO; self.positions.len()];
            let mut farthest: f64 = 0.0;
            for &(node, goal) in goals {
                moves[node as usize] = goal - self.positions[node as usize];
                farthest = farthest.max(moves[node as usize].length());
            }
            if farthest <= 1e-12 * self.edge {
                break;
            }
            self.assemble(Curvature::Definite)?;
            self.solve(Some(&moves))?;
            done.solves += 1;
            let step = self.work.in_node_order(&moves, &self.led);
            let part = self.limit(&step, 1.0);
            for (x, d) in self.positions.iter_mut().zip(&step) {
                *x += *d * part;
            }
            if part == 1.0 {
                for &(node, goal) in goals {
                    self.positions[node as usize] = goal;
                }
                break;
            }
            blocked += usize::from(part < 0.02);
            if blocked > 10 || done.solves >= self.settings.most_solves {
                return Ok(done);
            }
            // Relax what blocked the way before going on.
            self.settle(&mut done, 6)?;
        }
        let most = self.settings.most_solves;
        done.converged = self.settle(&mut done, most)?;
        Ok(done)
    }

    /// Newton for the free nodes. Returns whether it converged.
    fn settle(&mut self, done: &mut Settled, most: usize) -> Result<bool, SolveError> {
        let mut last = f64::INFINITY;
        for _ in 0..most {
            let exact = last < EXACT_WITHIN * self.edge;
            let curvature = if exact { Curvature::Exact } else { Curvature::Definite };
            self.assemble(curvature)?;
            match self.solve(None) {
                Err(SolveError::NotDefinite) if exact => {
                    self.assemble(Curvature::Definite)?;
                    self.solve(None)?;
                }
                other => other?,
            }
            done.solves += 1;
            let slope = -self.work.right.iter().zip(&self.work.product).map(|(a, b)| a.dot(*b)).sum::<f64>();
            let zero = vec![DVec3::ZERO; self.positions.len()];
            let step = self.work.in_node_order(&zero, &self.led);
            let farthest = step.iter().fold(0.0f64, |m, s| m.max(s.length()));
            done.last_step = farthest / self.edge;
            let [free, led] = self.work.force_of;
            done.residual = free / led.max(1e-300);
            if farthest <= self.settings.tolerance * self.edge {
                // The last step is taken as well, if it is allowed.
                let part = self.limit(&step, 1.0);
                if part == 1.0 {
                    for (x, d) in self.positions.iter_mut().zip(&step) {
                        *x += *d;
                    }
                }
                return Ok(true);
            }
            let energy = self.energy(&self.positions.clone());
            // A step never moves a node by more than an element: beyond that the tangent is meaningless.
            let mut part = self.limit(&step, (self.edge / farthest).min(1.0));
            let mut found = false;
            for _ in 0..25 {
                let trial: Vec<DVec3> =
                    self.positions.iter().zip(&step).map(|(x, d)| *x + *d * part).collect();
                let there = self.energy(&trial);
                if there.is_finite() && there <= energy + 1e-4 * part * slope + 1e-12 * energy.abs() {
                    self.positions = trial;
                    found = true;
                    break;
                }
                part *= 0.5;
            }
            if !found {
                return Ok(false);
            }
            last = farthest * part;
        }
        Ok(false)
    }

    fn energy(&mut self, positions: &[DVec3]) -> f64 {
        let elastic = self.work.assembler.energy(&self.model, positions);
        let volume = self.dilatation.energy(&self.model, positions);
        let pulled: f64 = self.pulls.iter().map(|p| p.energy(positions)).sum();
        elastic + volume + pulled + self.barrier.energy(&points_at(&self.skin, positions))
    }

    /// Largest fraction of a step, at most `most`, that inverts no tetrahedron and lets nothing touch.
    fn limit(&mut self, step: &[DVec3], most: f64) -> f64 {
        let mut part = most;
        let model = &self.model;
        let positions = &self.positions;
        for _ in 0..40 {
            let sound = (0..model.tets.len()).into_par_iter().with_min_len(512).all(|t| {
                let now = volume(model.corners(t, positions));
                let moved = model.tets[t].map(|n| positions[n as usize] + step[n as usize] * part);
                volume(moved) > 0.1 * now
            });
            if sound {
                break;
            }
            part *= 0.7;
        }
        let points = points_at(&self.skin, positions);
        let scaled: Vec<DVec3> = step.iter().map(|s| *s * part).collect();
        let moves = points_at(&self.skin, &scaled);
        part * self.barrier.limit(&points, &moves)
    }

    /// Fills matrix and right-hand side (minus the gradient), with contact.
    fn assemble(&mut self, curvature: Curvature) -> Result<(), SolveError> {
        let points = points_at(&self.skin, &self.positions);
        let touches = self.barrier.find(&points);
        if !self.has_room(&touches) {
            let near = self.barrier.near(&points, 2.0 * self.barrier.width());
            let mut links: Vec<[u32; 2]> = self.dilatation.links().collect();
            for vertices in touches.iter().map(|t| t.vertices).chain(near) {
                let nodes: Vec<u32> = vertices
                    .iter()
                    .flat_map(|&v| self.skin[v as usize].support().map(|(n, _)| n))
                    .filter(|&n| !self.led[n as usize])
                    .collect();
                for &a in &nodes {
                    links.extend(nodes.iter().filter(|&&b| a < b).map(|&b| [a, b]));
                }
            }
            links.sort_unstable();
            links.dedup();
            self.work = Workspace::new(&self.model, &links)?;
        }
        let w = &mut self.work;
        let pushes = self.dilatation.pushes(&self.model, &self.positions);
        for (local, &patch) in self.model.local.iter_mut().zip(self.dilatation.patch_of()) {
            local.pressure = pushes[patch as usize].pressure;
        }
        w.assembler.assemble(&self.model, &self.positions, curvature, &mut w.forces, &mut w.whole);
        let pattern = &w.assembler.pattern;
        for push in &pushes {
            for (k, (&a, slope)) in push.nodes.iter().zip(&push.slopes).enumerate() {
                let row = *slope * push.stiffness;
                for (&b, other) in push.nodes[k..].iter().zip(&push.slopes[k..]) {
                    let block = DMat3::from_cols(row * other.x, row * other.y, row * other.z);
                    pattern.add(&mut w.whole, a, b, &block);
                }
            }
        }
        for (r, f) in w.right.iter_mut().zip(&w.forces) {
            *r = -*f;
        }
        for pull in &self.pulls {
            let at = pattern.position_of[pull.node as usize] as usize;
            w.right[at] -= pull.stiffness * (self.positions[pull.node as usize] - pull.target);
            pattern.add(&mut w.whole, pull.node, pull.node, &pull.stiffness);
        }
        for touch in &touches {
            let n = touch.normal;
            let outer = DMat3::from_cols(n * n.x, n * n.y, n * n.z) * touch.stiffness;
            let support = merged(&self.skin, touch);
            for (k, &v) in touch.vertices.iter().enumerate() {
                for (node, weight) in self.skin[v as usize].support() {
                    w.right[pattern.position_of[node as usize] as usize] -= touch.gradient[k] * weight;
                }
            }
            for &(a, wa) in &support {
                for &(b, wb) in support.iter().filter(|s| s.0 >= a) {
                    if !self.led[a as usize] && !self.led[b as usize] {
                        pattern.add(&mut w.whole, a, b, &(outer * (wa * wb)));
                    }
                }
            }
        }
        w.force_of = [0.0; 2];
        for (position, &node) in pattern.node_at.iter().enumerate() {
            let kind = usize::from(self.led[node as usize]);
            w.force_of[kind] = w.force_of[kind].max(w.right[position].length());
        }
        Ok(())
    }

    /// Solves for the step of the free nodes, into `work.right`; `work.product` keeps the right-hand side. With
    /// `moves` the led nodes move by them.
    fn solve(&mut self, moves: Option<&[DVec3]>) -> Result<(), SolveError> {
        let w = &mut self.work;
        let pattern = &w.assembler.pattern;
        if let Some(moves) = moves {
            let ordered: Vec<DVec3> = pattern.node_at.iter().map(|&n| moves[n as usize]).collect();
            pattern.multiply(&w.whole, &ordered, &mut w.product);
            for (r, p) in w.right.iter_mut().zip(&w.product) {
                *r -= *p;
            }
        }
        w.values.copy_from_slice(&w.whole);
        // Loose ends that hang on an edge could turn freely; a little stiffness of their own makes the step unique
        // and does not change where it ends.
        let own = |column: usize| pattern.value_index(column, pattern.column(column).start)[0];
        let mean = (0..pattern.len()).map(|c| w.values[own(c)]).sum::<f64>() / pattern.len() as f64;
        for column in 0..pattern.len() {
            let at = pattern.value_index(column, pattern.column(column).start);
            for k in 0..3 {
                w.values[at[k] + k] += LOOSE * mean;
            }
        }
        pattern.hold(&mut w.values, &mut w.right, &self.led);
        w.factor.factorise(pattern, &w.values)?;
        w.product.copy_from_slice(&w.right);
        w.factor.solve(&mut w.right);
        Ok(())
    }

    /// Whether the matrix has entries for the nodes that these couple.
    fn has_room(&self, touches: &[Touch]) -> bool {
        let pattern = &self.work.assembler.pattern;
        touches.iter().all(|touch| {
            let nodes = merged(&self.skin, touch);
            nodes.iter().all(|&(a, _)| {
                nodes.iter().all(|&(b, _)| {
                    let (pa, pb) = (pattern.position_of[a as usize], pattern.position_of[b as usize]);
                    pa < pb || self.led[a as usize] || self.led[b as usize] || pattern.find(pa, pb).is_some()
                })
            })
        })
    }
}

impl Pull {
    fn energy(&self, positions: &[DVec3]) -> f64 {
        let off = positions[self.node as usize] - self.target;
        0.5 * off.dot(self.stiffness * off)
    }
}

impl Workspace {
    fn new(model: &Model, links: &[[u32; 2]]) -> Result<Self, SolveError> {
        let assembler = Assembler::linked(model, links);
        let factor = Factor::new(&assembler.pattern)?;
        let (values, nodes) = (assembler.pattern.value_count(), model.rest.len());
        let zero = vec![DVec3::ZERO; nodes];
        Ok(Self {
            assembler,
            factor,
            values: vec![0.0; values],
            whole: vec![0.0; values],
            forces: zero.clone(),
            right: zero.clone(),
            product: zero,
            force_of: [0.0; 2],
        })
    }

    /// The solution in node order; led nodes take their moves.
    fn in_node_order(&self, moves: &[DVec3], led: &[bool]) -> Vec<DVec3> {
        let mut step = moves.to_vec();
        for (position, &node) in self.assembler.pattern.node_at.iter().enumerate() {
            if !led[node as usize] {
                step[node as usize] = self.right[position];
            }
        }
        step
    }
}

/// The surface at node positions.
fn points_at(skin: &[Place], positions: &[DVec3]) -> Vec<DVec3> {
    skin.par_iter().with_min_len(1024).map(|p| p.at(positions)).collect()
}

/// Nodes and weights of the vector between two primitives, each node once.
fn merged(skin: &[Place], touch: &Touch) -> Vec<(u32, f64)> {
    let mut list: Vec<(u32, f64)> = Vec::with_capacity(16);
    for (&v, &weight) in touch.vertices.iter().zip(&touch.weights) {
        for (node, share) in skin[v as usize].support() {
            match list.iter_mut().find(|s| s.0 == node) {
                Some(known) => known.1 += weight * share,
                None => list.push((node, weight * share)),
            }
        }
    }
    list.sort_unstable_by_key(|s| s.0);
    list
}

//! Particles under constraints, stepped in time: used for the axes of muscles and for fat pads, but independent of both.
//!
//! A [`System`] is made once: [`Strand`]s of particles, the frames (bones) that carry them, the [`Obstacle`]s
//! they cannot pass. A [`State`] is where the particles are; cloning it saves the animation. [`System::step`]
//! moves a state from one pose of the frames to the next, by substeps between which the frames move smoothly.
//!
//! | | |
//! |---|---|
//! | [`Distance`] | links along a strand: tendon, tone |
//! | [`Anchor`] | ends that follow a frame exactly |
//! | [`Tie`] | particles held near a frame by a spring |
//! | [`Obstacle`] | capsules, distance grids, surfaces to stay inside |
//! | `contact` | strands against each other |
//! | `friction` | Coulomb, against the moving surface |
//! | `bend` | strands do not bend more sharply than they are thick |
//!
//! Nothing moves at bind: the forces there (weight, tension in a bent strand) are measured when the system is
//! made and cancelled from then on, in the frames; contacts keep the clearance of the bind pose when that is
//! smaller than the thickness.
//!
//! Strands are stepped in parallel and each solves its constraints in order; strands push each other from a
//! copy of the positions (Jacobi). The bits do not depend on the number of threads.
//!
//! Double precision: speeds are differences of positions over two thousandths of a second, and 1500 particles
//! cost little.
//!
//! Based on: Macklin et al. XPBD. 2016; Macklin et al. Small Steps in Physics Simulation. 2019; Roussellet.
//! Doctoral thesis. 2018, chapter 5 ([`Solver::Pbd`]).
//! Differs in: links of a strand are solved together ([`Solver::Direct`]) rather than one by one
//! ([`Solver::Xpbd`]); damping is per second and relative to the frames, so that a running character's muscles feel no
//! air drag; friction has the unit of a length.

mod bend;
mod chain;
mod constraint;
mod rigid;
mod settle;
mod step;
mod system;
#[cfg(test)]
mod tests;

pub use constraint::attach::{Anchor, Tie};
pub use constraint::collide::{Keep, Obstacle, Shape, SignedDistance};
pub use constraint::distance::{Distance, Resists};
pub use rigid::Rigid;
pub use step::{Drive, Report, Settings, Solver, State, Workspace};
pub use system::{StrandSpec, System};

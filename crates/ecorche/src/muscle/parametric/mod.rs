//! Muscles of a few curves, cheap enough for crowds: 160 bytes each and frame, and a displacement in closed form.
//!
//! Based on: Ramos, Larboulette. A Muscle Model for Enhanced Character Skinning. 2013.
//! Differs in: the volume is exact and not that of two cones ([`Rule`]); tension narrows the section across as much as it
//! widens it along the bulge direction; the fat offset keeps the bind pose as it is for every weight; up to four muscles
//! share a vertex; skin that skinning moves away from a muscle is let go; weights fade at the borders of a template, at the ends of the line and where other bones move the skin;
//! the polynomials are evaluated where the paper looks them up in a table; a muscle longer than its belly can have a
//! [`path`](ParametricDef::path) that tells how much it shortens.
//!
//! ```text
//! ParametricDef + skeleton at bind --Parametric::new--> Parametric (muscles, and what each vertex keeps of them)
//! Parametric + pose --pose--> Posed, one per muscle
//! Posed + skinned positions --displace--> positions
//! MuscleDef + skin --convert--> ParametricDef
//! ```
//!
//! | symbol | here | meaning |
//! |---|---|---|
//! | O, I | `origin`, `insertion` | ends of the action line |
//! | C_T | [`Curve`] | thickness along the line, metres |
//! | C_S | `sweep` | where sections are beside the line, metres |
//! | S_d, S | `bulge`, `side` | unit, across the line; skin moves along the first |
//! | s_f | `flatness` | half axis along the bulge direction over the one across |
//! | t_c | `centre` | share of the line at which the two halves of the curves meet |
//! | tau | `tension` | widens the section along the bulge direction, narrows it across |
//! | L_fat | `fat` | from muscle to skin at bind, along the bulge direction |
//!
//! What it does not know: bones, other muscles, inertia. Skin moves along one direction per muscle.

mod convert;
mod curve;
pub mod definition;
mod influence;
pub(crate) mod keys;
mod pose;
#[cfg(test)]
mod tests;

pub use convert::convert;
pub use curve::{Curve, Rule, Solved};
pub use definition::{ParametricDef, Template, Weighting};
pub use influence::{Displaced, Entry, Influence};
pub use pose::{Parametric, ParametricError, Posed, Workspace};

//! One shot from rest to any pose, with contact: the scheme for real characters.
//!
//! The projections of the papers go wrong where a limb has passed the other's bone: there the two gradients
//! agree, and the field does not tell which side belongs to whom. Here the skeleton tells. The direction from the other
//! bone to the own one is known at any depth. Seen from the own bone along it, the skin belongs where the other limb
//! begins. A frame has these stages; each has one name, for its time ([`Tracked::stages`]), its function and its file:
//!
//! | stage | what it does | file | and |
//! |---|---|---|---|
//! | `skin` | dual quaternion skinning, and displacement by the fat under the skin | `skin.rs` | |
//! | `find_contact` | finds skin that lies inside other skin, and skin near it: contact can only be there | `find_contact.rs` | |
//! | `sidestep` | moves a thin limb that lies inside another out of it, as a whole; then finds contact again | `sidestep.rs` | |
//! | `search` | finds the parts in reach of each vertex and moves buried skin to the first crossing | `search.rs` | `first_crossing.rs` |
//! | `wake` | chooses the vertices that take part; the others keep what skinning gave them | `wake.rs` | |
//! | `project` | steps to the zero of the level function, relaxed along it | `project.rs` | `level.rs`, `relax.rs` |
//! | `untangle` | separates triangles that still cross, round by round (`separate.rs`), and keeps the best state of every tangle (`tangles.rs`); a second pass starts small remaining tangles again with gentle rounds; then the skin around takes up the lost volume (`refill.rs`), and triangles that almost touch are moved apart (`nudge.rs`) | `untangle.rs` | as named |
//! | `follow` | moves pieces without a field along with the skin they sit on | `follow.rs` | |
//!
//! The rest is what stages work on: `model.rs` (the character at rest; `bone.rs`, `neighbours.rs`), `rest_surface.rs`
//! (its triangles at rest), `pose.rs` (the parts in a pose; `bend.rs`), `scratch.rs`, and `tracker.rs` (one frame).
//!
//! Limits: a part that lies wholly inside a thicker one (a finger in an upper arm) has no place of its own to go to. The
//! field of a part does not see folds inside it; the stage `untangle` does.
//!
//! Based on: Vaillant et al. Implicit Skinning. 2012, and Robust Iso-Surface Tracking for Interactive Character
//! Skinning. 2014.
//! Differs in: the first crossing, the separator of two parts, the largest offset and the untangling are our own.

mod bend;
mod bone;
mod find_contact;
mod first_crossing;
mod follow;
mod level;
mod model;
mod neighbours;
mod nudge;
mod pose;
mod project;
mod refill;
mod relax;
mod rest_surface;
mod scratch;
mod search;
mod separate;
mod sidestep;
mod skin;
mod tangles;
#[cfg(test)]
mod tests;
mod tracker;
mod untangle;
mod wake;

pub use tracker::{State, Tracked, Tracker, Workspace};

use super::Layers;
use crate::field::{Composition, Grid};
use std::sync::Arc;

/// What lies under the parts at rest, for [`Tracker::new`].
pub struct RestLayers {
    /// Of each part: its own field, with room made for the layer.
    pub fields: Vec<Grid>,
    /// The layers, in bind space.
    pub layers: Arc<dyn Layers>,
}

/// Two neighbouring parts whose fields are not merely united where they are one skin.
#[derive(Clone, Debug)]
pub struct Join {
    /// The part below the joint, and the one above.
    pub parts: [u32; 2],
    /// What joins them; one that does not separate. Contact is the tracker's own affair.
    pub composition: Composition,
}

/// Settings of a [`Tracker`]. Lengths are in radii of the vertex's own part unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How far another part's value may rise above the vertex's own at rest before it counts as contact. Less
    /// fires on fields that already overlap at rest, more lets limbs sink into each other.
    pub tolerance: f32,
    /// Distance kept from the middle between two parts in contact. The value of the prototype, where 0.01 left more
    /// crossings in fists and squats; not varied here.
    pub gap: f32,
    /// Pull of the plane between two bones on how their parts are told apart, deep inside both. Without it a
    /// calf inside a thigh has no side of its own. In the prototype 1 left deep bends tangled and 8 took more
    /// untangling.
    pub plane: f32,
    /// Depth at which that pull is complete. In the prototype 0.3 left hips of 125 and knees of 150 degrees tangled.
    pub depth: f32,
    /// Largest step of a projection.
    pub step: f32,
    /// How far skin that is not in contact may leave its skinned position, in inner radii of its part or in
    /// thicknesses of the skin there (an ear of a large head), whichever is less. At 0.2
    /// the athlete's elbow was flat at 145 degrees; at 0.05 the squat left half as many crossings again to untangle.
    pub max_offset: f32,
    /// Rounds of projection and relaxation.
    pub rounds: u32,
    /// Share of a relaxation step taken. A full step may oscillate on regular meshes, whose iteration has an
    /// eigenvalue near -1.
    pub relaxation: f32,
    /// Most relaxation steps per round.
    pub most_relaxations: u32,
    /// Most rounds of untangling.
    pub untangling: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 0.01,
            gap: 0.02,
            plane: 4.0,
            depth: 0.1,
            step: 0.2,
            max_offset: 0.1,
            rounds: 4,
            relaxation: 0.8,
            most_relaxations: 16,
            untangling: 60,
        }
    }
}

//! One shot from rest to any pose, with contact: the scheme for real characters.
//!
//! Skinning is right unless there is a reason. Volume lost at a bent joint, a muscle that comes up, and contact are
//! reasons; what they ask for is a smooth correction of skinning. Skin that none of them concerns stays where skinning has it.
//!
//! Where skin meets skin the fields of the parts tell where it has to go. The projections of the papers go wrong where a limb has
//! passed the other's bone: there the two gradients agree, and the field does not tell which side belongs to whom. Here
//! the skeleton tells. The direction from the other bone to the own one is known at any depth. Seen from the own bone
//! along it, the skin belongs where the other limb begins. A frame has these stages; each has one name, for its time
//! ([`Tracked::stages`]), its function and its file:
//!
//! | stage | what it does | file | and |
//! |---|---|---|---|
//! | `skin` | dual quaternion skinning and displacement by fat; then skin swells around bent joints, is lifted by muscles, and goes out where operators of joints ask for it | `skin.rs` | `swell.rs`, `lift.rs`, `blend.rs` |
//! | `find_contact` | finds skin that lies inside other skin, and skin near it: contact can only be there | `find_contact.rs` | |
//! | `sidestep` | moves a thin limb that lies inside another out of it, as a whole; then finds contact again | `sidestep.rs` | |
//! | `search` | finds the parts in reach of each vertex near contact and moves buried skin to the first crossing | `search.rs` | `first_crossing.rs` |
//! | `wake` | chooses the vertices that take part; the others keep what skinning gave them | `wake.rs` | |
//! | `project` | steps to the zero of the level function | `project.rs` | `level.rs` |
//! | `smooth` | what contact asks for becomes a smooth displacement, and pressure gives the lost volume to the skin around | `smooth.rs` | |
//! | `untangle` | separates triangles that still cross, round by round (`separate.rs`), and keeps the best state of every tangle (`tangles.rs`); triangles that almost touch are moved apart (`nudge.rs`), and the skin around what was separated takes up the lost volume (`refill.rs`). `smooth` and `untangle` run twice | `untangle.rs` | as named |
//! | `follow` | moves pieces without a field along with the skin they lie on | `follow.rs` | |
//! | `net` | what looks worse than skinning goes back to it | `net.rs` | |
//!
//! The rest is what stages work on: `model.rs` (the character at rest; `bone.rs`, `neighbours.rs`), `plate.rs` (its skin as a
//! thin plate), `rest_surface.rs` (its triangles at rest), `pose.rs` (the parts in a pose; `bend.rs`), `scratch.rs`, and
//! `tracker.rs` (one frame).
//!
//! Limits: a part that lies wholly inside a thicker one (a finger in an upper arm) has no place of its own to go to. The
//! field of a part does not see folds inside it; the stage `untangle` does.
//!
//! Based on: Vaillant et al. Implicit Skinning. 2012, and Robust Iso-Surface Tracking for Interactive Character
//! Skinning. 2014.
//! Differs in: free skin is not tracked; the first crossing, the separator of two parts, the smooth correction and the
//! untangling are our own.

mod bend;
mod blend;
mod bone;
mod find_contact;
mod first_crossing;
mod follow;
mod lengths;
mod level;
mod lift;
mod model;
mod neighbours;
mod net;
mod nudge;
pub mod offload;
mod plate;
mod pose;
mod project;
mod refill;
mod rest_surface;
mod scratch;
mod search;
mod separate;
mod sidestep;
mod skin;
mod smooth;
mod swell;
mod tangles;
#[cfg(test)]
mod tests;
mod tracker;
mod untangle;
mod wake;

pub use tracker::{State, Tracked, Tracker, Workspace};

use super::Layers;
use crate::field::Composition;
use std::sync::Arc;

/// What lies under the skin at rest, for [`Tracker::new`].
pub struct RestLayers {
    /// The layers, in bind space.
    pub layers: Arc<dyn Layers>,
    /// Of each fibre: the vertices of the surface that it lies under, with its share there, 0 to 1.
    pub shares: Vec<Vec<(u32, f32)>>,
    /// Of each fibre: factor on how far it moves the skin; 1 for all of it.
    pub gains: Vec<f32>,
    /// Whether the skin spans the grooves between muscles; otherwise it follows every outline.
    pub rounds_grooves: bool,
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
    /// How far skin beside a contact, which the contact does not hold, may leave its start, in inner radii of its part or in
    /// thicknesses of the skin there (an ear of a large head), whichever is less. With none a frame of mh_base's walk keeps 44
    /// crossings; more brings the unevenness of the fields into the skin.
    pub max_offset: f32,
    /// How much of what muscles come up and go down shows on the skin: 0 nothing, 1 all that fat and skin let through, more for
    /// comics.
    pub definition: f32,
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
            definition: 1.0,
            untangling: 60,
        }
    }
}

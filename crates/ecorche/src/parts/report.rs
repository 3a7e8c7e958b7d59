//! What became of a character's joints and pieces, in data and in words.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What [`Parts::build`](super::Parts::build) did and how good the fields are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartsReport {
    /// One per part, in order.
    pub parts: Vec<PartReport>,
    /// Joints whose skin went to a neighbour.
    pub merged: Vec<Merged>,
    /// Joints of a skin without vertices of their own: names.
    pub without_skin: Vec<String>,
    /// Pieces of the surface that follow the body.
    pub following: Vec<Following>,
    /// Patches of stray weights that joined the part around them, and their vertices.
    pub islands: [usize; 2],
    /// Voxels inside the character.
    pub voxels: usize,
    /// Side of a voxel, metres.
    pub voxel_size: f32,
}

/// One part in numbers. Lengths in metres; deviations in inner radii.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartReport {
    /// Name of its joint.
    pub joint: String,
    /// Vertices of the skin.
    pub vertices: usize,
    /// Of them, those not seen from outside (mouth, under clothes); not counted below.
    pub hidden: usize,
    /// Samples of the skin.
    pub samples: usize,
    /// Closures.
    pub closures: usize,
    /// Voxels of its solid.
    pub voxels: usize,
    /// Largest distance to the skin in its solid.
    pub inner_radius: f32,
    /// Falloff radius of the field.
    pub radius: f32,
    /// Mean distance of seen vertices from the field's surface.
    pub mean_deviation: f32,
    /// Largest distance of a seen vertex from the field's surface.
    pub largest_deviation: f32,
    /// Seen vertices where the gradient is more than 60 degrees off the normal.
    pub wrong_gradients: usize,
    /// The same of hidden ones.
    pub hidden_wrong_gradients: usize,
    /// How far the field's inside sticks out of the skin, in inner radii.
    pub leak: f32,
    /// Share of the solid's core that the field takes for outside.
    pub hole: f32,
    /// Share of the support's border where the field had not ended; it is faded out there.
    pub cut_border: f32,
    /// What was tried to mend leaks and holes, in order; empty if the first fit was sound.
    pub tried: Vec<Attempt>,
}

/// A change to the fit of a leaking part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attempt {
    /// No samples on features thin beside the part: a nail, the rim of an ear.
    NoThinFeatures,
    /// Twice the samples.
    MoreSamples,
    /// A shorter reach.
    SmallerRadius,
    /// More closure points on each cut.
    DenserClosures,
    /// The table corrected where it disagrees with the skin.
    Clamped,
}

/// A joint whose skin another part took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    /// Name of the joint.
    pub joint: String,
    /// Name of the joint whose part has its skin now; `None` if it follows.
    pub into: Option<String>,
    /// Vertices that went.
    pub vertices: usize,
    /// Why it has no part of its own.
    pub reason: Reason,
}

/// A piece of the surface that follows the body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Following {
    /// A vertex of the surface to find it by.
    pub first_vertex: u32,
    /// Its vertices.
    pub vertices: usize,
    /// Why it has no field.
    pub reason: Reason,
}

/// Why skin has no part of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Loose vertices.
    NoTriangles,
    /// Not skin.
    Role,
    /// An eyeball.
    Eye,
    /// A small piece around no bone: hair, teeth, a buckle.
    EnclosesNoBone,
    /// A small piece that is hardly seen from outside.
    Hidden,
    /// Hidden skin, or too little of it to bound a solid.
    NoSolid,
    /// A patch small beside the thickness of its neighbour.
    Small,
    /// No surface goes through its samples.
    NoFit,
    /// The field sticks out of the skin or has holes whatever was tried.
    Leaks,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoTriangles => "loose vertices",
            Self::Role => "not skin",
            Self::Eye => "eyeball",
            Self::EnclosesNoBone => "small piece that encloses no bone of its joints",
            Self::Hidden => "small piece hidden in others",
            Self::NoSolid => "its skin bounds no solid seen from outside",
            Self::Small => "small beside its neighbour's thickness",
            Self::NoFit => "no surface fits its samples",
            Self::Leaks => "its field would leave the skin",
        })
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoThinFeatures => "no samples on thin features",
            Self::MoreSamples => "more samples",
            Self::SmallerRadius => "smaller radius",
            Self::DenserClosures => "denser closures",
            Self::Clamped => "correcting the table",
        })
    }
}

impl fmt::Display for PartsReport {
    /// Lines for a person; millimetres.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let vertices: usize = self.parts.iter().map(|p| p.vertices).sum();
        writeln!(
            f,
            "parts     {} over {vertices} vertices; {} voxels of {:.1} mm",
            self.parts.len(),
            self.voxels,
            1e3 * self.voxel_size
        )?;
        for part in &self.parts {
            write!(
                f,
                "  {}: {} vertices, {} samples + {} closures, {:.1} mm thick, reach {:.1} mm",
                part.joint,
                part.vertices,
                part.samples,
                part.closures,
                1e3 * part.inner_radius,
                1e3 * part.radius
            )?;
            if part.hidden > 0 {
                write!(f, ", {} hidden", part.hidden)?;
            }
            if part.wrong_gradients > 0 {
                write!(f, ", {} wrong gradients", part.wrong_gradients)?;
            }
            if part.leak > super::check::LARGEST_LEAK {
                write!(f, ", leaks by {:.1} mm", 1e3 * part.leak * part.inner_radius)?;
            }
            if part.hole > super::check::LARGEST_HOLE {
                write!(f, ", {:.0} % hollow", 100.0 * part.hole)?;
            }
            if !part.tried.is_empty() {
                let tried: Vec<String> = part.tried.iter().map(Attempt::to_string).collect();
                write!(f, " (tried {})", tried.join(", "))?;
            }
            writeln!(f)?;
        }
        for merged in &self.merged {
            match &merged.into {
                Some(into) => write!(f, "  {} joined {into}", merged.joint)?,
                None => write!(f, "  {} follows the body", merged.joint)?,
            }
            writeln!(f, " with {} vertices: {}", merged.vertices, merged.reason)?;
        }
        if !self.without_skin.is_empty() {
            writeln!(
                f,
                "  {} joints hold no skin and get no part: {}",
                self.without_skin.len(),
                self.without_skin.join(", ")
            )?;
        }
        let mut reasons: Vec<Reason> = self.following.iter().map(|p| p.reason).collect();
        reasons.sort_unstable();
        reasons.dedup();
        for reason in reasons {
            let pieces = self.following.iter().filter(|p| p.reason == reason);
            let (count, vertices) = pieces.fold((0, 0), |(n, v), p| (n + 1, v + p.vertices));
            writeln!(
                f,
                "  {count} {} of {vertices} vertices follow the body: {reason}",
                if count == 1 { "piece" } else { "pieces" }
            )?;
        }
        if self.islands[0] > 0 {
            writeln!(
                f,
                "  {} patches of stray weights ({} vertices) joined the part around them",
                self.islands[0], self.islands[1]
            )?;
        }
        Ok(())
    }
}

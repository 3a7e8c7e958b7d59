//! A parametric muscle as a person writes it.

use crate::muscle::definition::{ActivationDef, Attachment, Side};
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Which skin a muscle moves, of the bones it belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Template {
    /// Within [`ParametricDef::radius`] of the line.
    Radial,
    /// On the side of the line to which the muscle bulges.
    HalfSpace,
    /// That, and straight above the muscle.
    #[default]
    Fitted,
}

/// How much of a muscle's motion the skin of its template shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weighting {
    /// All of it: for lean places.
    Binary,
    /// In proportion to the thickness below: for fatty places.
    #[default]
    Spline,
}

/// A muscle of two curves along a line between two bones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ParametricDef {
    /// Name without the side.
    pub name: String,
    /// Which side; name and side together are unique.
    pub side: Side,
    /// In a file: this entry also defines its mirror image.
    pub mirror: bool,
    /// Where its line starts; need not lie on the bone's surface.
    pub origin: Attachment,
    /// Where its line ends.
    pub insertion: Attachment,
    /// Points that the whole muscle passes, tendons included, where the line is only its belly. The belly then shortens
    /// about its centre as this path does, and the path's ends tell how far its joints have turned. Empty: the line itself.
    pub path: Vec<Attachment>,
    /// Where skin moves to when the muscle thickens, at bind, along the axes of the origin's joint; made perpendicular to
    /// the line. At least 5 degrees from it.
    pub bulge: Vec3,
    /// Where the belly's centre is, as a share of the line, 0.05 to 0.95.
    pub centre: f32,
    /// Thickness in metres, not negative: at the origin, its handle, the handle before the centre, at the centre, the
    /// handle before the insertion, at the insertion. The handle after the centre continues the slope there.
    pub thickness: [f32; 6],
    /// How far sections lie beside the line, metres, at the same six points: across the bulge direction, and along it.
    pub sweep: [[f32; 2]; 6],
    /// Half axis of the sections along the bulge direction over the one across; above 0.
    pub flatness: f32,
    /// Which skin it moves.
    pub template: Template,
    /// How far from the line skin moves with the radial template, metres.
    pub radius: f32,
    /// How much of its motion that skin shows.
    pub weights: Weighting,
    /// By how much it thickens along the bulge direction when fully active, as a share.
    pub tension: f32,
    /// When it tenses.
    pub activation: ActivationDef,
    /// Bones whose skin it moves; empty: those of its ends and those between.
    pub parts: Vec<String>,
}

impl Default for ParametricDef {
    /// The value of every key that a file leaves out. A muscle needs a name, ends, a bulge direction and a thickness besides.
    fn default() -> Self {
        Self {
            name: String::new(),
            side: Side::Middle,
            mirror: false,
            origin: Attachment::default(),
            insertion: Attachment::default(),
            path: Vec::new(),
            bulge: Vec3::ZERO,
            centre: 0.5,
            thickness: [0.0; 6],
            sweep: [[0.0; 2]; 6],
            flatness: 1.0,
            template: Template::Fitted,
            radius: 0.0,
            weights: Weighting::Spline,
            tension: 0.3,
            activation: ActivationDef::default(),
            parts: Vec::new(),
        }
    }
}

impl ParametricDef {
    /// Name with side, as messages show it.
    pub fn title(&self) -> String {
        crate::muscle::definition::title(&self.name, self.side)
    }

    /// The title of its mirror image.
    pub(crate) fn mirror_title(&self) -> String {
        crate::muscle::definition::title(&self.name, self.side.opposite())
    }
}

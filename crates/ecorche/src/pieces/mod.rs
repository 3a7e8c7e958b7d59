//! The connected pieces of a character's surface, and the role of each.
//!
//! Characters are made of a body, clothes, armour, ball joints, hair, eyes. Only articulated flesh, or a shell that stands
//! for it, gains by tracking; fields fitted to the rest do harm. [`Pieces::find`] measures every piece at rest and gives it a
//! [`Role`]:
//!
//! | role | what it is | how it moves |
//! |---|---|---|
//! | [`Role::Skin`] | flesh around two bones or more | tracked |
//! | [`Role::Worn`] | clothes over skin, hair and beards on it | by skinning, and with the correction of the skin it lies on |
//! | [`Role::Rigid`] | plates, props, ball joints, eyes | by skinning; as a whole with the skin it lies on |
//! | [`Role::Loose`] | what is left and touches no skin | as rigid |
//!
//! Pieces that cross or nest at rest are [joined](Pieces::joined): near where they met they are not separated.
//!
//! All figures are shares and counts, so that they do not depend on the character's size or on how finely it is meshed. What is
//! measured by rays takes 300 of them each way from every piece.

mod measure;
mod report;
mod roles;
pub(crate) mod skeleton;
#[cfg(test)]
mod tests;
mod turn;

pub(crate) use turn::{encloses, turn_outward};

use crate::character::Character;
use crate::skinning::Surface;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a piece is to the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Flesh, or a shell that stands for it: gets parts and fields, and is tracked.
    #[default]
    Skin,
    /// Lies on skin and bends: takes a smooth transfer of the skin's correction.
    Worn,
    /// Does not bend: moves by skinning, and by one translation with the skin it lies on.
    Rigid,
    /// Neither: as rigid.
    Loose,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Skin, Self::Worn, Self::Rigid, Self::Loose];

    /// As written in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Skin => "skin",
            Self::Worn => "worn",
            Self::Rigid => "rigid",
            Self::Loose => "loose",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether pieces get roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layering {
    /// By what is measured.
    #[default]
    Auto,
    /// Every piece is skin, and pieces that met at rest are separated like all others.
    One,
    /// No piece is skin: the character moves by skinning alone.
    Off,
}

/// The role asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RoleDef {
    /// By what is measured.
    #[default]
    Auto,
    /// [`Role::Skin`].
    Skin,
    /// [`Role::Worn`].
    Worn,
    /// [`Role::Rigid`].
    Rigid,
    /// [`Role::Loose`].
    Loose,
}

impl RoleDef {
    /// `None` for [`RoleDef::Auto`].
    pub fn role(self) -> Option<Role> {
        match self {
            Self::Auto => None,
            Self::Skin => Some(Role::Skin),
            Self::Worn => Some(Role::Worn),
            Self::Rigid => Some(Role::Rigid),
            Self::Loose => Some(Role::Loose),
        }
    }
}

/// What the user says about some pieces: those that match all of `mesh`, `material` and `index` that are given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PieceDef {
    /// Name of the mesh that has most of the piece's area.
    pub mesh: Option<String>,
    /// Name of the material that covers most of the piece's area.
    pub material: Option<String>,
    /// Number of the piece, as [`Pieces::pieces`] counts.
    pub index: Option<u32>,
    /// Its role.
    pub role: RoleDef,
    /// Meshes or materials whose skin alone it follows; empty: all skin.
    pub on: Vec<String>,
    /// Meshes or materials it is separated from although they met at rest.
    pub apart: Vec<String>,
}

impl PieceDef {
    /// Whether it applies to piece `index`.
    fn means(&self, index: usize, piece: &Piece) -> bool {
        let agrees = |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|name| name == found);
        agrees(&self.mesh, &piece.mesh)
            && agrees(&self.material, &piece.material)
            && self.index.is_none_or(|wanted| wanted as usize == index)
    }
}

/// Settings of [`Pieces::find`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PieceSettings {
    /// Whether pieces get roles.
    pub layers: Layering,
    /// What the user says; later entries override earlier ones.
    pub given: Vec<PieceDef>,
}

/// A connected piece of the surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    /// Name of the mesh that has most of its area.
    pub mesh: String,
    /// Name of the material that covers most of its area; empty without.
    pub material: String,
    /// Its first vertex of the surface.
    pub first_vertex: u32,
    /// Its vertices.
    pub vertices: usize,
    /// Its share of the surface's area, 0 to 1.
    pub area: f32,
    /// What it is.
    pub role: Role,
    /// Whether the user gave it its role.
    pub is_given: bool,
    /// Why it has that role, in plain words.
    pub why: String,
    /// What was measured.
    pub measured: Measured,
    /// Share of its area over, under or inside skin, 0 to 1.
    pub on_skin: f32,
    /// Share of its area inside skin, 0 to 1.
    pub in_skin: f32,
    /// Pieces whose skin it follows, by number; empty: all skin.
    pub on: Vec<u32>,
}

/// Figures of a piece at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// How much its weights vary: area mean of half the summed differences from the mean weights. 0 if all vertices have
    /// the same, even blended ones; below 1.
    pub spread: f32,
    /// Bones that move it and have a point inside it.
    pub enclosed: u32,
    /// Share of its weight that those bones have.
    pub held: f32,
    /// Share of its area under which other candidates for skin lie, before its own far wall.
    pub over_flesh: f32,
    /// Share of its area under which rigid solids of the same bone or the next lie.
    pub over_hard: f32,
}

/// The pieces of a surface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pieces {
    /// In the order of their first vertices.
    pub pieces: Vec<Piece>,
    /// Piece of each vertex of the surface.
    pub piece_of_vertex: Vec<u32>,
    /// Pairs of pieces, the smaller number first, ascending, that cross or nest at rest.
    pub joined: Vec<[u32; 2]>,
}

impl Pieces {
    /// Finds the pieces of a character's surface and their roles. The same for any number of threads.
    pub fn find(surface: &Surface, character: &Character, settings: &PieceSettings) -> Self {
        roles::assign(surface, character, settings)
    }

    /// The piece of a vertex of the surface.
    pub fn of(&self, v: usize) -> &Piece {
        &self.pieces[self.piece_of_vertex[v] as usize]
    }

    /// The role of a vertex of the surface.
    pub fn role(&self, v: usize) -> Role {
        self.of(v).role
    }

    /// Whether two pieces cross or nest at rest.
    pub fn are_joined(&self, a: u32, b: u32) -> bool {
        self.joined.binary_search(&[a.min(b), a.max(b)]).is_ok()
    }

    /// Whether some piece is not skin.
    pub fn is_layered(&self) -> bool {
        self.pieces.iter().any(|piece| piece.role != Role::Skin)
    }

    /// A name for messages: number and mesh.
    pub fn title(&self, piece: usize) -> String {
        self.pieces.get(piece).map_or_else(String::new, |p| format!("piece {piece} (\"{}\")", p.mesh))
    }
}

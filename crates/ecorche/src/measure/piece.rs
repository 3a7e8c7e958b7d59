//! Figures by piece and by role, for characters of several pieces.

use crate::pieces::{Pieces, Role};
use serde::Serialize;

/// What became of one piece over a clip.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PieceFigures {
    /// Number of the piece, as [`Pieces::pieces`] counts.
    pub piece: u32,
    /// Name of the mesh that has most of its area.
    pub mesh: String,
    /// What it is to the body.
    pub role: Role,
    /// Largest share of its area under the start that it has lost, 0 to 1.
    pub crush: f64,
    /// The first frame that has it.
    pub frame: usize,
}

/// What became of the pieces of one role over a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoleFigures<'a> {
    /// The role.
    pub role: Role,
    /// How many pieces have it; tiny ones are not counted.
    pub pieces: usize,
    /// The piece that lost most of its area.
    pub worst: &'a PieceFigures,
}

/// Adds a frame: for each piece a vertex of it and the share of its area that it has lost.
pub(super) fn add(
    all: &mut Vec<PieceFigures>,
    pieces: &Pieces,
    lost: impl Iterator<Item = (u32, f64)>,
    frame: usize,
) {
    for (vertex, lost) in lost {
        let crush = lost.max(0.0);
        let piece = pieces.piece_of_vertex[vertex as usize];
        match all.binary_search_by_key(&piece, |known| known.piece) {
            Ok(at) if all[at].crush >= crush => {}
            Ok(at) => (all[at].crush, all[at].frame) = (crush, frame),
            Err(at) => {
                let own = pieces.of(vertex as usize);
                all.insert(at, PieceFigures { piece, mesh: own.mesh.clone(), role: own.role, crush, frame });
            }
        }
    }
}

/// The pieces by role, in the order of [`Role::ALL`].
pub(super) fn by_role(all: &[PieceFigures]) -> Vec<RoleFigures<'_>> {
    let of = |role: Role| {
        let own = || all.iter().filter(move |piece| piece.role == role);
        let worst = own().reduce(|worst, piece| if piece.crush > worst.crush { piece } else { worst })?;
        Some(RoleFigures { role, pieces: own().count(), worst })
    };
    Role::ALL.into_iter().filter_map(of).collect()
}

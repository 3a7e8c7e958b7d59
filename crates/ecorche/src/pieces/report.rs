//! Pieces in words.

use super::{Pieces, Role};
use std::fmt;

/// Pieces listed one by one; of more, the smallest are counted.
const MOST_LISTED: usize = 60;

impl Pieces {
    /// Indices of the pieces, largest area first.
    fn by_area(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.pieces.len()).collect();
        order.sort_by(|&a, &b| self.pieces[b].area.total_cmp(&self.pieces[a].area).then(a.cmp(&b)));
        order
    }
}

impl fmt::Display for Pieces {
    /// Text for people, largest area first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |role: Role| {
            let own = self.pieces.iter().filter(|p| p.role == role);
            let (count, area) = own.fold((0, 0.0), |(n, area), p| (n + 1, area + p.area));
            (count > 0).then(|| format!("{count} {role} ({:.0} % of the area)", 100.0 * area))
        };
        let counts: Vec<String> = Role::ALL.into_iter().filter_map(counted).collect();
        writeln!(f, "pieces    {}: {}", self.pieces.len(), counts.join(", "))?;
        let order = self.by_area();
        let listed = &order[..order.len().min(MOST_LISTED)];
        let widest = listed.iter().map(|&k| self.pieces[k].mesh.chars().count()).max().unwrap_or(0);
        for &k in listed {
            let piece = &self.pieces[k];
            writeln!(
                f,
                "  {k:>3} {:widest$}  {:>6} vertices  {:>5.1} %  {:5}  {}",
                piece.mesh,
                piece.vertices,
                100.0 * piece.area,
                piece.role.name(),
                piece.why
            )?;
        }
        if order.len() > listed.len() {
            writeln!(f, "      and {} smaller pieces", order.len() - listed.len())?;
        }
        let is_skin = |k: &u32| self.pieces[*k as usize].role == Role::Skin;
        let pairs = self.joined.iter().filter(|pair| pair.iter().all(is_skin));
        let pairs: Vec<String> = pairs.map(|[a, b]| format!("{a}-{b}")).collect();
        if !pairs.is_empty() {
            writeln!(f, "  joined at rest, not separated there: {}", pairs.join(" "))?;
        }
        Ok(())
    }
}

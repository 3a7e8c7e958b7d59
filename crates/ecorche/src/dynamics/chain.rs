//! The links and ties of a strand, solved together.
//!
//! Where every link joins neighbours, the compliant constraints of a substep are one Newton step of an implicit
//! Euler step: `(M / h^2 + K) dx = f(y)` at the predicted places y, with
//! `K = k (n n^T + max(0, 1 - rest / length) (I - n n^T))` per link. K is block-tridiagonal: one sweep in and one out,
//! exact for tendons of any stiffness. The blocks beside the diagonal are `-(a I + b n n^T)`, which saves most of the matrix
//! products.
//!
//! The second term is the stiffness a taut link has against sideways motion. Without it (XPBD solved directly)
//! strands of 30 particles under 18 N come apart at 40 substeps; without the joint solution (XPBD link by link)
//! their tendons stretch by 12 %.

use super::constraint::distance::{Distance, Resists};
use glam::DVec3;

/// Scratch of one strand.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    rows: Vec<Row>,
}

/// A particle and the link to the next.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// Stiffness of mass and ties, in every direction, N/m.
    own: f64,
    /// Of the link: the block is `across I + along n n^T`, N/m.
    across: f64,
    along: f64,
    /// Unit, to the next.
    n: DVec3,
    /// Force, then the place it takes if the next particle stays.
    right: DVec3,
    /// Inverse of the diagonal block after elimination; zero for a pinned particle.
    inverse: Symmetric,
}

/// A symmetric matrix.
#[derive(Clone, Copy, Debug, Default)]
struct Symmetric {
    diagonal: DVec3,
    /// yz, xz, xy.
    beside: DVec3,
}

impl Symmetric {
    #[inline]
    fn times(&self, v: DVec3) -> DVec3 {
        let (d, b) = (self.diagonal, self.beside);
        DVec3::new(
            d.x * v.x + b.z * v.y + b.y * v.z,
            b.z * v.x + d.y * v.y + b.x * v.z,
            b.y * v.x + b.x * v.y + d.z * v.z,
        )
    }

    /// `u v^T + v u^T` added.
    #[inline]
    fn with_both(&self, u: DVec3, v: DVec3) -> Self {
        let beside = DVec3::new(u.y * v.z + u.z * v.y, u.x * v.z + u.z * v.x, u.x * v.y + u.y * v.x);
        Self { diagonal: self.diagonal + 2.0 * u * v, beside: self.beside + beside }
    }

    #[inline]
    fn inverse(&self) -> Self {
        let (d, b) = (self.diagonal, self.beside);
        let diagonal = DVec3::new(d.y * d.z - b.x * b.x, d.x * d.z - b.y * b.y, d.x * d.y - b.z * b.z);
        let beside = DVec3::new(b.y * b.z - d.x * b.x, b.x * b.z - d.y * b.y, b.x * b.y - d.z * b.z);
        let scale = (d.x * diagonal.x + b.z * beside.z + b.y * beside.y).recip();
        Self { diagonal: diagonal * scale, beside: beside * scale }
    }
}

impl Chain {
    /// Whether all links join neighbours, one after the other.
    pub(crate) fn fits(links: &[Distance]) -> bool {
        links.iter().all(|l| l.ends[1] == l.ends[0] + 1 && l.compliance > 0.0)
            && links.windows(2).all(|l| l[0].ends[0] < l[1].ends[0])
    }

    /// Moves the particles. `stiffer`: factor on a link's stiffness; `ties`: particle, stiffness (N/m), target.
    pub(crate) fn solve(
        &mut self,
        position: &mut [DVec3],
        inverse_mass: &[f64],
        links: &[Distance],
        stiffer: impl Fn(&Distance) -> f64,
        ties: impl Iterator<Item = (usize, f64, DVec3)>,
        h: f64,
    ) {
        let Self { rows } = self;
        rows.clear();
        rows.extend(inverse_mass.iter().map(|&w| Row { own: (w * h * h).recip(), ..Row::default() }));
        for link in links {
            let [i, j] = link.ends;
            let between = position[j] - position[i];
            let length = between.length();
            if length.is_nan() || length <= 1e-12 {
                continue;
            }
            let error = length - link.rest;
            let slack = match link.resists {
                Resists::Both => false,
                Resists::Stretch => error < 0.0,
                Resists::Compression => error > 0.0,
            };
            if slack {
                continue;
            }
            let per_length = length.recip();
            let n = between * per_length;
            let k = stiffer(link) / link.compliance;
            let force = k * error * n;
            let sideways = (error * per_length).max(0.0);
            rows[i].right += force;
            rows[j].right -= force;
            (rows[i].n, rows[i].across, rows[i].along) = (n, k * sideways, k * (1.0 - sideways));
        }
        for (i, stiffness, target) in ties {
            rows[i].own += stiffness;
            rows[i].right += stiffness * (target - position[i]);
        }
        // Both ends are swept to the middle together: the two sweeps do not wait for each other.
        let count = rows.len();
        let middle = count / 2;
        let (mut first, mut last) = (Sweep::default(), Sweep::default());
        for i in 0..middle {
            let link = rows[i].link();
            first.eliminate(&mut rows[i], link, inverse_mass[i]);
            let i = count - 1 - i;
            if i > middle {
                let link = rows[i - 1].link();
                last.eliminate(&mut rows[i], link, inverse_mass[i]);
            }
        }
        if let Some(row) = rows.get_mut(middle) {
            first.block.diagonal += last.block.diagonal;
            first.block.beside += last.block.beside;
            first.force += last.force;
            first.eliminate(row, Link::default(), inverse_mass[middle]);
            position[middle] += row.right;
            let (mut before, mut after) = (row.right, row.right);
            for i in (0..middle).rev() {
                before = rows[i].right + rows[i].inverse.times(rows[i].link().times(before));
                position[i] += before;
                let i = 2 * middle - i;
                if i < count {
                    after = rows[i].right + rows[i].inverse.times(rows[i - 1].link().times(after));
                    position[i] += after;
                }
            }
        }
    }
}

/// The block of a link, `across I + along n n^T`.
#[derive(Clone, Copy, Default)]
struct Link {
    across: f64,
    along: f64,
    n: DVec3,
}

impl Row {
    #[inline]
    fn link(&self) -> Link {
        Link { across: self.across, along: self.along, n: self.n }
    }
}

impl Link {
    #[inline]
    fn times(&self, v: DVec3) -> DVec3 {
        self.across * v + self.along * self.n.dot(v) * self.n
    }
}

/// What the particles passed so far leave to the next.
#[derive(Default)]
struct Sweep {
    block: Symmetric,
    force: DVec3,
}

impl Sweep {
    /// Passes a particle; `link`: to the next.
    #[inline]
    fn eliminate(&mut self, row: &mut Row, link: Link, inverse_mass: f64) {
        let Link { across, along, n } = link;
        let block =
            Symmetric { diagonal: DVec3::splat(across), beside: DVec3::ZERO }.with_both(n, 0.5 * along * n);
        if inverse_mass <= 0.0 {
            // It does not move: the link alone acts on the next.
            row.right = DVec3::ZERO;
            *self = Self { block, force: DVec3::ZERO };
            return;
        }
        let own = DVec3::splat(row.own) + block.diagonal + self.block.diagonal;
        let inverse = Symmetric { diagonal: own, beside: block.beside + self.block.beside }.inverse();
        let there = inverse.times(row.right + self.force);
        // B D^-1 B with B the link.
        let m = inverse.times(n);
        let h = across * along * m + (0.5 * along * along * n.dot(m)) * n;
        let square = across * across;
        self.block = Symmetric {
            diagonal: block.diagonal - square * inverse.diagonal,
            beside: block.beside - square * inverse.beside,
        }
        .with_both(n, -h);
        self.force = link.times(there);
        (row.inverse, row.right) = (inverse, there);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_without_mass_goes_to_equilibrium() {
        // Three springs in a row between fixed ends, nearly massless: the middle ones divide the length.
        let link = |i: usize, stiffness: f64| Distance {
            ends: [i, i + 1],
            rest: 0.02,
            compliance: 1.0 / stiffness,
            resists: Resists::Both,
            pulled: false,
        };
        let links = [link(0, 100.0), link(1, 100.0), link(2, 50.0)];
        assert!(Chain::fits(&links));
        let mut p = [0.0, 0.1, 0.12, 0.3].map(|x| DVec3::X * x);
        let mass = [0.0, 1e9, 1e9, 0.0];
        Chain::default().solve(&mut p, &mass, &links, |_| 1.0, std::iter::empty(), 1.0);
        let tension = links.map(|l| l.tension(&p, 1.0));
        assert!(
            (tension[0] - tension[1]).abs() < 1e-6 && (tension[0] - tension[2]).abs() < 1e-6,
            "{tension:?}"
        );
    }

    #[test]
    fn the_step_solves_the_equations_for_any_number_of_particles() {
        // Residual of (M / h^2 + K) dx = f, assembled independently, with a pinned particle at an end and one between others.
        for count in [1, 2, 3, 8, 9] {
            let start: Vec<DVec3> = (0..count)
                .map(|i| DVec3::new(0.1 * i as f64, 0.02 * (i as f64 * 1.7).sin(), 0.03 * (i as f64).cos()))
                .collect();
            let links: Vec<Distance> = (1..count)
                .map(|i| Distance {
                    ends: [i - 1, i],
                    rest: 0.05,
                    compliance: 1e-3 * i as f64,
                    resists: Resists::Both,
                    pulled: false,
                })
                .collect();
            let weight: Vec<f64> =
                (0..count).map(|i| if i == 0 || i == 5 { 0.0 } else { 20.0 + i as f64 }).collect();
            let (h, tie) = (0.01, (count - 1, 300.0, DVec3::Y));
            let mut p = start.clone();
            Chain::default().solve(&mut p, &weight, &links, |_| 1.0, std::iter::once(tie), h);
            let moved: Vec<DVec3> = p.iter().zip(&start).map(|(p, q)| p - q).collect();
            let mut residual: Vec<DVec3> =
                moved.iter().zip(&weight).map(|(&m, w)| if *w > 0.0 { m / (w * h * h) } else { m }).collect();
            residual[tie.0] += tie.1 * (moved[tie.0] - (tie.2 - start[tie.0]));
            for link in &links {
                let [i, j] = link.ends;
                let (between, by) = (start[j] - start[i], moved[j] - moved[i]);
                let (length, n) = (between.length(), between.normalize());
                let sideways = (1.0 - link.rest / length).max(0.0);
                let force = (n * n.dot(by) + sideways * (by - n * n.dot(by)) + (length - link.rest) * n)
                    / link.compliance;
                residual[i] -= force;
                residual[j] += force;
            }
            for (i, (r, w)) in residual.iter().zip(&weight).enumerate() {
                assert!(*w == 0.0 || r.length() < 1e-9, "{count}, particle {i}: {r}");
                assert!(*w > 0.0 || moved[i] == DVec3::ZERO);
            }
        }
    }
}

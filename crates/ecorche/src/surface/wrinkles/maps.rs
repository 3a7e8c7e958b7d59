//! The pattern as pictures in texture coordinates, for programs that draw wrinkles on a mesh too coarse for them.
//!
//! What never changes (phase, mask, wavelength) is in the pictures; how much the skin folds in a pose is one number per vertex and
//! set of stripes. The height of a point is `wavelength / pi x mask x fold x wave(cos phase)`.

use super::stripe_set::StripeSet;
use crate::character::{Character, Mesh};
use crate::skinning::Surface;
use glam::{DVec2, Vec2};
use std::collections::HashMap;

/// Texels around the skin that repeat its edge, so that filtering does not mix in what is beside it.
const GUTTER: usize = 4;

/// Why there are no maps.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// A mesh without texture coordinates.
    #[error(
        "mesh \"{mesh}\" has no texture coordinates to draw wrinkle maps in; unwrap it, or bake with --subdivide instead"
    )]
    NoTextureCoordinates {
        /// Its name.
        mesh: String,
    },
    /// Nothing wrinkles.
    #[error(
        "no skin of this character wrinkles, so there is nothing to draw maps of; turn wrinkles on, or name joints that bend"
    )]
    Smooth,
    /// A size that cannot be drawn.
    #[error("maps of {0} x {0} texels cannot be drawn; give a size from 16 to 16384")]
    Size(usize),
}

/// A point of a map.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Texel {
    /// Cosine of the phase, -1 in a valley, 1 on a ridge.
    pub cos: f32,
    /// 0 to 1.
    pub mask: f32,
    /// Metres.
    pub wavelength: f32,
}

/// One set of stripes of one mesh.
#[derive(Clone, Debug)]
pub struct WrinkleMap {
    /// Mesh of the character.
    pub mesh: usize,
    /// Set of stripes, from 0.
    pub pattern: usize,
    /// Texels to a side.
    pub size: usize,
    /// Row by row from the top, where v is 1.
    pub texels: Vec<Texel>,
}

/// Maps of every mesh that wrinkles.
pub(super) fn maps(
    character: &Character,
    surface: &Surface,
    sets: &[StripeSet],
    size: usize,
) -> Result<Vec<WrinkleMap>, MapError> {
    if !(16..=16384).contains(&size) {
        return Err(MapError::Size(size));
    }
    let mut maps = Vec::new();
    for (pattern, set) in sets.iter().enumerate() {
        let stripes = stripes_of(set, surface);
        for (m, mesh) in character.meshes.iter().enumerate() {
            let corners = |t: &[u32; 3]| t.map(|v| surface.vertex_of(character, m, v as usize));
            let found: Vec<(usize, [Texel; 3])> = mesh
                .triangles
                .iter()
                .enumerate()
                .filter_map(|(t, triangle)| {
                    let [a, b, c] = corners(triangle);
                    Some((t, stripes.corners([a?, b?, c?])?))
                })
                .collect();
            if found.is_empty() {
                continue;
            }
            if mesh.corner_uvs.is_empty() {
                return Err(MapError::NoTextureCoordinates { mesh: mesh.name.clone() });
            }
            maps.push(WrinkleMap { mesh: m, pattern, size, texels: draw(mesh, &found, size) });
        }
    }
    if maps.is_empty() { Err(MapError::Smooth) } else { Ok(maps) }
}

/// Where each triangle of the surface has its stripes; the phase is in [`Texel::cos`].
struct Stripes<'a> {
    set: &'a StripeSet,
    /// By the corners, lowest first.
    triangles: HashMap<[u32; 3], usize>,
}

fn stripes_of<'a>(set: &'a StripeSet, surface: &Surface) -> Stripes<'a> {
    let triangles =
        set.triangles.iter().enumerate().filter(|(k, (_, corners))| {
            set.changes[*k].is_some() && corners.iter().any(|&v| set.mask[v] > 0.0)
        });
    let key = |(k, (t, _)): (usize, &(u32, [usize; 3]))| (sorted(surface.mesh.triangles[*t as usize]), k);
    Stripes { set, triangles: triangles.map(key).collect() }
}

fn sorted(mut corners: [u32; 3]) -> [u32; 3] {
    corners.sort_unstable();
    corners
}

impl Stripes<'_> {
    /// Of a triangle's corners, in their order; `None` where nothing wrinkles.
    fn corners(&self, of_surface: [u32; 3]) -> Option<[Texel; 3]> {
        let k = *self.triangles.get(&sorted(of_surface))?;
        let StripeSet { vertices, triangles, changes, phases, mask, wavelengths, .. } = self.set;
        let own = triangles[k].1;
        let change = changes[k]?;
        let first = DVec2::X.angle_to(phases[own[0]]);
        let unwrapped = [first, first + change[0], first + change[1]];
        let texel = |corner: u32| {
            let i = own.iter().position(|&v| vertices[v] == corner)?;
            let v = own[i];
            Some(Texel { cos: unwrapped[i] as f32, mask: mask[v] as f32, wavelength: wavelengths[v] as f32 })
        };
        let [a, b, c] = of_surface.map(texel);
        Some([a?, b?, c?])
    }
}

fn draw(mesh: &Mesh, found: &[(usize, [Texel; 3])], size: usize) -> Vec<Texel> {
    let corners = mesh.faces.triangle_corners();
    let mut texels = vec![Texel::default(); size * size];
    let mut drawn = vec![false; size * size];
    for &(t, values) in found {
        let uv = corners[t].map(|c| mesh.corner_uvs[c as usize]);
        // Tiles beside the first lie on it.
        let tile = ((uv[0] + uv[1] + uv[2]) / 3.0).floor();
        let at = uv.map(|uv| {
            let uv = uv - tile;
            Vec2::new(uv.x, 1.0 - uv.y) * size as f32 - 0.5
        });
        draw_triangle(at, values, size, &mut texels, &mut drawn);
    }
    for _ in 0..GUTTER {
        grow(size, &mut texels, &mut drawn);
    }
    texels
}

fn draw_triangle(at: [Vec2; 3], values: [Texel; 3], size: usize, texels: &mut [Texel], drawn: &mut [bool]) {
    let area = (at[1] - at[0]).perp_dot(at[2] - at[0]);
    if !area.is_finite() || area == 0.0 {
        return;
    }
    let limit = (size - 1) as f32;
    let low = at[0].min(at[1]).min(at[2]).ceil().clamp(Vec2::ZERO, Vec2::splat(limit));
    let high = at[0].max(at[1]).max(at[2]).floor().clamp(Vec2::ZERO, Vec2::splat(limit));
    for y in low.y as usize..=high.y as usize {
        for x in low.x as usize..=high.x as usize {
            let p = Vec2::new(x as f32, y as f32);
            let share = |k: usize| {
                let (q, r) = (at[(k + 1) % 3], at[(k + 2) % 3]);
                (q - p).perp_dot(r - p) / area
            };
            let shares = [share(0), share(1), share(2)];
            if shares.iter().any(|&share| share < 0.0) {
                continue;
            }
            let mean =
                |of: fn(&Texel) -> f32| shares.iter().zip(&values).map(|(s, v)| s * of(v)).sum::<f32>();
            texels[y * size + x] = Texel {
                cos: mean(|v| v.cos).cos(),
                mask: mean(|v| v.mask),
                wavelength: mean(|v| v.wavelength),
            };
            drawn[y * size + x] = true;
        }
    }
}

/// Fills texels beside drawn ones.
fn grow(size: usize, texels: &mut [Texel], drawn: &mut [bool]) {
    let mut new = Vec::new();
    for i in (0..size * size).filter(|&i| !drawn[i]) {
        let (x, y) = (i % size, i / size);
        let beside = [
            (x > 0).then(|| i - 1),
            (x + 1 < size).then(|| i + 1),
            (y > 0).then(|| i - size),
            (y + 1 < size).then(|| i + size),
        ];
        if let Some(from) = beside.into_iter().flatten().find(|&j| drawn[j]) {
            new.push((i, texels[from]));
        }
    }
    for (i, texel) in new {
        texels[i] = texel;
        drawn[i] = true;
    }
}

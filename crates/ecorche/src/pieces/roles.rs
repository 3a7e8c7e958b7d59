//! From figures to roles.

use super::measure::{Cut, Seen, Shape};
use super::skeleton::Bones;
use super::{Layering, Measured, Piece, PieceSettings, Pieces, Role};
use crate::character::{Character, Mesh};
use crate::skinning::Surface;
use std::collections::BTreeMap;

// The limits below are those of a study of 31 characters; each lies between the two pieces named.

/// Spread of weights up to which a piece is rigid: arm bones of a skeleton have 0.092, pauldrons 0.102.
const RIGID_SPREAD: f32 = 0.1;
/// Spread from which a piece may be flesh: a hip ball with stray weights has 0.138, the stump of a leg 0.151.
const FLESH_SPREAD: f32 = 0.15;
/// Bones inside flesh: an arm bone has 1 and no joint to correct, shoes have 2.
const FLESH_BONES: u32 = 2;
/// Share of its weight that bones inside it have: a lump at a pelvis 0.21, baggy trousers 0.46.
const FLESH_HELD: f32 = 1.0 / 3.0;
/// Share of its area over other flesh from which a piece is worn: a gauntlet that is the forearm has 0.41. No flesh tried had more.
const WORN_OVER: f32 = 0.5;
/// Share of its area over rigid solids from which a piece is a hard shell: the link of a finger 0.21, a mannequin's chest 0.47.
const SHELL_OVER: f32 = 1.0 / 3.0;

pub(super) fn assign(surface: &Surface, character: &Character, settings: &PieceSettings) -> Pieces {
    let regions = &surface.regions;
    let joint_of_vertex: Vec<u32> =
        regions.region_of_vertex.iter().map(|&r| regions.regions[r as usize].joint).collect();
    let bones = Bones::new(character, surface, &joint_of_vertex);
    let cut = Cut::new(surface, &bones);
    let named = settings.layers == Layering::Auto && cut.shapes.len() > 1;
    let seen = if named { cut.look_around(surface) } else { vec![Vec::new(); cut.shapes.len()] };
    let mut pieces = describe(surface, character, &cut);
    give(&mut pieces, &cut, &seen, &bones, settings);
    let mut joined = if named { joined(&cut, &seen) } else { Vec::new() };
    if settings.layers == Layering::Auto {
        rest(&mut pieces, &joined);
    }
    for (k, own) in seen.iter().enumerate() {
        let is_skin = |q: u32| pieces[q as usize].role == Role::Skin;
        let on = |s: &Seen| s.others().any(is_skin);
        let (on, within) = (share(own, on), share(own, |s| s.inside.iter().any(|&q| is_skin(q))));
        (pieces[k].on_skin, pieces[k].in_skin) = (on, within);
    }
    for def in &settings.given {
        let called = |names: &[String], p: &Piece| names.contains(&p.mesh) || names.contains(&p.material);
        let means: Vec<bool> = pieces.iter().enumerate().map(|(k, p)| def.means(k, p)).collect();
        let listed = |names: &[String]| -> Vec<bool> { pieces.iter().map(|p| called(names, p)).collect() };
        let (on, apart) = (listed(&def.on), listed(&def.apart));
        joined.retain(|&[a, b]| {
            let [a, b] = [a as usize, b as usize];
            !(means[a] && apart[b] || means[b] && apart[a])
        });
        let on: Vec<u32> = (0..pieces.len() as u32).filter(|&k| on[k as usize]).collect();
        if !def.on.is_empty() {
            let meant = pieces.iter_mut().zip(&means).filter(|(_, meant)| **meant);
            meant.for_each(|(piece, _)| piece.on = on.clone());
        }
    }
    Pieces { pieces, piece_of_vertex: cut.piece_of_vertex, joined }
}

/// Share of the points for which something holds.
fn share(seen: &[Seen], holds: impl Fn(&Seen) -> bool) -> f32 {
    seen.iter().filter(|s| holds(s)).count() as f32 / seen.len().max(1) as f32
}

/// Names, sizes and weights.
fn describe(surface: &Surface, character: &Character, cut: &Cut) -> Vec<Piece> {
    let looks = looks_of_triangles(character);
    let whole: f64 = cut.shapes.iter().map(|s| s.area).sum();
    let describe = |shape: &Shape| {
        let mut areas: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for &t in &shape.triangles {
            let [a, b, c] = cut.mesh.corners(t as usize).map(|p| p.as_dvec3());
            // A triangle without area still has a mesh.
            let area = 0.5 * (b - a).cross(c - a).length() + 1e-12 * whole;
            *areas.entry(looks.get(t as usize).copied().unwrap_or_default()).or_default() += area;
        }
        let of = |key: fn(&(u32, u32)) -> (u32, u32)| {
            let mut sums: BTreeMap<(u32, u32), f64> = BTreeMap::new();
            areas.iter().for_each(|(looks, area)| *sums.entry(key(looks)).or_default() += area);
            let larger =
                |a: &((u32, u32), f64), b: &((u32, u32), f64)| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0));
            sums.into_iter().max_by(larger).map(|s| s.0)
        };
        let first = shape.vertices[0];
        let mesh = of(|looks| (looks.0, 0)).map_or_else(|| surface.mesh_of(first as usize), |m| m.0 as usize);
        let material = of(|looks| *looks)
            .and_then(|(m, material)| character.meshes[m as usize].materials.get(material as usize).cloned());
        Piece {
            mesh: character.meshes[mesh].name.clone(),
            material: material.unwrap_or_default(),
            first_vertex: first,
            vertices: shape.vertices.len(),
            area: (shape.area / whole.max(f64::MIN_POSITIVE)) as f32,
            role: Role::Skin,
            is_given: false,
            why: String::new(),
            measured: Measured {
                spread: shape.spread,
                enclosed: shape.enclosed,
                held: shape.held,
                ..Measured::default()
            },
            on_skin: 0.0,
            in_skin: 0.0,
            on: Vec::new(),
        }
    };
    cut.shapes.iter().map(describe).collect()
}

/// Mesh and material of every triangle of the surface.
fn looks_of_triangles(character: &Character) -> Vec<(u32, u32)> {
    let mut looks = Vec::new();
    for (m, mesh) in character.meshes.iter().enumerate().filter(|(_, mesh)| mesh.skin().is_some()) {
        let first = looks.len();
        for face in 0..mesh.faces.len() {
            let material = mesh.material_of_face.get(face).copied().unwrap_or(0);
            let triangles = mesh.faces.range(face).len().saturating_sub(2);
            looks.extend(std::iter::repeat_n((m as u32, material), triangles));
        }
        looks.resize(first + mesh.triangles.len(), (m as u32, first_material(mesh)));
    }
    looks
}

fn first_material(mesh: &Mesh) -> u32 {
    mesh.material_of_face.first().copied().unwrap_or(0)
}

/// The role the user gave a piece.
fn given(pieces: &[Piece], k: usize, settings: &PieceSettings) -> Option<Role> {
    let meant = settings.given.iter().rev().filter(|def| def.means(k, &pieces[k]));
    meant.filter_map(|def| def.role.role()).next()
}

/// Gives the roles that do not depend on what skin a piece is joined to; those left are worn or loose.
fn give(pieces: &mut [Piece], cut: &Cut, seen: &[Vec<Seen>], bones: &Bones, settings: &PieceSettings) {
    match settings.layers {
        Layering::Auto => {}
        Layering::One => return pieces.iter_mut().for_each(|p| "all pieces are skin".clone_into(&mut p.why)),
        Layering::Off => {
            return pieces
                .iter_mut()
                .for_each(|p| (p.role, p.why) = (Role::Loose, "moves by skinning alone".to_owned()));
        }
    }
    let is_rigid: Vec<bool> = pieces.iter().map(|p| p.measured.spread <= RIGID_SPREAD).collect();
    let is_candidate: Vec<bool> = pieces
        .iter()
        .enumerate()
        .map(|(k, p)| {
            let Measured { spread, enclosed, held, .. } = p.measured;
            let flesh = spread >= FLESH_SPREAD && enclosed >= FLESH_BONES && held >= FLESH_HELD;
            given(pieces, k, settings).map_or(flesh, |role| role == Role::Skin)
        })
        .collect();
    for (k, own) in seen.iter().enumerate() {
        let hard = |s: &Seen, q: u32| {
            let shape = &cut.shapes[q as usize];
            is_rigid[q as usize] && shape.is_solid && bones.are_next(shape.joint, s.joint)
        };
        let over_flesh = share(own, |s| s.over.iter().any(|&q| is_candidate[q as usize]));
        let over_hard = share(own, |s| s.over.iter().any(|&q| hard(s, q)));
        let Piece { measured, role, why, is_given, .. } = &mut pieces[k];
        (measured.over_flesh, measured.over_hard) = (over_flesh, over_hard);
        let Measured { spread, enclosed, .. } = *measured;
        (*role, *why) = if cut.shapes[k].triangles.is_empty() {
            (Role::Loose, "has no triangles".to_owned())
        } else if is_rigid[k] {
            let why = if spread < 5e-4 {
                "the same weights all over".into()
            } else {
                format!("spread {spread:.2}")
            };
            (Role::Rigid, why)
        } else if !is_candidate[k] {
            (Role::Loose, String::new())
        } else if over_flesh >= WORN_OVER {
            (Role::Worn, format!("{:.0} % of it over other flesh", 100.0 * over_flesh))
        } else if over_hard >= SHELL_OVER {
            (Role::Rigid, format!("a shell, {:.0} % of it over rigid solids", 100.0 * over_hard))
        } else {
            (Role::Skin, format!("encloses {enclosed} bones, spread {spread:.2}"))
        };
        *is_given = false;
    }
    for k in 0..pieces.len() {
        if let Some(role) = given(pieces, k, settings) {
            let piece = &mut pieces[k];
            (piece.role, piece.is_given, piece.why) = (role, true, "given".to_owned());
        }
    }
}

/// Tells worn pieces from loose ones.
fn rest(pieces: &mut [Piece], joined: &[[u32; 2]]) {
    let is_skin: Vec<bool> = pieces.iter().map(|p| p.role == Role::Skin).collect();
    let mut on_skin = vec![false; pieces.len()];
    for &[a, b] in joined {
        on_skin[a as usize] |= is_skin[b as usize];
        on_skin[b as usize] |= is_skin[a as usize];
    }
    for (piece, on_skin) in pieces.iter_mut().zip(on_skin) {
        if piece.role != Role::Loose || !piece.why.is_empty() {
            continue;
        }
        let Measured { spread, enclosed, held, .. } = piece.measured;
        let no_flesh = if spread < FLESH_SPREAD {
            format!("spread {spread:.2}")
        } else if enclosed < FLESH_BONES {
            let bones = if enclosed == 1 { "bone" } else { "bones" };
            format!("encloses {} {bones}", if enclosed == 0 { "no".to_owned() } else { enclosed.to_string() })
        } else {
            format!("{:.0} % of its weight on bones inside it", 100.0 * held)
        };
        (piece.role, piece.why) = match on_skin {
            true => (Role::Worn, format!("{no_flesh}; meets skin at rest")),
            false => (Role::Loose, format!("{no_flesh}; meets no skin")),
        };
    }
}

/// Pairs that cross at rest, or of which one lies over, under or inside the other; ascending.
fn joined(cut: &Cut, seen: &[Vec<Seen>]) -> Vec<[u32; 2]> {
    let mut pairs = cut.crossing();
    for (k, own) in seen.iter().enumerate() {
        let mut others: Vec<u32> = own.iter().flat_map(Seen::others).collect();
        others.sort_unstable();
        others.dedup();
        pairs.extend(others.into_iter().map(|q| [q.min(k as u32), q.max(k as u32)]));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

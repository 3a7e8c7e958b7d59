//! A cylinder in a sleeve, with a plate, a belt, a scarf and a flag: roles, and how the pieces move.

use super::*;
use crate::character::{Binding, Faces, Influences, Mesh, Pose};
use crate::deform::{Body, Settings, Stack, Workspace};
use crate::geom::{Shading, TriMesh, Weld};
use crate::parts::{FOLLOWS, Parts};
use glam::Vec3;
use std::f32::consts::TAU;
use std::sync::Arc;

const RADIUS: f32 = 0.12;

/// A mesh beside the cylinder's. `upper`: weight of the upper bone at a point; the lower has the rest.
fn add(character: &mut Character, name: &str, surface: TriMesh, upper: impl Fn(Vec3) -> f32) {
    let Binding::Skin(mut skin) = character.meshes[0].binding.clone() else { panic!("has a skin") };
    let weights = surface.positions.iter().map(|&p| vec![(0, 1.0 - upper(p)), (1, upper(p))]);
    skin.influences = Influences::new(weights.collect::<Vec<_>>());
    let weld = Weld::new(&surface.positions, 1e-6, |_, _| true);
    let mesh = Mesh::of_triangles(name, surface, weld, Binding::Skin(skin));
    character.meshes.push(Mesh { materials: vec![format!("{name} cloth")], ..mesh });
}

/// The weight of the cylinder's skin at a height.
fn as_skin(p: Vec3) -> f32 {
    (0.5 + (p.y - 0.5) / 0.3).clamp(0.0, 1.0)
}

/// An open tube around the Y axis, facing out.
fn tube(radius: f32, [low, high]: [f32; 2], rows: usize) -> TriMesh {
    let around = 32;
    let at = |row: usize, s: usize| (row * around + s % around) as u32;
    let mut mesh = TriMesh::default();
    for row in 0..=rows {
        let y = low + (high - low) * row as f32 / rows as f32;
        mesh.positions.extend((0..around).map(|s| {
            let (sine, cosine) = (TAU * s as f32 / around as f32).sin_cos();
            Vec3::new(radius * sine, y, radius * cosine)
        }));
    }
    for row in 0..rows {
        for s in 0..around {
            let [a, b, c, d] = [at(row, s), at(row, s + 1), at(row + 1, s + 1), at(row + 1, s)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

/// A closed box.
fn boxed(middle: Vec3, half: Vec3) -> TriMesh {
    let corner = |k: usize| {
        let side = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        middle + half * Vec3::new(side(0), side(1), side(2))
    };
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    TriMesh {
        positions: (0..8).map(corner).collect(),
        triangles: quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
    }
}

/// A closed band with two walls.
fn band() -> TriMesh {
    let (mut outer, inner) = (tube(1.25 * RADIUS, [0.2, 0.26], 2), tube(1.02 * RADIUS, [0.2, 0.26], 2));
    let first = outer.positions.len() as u32;
    outer.positions.extend(inner.positions);
    outer.triangles.extend(inner.triangles.iter().map(|t| [t[0] + first, t[2] + first, t[1] + first]));
    for (low, turned) in [(0u32, false), (64, true)] {
        for s in 0..32u32 {
            let [a, b] = [low + s, low + (s + 1) % 32];
            let quad = [[a, b + first, b], [a, a + first, b + first]];
            outer.triangles.extend(quad.map(|[a, b, c]| if turned { [a, c, b] } else { [a, b, c] }));
        }
    }
    outer
}

/// An upright sheet across the skin, or beside the body.
fn sheet(x: f32) -> TriMesh {
    let mut mesh = TriMesh::default();
    for row in 0..=8u32 {
        for column in 0..=4u32 {
            mesh.positions.push(Vec3::new(x, 0.35 + 0.04 * row as f32, 0.1 + 0.02 * column as f32));
            if row < 8 && column < 4 {
                let a = row * 5 + column;
                mesh.triangles.extend([[a, a + 1, a + 6], [a, a + 6, a + 5]]);
            }
        }
    }
    mesh
}

fn dressed() -> Character {
    let mut character = crate::samples::build("cylinder").unwrap();
    add(&mut character, "sleeve", tube(1.15 * RADIUS, [0.3, 0.7], 24), as_skin);
    add(&mut character, "plate", boxed(Vec3::new(0.0, 0.85, RADIUS), Vec3::new(0.04, 0.05, 0.02)), |_| 1.0);
    add(&mut character, "belt", band(), as_skin);
    add(&mut character, "scarf", sheet(0.01), as_skin);
    add(&mut character, "flag", sheet(0.6), as_skin);
    character
}

const LABELS: [(&str, Role); 6] = [
    ("cylinder", Role::Skin),
    ("sleeve", Role::Worn),
    ("plate", Role::Rigid),
    ("belt", Role::Rigid),
    ("scarf", Role::Worn),
    ("flag", Role::Loose),
];

fn pieces(character: &Character, settings: &PieceSettings) -> Pieces {
    Pieces::find(&Surface::new(character).unwrap(), character, settings)
}

fn role(pieces: &Pieces, mesh: &str) -> Role {
    pieces.pieces.iter().find(|p| p.mesh == mesh).unwrap().role
}

fn assert_as_labelled(pieces: &Pieces) {
    assert_eq!(pieces.pieces.len(), LABELS.len());
    for (name, wanted) in LABELS {
        assert_eq!(role(pieces, name), wanted, "{name} of\n{pieces}");
    }
    assert!(pieces.pieces.iter().all(|p| !p.why.is_empty()));
}

#[test]
fn pieces_get_the_roles_a_person_would_give_them() {
    let found = pieces(&dressed(), &PieceSettings::default());
    assert_as_labelled(&found);
    let number = |name: &str| found.pieces.iter().position(|p| p.mesh == name).unwrap() as u32;
    let skin = number("cylinder");
    for name in ["sleeve", "plate", "belt", "scarf"] {
        assert!(found.are_joined(skin, number(name)), "{name} meets the skin");
    }
    assert!(!found.joined.iter().flatten().any(|&k| k == number("flag")));
    let text = found.to_string();
    assert!(text.starts_with("pieces    6: 1 skin") && text.contains("encloses 2 bones"), "{text}");
}

#[test]
fn neither_order_nor_a_mirror_nor_faces_inside_out_change_roles() {
    let mut character = dressed();
    character.meshes.reverse();
    assert_as_labelled(&pieces(&character, &PieceSettings::default()));
    let mut mirrored = dressed();
    for mesh in &mut mirrored.meshes {
        mesh.positions.iter_mut().for_each(|p| p.x = -p.x);
    }
    assert_as_labelled(&pieces(&mirrored, &PieceSettings::default()));
}

#[test]
fn the_same_pieces_on_any_number_of_threads() {
    let character = dressed();
    let find = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| pieces(&character, &PieceSettings::default()))
    };
    assert_eq!(find(1), find(3));
}

/// A body that its file cuts into meshes is one piece, and bakes like one.
#[test]
fn meshes_that_share_a_border_are_one_piece() {
    let whole = crate::samples::build("cylinder").unwrap();
    let mut cut = whole.clone();
    cut.meshes.clear();
    let is_upper = |t: &[u32; 3]| t.iter().any(|&v| whole.meshes[0].positions[v as usize].y > 0.4);
    for upper in [false, true] {
        let mut mesh = whole.meshes[0].clone();
        mesh.triangles.retain(|t| is_upper(t) == upper);
        mesh.faces = Faces::triangles(&mesh.triangles);
        mesh.shading = Shading::new(&mesh.weld, &mesh.faces.corners, &[], &mesh.faces.triangle_corners());
        mesh.name = format!("half {upper}");
        cut.meshes.push(mesh);
    }
    let found = pieces(&cut, &PieceSettings::default());
    assert_eq!(found.pieces.len(), 1);
    let (whole, cut) = (Arc::new(whole), Arc::new(cut));
    let [a, b] = [whole, cut].map(|character| {
        let body = Body::bind(character.clone(), Stack::implicit(), None).unwrap();
        let frame = body.deform(&bent(&character, 0.5), 0.0, &mut Workspace::default());
        frame.meshes.into_iter().map(|mesh| mesh.positions).collect::<Vec<_>>()
    });
    assert_eq!(b[0], b[1], "the halves part");
    // Other triangles come first, so that samples lie elsewhere.
    assert!(a[0].iter().zip(&b[0]).all(|(p, q)| p.distance(*q) < 0.1 * RADIUS));
}

/// The pose of the clip `bend` at a share of its length.
fn bent(character: &Character, share: f32) -> Pose {
    let mut pose = Pose::rest(character);
    let clip = character.clip("bend").unwrap();
    clip.sample(clip.start + share * (clip.end - clip.start), &mut pose);
    pose
}

#[test]
fn what_a_person_says_holds() {
    let character = dressed();
    let says = |def: PieceDef| PieceSettings { given: vec![def], ..PieceSettings::default() };
    let mesh = |name: &str| Some(name.to_owned());
    let found = pieces(
        &character,
        &says(PieceDef { mesh: mesh("sleeve"), role: RoleDef::Rigid, ..Default::default() }),
    );
    assert_eq!((role(&found, "sleeve"), role(&found, "cylinder")), (Role::Rigid, Role::Skin));
    let material = Some("plate cloth".to_owned());
    let found = pieces(&character, &says(PieceDef { material, role: RoleDef::Skin, ..Default::default() }));
    assert_eq!((role(&found, "plate"), role(&found, "belt")), (Role::Skin, Role::Rigid));
    let index = found.pieces.iter().position(|p| p.mesh == "belt").map(|k| k as u32);
    let found = pieces(&character, &says(PieceDef { index, role: RoleDef::Loose, ..Default::default() }));
    assert_eq!((role(&found, "plate"), role(&found, "belt")), (Role::Rigid, Role::Loose));
    let apart = vec!["cylinder".to_owned()];
    let found = pieces(&character, &says(PieceDef { mesh: mesh("sleeve"), apart, ..Default::default() }));
    assert!(!found.are_joined(0, 1) && found.are_joined(0, 2));
    let on = vec!["cylinder".to_owned()];
    let found = pieces(&character, &says(PieceDef { mesh: mesh("sleeve"), on, ..Default::default() }));
    assert_eq!((found.pieces[1].on.as_slice(), role(&found, "sleeve")), (&[0][..], Role::Worn));
    for (layers, wanted) in [(Layering::One, Role::Skin), (Layering::Off, Role::Loose)] {
        let found = pieces(&character, &PieceSettings { layers, ..PieceSettings::default() });
        assert!(found.pieces.iter().all(|p| p.role == wanted) && found.joined.is_empty());
    }
}

#[test]
fn a_single_skin_is_the_same_with_and_without_roles() {
    let character = Arc::new(crate::samples::build("cylinder").unwrap());
    let [auto, one] = [Layering::Auto, Layering::One].map(|layers| {
        let mut settings = Settings::from(Stack::implicit());
        settings.parts.pieces.layers = layers;
        let body = Body::bind(character.clone(), settings, None).unwrap();
        body.deform(&bent(&character, 0.5), 0.0, &mut Workspace::default())
    });
    assert!(auto == one);
    let report = auto.report.tracking.unwrap();
    assert_eq!((report.faded, report.faded_pieces), (0, 0), "the net is empty");
}

fn area(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    crate::geom::mesh::area(positions, triangles)
}

#[test]
fn clothes_keep_their_distance_and_plates_their_shape() {
    let character = Arc::new(dressed());
    let [ours, skinned] = [Stack::implicit(), Stack::dual_quaternion()].map(|stack| {
        let body = Body::bind(character.clone(), stack, None).unwrap();
        body.deform(&bent(&character, 0.5), 0.0, &mut Workspace::default())
    });
    let mesh = |name: &str| character.meshes.iter().position(|m| m.name == name).unwrap();
    let sleeve = mesh("sleeve");
    let triangles = &character.meshes[sleeve].triangles;
    let [kept, start] = [&ours, &skinned].map(|frame| area(&frame.meshes[sleeve].positions, triangles));
    assert!((kept / start - 1.0).abs() < 0.05, "area {kept} against {start}");
    // The skin under each vertex of the sleeve at rest, and how far it is off where skinning has the two.
    let rest = &character.meshes[0].positions;
    let (mut following, mut staying) = (0.0, 0.0);
    for (v, &p) in character.meshes[sleeve].positions.iter().enumerate() {
        let near = |q: &Vec3| q.distance_squared(p);
        let under = (0..rest.len()).min_by(|&a, &b| near(&rest[a]).total_cmp(&near(&rest[b]))).unwrap();
        let [skin, before] = [&ours, &skinned].map(|frame| frame.meshes[0].positions[under]);
        let [cloth, start] = [&ours, &skinned].map(|frame| frame.meshes[sleeve].positions[v]);
        let gap = start.distance(before);
        following += (cloth.distance(skin) - gap).abs();
        staying += (start.distance(skin) - gap).abs();
    }
    let (gap, vertices) = (0.15 * RADIUS, character.meshes[sleeve].positions.len() as f32);
    assert!(following < 0.8 * staying, "gaps change by {following} m, {staying} m if the sleeve stays");
    assert!(following / vertices < 0.25 * gap, "gaps of {gap} m change by {}", following / vertices);
    for name in ["plate", "belt"] {
        let (rest, now) = (&character.meshes[mesh(name)].positions, &ours.meshes[mesh(name)].positions);
        for a in 0..rest.len() {
            for b in 0..a {
                let change = now[a].distance(now[b]) - rest[a].distance(rest[b]);
                assert!(change.abs() < 2e-6, "{name} bends by {change} m");
            }
        }
    }
    let [now, start] = [&ours, &skinned].map(|frame| &frame.meshes[mesh("flag")].positions);
    assert!(now.iter().zip(start).all(|(p, q)| p.distance(*q) < 1e-5), "nothing moves the flag");
}

#[test]
fn only_skin_has_parts() {
    let character = dressed();
    let surface = Surface::new(&character).unwrap();
    let parts = Parts::build(&surface, &character, &Default::default(), None);
    for (v, &part) in parts.part_of_vertex.iter().enumerate() {
        assert_eq!(part != FOLLOWS, parts.pieces.role(v) == Role::Skin);
    }
    assert_eq!(parts.parts.len(), 2);
}

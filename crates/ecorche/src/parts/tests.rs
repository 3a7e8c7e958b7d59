//! Parts of the built-in characters, whole, open, turned and with things stuck to them.

use super::check::ends_at_its_border;
use super::outside::Outside;
use super::report::Reason;
use super::solid::Solid;
use super::*;
use crate::cache::DEFAULT_LIMIT;
use crate::character::{Influences, Joint};
use crate::field::Field;
use crate::geom::Adjacency;
use crate::math::Transform;
use crate::pieces::Layering;
use crate::pieces::skeleton::Bones;
use crate::samples;
use crate::skinning::{RegionSettings, Regions, regions};
use std::sync::OnceLock;

fn sample(name: &str) -> (Character, Surface) {
    let character = samples::build(name).unwrap();
    let surface = Surface::new(&character).unwrap();
    (character, surface)
}

/// With every piece as skin: several tests paint weights that would make none.
fn quick() -> PartSettings {
    let pieces = PieceSettings { layers: Layering::One, ..PieceSettings::default() };
    PartSettings { resolution: 12, pieces, ..PartSettings::default() }
}

fn hand() -> &'static (Character, Surface, Parts) {
    static HAND: OnceLock<(Character, Surface, Parts)> = OnceLock::new();
    HAND.get_or_init(|| {
        let (character, surface) = sample("hand");
        let parts = Parts::build(&surface, &character, &PartSettings::default(), None);
        (character, surface, parts)
    })
}

fn solid(character: &Character, surface: &Surface) -> (Outside, Solid) {
    let regions = &surface.regions;
    let joints: Vec<u32> =
        regions.region_of_vertex.iter().map(|&r| regions.regions[r as usize].joint).collect();
    let bones = Bones::new(character, surface, &joints);
    let pieces = Pieces::find(surface, character, &PieceSettings::default());
    let (outside, _) = Outside::new(&surface.mesh, &pieces, &joints, &bones);
    let solid = Solid::whole(&outside, None);
    (outside, solid)
}

/// Wrong gradients and the largest leak and hole.
fn faults(parts: &Parts) -> (usize, f32, f32) {
    let reports = &parts.report.parts;
    let largest = |of: fn(&report::PartReport) -> f32| reports.iter().map(of).fold(0.0, f32::max);
    (reports.iter().map(|p| p.wrong_gradients).sum(), largest(|p| p.leak), largest(|p| p.hole))
}

#[test]
fn the_solid_has_the_volume_of_the_skin() {
    for name in ["cylinder", "arm"] {
        let (character, surface) = sample(name);
        let (_, solid) = solid(&character, &surface);
        let volume = solid.voxels().count() as f64 * f64::from(solid.cell).powi(3);
        let ratio = volume / surface.mesh.volume();
        assert!((ratio - 1.0).abs() < 0.01, "{name}: {ratio}");
    }
}

#[test]
fn every_gradient_of_the_hand_is_within_60_degrees_of_the_normal() {
    let (_, surface, parts) = hand();
    let normals = surface.mesh.normals();
    for (v, &part) in parts.part_of_vertex.iter().enumerate() {
        let field = &parts.parts[part as usize].field;
        let outward = -field.sample(surface.mesh.positions[v]).gradient.normalize_or_zero();
        assert!(outward.dot(normals[v]) > 0.5, "vertex {v} of part {part}");
    }
    assert!(parts.report.following.is_empty() && parts.report.merged.is_empty());
}

#[test]
fn closures_lie_inside_the_skin() {
    let (character, surface, parts) = hand();
    let (outside, solid) = solid(character, surface);
    for part in &parts.parts {
        for closure in &part.closures {
            let skin = outside.nearest(closure.position, f32::INFINITY).unwrap().distance;
            assert!(solid.contains(closure.position) || skin < 0.1 * part.inner_radius);
        }
    }
    let closures: usize = parts.parts.iter().map(|p| p.closures.len()).sum();
    assert!(closures > parts.parts.len());
}

#[test]
fn fields_are_sound_and_end_at_their_border() {
    let (_, _, parts) = hand();
    let (_, leak, hole) = faults(parts);
    assert!(leak < 0.3 && hole < 0.02, "leak {leak}, hole {hole}");
    for part in &parts.parts {
        assert!(ends_at_its_border(&part.field), "joint {}", part.joint);
        assert!(part.radius >= part.inner_radius && part.radius <= 2.5 * part.inner_radius);
    }
}

#[test]
fn parents_and_neighbours_are_those_of_the_skeleton() {
    let (_, _, parts) = hand();
    for (index, part) in parts.parts.iter().enumerate() {
        let Some(parent) = part.parent else { continue };
        let pair = [parent.min(index as u32), parent.max(index as u32)];
        assert!(parts.touching.contains(&pair), "part {index} and its parent {parent}");
    }
    assert_eq!(parts.parts.iter().filter(|p| p.parent.is_none()).count(), 1);
}

#[test]
fn a_helper_joint_with_a_few_vertices_joins_the_part_around_it() {
    let (mut character, _) = sample("arm");
    let helper = character.skeleton.len();
    let joint = Joint { name: "helper".into(), parent: Some(0), rest: Transform::IDENTITY, in_skin: false };
    character.skeleton.joints.push(joint);
    let mut surface = Surface::new(&character).unwrap();
    let middle = (0..surface.mesh.positions.len())
        .find(|&v| surface.regions.regions[surface.regions.region_of_vertex[v] as usize].joint == 1)
        .unwrap();
    let around = Adjacency::new(&surface.mesh).vertex_ring.get(middle).to_vec();
    let before = Parts::build(&surface, &character, &quick(), None);
    surface.regions.regions.push(regions::Region { joint: helper as u32, vertices: around.len() });
    let own = surface.regions.regions.len() as u32 - 1;
    around.iter().for_each(|&v| surface.regions.region_of_vertex[v as usize] = own);
    let parts = Parts::build(&surface, &character, &quick(), None);
    assert_eq!(parts.report.merged.len(), 1);
    assert_eq!(
        (parts.report.merged[0].joint.as_str(), parts.report.merged[0].reason),
        ("helper", Reason::Small)
    );
    assert_eq!(parts.parts.len(), before.parts.len());
    let taker = &parts.parts[parts.part_of_vertex[around[0] as usize] as usize];
    assert!(taker.joints.contains(&(helper as u32)) && taker.joint != helper as u32);
}

/// Gives every vertex to a joint, as painted weights would.
fn paint(surface: &mut Surface, joint_of_vertex: &[u32]) {
    let adjacency = Adjacency::new(&surface.mesh);
    surface.regions = Regions::new(&adjacency, joint_of_vertex, RegionSettings::default());
}

/// Adds joints below others; returns the number of the first.
fn add_joints(character: &mut Character, parents: &[usize]) -> u32 {
    let first = character.skeleton.len();
    for (k, &parent) in parents.iter().enumerate() {
        let joint = Joint {
            name: format!("extra_{k}"),
            parent: Some(parent),
            rest: Transform::IDENTITY,
            in_skin: true,
        };
        character.skeleton.joints.push(joint);
    }
    first as u32
}

/// The parts' tree can be built, which needs every part to hang on a root.
fn assert_no_part_is_its_own_ancestor(parts: &Parts) {
    for first in 0..parts.parts.len() as u32 {
        let above = std::iter::successors(Some(first), |&p| parts.parts[p as usize].parent);
        assert!(
            above.take(parts.parts.len() + 1).count() <= parts.parts.len(),
            "part {first} hangs on itself"
        );
    }
}

/// Of the chain of joints a, b, c: the skin of a is a patch in that of c, whose part then holds joints above and below b.
#[test]
fn merged_parts_are_not_each_others_parents() {
    let (mut character, _) = sample("cylinder");
    let first = character.skeleton.len();
    let a = add_joints(&mut character, &[0, first, first + 1]);
    let (b, c) = (a + 1, a + 2);
    let mut surface = Surface::new(&character).unwrap();
    let (low, high) = surface.mesh.bounds();
    let patch = Vec3::new(0.5 * (low.x + high.x), low.y + 0.85 * (high.y - low.y), high.z);
    let painted: Vec<u32> = surface
        .mesh
        .positions
        .iter()
        .map(|p| match (p.y - low.y) / (high.y - low.y) {
            _ if p.distance(patch) < 0.03 * surface.mesh.size() => a,
            height if height < 0.33 => 0,
            height if height < 0.67 => b,
            _ => c,
        })
        .collect();
    paint(&mut surface, &painted);
    let parts = Parts::build(&surface, &character, &quick(), None);
    assert!(parts.parts.iter().any(|p| p.joint == c && p.joints.contains(&a)), "{:?}", parts.report.merged);
    assert_no_part_is_its_own_ancestor(&parts);
}

/// Patches of skin given to joints of a random hierarchy at random.
#[test]
fn parts_of_randomly_painted_skin_hang_on_roots() {
    for seed in 0..6u32 {
        let mut state = 2_654_435_769u32.wrapping_mul(seed + 1);
        let mut random = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        let (mut character, _) = sample("cylinder?segments=24&rings=32");
        let first = character.skeleton.len();
        let parents: Vec<usize> = (0..8).map(|k| random(first + k)).collect();
        add_joints(&mut character, &parents);
        let mut surface = Surface::new(&character).unwrap();
        let positions = &surface.mesh.positions;
        let seeds: Vec<(Vec3, u32)> =
            (0..24).map(|_| (positions[random(positions.len())], random(first + 8) as u32)).collect();
        let nearest = |p: &Vec3| {
            let distance = |s: &&(Vec3, u32)| s.0.distance_squared(*p);
            seeds.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).map_or(0, |s| s.1)
        };
        let painted: Vec<u32> = positions.iter().map(nearest).collect();
        paint(&mut surface, &painted);
        assert_no_part_is_its_own_ancestor(&Parts::build(&surface, &character, &quick(), None));
    }
}

/// Adds a ball to the surface, held by the region of vertex 0.
fn add_ball(surface: &mut Surface, middle: Vec3, radius: f32) -> usize {
    let first = surface.mesh.positions.len() as u32;
    let corners = [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z];
    surface.mesh.positions.extend(corners.map(|c| middle + radius * c));
    let faces = [[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
    surface.mesh.triangles.extend(faces.map(|t| t.map(|v| v + first)));
    let region = surface.regions.region_of_vertex[0];
    surface.regions.region_of_vertex.extend([region; 6]);
    let held = |v: usize| surface.influences.of(v).collect::<Vec<_>>();
    let all = (0..first as usize).map(held).chain(std::iter::repeat_n(held(0), 6));
    surface.influences = Influences::new(all.collect::<Vec<_>>());
    first as usize
}

#[test]
fn an_eyeball_in_the_flesh_follows() {
    let settings = PartSettings { pieces: PieceSettings::default(), ..quick() };
    let (character, mut surface) = sample("cylinder");
    let before = Parts::build(&surface, &character, &settings, None);
    let vertex = surface.mesh.positions[0];
    let inward = -surface.mesh.normals()[0];
    let radius = 0.01 * surface.mesh.size();
    let eye = add_ball(&mut surface, vertex + 0.3 * before.parts[0].inner_radius * inward, radius);
    let parts = Parts::build(&surface, &character, &settings, None);
    assert!(parts.part_of_vertex[eye..].iter().all(|&p| p == FOLLOWS));
    assert_eq!(parts.part_of_vertex[..eye], before.part_of_vertex[..]);
    assert_eq!(parts.report.following.len(), 1);
    assert_eq!(faults(&parts).0, 0);
}

#[test]
fn an_open_tube_has_sound_fields() {
    let (character, mut surface) = sample("cylinder");
    let (low, high) = surface.mesh.bounds();
    let size = high - low;
    let axis = (0..3).max_by(|&a, &b| size[a].total_cmp(&size[b])).unwrap();
    let end = high[axis] - 0.1 * size[axis];
    let positions = surface.mesh.positions.clone();
    surface.mesh.triangles.retain(|t| t.iter().all(|&v| positions[v as usize][axis] < end));
    assert!(Adjacency::new(&surface.mesh).open_edges() > 10);
    let parts = Parts::build(&surface, &character, &PartSettings::default(), None);
    let (wrong, leak, hole) = faults(&parts);
    assert_eq!((parts.parts.len(), wrong), (2, 0));
    assert!(leak < 0.35 && hole < 0.02, "leak {leak}, hole {hole}");
}

#[test]
fn a_skin_inside_out_gives_the_same_parts() {
    let (character, mut surface) = sample("cylinder");
    let before = Parts::build(&surface, &character, &quick(), None);
    surface.mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    let parts = Parts::build(&surface, &character, &quick(), None);
    assert_eq!(parts.part_of_vertex, before.part_of_vertex);
    assert_eq!(faults(&parts).0, 0);
}

#[test]
fn a_surface_without_inside_follows() {
    let (character, mut surface) = sample("cylinder");
    let y = surface.mesh.positions[0].y;
    surface.mesh.positions.iter_mut().for_each(|p| p.y = y);
    let parts = Parts::build(&surface, &character, &quick(), None);
    assert!(parts.parts.is_empty() && parts.part_of_vertex.iter().all(|&p| p == FOLLOWS));
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let (character, surface) = sample("arm");
    let build = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Parts::build(&surface, &character, &quick(), None))
    };
    assert_eq!(build(1), build(3));
}

#[test]
fn cached_parts_are_the_parts() {
    let (character, surface) = sample("cylinder");
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path(), DEFAULT_LIMIT);
    let entries = || std::fs::read_dir(folder.path()).unwrap().count();
    let fresh = Parts::build(&surface, &character, &quick(), Some(&cache));
    assert_eq!(entries(), 1);
    assert_eq!(Parts::build(&surface, &character, &quick(), Some(&cache)), fresh);
    assert_eq!(entries(), 1);
    let bytes = stored::write(&fresh);
    assert!((0..bytes.len()).step_by(997).all(|end| stored::read(&bytes[..end], &surface).is_none()));
    let other = PartSettings { seed: 7, ..quick() };
    assert_ne!(Parts::build(&surface, &character, &other, Some(&cache)), fresh);
    assert_eq!(entries(), 2);
}

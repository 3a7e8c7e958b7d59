//! A limb of two bones for the tests and tables of tracking: a capsule of radius 1 around the segment from x = 0 to
//! x = 8, joint at 4.

use ecorche::character::{Binding, Faces, Influences, Mesh, Skin};
use ecorche::field::operator::Composition;
use ecorche::field::tree::{PosedTree, Rule, Tree};
use ecorche::field::{CompactHrbf, Field, Posed, SurfaceSample, hrbf};
use ecorche::geom::{Adjacency, SelfContact, Shading, TriMesh, Weld, poisson_disk, self_contact};
use ecorche::skinning::{Method, Skinner, Workspace};
use ecorche::tracking::arap::blended_rotations;
use ecorche::tracking::own_side::PartFields;
use ecorche::tracking::scheme_2014::Motion;
use ecorche::tracking::{VertexReport, Vertices, scheme_2012, scheme_2014};
use glam::{Affine3A, Quat, Vec3};
use std::f32::consts::{FRAC_PI_2, TAU};

const LENGTH: f32 = 8.0;
const JOINT: Vec3 = Vec3::new(4.0, 0.0, 0.0);

/// How the limb is bent: about Z, or twisted about X.
#[derive(Clone, Copy, Debug)]
pub enum Turn {
    Bend(f32),
    Twist(f32),
}

impl Turn {
    pub fn degrees(self) -> f32 {
        match self {
            Self::Bend(degrees) | Self::Twist(degrees) => degrees,
        }
    }

    fn times(self, share: f32) -> Self {
        match self {
            Self::Bend(degrees) => Self::Bend(share * degrees),
            Self::Twist(degrees) => Self::Twist(share * degrees),
        }
    }

    fn rotation(self) -> Quat {
        match self {
            Self::Bend(degrees) => Quat::from_rotation_z(degrees.to_radians()),
            Self::Twist(degrees) => Quat::from_rotation_x(degrees.to_radians()),
        }
    }

    fn motion(self) -> Affine3A {
        Affine3A::from_translation(JOINT)
            * Affine3A::from_quat(self.rotation())
            * Affine3A::from_translation(-JOINT)
    }
}

/// The limb at rest.
pub struct Limb {
    pub mesh: TriMesh,
    pub adjacency: Adjacency,
    influences: Influences,
    part: Vec<u32>,
    fields: Vec<CompactHrbf>,
    linear: Skinner,
    dual: Skinner,
}

impl Limb {
    /// `around` vertices in a ring and `along` rings between the caps; 24 and 49 make 1418 vertices.
    pub fn new(around: usize, along: usize, seed: u64) -> Self {
        let mesh = capsule(around, along);
        let weight = |x: f32| {
            let t = (0.5 + 0.5 * (x - JOINT.x)).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        };
        let lists = mesh.positions.iter().map(|p| vec![(0, 1.0 - weight(p.x)), (1, weight(p.x))]);
        let influences = Influences::new(lists);
        let part: Vec<u32> = mesh.positions.iter().map(|p| u32::from(weight(p.x) > 0.5)).collect();
        let fields = (0..2).map(|bone| field(&mesh, &part, bone, seed)).collect();
        let skinned = skinned(&mesh, influences.clone());
        Self {
            adjacency: Adjacency::new(&mesh),
            influences,
            part,
            fields,
            linear: Skinner::new(&skinned, Method::Linear),
            dual: Skinner::new(&skinned, Method::DualQuaternion),
            mesh,
        }
    }

    pub fn tree(&self, composition: Composition) -> Tree {
        Tree::new(Rule::Contact, &[None, Some(0)], composition, Vec::new()).unwrap()
    }

    /// The two fields, the second one turned.
    pub fn parts(&self, turn: Turn) -> Vec<Posed<CompactHrbf>> {
        let motions = [Affine3A::IDENTITY, turn.motion()];
        self.fields.iter().zip(motions).map(|(field, motion)| Posed::new(field.clone(), motion)).collect()
    }

    fn iso(&self, tree: &Tree) -> Vec<f32> {
        let parts = self.parts(Turn::Bend(0.0));
        let field = PosedTree::new(tree, &parts);
        self.mesh.positions.iter().map(|&p| field.sample(p).value).collect()
    }

    pub fn skin(&self, method: Method, turn: Turn) -> Vec<Vec3> {
        let mut positions = self.mesh.positions.clone();
        let skinner = if method == Method::Linear { &self.linear } else { &self.dual };
        let joints = [Affine3A::IDENTITY, turn.motion()];
        skinner.skin(&joints, &self.mesh.positions, &mut positions, &mut Workspace::default());
        positions
    }

    /// One shot of the scheme of 2012.
    pub fn track_2012(
        &self,
        tree: &Tree,
        turn: Turn,
        start: Vec<Vec3>,
        settings: scheme_2012::Settings,
    ) -> (Vec<Vec3>, Vec<VertexReport>) {
        let (iso, radius, parts) = (self.iso(tree), vec![1.0; self.part.len()], self.parts(turn));
        let vertices = Vertices { iso: &iso, limb_radius: &radius, part: &self.part };
        let tracker = scheme_2012::Tracker::new(&self.mesh, &self.adjacency, settings);
        let mut positions = start;
        let mut reports = vec![VertexReport::default(); positions.len()];
        let field = PosedTree::new(tree, &parts);
        tracker.track(
            &field,
            &vertices,
            &mut positions,
            &mut reports,
            &mut scheme_2012::Workspace::default(),
        );
        (positions, reports)
    }

    /// The scheme of 2014 from rest in substeps of at most `step` degrees.
    pub fn track_2014(
        &self,
        tree: &Tree,
        turn: Turn,
        step: f32,
        settings: scheme_2014::Settings,
    ) -> (Vec<Vec3>, Vec<VertexReport>) {
        let (iso, radius) = (self.iso(tree), vec![1.0; self.part.len()]);
        let vertices = Vertices { iso: &iso, limb_radius: &radius, part: &self.part };
        let tracker = scheme_2014::Tracker::new(&self.mesh, &self.adjacency, settings);
        let mut positions = self.mesh.positions.clone();
        let mut reports = vec![VertexReport::default(); positions.len()];
        let parts = self.parts(Turn::Bend(0.0));
        let mut turning = Turning { limb: self, turn, body: Body { tree, parts } };
        let substeps = scheme_2014::substeps(turn.degrees(), step);
        let mut workspace = scheme_2014::Workspace::default();
        tracker.track(&mut turning, substeps, &vertices, &mut positions, &mut reports, &mut workspace);
        (positions, reports)
    }

    /// Volume change, per cent.
    pub fn volume_change(&self, positions: &[Vec3]) -> f64 {
        100.0 * (ecorche::geom::mesh::volume(positions, &self.mesh.triangles) / self.mesh.volume() - 1.0)
    }

    /// Triangle pairs that pass through each other.
    pub fn intersections(&self, positions: &[Vec3]) -> usize {
        let offsets = self_contact::jitter(positions.len(), 1e-5, 1);
        let moved: Vec<Vec3> = positions.iter().zip(offsets).map(|(&p, o)| p + o).collect();
        SelfContact::new(&self.mesh.positions, &self.mesh.triangles).find(&moved).pairs.len()
    }

    /// Farthest any vertex is beyond the plane half way between the bones.
    pub fn penetration(&self, positions: &[Vec3], turn: Turn) -> f32 {
        let (first, second) = (-Vec3::X, turn.rotation() * Vec3::X);
        let across = (second - first).normalize();
        let past = positions.iter().zip(&self.part).map(|(&p, &part)| {
            let side = (p - JOINT).dot(across);
            if part == 0 { side } else { -side }
        });
        past.fold(0.0, f32::max)
    }

    /// Smallest mean distance of a ring's vertices from the axis, for twists.
    pub fn smallest_radius(&self, positions: &[Vec3]) -> f32 {
        let mut rings: std::collections::BTreeMap<i64, (f32, f32)> = std::collections::BTreeMap::new();
        for (rest, p) in self.mesh.positions.iter().zip(positions) {
            if rest.x > 0.0 && rest.x < LENGTH {
                let ring = rings.entry((rest.x * 1e4) as i64).or_default();
                *ring = (ring.0 + p.y.hypot(p.z), ring.1 + 1.0);
            }
        }
        rings.values().map(|r| r.0 / r.1).fold(f32::INFINITY, f32::min)
    }
}

struct Body<'a> {
    tree: &'a Tree,
    parts: Vec<Posed<CompactHrbf>>,
}

impl Field for Body<'_> {
    fn sample(&self, point: Vec3) -> ecorche::field::Sample {
        self.tree.sample(&[], |part, point| self.parts[part as usize].sample(point), point)
    }

    fn support(&self) -> ecorche::field::Support {
        PosedTree::new(self.tree, &self.parts).support()
    }
}

impl PartFields for Body<'_> {
    fn own_and_other(&self, part: u32, point: Vec3) -> (ecorche::field::Sample, ecorche::field::Sample) {
        (self.parts[part as usize].sample(point), self.parts[1 - part as usize].sample(point))
    }
}

struct Turning<'a> {
    limb: &'a Limb,
    turn: Turn,
    body: Body<'a>,
}

impl Motion for Turning<'_> {
    fn advance(&mut self, from: f32, to: f32, positions: &mut [Vec3], rotations: &mut [Quat]) {
        let increment = self.turn.times(to).motion() * self.turn.times(from).motion().inverse();
        let before = positions.to_vec();
        let joints = [Affine3A::IDENTITY, increment];
        self.limb.dual.skin(&joints, &before, positions, &mut Workspace::default());
        blended_rotations(
            &self.limb.influences,
            &[Quat::IDENTITY, self.turn.times(to).rotation()],
            rotations,
        );
        self.body.parts[1].set_motion(self.turn.times(to).motion());
    }

    fn fields(&self) -> &dyn PartFields {
        &self.body
    }
}

/// The field of one bone: 50 samples, culled near the joint, closed there.
fn field(mesh: &TriMesh, part: &[u32], bone: u32, seed: u64) -> CompactHrbf {
    let triangles = mesh.triangles.iter().filter(|t| t.iter().all(|&v| part[v as usize] == bone));
    let own = TriMesh { positions: mesh.positions.clone(), triangles: triangles.copied().collect() };
    let settings = poisson_disk::Settings { count: 50, seed };
    let mut samples: Vec<SurfaceSample> = poisson_disk::scatter(&own, &mesh.normals(), &settings)
        .into_iter()
        .map(SurfaceSample::from)
        .collect();
    let from_joint = |x: f32| (x - JOINT.x).abs() / JOINT.x;
    samples.retain(|s| from_joint(s.position.x) > 0.05);
    let end = if bone == 0 { Vec3::ZERO } else { Vec3::X * LENGTH };
    let radius = hrbf::support_radius(samples.iter().map(|s| s.position), [JOINT, end]);
    let normal = (JOINT - end).normalize();
    let own_vertices = mesh.positions.iter().zip(part).filter(|(_, p)| **p == bone);
    let nearest = own_vertices.map(|(p, _)| p.distance(JOINT)).fold(f32::INFINITY, f32::min);
    samples.push(SurfaceSample { position: JOINT + normal * nearest, normal });
    CompactHrbf::new(hrbf::fit(&samples, 1.0).unwrap(), radius)
}

/// Rings turned by half a vertex against each other, round caps, poles.
fn capsule(around: usize, along: usize) -> TriMesh {
    let cap = (around / 4).max(2);
    let mut outline: Vec<(f32, f32)> = Vec::new();
    let polar = |k: usize| FRAC_PI_2 * k as f32 / cap as f32;
    outline.extend((1..cap).map(|k| (polar(k).sin(), -polar(k).cos())));
    outline.extend((0..along).map(|k| (1.0, LENGTH * k as f32 / (along - 1) as f32)));
    outline.extend((1..cap).rev().map(|k| (polar(k).sin(), LENGTH + polar(k).cos())));
    let mut positions = vec![-Vec3::X];
    for (row, &(r, x)) in outline.iter().enumerate() {
        positions.extend((0..around).map(|s| {
            let (sine, cosine) = (TAU * (s as f32 + 0.5 * (row % 2) as f32) / around as f32).sin_cos();
            Vec3::new(x, r * cosine, r * sine)
        }));
    }
    positions.push(Vec3::X * (LENGTH + 1.0));
    let last = positions.len() as u32 - 1;
    let at = |row: usize, s: usize| (1 + row * around + s % around) as u32;
    let mut triangles = Vec::new();
    for s in 0..around {
        triangles.push([0, at(0, s + 1), at(0, s)]);
        for row in 0..outline.len() - 1 {
            let (a, b) = (at(row, s), at(row, s + 1));
            if row % 2 == 0 {
                let (c, d) = (at(row + 1, s), at(row + 1, s + 1));
                triangles.extend([[a, b, c], [b, d, c]]);
            } else {
                let (c, d) = (at(row + 1, s), at(row + 1, s + 1));
                triangles.extend([[a, d, c], [a, b, d]]);
            }
        }
        triangles.push([last, at(outline.len() - 1, s), at(outline.len() - 1, s + 1)]);
    }
    TriMesh { positions, triangles }
}

fn skinned(mesh: &TriMesh, influences: Influences) -> Mesh {
    let weld = Weld::new(&mesh.positions, 1e-6, |_, _| true);
    let faces = Faces::triangles(&mesh.triangles);
    let shading = Shading::new(&weld, &faces.corners, &[], &faces.triangle_corners());
    Mesh {
        name: "limb".into(),
        joint: 0,
        positions: mesh.positions.clone(),
        faces,
        triangles: mesh.triangles.clone(),
        shading,
        corner_uvs: Vec::new(),
        materials: Vec::new(),
        material_of_face: Vec::new(),
        binding: Binding::Skin(Skin {
            joints: vec![0, 1],
            joint_from_bind: vec![Affine3A::IDENTITY; 2],
            dual_quaternion: false,
            influences,
        }),
        morphs: Vec::new(),
        weld,
    }
}

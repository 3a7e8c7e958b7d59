//! Limbs for the tests and tables of tracking: capsules of radius 1 along X, bones of equal length.

use ecorche::character::{Binding, Influences, Mesh, Skin};
use ecorche::field::operator::Composition;
use ecorche::field::tree::{PosedTree, Rule, Tree};
use ecorche::field::{CompactHrbf, Field, Posed, SurfaceSample, hrbf};
use ecorche::geom::{Adjacency, SelfContact, TriMesh, Weld, poisson_disk, self_contact};
use ecorche::skinning::{Skinner, Skinning, Workspace};
use ecorche::tracking::VertexReport;
use ecorche::tracking::papers::arap::blended_rotations;
use ecorche::tracking::papers::own_side::PartFields;
use ecorche::tracking::papers::scheme_2014::Motion;
use ecorche::tracking::papers::{Vertices, scheme_2012, scheme_2014};
use glam::{Affine3A, Quat, Vec3};
use std::f32::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;

/// How the limb is turned, degrees.
#[derive(Clone, Copy, Debug)]
pub enum Turn {
    /// The first joint about Z.
    Bend(f32),
    /// The first joint about X.
    Twist(f32),
    /// The first and the second joint about Z.
    Curl(f32, f32),
}

impl Turn {
    /// The largest.
    pub fn degrees(self) -> f32 {
        match self {
            Self::Bend(degrees) | Self::Twist(degrees) => degrees,
            Self::Curl(first, second) => first.max(second),
        }
    }

    fn times(self, share: f32) -> Self {
        match self {
            Self::Bend(degrees) => Self::Bend(share * degrees),
            Self::Twist(degrees) => Self::Twist(share * degrees),
            Self::Curl(first, second) => Self::Curl(share * first, share * second),
        }
    }

    /// Rotation of each bone from rest.
    fn rotations(self) -> [Quat; 3] {
        let about_z = |degrees: f32| Quat::from_rotation_z(degrees.to_radians());
        let [first, second] = match self {
            Self::Bend(degrees) => [about_z(degrees); 2],
            Self::Twist(degrees) => [Quat::from_rotation_x(degrees.to_radians()); 2],
            Self::Curl(first, second) => [about_z(first), about_z(first + second)],
        };
        [Quat::IDENTITY, first, second]
    }
}

/// The limb at rest.
pub struct Limb {
    pub mesh: TriMesh,
    pub adjacency: Adjacency,
    /// Where the bones meet, along X.
    joints: Vec<f32>,
    influences: Influences,
    part: Vec<u32>,
    fields: Vec<CompactHrbf>,
    linear: Skinner,
    dual: Skinner,
}

impl Limb {
    /// Two bones of length 4. `around` vertices in a ring and `along` rings between the caps; 24 and 49 make
    /// 1418 vertices.
    pub fn new(around: usize, along: usize, seed: u64) -> Self {
        Self::with_bones(around, along, seed, 2, 4.0)
    }

    /// Up to three bones of the same length.
    pub fn with_bones(around: usize, along: usize, seed: u64, bones: usize, length: f32) -> Self {
        let joints: Vec<f32> = (1..bones).map(|k| k as f32 * length).collect();
        let mesh = capsule(around, along, bones as f32 * length);
        // How much of a point is beyond a joint.
        let beyond = |x: f32, joint: f32| {
            let t = (0.5 + 0.5 * (x - joint)).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        };
        let weights = |x: f32| -> Vec<(u32, f32)> {
            let reached = |k: usize| match k {
                0 => 1.0,
                k if k < bones => beyond(x, joints[k - 1]),
                _ => 0.0,
            };
            (0..bones).map(|k| (k as u32, reached(k) - reached(k + 1))).collect()
        };
        let influences = Influences::new(mesh.positions.iter().map(|p| weights(p.x)));
        let part: Vec<u32> = (0..influences.len()).map(|v| influences.strongest(v)).collect();
        let fields = (0..bones as u32).map(|bone| field(&mesh, &part, bone, length, bones, seed)).collect();
        let skinned = skinned(&mesh, influences.clone(), bones);
        Self {
            adjacency: Adjacency::new(&mesh),
            joints,
            influences,
            part,
            fields,
            linear: Skinner::new(&skinned, Skinning::Linear),
            dual: Skinner::new(&skinned, Skinning::DualQuaternion),
            mesh,
        }
    }

    /// Motion of each bone from rest.
    fn motions(&self, turn: Turn) -> Vec<Affine3A> {
        let rotations = turn.rotations();
        let mut motions = vec![Affine3A::IDENTITY];
        for (&joint, rotation) in self.joints.iter().zip(&rotations[1..]) {
            let joint = Vec3::X * joint;
            let at = motions[motions.len() - 1].transform_point3(joint);
            motions.push(Affine3A::from_rotation_translation(*rotation, at - *rotation * joint));
        }
        motions
    }

    pub fn tree(&self, composition: Composition) -> Arc<Tree> {
        self.tree_by(Rule::Contact, composition)
    }

    pub fn tree_by(&self, rule: Rule, composition: Composition) -> Arc<Tree> {
        let parents: Vec<Option<u32>> =
            (0..self.fields.len() as u32).map(|bone| bone.checked_sub(1)).collect();
        Tree::new(rule, &parents, composition, Vec::new()).unwrap().into()
    }

    /// The body's field, turned.
    pub fn body(&self, tree: &Arc<Tree>, turn: Turn) -> PosedTree<Posed<&CompactHrbf>> {
        let fields = self.fields.iter().zip(self.motions(turn));
        PosedTree::new(tree.clone(), fields.map(|(field, motion)| Posed::new(field, motion)).collect())
    }

    fn iso(&self, tree: &Arc<Tree>) -> Vec<f32> {
        let field = self.body(tree, Turn::Bend(0.0));
        self.mesh.positions.iter().map(|&p| field.sample(p).value).collect()
    }

    pub fn skin(&self, method: Skinning, turn: Turn) -> Vec<Vec3> {
        let mut positions = self.mesh.positions.clone();
        let skinner = if method == Skinning::Linear { &self.linear } else { &self.dual };
        skinner.skin(&self.motions(turn), &self.mesh.positions, &mut positions, &mut Workspace::default());
        positions
    }

    /// One shot of the scheme of 2012.
    pub fn track_2012(
        &self,
        tree: &Arc<Tree>,
        turn: Turn,
        start: Vec<Vec3>,
        settings: scheme_2012::Settings,
    ) -> (Vec<Vec3>, Vec<VertexReport>) {
        let (iso, radius) = (self.iso(tree), vec![1.0; self.part.len()]);
        let vertices = Vertices { iso: &iso, limb_radius: &radius, part: &self.part };
        let tracker = scheme_2012::Tracker::new(&self.mesh, &self.adjacency, settings);
        let mut positions = start;
        let mut reports = vec![VertexReport::default(); positions.len()];
        let field = self.body(tree, turn);
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
        tree: &Arc<Tree>,
        turn: Turn,
        step: f32,
        settings: scheme_2014::Settings,
    ) -> (Vec<Vec3>, Vec<VertexReport>) {
        let (iso, radius) = (self.iso(tree), vec![1.0; self.part.len()]);
        let vertices = Vertices { iso: &iso, limb_radius: &radius, part: &self.part };
        let tracker = scheme_2014::Tracker::new(&self.mesh, &self.adjacency, settings);
        let mut positions = self.mesh.positions.clone();
        let mut reports = vec![VertexReport::default(); positions.len()];
        let mut turning = Turning { limb: self, turn, body: self.body(tree, Turn::Bend(0.0)) };
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

    /// Farthest any vertex is beyond the plane half way between two bones.
    pub fn penetration(&self, positions: &[Vec3], turn: Turn) -> f32 {
        let (first, second) = (-Vec3::X, turn.rotations()[1] * Vec3::X);
        let joint = Vec3::X * self.joints[0];
        let across = (second - first).normalize();
        let past = positions.iter().zip(&self.part).map(|(&p, &part)| {
            let side = (p - joint).dot(across);
            if part == 0 { side } else { -side }
        });
        past.fold(0.0, f32::max)
    }

    /// Smallest mean distance of a ring's vertices from the axis, for twists.
    pub fn smallest_radius(&self, positions: &[Vec3]) -> f32 {
        let length = self.joints[0] * self.fields.len() as f32;
        let mut rings: std::collections::BTreeMap<i64, (f32, f32)> = std::collections::BTreeMap::new();
        for (rest, p) in self.mesh.positions.iter().zip(positions) {
            if rest.x > 0.0 && rest.x < length {
                let ring = rings.entry((rest.x * 1e4) as i64).or_default();
                *ring = (ring.0 + p.y.hypot(p.z), ring.1 + 1.0);
            }
        }
        rings.values().map(|r| r.0 / r.1).fold(f32::INFINITY, f32::min)
    }
}

struct Turning<'a> {
    limb: &'a Limb,
    turn: Turn,
    body: PosedTree<Posed<&'a CompactHrbf>>,
}

impl Motion for Turning<'_> {
    fn advance(&mut self, from: f32, to: f32, positions: &mut [Vec3], rotations: &mut [Quat]) {
        let (before, after) =
            (self.limb.motions(self.turn.times(from)), self.limb.motions(self.turn.times(to)));
        let increments: Vec<Affine3A> = before.iter().zip(&after).map(|(b, a)| *a * b.inverse()).collect();
        let start = positions.to_vec();
        self.limb.dual.skin(&increments, &start, positions, &mut Workspace::default());
        blended_rotations(&self.limb.influences, &self.turn.times(to).rotations(), rotations);
        self.body
            .pose(|parts| parts.iter_mut().zip(after).for_each(|(part, motion)| part.set_motion(motion)));
    }

    fn fields(&self) -> &dyn PartFields {
        &self.body
    }
}

/// The field of one bone: 50 samples, culled near its joints, closed there.
fn field(mesh: &TriMesh, part: &[u32], bone: u32, length: f32, bones: usize, seed: u64) -> CompactHrbf {
    let triangles = mesh.triangles.iter().filter(|t| t.iter().all(|&v| part[v as usize] == bone));
    let own = TriMesh { positions: mesh.positions.clone(), triangles: triangles.copied().collect() };
    let settings = poisson_disk::Settings { count: 50, seed };
    let scattered = poisson_disk::scatter(&own, &mesh.normals(), &settings);
    let mut samples: Vec<SurfaceSample> = scattered.into_iter().map(SurfaceSample::from).collect();
    let (head, tail) = (Vec3::X * bone as f32 * length, Vec3::X * (bone + 1) as f32 * length);
    let mut shared = Vec::new();
    if bone > 0 {
        shared.push((head, -Vec3::X));
    }
    if bone as usize + 1 < bones {
        shared.push((tail, Vec3::X));
    }
    samples.retain(|s| shared.iter().all(|(joint, out)| (s.position - joint).dot(-out) > 0.05 * length));
    let radius = hrbf::support_radius(samples.iter().map(|s| s.position), [head, tail]);
    for (joint, normal) in shared {
        let own_vertices = mesh.positions.iter().zip(part).filter(|(_, p)| **p == bone);
        let nearest = own_vertices.map(|(p, _)| p.distance(joint)).fold(f32::INFINITY, f32::min);
        samples.push(SurfaceSample { position: joint + normal * nearest, normal });
    }
    CompactHrbf::new(hrbf::fit(&samples, 1.0).unwrap(), radius)
}

/// Rings turned by half a vertex against each other, round caps, poles.
fn capsule(around: usize, along: usize, length: f32) -> TriMesh {
    let cap = (around / 4).max(2);
    let mut outline: Vec<(f32, f32)> = Vec::new();
    let polar = |k: usize| FRAC_PI_2 * k as f32 / cap as f32;
    outline.extend((1..cap).map(|k| (polar(k).sin(), -polar(k).cos())));
    outline.extend((0..along).map(|k| (1.0, length * k as f32 / (along - 1) as f32)));
    outline.extend((1..cap).rev().map(|k| (polar(k).sin(), length + polar(k).cos())));
    let mut positions = vec![-Vec3::X];
    for (row, &(r, x)) in outline.iter().enumerate() {
        positions.extend((0..around).map(|s| {
            let (sine, cosine) = (TAU * (s as f32 + 0.5 * (row % 2) as f32) / around as f32).sin_cos();
            Vec3::new(x, r * cosine, r * sine)
        }));
    }
    positions.push(Vec3::X * (length + 1.0));
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

fn skinned(mesh: &TriMesh, influences: Influences, bones: usize) -> Mesh {
    let weld = Weld::new(&mesh.positions, 1e-6, |_, _| true);
    let skin = Skin {
        joints: (0..bones).collect(),
        joint_from_bind: vec![Affine3A::IDENTITY; bones],
        dual_quaternion: false,
        influences,
    };
    Mesh::of_triangles("limb", mesh.clone(), weld, Binding::Skin(skin))
}

//! Time of the skinning methods beside each other: `cargo bench -p ecorche --bench skinning`.
//!
//! Prints the least of many runs, in nanoseconds per vertex, and the ratio to linear blending of the
//! same run: ratios hold on a busy machine, times do not. Give a method (`lbs`, `dqs`, `cor`) to run
//! that one alone, for a profiler.

use ecorche::character::{Binding, Influences, Mesh, Skin};
use ecorche::geom::{TriMesh, Weld};
use ecorche::skinning::{CentresOfRotation, Skinner, Skinning, Workspace};
use glam::{Affine3A, Quat, Vec3};
use std::f32::consts::TAU;
use std::time::Instant;

const JOINTS: usize = 24;
const RUNS: usize = 300;

/// A tube over a chain of joints; each vertex is held by its `influences` nearest joints.
fn tube(rings: usize, sides: usize, influences: usize) -> Mesh {
    let length = JOINTS as f32;
    let at = |i: usize| {
        let (sine, cosine) = (TAU * (i % sides) as f32 / sides as f32).sin_cos();
        Vec3::new(cosine, length * (i / sides) as f32 / rings as f32, sine)
    };
    let positions: Vec<Vec3> = (0..rings * sides).map(at).collect();
    let mut triangles = Vec::new();
    for ring in 0..rings - 1 {
        for side in 0..sides {
            let corner = |r: usize, s: usize| ((ring + r) * sides + (side + s) % sides) as u32;
            triangles.push([corner(0, 0), corner(1, 0), corner(0, 1)]);
            triangles.push([corner(0, 1), corner(1, 0), corner(1, 1)]);
        }
    }
    let weights = positions.iter().map(|p| {
        let mut near: Vec<(u32, f32)> =
            (0..JOINTS).map(|j| (j as u32, (-(p.y - j as f32).powi(2)).exp())).collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1));
        near.truncate(influences);
        near
    });
    let influences = Influences::new(weights);
    let weld = Weld::new(&positions, 1e-6, |_, _| true);
    let skin = Skin {
        joints: (0..JOINTS).collect(),
        joint_from_bind: (0..JOINTS).map(|j| Affine3A::from_translation(Vec3::NEG_Y * j as f32)).collect(),
        influences,
        dual_quaternion: false,
    };
    Mesh::of_triangles("tube", TriMesh { positions, triangles }, weld, Binding::Skin(skin))
}

fn pose(scale: f32) -> Vec<Affine3A> {
    let mut world = Affine3A::IDENTITY;
    (0..JOINTS)
        .map(|j| {
            let bend = Quat::from_euler(glam::EulerRot::YXZ, 0.1, 0.2, if j % 2 == 0 { 0.3 } else { -0.2 });
            let joint = world * Affine3A::from_quat(bend);
            world = joint * Affine3A::from_translation(Vec3::Y);
            joint * Affine3A::from_scale(Vec3::splat(scale))
        })
        .collect()
}

/// Least time of a frame, nanoseconds per vertex.
fn measure(mesh: &Mesh, method: Skinning, world: &[Affine3A]) -> f64 {
    let skinner = Skinner::new(mesh, method);
    let mut out = vec![Vec3::ZERO; mesh.positions.len()];
    let mut workspace = Workspace::default();
    let mut least = f64::MAX;
    for _ in 0..RUNS {
        let start = Instant::now();
        skinner.skin(world, &mesh.positions, &mut out, &mut workspace);
        least = least.min(start.elapsed().as_secs_f64());
    }
    std::hint::black_box(&out);
    least * 1e9 / mesh.positions.len() as f64
}

fn main() {
    let wanted: Option<Skinning> = std::env::args().skip(1).find_map(|a| a.parse().ok());
    let methods: Vec<Skinning> = wanted.map_or(Skinning::ALL.to_vec(), |m| vec![m]);
    let threads = rayon::current_num_threads();
    for (label, count) in [("1 thread", 1), ("all threads", threads)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().expect("a thread pool");
        for (influences, scale) in [(1, 1.0), (4, 1.0), (8, 1.0), (4, 1.1)] {
            let mesh = tube(500, 40, influences);
            let world = pose(scale);
            let mut line = format!("{label}, {influences} influences, scale {scale}:");
            let mut linear = None;
            for &method in &methods {
                let time = pool.install(|| measure(&mesh, method, &world));
                let ratio = time / *linear.get_or_insert(time);
                line += &format!("  {method} {time:.2} ns/vertex ({ratio:.2})");
            }
            println!("{line}");
        }
    }
    for influences in [2, 4, 8] {
        let mesh = tube(500, 40, influences);
        let start = Instant::now();
        std::hint::black_box(CentresOfRotation::compute(&mesh));
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "centres of rotation of {} vertices, {influences} influences: {seconds:.2} s",
            mesh.positions.len()
        );
    }
}

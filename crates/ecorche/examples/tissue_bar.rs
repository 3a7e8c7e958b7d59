//! The bar between two walls: sag against known values and time per step, at three resolutions.
//!
//! `cargo run --release -p ecorche --example tissue_bar -- [direct|kept|cg] [neo-hookean|stvk|invertible] [newton|static] [TETS]`

use ecorche::tissue::boundary::{BoneTrack, Boundary, Condition, Hold};
use ecorche::tissue::material::{Invertible, Lame, Material, StVenantKirchhoff, StableNeoHookean};
use ecorche::tissue::model::{Body, Model};
use ecorche::tissue::step::{Mode, Settings, Simulation, Solver, Timings};
use ecorche::tissue::tet_mesh::TetMesh;
use glam::DVec3;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|w| w == word);
    let number = words.iter().find_map(|w| w.parse::<usize>().ok());
    let solver = if has("kept") {
        Solver::KeptFactor
    } else if has("cg") {
        Solver::ConjugateGradients
    } else {
        Solver::Direct
    };
    let mode = if has("static") {
        Mode::QuasiStatic
    } else if has("newton") {
        Mode::Newton
    } else {
        Mode::SemiImplicit
    };
    println!("tets      step  sag m  peak m   assembly  factor   solve    rest     total ms/step   memory");
    for (cells, steps) in [([16, 2, 2], 102), ([40, 5, 5], 100), ([80, 10, 10], 32)] {
        let tets = cells[0] * cells[1] * cells[2] * 6;
        if number.is_some_and(|n| n != tets) {
            continue;
        }
        let lame = Lame::new(1e5, 0.45);
        let law: Box<dyn Material> = if has("stvk") {
            Box::new(StVenantKirchhoff { lame })
        } else if has("invertible") {
            Box::new(Invertible::new(lame))
        } else {
            Box::new(StableNeoHookean::new(lame))
        };
        let mesh = TetMesh::brick(DVec3::ZERO, DVec3::new(0.4, 0.05, 0.05), cells);
        let ends = (0..mesh.nodes.len()).filter(|&n| mesh.nodes[n].x < 1e-9 || mesh.nodes[n].x > 0.4 - 1e-9);
        let conditions = ends
            .map(|n| Condition::always(Hold::Fix { node: n as u32, bone: 0, at: mesh.nodes[n] }))
            .collect();
        let boundary = Boundary { bones: vec![BoneTrack::still("walls")], conditions };
        let model = Model::new(vec![Body::uniform("bar", mesh, law, 1060.0)]).unwrap();
        let settings = Settings { mode, solver, ..Settings::default() };
        let mut simulation = Simulation::new(model, boundary, settings).unwrap();
        let mut sum = Timings::default();
        let mut peak: f64 = 0.0;
        for step in 1..=steps {
            let report = match simulation.step(0.01) {
                Ok(report) => report,
                Err(error) => {
                    println!("{error}");
                    return;
                }
            };
            sum.assembly += report.timings.assembly;
            sum.factorisation += report.timings.factorisation;
            sum.solve += report.timings.solve;
            sum.rest += report.timings.rest;
            let sag = (0..simulation.model.rest.len())
                .map(|n| simulation.model.rest[n].y - simulation.state.positions[n].y)
                .fold(0.0, f64::max);
            peak = peak.max(sag);
            if [32, 102, steps].contains(&step) {
                let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3 / step as f64;
                println!(
                    "{tets:<9} {step:<5} {sag:.4} {peak:.4}   {:<9.2} {:<8.2} {:<8.2} {:<8.2} {:<14.2}  {:.1} MB (factor {:.1} M entries)",
                    ms(sum.assembly),
                    ms(sum.factorisation),
                    ms(sum.solve),
                    ms(sum.rest),
                    ms(sum.assembly + sum.factorisation + sum.solve + sum.rest),
                    simulation.bytes() as f64 / 1e6,
                    simulation.factor_entries() as f64 / 1e6
                );
            }
        }
    }
}

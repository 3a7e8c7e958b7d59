//! Two checks against mechanics: a cantilever over refinement, and the energy of a freely vibrating bar.
//!
//! `cargo run --release --example tissue_beam -- [FOLDER]`; with a folder the energies are plotted there.

use ecorche::output::plot::{Axis, Plot, Series};
use ecorche::tissue::boundary::{BoneTrack, Boundary, Condition, Hold, Place};
use ecorche::tissue::material::{Lame, StableNeoHookean};
use ecorche::tissue::model::{Body, Model};
use ecorche::tissue::step::{Mode, Settings, Simulation};
use ecorche::tissue::tet_mesh::TetMesh;
use glam::DVec3;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cantilever: layers  tip sag over beam theory");
    for layers in [2, 4, 6, 8] {
        println!("            {layers}       {:.3}", cantilever(layers)?);
    }
    println!("free vibration: step s   energy left after 0.5 s   largest rise of a step");
    let mut series = Vec::new();
    for per_second in [60, 240, 960] {
        let energies = vibration(per_second)?;
        let rise = energies.windows(2).map(|e| e[1] / e[0] - 1.0).fold(f64::NEG_INFINITY, f64::max);
        let left = energies[energies.len() - 1] / energies[0];
        println!("                1/{per_second:<6}  {:5.1} %                  {rise:+.1e}", 100.0 * left);
        let time = |k: usize| k as f32 / per_second as f32;
        let points = energies.iter().enumerate().map(|(k, e)| [time(k), (e / energies[0]) as f32]).collect();
        series.push(Series { name: format!("1/{per_second} s"), points, ..Series::default() });
    }
    if let Some(folder) = std::env::args().nth(1) {
        std::fs::create_dir_all(&folder)?;
        let (x, y) = (Axis::new("time", "s"), Axis::new("of the first energy", ""));
        let plot = Plot { title: "Energy of a free vibration".into(), x, y, series };
        let mut bytes = Vec::new();
        plot.draw(900, 480).encode_png(&mut bytes)?;
        std::fs::write(Path::new(&folder).join("vibration.png"), bytes)?;
    }
    Ok(())
}

/// A bar along X held at its near end.
fn held(
    size: DVec3,
    cells: [usize; 3],
    lame: Lame,
    settings: Settings,
    pull: DVec3,
) -> Result<Simulation, Box<dyn Error>> {
    let mesh = TetMesh::brick(DVec3::ZERO, size, cells);
    let nodes = || mesh.nodes.iter().enumerate().map(|(n, p)| (n as u32, *p));
    let fix = |(node, at): (u32, DVec3)| Condition::always(Hold::Fix { node, bone: 0, at });
    let mut conditions: Vec<Condition> = nodes().filter(|n| n.1.x < 1e-9).map(fix).collect();
    let end: Vec<u32> = nodes().filter(|n| n.1.x > size.x - 1e-9).map(|n| n.0).collect();
    let force = pull / end.len() as f64;
    conditions.extend(end.iter().map(|&n| Condition::always(Hold::Pull { place: Place::node(n), force })));
    let boundary = Boundary { bones: vec![BoneTrack::still("wall")], conditions };
    let law = Box::new(StableNeoHookean::new(lame));
    Ok(Simulation::new(Model::new(vec![Body::uniform("bar", mesh, law, 1000.0)])?, boundary, settings)?)
}

/// Sag of the loaded end of a slender beam, over `F l^3 / (3 E I)`.
fn cantilever(layers: usize) -> Result<f64, Box<dyn Error>> {
    let (length, side, young, load) = (0.5, 0.1, 1e6, 2.0);
    let settings = Settings { mode: Mode::QuasiStatic, gravity: DVec3::ZERO, ..Settings::default() };
    let size = DVec3::new(length, side, side);
    let cells = [5 * layers, layers, layers];
    let mut s = held(size, cells, Lame::new(young, 0.3), settings, DVec3::Y * -load)?;
    s.step(1.0)?;
    let end: Vec<usize> = (0..s.model.rest.len()).filter(|&n| s.model.rest[n].x > length - 1e-9).collect();
    let sag = end.iter().map(|&n| s.model.rest[n].y - s.state.positions[n].y).sum::<f64>() / end.len() as f64;
    Ok(sag / (load * length.powi(3) / (3.0 * young * side.powi(4) / 12.0)))
}

/// Energy after every step of half a second, from a kick and without gravity.
fn vibration(per_second: u32) -> Result<Vec<f64>, Box<dyn Error>> {
    let settings = Settings { gravity: DVec3::ZERO, ..Settings::default() };
    let mut s = held(DVec3::new(0.3, 0.05, 0.05), [8, 2, 2], Lame::new(3e4, 0.4), settings, DVec3::ZERO)?;
    for (v, x) in s.state.velocities.iter_mut().zip(&s.model.rest) {
        *v = DVec3::new(0.0, 2.0 * x.x, 0.5 * x.x);
    }
    let mut energies = vec![s.energy()];
    for _ in 0..per_second / 2 {
        s.step(1.0 / f64::from(per_second))?;
        energies.push(s.energy());
    }
    Ok(energies)
}

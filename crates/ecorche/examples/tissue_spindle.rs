//! The spindle muscle of `scenes/spindle.toml` tensed to the full: between walls, and under three loads.
//!
//! `cargo run --release --example tissue_spindle -- [FOLDER]` prints a table; with a folder it also writes plots of
//! length and end force, and a sheet of the shapes.

use ecorche::output::plot::{Axis, Plot, Series};
use ecorche::output::raster::{self, Framing, MUSCLE, Surface, View};
use ecorche::output::sheet::Sheet;
use ecorche::output::{Colour, Picture};
use ecorche::tissue::scene::Scene;
use ecorche::tissue::step::StepReport;
use glam::{DVec3, Vec3};
use std::error::Error;
use std::path::{Path, PathBuf};

/// What one run did, against activation.
struct Run {
    name: String,
    lengths: Vec<[f32; 2]>,
    forces: Vec<[f32; 2]>,
    shapes: [Picture; 2],
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).map(PathBuf::from);
    println!("load        length  belly     volume    least J  end force  solves  converged");
    let mut runs = Vec::new();
    for load in [None, Some(0.0), Some(20.0), Some(60.0)] {
        runs.push(run(load)?);
    }
    let Some(folder) = folder else { return Ok(()) };
    std::fs::create_dir_all(&folder)?;
    let series = |of: fn(&Run) -> &Vec<[f32; 2]>| {
        let named = |r: &Run| Series { name: r.name.clone(), points: of(r).clone(), ..Series::default() };
        runs.iter().map(named).collect::<Vec<_>>()
    };
    let plot = |title: &str, y: Axis, series| {
        Plot { title: title.to_owned(), x: Axis::new("activation", ""), y, series }.draw(900, 480)
    };
    let length =
        plot("Length of a tensing muscle", Axis::new("of the rest length", ""), series(|r| &r.lengths));
    save(&folder.join("length.png"), &length)?;
    let force = plot("Force at the insertion", Axis::new("", "N"), series(|r| &r.forces));
    save(&folder.join("force.png"), &force)?;
    let mut sheet = Sheet::new(1);
    for (k, r) in runs.into_iter().enumerate() {
        let [rest, tense] = r.shapes;
        if k == 0 {
            sheet = sheet.panel(rest, "at rest");
        }
        sheet = sheet.panel(tense, &r.name);
    }
    save(&folder.join("spindle.png"), &sheet.compose())?;
    Ok(())
}

/// Between walls, or with the insertion let go and pulled by a load in newtons.
fn run(load: Option<f64>) -> Result<Run, Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenes/spindle.toml");
    let mut text = std::fs::read_to_string(&path)?;
    if let Some(load) = load {
        text =
            text.replace("near = [200, 0, 0], radius = 12 }", "near = [200, 0, 0], radius = 12, until = 0 }");
        text += &format!(
            "[[hold]]\nkind = \"pull\"\nbody = \"spindle\"\nnear = [200, 0, 0]\nradius = 12\nforce = [{load}, 0, 0]\n"
        );
    }
    let mut scene = Scene::parse(&path, &text)?;
    let name = load.map_or("between walls".to_owned(), |l| format!("under {l} N"));
    let mut out = Run {
        name,
        lengths: Vec::new(),
        forces: Vec::new(),
        shapes: [picture(&scene), Picture::new(1, 1, Colour::WHITE)],
    };
    let (long, wide) = (length(&scene), belly(&scene));
    let mut record = scene.record(&StepReport { converged: true, ..StepReport::default() });
    let (mut solves, mut converged) = (0, true);
    loop {
        let activation = record.bodies[0].activation as f32;
        out.lengths.push([activation, (length(&scene) / long) as f32]);
        out.forces.push([activation, record.bodies[0].end_force as f32]);
        if scene.frame == scene.frames {
            break;
        }
        record = scene.advance()?;
        solves += record.solves;
        converged &= record.converged;
    }
    let body = &record.bodies[0];
    println!(
        "{:<14} {:.3}  {:+.1} %  {:+.2} %  {:.2}     {:6.1} N  {solves:5}   {converged}",
        out.name,
        length(&scene) / long,
        100.0 * (belly(&scene) / wide - 1.0),
        100.0 * (body.volume - 1.0),
        body.smallest_volume_ratio,
        body.end_force,
    );
    out.shapes[1] = picture(&scene);
    Ok(out)
}

/// How far along the insertion is, metres.
fn length(scene: &Scene) -> f64 {
    let nodes = &scene.bodies[0].insertion;
    nodes.iter().map(|&n| scene.simulation.state.positions[n as usize].x).sum::<f64>() / nodes.len() as f64
}

/// Root mean square radius of the surface nodes that were near the middle.
fn belly(scene: &Scene) -> f64 {
    let (rest, now) = (&scene.simulation.model.rest, &scene.simulation.state.positions);
    let off_axis = |p: DVec3| p.y * p.y + p.z * p.z;
    let middle: Vec<usize> = (0..rest.len())
        .filter(|&n| (rest[n].x - 0.1).abs() < 0.02 && off_axis(rest[n]).sqrt() > 0.0185)
        .collect();
    (middle.iter().map(|&n| off_axis(now[n])).sum::<f64>() / middle.len() as f64).sqrt()
}

fn picture(scene: &Scene) -> Picture {
    let skin = scene.skin(0);
    let frame: Vec<Vec3> = (0..8)
        .map(|k| {
            let side = |bit: usize, low: f32, high: f32| if k & bit == 0 { low } else { high };
            Vec3::new(side(1, -0.005, 0.215), side(2, -0.026, 0.026), side(4, -0.026, 0.026))
        })
        .collect();
    let camera = Framing { view: View::Front, aspect: 4.0, margin: 0.02, ..Framing::default() }
        .camera(std::iter::once(&frame[..]));
    let surface = Surface::new(skin.positions, skin.triangles).colour(Colour::hex(MUSCLE));
    let stage = raster::Scene { surfaces: vec![surface], ..raster::Scene::default() };
    raster::render(&stage, &camera, &raster::Settings::sized(720, 180))
}

fn save(path: &Path, picture: &Picture) -> Result<(), Box<dyn Error>> {
    let mut bytes = Vec::new();
    picture.encode_png(&mut bytes)?;
    std::fs::write(path, bytes)?;
    println!("{}", path.display());
    Ok(())
}

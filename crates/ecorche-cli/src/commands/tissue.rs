//! `ecorche tissue`: a finite element scene, frame by frame.

use crate::arguments::Tissue;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::geom::TriMesh;
use ecorche::output::pc2::Pc2;
use ecorche::output::plot::{Axis, Plot, Series};
use ecorche::output::raster::{self, BONE, Camera, Framing, MUSCLE, Surface};
use ecorche::output::{Colour, Picture, file, names};
use ecorche::tissue::scene::{FrameRecord, Log, Scene};
use ecorche::tissue::step::StepReport;
use glam::{Quat, Vec3};
use std::path::Path;

/// Runs the scene to its end, or to `--until`.
pub fn run(arguments: &Tissue, console: &Console) -> Result<Outcome, Failure> {
    let mut scene = Scene::read(&arguments.scene)?;
    let mut written: Vec<_> = [
        "frames.json",
        "checkpoint.bin",
        "last.vtk",
        "volume.png",
        "force.png",
        "activation.png",
        "speed.png",
    ]
    .map(|name| arguments.output.join(name))
    .to_vec();
    for name in body_files(&scene) {
        written.extend([".pc2", ".rest.obj"].map(|ending| arguments.output.join(format!("{name}{ending}"))));
    }
    source::protect_inputs(&scene.inputs, &written)?;
    std::fs::create_dir_all(&arguments.output)
        .map_err(|e| format!("{}: {e}; choose a folder that can be made", arguments.output.display()))?;
    describe(&scene, console);
    let mut log = if arguments.resume { resume(&mut scene, arguments, console)? } else { begin(&mut scene) };
    let last = arguments.until.map_or(scene.frames, |n| n.min(scene.frames));
    let camera = camera(&scene, arguments);
    let mut pictures = Vec::new();
    if wanted(scene.frame, last, arguments.pictures) {
        pictures.push(picture(&scene, &camera));
        save(&arguments.output.join(format!("frame.{:04}.png", scene.frame)), &pictures[0])?;
    }
    let bar = console.progress("simulating", last);
    while scene.frame < last {
        let record = match scene.advance() {
            Ok(record) => record,
            Err(error) => {
                bar.finish_and_clear();
                write_log(&scene, &log, &arguments.output)?;
                return Err(format!("{}: {error}", arguments.scene.display()).into());
            }
        };
        console.detail(&line(&record));
        log.records.push(record);
        for (body, cache) in log.caches.iter_mut().enumerate() {
            cache.samples.push(points(&scene, body));
        }
        if wanted(scene.frame, last, arguments.pictures) {
            let shown = picture(&scene, &camera);
            save(&arguments.output.join(format!("frame.{:04}.png", scene.frame)), &shown)?;
        }
        if scene.frame.is_multiple_of(arguments.checkpoint as usize) || scene.frame == last {
            write_log(&scene, &log, &arguments.output)?;
            file::write(&arguments.output.join("checkpoint.bin"), &scene.checkpoint(&log))?;
        }
        bar.set_position(scene.frame as u64);
    }
    bar.finish_and_clear();
    for path in write_log(&scene, &log, &arguments.output)? {
        console.print_path(&path)?;
    }
    for (name, plot) in plots(&log.records) {
        save(&arguments.output.join(name), &plot.draw(900, 480))?;
    }
    if arguments.vtk {
        file::write(&arguments.output.join("last.vtk"), scene.vtk().as_bytes())?;
    }
    summary(&scene, &log.records, console);
    Ok(Outcome::Done)
}

fn describe(scene: &Scene, console: &Console) {
    for warning in &scene.warnings {
        console.warn(warning);
    }
    for body in &scene.bodies {
        let part = &scene.simulation.model.parts[body.part];
        console.note(&format!(
            "{}: {} tetrahedra, {} nodes, dihedral angles {:.1} to {:.1} degrees, volume {:.1} cm3 ({:.1} % of the surface's)",
            body.name,
            part.tets.len(),
            part.nodes.len(),
            body.quality.smallest_dihedral,
            body.quality.largest_dihedral,
            scene.simulation.model.volume(body.part, &scene.simulation.model.rest) * 1e6,
            100.0 * body.volume_ratio,
        ));
    }
    console.note(&format!(
        "{} frames of {} steps; {:.1} MB, factor {:.2} million entries",
        scene.frames,
        scene.substeps,
        scene.simulation.bytes() as f64 / 1e6,
        scene.simulation.factor_entries() as f64 / 1e6
    ));
}

fn begin(scene: &mut Scene) -> Log {
    let records = vec![scene.record(&StepReport { converged: true, ..StepReport::default() })];
    let caches =
        (0..scene.bodies.len()).map(|b| Pc2 { first_frame: 0.0, samples: vec![points(scene, b)] }).collect();
    Log { records, caches }
}

fn resume(scene: &mut Scene, arguments: &Tissue, console: &Console) -> Result<Log, Failure> {
    let path = arguments.output.join("checkpoint.bin");
    let bytes = ecorche::input::read(&path)
        .map_err(|e| format!("{}: {e}; run once without --resume", path.display()))?;
    let frames = arguments.output.join("frames.json");
    let text = ecorche::input::read_text(&frames).map_err(|e| format!("{}: {e}", frames.display()))?;
    let records: Vec<FrameRecord> =
        serde_json::from_str(&text).map_err(|e| format!("{}: {e}", frames.display()))?;
    let mut caches = Vec::new();
    for name in body_files(scene) {
        caches.push(Pc2::read(&arguments.output.join(format!("{name}.pc2")))?);
    }
    let mut log = Log { records, caches };
    scene.resume(&bytes, &mut log).map_err(|e| format!("{}: {e}", path.display()))?;
    console.note(&format!("resumed after frame {}", scene.frame));
    Ok(log)
}

/// Names of the bodies' files, without extension.
fn body_files(scene: &Scene) -> Vec<String> {
    names::file_names(&scene.bodies.iter().map(|body| body.name.as_str()).collect::<Vec<_>>())
}

/// Surface points of a body in the scene's unit.
fn points(scene: &Scene, body: usize) -> Vec<Vec3> {
    scene.skin(body).positions.iter().map(|p| *p / scene.metres_per_unit as f32).collect()
}

fn write_log(scene: &Scene, log: &Log, folder: &Path) -> Result<Vec<std::path::PathBuf>, Failure> {
    let mut written = Vec::new();
    for ((b, cache), name) in log.caches.iter().enumerate().zip(body_files(scene)) {
        written.push(cache.write(&folder.join(format!("{name}.pc2")))?);
        let rest = folder.join(format!("{name}.rest.obj"));
        file::write(&rest, scene.rest_obj(b).as_bytes())?;
        written.push(rest);
    }
    let frames = folder.join("frames.json");
    file::write(&frames, serde_json::to_string_pretty(&log.records)?.as_bytes())?;
    written.push(frames);
    Ok(written)
}

fn line(record: &FrameRecord) -> String {
    let [assembly, factor, solve, rest] = record.milliseconds;
    let mut text = format!(
        "frame {:4}  {:2} steps {:3} solves  assembly {assembly:.0} factor {factor:.0} solve {solve:.0} rest {rest:.0} ms  penetration {:.3} mm{}",
        record.frame,
        record.steps,
        record.solves,
        record.penetration * 1e3,
        if record.converged { "" } else { "  (not converged)" },
    );
    for b in &record.bodies {
        text += &format!(
            "  {}: activation {:.2} volume {:+.2} % least {:.2} force {:.1} N",
            b.name,
            b.activation,
            100.0 * (b.volume - 1.0),
            b.smallest_volume_ratio,
            b.end_force
        );
    }
    text
}

fn summary(scene: &Scene, records: &[FrameRecord], console: &Console) {
    let steps: u32 = records.iter().map(|r| r.steps).sum();
    let total: f64 = records.iter().flat_map(|r| r.milliseconds).sum();
    let part = |k: usize| records.iter().map(|r| r.milliseconds[k]).sum::<f64>() / f64::from(steps.max(1));
    console.note(&format!(
        "{:.1} ms a step: assembly {:.1}, factorisation {:.1}, solve {:.1}, the rest {:.1}; penetration {:.3} mm at most",
        total / f64::from(steps.max(1)),
        part(0),
        part(1),
        part(2),
        part(3),
        records.iter().map(|r| r.penetration).fold(0.0, f64::max) * 1e3
    ));
    for (b, body) in scene.bodies.iter().enumerate() {
        let values = |of: fn(&ecorche::tissue::scene::BodyRecord) -> f64| {
            records.iter().map(move |r| of(&r.bodies[b]))
        };
        console.note(&format!(
            "{}: volume {:+.2} to {:+.2} %, smallest volume ratio {:.2}, end force up to {:.1} N",
            body.name,
            100.0 * (values(|r| r.volume).fold(f64::INFINITY, f64::min) - 1.0),
            100.0 * (values(|r| r.volume).fold(f64::NEG_INFINITY, f64::max) - 1.0),
            values(|r| r.smallest_volume_ratio).fold(f64::INFINITY, f64::min),
            values(|r| r.end_force).fold(0.0, f64::max),
        ));
    }
}

fn plots(records: &[FrameRecord]) -> Vec<(&'static str, Plot)> {
    let Some(first) = records.first() else { return Vec::new() };
    let plot = |title: &str, unit: &str, of: fn(&ecorche::tissue::scene::BodyRecord) -> f64| Plot {
        title: title.to_owned(),
        x: Axis::new("time", "s"),
        y: Axis::new("", unit),
        series: (0..first.bodies.len())
            .map(|b| Series {
                name: first.bodies[b].name.clone(),
                points: records.iter().map(|r| [r.time as f32, of(&r.bodies[b]) as f32]).collect(),
                ..Series::default()
            })
            .collect(),
    };
    vec![
        ("volume.png", plot("Volume change", "%", |b| 100.0 * (b.volume - 1.0))),
        ("force.png", plot("Force at the insertion", "N", |b| b.end_force)),
        ("activation.png", plot("Activation", "", |b| b.activation)),
        ("speed.png", plot("Speed of the nodes", "m/s", |b| b.speed)),
    ]
}

fn wanted(frame: usize, last: usize, every: usize) -> bool {
    match every {
        0 => frame == 0 || frame == last / 2 || frame == last,
        n => frame.is_multiple_of(n) || frame == last,
    }
}

/// A camera that holds the first state and every pose of the bones.
fn camera(scene: &Scene, arguments: &Tissue) -> Camera {
    let turn = upright(scene);
    let mut all: Vec<Vec3> = (0..scene.bodies.len()).flat_map(|b| scene.skin(b).positions).collect();
    for (b, bone) in scene.bones.iter().enumerate() {
        let track = &scene.simulation.boundary.bones[b];
        for key in track.keys.iter().map(|k| k.0).chain([0.0]) {
            if let Some(surface) = &bone.surface {
                let pose = track.at(key);
                all.extend(surface.positions.iter().map(|p| pose.transform_point3(p.as_dvec3()).as_vec3()));
            }
        }
    }
    for p in &mut all {
        *p = turn * *p;
    }
    Framing { view: arguments.view, aspect: 4.0 / 3.0, ..Framing::default() }
        .camera(std::iter::once(&all[..]))
}

/// Turns the scene's up into the pictures' Y.
fn upright(scene: &Scene) -> Quat {
    Quat::from_rotation_arc(scene.up.as_vec3(), Vec3::Y)
}

fn picture(scene: &Scene, camera: &Camera) -> Picture {
    let turn = upright(scene);
    let surface = |shown: TriMesh, colour: u32| {
        let positions: Vec<Vec3> = shown.positions.iter().map(|p| turn * *p).collect();
        Surface::new(positions, shown.triangles).colour(Colour::hex(colour))
    };
    let muscles = (0..scene.bodies.len()).map(|b| surface(scene.skin(b), MUSCLE));
    let bones = (0..scene.bones.len()).filter_map(|b| scene.bone_surface(b)).map(|s| surface(s, BONE));
    let surfaces = muscles.chain(bones).collect();
    let stage = raster::Scene { surfaces, ..raster::Scene::default() };
    raster::render(&stage, camera, &raster::Settings::sized(800, 600))
}

fn save(path: &Path, picture: &Picture) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    picture.encode_png(&mut bytes)?;
    file::write(path, &bytes)?;
    Ok(())
}

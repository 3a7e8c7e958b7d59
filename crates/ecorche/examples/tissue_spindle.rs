use ecorche::tissue::scene::Scene;
use std::path::Path;
fn main() {
    let text = std::fs::read_to_string("crates/ecorche/examples/scenes/spindle.toml").unwrap();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut text = text;
    for w in &words { let (a, b) = w.split_once("=>").unwrap(); assert!(text.contains(a), "{a}"); text = text.replace(a, b); }
    for load in [-1.0, 0.0, 20.0, 60.0] {
        let mut t = text.clone();
        if load >= 0.0 {
            t = t.replace("near = [200, 0, 0], radius = 9 }", "near = [200, 0, 0], radius = 9, until = 0 }");
            t += &format!("\n[[hold]]\nkind=\"pull\"\nbody=\"spindle\"\nnear=[200,0,0]\nradius=9\nforce=[{load},0,0]\n");
        }
        let mut scene = Scene::parse(Path::new("spindle.toml"), &t).unwrap();
        let belly = |s: &Scene, p: &[glam::DVec3]| {
            let rest = &s.simulation.model.rest;
            let m: Vec<usize> = (0..rest.len()).filter(|&n| (rest[n].x - 0.1).abs() < 0.02 && rest[n].y.hypot(rest[n].z) > 0.0185).collect();
            (m.iter().map(|&n| p[n].y.powi(2) + p[n].z.powi(2)).sum::<f64>() / m.len() as f64).sqrt()
        };
        let clock = std::time::Instant::now();
        let mut solves = 0; let mut conv = true;
        let mut last = None;
        while scene.frame < scene.frames { let r = scene.advance().unwrap(); solves += r.solves; conv &= r.converged; last = Some(r); }
        let r = last.unwrap(); let b = &r.bodies[0];
        let s = &scene.simulation;
        let end: f64 = scene.bodies[0].insertion.iter().map(|&n| s.state.positions[n as usize].x).sum::<f64>() / scene.bodies[0].insertion.len() as f64;
        let end0: f64 = scene.bodies[0].insertion.iter().map(|&n| s.model.rest[n as usize].x).sum::<f64>() / scene.bodies[0].insertion.len() as f64;
        println!("tets {} load {load} length {:.4} belly {:+.2} % volume {:+.3} % least {:.3} force {:.1} solves {solves} conv {conv} {:.1} s", s.model.tets.len(), end / end0,
            100.0 * (belly(&scene, &s.state.positions) / belly(&scene, &s.model.rest) - 1.0), 100.0 * (b.volume - 1.0), b.smallest_volume_ratio, b.end_force, clock.elapsed().as_secs_f64());
    }
}

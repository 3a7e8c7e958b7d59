//! The table of `docs/methods/wrinkles.md`: what wrinkles do to a clip, beside the same frames without.
//!
//! `cargo run --example wrinkle_table -- FILE CLIP [FPS [SUBDIVIDE [METHOD [ANATOMY]]]]` plays a clip of a file or `sample:NAME`, prints one
//! row and exits.

use ecorche::character::{Character, Pose};
use ecorche::deform::{Body, Stack, Workspace};
use ecorche::frame::Frame;
use ecorche::geom::SelfContact;
use ecorche::measure::{ClipFigures, Judge, judge_clip};
use ecorche::recipe::{AnatomySource, Recipe, WrinkleUse};
use ecorche::sampling::{Plan, Sampling};
use ecorche::skinning::Surface;
use std::collections::BTreeSet;
use std::error::Error;
use std::ops::ControlFlow;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, clip, rest @ ..] = arguments.as_slice() else {
        return Err("give FILE CLIP [FPS [SUBDIVIDE [METHOD [ANATOMY]]]]".into());
    };
    let fps: f32 = rest.first().map_or(Ok(6.0), |text| text.parse())?;
    let subdivide: u32 = rest.get(1).map_or(Ok(0), |text| text.parse())?;
    let method: Stack = rest.get(2).map_or(Ok(Stack::implicit()), |text| text.parse())?;
    let anatomy = rest.get(3).map_or(AnatomySource::Own, |path| AnatomySource::File(path.into()));
    let recipe = Recipe { subdivide, wrinkles: WrinkleUse::On, anatomy, ..Recipe::of(file) };
    let ingredients = recipe.read()?;
    let without = ingredients.with_recipe(&Recipe { wrinkles: WrinkleUse::Off, ..recipe.clone() })?;
    let smooth = without.bind(without.settings(Some(method.clone())), None)?;
    let started = std::time::Instant::now();
    let wrinkled = smooth.with_layers(ingredients.settings(Some(method)).stack.surface)?;
    let bind = started.elapsed().as_secs_f64();
    let sampling = Sampling { fps: Some(fps), frames: None };
    let plan = Plan::new(Some(ingredients.clip(clip)?), &sampling)?;
    Row::new(&ingredients.character, &smooth, &wrinkled, &plan)?.print(file, clip, bind);
    Ok(())
}

struct Row {
    vertices: usize,
    frames: usize,
    at_rest: f32,
    largest: f32,
    taken_back: usize,
    new_pairs: usize,
    different_frames: usize,
    spacing: f32,
    restored: [f64; 2],
    patterns: usize,
    per_degree: f32,
    cost: f64,
    popping: [f64; 2],
    flicker: [f64; 2],
}

impl Row {
    fn new(
        character: &Character,
        smooth: &Body,
        wrinkled: &Body,
        plan: &Plan,
    ) -> Result<Self, Box<dyn Error>> {
        let surface = wrinkled.surface().ok_or("no skin")?;
        let (mut a, mut b) = (Workspace::default(), Workspace::default());
        let at_rest = farthest(surface, &smooth.rest(&mut a), &wrinkled.rest(&mut b));
        let clip = plan.clip.ok_or("no clip")?;
        let times: Vec<f32> = plan.frames.clone().map(|frame| clip.frame_time(frame, plan.fps)).collect();
        let pose = |time: f32| {
            let mut pose = Pose::rest(character);
            clip.sample(time, &mut pose);
            pose
        };
        let mut contact = SelfContact::new(&surface.mesh.positions, &surface.mesh.triangles);
        let (mut new_pairs, mut taken_back, mut largest) = (0, 0, 0.0f32);
        // Of free skin, and of skin that a contact holds.
        let (mut given_back, mut lost) = ([0.0; 2], [0.0; 2]);
        let (mut own, mut others) = (0.0, 0.0);
        let mut change: f32 = 0.0;
        let mut alone: Vec<Frame> = Vec::new();
        for &time in &times {
            let (before, after) =
                (smooth.deform(&pose(time), time, &mut a), wrinkled.deform(&pose(time), time, &mut b));
            let pairs = |contact: &mut SelfContact, frame: &Frame| -> BTreeSet<[u32; 2]> {
                contact.find(&surface.positions(frame)).pairs.into_iter().collect()
            };
            let known = pairs(&mut contact, &before);
            new_pairs += pairs(&mut contact, &after).difference(&known).count();
            let report = after.report.surface.unwrap_or_default();
            taken_back += report.fell_back;
            largest = largest.max(report.largest);
            let held =
                |v: &u32| after.found.reports.get(*v as usize).is_some_and(|report| report.contact > 0.0);
            for (corners, [short, long]) in wrinkled.lengths_across_creases(&before, &after) {
                if (0.7..=0.9).contains(&short) {
                    let of = usize::from(corners.iter().any(held));
                    given_back[of] += f64::from(long - short);
                    lost[of] += f64::from(1.0 - short);
                }
            }
            for &(stage, milliseconds) in &after.found.stages {
                *(if stage == "surface" { &mut own } else { &mut others }) += milliseconds;
            }
            // A degree later.
            let step = 1.0 / plan.fps;
            let turned = largest_turn(&pose(time), &pose(time + step));
            if turned > 0.1 {
                let later = time + step * (1.0 / turned).min(1.0);
                let degrees = largest_turn(&pose(time), &pose(later)).max(0.1);
                let next = [smooth, wrinkled]
                    .map(|body| body.deform(&pose(later), later, &mut Workspace::default()));
                let heights = |[without, with]: [&Frame; 2]| -> Vec<f32> {
                    let (p, q) = (surface.positions(without), surface.positions(with));
                    p.iter().zip(q).map(|(p, q)| p.distance(q)).collect()
                };
                let (now, then) = (heights([&before, &after]), heights([&next[0], &next[1]]));
                let most = now.iter().zip(then).map(|(now, then)| (now - then).abs()).fold(0.0, f32::max);
                change = change.max(most / degrees.max(1.0));
            }
            alone.push(after);
        }
        let played = |order: &mut dyn Iterator<Item = usize>| {
            let (mut state, mut scratch) = Default::default();
            let frames = order.map(|k| {
                let frame = wrinkled.deform_next(&pose(times[k]), times[k], &mut state, &mut scratch);
                usize::from(frame.meshes != alone[k].meshes)
            });
            frames.sum::<usize>()
        };
        // Muscles swing, so only skin without any is the same in any order.
        let different_frames = if wrinkled.has_muscles() {
            0
        } else {
            let count = times.len();
            played(&mut (0..count)) + played(&mut (0..count).rev()) + played(&mut (0..count).step_by(2))
        };
        let judge = Judge::of(surface)?;
        let figures = |body: &Body| -> Result<ClipFigures, Box<dyn Error>> {
            Ok(judge_clip(&judge, surface, body, plan, |_| ControlFlow::Continue(()))?)
        };
        let [plain, creased] = [figures(smooth)?, figures(wrinkled)?];
        Ok(Self {
            vertices: surface.mesh.positions.len(),
            frames: times.len(),
            at_rest,
            largest,
            taken_back,
            new_pairs,
            different_frames,
            spacing: wrinkled.wrinkles().map_or(0.0, |w| w.spacing_kept),
            restored: [0, 1].map(|k| given_back[k] / lost[k]),
            patterns: wrinkled.wrinkles().map_or(0, |w| w.patterns),
            per_degree: if largest > 0.0 { change / largest } else { 0.0 },
            cost: own / others,
            popping: [plain.popping_p99, creased.popping_p99].map(Option::unwrap_or_default),
            flicker: [plain.flicker_p99, creased.flicker_p99].map(Option::unwrap_or_default),
        })
    }

    fn print(&self, file: &str, clip: &str, bind: f64) {
        println!("{file} {clip}: {} vertices, {} frames, pattern in {bind:.1} s", self.vertices, self.frames);
        println!("  displacement at rest                 {} mm", 1e3 * self.at_rest);
        println!("  largest displacement                 {:.2} mm", 1e3 * self.largest);
        println!("  new crossing pairs                   {}", self.new_pairs);
        println!("  vertices taken back, over all frames {}", self.taken_back);
        println!("  frames that differ by order          {}", self.different_frames);
        println!("  area within 15 % of the wavelength   {:.1} %", 100.0 * self.spacing);
        println!("  sets of stripes                      {}", self.patterns);
        let [free, held] = self.restored.map(|share| 100.0 * share);
        println!(
            "  lost length given back (0.7 to 0.9)  {free:.1} % of free skin, {held:.1} % of skin in contact"
        );
        println!("  largest change for a degree, of full {:.1} %", 100.0 * self.per_degree);
        println!("  popping p99 without, with            {:.3} {:.3}", self.popping[0], self.popping[1]);
        println!("  flicker p99 without, with            {:.3} {:.3}", self.flicker[0], self.flicker[1]);
        println!("  cost over the rest of the frame      {:.1} %", 100.0 * self.cost);
    }
}

fn farthest(surface: &Surface, a: &Frame, b: &Frame) -> f32 {
    let (a, b) = (surface.positions(a), surface.positions(b));
    a.iter().zip(b).map(|(a, b)| a.distance(b)).fold(0.0, f32::max)
}

/// Of all joints, degrees.
fn largest_turn(a: &Pose, b: &Pose) -> f32 {
    let turns = a.local.iter().zip(&b.local).map(|(a, b)| a.rotation.angle_between(b.rotation).to_degrees());
    turns.fold(0.0, f32::max)
}

//! Muscles over a clip: length, width, volume, activation, tension, and how deep they get into bones.

use crate::deform::{Body, Playback, Workspace};
use crate::field::Field;
use crate::geom::TriMesh;
use crate::muscle::PosedMuscle;
use crate::output::plot::{Axis, Plot, Series};
use crate::sampling::Plan;
use glam::Vec3;
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write;

/// A fibre in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FibreFrame {
    /// Seconds.
    pub time: f32,
    /// Metres.
    pub length: f64,
    /// Mean radius, metres.
    pub width: f64,
    /// Integrated over the field, cubic metres; `None` in frames where it was not.
    pub volume: Option<f64>,
    /// In `[0, 1]`.
    pub activation: f64,
    /// Newtons.
    pub tension: f64,
    /// Thickness towards the inside of the sharpest bend, over that bend's radius.
    pub bend: f64,
}

/// One fibre over a clip.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FibreHistory {
    /// Name with side; with a number for the fibres of a convergent muscle.
    pub name: String,
    /// At bind, integrated, cubic metres.
    pub volume: f64,
    /// Frame by frame.
    pub frames: Vec<FibreFrame>,
}

/// Largest relative change of volume since bind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct VolumeDrift {
    /// Where axes are smooth.
    pub smooth: f64,
    /// Where an axis bends sharper than the muscle is thick.
    pub sharp: f64,
}

/// All muscles over a clip.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MuscleHistory {
    /// Fibre by fibre.
    pub fibres: Vec<FibreHistory>,
    /// How deep the worst particle was in a bone beyond its clearance, metres.
    pub deepest: f64,
    /// Fibres and pads put back because a number was not finite or absurd, over all frames.
    pub resets: usize,
    /// Largest depth of the skin in a muscle at bind, metres: how far muscles stand out of the skin.
    pub outside: f64,
}

/// Frames in which all volumes are integrated, when there are many fibres; those of sharply bent ones are in every frame.
const INTEGRATED: usize = 5;
/// Bends that count as sharp: on their inside the muscle overlaps itself.
const SHARP: f64 = 1.0;
/// Fibres up to which all are integrated in every frame.
const ALL_INTEGRATED: usize = 8;
/// Most lines in a plot.
const PLOTTED: usize = 10;

/// Plays `plan` and records what the muscles do; `None` for a body without.
pub fn follow_muscles(body: &Body, plan: &Plan) -> Option<MuscleHistory> {
    let musculature = body.musculature()?;
    let definition = musculature.definition();
    let mut history = MuscleHistory::default();
    let (mut playback, mut workspace) = (Playback::new(body, plan), Workspace::default());
    let stride = (plan.len() / INTEGRATED).max(1);
    for (k, number) in plan.frames.clone().enumerate() {
        let (flesh, report) = playback.advance(number, &mut workspace)?;
        if history.fibres.is_empty() {
            let name = |m: &PosedMuscle| {
                let muscle = &definition.muscle[m.muscle];
                let number = if muscle.fibres > 1 { format!(" {}", m.fibre + 1) } else { String::new() };
                FibreHistory { name: muscle.title() + &number, ..FibreHistory::default() }
            };
            history.fibres = flesh.muscles.iter().map(name).collect();
            let bind = musculature.at_bind().muscles;
            history.outside = body.surface().map_or(0.0, |surface| outside(&bind, &surface.mesh));
            history.fibres.par_iter_mut().zip(&bind).for_each(|(fibre, muscle)| {
                fibre.volume = muscle.shape.integrated_volume(CELLS);
            });
        }
        let integrate = flesh.muscles.len() <= ALL_INTEGRATED || k % stride == 0;
        let frames: Vec<FibreFrame> = flesh
            .muscles
            .par_iter()
            .map(|m| {
                let bend = m.shape.sharpest_bend();
                FibreFrame {
                    time: plan.time(number),
                    length: m.shape.length(),
                    width: m.shape.width(),
                    volume: (integrate || bend > SHARP).then(|| m.shape.integrated_volume(CELLS)),
                    activation: m.shape.activation(),
                    tension: m.tension,
                    bend,
                }
            })
            .collect();
        history.fibres.iter_mut().zip(frames).for_each(|(fibre, frame)| fibre.frames.push(frame));
        history.deepest = history.deepest.max(report.deepest.into());
        history.resets += report.resets;
    }
    Some(history)
}

/// Cells across the thickest place of a muscle whose volume is integrated. On a straight muscle turned against the lattice, 20 are
/// wrong by up to 0.5 %, 40 by up to 0.1 %.
const CELLS: usize = 40;

/// How deep the deepest vertex or middle of a face lies in a muscle, metres.
fn outside(muscles: &[PosedMuscle], skin: &TriMesh) -> f64 {
    let corners = |t: &[u32; 3]| t.map(|v| skin.positions[v as usize]);
    let middles = skin.triangles.iter().map(|t| corners(t).iter().sum::<Vec3>() / 3.0);
    let points: Vec<Vec3> = skin.positions.iter().copied().chain(middles).collect();
    let deepest = |muscle: &PosedMuscle| {
        let (shape, reach) = (&muscle.shape, muscle.shape.thickest());
        let near = points.iter().filter(|p| shape.support().contains(**p));
        near.filter_map(|p| shape.near(p.as_dvec3(), reach))
            .fold(0.0f64, |most, near| most.max(-near.distance))
    };
    let depths: Vec<f64> = muscles.par_iter().map(deepest).collect();
    depths.into_iter().fold(0.0, f64::max)
}

impl FibreHistory {
    fn range(&self, value: impl Fn(&FibreFrame) -> Option<f64>) -> [f64; 2] {
        let values = self.frames.iter().filter_map(value);
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)])
    }

    /// How much the integrated volume differs from that at bind.
    pub fn volume_drift(&self) -> VolumeDrift {
        let mut drift = VolumeDrift::default();
        for frame in &self.frames {
            let Some(volume) = frame.volume.filter(|_| self.volume > 0.0) else { continue };
            let most = if frame.bend > SHARP { &mut drift.sharp } else { &mut drift.smooth };
            *most = most.max((volume / self.volume - 1.0).abs());
        }
        drift
    }
}

impl MuscleHistory {
    /// How much the volume of any fibre differs from that at bind.
    pub fn volume_drift(&self) -> VolumeDrift {
        self.fibres.iter().map(FibreHistory::volume_drift).fold(VolumeDrift::default(), |a, b| VolumeDrift {
            smooth: a.smooth.max(b.smooth),
            sharp: a.sharp.max(b.sharp),
        })
    }

    /// A few lines, and a table of all fibres if there are few, else of those that change most.
    pub fn describe(&self) -> String {
        let VolumeDrift { smooth, sharp } = self.volume_drift();
        let bent = self.fibres.iter().filter(|f| f.frames.iter().any(|frame| frame.bend > SHARP)).count();
        let mut text = format!(
            "muscles: {} fibres; out of the skin at bind {:.2} mm; deepest in a bone {:.2} mm; {} put back; volume drifts \
             by at most {:.2} %",
            self.fibres.len(),
            1e3 * self.outside,
            1e3 * self.deepest,
            self.resets,
            100.0 * smooth,
        );
        if bent > 0 {
            // Writing to a String does not fail.
            let _ = write!(text, ", by {:.2} % where {bent} fibres bend sharply", 100.0 * sharp);
        }
        text.push('\n');
        let _ = writeln!(
            text,
            "{:44} {:>15} {:>13} {:>7} {:>5} {:>11}",
            "fibre", "length (mm)", "width (mm)", "drift", "bend", "activation"
        );
        for fibre in self.most_changed(PLOTTED) {
            let [l0, l1] = fibre.range(|f| Some(1e3 * f.length));
            let [w0, w1] = fibre.range(|f| Some(1e3 * f.width));
            let [a0, a1] = fibre.range(|f| Some(f.activation));
            let VolumeDrift { smooth, sharp } = fibre.volume_drift();
            let bend = fibre.range(|f| Some(f.bend))[1];
            let _ = writeln!(
                text,
                "{:44} {:>15} {:>13} {:>7} {:>5} {:>11}",
                fibre.name,
                format!("{l0:.1} - {l1:.1}"),
                format!("{w0:.1} - {w1:.1}"),
                format!("{:.2} %", 100.0 * smooth.max(sharp)),
                format!("{bend:.2}"),
                format!("{a0:.2} - {a1:.2}"),
            );
        }
        text
    }

    fn most_changed(&self, count: usize) -> Vec<&FibreHistory> {
        let change = |f: &FibreHistory| {
            let [low, high] = f.range(|frame| Some(frame.length));
            high / low.max(1e-9)
        };
        let mut order: Vec<usize> = (0..self.fibres.len()).collect();
        order.sort_by(|&a, &b| change(&self.fibres[b]).total_cmp(&change(&self.fibres[a])));
        order.truncate(count);
        order.sort_unstable();
        order.into_iter().map(|k| &self.fibres[k]).collect()
    }

    /// Plots of length, width and volume over time; of many fibres those that change most.
    pub fn plots(&self, clip: &str) -> [Plot; 3] {
        let plot = |name: &str, unit: &str, value: &dyn Fn(&FibreFrame) -> Option<f64>| Plot {
            title: format!("{clip}: {name}"),
            x: Axis::new("time", "s"),
            y: Axis::new(name, unit),
            series: self
                .most_changed(PLOTTED)
                .into_iter()
                .map(|fibre| Series {
                    name: fibre.name.clone(),
                    points: fibre.frames.iter().filter_map(|f| Some([f.time, value(f)? as f32])).collect(),
                    ..Series::default()
                })
                .collect(),
        };
        [
            plot("length", "mm", &|f| Some(1e3 * f.length)),
            plot("width", "mm", &|f| Some(1e3 * f.width)),
            plot("volume", "cm3", &|f| f.volume.map(|v| 1e6 * v)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::Stack;
    use crate::samples;
    use crate::sampling::Sampling;
    use std::sync::Arc;

    #[test]
    fn the_arm_keeps_the_volume_of_its_muscles_over_the_curl() {
        let character = Arc::new(samples::build("arm?resolution=2000").unwrap());
        let body = Body::bind_with(
            character.clone(),
            Stack::muscles(),
            &samples::arm::muscles(),
            ".".as_ref(),
            None,
        )
        .unwrap();
        let plan = Plan::new(character.clip("curl"), &Sampling { fps: Some(8.0), frames: None }).unwrap();
        let history = follow_muscles(&body, &plan).unwrap();
        assert_eq!(history.fibres.len(), 4);
        let drift = history.volume_drift();
        assert!(drift.smooth < 0.005 && drift.sharp < 0.03, "{drift:?}");
        assert!(history.deepest < 1e-3 && history.resets == 0, "{}", history.deepest);
        let text = history.describe();
        assert!(text.contains("biceps brachii, left"), "{text}");
        assert!(history.plots("curl").iter().all(|p| p.series.len() == 4 && p.series[0].points.len() > 4));
        let plain = Body::bind(character.clone(), Stack::implicit(), None).unwrap();
        assert!(follow_muscles(&plain, &plan).is_none());
    }
}

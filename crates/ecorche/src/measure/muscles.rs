//! Muscles over a clip: length, width, volume, activation, tension, and how deep they get into bones.

use crate::deform::{Body, Playback, Workspace};
use crate::output::plot::{Axis, Plot, Series};
use crate::sampling::Plan;
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
}

/// One fibre over a clip.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FibreHistory {
    /// Name with side; with a number for the fibres of a convergent muscle.
    pub name: String,
    /// Frame by frame.
    pub frames: Vec<FibreFrame>,
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
}

/// Frames in which volumes are integrated, when there are many fibres.
const INTEGRATED: usize = 5;
/// Fibres up to which they are integrated in every frame.
const FEW: usize = 8;
/// Most lines in a plot.
const PLOTTED: usize = 10;

/// Plays `plan` and notes what the muscles do; `None` for a body without.
pub fn follow_muscles(body: &Body, plan: &Plan) -> Option<MuscleHistory> {
    let musculature = body.musculature()?;
    let definition = musculature.definition();
    let mut history = MuscleHistory::default();
    let (mut playback, mut workspace) = (Playback::new(body, plan), Workspace::default());
    let stride = (plan.len() / INTEGRATED).max(1);
    for (k, number) in plan.frames.clone().enumerate() {
        let report = playback.advance(number, &mut workspace);
        let flesh = workspace.flesh();
        if history.fibres.is_empty() {
            let name = |m: &crate::muscle::PosedMuscle| {
                let muscle = &definition.muscle[m.muscle];
                let number = if muscle.fibres > 1 { format!(" {}", m.fibre + 1) } else { String::new() };
                FibreHistory { name: muscle.title() + &number, frames: Vec::new() }
            };
            history.fibres = flesh.muscles.iter().map(name).collect();
        }
        let integrate = flesh.muscles.len() <= FEW || k % stride == 0;
        let frames: Vec<FibreFrame> = flesh
            .muscles
            .par_iter()
            .map(|m| FibreFrame {
                time: plan.time(number),
                length: m.field.axis().length(),
                width: m.field.width(),
                volume: integrate.then(|| m.field.integrated_volume(CELLS)),
                activation: m.field.activation(),
                tension: m.tension,
            })
            .collect();
        history.fibres.iter_mut().zip(frames).for_each(|(fibre, frame)| fibre.frames.push(frame));
        history.deepest = history.deepest.max(report.deepest.into());
        history.resets += report.resets;
    }
    Some(history)
}

/// Cells across the thickest place of a muscle whose volume is integrated.
const CELLS: usize = 10;

impl FibreHistory {
    fn range(&self, value: impl Fn(&FibreFrame) -> Option<f64>) -> [f64; 2] {
        let values = self.frames.iter().filter_map(value);
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)])
    }

    /// Largest change of the integrated volume, over the first.
    pub fn volume_drift(&self) -> f64 {
        let mut volumes = self.frames.iter().filter_map(|f| f.volume);
        let Some(first) = volumes.next().filter(|v| *v > 0.0) else { return 0.0 };
        volumes.fold(0.0, |most, v| most.max((v / first - 1.0).abs()))
    }
}

impl MuscleHistory {
    /// Largest change of any fibre's volume.
    pub fn volume_drift(&self) -> f64 {
        self.fibres.iter().map(FibreHistory::volume_drift).fold(0.0, f64::max)
    }

    /// A few lines, and a table of all fibres if there are few, else of those that change most.
    pub fn describe(&self) -> String {
        let mut text = format!(
            "muscles: {} fibres; deepest in a bone {:.2} mm; {} put back; volume drifts by at most {:.2} %\n",
            self.fibres.len(),
            1e3 * self.deepest,
            self.resets,
            100.0 * self.volume_drift(),
        );
        // Writing to a String does not fail.
        let _ = writeln!(
            text,
            "{:38} {:>15} {:>15} {:>8} {:>11}",
            "fibre", "length (mm)", "width (mm)", "drift", "activation"
        );
        for fibre in self.most_changed(PLOTTED) {
            let [l0, l1] = fibre.range(|f| Some(1e3 * f.length));
            let [w0, w1] = fibre.range(|f| Some(1e3 * f.width));
            let [a0, a1] = fibre.range(|f| Some(f.activation));
            let _ = writeln!(
                text,
                "{:38} {:>15} {:>15} {:>8} {:>11}",
                fibre.name,
                format!("{l0:.1} - {l1:.1}"),
                format!("{w0:.1} - {w1:.1}"),
                format!("{:.2} %", 100.0 * fibre.volume_drift()),
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
    use crate::deform::Method;
    use crate::samples;
    use crate::sampling::Sampling;
    use std::sync::Arc;

    #[test]
    fn the_arm_keeps_the_volume_of_its_muscles_over_the_curl() {
        let character = Arc::new(samples::build("arm?resolution=2000").unwrap());
        let body =
            Body::bind_with(character.clone(), Method::Muscles, &samples::arm::muscles(), ".".as_ref(), None)
                .unwrap();
        let plan = Plan::new(character.clip("curl"), &Sampling { fps: Some(8.0), frames: None }).unwrap();
        let history = follow_muscles(&body, &plan).unwrap();
        assert_eq!(history.fibres.len(), 4);
        assert!(history.volume_drift() < 0.03, "{}", history.volume_drift());
        assert!(history.deepest < 1e-3 && history.resets == 0, "{}", history.deepest);
        let text = history.describe();
        assert!(text.contains("biceps brachii, left"), "{text}");
        assert!(history.plots("curl").iter().all(|p| p.series.len() == 4 && p.series[0].points.len() > 4));
        let plain = Body::bind(character.clone(), Method::Implicit, None);
        assert!(follow_muscles(&plain, &plan).is_none());
    }
}

//! From definitions to fibres: where each axis runs at bind, and which bones carry it.
//!
//! A fibre's axis is a cubic curve through its origin, its via points and its insertion. Each of its points is a
//! fixed combination of those few, so it follows the bones at any moment by a weighted sum.

use super::definition::{Attachment, Footprint, MuscleDef};
use crate::dynamics::{Anchor, Rigid};
use glam::DVec3;

/// One fibre at bind.
#[derive(Clone, Debug)]
pub struct Fibre {
    /// Origin, via points, insertion.
    pub controls: Vec<Anchor>,
    /// Points of the axis at bind, evenly spaced, metres.
    pub points: Vec<DVec3>,
    /// `controls.len()` weights per point.
    pub weights: Vec<f64>,
    /// The particle next to each via point.
    pub via: Vec<usize>,
}

/// Points of a muscle closer together than this share of its length count as the same: 0.1 mm of 30 cm.
const LEAST_GAP: f64 = 3e-4;

/// The point of a footprint a share `u` along it, and the bone it is fixed to: that of the nearer end of the
/// piece it lies on. `bone_of` gives a bone's frame by its attachment.
fn on_footprint(
    footprint: &Footprint,
    u: f64,
    bind: &[Rigid],
    bone_of: &impl Fn(&Attachment) -> usize,
) -> (DVec3, usize) {
    let place = |a: &Attachment| bind[bone_of(a)].point(a.at.as_dvec3());
    let points = &footprint.0;
    let lengths: Vec<f64> = points.windows(2).map(|p| place(&p[0]).distance(place(&p[1]))).collect();
    let mut left = u.clamp(0.0, 1.0) * lengths.iter().sum::<f64>();
    for (pair, &length) in points.windows(2).zip(&lengths) {
        if left <= length && length > 0.0 {
            let t = left / length;
            let bone = bone_of(&pair[usize::from(t > 0.5)]);
            return (place(&pair[0]).lerp(place(&pair[1]), t), bone);
        }
        left -= length;
    }
    let last = &points[points.len() - 1];
    (place(last), bone_of(last))
}

/// Weights of the control points at parameter `u` in knots, `knots[k] <= u <= knots[k + 1]`: the cubic that
/// meets the controls with the slopes of parabolas through neighbours.
fn spline_weights(knots: &[f64], u: f64) -> Vec<f64> {
    let last = knots.len() - 1;
    let k = knots.partition_point(|&x| x <= u).clamp(1, last) - 1;
    let d = knots[k + 1] - knots[k];
    let t = ((u - knots[k]) / d).clamp(0.0, 1.0);
    let (t2, t3) = (t * t, t * t * t);
    let mut weights = vec![0.0; knots.len()];
    weights[k] += 2.0 * t3 - 3.0 * t2 + 1.0;
    weights[k + 1] += 3.0 * t2 - 2.0 * t3;
    for (at, share) in [(k, (t3 - 2.0 * t2 + t) * d), (k + 1, (t3 - t2) * d)] {
        // Slope at a control as weights of its neighbours.
        let mut chord = |i: usize, weight: f64| {
            let rate = weight * share / (knots[i + 1] - knots[i]);
            weights[i + 1] += rate;
            weights[i] -= rate;
        };
        if at == 0 {
            chord(0, 1.0);
        } else if at == last {
            chord(last - 1, 1.0);
        } else {
            let (before, after) = (knots[at] - knots[at - 1], knots[at + 1] - knots[at]);
            chord(at, before / (before + after));
            chord(at - 1, after / (before + after));
        }
    }
    weights
}

fn combine(weights: &[f64], controls: &[DVec3]) -> DVec3 {
    weights.iter().zip(controls).fold(DVec3::ZERO, |sum, (w, c)| sum + *w * *c)
}

/// The fibres of a muscle. Names have been checked: `bone_of` gives the frame of an attachment. `None` if a
/// fibre has no length.
pub(crate) fn fibres(
    definition: &MuscleDef,
    bind: &[Rigid],
    bone_of: impl Fn(&Attachment) -> usize,
) -> Option<Vec<Fibre>> {
    let middle = [&definition.origin, &definition.insertion].map(|f| on_footprint(f, 0.5, bind, &bone_of).0);
    let count = definition.fibres.max(1);
    (0..count)
        .map(|f| {
            let u = if count == 1 { 0.5 } else { f as f64 / (count - 1) as f64 };
            let [start, end] =
                [&definition.origin, &definition.insertion].map(|f| on_footprint(f, u, bind, &bone_of));
            let mut places = vec![start];
            for (k, via) in definition.via.iter().enumerate() {
                let share = (k + 1) as f64 / (definition.via.len() + 1) as f64;
                let aside = (start.0 - middle[0]).lerp(end.0 - middle[1], share);
                let bone = bone_of(via);
                places.push((bind[bone].point(via.at.as_dvec3()) + aside, bone));
            }
            places.push(end);
            fibre(&places, definition.particles, bind)
        })
        .collect()
}

fn fibre(places: &[(DVec3, usize)], particles: usize, bind: &[Rigid]) -> Option<Fibre> {
    let controls: Vec<DVec3> = places.iter().map(|p| p.0).collect();
    let mut knots = vec![0.0];
    for pair in controls.windows(2) {
        knots.push(knots[knots.len() - 1] + pair[0].distance(pair[1]));
    }
    let end = knots[knots.len() - 1];
    let apart = |k: &[f64]| k[1] - k[0] > LEAST_GAP * end;
    if !(end > 0.0 && end.is_finite() && knots.windows(2).all(apart)) {
        return None;
    }
    // Even spacing along the curve, from a fine walk over its parameter.
    let fine = 16 * particles;
    let walk: Vec<DVec3> = (0..=fine)
        .map(|i| combine(&spline_weights(&knots, end * i as f64 / fine as f64), &controls))
        .collect();
    let mut upto = vec![0.0];
    for pair in walk.windows(2) {
        upto.push(upto[upto.len() - 1] + pair[0].distance(pair[1]));
    }
    let total = upto[fine];
    let (mut points, mut weights) = (Vec::new(), Vec::new());
    for i in 0..particles {
        let along = total * i as f64 / (particles - 1) as f64;
        let k = upto.partition_point(|&x| x <= along).clamp(1, fine) - 1;
        let t = ((along - upto[k]) / (upto[k + 1] - upto[k]).max(1e-12)).clamp(0.0, 1.0);
        let row = spline_weights(&knots, end * (k as f64 + t) / fine as f64);
        points.push(combine(&row, &controls));
        weights.extend(row);
    }
    let via = (1..controls.len() - 1)
        .map(|c| {
            let near = |i: &usize| points[*i].distance_squared(controls[c]);
            (1..particles - 1).min_by(|a, b| near(a).total_cmp(&near(b))).unwrap_or(1)
        })
        .collect();
    let controls =
        places.iter().map(|&(p, bone)| Anchor { frame: bone, at: bind[bone].point_back(p) }).collect();
    Some(Fibre { controls, points, weights, via })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::muscle::definition::Side;
    use glam::Vec3;

    fn at(x: f32, y: f32, z: f32) -> Attachment {
        Attachment { bone: "a".into(), at: Vec3::new(x, y, z) }
    }

    #[test]
    fn a_fan_spreads_between_its_curves_and_a_via_point_is_passed() {
        let bind = [Rigid::IDENTITY];
        let mut fan = MuscleDef::new(
            "pectoralis",
            Side::Left,
            Footprint(vec![at(0.0, 0.0, 0.0), at(0.0, 0.1, 0.0)]),
            at(0.2, 0.05, 0.0).into(),
            0.03,
        );
        fan.fibres = 5;
        let found = fibres(&fan, &bind, |_| 0).unwrap();
        assert_eq!(found.len(), 5);
        assert!(found[4].points[0].distance(DVec3::Y * 0.1) < 1e-6);
        assert!(found[2].points[0].distance(DVec3::Y * 0.05) < 1e-6);
        assert!(found.iter().all(|f| f.points[15].distance(DVec3::new(0.2, 0.05, 0.0)) < 1e-6));
        fan.fibres = 1;
        fan.via = vec![at(0.1, 0.05, 0.04)];
        let bent = &fibres(&fan, &bind, |_| 0).unwrap()[0];
        let gaps: Vec<f64> = bent.points.windows(2).map(|p| p[0].distance(p[1])).collect();
        assert!(gaps.iter().all(|g| (g / gaps[0] - 1.0).abs() < 0.02), "even: {gaps:?}");
        assert!(bent.points[bent.via[0]].distance(DVec3::new(0.1, 0.05, 0.04)) < 0.01);
        for row in bent.weights.chunks(3) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        fan.insertion = at(0.0, 0.05, 0.0).into();
        fan.via.clear();
        assert!(fibres(&fan, &bind, |_| 0).is_none(), "no length");
    }
}

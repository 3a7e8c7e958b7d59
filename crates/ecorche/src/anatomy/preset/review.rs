//! A check of what was placed: inside the skin, near it where it should be, alike on both sides, as large as in real legs.

use super::Preset;
use super::draft::Room;
use crate::character::Character;
use crate::muscle::definition::Side;
use crate::muscle::{Musculature, PosedMuscle};
use std::collections::BTreeMap;

/// Something odd about a placed muscle.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Name with side, where only one side is meant.
    pub muscle: String,
    /// What is odd.
    pub what: String,
    /// Whether it was put right; else somebody should look.
    pub repaired: bool,
}

/// Muscles that show on a lean body.
const SUPERFICIAL: [&str; 16] = [
    "biceps brachii caput longum",
    "triceps brachii caput laterale",
    "brachioradialis",
    "deltoideus pars clavicularis",
    "deltoideus pars acromialis",
    "deltoideus pars spinalis",
    "pectoralis major pars sternocostalis",
    "latissimus dorsi",
    "trapezius pars descendens",
    "rectus abdominis",
    "gluteus maximus",
    "rectus femoris",
    "vastus lateralis",
    "vastus medialis",
    "gastrocnemius caput mediale",
    "tibialis anterior",
];

/// Volumes of muscles of a leg, cubic centimetres, of somebody of 1.75 m and 75 kg: `b1 (47 height mass + 1285) + b2` with the coefficients
/// of Handsfield et al. Relationships of 35 lower limb muscles to height and body mass quantified using MRI. 2014.
const LEG: [(&str, f64); 18] = [
    ("gluteus maximus", 891.0),
    ("adductor magnus", 586.0),
    ("gluteus medius", 339.0),
    ("sartorius", 173.0),
    ("adductor longus", 171.0),
    ("gracilis", 109.0),
    ("tensor fasciae latae", 70.0),
    ("vastus lateralis", 876.0),
    ("vastus medialis", 454.0),
    ("rectus femoris", 281.0),
    ("semimembranosus", 256.0),
    ("biceps femoris", 321.0),
    ("semitendinosus", 196.0),
    ("soleus", 456.0),
    ("gastrocnemius caput mediale", 269.0),
    ("gastrocnemius caput laterale", 157.0),
    ("tibialis anterior", 140.0),
    ("fibularis longus", 137.0),
];
/// A volume this many times as large as expected, or as small, is odd. Chosen, not tuned: people differ by a factor of two, and muscles that are not in the preset leave their room to others.
const FACTOR: f64 = 3.0;
/// Of the thickness of an arm: a superficial belly deeper than this under the skin is odd.
const DEEP: f32 = 0.35;
/// Of the largest thickness: thicker is belly.
const BELLY: f64 = 0.6;
/// Relative difference of lengths of the two sides.
const UNEVEN: f64 = 0.05;

/// Looks at all muscles; makes those of the leg that are far too thick thinner, and those that are far too thin thicker where there is
/// room.
pub(super) fn review(room: &Room, character: &Character, preset: &mut Preset) -> Vec<Finding> {
    let mut found = Vec::new();
    volumes(room, character, preset, &mut found);
    let Some(body) = room.musculature(character, preset) else { return found };
    let posed = body.at_bind().muscles;
    outside_or_deep(room, &body, &posed, &mut found);
    uneven(&body, &posed, &mut found);
    found
}

/// Volumes of all fibres of each muscle of one side, cubic centimetres.
fn volumes_by_name(body: &Musculature, side: Side) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for muscle in body.at_bind().muscles {
        let definition = &body.definition().muscle[muscle.muscle];
        if definition.side == side {
            *sums.entry(definition.name.clone()).or_insert(0.0) += 1e6 * muscle.shape.volume();
        }
    }
    sums
}

fn volumes(room: &Room, character: &Character, preset: &mut Preset, found: &mut Vec<Finding>) {
    let Some(body) = room.musculature(character, preset) else { return };
    let own = volumes_by_name(&body, room.side);
    let both: Vec<(&str, f64, f64)> =
        LEG.iter().filter_map(|&(name, expected)| Some((name, *own.get(name)?, expected))).collect();
    // Bodies differ in size, and some are giants: what counts is the share of the leg.
    let mut ratios: Vec<f64> = both.iter().map(|(_, volume, expected)| volume / expected).collect();
    ratios.sort_by(f64::total_cmp);
    let Some(&usual) = ratios.get(ratios.len() / 2) else { return };
    let before = preset.clone();
    let mut changed = Vec::new();
    for (name, volume, expected) in both {
        let share = volume / (usual * expected);
        if share <= FACTOR && share >= FACTOR.recip() {
            continue;
        }
        let wanted = (if share > 1.0 { FACTOR / share } else { 1.0 / (FACTOR * share) }).sqrt() as f32;
        for (k, muscle) in preset.body.muscle.iter_mut().enumerate().filter(|(_, m)| m.name == name) {
            muscle.width = room.width(muscle.width * wanted);
            changed.push((k, share, muscle.width));
        }
    }
    // What was made thicker may have left the skin.
    room.shrink_to_skin(character, preset);
    if preset.skipped.len() > before.skipped.len() {
        *preset = before;
        return;
    }
    for (k, share, wanted) in changed {
        let muscle = &preset.body.muscle[k];
        let what = format!("has {share:.2} times the volume it has in other legs of that size");
        let repaired = share > 1.0 || muscle.width > 0.98 * wanted;
        let more = if !repaired && muscle.width > 1.01 * before.body.muscle[k].width {
            "; there is room for a part of it only"
        } else {
            ""
        };
        found.push(Finding { muscle: muscle.name.clone(), what: what + more, repaired });
    }
}

fn outside_or_deep(room: &Room, body: &Musculature, posed: &[PosedMuscle], found: &mut Vec<Finding>) {
    // Of each muscle: how deep its nearest belly lies, and how far its worst axis is outside, metres.
    let mut depths: BTreeMap<usize, [f32; 2]> = BTreeMap::new();
    for muscle in posed {
        let (shape, points) = (&muscle.shape, muscle.shape.axis_points());
        let last = points.len().max(2) - 1;
        let radius = |k: usize| shape.contact_radius(k as f64 / last as f64);
        let thickest = (0..=last).map(radius).fold(0.0, f64::max);
        let known = depths.entry(muscle.muscle).or_insert([f32::MAX, 0.0]);
        for (k, p) in points.iter().enumerate() {
            let thickness = radius(k);
            let clearance = room.probe.clearance(p.as_vec3()).0;
            if thickness > BELLY * thickest {
                known[0] = known[0].min(clearance - thickness as f32);
            }
            known[1] = known[1].max(-clearance);
        }
    }
    let (deep, scale) = (DEEP * room.margin / 0.05, 1e3);
    for (index, [depth, outside]) in depths {
        let muscle = &body.definition().muscle[index];
        let mut odd = |what: String| {
            found.push(Finding { muscle: muscle.title(), what, repaired: false });
        };
        if outside > room.margin {
            odd(format!("runs outside the skin, by up to {:.1} mm", scale * outside));
        }
        if depth > deep && depth < f32::MAX && SUPERFICIAL.contains(&muscle.name.as_str()) {
            odd(format!("lies {:.0} mm under the skin and will hardly show", scale * depth));
        }
    }
}

fn uneven(body: &Musculature, posed: &[PosedMuscle], found: &mut Vec<Finding>) {
    let mut lengths: BTreeMap<(String, usize), [f64; 2]> = BTreeMap::new();
    for muscle in posed {
        let definition = &body.definition().muscle[muscle.muscle];
        let at = match definition.side {
            Side::Left => 0,
            Side::Right => 1,
            Side::Middle => continue,
        };
        lengths.entry((definition.name.clone(), muscle.fibre)).or_insert([0.0; 2])[at] =
            muscle.shape.length();
    }
    let mut named: Option<String> = None;
    for ((name, _), [left, right]) in lengths {
        let is_uneven = left > 0.0 && right > 0.0 && (left - right).abs() > UNEVEN * left.max(right);
        if is_uneven && named.as_ref() != Some(&name) {
            let what =
                format!("is {:.0} mm long on the left and {:.0} on the right", 1e3 * left, 1e3 * right);
            found.push(Finding { muscle: name.clone(), what, repaired: false });
            named = Some(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{place, room_of};
    use super::*;
    use crate::anatomy::preset::probe::Probe;
    use crate::samples;

    #[test]
    fn the_athlete_is_sound_and_a_starved_muscle_gets_its_volume() {
        let character = samples::build("athlete?resolution=5000").unwrap();
        let preset = place(&character);
        let odd: Vec<&Finding> = preset.findings.iter().filter(|f| !f.repaired).collect();
        assert!(odd.is_empty(), "{odd:#?}");
        let probe = Probe::new(&character).unwrap();
        let frames = crate::anatomy::BindFrames::of(&character);
        let room = room_of(&character, &probe, &frames).unwrap().0;
        let mut starved = preset.clone();
        let gracilis = starved.body.muscle.iter_mut().find(|m| m.name == "gracilis").unwrap();
        let before = gracilis.width;
        gracilis.width *= 0.3;
        let found = review(&room, &character, &mut starved);
        let gracilis = starved.body.muscle.iter().find(|m| m.name == "gracilis").unwrap();
        assert!(found.iter().any(|f| f.muscle == "gracilis" && f.repaired), "{found:#?}");
        assert!(gracilis.width > 0.31 * before && gracilis.width < before, "{} {before}", gracilis.width);
    }
}

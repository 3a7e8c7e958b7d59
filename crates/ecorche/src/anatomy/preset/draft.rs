//! A muscle as an anatomist describes it, and how it is fitted under a skin.

use super::Preset;
use super::probe::Probe;
use crate::anatomy::{Anatomy, BindFrames};
use crate::character::{Character, Skeleton};
use crate::dynamics::Rigid;
use crate::muscle::definition::{
    Attachment, FatDef, Footprint, MuscleDef, ProfileDef, ProfilesDef, Side, SinesDef,
};
use crate::muscle::fibre::fibres;
use crate::muscle::{ActiveProfile, Musculature, Profiles, Shape};
use glam::Vec3;
use rayon::prelude::*;

/// A place in bind space that a joint carries.
pub type Spot = (usize, Vec3);

/// A muscle before it is fitted.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Latin name.
    pub name: &'static str,
    /// A point or a curve.
    pub origin: Vec<Spot>,
    /// A point or a curve.
    pub insertion: Vec<Spot>,
    /// Points on the way.
    pub via: Vec<Spot>,
    /// Fibres between curves.
    pub fibres: usize,
    /// Half thickness of the belly (of each fibre), metres, if there is room.
    pub radius: f32,
    /// Of the section; flat sheets have 0.8 and more.
    pub eccentricity: f32,
    /// How thickness is spread when slack and when tense.
    pub profile: [ProfileDef; 2],
    /// Share of each end that is tendon.
    pub tendon: f32,
}

impl Draft {
    /// A spindle between two points.
    pub fn spindle(name: &'static str, origin: Spot, via: Vec<Spot>, insertion: Spot, radius: f32) -> Self {
        Self {
            name,
            origin: vec![origin],
            insertion: vec![insertion],
            via,
            fibres: 1,
            radius,
            eccentricity: 0.5,
            profile: bunched([3, 3]),
            tendon: 0.1,
        }
    }

    /// A sheet of `fibres` flat fibres between curves.
    pub fn sheet(
        name: &'static str,
        origin: Vec<Spot>,
        via: Vec<Spot>,
        insertion: Vec<Spot>,
        fibres: usize,
        radius: f32,
    ) -> Self {
        Self {
            name,
            origin,
            insertion,
            via,
            fibres,
            radius,
            eccentricity: 0.8,
            profile: [strap(), ProfileDef::Beta([2, 2])],
            tendon: 0.05,
        }
    }

    /// With the belly elsewhere.
    pub fn shaped(self, rest: [u8; 2]) -> Self {
        Self { profile: bunched(rest), ..self }
    }

    /// As thick near the ends as in the middle.
    pub fn strap(self) -> Self {
        Self { profile: [strap(), ProfileDef::Beta([2, 2])], ..self }
    }

    /// Flatter or rounder.
    pub fn flat(self, eccentricity: f32) -> Self {
        Self { eccentricity, ..self }
    }

    /// With longer tendons.
    pub fn tendon(self, tendon: f32) -> Self {
        Self { tendon, ..self }
    }
}

/// A slack profile and its tense one: both powers doubled, so that the belly stays where it is and bunches. At the same length it gets 17 %
/// thicker. With one power raised by one it was 4 to 6 %, nothing for deltoids, and hardly a muscle showed.
fn bunched(rest: [u8; 2]) -> [ProfileDef; 2] {
    [rest, rest.map(|power| 2 * power - 1)].map(ProfileDef::Beta)
}

/// A profile with a long even middle.
fn strap() -> ProfileDef {
    ProfileDef::Sines(SinesDef { sines: vec![1.0, 0.0, 0.2] })
}

/// What a draft is fitted into.
pub struct Room<'a> {
    /// The skin.
    pub probe: &'a Probe,
    /// The joints.
    pub skeleton: &'a Skeleton,
    /// Their frames.
    pub frames: &'a BindFrames,
    /// Least distance kept from the skin, metres.
    pub margin: f32,
    /// Which side is drafted.
    pub side: Side,
    /// Whether the other side is there too.
    pub mirror: bool,
}

/// A muscle's way through a body.
pub struct Shaped {
    /// Of the middle fibre, metres.
    pub length: f32,
    /// The largest width of a fibre that stays inside the skin, metres; 0 if its axis does not.
    pub widest: f32,
}

/// Stations along an axis at which room is measured.
const STATIONS: usize = 20;
/// Directions about a station.
const DIRECTIONS: usize = 12;
/// Below this share of the wanted width a muscle is not placed. Chosen, not tuned.
const LEAST_WIDTH: f32 = 0.2;
/// Most rounds of narrowing.
const MOST_SHRINKS: usize = 4;
const NO_ROOM: &str = "no room for it between bone and skin";
/// Share of the free distance to the skin that a muscle may fill.
const FILL: f32 = 0.9;
/// Most points added to keep an axis inside.
const MOST_ADDED: usize = 3;
/// Rounds in which a fat pad is made narrower.
const FAT_ROUNDS: usize = 8;
/// Most moves tried to keep the fibres of a muscle inside. Chosen, not tuned.
const MOST_MOVES: usize = 24;

impl Room<'_> {
    /// Moves the draft's points under the skin and makes it as wide as wanted or as fits.
    pub fn fit(&self, draft: &Draft) -> Result<MuscleDef, String> {
        let flatness = (1.0 - draft.eccentricity * draft.eccentricity).powf(0.25);
        let thin = draft.radius * flatness;
        let ends = |spots: &[Spot]| -> Vec<Spot> {
            spots
                .iter()
                .map(|&(joint, p)| (joint, self.probe.settle(p, 1.5 * self.margin, 6.0 * draft.radius)))
                .collect()
        };
        let mut fitted =
            Draft { origin: ends(&draft.origin), insertion: ends(&draft.insertion), ..draft.clone() };
        for spot in &mut fitted.via {
            spot.1 = self.probe.settle(spot.1, thin + self.margin, 2.0 * draft.radius);
        }
        let [rest, active] = draft.profile.clone();
        let profiles = Profiles::from_definition(&ProfilesDef { rest, active }).map_err(|e| e.to_string())?;
        let shape = profiles.at(0.0);
        let apart = || "its points fall together".to_owned();
        self.keep_inside(&mut fitted, thin, &shape).ok_or_else(apart)?;
        let axes = axes(&fitted, fitted.fibres).ok_or_else(apart)?;
        let wanted = draft.radius / shape.peak() as f32;
        let wide_axis = self.wide_axis(&axes[axes.len() / 2]);
        let limits = axes.iter().map(|axis| self.width_limit(axis, wide_axis, &shape, flatness));
        let width = limits.fold(wanted, f32::min);
        if width < LEAST_WIDTH * wanted {
            return Err(NO_ROOM.to_owned());
        }
        Ok(self.definition(&fitted, width, wide_axis))
    }

    /// Length and room of a draft as it is; `None` if points coincide.
    pub fn shaped(&self, draft: &Draft) -> Option<Shaped> {
        let [rest, active] = draft.profile.clone();
        let profiles = Profiles::from_definition(&ProfilesDef { rest, active }).ok()?;
        let shape = profiles.at(0.0);
        let flatness = (1.0 - draft.eccentricity * draft.eccentricity).powf(0.25);
        let axes = axes(draft, draft.fibres)?;
        let middle = &axes[axes.len() / 2];
        let wide_axis = self.wide_axis(middle);
        let limits = axes.iter().map(|axis| self.width_limit(axis, wide_axis, &shape, flatness));
        Some(Shaped {
            length: middle.windows(2).map(|p| p[0].distance(p[1])).sum(),
            widest: limits.fold(f32::MAX, f32::min),
        })
    }

    /// Moves the points of a muscle of this width under the skin, and adds points where there are none to move.
    pub fn bring_inside(&self, draft: &mut Draft, width: f32) -> Option<()> {
        let [rest, active] = draft.profile.clone();
        let profiles = Profiles::from_definition(&ProfilesDef { rest, active }).ok()?;
        let shape = profiles.at(0.0);
        let flatness = (1.0 - draft.eccentricity * draft.eccentricity).powf(0.25);
        draft.radius = width * shape.peak() as f32 / (draft.fibres.max(1) as f32).sqrt();
        self.keep_inside(draft, draft.radius * flatness, &shape)
    }

    /// Moves the points of fibres that come too near the skin, and adds points where there are none to move.
    fn keep_inside(&self, draft: &mut Draft, thin: f32, shape: &ActiveProfile) -> Option<()> {
        let most = draft.via.len() + MOST_ADDED;
        for _ in 0..MOST_MOVES {
            let mut worst: Option<(f32, f32, Vec3, f32)> = None;
            for axis in axes(draft, draft.fibres)? {
                for k in 1..STATIONS {
                    let share = k as f32 / STATIONS as f32;
                    let p = point_at(&axis, share);
                    let need = self.margin + 0.6 * thin * relative(shape, share);
                    let missing = need - self.probe.clearance(p).0;
                    if missing > worst.map_or(0.05 * self.margin, |w| w.0) {
                        worst = Some((missing, share, p, need));
                    }
                }
            }
            let Some((_, share, p, need)) = worst else { break };
            let push = self.probe.settle(p, need, 4.0 * draft.radius) - p;
            if push.length() < 0.02 * self.margin {
                break;
            }
            self.push(draft, share, p, push, most)?;
        }
        Some(())
    }

    /// Moves what shapes the axis at `share`, near `p`.
    fn push(&self, draft: &mut Draft, share: f32, p: Vec3, push: Vec3, most: usize) -> Option<()> {
        let middle = middle_points(draft);
        let shares = share_of_points(&middle);
        let last = shares.len() - 1;
        let near =
            (0..=last).min_by(|&a, &b| (shares[a] - share).abs().total_cmp(&(shares[b] - share).abs()));
        let near = near.unwrap_or(0);
        let far = (shares[near] - share).abs();
        if (near == 0 || near == last) && far < 0.1 {
            let curve = if near == 0 { &mut draft.origin } else { &mut draft.insertion };
            let closest = curve.iter_mut().min_by(|a, b| a.1.distance(p).total_cmp(&b.1.distance(p)));
            if let Some(spot) = closest {
                spot.1 += push;
            }
        } else if (1..last).contains(&near) && (far < 0.15 || draft.via.len() >= most) {
            draft.via[near - 1].1 += push;
        } else if draft.via.len() < most {
            let at = shares.iter().filter(|s| **s < share).count().clamp(1, last);
            let owners: Vec<usize> = [draft.origin[0].0]
                .into_iter()
                .chain(draft.via.iter().map(|v| v.0))
                .chain([draft.insertion[0].0])
                .collect();
            let axis = axes(draft, 1)?.pop()?;
            let place = point_at(&axis, share) + push;
            // It moves with the skin over it: a place a muscle passes in the armpit stays there when the arm turns.
            let line = |joint: usize| {
                std::iter::successors(Some(joint), |&j| self.skeleton.joints[j].parent)
                    .take(self.skeleton.len())
            };
            let may = |joint: usize| owners.iter().any(|&owner| line(owner).any(|j| j == joint));
            let nearer =
                if share - shares[at - 1] < shares[at] - share { owners[at - 1] } else { owners[at] };
            let owner = self.probe.carrier(place, may).unwrap_or(nearer);
            draft.via.insert(at - 1, (owner, place));
        }
        Some(())
    }

    /// Direction along the skin and across the axis at the belly: the section's wide axis.
    fn wide_axis(&self, axis: &[Vec3]) -> Vec3 {
        let middle = point_at(axis, 0.5);
        let along = (point_at(axis, 0.55) - point_at(axis, 0.45)).normalize_or(Vec3::Y);
        let outward = (self.probe.clearance(middle).1 - middle).normalize_or(Vec3::Z);
        along.cross(outward).try_normalize().unwrap_or_else(|| along.any_orthonormal_vector())
    }

    /// The largest width with which a fibre stays inside.
    fn width_limit(&self, axis: &[Vec3], wide_axis: Vec3, shape: &ActiveProfile, flatness: f32) -> f32 {
        let mut limit = f32::MAX;
        for k in 1..STATIONS {
            let share = k as f32 / STATIONS as f32;
            // Thin ends may touch what the belly may not.
            if relative(shape, share) < 0.2 {
                continue;
            }
            let thickness = shape.value(share.into()).0 as f32;
            let p = point_at(axis, share);
            if !self.probe.inside(p) {
                return 0.0;
            }
            let along = (point_at(axis, share + 0.02) - point_at(axis, share - 0.02)).normalize_or(Vec3::Y);
            let long = wide_axis
                .reject_from_normalized(along)
                .try_normalize()
                .unwrap_or_else(|| along.any_orthonormal_vector());
            let short = along.cross(long);
            for d in 0..DIRECTIONS {
                let (sin, cos) = (std::f32::consts::TAU * d as f32 / DIRECTIONS as f32).sin_cos();
                let radius = 1.0 / (flatness * cos).hypot(sin / flatness);
                let wanted = radius * thickness;
                if let Some(free) = self.probe.exit(p, long * cos + short * sin, f32::MAX) {
                    limit = limit.min((FILL * free).min(free - 0.5 * self.margin).max(0.0) / wanted);
                }
            }
        }
        limit
    }

    /// Places are rounded to this, so that people can read them: a tenth of a millimetre on an adult, whose margin is 2 to
    /// 3 mm.
    fn step(&self) -> f64 {
        10f64.powf((f64::from(self.margin).log10().floor() - 1.0).min(0.0))
    }

    /// A width as it is written: rounded down.
    pub fn width(&self, width: f32) -> f32 {
        down(width, 0.1 * self.step())
    }

    /// A place as it is written.
    pub fn attachment(&self, (joint, p): Spot) -> Attachment {
        Attachment {
            bone: self.skeleton.joints[joint].name.clone(),
            at: rounded(self.frames.to_bone(joint, p), self.step()),
        }
    }

    fn definition(&self, draft: &Draft, width: f32, wide_axis: Vec3) -> MuscleDef {
        let footprint = |spots: &[Spot]| Footprint(spots.iter().map(|&spot| self.attachment(spot)).collect());
        let [rest, active] = draft.profile.clone();
        let origin_bone = self.frames.bind_from_bone[draft.origin[0].0].inverse();
        MuscleDef {
            mirror: self.mirror,
            via: draft.via.iter().map(|&spot| self.attachment(spot)).collect(),
            fibres: draft.fibres,
            eccentricity: draft.eccentricity,
            wide_axis: Some(rounded(origin_bone.transform_vector3(wide_axis), 1e-4)),
            profile: ProfilesDef { rest, active },
            tendon: draft.tendon,
            ..MuscleDef::new(
                draft.name,
                self.side,
                footprint(&draft.origin),
                footprint(&draft.insertion),
                self.width(width * (draft.fibres as f32).sqrt()),
            )
        }
    }

    /// Tunes every muscle to its size.
    pub fn tune(&self, character: &Character, preset: &mut Preset) {
        let scale = self.musculature(character, preset).map_or(1.0, |m| m.scale() as f32);
        for muscle in &mut preset.body.muscle {
            let place = |a: &Attachment| {
                self.skeleton.find(&a.bone).map_or(Vec3::ZERO, |joint| self.frames.to_bind(joint, a.at))
            };
            let middle = |f: &Footprint| f.0.iter().map(place).sum::<Vec3>() / f.0.len().max(1) as f32;
            let way: Vec<Vec3> = std::iter::once(middle(&muscle.origin))
                .chain(muscle.via.iter().map(place))
                .chain(std::iter::once(middle(&muscle.insertion)))
                .collect();
            let length: f32 = way.windows(2).map(|p| p[0].distance(p[1])).sum();
            muscle.tune(length, scale);
        }
    }

    /// All muscles placed so far, at bind; `None` if they cannot be built.
    pub fn musculature(&self, character: &Character, preset: &Preset) -> Option<Musculature> {
        let anatomy = Anatomy { body: preset.body.clone(), ..Anatomy::default() };
        let (full, bind) = (anatomy.in_full(character), &self.frames.bind_from_bone);
        Musculature::new(&full, self.skeleton, bind, ".".as_ref(), Vec::new()).ok()
    }

    /// Narrows the muscles that still reach a vertex or the middle of a triangle of the skin, on either side of the body: room
    /// was measured at some places of one side only. Muscles that would become too thin are removed.
    pub fn shrink_to_skin(&self, character: &Character, preset: &mut Preset) {
        let wanted: Vec<f32> = preset.body.muscle.iter().map(|m| m.width).collect();
        for _ in 0..MOST_SHRINKS {
            let Some(musculature) = self.musculature(character, preset) else { return };
            let full = musculature.definition();
            let posed = musculature.at_bind().muscles;
            let shares: Vec<f32> = posed.par_iter().map(|muscle| self.share_inside(&muscle.shape)).collect();
            let mut changed = false;
            for (posed, share) in posed.iter().zip(shares).filter(|(_, share)| *share < 1.0) {
                let name = &full.muscle[posed.muscle].name;
                for muscle in preset.body.muscle.iter_mut().filter(|m| m.name == *name) {
                    muscle.width = self.width(muscle.width * share);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let thin = |k: usize, width: f32| width < LEAST_WIDTH * wanted[k];
        let muscles = std::mem::take(&mut preset.body.muscle);
        for (k, muscle) in muscles.into_iter().enumerate() {
            if thin(k, muscle.width) {
                preset.skip(&muscle.name, NO_ROOM);
            } else {
                preset.body.muscle.push(muscle);
            }
        }
    }

    /// The share of its width a fibre may have without reaching such a place of the skin.
    fn share_inside(&self, muscle: &Shape) -> f32 {
        let reach = 4.0 * muscle.width();
        let share = |v: Vec3| {
            let v = v.as_dvec3();
            let distance = muscle.near(v, reach)?.distance;
            let from_axis = v.distance(muscle.foot(v, reach)?.1);
            (distance <= 0.0).then(|| FILL * (from_axis / (from_axis - distance)) as f32)
        };
        self.probe.points().filter_map(share).fold(1.0, f32::min)
    }

    /// A fat pad at `middle`, its half axes along `axes` as long as wanted or as fit.
    pub fn fit_fat(
        &self,
        name: &str,
        (joint, middle): Spot,
        axes: [Vec3; 3],
        radii: Vec3,
        paired: bool,
    ) -> Result<FatDef, String> {
        let middle = self.probe.settle(middle, radii.min_element(), radii.max_element());
        let wanted = radii.min_element();
        let mut radii = radii;
        for round in 0..FAT_ROUNDS {
            let mut narrow = Vec3::ONE;
            for k in 0..26 {
                // The directions of a cube's neighbours.
                let cell = if k < 13 { k } else { k + 1 };
                let d =
                    Vec3::new((cell % 3) as f32 - 1.0, (cell / 3 % 3) as f32 - 1.0, (cell / 9) as f32 - 1.0)
                        .normalize();
                let surface =
                    axes[0] * (d.x * radii.x) + axes[1] * (d.y * radii.y) + axes[2] * (d.z * radii.z);
                let Some(free) = self.probe.exit(middle, surface.normalize_or(Vec3::Z), f32::MAX) else {
                    continue;
                };
                let share = (FILL * free / surface.length().max(f32::MIN_POSITIVE)).min(1.0);
                // Narrower where there is no room; in the last round whatever its direction.
                let along = if round + 1 < FAT_ROUNDS { d * d } else { Vec3::ONE };
                narrow = narrow.min(Vec3::ONE - (1.0 - share) * along);
            }
            radii *= narrow;
        }
        let scale = radii.min_element() / wanted;
        if !self.probe.inside(middle) || scale < LEAST_WIDTH {
            return Err("no room for it under the skin".to_owned());
        }
        let bone = self.frames.bind_from_bone[joint].inverse();
        let Attachment { bone: name_of_bone, at } = self.attachment((joint, middle));
        let side = if paired { self.side } else { Side::Middle };
        Ok(FatDef {
            mirror: paired && self.mirror,
            axes: Some([axes[0], axes[1]].map(|axis| rounded(bone.transform_vector3(axis), 1e-4))),
            ..FatDef::new(name, side, &name_of_bone, at, radii.map(|r| down(r, 0.1 * self.step())))
        })
    }
}

/// To a multiple of a power of ten.
fn rounded(v: Vec3, step: f64) -> Vec3 {
    let per = step.recip().round();
    v.map(|x| {
        let x = (f64::from(x) * per).round() / per;
        // Not minus zero.
        x as f32 + 0.0
    })
}

/// Down to one above zero.
fn down(x: f32, step: f64) -> f32 {
    let per = step.recip().round();
    ((f64::from(x) * per).floor().max(1.0) / per) as f32
}

/// Thickness over the largest.
fn relative(shape: &ActiveProfile, share: f32) -> f32 {
    (shape.value(share.into()).0 / shape.peak()) as f32
}

/// Axes of the fibres as the muscle will have them, or of `fibres` fibres; `None` if points coincide.
fn axes(draft: &Draft, count: usize) -> Option<Vec<Vec<Vec3>>> {
    // One frame for all bones: places are in bind space already.
    let spots = |spots: &[Spot]| -> Vec<Attachment> {
        spots.iter().map(|&(_, at)| Attachment { bone: String::new(), at }).collect()
    };
    let ends = [&draft.origin, &draft.insertion].map(|end| Footprint(spots(end)));
    let [origin, insertion] = ends;
    let muscle = MuscleDef {
        via: spots(&draft.via),
        fibres: count,
        ..MuscleDef::new(draft.name, Side::Middle, origin, insertion, 1.0)
    };
    let found = fibres(&muscle, &[Rigid::IDENTITY], |_| 0)?;
    Some(found.iter().map(|fibre| fibre.points.iter().map(|p| p.as_vec3()).collect()).collect())
}

/// Middle of the origin, points on the way, middle of the insertion.
fn middle_points(draft: &Draft) -> Vec<Vec3> {
    let middle = |end: &[Spot]| end.iter().map(|spot| spot.1).sum::<Vec3>() / end.len() as f32;
    let via = draft.via.iter().map(|spot| spot.1);
    [middle(&draft.origin)].into_iter().chain(via).chain([middle(&draft.insertion)]).collect()
}

/// Share of the length at each point of a polyline.
fn share_of_points(points: &[Vec3]) -> Vec<f32> {
    let mut lengths = vec![0f32];
    for pair in points.windows(2) {
        lengths.push(lengths[lengths.len() - 1] + pair[0].distance(pair[1]));
    }
    let whole = lengths[lengths.len() - 1].max(f32::MIN_POSITIVE);
    lengths.iter().map(|l| l / whole).collect()
}

fn point_at(points: &[Vec3], share: f32) -> Vec3 {
    let shares = share_of_points(points);
    let k = shares.iter().filter(|s| **s <= share).count().clamp(1, points.len() - 1);
    let width = (shares[k] - shares[k - 1]).max(f32::MIN_POSITIVE);
    points[k - 1].lerp(points[k], ((share - shares[k - 1]) / width).clamp(0.0, 1.0))
}

//! Muscles and fat of a body: under which skin each lies, and how they move from frame to frame.
//!
//! A muscle moves the skin it lies under at bind. One that crosses a joint belongs to the parts on both sides, to each where it
//! lies under that part's skin. A fat pad displaces the flesh of its parts.
//!
//! Based on: Roussellet. Doctoral thesis. 2018, chapter 6.
//! Differs in: muscles do not join the fields of the skin; skinned positions are lifted by as much as the muscles approach them.

use super::fleshed::{PartFibre, UnderSkin};
use super::layers::{PartPads, PosedFibre, PosedLayers, PosedPad, on_stations};
use super::{MuscleSettings, State};
use crate::anatomy::{BindFrames, Grooves};
use crate::character::Character;
use crate::dynamics::{self, Keep, Obstacle, Report, Rigid, SignedDistance};
use crate::field::falloff::STEEPNESS;
use crate::field::{Field, Grid};
use crate::muscle::definition::BodyDef;
use crate::muscle::{self, BuildError, Motion, Musculature, Near};
use crate::parts::{FOLLOWS, Part, Parts};
use crate::skinning::Surface;
use crate::tracking::robust;
use glam::{Affine3A, DVec3, Vec3};
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Stations along a muscle at which its share in a part is stored.
const STATIONS: usize = 17;
/// A part with at least this share of the skin around a station of a muscle owns all of the muscle there.
const FULL_SHARE: f32 = 0.2;
/// Share of its largest thickness below which a muscle is tendon, which belongs to no part; above twice this it is all
/// muscle. With 0 the tendons of mh_base's forearms, which reach 14 mm around them, moved its thumbs by up to 19 mm.
const TENDON: f64 = 0.3;
/// A muscle does not move skin that is farther from it at bind than this, in inner radii of the part.
const DEEPEST: f64 = 1.5;
/// Length of a step before the first frame, seconds.
const PRE_ROLL_STEP: f32 = 1.0 / 24.0;
/// Metres at human size: muscles and fat that all move less than this in such a step, from rest, have settled. The skin shows a tenth of a
/// millimetre; the rest of a motion that halves with every step is as much again.
const SETTLED: f64 = 2e-5;
/// Frames farther apart than this, seconds, do not belong to one motion.
const LONGEST_STEP: f32 = 0.5;

/// Muscles and fat made ready.
#[derive(Debug)]
pub(super) struct Flesh {
    musculature: Musculature,
    /// Bind space from the coordinates of each joint's bone.
    bind_from_bone: Vec<Affine3A>,
    /// Of each fibre: how much of it is belly and not tendon, at even stations.
    bellies: Vec<Arc<[f32]>>,
    /// Of each fibre: the vertices of the surface it lies under, and its share there.
    shares: Vec<Vec<(u32, f32)>>,
    /// Of each part: the fat pads that displace its flesh, and the fibres that lie in it.
    pads: Vec<Vec<usize>>,
    in_parts: Arc<[Arc<[PartFibre]>]>,
}

impl Flesh {
    pub fn new(
        character: &Character,
        surface: &Surface,
        parts: &Parts,
        (definition, folder): (&BodyDef, &Path),
    ) -> Result<Self, BuildError> {
        let bind_from_bone = BindFrames::of(character).bind_from_bone;
        let skins = parts.parts.iter().map(|part| {
            let frame = part.joint as usize;
            Skin::obstacle(part, frame, Rigid::from_affine(bind_from_bone[frame]))
        });
        let skins: Vec<Obstacle> = skins.collect();
        let musculature = Musculature::new(definition, &character.skeleton, &bind_from_bone, folder, skins)?;
        let Under { bellies, shares, pads, in_parts } = under(character, surface, parts, &musculature);
        Ok(Self { musculature, bind_from_bone, bellies, shares, pads, in_parts })
    }

    pub fn musculature(&self) -> &Musculature {
        &self.musculature
    }

    /// The layers at rest.
    pub fn at_rest(&self, blend: Grooves) -> robust::RestLayers {
        let flesh = self.musculature.at_bind();
        let definition = &self.musculature.definition().muscle;
        robust::RestLayers {
            gains: flesh.muscles.iter().map(|m| definition[m.muscle].definition).collect(),
            rounds_grooves: blend == Grooves::Fillet,
            layers: Arc::new(self.layers(&flesh)),
            shares: self.shares.clone(),
        }
    }

    /// The layers of a moment.
    pub fn layers(&self, flesh: &muscle::Flesh) -> PosedLayers {
        let fibre = |(muscle, belly): (&muscle::PosedMuscle, &Arc<[f32]>)| PosedFibre {
            table: muscle.shape.table(),
            belly: belly.clone(),
        };
        let pads = |pads: &Vec<usize>| {
            PartPads::new(pads.iter().filter_map(|&pad| PosedPad::new(&flesh.fat[pad])).collect())
        };
        PosedLayers {
            fibres: flesh.muscles.par_iter().zip(&self.bellies).map(fibre).collect(),
            pads: self.pads.iter().map(pads).collect(),
        }
    }

    /// What lies in the parts in a moment, as their fields take it.
    pub fn under_skin(&self, flesh: &muscle::Flesh, grooves: Grooves) -> UnderSkin {
        UnderSkin { layers: Arc::new(self.layers(flesh)), fibres: self.in_parts.clone(), grooves }
    }

    fn frames(&self, posed_from_bind: &[Affine3A]) -> Vec<Affine3A> {
        posed_from_bind.iter().zip(&self.bind_from_bone).map(|(&posed, &bone)| posed * bone).collect()
    }

    /// Muscles and fat in a pose, independent of earlier frames. At bind if a joint has no finite matrix.
    pub fn pose(&self, posed_from_bind: &[Affine3A]) -> Moment {
        let frames = self.frames(posed_from_bind);
        let flesh = if frames.iter().all(Affine3A::is_finite) {
            self.musculature.pose(&self.musculature.at_rest(&frames))
        } else {
            self.musculature.at_bind()
        };
        Moment { flesh, report: Report::default() }
    }

    /// Moves muscles and fat to the pose at `time`, seconds. If a joint has no finite matrix they stay where they are.
    pub fn step(
        &self,
        posed_from_bind: &[Affine3A],
        time: f32,
        settings: &MuscleSettings,
        state: &mut State,
        workspace: &mut muscle::Workspace,
    ) -> Moment {
        let frames = self.frames(posed_from_bind);
        if !frames.iter().all(Affine3A::is_finite) {
            let last = state.flesh.as_ref();
            let flesh = last.map_or_else(|| self.musculature.at_bind(), |(_, s)| self.musculature.pose(s));
            return Moment { flesh, report: Report::default() };
        }
        let controls = state.clip.as_ref().map_or(Vec::new(), |clip| self.musculature.controls(clip, time));
        let running = state.flesh.take().filter(|(last, before)| {
            let dt = time - last;
            let held = dt == 0.0
                && before.particles().frames.iter().zip(&frames).all(|(a, &b)| *a == Rigid::from_affine(b));
            held || (dt > 0.0 && dt <= LONGEST_STEP)
        });
        let mut report = Report::default();
        let mut advance = |state: &mut muscle::State, dt: f32, settings: &MuscleSettings| {
            let settings = settings.of_step(dt);
            report = self.musculature.step(state, &frames, &controls, dt, &settings, workspace);
        };
        let (mut moving, dt) = match running {
            Some((last, state)) => (state, time - last),
            None => {
                let mut state = self.musculature.at_rest(&frames);
                let steps = (settings.pre_roll / PRE_ROLL_STEP).ceil().clamp(0.0, 1000.0) as usize;
                let mut calming = *settings;
                calming.dynamics.sleeps = false;
                for _ in 0..steps {
                    let before = state.clone();
                    advance(&mut state, PRE_ROLL_STEP, &calming);
                    state.calm();
                    if state.is_within(&before, SETTLED * self.musculature.scale()) {
                        break;
                    }
                }
                (state, 0.0)
            }
        };
        if dt > 0.0 {
            advance(&mut moving, dt, settings);
        }
        let flesh = self.musculature.pose(&moving);
        state.flesh = Some((time, moving));
        Moment { flesh, report }
    }
}

/// Muscles and fat in one frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Moment {
    pub flesh: muscle::Flesh,
    /// Report of the step that led here; empty for a pose without one.
    pub report: Report,
}

impl MuscleSettings {
    /// The solver's settings for a step of `dt` seconds: always the same substeps, whatever the frame rate.
    fn of_step(&self, dt: f32) -> muscle::Settings {
        let mut settings = muscle::Settings { motion: self.motion, dynamics: self.dynamics };
        settings.dynamics.substeps = (self.substeps_per_second * dt).round().clamp(1.0, 10_000.0) as usize;
        settings
    }

    /// Whether a frame depends on those before it.
    pub fn remembers(&self) -> bool {
        self.motion == Motion::Dynamic
    }
}

/// What lies under which skin at bind.
struct Under {
    bellies: Vec<Arc<[f32]>>,
    shares: Vec<Vec<(u32, f32)>>,
    pads: Vec<Vec<usize>>,
    in_parts: Arc<[Arc<[PartFibre]>]>,
}

/// What lies over one fibre at bind.
struct Found {
    belly: Arc<[f32]>,
    shares: Vec<(u32, f32)>,
    /// Of each part: its share at even stations.
    of_part: Vec<Option<Arc<[f32]>>>,
}

/// Under which skin each muscle lies; and which pads displace the flesh of which part.
fn under(character: &Character, surface: &Surface, parts: &Parts, musculature: &Musculature) -> Under {
    let flesh = musculature.at_bind();
    let definition = musculature.definition();
    let named = |names: &[String]| -> Vec<bool> {
        let listed = |part: &Part| {
            part.joints.iter().any(|&j| names.contains(&character.skeleton.joints[j as usize].name))
        };
        parts.parts.iter().map(|part| names.is_empty() || listed(part)).collect()
    };
    let points = &surface.mesh.positions;
    let skin: Vec<(Vec3, usize)> = points
        .iter()
        .zip(&parts.part_of_vertex)
        .filter(|(_, part)| **part != FOLLOWS)
        .map(|(&p, &part)| (p, part as usize))
        .collect();
    let found: Vec<Found> = flesh
        .muscles
        .par_iter()
        .map(|posed| {
            let (muscle, names) = (&posed.shape, &definition.muscle[posed.muscle].parts);
            let allowed = named(names);
            let thick = muscle.thickest();
            let thickness = |s: f64| muscle.thickness(s);
            let thickest =
                (0..STATIONS).map(|i| thickness(i as f64 / (STATIONS - 1) as f64)).fold(1e-9, f64::max);
            let belly = |s: f64| ((thickness(s) / thickest / TENDON) - 1.0).clamp(0.0, 1.0) as f32;
            let mut counts = vec![[0.0f32; STATIONS]; parts.parts.len()];
            let support = muscle.support();
            for &(p, part) in skin.iter().filter(|(p, part)| allowed[*part] && support.contains(*p)) {
                if let Some(Near { distance, s, .. }) = muscle.near(p.as_dvec3(), 2.0 * thick)
                    && distance < thick
                {
                    // Divided between stations and falling with the distance: a hard limit would make left and right
                    // differ.
                    let at = s as f32 * (STATIONS - 1) as f32;
                    let station = (at as usize).min(STATIONS - 2);
                    let near = (1.0 - distance / thick).min(1.0) as f32 * belly(s);
                    counts[part][station] += near * (station as f32 + 1.0 - at);
                    counts[part][station + 1] += near * (at - station as f32);
                }
            }
            let shares = shares(counts, if names.is_empty() { None } else { Some(&allowed) });
            let mut of_part: Vec<Option<Arc<[f32]>>> = vec![None; parts.parts.len()];
            shares.into_iter().for_each(|(part, share)| of_part[part] = Some(share.into()));
            let vertices = points.iter().zip(&parts.part_of_vertex).zip(0u32..);
            let share = |((p, &part), v): ((&Vec3, &u32), u32)| {
                let stations = of_part.get(part as usize)?.as_ref()?;
                let deepest = DEEPEST * f64::from(parts.parts[part as usize].inner_radius);
                let near = muscle.near(p.as_dvec3(), thick + deepest)?;
                Some((v, on_stations(stations, near.s as f32))).filter(|s| s.1 > 0.0)
            };
            let belly = (0..STATIONS).map(|i| belly(i as f64 / (STATIONS - 1) as f64)).collect();
            Found { belly, shares: vertices.filter_map(share).collect(), of_part }
        })
        .collect();
    let in_part = |part: usize| {
        let here =
            |(found, fibre): (&Found, u32)| Some(PartFibre { fibre, shares: found.of_part[part].clone()? });
        found.iter().zip(0u32..).filter_map(here).collect::<Arc<[PartFibre]>>()
    };
    let in_parts = (0..parts.parts.len()).map(in_part).collect();
    let (bellies, shares) = found.into_iter().map(|found| (found.belly, found.shares)).unzip();
    let mut pads: Vec<Vec<usize>> = vec![Vec::new(); parts.parts.len()];
    for (index, pad) in flesh.fat.iter().enumerate() {
        let allowed = named(&definition.fat[pad.pad].parts);
        let mut reached = vec![false; parts.parts.len()];
        for &(p, part) in skin.iter().filter(|(_, part)| allowed[*part]) {
            reached[part] = reached[part] || pad.field.share(p.as_dvec3()).is_some();
        }
        for (part, _) in reached.iter().enumerate().filter(|(_, reached)| **reached) {
            pads[part].push(index);
        }
    }
    Under { bellies, shares, pads, in_parts }
}

/// From weights of skin vertices at each station, part by part, to each part's share of the muscle; parts without one are
/// left out, unless they were asked for by name.
fn shares(counts: Vec<[f32; STATIONS]>, named: Option<&[bool]>) -> Vec<(usize, Vec<f32>)> {
    let mut totals = [0.0f32; STATIONS];
    counts.iter().for_each(|c| (0..STATIONS).for_each(|i| totals[i] += c[i]));
    let known: Vec<usize> = (0..STATIONS).filter(|&i| totals[i] > 0.0).collect();
    let nearest = |i: usize| known.iter().copied().min_by_key(|&k| k.abs_diff(i));
    let mut shares = Vec::new();
    for (part, counts) in counts.iter().enumerate() {
        if counts.iter().all(|&c| c == 0.0) {
            if named.is_some_and(|named| named[part]) {
                shares.push((part, vec![1.0; STATIONS]));
            }
            continue;
        }
        let raw: Vec<f32> = (0..STATIONS)
            .map(|i| nearest(i).map_or(0.0, |k| (counts[k] / totals[k] / FULL_SHARE).min(1.0)))
            .collect();
        // One station wider, then smoothed: neighbours share the muscle around the joint.
        let around = |list: &[f32], i: usize| {
            let near = i.saturating_sub(1)..=(i + 1).min(STATIONS - 1);
            near.map(|k| list[k]).collect::<Vec<f32>>()
        };
        let wide: Vec<f32> = (0..STATIONS).map(|i| around(&raw, i).into_iter().fold(0.0, f32::max)).collect();
        let smooth = |i: usize| {
            let near = around(&wide, i);
            near.iter().sum::<f32>() / near.len() as f32
        };
        shares.push((part, (0..STATIONS).map(smooth).collect()));
    }
    shares
}

/// The skin of a part, which muscles stay inside.
#[derive(Debug)]
struct Skin {
    field: Grid,
    bind_from_frame: Rigid,
    /// Values of the field times this are metres near the surface.
    metres: f64,
}

impl Skin {
    fn obstacle(part: &Part, frame: usize, bind_from_frame: Rigid) -> Obstacle {
        let metres = STEEPNESS.recip() * f64::from(part.radius);
        let skin = Self { field: part.field.clone(), bind_from_frame, metres };
        let shape = dynamics::Shape::Function(Arc::new(skin));
        Obstacle { frame, shape, keep: Keep::Inside, reach: (DVec3::ZERO, f64::INFINITY) }
    }
}

impl SignedDistance for Skin {
    fn distance(&self, point: DVec3) -> (f64, DVec3) {
        let sample = self.field.sample(self.bind_from_frame.point(point).as_vec3());
        let out = self.bind_from_frame.vector_back(-sample.gradient.as_dvec3());
        ((0.5 - f64::from(sample.value)) * self.metres, out * self.metres)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tendon_is_no_belly() {
        let character = crate::samples::build("arm?resolution=2000").unwrap();
        let surface = Surface::new(&character).unwrap();
        let parts = Parts::build(&surface, &character, &Default::default(), None);
        let definition = crate::samples::arm::muscles();
        let flesh = Flesh::new(&character, &surface, &parts, (&definition, Path::new("."))).unwrap();
        assert!(flesh.bellies.len() >= 4);
        for (belly, shares) in flesh.bellies.iter().zip(&flesh.shares) {
            assert_eq!((belly[0], belly[STATIONS - 1]), (0.0, 0.0), "tendons");
            assert!(belly.contains(&1.0));
            assert!(shares.len() > 20, "{} vertices lie over it", shares.len());
        }
    }

    #[test]
    fn neighbours_share_a_muscle_around_the_joint() {
        let mut counts = vec![[0.0f32; STATIONS]; 3];
        (0..9).for_each(|i| counts[0][i] = 5.0);
        (9..STATIONS).for_each(|i| counts[2][i] = 5.0);
        let shares = shares(counts, None);
        assert_eq!(shares.iter().map(|s| s.0).collect::<Vec<_>>(), [0, 2]);
        let (first, second) = (&shares[0].1, &shares[1].1);
        assert!(first[0] == 1.0 && first[STATIONS - 1] == 0.0 && second[0] == 0.0);
        assert!((0..STATIONS).all(|i| first[i].max(second[i]) > 0.99), "no gap: {first:?} {second:?}");
        assert_eq!(on_stations(first, 0.0), 1.0);
    }
}

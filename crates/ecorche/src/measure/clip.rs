//! Judging the frames of a clip one after another.

use super::definition::ShownMuscle;
use super::figures::{FIGURES, FrameFigures, Worse};
use super::motion::{self, Histogram};
use super::piece::{self, PieceFigures, RoleFigures};
use super::pierce::{PiercedBy, PiercingMuscle};
use super::{FrameDetail, FrameInput, Judge, JudgeError};
use crate::geom::self_contact::SelfContact;
use glam::{Affine3A, Vec3};
use serde::Serialize;
use std::fmt;

/// Worst and mean of one figure over a clip.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Name of the figure, one of [`FIGURES`].
    pub figure: &'static str,
    /// Its worst value.
    pub worst: f64,
    /// The first frame that has it.
    pub worst_frame: usize,
    /// Mean over the frames that have the figure.
    pub mean: f64,
    /// What set the worst value of popping; `None` for other figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Jump>,
}

/// The vertex that sets the worst popping, and the one that sets its limit. Vertices are those of the welded surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Jump {
    /// The vertex that moved farthest against its limit.
    pub vertex: u32,
    /// How far it moved, metres.
    pub moved: f64,
    /// How far the skeleton carries skin near it, metres.
    pub limit: f64,
    /// The vertex nearby that the skeleton carries so far.
    pub limit_vertex: u32,
}

impl fmt::Display for Jump {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { vertex, limit_vertex, .. } = self;
        let [moved, limit] = [self.moved, self.limit].map(|metres| 1e3 * metres);
        write!(
            f,
            "vertex {vertex} moved {moved:.2} mm; the skeleton carries skin near it by {limit:.2} mm, at vertex {limit_vertex}"
        )
    }
}

/// The figures of a whole clip.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClipFigures {
    /// Every figure that some frame has, in the order of [`FIGURES`].
    pub summary: Vec<Summary>,
    /// 99th percentile of popping over all vertices and frames together (high by 1 % at most).
    pub popping_p99: Option<f64>,
    /// 99th percentile of flicker over all vertices and frames together (high by 1 % at most).
    pub flicker_p99: Option<f64>,
    /// The pieces of a character of several, by number; empty if their roles or the start are not known.
    pub pieces: Vec<PieceFigures>,
    /// The frames.
    pub frames: Vec<FrameFigures>,
}

impl ClipFigures {
    /// The summary of a figure; `None` if no frame has it.
    pub fn of(&self, figure: &str) -> Option<&Summary> {
        self.summary.iter().find(|s| s.figure == figure)
    }

    /// The muscles that stand out of the skin in some frame, deepest first: each where it stands out farthest, with that frame.
    pub fn pierced(&self) -> Vec<(PiercedBy, usize)> {
        self.most_of_each(|f| &f.pierced, |by| &by.muscle, |by| by.depth)
    }

    /// The superficial muscles that grow in some frame, those that grow most first: each where it grew most, with that frame.
    pub fn shown(&self) -> Vec<(ShownMuscle, usize)> {
        self.most_of_each(|f| &f.shown, |by| &by.muscle, |by| by.growth)
    }

    /// Of the entries that frames list, for each name the one with the largest value and its frame; largest first.
    fn most_of_each<T: Clone>(
        &self,
        list: impl Fn(&FrameFigures) -> &Vec<T>,
        name: impl Fn(&T) -> &str,
        value: impl Fn(&T) -> f64,
    ) -> Vec<(T, usize)> {
        let mut most: Vec<(T, usize)> = Vec::new();
        for (frame, entry) in
            self.frames.iter().flat_map(|f| list(f).iter().map(move |entry| (f.frame, entry)))
        {
            match most.iter_mut().find(|(known, _)| name(known) == name(entry)) {
                Some(known) if value(&known.0) >= value(entry) => {}
                Some(known) => *known = (entry.clone(), frame),
                None => most.push((entry.clone(), frame)),
            }
        }
        most.sort_by(|a, b| value(&b.0).total_cmp(&value(&a.0)));
        most
    }

    /// The pieces by role: how many there are, and the one that lost most of its area. Roles without pieces are left out.
    pub fn by_role(&self) -> Vec<RoleFigures<'_>> {
        piece::by_role(&self.pieces)
    }

    /// The `count` worst frames by a figure, worst first; ties go to the earlier frame.
    pub fn worst_frames(&self, figure: &str, count: usize) -> Vec<usize> {
        let Some(figure) = super::figure(figure) else { return Vec::new() };
        let mut frames: Vec<(f64, usize)> =
            self.frames.iter().filter_map(|f| Some(((figure.value)(f)?, f.frame))).collect();
        frames.sort_by(|a, b| match figure.worse {
            Worse::Larger => b.0.total_cmp(&a.0),
            Worse::Smaller => a.0.total_cmp(&b.0),
        });
        frames.into_iter().take(count).map(|(_, frame)| frame).collect()
    }
}

/// State of judging a clip: what the figures between frames need, and scratch.
#[derive(Clone, Debug)]
pub struct ClipJudge<'a> {
    judge: &'a Judge,
    contact: SelfContact,
    before: Option<Before>,
    popping: Histogram,
    flicker: Histogram,
    pieces: Vec<PieceFigures>,
    frames: Vec<FrameFigures>,
    detail: FrameDetail,
}

/// The frame before.
#[derive(Clone, Debug)]
struct Before {
    positions: Vec<Vec3>,
    /// Where the start has them, if it is known.
    start: Option<Vec<Vec3>>,
    posed_from_rest: Vec<Affine3A>,
    motion: Option<Motion>,
}

/// How the vertices moved to a frame.
#[derive(Clone, Debug)]
struct Motion {
    /// Displacement from the frame before.
    moved: Vec<Vec3>,
    /// How far the skeleton carried skin near each vertex meanwhile.
    allowed: Vec<f32>,
}

impl<'a> ClipJudge<'a> {
    pub(super) fn new(judge: &'a Judge) -> Self {
        Self {
            judge,
            contact: judge.contact.clone(),
            before: None,
            popping: Histogram::new(),
            flicker: Histogram::new(),
            pieces: Vec::new(),
            frames: Vec::new(),
            detail: FrameDetail::default(),
        }
    }

    /// Judges the next frame.
    pub fn add(&mut self, input: &FrameInput) -> Result<&FrameFigures, JudgeError> {
        let judge = self.judge;
        judge.check(input)?;
        let mut positions = input.positions.to_vec();
        let last_good = self.before.as_ref().map_or(&judge.rest.positions, |b| &b.positions);
        let mut not_finite = 0;
        for (p, &good) in positions.iter_mut().zip(last_good) {
            if !p.is_finite() {
                *p = good;
                not_finite += 1;
            }
        }
        let mut detail = judge
            .crossings(&mut self.contact, &positions, input.posed_from_rest)
            .ok_or(JudgeError::Tangled { frame: input.frame, most: judge.most_crossings() })?;
        let skeleton_known = !input.posed_from_rest.is_empty();
        if skeleton_known {
            detail.flipped = judge.flipped(&positions, input.posed_from_rest);
        }
        let stray = input.reference.map(|reference| {
            let strays = judge.strays(&positions, reference, input.in_contact);
            let beyond = strays.iter().enumerate().filter(|&(_, &s)| s > super::STRAYED);
            detail.strayed = beyond.map(|(v, _)| v as u32).collect();
            f64::from(largest(&strays).1)
        });
        let crossing = || detail.pairs.iter().chain(&detail.pairs_across);
        let bent = judge.shape.bent(&positions, &judge.adjacency.vertex_ring, crossing());
        let shape = judge.shape.compare(&bent, input.start.map(|start| &start.bent));
        if let Some((start, pieces)) = input.start.zip(input.pieces).filter(|(_, all)| all.pieces.len() > 1) {
            let crush = judge.shape.crush_by_piece(&bent, &start.bent);
            piece::add(&mut self.pieces, pieces, crush, input.frame);
        }
        let hollow = input.start.map(|start| {
            self.contact.fit(&positions);
            let crossing = start.pairs.iter().chain(&detail.pairs);
            judge.hollow(&positions, self.contact.bvh(), crossing, &detail.depth)
        });
        let boil = input.start.zip(self.before.as_ref()).and_then(|(start, before)| {
            let starts = [before.start.as_deref()?, &start.positions];
            Some(judge.shape.boil([&before.positions, &positions], starts))
        });
        let against = input.against.map(|reference| judge.against(&positions, reference));
        let volume = judge.volumes.ratios(&positions);
        let [stretch_p95, stretch_max, stretch_min] = judge.stretch(&positions).map(f64::from);
        let name = |muscle: usize| input.muscle_names.get(muscle).cloned().unwrap_or_default();
        let mut figures = FrameFigures {
            frame: input.frame,
            pairs: detail.pairs.len(),
            pairs_across: detail.pairs_across.len(),
            folds: detail.folds.len(),
            buried: detail.depth.iter().filter(|(_, d)| d.is_sign_positive()).count(),
            everted: detail.depth.iter().filter(|(_, d)| d.is_sign_negative()).count(),
            depth: detail.depth.iter().map(|(_, d)| f64::from(d.abs())).fold(0.0, f64::max),
            volume: volume.whole,
            filled: volume.filled,
            volume_by_part: volume.parts,
            stretch_p95,
            stretch_max,
            stretch_min,
            flipped: skeleton_known.then_some(detail.flipped.len()),
            strayed: stray.map(|_| detail.strayed.len()),
            stray_max: stray,
            roughness: shape.roughness,
            roughness_contact: shape.roughness_contact,
            roughness_ratio: shape.roughness_ratio,
            roughness_contact_ratio: shape.roughness_contact_ratio,
            creases: shape.creases,
            crush: shape.crush,
            hollow: hollow.map(|h| h.p95),
            hollow_mean: hollow.map(|h| h.mean),
            boil,
            against,
            not_finite,
            milliseconds: input.milliseconds,
            muscle_depth: input.muscles.map(|m| f64::from(m.deepest)),
            muscle_resets: input.muscles.map(|m| m.resets),
            pierce: input.pierce.map(|p| 1e3 * p.deepest),
            pierce_area: input.pierce.map(|p| 1e2 * p.area),
            pierce_bones: input.pierce.map(|p| 1e3 * p.bones),
            pierced_bone: input.pierce.and_then(|p| p.bone.clone()),
            pierced: input.pierce.map_or(Vec::new(), |p| {
                let of = |m: &PiercingMuscle| PiercedBy {
                    muscle: name(m.muscle),
                    depth: 1e3 * m.deepest,
                    area: 1e2 * m.area,
                };
                p.muscles.iter().map(of).collect()
            }),
            shown: input.shown.map_or(Vec::new(), |shown| {
                let of = |&(muscle, [growth, risen]): &(usize, [f64; 2])| ShownMuscle {
                    muscle: name(muscle),
                    growth: 1e3 * growth,
                    risen: 1e3 * risen,
                };
                shown.muscles.iter().map(of).collect()
            }),
            definition: input.shown.and_then(|shown| shown.definition),
            muscle_lost: input.muscles.map(|m| 1e6 * f64::from(m.lost)),
            ..FrameFigures::default()
        };
        let motion = self.motion(&positions, input.posed_from_rest, &mut figures);
        let start = input.start.map(|start| start.positions.clone());
        self.before =
            Some(Before { positions, start, posed_from_rest: input.posed_from_rest.to_vec(), motion });
        self.detail = detail;
        self.frames.push(figures);
        Ok(&self.frames[self.frames.len() - 1])
    }

    /// Popping and flicker against the frame before.
    fn motion(
        &mut self,
        positions: &[Vec3],
        posed_from_rest: &[Affine3A],
        figures: &mut FrameFigures,
    ) -> Option<Motion> {
        let before = self.before.as_ref()?;
        if posed_from_rest.is_empty() || before.posed_from_rest.is_empty() {
            return None;
        }
        let judge = self.judge;
        let carried = motion::carried(
            &judge.rest.positions,
            &judge.influences,
            &before.posed_from_rest,
            posed_from_rest,
        );
        let largest =
            motion::largest_nearby([&before.positions, positions], &carried, &judge.edges, judge.size);
        let allowed: Vec<f32> = largest.iter().map(|l| l.0).collect();
        let moved: Vec<Vec3> = positions.iter().zip(&before.positions).map(|(&p, &q)| p - q).collect();
        let mut popping = motion::ratios(moved.iter().map(|m| m.length()), &allowed, judge.size);
        self.popping.add(&popping);
        let (vertex, most) = self::largest(&popping);
        if let Some(v) = vertex {
            figures.popping_moved = Some(f64::from(moved[v as usize].length()));
            figures.popping_limit = Some(f64::from(motion::limit(allowed[v as usize], judge.size)));
            figures.popping_limit_vertex = Some(largest[v as usize].1);
        }
        figures.popping_vertex = vertex;
        figures.popping_max = Some(f64::from(most));
        figures.popping_p99 = Some(f64::from(motion::percentile(&mut popping, 0.99)));
        if let Some(earlier) = &before.motion {
            let change = moved.iter().zip(&earlier.moved).map(|(&a, &b)| a.distance(b));
            // Of both steps the longer, or a limb that comes to rest would seem to flicker.
            let longer: Vec<f32> = allowed.iter().zip(&earlier.allowed).map(|(&a, &b)| a.max(b)).collect();
            let mut flicker = motion::ratios(change, &longer, judge.size);
            self.flicker.add(&flicker);
            figures.flicker_max = Some(f64::from(self::largest(&flicker).1));
            figures.flicker_p99 = Some(f64::from(motion::percentile(&mut flicker, 0.99)));
        }
        Some(Motion { moved, allowed })
    }

    /// What the last frame's crossings are.
    pub fn detail(&self) -> &FrameDetail {
        &self.detail
    }

    /// Sums up the clip.
    pub fn finish(self) -> ClipFigures {
        let summary = FIGURES.iter().filter_map(|figure| {
            let values: Vec<(f64, usize)> =
                self.frames.iter().filter_map(|f| Some(((figure.value)(f)?, f.frame))).collect();
            let worse = |a: f64, b: f64| match figure.worse {
                Worse::Larger => a > b,
                Worse::Smaller => a < b,
            };
            let &first = values.first()?;
            let (worst, worst_frame) =
                values.iter().fold(first, |kept, &next| if worse(next.0, kept.0) { next } else { kept });
            let mean = values.iter().map(|(v, _)| v).sum::<f64>() / values.len() as f64;
            let cause = || {
                let f = self.frames.iter().find(|f| f.frame == worst_frame)?;
                Some(Jump {
                    vertex: f.popping_vertex?,
                    moved: f.popping_moved?,
                    limit: f.popping_limit?,
                    limit_vertex: f.popping_limit_vertex?,
                })
            };
            let cause = if figure.name == "popping_max" { cause() } else { None };
            Some(Summary { figure: figure.name, worst, worst_frame, mean, cause })
        });
        ClipFigures {
            summary: summary.collect(),
            popping_p99: self.popping.percentile(0.99),
            flicker_p99: self.flicker.percentile(0.99),
            pieces: self.pieces,
            frames: self.frames,
        }
    }
}

/// The first largest value and its vertex.
fn largest(values: &[f32]) -> (Option<u32>, f32) {
    values
        .iter()
        .enumerate()
        .fold((None, 0.0), |kept, (v, &x)| if x > kept.1 { (Some(v as u32), x) } else { kept })
}

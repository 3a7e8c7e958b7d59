//! `animation`: curves on parts of transforms, made into tracks of whole nodes.

use super::document::{Document, Source, attribute_number, child, children, inputs, is, name_of};
use super::node_transform::Kind;
use super::scene::Scene;
use crate::character::raw::{RawChannel, RawCharacter, RawClip, RawTrack};
use crate::character::transform_keys::{between_matrices, transform_tracks};
use crate::character::{Interpolation, Repair};
use glam::DMat4;
use roxmltree::{Node, NodeId};
use std::collections::{BTreeMap, HashMap};

/// How a curve leaves a key.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Leave {
    Step,
    Linear,
    Bezier,
    Hermite,
}

/// Values over time, `width` at each key.
struct Curve {
    times: Vec<f64>,
    values: Vec<f64>,
    width: usize,
    leaves: Vec<Leave>,
    in_tangents: Source,
    out_tangents: Source,
}

impl Curve {
    fn read<'a>(document: &Document<'a>, sampler: Node<'a, 'a>, unknown: &mut usize) -> Option<Self> {
        let sampler_inputs = inputs(document, sampler);
        let source = |semantic: &str| {
            let input = sampler_inputs.iter().find(|i| i.semantic == semantic);
            input.map(|i| Source::read(document, i.source)).unwrap_or_default()
        };
        let (times, output) = (source("INPUT").values, source("OUTPUT"));
        let width = output.width.max(1);
        let count = times.len().min(output.values.len() / width);
        let names = source("INTERPOLATION").names;
        let leaves = (0..count).map(|k| match names.get(k).map(String::as_str) {
            Some("STEP") => Leave::Step,
            Some("BEZIER") => Leave::Bezier,
            Some("HERMITE") => Leave::Hermite,
            Some("LINEAR") | None => Leave::Linear,
            Some(_) => {
                *unknown += 1;
                Leave::Linear
            }
        });
        let mut curve = Self {
            leaves: leaves.collect(),
            times: Vec::new(),
            values: Vec::new(),
            width,
            in_tangents: source("IN_TANGENT"),
            out_tangents: source("OUT_TANGENT"),
        };
        curve.times = times[..count].to_vec();
        curve.values = output.values[..count * width].to_vec();
        let is_sound = curve.times.iter().chain(&curve.values).all(|n| n.is_finite());
        let is_rising = curve.times.windows(2).all(|pair| pair[0] < pair[1]);
        if is_sound && is_rising {
            return (count > 0).then_some(curve);
        }
        curve.sort()
    }

    /// Drops what is not finite, sorts by time, keeps the last of equal times. Tangents are given up.
    fn sort(&self) -> Option<Self> {
        let mut keys: Vec<(f64, &[f64], Leave)> = (0..self.times.len())
            .map(|k| (self.times[k], self.key(k), self.leaves[k]))
            .filter(|(time, values, _)| time.is_finite() && values.iter().all(|v| v.is_finite()))
            .collect();
        keys.sort_by(|a, b| a.0.total_cmp(&b.0));
        keys.reverse();
        keys.dedup_by(|a, b| a.0 == b.0);
        keys.reverse();
        let leave = |l: Leave| if l == Leave::Step { Leave::Step } else { Leave::Linear };
        (!keys.is_empty()).then(|| Self {
            times: keys.iter().map(|k| k.0).collect(),
            values: keys.iter().flat_map(|k| k.1.iter().copied()).collect(),
            width: self.width,
            leaves: keys.iter().map(|k| leave(k.2)).collect(),
            in_tangents: Source::default(),
            out_tangents: Source::default(),
        })
    }

    fn key(&self, k: usize) -> &[f64] {
        &self.values[k * self.width..(k + 1) * self.width]
    }

    fn is_stepped(&self) -> bool {
        self.leaves.iter().all(|&leave| leave == Leave::Step)
    }

    /// Last key not after `time`, the next one, and the share of the way.
    fn span(&self, time: f64) -> (usize, usize, f64) {
        let next = self.times.partition_point(|&t| t <= time);
        let (a, b) = (next.saturating_sub(1), next.min(self.times.len() - 1));
        let share = if b > a {
            ((time - self.times[a]) / (self.times[b] - self.times[a])).clamp(0.0, 1.0)
        } else {
            0.0
        };
        (a, b, share)
    }

    /// Component `c` at `time`; held outside the keys.
    fn at(&self, c: usize, time: f64) -> f64 {
        let (a, b, share) = self.span(time);
        let (from, to) = (self.key(a)[c], self.key(b)[c]);
        match self.leaves[a] {
            _ if a == b => from,
            Leave::Step => from,
            Leave::Linear => from + (to - from) * share,
            leave => {
                let (start, end) = ((self.times[a], from), (self.times[b], to));
                let third = (end.0 - start.0) / 3.0;
                // Hermite tangents are directions, Bezier ones points.
                let control = |source: &Source, k: usize, key: (f64, f64), sign: f64| {
                    let straight = (key.0 + sign * third, key.1);
                    match (self.tangent(source, k, c), leave) {
                        (None, _) => straight,
                        (Some((x, y)), Leave::Hermite) => {
                            (x.map_or(straight.0, |x| key.0 + sign * x / 3.0), key.1 + sign * y / 3.0)
                        }
                        (Some((x, y)), _) => (x.unwrap_or(straight.0), y),
                    }
                };
                let p1 = control(&self.out_tangents, a, start, 1.0);
                let p2 = control(&self.in_tangents, b, end, -1.0);
                bezier(start, p1, p2, end, time)
            }
        }
    }

    /// Time (if stored) and value of a tangent.
    fn tangent(&self, source: &Source, k: usize, c: usize) -> Option<(Option<f64>, f64)> {
        let tuple = source.get(k)?;
        let (x, y) = match tuple.len() {
            n if n == 2 * self.width => (Some(tuple[2 * c]), tuple[2 * c + 1]),
            n if n == self.width + 1 => (Some(tuple[0]), tuple[c + 1]),
            n if n == self.width => (None, tuple[c]),
            _ => return None,
        };
        (x.is_none_or(f64::is_finite) && y.is_finite()).then_some((x, y))
    }
}

/// The value of the cubic at the moment `time`: time itself runs along a cubic.
fn bezier(p0: (f64, f64), p1: (f64, f64), p2: (f64, f64), p3: (f64, f64), time: f64) -> f64 {
    // Handles that reach beyond the neighbouring key would run back in time.
    let (x1, x2) = (p1.0.clamp(p0.0, p3.0), p2.0.clamp(p0.0, p3.0));
    let cubic = |a: f64, b: f64, c: f64, d: f64, s: f64| {
        let r = 1.0 - s;
        a * r * r * r + 3.0 * b * r * r * s + 3.0 * c * r * s * s + d * s * s * s
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if cubic(p0.0, x1, x2, p3.0, middle) < time {
            low = middle;
        } else {
            high = middle;
        }
    }
    cubic(p0.1, p1.1, p2.1, p3.1, 0.5 * (low + high))
}

/// A curve on numbers of a transform element.
struct Driven<'a> {
    element: usize,
    /// First number it drives; it drives as many as it has.
    first: usize,
    curve: &'a Curve,
}

/// Splits `node/sid.X`, `node/sid(3)(0)`, `node/sid` into id, sid and member.
fn split_target(target: &str) -> (&str, &str, &str) {
    let (id, rest) = target.split_once('/').unwrap_or((target, ""));
    if rest.is_empty() {
        let end = id.find('(').unwrap_or(id.len());
        return (&id[..end], "", &id[end..]);
    }
    let sid = rest.rsplit('/').next().unwrap_or(rest);
    let end = sid.find(['.', '(']).unwrap_or(sid.len());
    (id, &sid[..end], sid[end..].trim_start_matches('.'))
}

/// The number of an element that a member names.
fn member_place(kind: Kind, member: &str) -> Option<usize> {
    let indices: Vec<usize> = member
        .split(['(', ')'])
        .filter(|part| !part.is_empty())
        .filter_map(|part| part.parse().ok())
        .collect();
    match (member, indices.as_slice()) {
        ("", _) => Some(0),
        // Matrices are addressed by row and column.
        (_, [row, column]) if *row < 4 && *column < 4 => Some(row * 4 + column),
        (_, [index]) => Some(*index),
        ("X", _) => Some(0),
        ("Y", _) => Some(1),
        ("Z", _) => Some(2),
        ("ANGLE", _) => Some(if kind == Kind::Skew { 0 } else { 3 }),
        _ => None,
    }
}

/// Reads the clips into `raw`: those of `library_animation_clips`, else one of everything.
pub fn read<'a>(document: &Document<'a>, scene: &Scene, raw: &mut RawCharacter) {
    let root = document.root();
    let libraries = |tag: &'static str| root.children().filter(move |c| is(*c, tag));
    let mut channels = Channels { curves: HashMap::new(), unknown: 0, astray: 0 };
    let fps =
        root.descendants().find(|d| is(*d, "frame_rate")).and_then(|d| d.text()?.trim().parse::<f32>().ok());
    let fps = fps.filter(|&fps| fps > 0.0);
    let clips: Vec<Node> = libraries("library_animation_clips")
        .flat_map(|library| children(library, "animation_clip"))
        .collect();
    for clip in &clips {
        let animations = children(*clip, "instance_animation").filter_map(|i| document.referred(i, "url"));
        let tracks = channels.tracks(document, scene, animations.collect());
        let number = |name: &str| clip.attribute(name).and_then(|n| n.trim().parse::<f32>().ok());
        let range = number("end").map(|end| (number("start").unwrap_or(0.0), end));
        raw.clips.push(RawClip { name: name_of(*clip), fps, range, tracks });
    }
    if clips.is_empty() {
        let animations: Vec<Node> =
            libraries("library_animations").flat_map(|library| children(library, "animation")).collect();
        let name = if animations.len() == 1 { name_of(animations[0]) } else { String::new() };
        let tracks = channels.tracks(document, scene, animations);
        if !tracks.is_empty() {
            raw.clips.push(RawClip { name, fps, range: None, tracks });
        }
    }
    if channels.unknown > 0 {
        let problem = "use an interpolation other than STEP, LINEAR, BEZIER, HERMITE";
        raw.repairs.push(Repair::new(
            format!("{} keys", channels.unknown),
            problem,
            "joined by straight lines",
        ));
    }
    if channels.astray > 0 {
        let problem = "drive nothing that exists";
        raw.repairs.push(Repair::new(format!("{} animation channels", channels.astray), problem, "left out"));
    }
}

/// Curves by their sampler (only looked up), and what was odd about them.
struct Channels {
    curves: HashMap<NodeId, Option<Curve>>,
    unknown: usize,
    astray: usize,
}

impl Channels {
    /// Tracks of all channels in `animations` and the animations inside them.
    fn tracks<'a>(
        &mut self,
        document: &Document<'a>,
        scene: &Scene,
        animations: Vec<Node<'a, 'a>>,
    ) -> Vec<RawTrack> {
        let channels: Vec<Node> =
            animations.iter().flat_map(|a| a.descendants()).filter(|d| is(*d, "channel")).collect();
        for channel in &channels {
            if let Some(sampler) = document.referred(*channel, "source").filter(|s| is(*s, "sampler")) {
                let unknown = &mut self.unknown;
                self.curves.entry(sampler.id()).or_insert_with(|| Curve::read(document, sampler, unknown));
            }
        }
        let mut driven: BTreeMap<usize, Vec<Driven>> = BTreeMap::new();
        let mut tracks = Vec::new();
        for channel in channels {
            let sampler = document.referred(channel, "source").map(|s| s.id());
            let curve = sampler.and_then(|id| self.curves.get(&id)).and_then(Option::as_ref);
            let target = channel.attribute("target").unwrap_or_default();
            let (id, sid, member) = split_target(target);
            let Some(curve) = curve else {
                self.astray += 1;
                continue;
            };
            if let Some(&node) = scene.node_of_id.get(id)
                && let Some(element) = scene.stacks[node].elements.iter().position(|e| e.sid == sid)
                && let Some(first) = member_place(scene.stacks[node].elements[element].kind, member)
                && first + curve.width <= scene.stacks[node].elements[element].values.len()
            {
                driven.entry(node).or_default().push(Driven { element, first, curve });
            } else {
                let found = morph_tracks(document, scene, id, member, curve);
                self.astray += usize::from(found.is_empty());
                tracks.extend(found);
            }
        }
        for (node, driven) in driven {
            tracks.extend(node_tracks(scene, node, &driven));
        }
        tracks
    }
}

/// Tracks of one node from all curves on its transforms.
fn node_tracks(scene: &Scene, node: usize, driven: &[Driven]) -> Vec<RawTrack> {
    let mut times: Vec<f64> = driven.iter().flat_map(|d| d.curve.times.iter().copied()).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let stepped = driven.iter().all(|d| d.curve.is_stepped());
    let stack = &scene.stacks[node];
    transform_tracks(node, &times, stepped, |time| {
        let mut product = DMat4::IDENTITY;
        for (e, element) in stack.elements.iter().enumerate() {
            let on_element = || driven.iter().filter(move |d| d.element == e);
            let whole = on_element().find(|d| element.kind == Kind::Matrix && d.curve.width == 16);
            product *= match whole {
                Some(whole) => matrix_at(whole.curve, time),
                None => {
                    let mut values = element.values.clone();
                    for d in on_element() {
                        for c in 0..d.curve.width {
                            values[d.first + c] = d.curve.at(c, time);
                        }
                    }
                    element.kind.matrix(&values)
                }
            };
        }
        product
    })
}

/// A whole matrix at `time`.
fn matrix_at(curve: &Curve, time: f64) -> DMat4 {
    let (a, b, share) = curve.span(time);
    let key = |k: usize| Kind::Matrix.matrix(curve.key(k));
    if a == b || share == 0.0 || curve.leaves[a] == Leave::Step {
        return key(a);
    }
    between_matrices(key(a), key(b), share)
}

/// Tracks of a morph weight: the target is the controller or its source of weights.
fn morph_tracks<'a>(
    document: &Document<'a>,
    scene: &Scene,
    id: &str,
    member: &str,
    curve: &Curve,
) -> Vec<RawTrack> {
    let Some(element) = document.by_id(id) else { return Vec::new() };
    let controller = element.ancestors().find(|a| is(*a, "controller") && child(*a, "morph").is_some());
    let meshes = controller.and_then(|c| scene.meshes_of_morph.get(c.attribute("id")?));
    let index = member.split(['(', ')']).find_map(|part| part.parse::<usize>().ok());
    let first = index.unwrap_or(0);
    let count = if index.is_some() { 1 } else { curve.width };
    let stated = attribute_number(element, "count").unwrap_or(usize::MAX);
    let interpolation = if curve.is_stepped() { Interpolation::Step } else { Interpolation::Linear };
    // Weights are sampled eight times between keys where they bend.
    let bends = curve.leaves.iter().any(|leave| matches!(leave, Leave::Bezier | Leave::Hermite));
    let parts = if bends { 8 } else { 1 };
    let mut times = Vec::new();
    for pair in curve.times.windows(2) {
        times.extend((0..parts).map(|p| pair[0] + (pair[1] - pair[0]) * f64::from(p) / f64::from(parts)));
    }
    times.extend(curve.times.last());
    meshes
        .into_iter()
        .flatten()
        .flat_map(|&mesh| (0..count.min(stated)).map(move |c| (mesh, c)))
        .map(|(mesh, c)| RawTrack {
            times: times.iter().map(|&t| t as f32).collect(),
            interpolation,
            channel: RawChannel::Morph(
                mesh,
                first + c,
                times.iter().map(|&t| curve.at(c, t) as f32).collect(),
            ),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_split_into_id_sid_and_member() {
        assert_eq!(split_target("arm/rotateZ.ANGLE"), ("arm", "rotateZ", "ANGLE"));
        assert_eq!(split_target("arm/m(3)(0)"), ("arm", "m", "(3)(0)"));
        assert_eq!(split_target("arm/transform"), ("arm", "transform", ""));
        assert_eq!(split_target("weights(2)"), ("weights", "", "(2)"));
        assert_eq!(member_place(Kind::Matrix, "(3)(1)"), Some(13));
        assert_eq!(member_place(Kind::Rotate, "ANGLE"), Some(3));
    }

    #[test]
    fn a_straight_bezier_is_a_line_and_an_eased_one_is_not() {
        let at = |p1, p2, t| bezier((0.0, 0.0), p1, p2, (3.0, 6.0), t);
        assert!((at((1.0, 2.0), (2.0, 4.0), 1.5) - 3.0).abs() < 1e-9);
        assert!((at((1.0, 2.0), (2.0, 4.0), 0.6) - 1.2).abs() < 1e-9);
        assert!(at((1.5, 0.0), (1.5, 6.0), 0.6) < 0.6);
    }
}

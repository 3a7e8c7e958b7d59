//! Muscles on a skeleton, and where a pose takes them.

use super::curve::{Curve, Rule};
use super::definition::{ParametricDef, Template};
use super::influence::{Displaced, Influence, influences};
use super::keys::PARAMETRIC;
use crate::character::{Character, Skeleton};
use crate::dynamics::Rigid;
use crate::muscle::activation::{Stretch, activation, on_curve};
use crate::muscle::definition::{ActivationDef, Attachment, KeysDef, Parameter, Side};
use crate::skinning::Surface;
use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, DQuat, DVec3, Vec3, Vec3A, Vec4};
use std::collections::BTreeSet;

/// The line of a muscle counts as at least and at most this much of its length at bind.
const LENGTHS: [f64; 2] = [0.3, 3.0];
/// Mean of the two carried bulge directions below which the origin's alone counts.
const OPPOSED: f64 = 0.1;
/// Least angle between bulge direction and line: 5 degrees.
const LEAST_SINE: f64 = 0.087_155_742_747_658_17;
/// Ends closer than this share of the skeleton's size are one point.
const COINCIDE: f64 = 1e-5;

/// What is wrong with a parametric muscle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{title}: {message}")]
pub struct ParametricError {
    /// Name and side.
    pub title: String,
    /// The key in question; empty for the muscle as a whole.
    pub key: &'static str,
    /// What, and what to do about it.
    pub message: String,
}

/// A muscle in one moment: all that a vertex needs, 160 bytes. World, metres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Posed {
    /// Start of the line, and tension.
    pub origin: Vec4,
    /// Unit, across bulge direction and line; and the centre, as a share of the line.
    pub side: Vec4,
    /// From the line's start to its end, and one over its squared length.
    pub line: Vec4,
    /// Unit, across the line: where skin moves; and the flatness.
    pub bulge: Vec4,
    /// Control points of the thickness, before the centre and after it.
    pub thickness: [Vec4; 2],
    /// Control points of the sweep across the bulge direction and along it, before the centre and after it.
    pub sweep: [[Vec4; 2]; 2],
}

const _: () = assert!(size_of::<Posed>() == 160);

/// One muscle at bind.
#[derive(Clone, Debug)]
pub(super) struct Muscle {
    pub title: String,
    name: String,
    side: Side,
    /// Joints of the ends, and the ends in their coordinates.
    ends: [(usize, DVec3); 2],
    path: Vec<(usize, DVec3)>,
    /// The bulge direction in the coordinates of both joints.
    bulge: [DVec3; 2],
    /// Direction of the line in the origin's coordinates, for a pose without one.
    along: DVec3,
    length: f64,
    path_length: f64,
    /// Last joint seen from the first at bind.
    bind_turn: DQuat,
    thickness: Curve,
    sweep: [Curve; 2],
    flatness: f64,
    volume: f64,
    tension: f64,
    activation: ActivationDef,
}

/// Parametric muscles of a character. Made by [`Parametric::new`]; does not change while they move.
#[derive(Clone, Debug)]
pub struct Parametric {
    muscles: Vec<Muscle>,
    /// Of each mesh of the character; empty for one without skin.
    influences: Vec<Influence>,
    rule: Rule,
    /// Keyed activations: number of the muscle, clip, pairs of time and value.
    keys: Vec<(usize, String, Vec<[f32; 2]>)>,
}

/// Scratch of a frame; after [`Parametric::pose`] it holds the muscles.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    frames: Vec<Rigid>,
    /// One per muscle.
    pub posed: Vec<Posed>,
}

impl Parametric {
    /// Puts muscles on a character: mirror images written out, `bind` the rigid map of every joint from its coordinates to
    /// bind space.
    pub fn new(
        definitions: &[ParametricDef],
        character: &Character,
        surface: &Surface,
        bind: &[Affine3A],
    ) -> Result<Self, ParametricError> {
        let mut this = Self::of_skeleton(definitions, &character.skeleton, bind)?;
        let mut workspace = Workspace::default();
        this.pose(bind, 0.0, &mut workspace);
        this.influences = influences(definitions, &this.muscles, &workspace.posed, character, surface);
        Ok(this)
    }

    /// The muscles without skin: what can be wrong with them shows here.
    pub(crate) fn of_skeleton(
        definitions: &[ParametricDef],
        skeleton: &Skeleton,
        bind: &[Affine3A],
    ) -> Result<Self, ParametricError> {
        let frames: Vec<Rigid> = bind.iter().map(|&map| Rigid::from_affine(map)).collect();
        let mut titles = BTreeSet::new();
        let mut muscles = Vec::new();
        for definition in definitions {
            let muscle = Muscle::new(definition, skeleton, &frames)?;
            if !titles.insert(muscle.title.clone()) {
                let message = "defined twice; give each its own name or side".to_owned();
                return Err(ParametricError { title: muscle.title, key: "name", message });
            }
            muscles.push(muscle);
        }
        Ok(Self { muscles, influences: Vec::new(), rule: Rule::Exact, keys: Vec::new() })
    }

    /// The same muscles with their volume kept by another rule, to compare.
    #[must_use]
    pub fn with_rule(mut self, rule: Rule) -> Self {
        self.rule = rule;
        self
    }

    /// The same muscles with their activation keyed over clips. Keys of one name hold for `NAME 1` and so on as well: a fan that
    /// became several. Other parameters than the activation are not theirs and are left out.
    #[must_use]
    pub fn with_keys(mut self, keys: &[KeysDef]) -> Self {
        let of = |keys: &KeysDef, muscle: &Muscle| {
            let (name, side) = (&muscle.name, muscle.side);
            let fibre = || name.strip_prefix(&keys.muscle).and_then(|rest| rest.strip_prefix(' '));
            let is_fibre = || fibre().is_some_and(|rest| rest.parse::<usize>().is_ok());
            side == keys.side && (*name == keys.muscle || is_fibre())
        };
        let keyed = keys.iter().filter(|k| k.parameter == Parameter::Activation && !k.values.is_empty());
        for keys in keyed {
            let muscles = self.muscles.iter().enumerate().filter(|(_, muscle)| of(keys, muscle));
            self.keys.extend(muscles.map(|(k, _)| (k, keys.clip.clone(), keys.values.clone())));
        }
        self
    }

    /// Number of muscles.
    pub fn len(&self) -> usize {
        self.muscles.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.muscles.is_empty()
    }

    /// Name and side of a muscle.
    pub fn title(&self, muscle: usize) -> &str {
        &self.muscles[muscle].title
    }

    /// What each vertex of a mesh keeps of the muscles.
    pub fn influence(&self, mesh: usize) -> &Influence {
        &self.influences[mesh]
    }

    /// Muscles that move no vertex, by number.
    pub fn idle(&self) -> Vec<usize> {
        let mut used = vec![false; self.muscles.len()];
        self.influences.iter().for_each(|influence| influence.mark(&mut used));
        (0..self.muscles.len()).filter(|&k| !used[k]).collect()
    }

    /// Puts the muscles into a pose: world-from-joint of every joint. `tension`: least activation of all of them, 0 to 1.
    /// Returns how many lengths or volumes were clamped.
    pub fn pose(&self, world_from_joint: &[Affine3A], tension: f32, workspace: &mut Workspace) -> usize {
        self.pose_at(world_from_joint, tension, None, workspace)
    }

    /// As [`Parametric::pose`], at a time of a clip, seconds: where a muscle is keyed in it, the keys replace the activation of
    /// the pose.
    pub fn pose_at(
        &self,
        world_from_joint: &[Affine3A],
        tension: f32,
        moment: Option<(&str, f32)>,
        workspace: &mut Workspace,
    ) -> usize {
        let keyed = |muscle: usize| {
            let (clip, time) = moment?;
            let keys = self.keys.iter().find(|(k, of, _)| *k == muscle && of == clip)?;
            Some(f64::from(on_curve(&keys.2, time).clamp(0.0, 1.0)))
        };
        let Workspace { frames, posed } = workspace;
        frames.clear();
        frames.extend(world_from_joint.iter().map(|&map| Rigid::from_affine(map)));
        posed.clear();
        let mut clamped = 0;
        for (k, muscle) in self.muscles.iter().enumerate() {
            let tension = f64::from(tension.clamp(0.0, 1.0));
            let (moved, short) = muscle.pose(frames, keyed(k), tension, self.rule);
            posed.push(moved);
            clamped += usize::from(short);
        }
        clamped
    }

    /// Displaces the skinned positions of a mesh by the muscles that [`Parametric::pose`] left. `alone`: on this thread only.
    pub fn displace(&self, posed: &[Posed], mesh: usize, positions: &mut [Vec3], alone: bool) -> Displaced {
        self.influences.get(mesh).map_or(Displaced::default(), |i| i.displace(posed, positions, alone))
    }

    /// Volume of a muscle at bind, cubic metres.
    pub fn volume(&self, muscle: usize) -> f64 {
        self.muscles[muscle].volume
    }
}

impl Muscle {
    fn new(
        definition: &ParametricDef,
        skeleton: &Skeleton,
        frames: &[Rigid],
    ) -> Result<Self, ParametricError> {
        let title = definition.title();
        let wrong =
            |key: &'static str, message: String| ParametricError { title: title.clone(), key, message };
        if let Some(problem) = PARAMETRIC.problems_of(definition).into_iter().next() {
            let name = problem.path.last_key().to_owned();
            let key = PARAMETRIC.key(&name).map_or("", |key| key.name);
            return Err(wrong(key, format!("{name} {}", problem.message)));
        }
        let place = |key: &'static str, point: &Attachment| {
            let joint = skeleton.find(&point.bone).ok_or_else(|| {
                let message =
                    format!("no joint \"{}\" in the skeleton; use one of its joints' names", point.bone);
                wrong(key, message)
            })?;
            Ok((joint, point.at.as_dvec3()))
        };
        let ends = [place("origin", &definition.origin)?, place("insertion", &definition.insertion)?];
        let path = definition.path.iter().map(|point| place("path", point)).collect::<Result<Vec<_>, _>>()?;
        for bone in &definition.parts {
            place("parts", &Attachment { bone: bone.clone(), at: Vec3::ZERO })?;
        }
        let [origin, insertion] = ends.map(|(joint, at)| frames[joint].point(at));
        let line = insertion - origin;
        let size = frames.iter().map(|f| f.translation.distance(frames[0].translation)).fold(0.0, f64::max);
        let length = line.length();
        if length <= COINCIDE * size || length == 0.0 {
            let message = "origin and insertion are the same point; move one of them".to_owned();
            return Err(wrong("insertion", message));
        }
        let path_length = path_length(&path, frames);
        if !path.is_empty() && path_length <= COINCIDE * size {
            return Err(wrong("path", "has no length; give two points that are apart".to_owned()));
        }
        let along = line / length;
        let bulge = frames[ends[0].0].vector(definition.bulge.as_dvec3());
        let across = bulge - bulge.dot(along) * along;
        if across.length() < LEAST_SINE * bulge.length() {
            let message =
                "bulge is within 5 degrees of the line from origin to insertion; turn it across".to_owned();
            return Err(wrong("bulge", message));
        }
        let across = across.normalize();
        let centre = f64::from(definition.centre);
        let thickness = Curve::new(centre, definition.thickness.map(f64::from));
        let [thinnest, thickest] = thickness.extremes();
        if thickest <= 0.0 || thinnest < -1e-6 * thickest {
            let message = if thickest <= 0.0 {
                "thickness is zero everywhere; give some".to_owned()
            } else {
                "thickness falls below zero after the centre; make the slope there gentler".to_owned()
            };
            return Err(wrong("thickness", message));
        }
        if definition.template == Template::Radial && definition.radius == 0.0 {
            return Err(wrong("radius", "a radial template needs a radius; write radius = 0.05".to_owned()));
        }
        let flatness = f64::from(definition.flatness);
        let turn = [path.first().unwrap_or(&ends[0]).0, path.last().unwrap_or(&ends[1]).0];
        Ok(Self {
            title,
            name: definition.name.clone(),
            side: definition.side,
            bulge: ends.map(|(joint, _)| frames[joint].vector_back(across)),
            along: frames[ends[0].0].vector_back(along),
            length,
            path_length,
            bind_turn: frames[turn[0]].rotation.conjugate() * frames[turn[1]].rotation,
            sweep: [0, 1].map(|k| Curve::new(centre, definition.sweep.map(|point| f64::from(point[k])))),
            volume: thickness.volume(length, flatness),
            thickness,
            flatness,
            tension: f64::from(definition.tension),
            activation: definition.activation.clone(),
            ends,
            path,
        })
    }

    /// Joints of the two ends.
    pub fn joints(&self) -> [usize; 2] {
        self.ends.map(|end| end.0)
    }

    /// Whether one bone carries its line.
    pub fn is_on_one_bone(&self) -> bool {
        self.ends[0].0 == self.ends[1].0
    }

    /// Joints whose turning tenses it: of the path's ends, or the line's.
    fn turning(&self) -> [usize; 2] {
        [self.path.first().unwrap_or(&self.ends[0]).0, self.path.last().unwrap_or(&self.ends[1]).0]
    }

    /// The muscle in a pose, and whether a length or a volume was clamped.
    fn pose(&self, frames: &[Rigid], keyed: Option<f64>, tension: f64, rule: Rule) -> (Posed, bool) {
        let [origin, insertion] = self.ends.map(|(joint, at)| frames[joint].point(at));
        let line = insertion - origin;
        let along = line.try_normalize().unwrap_or(frames[self.ends[0].0].vector(self.along));
        let ratio = if self.path.is_empty() {
            line.length() / self.length
        } else {
            path_length(&self.path, frames) / self.path_length
        };
        let [first, last] = self.turning();
        let turn = frames[first].rotation.conjugate() * frames[last].rotation;
        let stretch = Stretch { ratio, angle: turn.angle_between(self.bind_turn) };
        let tense = keyed.unwrap_or_else(|| activation(&self.activation, stretch)).max(tension);
        let kept = if ratio.is_finite() { ratio.clamp(LENGTHS[0], LENGTHS[1]) } else { 1.0 };
        let length = kept * self.length;
        let solved = self.thickness.with_volume(self.volume, length, self.flatness, rule);
        // The belly stays around its centre on the line between the two ends.
        let centre = self.thickness.centre;
        let start = origin.lerp(insertion, centre) - centre * length * along;
        let carried = [0, 1].map(|k| frames[self.ends[k].0].vector(self.bulge[k]));
        let mean = 0.5 * (carried[0] + carried[1]);
        let bulge = if mean.length() < OPPOSED { carried[0] } else { mean };
        let bulge =
            (bulge - bulge.dot(along) * along).try_normalize().unwrap_or(along.any_orthonormal_vector());
        let side = along.cross(bulge);
        let row = |v: DVec3, last: f64| v.as_vec3().extend(last as f32);
        let points = |p: [f64; 4]| Vec4::from_array(p.map(|x| x as f32));
        let both = |curve: &Curve| [points(curve.origin), points(curve.insertion)];
        let [across, high] = [both(&self.sweep[0]), both(&self.sweep[1])];
        let posed = Posed {
            origin: row(start, 1.0 + self.tension * tense),
            side: row(side, centre),
            line: row(along * length, 1.0 / (length * length)),
            bulge: row(bulge, self.flatness),
            thickness: both(&solved.curve),
            sweep: [[across[0], high[0]], [across[1], high[1]]],
        };
        (posed, solved.clamped || kept != ratio)
    }
}

fn path_length(path: &[(usize, DVec3)], frames: &[Rigid]) -> f64 {
    let place = |&(joint, at): &(usize, DVec3)| frames[joint].point(at);
    path.windows(2).map(|pair| place(&pair[0]).distance(place(&pair[1]))).sum()
}

/// Weights at the ends of the line rise over this share of it.
const END: f32 = 0.08;
/// Weights at the side of the muscle rise over this share of its half thickness.
pub(super) const EDGE: f32 = 0.15;

/// What a muscle says about a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    /// From the point to the middle of the section, along the bulge direction, metres.
    pub to_middle: f32,
    /// From there to the muscle's surface, metres.
    pub height: f32,
    /// Half axis of the section along the bulge direction, metres.
    pub reach: f32,
    /// 1 over the belly, 0 at its ends and sides.
    pub fade: f32,
    /// From the point to the nearest side or end of the muscle, across the bulge direction, metres.
    pub border: f32,
}

/// Where a point is beside a muscle, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Around {
    /// From the line.
    pub distance: f32,
    /// Above the line, towards the bulge.
    pub above: f32,
    /// Of the muscle there.
    pub thickness: f32,
    /// See [`Seen::to_middle`].
    pub to_middle: f32,
}

impl Posed {
    /// Share of the line that a point lies at, and what the curves say there: thickness, and sweep across and along the bulge.
    #[inline(always)]
    fn section(&self, from_origin: Vec3A) -> Option<(f32, [f32; 3])> {
        let t = from_origin.dot(self.line.truncate().into()) * self.line.w;
        if !(t > 0.0 && t < 1.0) {
            return None;
        }
        let centre = self.side.w;
        let (half, local) = if t <= centre { (0, t / centre) } else { (1, (t - centre) / (1.0 - centre)) };
        let rest = 1.0 - local;
        let (low, high) = (rest * rest, local * local);
        let basis = Vec4::new(low * rest, 3.0 * local * low, 3.0 * high * rest, high * local);
        let [across, along] = self.sweep[half];
        Some((t, [self.thickness[half].dot(basis), across.dot(basis), along.dot(basis)]))
    }

    /// A point seen from the muscle; `None` beside it and beyond its ends.
    #[inline(always)]
    pub(super) fn see(&self, point: Vec3A) -> Option<Seen> {
        let from_origin = point - Vec3A::from(self.origin.truncate());
        let (t, [thickness, across, along]) = self.section(from_origin)?;
        let tension = self.origin.w;
        let aside = (from_origin.dot(self.side.truncate().into()) - across).abs() * tension;
        if aside >= thickness {
            return None;
        }
        let height = self.bulge.w * tension * ((thickness - aside) * (thickness + aside)).sqrt();
        let edge = smoothstep((thickness - aside) / (EDGE * thickness));
        let fade = edge * smoothstep(t / END) * smoothstep((1.0 - t) / END);
        let to_middle = along - from_origin.dot(self.bulge.truncate().into());
        let length = t.min(1.0 - t) * self.line.w.sqrt().recip();
        let border = length.min((thickness - aside) / tension);
        Some(Seen { to_middle, height, reach: self.bulge.w * tension * thickness, fade, border })
    }

    /// What templates ask about a point; `None` beyond the ends.
    pub(super) fn around(&self, point: Vec3A) -> Option<Around> {
        let from_origin = point - Vec3A::from(self.origin.truncate());
        let (t, [thickness, _, along]) = self.section(from_origin)?;
        let from_line = from_origin - t * Vec3A::from(self.line.truncate());
        let above = from_line.dot(self.bulge.truncate().into());
        Some(Around { distance: from_line.length(), above, thickness, to_middle: along - above })
    }

    /// Half thickness across the bulge direction at share `t` of the line, at tension 1; metres.
    pub fn thickness_at(&self, t: f32) -> f32 {
        let direction = t * Vec3A::from(self.line.truncate());
        self.section(direction).map_or(0.0, |(_, [thickness, ..])| thickness)
    }

    /// The muscle's surface: `rings` sections of `around` points each, from origin to insertion; metres, world.
    pub fn surface(&self, rings: usize, around: usize) -> crate::geom::TriMesh {
        let (rings, around) = (rings.max(2), around.max(3));
        let [origin, side, bulge, line] =
            [self.origin, self.side, self.bulge, self.line].map(|row| Vec3A::from(row.truncate()));
        let mut mesh = crate::geom::TriMesh::default();
        for ring in 0..rings {
            let t = (ring as f32 / (rings - 1) as f32).clamp(1e-6, 1.0 - 1e-6);
            let Some((_, [thickness, across, along])) = self.section(t * line) else { continue };
            let middle = origin + t * line + across * side + along * bulge;
            for k in 0..around {
                let (sine, cosine) = (std::f32::consts::TAU * k as f32 / around as f32).sin_cos();
                let reach = cosine / self.origin.w * side + sine * self.bulge.w * self.origin.w * bulge;
                mesh.positions.push((middle + thickness * reach).into());
            }
        }
        let at = |ring: usize, k: usize| (ring * around + k % around) as u32;
        for ring in 0..rings - 1 {
            for k in 0..around {
                mesh.triangles.push([at(ring, k), at(ring + 1, k), at(ring, k + 1)]);
                mesh.triangles.push([at(ring, k + 1), at(ring + 1, k), at(ring + 1, k + 1)]);
            }
        }
        for k in 1..around - 1 {
            mesh.triangles.push([at(0, 0), at(0, k), at(0, k + 1)]);
            mesh.triangles.push([at(rings - 1, 0), at(rings - 1, k + 1), at(rings - 1, k)]);
        }
        mesh
    }
}

#[inline(always)]
pub(super) fn smoothstep(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

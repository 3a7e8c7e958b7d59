//! A part's field: samples, closures, falloff radius, table.

use super::PartSettings;
use super::closure::{self, Closure, Spacing};
use super::outside::Outside;
use super::solid::{EMPTY, Face, Solid};
use super::symmetry::{Even, Mirror, Pair};
use crate::field::grid::BakeError;
use crate::field::hrbf::{self, FitError, Hrbf};
use crate::field::{CompactHrbf, Field, Grid, GridSettings, Sample, Support, SurfaceSample};
use crate::geom::{TriMesh, poisson_disk};
use crate::pieces::skeleton::distance_to_segments;
use glam::Vec3;

/// How one try at a part differs from the usual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variation {
    /// Times the usual number of samples.
    pub samples: usize,
    /// Largest falloff radius, in inner radii.
    pub radius: f32,
    pub spacing: Spacing,
    /// Whether features thin beside the part are sampled.
    pub thin_features: bool,
}

impl Variation {
    pub fn usual(settings: &PartSettings) -> Self {
        Self { samples: 1, radius: settings.largest_radius, spacing: Spacing::USUAL, thin_features: true }
    }
}

/// A part's skin, ready to be sampled.
pub(super) struct Skin {
    /// The part's seen triangles, with their own vertices.
    pub mesh: TriMesh,
    pub normals: Vec<Vec3>,
    pub area: f32,
    /// The bone.
    pub segments: Vec<[Vec3; 2]>,
    /// Largest distance to the skin in the part's solid.
    pub inner_radius: f32,
    /// Of a part in the middle of a symmetric body.
    pub mirror: Option<Mirror>,
}

impl Skin {
    pub fn new(
        outside: &Outside,
        triangles: &[u32],
        segments: Vec<[Vec3; 2]>,
        inner_radius: f32,
        mirror: Option<Mirror>,
    ) -> Self {
        let mut used: Vec<u32> = triangles.iter().flat_map(|&t| outside.mesh.triangles[t as usize]).collect();
        used.sort_unstable();
        used.dedup();
        let own = |v: u32| used.partition_point(|&u| u < v) as u32;
        let mesh = TriMesh {
            positions: used.iter().map(|&v| outside.mesh.positions[v as usize]).collect(),
            triangles: triangles.iter().map(|&t| outside.mesh.triangles[t as usize].map(own)).collect(),
        };
        let normals = used.iter().map(|&v| outside.normals[v as usize]).collect();
        let area = mesh.area() as f32;
        Self { mesh, normals, area, segments, inner_radius, mirror }
    }
}

/// A fitted part.
pub(super) struct Fitted {
    pub samples: Vec<SurfaceSample>,
    pub closures: Vec<SurfaceSample>,
    pub radius: f32,
    pub hrbf: CompactHrbf,
    pub field: Grid,
    /// Share of the support's border where the field had not ended.
    pub cut_border: f32,
}

/// Of a closure ball's radius: skin samples nearer to its point are dropped, they would pull it to the rim.
const CLOSURE_CLEARANCE: f32 = 0.15;
/// Of the inner radius: samples nearer to each other are one, the two sides of a card without thickness.
const SAMPLE_CLEARANCE: f32 = 0.02;
/// In inner radii: skin with less flesh behind it, or a narrower gap before it, is a thin feature: a nail, a
/// collar. A round limb has 2.
const THIN: [f32; 2] = [0.4, 0.2];
/// Samples per square inner radius of skin; a tube as long as thick gets the 50 of the papers.
const DENSITY: f32 = 2.6;

/// What was solved last. Tries often differ in nothing that is solved for, and then share it.
#[derive(Default)]
pub(super) struct LastSolve(Option<(Vec<SurfaceSample>, f64, Result<Hrbf, FitError>)>);

impl LastSolve {
    fn solve(&mut self, samples: Vec<SurfaceSample>, scale: f64) -> Result<Hrbf, FitError> {
        match &self.0 {
            Some((known, of_scale, solved)) if *known == samples && *of_scale == scale => solved.clone(),
            _ => {
                let solved = hrbf::fit(&samples, scale);
                self.0 = Some((samples, scale, solved.clone()));
                solved
            }
        }
    }
}

pub(super) fn fit(
    outside: &Outside,
    skin: &Skin,
    closures: &[Closure],
    variation: Variation,
    last: &mut LastSolve,
    settings: &PartSettings,
) -> Result<Fitted, FitError> {
    let inner = skin.inner_radius.max(f32::MIN_POSITIVE);
    let [fewest, most] = settings.samples;
    let count = ((DENSITY * skin.area / (inner * inner)) as usize).clamp(fewest, most.max(fewest));
    let count = (count * variation.samples).min(MOST_SAMPLES);
    let scatter = poisson_disk::Settings { count, seed: settings.seed };
    let mut samples: Vec<SurfaceSample> = Vec::with_capacity(count);
    let points = poisson_disk::scatter(&skin.mesh, &skin.normals, &scatter);
    let pairs: Vec<Pair> = match skin.mirror {
        Some(mirror) => mirror.even_samples(points, (skin.area / count as f32).sqrt(), outside),
        None => points.into_iter().map(|point| (point.into(), None)).collect(),
    };
    for (point, image) in pairs {
        let near_closure =
            |c: &Closure| c.sample.position.distance(point.position) < CLOSURE_CLEARANCE * c.radius;
        let near = |s: &SurfaceSample| s.position.distance(point.position) < SAMPLE_CLEARANCE * inner;
        let thin = || {
            let (inward, outward) = (THIN[0] * inner, THIN[1] * inner);
            let start = 0.01 * inner * point.normal;
            outside.clearance(point.position - start, -point.normal, inward).is_some()
                || outside.clearance(point.position + start, point.normal, outward).is_some()
        };
        if !closures.iter().any(near_closure)
            && !samples.iter().any(near)
            && (variation.thin_features || !thin())
        {
            samples.push(point);
            samples.extend(image);
        }
    }
    let mut distances: Vec<f32> =
        samples.iter().map(|s| distance_to_segments(s.position, &skin.segments)).collect();
    distances.sort_by(f32::total_cmp);
    let farthest = distances.last().copied().unwrap_or(inner);
    let radius = farthest.clamp(settings.smallest_radius * inner, variation.radius * inner);
    let scale = scale(&samples, &skin.segments, inner);
    let closures: Vec<SurfaceSample> = closures.iter().map(|c| c.sample).collect();
    let (hrbf, field, cut_border) = field(&samples, &closures, scale, radius, skin.mirror, last, settings)?;
    Ok(Fitted { samples, closures, radius, hrbf, field, cut_border })
}

/// The limb's radius as the fit takes it: the median distance of the samples to the bone, within bounds.
pub(super) fn scale(samples: &[SurfaceSample], segments: &[[Vec3; 2]], inner: f32) -> f64 {
    let mut distances: Vec<f32> =
        samples.iter().map(|s| distance_to_segments(s.position, segments)).collect();
    distances.sort_by(f32::total_cmp);
    let median = distances.get(distances.len() / 2).copied().unwrap_or(inner);
    f64::from(median.clamp(0.5 * inner, 2.0 * inner))
}

/// The field through samples and closures, its table, and the share of its border that is cut.
pub(super) fn field(
    samples: &[SurfaceSample],
    closures: &[SurfaceSample],
    scale: f64,
    radius: f32,
    mirror: Option<Mirror>,
    last: &mut LastSolve,
    settings: &PartSettings,
) -> Result<(CompactHrbf, Grid, f32), FitError> {
    let all: Vec<SurfaceSample> = samples.iter().chain(closures).copied().collect();
    let hrbf = CompactHrbf::new(last.solve(all, scale)?, radius);
    let cut_border = cut_border(&hrbf, radius);
    let baked = if cut_border > 0.0 {
        bake(&Faded { field: &hrbf, width: FADE * radius }, mirror, settings)
    } else {
        bake(&hrbf, mirror, settings)
    };
    // A support without size comes from samples without extent.
    let field = baked.map_err(|_| FitError::Scale(scale))?;
    Ok((hrbf, field, cut_border))
}

/// The table of a part's field; of one in the middle of a symmetric body, the mean of both sides.
fn bake(field: &dyn Field, mirror: Option<Mirror>, settings: &PartSettings) -> Result<Grid, BakeError> {
    let resolution = settings.resolution.clamp(4, crate::field::grid::MAX_RESOLUTION);
    match mirror {
        Some(mirror) => Grid::bake(&Even::new(field, mirror, resolution), &GridSettings { resolution }),
        None => Grid::bake(field, &GridSettings { resolution }),
    }
}

/// Most samples of a part that leaks; the time of the solve grows with their cube.
const MOST_SAMPLES: usize = 450;

/// Points along each side of the support's faces at which the border is looked at.
const BORDER_POINTS: usize = 12;

/// Share of the points on the support's border where the field is not yet zero.
fn cut_border(field: &CompactHrbf, radius: f32) -> f32 {
    let Support { low, high } = field.support();
    let mut cut = 0;
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for side in [low[axis], high[axis]] {
            for i in 0..BORDER_POINTS * BORDER_POINTS {
                let part = |k: usize| (k as f32 + 0.5) / BORDER_POINTS as f32;
                let mut point = Vec3::ZERO;
                point[axis] = side;
                point[u] = low[u] + part(i % BORDER_POINTS) * (high[u] - low[u]);
                point[v] = low[v] + part(i / BORDER_POINTS) * (high[v] - low[v]);
                cut += usize::from(field.hrbf().distance(point).0 < radius);
            }
        }
    }
    cut as f32 / (6 * BORDER_POINTS * BORDER_POINTS) as f32
}

/// Of the falloff radius: width of the band along the support's border in which a field that has not ended
/// fades to zero.
const FADE: f32 = 0.4;

/// A field that fades to zero along the border of its support, so that vertices meet no jump there.
struct Faded<'a> {
    field: &'a dyn Field,
    width: f32,
}

impl Field for Faded<'_> {
    fn sample(&self, point: Vec3) -> Sample {
        let Sample { mut value, mut gradient } = self.field.sample(point);
        if value == 0.0 {
            return Sample::OUTSIDE;
        }
        let Support { low, high } = self.field.support();
        for axis in 0..3 {
            for (distance, sign) in [(point[axis] - low[axis], 1.0), (high[axis] - point[axis], -1.0)] {
                let t = (distance / self.width).clamp(0.0, 1.0);
                let (weight, slope) = (t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t) / self.width);
                gradient *= weight;
                gradient[axis] += sign * slope * value;
                value *= weight;
            }
        }
        Sample { value, gradient }
    }

    fn support(&self) -> Support {
        self.field.support()
    }
}

impl Fitted {
    /// Bakes the table again, corrected where the fit sticks out of the skin or misses the part's solid.
    pub fn clamp(
        &mut self,
        outside: &Outside,
        solids: [&Solid; 2],
        own: &(dyn Fn(u32) -> bool + Sync),
        skin: &Skin,
        settings: &PartSettings,
    ) {
        let inner_radius = skin.inner_radius;
        let clamped = Clamped { field: &self.hrbf, outside, solids, own, inner_radius };
        let faded = Faded { field: &clamped, width: FADE * self.radius };
        if let Ok(field) = bake(&faded, skin.mirror, settings) {
            self.field = field;
        }
    }
}

/// In inner radii: the fit may be off the skin by this much.
const SLACK: f32 = 0.15;
/// Least slope of the distance beyond that.
const LEAST_SLOPE: f32 = 0.7;

/// A field whose distance is at least a share of the distance to the skin outside, and at most minus a share
/// of it in the part's own solid.
struct Clamped<'a> {
    field: &'a CompactHrbf,
    outside: &'a Outside,
    solids: [&'a Solid; 2],
    own: &'a (dyn Fn(u32) -> bool + Sync),
    inner_radius: f32,
}

impl Field for Clamped<'_> {
    fn sample(&self, point: Vec3) -> Sample {
        if !self.field.support().contains(point) {
            return Sample::OUTSIDE;
        }
        let falloff = self.field.falloff();
        let vertex = self.solids.iter().map(|s| s.vertex_at(point)).find(|&v| v != EMPTY).unwrap_or(EMPTY);
        let (mut distance, mut gradient) = self.field.hrbf().distance(point);
        if vertex == EMPTY || (self.own)(vertex) {
            let Some(foot) = self.outside.nearest(point, f32::INFINITY) else { return Sample::OUTSIDE };
            let bound = LEAST_SLOPE * (foot.distance - SLACK * self.inner_radius);
            let away = (point - foot.point).normalize_or_zero();
            if vertex == EMPTY && bound > distance.max(0.0) {
                (distance, gradient) = (bound, LEAST_SLOPE * away);
            } else if vertex != EMPTY && bound > 0.0 && -bound < distance {
                (distance, gradient) = (-bound, -LEAST_SLOPE * away);
            }
        }
        let distance = f64::from(distance);
        if distance >= falloff.radius {
            return Sample::OUTSIDE;
        }
        Sample { value: falloff.value(distance) as f32, gradient: falloff.slope(distance) as f32 * gradient }
    }

    fn support(&self) -> Support {
        self.field.support()
    }
}

/// The closures of a part from its cuts, with the pivot in place of a ball where `pivot` gives one for the
/// neighbour: its position and its distance to the skin. None lies farther than `reach` says from where the part
/// turns against the neighbour.
pub(super) fn closures(
    cuts: &[(u32, Vec<Face>)],
    inner_radius: f32,
    spacing: Spacing,
    pivot: impl Fn(u32) -> Option<(Vec3, f32)>,
    reach: impl Fn(u32) -> Option<(Vec3, f32)>,
) -> Vec<Closure> {
    let mut all = Vec::new();
    for (to, faces) in cuts {
        let mut balls = closure::balls(*to, faces, inner_radius, spacing);
        if let (Some(largest), Some((pivot, clearance))) = (balls.first_mut(), pivot(*to)) {
            largest.turn_about(pivot, clearance);
        }
        if let Some((hinge, reach)) = reach(*to) {
            balls.iter_mut().for_each(|ball| ball.stay_within(hinge, reach));
        }
        all.extend(balls);
    }
    closure::distinct(all)
}

//! Named quantities per vertex, from any stage, to look at.

use crate::character::{Character, Pose};
use crate::field::Field;
use crate::frame::{Found, Frame};
use crate::geom::Adjacency;
use crate::measure::{FrameInput, Judge};
use crate::output::ColourMap;
use crate::skinning::Surface;
use crate::tracking::VertexReport;
use glam::Vec3;
use rayon::prelude::*;

/// The quantities there are, with what they show.
pub const QUANTITIES: [(&str, &str); 15] = [
    ("stretch", "mean length of the edges around a vertex over rest"),
    ("depth", "depth of vertices inside another part of the skin"),
    ("crossing", "triangles that meet others, and did not at rest"),
    ("region", "the skin by its strongest bone"),
    ("weight:JOINT", "weight of a joint"),
    ("role", "1 skin, 2 worn, 3 rigid, 4 loose; with tracking"),
    ("iso-error", "how far a vertex is from the field value it had at rest; with tracking"),
    ("contact", "vertices held by a contact; with tracking"),
    ("beta", "how strongly contact holds a vertex, smoothed over the skin; with tracking"),
    ("vertex-state", "0 asleep, 1 free, 2 in contact, 3 fell back; with tracking"),
    ("gradient-angle", "angle between the gradients of two parts in contact; with tracking"),
    ("pierce", "how far muscles stand out of the skin there; with muscles"),
    ("muscle-weight", "how much of the parametric muscles' motion skin shows; with parametric muscles"),
    ("muscle-weight:NAME", "of one of them; no value outside its template"),
    ("evaluations", "how often the fields were sampled for a vertex; with tracking"),
];

/// Those that only tracking finds.
const OF_TRACKING: [&str; 7] =
    ["role", "iso-error", "contact", "beta", "vertex-state", "gradient-angle", "evaluations"];

/// What the name of a parametric muscle follows.
const OF_MUSCLE: &str = "muscle-weight:";

/// Values of a named quantity, one list per mesh, one value per file vertex.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// Its name.
    pub name: String,
    /// Its unit; empty for a plain number.
    pub unit: &'static str,
    /// Values at the ends of the colour map.
    pub range: [f32; 2],
    /// The colour map.
    pub map: ColourMap,
    /// Per mesh and file vertex; NaN where it has no value.
    pub values: Vec<Vec<f32>>,
}

/// Why a quantity cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum QuantityError {
    /// No such quantity.
    #[error("no quantity is called \"{0}\"; there are {known}", known = QUANTITIES.map(|q| q.0).join(", "))]
    Unknown(String),
    /// No such joint.
    #[error("weight:{0}: the character has no joint of that name")]
    NoSuchJoint(String),
    /// Nothing to show it on.
    #[error("{0}: the character has no skinned mesh to show it on")]
    NotSkinned(String),
    /// The stack has no tracking.
    #[error("{0}: only tracking finds it; choose a method that tracks, implicit or muscles")]
    NotTracked(String),
    /// The frame has no muscles.
    #[error("{0}: needs muscles; choose the method muscles, and an anatomy that has any")]
    NoMuscles(String),
    /// The frame has no parametric muscles.
    #[error("{0}: needs parametric muscles; choose the method parametric, and an anatomy that has any")]
    NoParametric(String),
    /// None of that name.
    #[error("{quantity}: no parametric muscle of that name; the first is \"{first}\"")]
    NoSuchMuscle {
        /// As asked for.
        quantity: String,
        /// One there is.
        first: String,
    },
    /// The surface cannot be judged.
    #[error(transparent)]
    Judge(#[from] crate::measure::JudgeError),
}

/// Computes quantities of one character; what several frames share is prepared once.
#[derive(Clone, Debug)]
pub struct Inspector<'a> {
    character: &'a Character,
    surface: Surface,
    adjacency: Adjacency,
    judge: Option<Judge>,
    name: String,
    joint: Option<u32>,
}

impl<'a> Inspector<'a> {
    /// Prepares the quantity called `name`.
    pub fn new(character: &'a Character, name: &str) -> Result<Self, QuantityError> {
        // Its earlier name.
        let name = if name == "part" { "region" } else { name };
        let joint = match name.strip_prefix("weight:") {
            Some(joint) => {
                let found = character.skeleton.find(joint);
                Some(found.ok_or_else(|| QuantityError::NoSuchJoint(joint.to_owned()))? as u32)
            }
            None if name.starts_with(OF_MUSCLE) => None,
            None if QUANTITIES.iter().any(|q| q.0 == name) => None,
            None => return Err(QuantityError::Unknown(name.to_owned())),
        };
        let surface = Surface::new(character).ok_or_else(|| QuantityError::NotSkinned(name.to_owned()))?;
        let judge = if ["depth", "crossing"].contains(&name) { Some(Judge::of(&surface)?) } else { None };
        let adjacency = Adjacency::new(&surface.mesh);
        Ok(Self { character, surface, adjacency, judge, name: name.to_owned(), joint })
    }

    /// The quantity's values on `frame`, which shows `pose`.
    pub fn inspect(&self, frame: &Frame, pose: &Pose) -> Result<Quantity, QuantityError> {
        let tracked = &frame.found;
        let of_tracking = OF_TRACKING.contains(&self.name.as_str());
        if of_tracking && tracked.reports.len() != self.surface.mesh.positions.len() {
            return Err(QuantityError::NotTracked(self.name.clone()));
        }
        if self.name.starts_with("muscle-weight") {
            let values = self.muscle_weights(frame)?;
            let (range, map) = ([0.0, 1.0], ColourMap::Sequential);
            return Ok(Quantity { name: self.name.clone(), unit: "", range, map, values });
        }
        let (unit, range, map, values) = match (self.name.as_str(), self.joint) {
            (_, Some(joint)) => ("", [0.0, 1.0], ColourMap::Sequential, self.weights(joint)),
            ("stretch", _) => ("× rest", [0.5, 1.5], ColourMap::Diverging, self.stretch(frame)),
            ("region", _) => {
                let last = self.surface.regions.regions.len().saturating_sub(1).max(1) as f32;
                let regions = &self.surface.regions.region_of_vertex;
                // Neighbouring bones have neighbouring numbers; a stride spreads them over the map.
                let spread = |region: u32| ((region * 7) % (last as u32 + 1)) as f32;
                ("", [0.0, last], ColourMap::Sequential, regions.iter().map(|&r| spread(r)).collect())
            }
            ("pierce", _) => {
                let values = self.pierced(frame)?;
                let most = values.iter().fold(1.0f32, |a, &b| a.max(b));
                ("mm", [0.0, most], ColourMap::Sequential, values)
            }
            (name, _) if of_tracking => of_tracking_values(name, tracked),
            (name, _) => {
                let values = self.crossings(frame, pose, name == "depth")?;
                let deepest = values.iter().fold(0.0f32, |a, &b| a.max(b)).max(1e-3);
                if name == "depth" {
                    ("mm", [0.0, deepest], ColourMap::Sequential, values)
                } else {
                    ("", [0.0, 1.0], ColourMap::Sequential, values)
                }
            }
        };
        let meshes = 0..self.character.meshes.len();
        let values = meshes.map(|m| self.surface.to_mesh(self.character, m, &values)).collect();
        Ok(Quantity { name: self.name.clone(), unit, range, map, values })
    }

    /// How deep each vertex lies in a muscle, millimetres.
    fn pierced(&self, frame: &Frame) -> Result<Vec<f32>, QuantityError> {
        let muscles = &frame.found.flesh.muscles;
        if muscles.is_empty() {
            return Err(QuantityError::NoMuscles(self.name.clone()));
        }
        let depth = |p: &Vec3| {
            let near = muscles.iter().filter(|m| m.shape.support().contains(*p));
            let distances = near.filter_map(|m| m.shape.near(p.as_dvec3(), m.shape.thickest()));
            distances.fold(0.0f32, |most, near| most.max(-1e3 * near.distance as f32))
        };
        Ok(self.surface.positions(frame).par_iter().with_min_len(256).map(depth).collect())
    }

    /// Weights of parametric muscles per mesh and vertex: of the named one, or the sum of all, at most 1.
    fn muscle_weights(&self, frame: &Frame) -> Result<Vec<Vec<f32>>, QuantityError> {
        let wrong = || QuantityError::NoParametric(self.name.clone());
        let muscles = frame.found.parametric_muscles.as_ref().ok_or_else(wrong)?;
        let wanted = self.name.strip_prefix(OF_MUSCLE);
        let number = wanted.map(|name| (0..muscles.len()).find(|&k| muscles.title(k) == name));
        if number == Some(None) {
            let (quantity, first) = (self.name.clone(), muscles.title(0).to_owned());
            return Err(QuantityError::NoSuchMuscle { quantity, first });
        }
        let of_mesh = |(m, mesh): (usize, &crate::character::Mesh)| {
            let outside = if wanted.is_some() { f32::NAN } else { 0.0 };
            let mut values = vec![outside; mesh.positions.len()];
            for (v, entries) in muscles.influence(m).entries() {
                let counted =
                    entries.iter().filter(|e| number.flatten().is_none_or(|k| k == usize::from(e.muscle)));
                let sum: f32 = counted.map(|entry| entry.weight).sum();
                if sum > 0.0 {
                    values[v as usize] = sum.min(1.0);
                }
            }
            values
        };
        Ok(self.character.meshes.iter().enumerate().map(of_mesh).collect())
    }

    fn weights(&self, joint: u32) -> Vec<f32> {
        let influences = &self.surface.influences;
        (0..influences.len())
            .map(|v| influences.of(v).find(|&(j, _)| j == joint).map_or(0.0, |(_, w)| w))
            .collect()
    }

    fn stretch(&self, frame: &Frame) -> Vec<f32> {
        let (posed, rest) = (self.surface.positions(frame), &self.surface.mesh.positions);
        let mean = |v: usize| {
            let ring = self.adjacency.vertex_ring.get(v);
            let lengths = ring.iter().map(|&w| {
                let w = w as usize;
                (posed[v].distance(posed[w]), rest[v].distance(rest[w]))
            });
            let (posed, rest) = lengths.fold((0.0, 0.0), |(p, r), (dp, dr)| (p + dp, r + dr));
            if rest > 0.0 { posed / rest } else { f32::NAN }
        };
        (0..posed.len()).map(mean).collect()
    }

    /// Depth in millimetres, or 1 on the corners of crossing triangles.
    fn crossings(&self, frame: &Frame, pose: &Pose, depth: bool) -> Result<Vec<f32>, QuantityError> {
        let mut values = vec![0.0; self.surface.mesh.positions.len()];
        let Some(judge) = &self.judge else { return Ok(values) };
        let mut clip = judge.clip();
        clip.add(&FrameInput {
            posed_from_rest: &self.surface.posed_from_rest(self.character, pose),
            ..FrameInput::new(0, &self.surface.positions(frame))
        })?;
        let detail = clip.detail();
        if depth {
            for &(v, metres) in &detail.depth {
                values[v as usize] = metres.abs() * 1e3;
            }
        } else {
            let crossing = detail.pairs.iter().chain(&detail.pairs_across).flatten();
            for &v in crossing.flat_map(|&t| &self.surface.mesh.triangles[t as usize]) {
                values[v as usize] = 1.0;
            }
        }
        Ok(values)
    }
}

/// Unit, range, colours and values of one of [`OF_TRACKING`], per vertex of the surface.
fn of_tracking_values(name: &str, tracked: &Found) -> (&'static str, [f32; 2], ColourMap, Vec<f32>) {
    let reports = &tracked.reports;
    let of_reports = |value: fn(&VertexReport) -> f32| reports.iter().map(value).collect::<Vec<f32>>();
    let sequential = |unit, most: f32, values| (unit, [0.0, most], ColourMap::Sequential, values);
    match name {
        "role" => {
            let pieces = tracked.pieces.as_deref();
            let number = |v: usize| pieces.map_or(f32::NAN, |pieces| f32::from(1 + pieces.role(v) as u8));
            sequential("", 4.0, (0..reports.len()).map(number).collect())
        }
        "iso-error" => sequential("", 0.1, of_reports(|r| r.iso_error)),
        "contact" => sequential("", 1.0, of_reports(|r| f32::from(r.contact > 0.0))),
        "beta" => sequential("", 1.0, of_reports(|r| r.contact)),
        "vertex-state" => {
            let number = |v| f32::from(tracked.state(v) as u8);
            sequential("", 3.0, (0..reports.len()).map(number).collect())
        }
        "gradient-angle" => {
            let degrees = |&cosine: &f32| cosine.clamp(-1.0, 1.0).acos().to_degrees();
            sequential("degrees", 180.0, tracked.cosines.iter().map(degrees).collect())
        }
        _ => {
            let values = of_reports(|r| r.evaluations as f32);
            let most = values.iter().fold(1.0f32, |a, &b| a.max(b));
            sequential("", most, values)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::{Body, Stack, Workspace};
    use std::sync::Arc;

    #[test]
    fn every_quantity_of_a_tracked_frame_has_a_value_per_vertex_within_its_range() {
        let character = Arc::new(crate::samples::build("cylinder").unwrap());
        let body = Body::bind(character.clone(), Stack::implicit(), None).unwrap();
        let mut pose = Pose::rest(&character);
        let clip = &character.clips[0];
        clip.sample(0.5 * (clip.start + clip.end), &mut pose);
        let mut workspace = Workspace::default();
        let frame = body.deform(&pose, 0.0, &mut workspace);
        for name in OF_TRACKING {
            let inspector = Inspector::new(&character, name).unwrap();
            let quantity = inspector.inspect(&frame, &pose).unwrap();
            let values = &quantity.values[0];
            assert_eq!(values.len(), character.meshes[0].positions.len());
            assert!(values.iter().all(|v| (0.0..=quantity.range[1].max(1.0)).contains(v)), "{name}");
            assert!(values.iter().any(|&v| v > 0.0), "{name} shows nothing on a deep bend");
        }
    }

    #[test]
    fn without_tracking_the_error_says_what_is_needed() {
        let character = Arc::new(crate::samples::build("cylinder").unwrap());
        let body = Body::bind(character.clone(), Stack::dual_quaternion(), None).unwrap();
        let mut workspace = Workspace::default();
        let (frame, pose) = (body.rest(&mut workspace), Pose::rest(&character));
        let inspector = Inspector::new(&character, "contact").unwrap();
        let error = inspector.inspect(&frame, &pose).unwrap_err();
        assert!(error.to_string().contains("choose a method that tracks"), "{error}");
    }
}

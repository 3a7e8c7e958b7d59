//! What is under the skin in one moment: muscles and fat; samples of the fields, surfaces and planes of them.

use crate::flesh::{self, Cast, Owners, Strands};
use crate::message::{Array, InsideRequest, Kind, SliceLook, SurfaceLook, encode};
use crate::studio::Studio;
use crate::wire::wire;
use axum::body::Bytes;
use ecorche::character::Pose;
use ecorche::deform::{Body, Tracking};
use ecorche::field::section::{Axis, Section, Window};
use ecorche::frame::Frame;
use ecorche::muscle::{Flesh, Musculature};
use ecorche::portrait::{field_surface, part_of_joint};
use glam::Vec3;
use serde::Serialize;

/// Cells along the longest side of a surface while playing, and when paused.
const CELLS: [usize; 2] = [48, 96];

/// Samples along the longer side of a plane while playing, and when paused.
const COLUMNS: [usize; 2] = [96, 192];

/// The moment that is shown.
pub struct Moment<'a> {
    /// Number of the frame it belongs to.
    pub frame: u64,
    /// The pose.
    pub pose: &'a Pose,
    /// The deformed character.
    pub shown: &'a Frame,
    /// A body with fields, if there is one.
    pub body: Option<&'a Body>,
    /// The body's own muscles and fat in this moment, if it has any.
    pub flesh: Option<(&'a Musculature, &'a Flesh)>,
    /// Whether the clip plays: coarse is then enough.
    pub hurried: bool,
}

wire! {
    #[derive(Serialize)]
    pub struct SurfaceHead {
        vertices: usize,
        triangles: usize,
    }
}

wire! {
    #[derive(Serialize)]
    pub struct SliceHead {
        axis: String,
        middle: Vec3,
        right: Vec3,
        up: Vec3,
        half: [f32; 2],
        columns: usize,
        rows: usize,
    }
}

wire! {
    #[derive(Default, Serialize)]
    pub struct InsideHead {
        frame: u64,
        /// Milliseconds since 1970, to measure the transfer.
        sent: f64,
        /// Samples and, after them, closures.
        samples: [usize; 2],
        surface: Option<SurfaceHead>,
        slice: Option<SliceHead>,
        /// What could not be shown, in plain words.
        problems: Vec<String>,
    }
}

wire! {
    /// Operator and controller of a joint.
    #[derive(Default, Serialize)]
    pub struct GraphHead {
        joint: String,
        operator: String,
        /// Places on the curve, from 0 to 180 degrees.
        angles: usize,
        /// Values along a side of each square; openings 0, a half and 1 follow each other.
        square: usize,
    }
}

/// Draws what is under the skin. Remembers the muscles of the last anatomy.
#[derive(Default)]
pub struct Interior {
    cast: Option<(u64, Result<Cast, String>)>,
    /// Muscles and fat of the last moment they were asked for.
    pub strands: Strands,
    /// Their owners.
    pub owners: Owners,
}

impl Interior {
    /// Puts muscles and fat of a moment into numbers; true if their owners changed, or why there are none.
    pub fn pose_flesh(&mut self, studio: &Studio, moment: &Moment) -> Result<bool, String> {
        if let Some((musculature, flesh)) = moment.flesh {
            return Ok(flesh::draw(musculature, flesh, &mut self.strands, &mut self.owners));
        }
        self.update_cast(studio);
        let (_, cast) = self.cast.as_ref().expect("just made");
        let cast = cast.as_ref().map_err(Clone::clone)?;
        let (musculature, flesh) = cast.settle(&moment.pose.world(&studio.character.skeleton));
        Ok(flesh::draw(musculature, &flesh, &mut self.strands, &mut self.owners))
    }

    /// The message about the fields of a moment.
    pub fn draw(&self, inside: &InsideRequest, moment: &Moment) -> Bytes {
        let mut head = InsideHead { frame: moment.frame, ..InsideHead::default() };
        let (mut points, mut owners) = (Vec::new(), Vec::new());
        if let Some(bone) = &inside.samples {
            match samples(moment, bone.bone.as_deref(), &mut points, &mut owners) {
                Ok(counts) => head.samples = counts,
                Err(problem) => head.problems.push(problem),
            }
        }
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        if let Some(look) = &inside.surface {
            match surface(moment, look, &mut vertices, &mut triangles) {
                Ok(surface) => head.surface = Some(surface),
                Err(problem) => head.problems.push(problem),
            }
        }
        let mut values = Vec::new();
        if let Some(look) = &inside.slice {
            match slice(moment, look, &mut values) {
                Ok(slice) => head.slice = Some(slice),
                Err(problem) => head.problems.push(problem),
            }
        }
        head.problems.dedup();
        head.sent = crate::engine::unix_milliseconds();
        let arrays = [
            Array::F32(&points),
            Array::U32(&owners),
            Array::F32(&vertices),
            Array::U32(&triangles),
            Array::F32(&values),
        ];
        encode(Kind::Inside, &head, &arrays)
    }

    fn update_cast(&mut self, studio: &Studio) {
        let document = studio.document();
        let revision = document.revision();
        if self.cast.as_ref().is_some_and(|(of, _)| *of == revision) {
            return;
        }
        let (anatomy, folder) = (document.anatomy().clone(), document.folder().to_owned());
        drop(document);
        let cast = Cast::new(&anatomy, &studio.character, &folder).map_err(|error| error.to_string());
        self.cast = Some((revision, cast));
    }
}

const NO_FIELDS: &str = "the fields are not ready yet; wait a moment";

/// Six numbers (place, normal) per sample and the joint whose part it belongs to; closures come last.
fn samples(
    moment: &Moment,
    bone: Option<&str>,
    points: &mut Vec<f32>,
    owners: &mut Vec<u32>,
) -> Result<[usize; 2], String> {
    let body = moment.body.ok_or(NO_FIELDS)?;
    let (Some(parts), Some(surface)) = (body.parts(), body.surface()) else { return Err(NO_FIELDS.into()) };
    let only = bone.map(|name| part_of_joint(body, name)).transpose().map_err(|e| e.to_string())?;
    let motions = surface.posed_from_rest(body.character(), moment.pose);
    let mut counts = [0; 2];
    for closures in [false, true] {
        for (p, part) in parts.parts.iter().enumerate() {
            if only.is_some_and(|only| only as usize != p) {
                continue;
            }
            let motion = motions[part.joint as usize];
            for sample in if closures { &part.closures } else { &part.samples } {
                points.extend(motion.transform_point3(sample.position).to_array());
                points.extend(motion.transform_vector3(sample.normal).normalize_or_zero().to_array());
                owners.push(part.joint);
                counts[usize::from(closures)] += 1;
            }
        }
    }
    Ok(counts)
}

fn surface(
    moment: &Moment,
    look: &SurfaceLook,
    vertices: &mut Vec<f32>,
    triangles: &mut Vec<u32>,
) -> Result<SurfaceHead, String> {
    let body = moment.body.ok_or(NO_FIELDS)?;
    let part =
        look.bone.as_deref().map(|name| part_of_joint(body, name)).transpose().map_err(|e| e.to_string())?;
    let cells = CELLS[usize::from(!moment.hurried)];
    let level = look.level.clamp(0.02, 0.98);
    let mesh = field_surface(body, moment.pose, part, level, cells).map_err(|e| e.to_string())?;
    vertices.extend(mesh.positions.iter().flat_map(|p| p.to_array()));
    triangles.extend(mesh.triangles.iter().flatten());
    Ok(SurfaceHead { vertices: mesh.positions.len(), triangles: mesh.triangles.len() })
}

fn slice(moment: &Moment, look: &SliceLook, values: &mut Vec<f32>) -> Result<SliceHead, String> {
    let body = moment.body.ok_or(NO_FIELDS)?;
    let axis: Axis = look.axis.parse().map_err(|e: ecorche::field::section::UnknownAxis| e.to_string())?;
    let field = body.field(moment.pose).ok_or(NO_FIELDS)?;
    let part =
        look.bone.as_deref().map(|name| part_of_joint(body, name)).transpose().map_err(|e| e.to_string())?;
    let points = moment.shown.meshes.iter().flat_map(|mesh| &mesh.positions);
    let (low, high) = points.fold((Vec3::MAX, Vec3::MIN), |(low, high), &p| (low.min(p), high.max(p)));
    let longest = COLUMNS[usize::from(!moment.hurried)];
    let extent = (high - low).max(Vec3::splat(1e-3));
    let [right, up] = axis.right_and_up();
    let [wide, tall] = [right, up].map(|direction| extent.dot(direction).abs());
    let longer = wide.max(tall);
    let [columns, rows] =
        [wide, tall].map(|side| ((longest as f32 * side / longer).ceil() as usize).clamp(8, longest));
    let mut window = Window::around(axis, low, high, [columns, rows]);
    let direction = axis.direction();
    window.middle += direction * (look.at - window.middle.dot(direction));
    let section = match part {
        Some(part) => Section::cut(&field.parts()[part as usize], window, columns, rows),
        None => Section::cut(&field, window, columns, rows),
    };
    values.extend(section.samples.iter().map(|sample| sample.value));
    Ok(SliceHead {
        axis: look.axis.clone(),
        middle: window.middle,
        right,
        up,
        half: window.half.to_array(),
        columns,
        rows,
    })
}

/// Points of a controller's curve, over the angles from 0 to pi.
const ANGLES: usize = 91;
/// Points along each side of an operator's square.
const SQUARE: usize = 64;

/// Operator and controller at a joint: the curve, and the composed value at openings 0, a half and 1.
pub fn graph(studio: &Studio, joint: &str) -> Bytes {
    let document = studio.document();
    let skin = &document.anatomy().skin;
    let (name, controller) = skin.at(joint);
    let name = name.unwrap_or(Tracking::from(skin.tracking).operator());
    let joint = joint.to_owned();
    let operator = ecorche::field::operator::by_name(name);
    let Some(operator) = operator else {
        return encode(
            Kind::Graph,
            &GraphHead { joint, operator: name.to_owned(), ..GraphHead::default() },
            &[],
        );
    };
    let own = controller.and_then(|c| c.build()).and_then(Result::ok);
    let controller = own.unwrap_or_else(|| operator.default_controller());
    let share = |i: usize, count: usize| i as f64 / (count - 1) as f64;
    let curve: Vec<f32> =
        (0..ANGLES).map(|i| controller.opening(std::f64::consts::PI * share(i, ANGLES)) as f32).collect();
    let mut squares = Vec::with_capacity(3 * SQUARE * SQUARE);
    for opening in [0.0, 0.5, 1.0] {
        for i in 0..SQUARE * SQUARE {
            let (a, b) = (share(i % SQUARE, SQUARE), share(i / SQUARE, SQUARE));
            squares.push(operator.compose(a, b, opening).value as f32);
        }
    }
    let head = GraphHead { joint, operator: name.to_owned(), angles: ANGLES, square: SQUARE };
    encode(Kind::Graph, &head, &[Array::F32(&curve), Array::F32(&squares)])
}

//! Pictures of the fields under the skin: samples, surfaces, sections.

use super::reach_of;
use crate::character::Pose;
use crate::deform::{Body, BodyField, Workspace};
use crate::field::section::{Axis, Section, Window, iso_surface};
use crate::field::{Field, SurfaceSample};
use crate::frame::Frame;
use crate::geom::TriMesh;
use crate::output::raster::shapes::{isoline, needles};
use crate::output::raster::{self, Camera, Dots, Framing, Lines, Scene, Surface, View, render};
use crate::output::section_graph::section_graph;
use crate::output::{Colour, Picture, colour};
use crate::sampling::Plan;
use glam::{Affine3A, Vec2, Vec3};

/// Length of the normals of samples, in inner radii of the part.
const NEEDLE: f32 = 0.3;

/// What is drawn of the fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Show {
    /// The surface of one value: coloured by part, or of one part under the skin seen through.
    Surface,
    /// The samples the fields go through with their normals; closures in another colour.
    Samples,
    /// A section with isolines and gradient.
    Slice(Axis, Through),
    /// The way a vertex of the surface takes through tracking, from skinning (blue) to its place (red), each step a dot.
    Path(u32),
}

/// Where a section lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Through {
    /// The middle of what is shown.
    Middle,
    /// This far along the axis, metres.
    Offset(f32),
    /// A skeleton joint; the section then shows its surroundings.
    Joint(usize),
}

/// How fields are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldLook {
    /// What.
    pub show: Show,
    /// One part instead of the whole body.
    pub part: Option<u32>,
    /// Value of the surface.
    pub level: f32,
    /// Cells along the longest side of a surface's lattice.
    pub cells: usize,
    /// From where.
    pub view: View,
    /// Pixels.
    pub width: usize,
    /// Pixels.
    pub height: usize,
}

impl Default for FieldLook {
    fn default() -> Self {
        let (width, height) = (900, 900);
        Self { show: Show::Surface, part: None, level: 0.5, cells: 160, view: View::Auto, width, height }
    }
}

/// Why fields cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// The character has none.
    #[error(
        "the character has no skin that encloses a bone, hence no field; the report of its parts says why"
    )]
    NoFields,
    /// No joint, or one whose skin has no field of its own.
    #[error("\"{name}\" has no field of its own; there are {known}")]
    NoPart {
        /// What was asked for.
        name: String,
        /// Those that have.
        known: String,
    },
}

/// The part that has the skin of the joint called `name`.
pub fn part_of_joint(body: &Body, name: &str) -> Result<u32, FieldError> {
    let parts = body.parts().filter(|p| !p.parts.is_empty()).ok_or(FieldError::NoFields)?;
    let joint = body.character().skeleton.find(name).map(|j| j as u32);
    let own = parts.parts.iter().position(|p| Some(p.joint) == joint);
    let held = || parts.parts.iter().position(|p| joint.is_some_and(|j| p.joints.contains(&j)));
    own.or_else(held).map(|p| p as u32).ok_or_else(|| {
        let joints = &body.character().skeleton.joints;
        let known: Vec<&str> = parts.parts.iter().map(|p| joints[p.joint as usize].name.as_str()).collect();
        FieldError::NoPart { name: name.to_owned(), known: known.join(", ") }
    })
}

/// The surface of `level` of one part or of the whole body in `pose`, metres.
pub fn field_surface(
    body: &Body,
    pose: &Pose,
    part: Option<u32>,
    level: f32,
    cells: usize,
) -> Result<TriMesh, FieldError> {
    let field = composed(body, pose)?;
    Ok(iso_surface(shown(&field, part), level, cells))
}

fn composed<'a>(body: &'a Body, pose: &Pose) -> Result<BodyField<'a>, FieldError> {
    body.field(pose).filter(|field| !field.parts().is_empty()).ok_or(FieldError::NoFields)
}

fn shown<'a>(field: &'a BodyField<'a>, part: Option<u32>) -> &'a dyn Field {
    match part {
        Some(part) => &field.parts()[part as usize],
        None => field,
    }
}

/// Draws the listed frames of `plan`, all with one camera or window. `progress` is called after every picture.
pub fn draw_fields(
    body: &Body,
    plan: &Plan,
    frames: &[usize],
    look: &FieldLook,
    mut progress: impl FnMut(),
) -> Result<Vec<Picture>, FieldError> {
    let mut workspace = Workspace::default();
    let mut pose = Pose::rest(body.character());
    let (mut moments, mut frame) = (Vec::new(), Frame::default());
    for &number in frames {
        plan.sample(number, &mut pose);
        let traced = if let Show::Path(vertex) = look.show { Some(vertex) } else { None };
        body.trace_into(&pose, plan.time(number), None, traced, &mut workspace, &mut frame);
        let path = frame.found.path.iter().map(|step| step.1.into()).collect();
        moments.push(Moment {
            skin: skin(body, &frame),
            field: composed(body, &pose)?,
            pose: pose.clone(),
            path,
        });
    }
    let studio = Studio::new(body, *look, &moments);
    let draw = |moment: &Moment| {
        let picture = match look.show {
            Show::Surface => studio.surface(moment),
            Show::Samples => studio.samples(moment),
            Show::Slice(axis, through) => studio.slice(moment, axis, through),
            Show::Path(_) => studio.path(moment),
        };
        progress();
        picture
    };
    Ok(moments.iter().map(draw).collect())
}

/// One frame to be drawn.
struct Moment<'a> {
    skin: TriMesh,
    field: BodyField<'a>,
    pose: Pose,
    path: Vec<Vec3>,
}

impl Moment<'_> {
    /// Box around the way of the vertex and as much skin as makes it recognisable.
    fn around_path(&self) -> (Vec3, Vec3) {
        let (low, high) = crate::geom::mesh::bounds(&self.path);
        let (all_low, all_high) = crate::geom::mesh::bounds(&self.skin.positions);
        let margin = Vec3::splat(low.distance(high).max(SURROUNDINGS * all_low.distance(all_high)));
        (low - margin, high + margin)
    }
}

/// Skin shown around the way of a vertex, of the size.
const SURROUNDINGS: f32 = 0.03;

/// The deformed surface.
fn skin(body: &Body, frame: &Frame) -> TriMesh {
    body.surface().map_or_else(TriMesh::default, |surface| TriMesh {
        positions: surface.positions(frame),
        triangles: surface.mesh.triangles.clone(),
    })
}

struct Studio<'a> {
    body: &'a Body,
    look: FieldLook,
    camera: Camera,
    /// Around everything that is shown.
    low: Vec3,
    high: Vec3,
}

impl<'a> Studio<'a> {
    fn new(body: &'a Body, look: FieldLook, moments: &[Moment]) -> Self {
        let is_path = matches!(look.show, Show::Path(_));
        let boxes = moments.iter().map(|moment| match look.part {
            _ if is_path => moment.around_path(),
            Some(part) => {
                let support = moment.field.parts()[part as usize].support();
                (support.low, support.high)
            }
            None => crate::geom::mesh::bounds(&moment.skin.positions),
        });
        let (low, high) =
            boxes.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((Vec3::ZERO, Vec3::ONE));
        let aspect = look.width as f32 / look.height.max(1) as f32;
        let framing = Framing { view: look.view, aspect, ..Framing::default() };
        let camera = match look.part {
            _ if is_path => framing.around((low, high)),
            Some(_) => framing.around((low, high)),
            None => framing.camera(moments.iter().map(|moment| &moment.skin.positions[..])),
        };
        Self { body, look, camera, low, high }
    }

    fn render(&self, scene: &Scene) -> Picture {
        render(scene, &self.camera, &raster::Settings::sized(self.look.width, self.look.height))
    }

    fn surface(&self, moment: &Moment) -> Picture {
        let field = shown(&moment.field, self.look.part);
        let surface = iso_surface(field, self.look.level, self.look.cells);
        let mut scene = Scene::default();
        let drawn = Surface::new(&surface.positions, &surface.triangles);
        if self.look.part.is_some() {
            scene.surfaces.push(drawn.colour(Colour::hex(0x6F93B8)));
            scene.surfaces.push(Surface::new(&moment.skin.positions, &moment.skin.triangles).alpha(0.25));
        } else {
            let strongest = |&p: &Vec3| moment.field.strongest_other(u32::MAX, p).map_or(0, |(part, _)| part);
            let colour = |p: &Vec3| colour::categorical(strongest(p) as usize);
            let colours: Vec<Colour> = surface.positions.iter().map(colour).collect();
            scene.surfaces.push(drawn.colours(colours));
        }
        self.render(&scene)
    }

    fn samples(&self, moment: &Moment) -> Picture {
        let mut scene = Scene::default();
        scene.surfaces.push(Surface::new(&moment.skin.positions, &moment.skin.triangles).alpha(0.3));
        let Some((parts, surface)) = self.body.parts().zip(self.body.surface()) else {
            return self.render(&scene);
        };
        let motions = surface.posed_from_rest(self.body.character(), &moment.pose);
        for (p, part) in parts.parts.iter().enumerate() {
            if self.look.part.is_some_and(|only| only as usize != p) {
                continue;
            }
            let motion = motions[part.joint as usize];
            let closures = if parts.parts.len() > 1 { Colour::hex(0x2C2A28) } else { colour::categorical(1) };
            for (samples, colour) in [(&part.samples, colour::categorical(p)), (&part.closures, closures)] {
                let (points, normals) = moved(samples, motion);
                let segments = needles(&points, &normals, NEEDLE * part.inner_radius);
                scene.lines.push(Lines { segments, width: 1.2, colour, alpha: 0.9, lift: 0.0 });
                scene.dots.push(Dots { points, width: 4.5, colour, alpha: 1.0, lift: 0.0 });
            }
        }
        self.render(&scene)
    }

    fn path(&self, moment: &Moment) -> Picture {
        let mut scene = Scene::default();
        scene.surfaces.push(Surface::new(&moment.skin.positions, &moment.skin.triangles).alpha(0.35));
        let segments = moment.path.windows(2).map(|step| [step[0], step[1]]).collect();
        let dark = Colour::hex(0x2C2A28);
        scene.lines.push(Lines { segments, width: 2.0, colour: dark, alpha: 1.0, lift: 0.0 });
        let mut dots = |points: Vec<Vec3>, width: f32, colour: Colour| {
            scene.dots.push(Dots { points, width, colour, alpha: 1.0, lift: 0.0 });
        };
        dots(moment.path.clone(), 5.0, dark);
        dots(moment.path.first().copied().into_iter().collect(), 9.0, Colour::hex(0x2F6DB5));
        dots(moment.path.last().copied().into_iter().collect(), 9.0, Colour::hex(0xC0392B));
        self.render(&scene)
    }

    fn slice(&self, moment: &Moment, axis: Axis, through: Through) -> Picture {
        let (width, height) = (self.look.width, self.look.height);
        let direction = axis.direction();
        let (mut low, mut high) = (self.low, self.high);
        let middle = 0.5 * (low + high);
        let at = match through {
            Through::Middle => middle,
            Through::Offset(metres) => middle + direction * (metres - middle.dot(direction)),
            Through::Joint(joint) => {
                let character = self.body.character();
                let at: Vec3 = moment.pose.world(&character.skeleton)[joint].translation.into();
                let reach = Vec3::splat(0.7 * reach_of(character, joint));
                (low, high) = (at - reach, at + reach);
                at
            }
        };
        let mut window = Window::around(axis, low, high, [width, height]);
        window.middle += direction * (at - window.middle).dot(direction);
        // Every second pixel is sampled; fields are smooth.
        let field = shown(&moment.field, self.look.part);
        let section = Section::cut(field, window, width.div_ceil(2), height.div_ceil(2));
        let along: Vec<f32> = moment.skin.positions.iter().map(|p| p.dot(direction)).collect();
        let outline: Vec<[Vec2; 2]> =
            isoline(&moment.skin.positions, &moment.skin.triangles, &along, at.dot(direction))
                .into_iter()
                .map(|line| line.map(|p| window.seen(p)))
                .collect();
        section_graph(&section, width, height, &outline)
    }
}

fn moved(samples: &[SurfaceSample], motion: Affine3A) -> (Vec<Vec3>, Vec<Vec3>) {
    let normal = |s: &SurfaceSample| motion.transform_vector3(s.normal).normalize_or_zero();
    (
        samples.iter().map(|s| motion.transform_point3(s.position)).collect(),
        samples.iter().map(normal).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::Stack;
    use crate::sampling::Sampling;
    use std::sync::Arc;

    #[test]
    fn surfaces_samples_and_slices_of_a_bent_limb_are_drawn() {
        let character = Arc::new(crate::samples::build("cylinder").unwrap());
        let body = Body::bind(character.clone(), Stack::implicit(), None).unwrap();
        let plan = Plan::new(character.clips.first(), &Sampling { fps: Some(4.0), frames: None }).unwrap();
        let last = character.skeleton.len() - 1;
        let slices = [Through::Middle, Through::Offset(0.01), Through::Joint(last)];
        let slices = slices.map(|through| Show::Slice(Axis::Z, through));
        // At half the height, where the limb bends.
        let path = Show::Path(body.surface().unwrap().mesh.positions.len() as u32 / 2);
        for show in [Show::Surface, Show::Samples, path].into_iter().chain(slices) {
            let look = FieldLook { show, cells: 24, width: 72, height: 60, ..FieldLook::default() };
            let pictures = draw_fields(&body, &plan, &[0, 4], &look, || ()).unwrap();
            assert_eq!((pictures.len(), pictures[0].width()), (2, 72));
            assert_ne!(pictures[0], pictures[1], "{show:?}: the limb bends");
            let colours: std::collections::BTreeSet<_> = pictures[1].pixels().iter().collect();
            assert!(colours.len() > 20, "{show:?} is empty");
        }
        let pose = Pose::rest(&character);
        let whole = field_surface(&body, &pose, None, 0.5, 40).unwrap().volume();
        let skin = body.surface().unwrap().mesh.volume();
        assert!((whole / skin - 1.0).abs() < 0.1, "{whole} {skin}");
        let joints = &character.skeleton.joints;
        let part = &body.parts().unwrap().parts[0];
        let one = part_of_joint(&body, &joints[part.joint as usize].name).unwrap();
        assert!(field_surface(&body, &pose, Some(one), 0.5, 40).unwrap().volume() < 0.8 * whole);
        assert!(part_of_joint(&body, "tail").unwrap_err().to_string().contains("there are"));
        let plain = Body::bind(character.clone(), Stack::linear(), None).unwrap();
        assert!(matches!(field_surface(&plain, &pose, None, 0.5, 8), Err(FieldError::NoFields)));
    }
}

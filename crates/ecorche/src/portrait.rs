//! Pictures of a character: one camera for all frames and methods shown together.

mod fields;
mod muscles;
mod sheet;

pub use fields::{FieldError, FieldLook, Show, Through, draw_fields, field_surface, part_of_joint};
pub use muscles::{MuscleColour, MuscleLook, UnknownColour};
pub use sheet::{contact_sheet, side_by_side, spread};

use crate::character::{Character, Pose};
use crate::deform::{Body, Playback, Workspace};
use crate::frame::Frame;
use crate::inspect::{Inspector, Quantity, QuantityError};
use crate::muscle::{Flesh, Musculature};
use crate::output::Picture;
use crate::output::colour::Colour;
use crate::output::legend::Legend;
use crate::output::raster::{Camera, Framing, Scene, Settings, Surface, View, ground_height, render};
use crate::sampling::Plan;
use glam::Vec3;

/// How a character is shown.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Where the camera looks from.
    pub view: View,
    /// Pixels.
    pub width: usize,
    /// Pixels.
    pub height: usize,
    /// Whether the polygons' edges are drawn.
    pub wire: bool,
    /// A skeleton joint to stay close to.
    pub focus: Option<usize>,
    /// Whether the camera follows a character that travels, which keeps it large on a contact sheet.
    pub follow: bool,
    /// What lies under the skin, seen through it, where a body has it.
    pub muscles: Option<MuscleLook>,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            view: View::Auto,
            width: 900,
            height: 900,
            wire: false,
            focus: None,
            follow: true,
            muscles: None,
        }
    }
}

/// A character that gets farther than this share of its size is followed.
const TRAVEL: f32 = 0.5;

/// A camera and ground chosen for a set of frames.
#[derive(Clone, Debug)]
struct Portrait<'a> {
    character: &'a Character,
    look: Look,
    framing: Framing,
    camera: Camera,
    ground: f32,
    focus_radius: f32,
    follows: bool,
    wires: Vec<Vec<[u32; 2]>>,
}

impl<'a> Portrait<'a> {
    /// Places the camera so that all `frames`, each with its pose, fit.
    pub fn new(character: &'a Character, look: Look, frames: &[(&Frame, &Pose)]) -> Self {
        let framing = Framing {
            view: look.view,
            aspect: look.width as f32 / look.height.max(1) as f32,
            ..Framing::default()
        };
        let places: Vec<Vec3> = frames.iter().map(|(_, pose)| place(character, pose)).collect();
        let (low, high) = crate::geom::mesh::bounds(&places);
        let follows = look.follow && low.distance(high) > TRAVEL * character.size();
        let shifted: Vec<Vec<Vec3>> = frames
            .iter()
            .zip(&places)
            .flat_map(|((frame, _), &place)| {
                let shift = if follows { place } else { Vec3::ZERO };
                frame.meshes.iter().map(move |m| m.positions.iter().map(|&p| p - shift).collect())
            })
            .collect();
        let meshes = shifted.iter().map(Vec::as_slice);
        Self {
            character,
            look,
            framing,
            camera: framing.camera(meshes.clone()),
            ground: ground_height(meshes),
            focus_radius: look.focus.map_or(0.0, |joint| reach_of(character, joint)),
            follows,
            wires: if look.wire { character.meshes.iter().map(polygon_edges).collect() } else { Vec::new() },
        }
    }

    /// The same with what lies under the skin, and the largest tension on the scale.
    fn draw_with(
        &self,
        frame: &Frame,
        pose: &Pose,
        quantity: Option<&Quantity>,
        under: Option<(&Musculature, &Flesh, MuscleLook, f32)>,
    ) -> Picture {
        let mut scene =
            Scene { ground: self.look.focus.is_none().then_some(self.ground), ..Scene::default() };
        for (m, (mesh, posed)) in self.character.meshes.iter().zip(&frame.meshes).enumerate() {
            if mesh.triangles.is_empty() {
                continue;
            }
            let normals =
                mesh.shading.vertex_normals(&mesh.faces.corners, &posed.normals, mesh.positions.len());
            let mut surface = Surface::new(&posed.positions, &mesh.triangles).normals(normals);
            if let Some(colour) = self.character.colour(mesh) {
                surface = surface.colour(Colour(colour.into()));
            }
            if let Some(quantity) = quantity {
                surface = surface.quantity(&quantity.values[m], quantity.range, quantity.map);
            }
            if let Some(edges) = self.wires.get(m) {
                surface = surface.wire(edges);
            }
            if let Some((_, _, look, _)) = under {
                surface = surface.alpha(look.skin.clamp(0.0, 1.0));
            }
            if surface.alpha > 0.0 {
                scene.surfaces.push(surface);
            }
        }
        if let Some((body, flesh, look, largest)) = under {
            muscles::add(&mut scene, body, flesh, look, largest);
        }
        let camera = match self.look.focus {
            Some(joint) => {
                let at: Vec3 = pose.world(&self.character.skeleton)[joint].translation.into();
                self.framing.focus(at, self.focus_radius)
            }
            None if self.follows => {
                let shift = place(self.character, pose);
                Camera { eye: self.camera.eye + shift, target: self.camera.target + shift, ..self.camera }
            }
            None => self.camera,
        };
        render(&scene, &camera, &Settings::sized(self.look.width, self.look.height))
    }
}

/// A frame under one method, with its pose and the quantity to show on it.
struct Shown {
    frame: Frame,
    pose: Pose,
    quantity: Option<Quantity>,
}

/// Deforms the listed frames of `plan` under every body, which are of one character. Outer list: frames.
fn deform_all(
    bodies: &[Body],
    plan: &Plan,
    frames: &[usize],
    inspector: Option<&Inspector>,
) -> Result<Vec<Vec<Shown>>, QuantityError> {
    let mut workspace = Workspace::default();
    let mut shown: Vec<Vec<Shown>> = frames.iter().map(|_| Vec::new()).collect();
    for body in bodies {
        let mut playback = Playback::new(body, plan);
        for (row, &number) in shown.iter_mut().zip(frames) {
            let frame = playback.frame(number, &mut workspace);
            let pose = playback.pose().clone();
            let inspected = inspector.map(|i| i.inspect(&frame, &pose));
            row.push(Shown { pose, quantity: inspected.transpose()?, frame });
        }
    }
    Ok(shown)
}

/// Draws the listed frames under every body: `pictures[frame][body]`, all with one camera, and the legend
/// of the quantity called `show`, if one is asked for. `progress` is called after every picture.
pub fn draw_frames(
    bodies: &[Body],
    plan: &Plan,
    frames: &[usize],
    look: Look,
    show: Option<&str>,
    mut progress: impl FnMut(),
) -> Result<(Vec<Vec<Picture>>, Option<Legend>), QuantityError> {
    let Some(character) = bodies.first().map(Body::character) else { return Ok((Vec::new(), None)) };
    let inspector = show.map(|name| Inspector::new(character, name)).transpose()?;
    let mut shown = deform_all(bodies, plan, frames, inspector.as_ref())?;
    // One scale for all panels, or colours could not be compared.
    let quantities = || shown.iter().flatten().filter_map(|s| s.quantity.as_ref());
    let high = quantities().map(|q| q.range[1]).fold(f32::MIN, f32::max);
    shown.iter_mut().flatten().filter_map(|s| s.quantity.as_mut()).for_each(|q| q.range[1] = high);
    let all: Vec<(&Frame, &Pose)> = shown.iter().flatten().map(|s| (&s.frame, &s.pose)).collect();
    let portrait = Portrait::new(character, look, &all);
    let largest = muscles::largest_tension(shown.iter().flatten().map(|s| &s.frame.found.flesh));
    let mut pictures = Vec::new();
    for row in &shown {
        let mut drawn = Vec::new();
        for (s, body) in row.iter().zip(bodies) {
            let under = body.musculature().zip(look.muscles);
            let under = under.map(|(musculature, look)| (musculature, &s.frame.found.flesh, look, largest));
            drawn.push(portrait.draw_with(&s.frame, &s.pose, s.quantity.as_ref(), under));
            progress();
        }
        pictures.push(drawn);
    }
    let first = shown.iter().flatten().find_map(|s| s.quantity.as_ref());
    let by_tension = look.muscles.is_some_and(|m| m.colour == MuscleColour::Tension);
    let tension = || (by_tension && bodies.iter().any(Body::has_muscles)).then(|| muscles::legend(largest));
    Ok((pictures, first.map(legend).or_else(tension)))
}

/// The legend of a quantity.
fn legend(quantity: &Quantity) -> Legend {
    let values: Vec<f32> = quantity.values.iter().flatten().copied().collect();
    Legend::new(&quantity.name, quantity.unit, quantity.range, quantity.map, &values)
}

/// Every edge of the file's polygons once.
fn polygon_edges(mesh: &crate::character::Mesh) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> = (0..mesh.faces.len())
        .flat_map(|f| {
            let face = mesh.faces.get(f);
            (0..face.len()).map(move |k| (face[k], face[(k + 1) % face.len()]))
        })
        .map(|(a, b)| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Where on the ground the character is: the middle of its joints.
fn place(character: &Character, pose: &Pose) -> Vec3 {
    let world = pose.world(&character.skeleton);
    let sum: Vec3 = world.iter().map(|w| Vec3::from(w.translation) * Vec3::new(1.0, 0.0, 1.0)).sum();
    sum / world.len().max(1) as f32
}

/// How much around a joint a close-up shows: its longest bone, and never less than a twentieth of the character.
fn reach_of(character: &Character, joint: usize) -> f32 {
    let world = Pose::rest(character).world(&character.skeleton);
    let at = |j: usize| Vec3::from(world[j].translation);
    let neighbours = character.skeleton.children(joint).chain(character.skeleton.joints[joint].parent);
    let longest = neighbours.map(|n| at(n).distance(at(joint))).fold(0.0, f32::max);
    longest.max(0.05 * character.size())
}

//! A clip for a crowd: what the page's shader needs to skin and displace many instances by itself.
//!
//! | array | of | numbers |
//! |---|---|---|
//! | 0 | drawn vertex | place in bind space, metres: 3 |
//! | 1 | drawn vertex | normal there, folded: 2 |
//! | 2 | drawn vertex | slots of its strongest joints: 4 |
//! | 3 | drawn vertex | their weights: 4, of sum 1 |
//! | 4 | drawn vertex | of each of up to four muscles: number times two, one more if a bone carries its line, or -1; weight, fat, height: 16 |
//! | 5 | frame and slot | rows of world-from-bind, dual quaternion of its rigid part, columns of the stretch before that: 8 texels |
//! | 6 | frame and muscle | [`Posed`]: 10 texels |
//!
//! Instances then need no messages: each is the film at its own moment.

use crate::drawn::folded;
use crate::message::{Array, Kind, Look, encode};
use crate::studio::Studio;
use crate::wire::wire;
use axum::body::Bytes;
use ecorche::character::Pose;
use ecorche::deform::Body;
use ecorche::muscle::parametric::{Posed, Workspace};
use ecorche::sampling::{Plan, Sampling};
use ecorche::skinning::Motion;
use ecorche::watch::Watch;
use glam::Vec4;
use serde::Serialize;

/// Frames of a film, at most; a longer clip is sampled less often.
const MOST_FRAMES: usize = 256;
/// Texels of a film, at most: 128 MB.
const MOST_TEXELS: usize = 1 << 23;
/// Joints of a vertex that the page's shader reads.
const JOINTS: usize = 4;
/// Texels of a joint and frame, and of a muscle.
const PER_JOINT: usize = 8;
const PER_MUSCLE: usize = 10;

/// The film of a clip by number, with parametric muscles of the anatomy as it is now.
pub fn film(studio: &Studio, clip: usize) -> Result<Bytes, String> {
    let character = &studio.character;
    let Some(clip) = character.clips.get(clip) else {
        return Err(format!("there is no clip {}; the character has {}", clip + 1, character.clips.len()));
    };
    let (anatomy, folder) = {
        let document = studio.document();
        (document.anatomy().clone(), document.folder().to_owned())
    };
    let bound = studio.bodies.bind(Look::Parametric, anatomy, folder, false, &Watch::default());
    let body = bound.map_err(|error| error.to_string())?;
    let still = still(studio, &body);
    let muscles = body.parametric().map_or(0, |muscles| muscles.len());
    let texels = PER_JOINT * still.slots + PER_MUSCLE * muscles;
    let most = MOST_FRAMES.min(MOST_TEXELS / texels.max(1)).max(1);
    let own = Plan::new(Some(clip), &Sampling::default()).map_err(|error| error.to_string())?;
    let fps = own.fps * ((most as f32 / own.len() as f32).min(1.0));
    let plan = Plan::new(Some(clip), &Sampling { fps: Some(fps), frames: None });
    let plan = plan.map_err(|error| error.to_string())?;
    let frames = plan.len().min(most);
    let (mut pose, mut world) = (Pose::rest(character), Vec::new());
    let (mut motions, mut posed) = (Vec::<Vec4>::new(), Vec::<Posed>::new());
    let mut workspace = Workspace::default();
    let mut of_mesh = Vec::<Motion>::new();
    for frame in 0..frames {
        plan.sample(frame, &mut pose);
        pose.world_into(&character.skeleton, &mut world);
        of_mesh.clear();
        for m in 0..character.meshes.len() {
            body.skinner(m).motions(&world, &mut of_mesh);
        }
        motions.extend(of_mesh.iter().flat_map(texels_of));
        if let Some(muscles) = body.parametric() {
            muscles.pose_at(&world, 0.0, Some((&clip.name, plan.time(frame))), &mut workspace);
            posed.extend_from_slice(&workspace.posed);
        }
    }
    let head = FilmHead {
        clip: clip.name.clone(),
        fps,
        frames,
        slots: still.slots,
        muscles,
        vertices: still.slots_of_vertex.len() / JOINTS,
        dropped: still.dropped,
    };
    let arrays = [
        Array::F32(&still.places),
        Array::I16(&still.normals),
        Array::U16(&still.slots_of_vertex),
        Array::F32(&still.weights),
        Array::F32(&still.entries),
        Array::F32(bytemuck::cast_slice(&motions)),
        Array::F32(bytemuck::cast_slice(&posed)),
    ];
    Ok(encode(Kind::Crowd, &head, &arrays))
}

wire! {
    /// A clip for a crowd.
    #[derive(Serialize)]
    pub struct FilmHead {
        clip: String,
        fps: f32,
        frames: usize,
        /// Joints' slots of all meshes.
        slots: usize,
        muscles: usize,
        vertices: usize,
        /// Vertices of more joints than are kept.
        dropped: usize,
    }
}

/// What does not move.
#[derive(Default)]
struct Still {
    places: Vec<f32>,
    normals: Vec<i16>,
    slots_of_vertex: Vec<u16>,
    weights: Vec<f32>,
    entries: Vec<f32>,
    /// Joints' slots of all meshes.
    slots: usize,
    /// Vertices with more joints than the shader reads.
    dropped: usize,
}

fn still(studio: &Studio, body: &Body) -> Still {
    let character = &studio.character;
    let rest = Pose::rest(character);
    let mut still = Still::default();
    let (mut first_slot, mut places, mut normals, mut muscles) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (m, mesh) in character.meshes.iter().enumerate() {
        first_slot.push(still.slots);
        // One more slot that does not move.
        still.slots += 1 + mesh.skin().map_or(1, |skin| skin.joints.len().min(skin.joint_from_bind.len()));
        let mut of_mesh = Vec::new();
        mesh.morphed(rest.morph_weights.get(m).map_or(&[][..], Vec::as_slice), &mut of_mesh);
        normals.push(mesh.shading.normals(&of_mesh));
        places.push(of_mesh);
        let mut entries = vec![&[][..]; mesh.positions.len()];
        if let Some(parametric) = body.parametric() {
            parametric.influence(m).entries().for_each(|(v, held)| entries[v as usize] = held);
        }
        muscles.push(entries);
    }
    for &[mesh, vertex, slot] in studio.drawn.sources() {
        let (m, v) = (mesh as usize, vertex as usize);
        still.places.extend(places[m][v].to_array());
        still.normals.extend(folded(normals[m][slot as usize]).map(|c| (c * 32767.0).round() as i16));
        let own = first_slot[m];
        let last = first_slot.get(m + 1).copied().unwrap_or(still.slots) - 1;
        let influences: Vec<(usize, f32)> = match character.meshes[m].skin() {
            Some(skin) if v < skin.influences.len() => skin
                .influences
                .of(v)
                .map(|(slot, weight)| ((own + slot as usize).min(last), weight))
                .collect(),
            Some(_) => vec![(last, 1.0)],
            None => vec![(own, 1.0)],
        };
        still.dropped += usize::from(influences.len() > JOINTS);
        let sum: f32 = influences.iter().take(JOINTS).map(|i| i.1).sum();
        for k in 0..JOINTS {
            let (slot, weight) = influences.get(k).copied().unwrap_or((own, 0.0));
            still.slots_of_vertex.push(slot as u16);
            still.weights.push(weight / sum.max(f32::MIN_POSITIVE));
        }
        for k in 0..4 {
            still.entries.extend(match muscles[m][v].get(k) {
                Some(e) => [
                    f32::from(e.muscle) * 2.0 + f32::from(u8::from(e.on_one_bone)),
                    e.weight,
                    e.fat,
                    e.height,
                ],
                None => [-1.0, 0.0, 0.0, 0.0],
            });
        }
    }
    still
}

/// A motion as the shader reads it.
fn texels_of(motion: &Motion) -> [Vec4; PER_JOINT] {
    let Motion { matrix, real, dual, stretch } = motion;
    let rows = matrix.matrix3.transpose();
    let translation = matrix.translation;
    [
        rows.x_axis.extend(translation.x),
        rows.y_axis.extend(translation.y),
        rows.z_axis.extend(translation.z),
        *real,
        *dual,
        stretch.x_axis.extend(0.0),
        stretch.y_axis.extend(0.0),
        stretch.z_axis.extend(0.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_film_has_every_frame_of_every_joint_and_muscle() {
        let ingredients = ecorche::recipe::Recipe::of("sample:arm?resolution=2000").read().unwrap();
        let studio = Studio::open_from(ingredients, &[], None, Default::default(), false).unwrap();
        let bytes = film(&studio, 0).unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let length = |array: usize| word(16 + 8 * array + 4);
        let head: serde_json::Value = serde_json::from_slice(&bytes[16 + 8 * word(12)..][..word(8)]).unwrap();
        let number = |name: &str| head[name].as_u64().unwrap() as usize;
        let (vertices, frames) = (studio.drawn.vertices(), number("frames"));
        assert!(frames > 10 && number("muscles") > 1, "{head}");
        assert_eq!([length(0), length(1), length(2)], [12 * vertices, 4 * vertices, 8 * vertices]);
        assert_eq!([length(3), length(4)], [16 * vertices, 64 * vertices]);
        assert_eq!(length(5), frames * number("slots") * 128);
        assert_eq!(length(6), frames * number("muscles") * 160);
        let refused = film(&studio, 99).unwrap_err();
        assert!(refused.contains("no clip 100"), "{refused}");
    }
}

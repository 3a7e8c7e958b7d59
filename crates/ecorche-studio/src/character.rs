//! The first message: the character, and the words the page offers.

use crate::clock::Reel;
use crate::message::{Array, Kind, encode};
use crate::studio::Studio;
use crate::wire::wire;
use axum::body::Bytes;
use ecorche::character::turn_limits;
use ecorche::inspect::QUANTITIES;
use ecorche::output::ColourMap;
use glam::Vec3;
use serde::Serialize;

wire! {
    /// A joint of the skeleton.
    #[derive(Serialize)]
    pub struct Joint {
        name: String,
        parent: Option<usize>,
        in_skin: bool,
        /// Its rotation at rest (x, y, z, w), relative to its parent.
        rest: [f32; 4],
        /// Degrees that it turns from there by hand; none for any.
        limit: Option<f32>,
    }
}

wire! {
    /// An animation.
    #[derive(Serialize)]
    pub struct Clip {
        name: String,
        fps: f32,
        /// Its first moment, seconds.
        start: f32,
        /// Frames after the first.
        last: usize,
        /// Corners of where joints get, sideways seen from the first joint that branches.
        reach: [Vec3; 2],
    }
}

wire! {
    /// Triangles of one material.
    #[derive(Serialize)]
    pub struct Group {
        mesh: String,
        material: String,
        start: usize,
        count: usize,
        /// Red, green and blue as the file has them, linear.
        colour: Option<[f32; 3]>,
        /// Number of its picture.
        picture: Option<usize>,
    }
}

wire! {
    /// The opened character.
    #[derive(Serialize)]
    pub struct CharacterHead {
        /// Grows with every character that is opened.
        number: u64,
        name: String,
        /// Metres.
        size: f32,
        vertices: usize,
        triangles: usize,
        /// Vertices that are drawn: seams count on both sides.
        drawn: usize,
        groups: Vec<Group>,
        joints: Vec<Joint>,
        clips: Vec<Clip>,
        /// Numbers of vertices that can be shown as colours, with what they are.
        quantities: Vec<(&'static str, &'static str)>,
        /// What was repaired or made when it was read, in words.
        notes: Vec<String>,
    }
}

/// The character as the page needs it; `number` is the desk's.
pub fn describe(studio: &Studio, number: u64) -> Bytes {
    let Studio { character, drawn, textures, .. } = studio;
    let groups = drawn.groups.iter().map(|group| {
        let look = textures.look(&group.material);
        Group {
            mesh: group.mesh.clone(),
            material: group.material.clone(),
            start: group.start,
            count: group.count,
            colour: look.colour,
            picture: look.texture,
        }
    });
    let joints =
        character.skeleton.joints.iter().zip(turn_limits(&character.skeleton)).map(|(joint, limit)| Joint {
            name: joint.name.clone(),
            parent: joint.parent,
            in_skin: joint.in_skin,
            rest: joint.rest.rotation.to_array(),
            limit,
        });
    let clips = character.clips.iter().map(|clip| {
        let reel = Reel::new(character, Some(&clip.name));
        Clip {
            name: clip.name.clone(),
            fps: reel.fps,
            start: clip.start,
            last: reel.last,
            reach: reel.reach(character),
        }
    });
    let head = CharacterHead {
        number,
        name: character.name.clone(),
        size: character.size(),
        vertices: character.meshes.iter().map(|m| m.positions.len()).sum(),
        triangles: character.meshes.iter().map(|m| m.triangles.len()).sum(),
        drawn: drawn.vertices(),
        groups: groups.collect(),
        joints: joints.collect(),
        clips: clips.collect(),
        quantities: QUANTITIES.to_vec(),
        notes: studio.notes.clone(),
    };
    let table =
        |map: ColourMap| -> Vec<u8> { (0..256).flat_map(|i| map.at(i as f32 / 255.0).to_bytes()).collect() };
    let (sequential, diverging) = (table(ColourMap::Sequential), table(ColourMap::Diverging));
    let arrays =
        [Array::U32(&drawn.triangles), Array::F32(&drawn.uvs), Array::U8(&sequential), Array::U8(&diverging)];
    encode(Kind::Character, &head, &arrays)
}

//! A skinned character as arrays: weights, positions, triangles and skeleton are damaged as a whole, as broken exporters and
//! converters do, and what comes out is a well-formed file.

use super::{Dice, NUMBERS};
use ecorche::character::{Binding, Character};
use glam::{Mat4, Quat, Vec3};
use serde_json::{Value, json};

/// Joints of a vertex with their weights.
type Held = [(u16, f32); 4];

/// A character and its first clip.
#[derive(Clone)]
pub struct Rig {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    held: Vec<Held>,
    joints: Vec<Joint>,
    /// Joint, times, rotations.
    tracks: Vec<(usize, Vec<f32>, Vec<Quat>)>,
}

#[derive(Clone)]
struct Joint {
    name: String,
    parent: Option<usize>,
    translation: Vec3,
    rotation: Quat,
    joint_from_bind: Mat4,
}

impl Rig {
    /// All skinned meshes as one.
    pub fn of(character: &Character) -> Self {
        let joint = |joint: &ecorche::character::Joint| Joint {
            name: joint.name.clone(),
            parent: joint.parent,
            translation: joint.rest.translation,
            rotation: joint.rest.rotation,
            joint_from_bind: Mat4::IDENTITY,
        };
        let mut rig = Self {
            positions: Vec::new(),
            triangles: Vec::new(),
            held: Vec::new(),
            joints: character.skeleton.joints.iter().map(joint).collect(),
            tracks: Vec::new(),
        };
        for mesh in &character.meshes {
            let Binding::Skin(skin) = &mesh.binding else { continue };
            let first = rig.positions.len() as u32;
            rig.positions.extend(&mesh.positions);
            rig.triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| v + first)));
            for (&joint, bind) in skin.joints.iter().zip(&skin.joint_from_bind) {
                rig.joints[joint].joint_from_bind = Mat4::from(*bind);
            }
            rig.held.extend((0..mesh.positions.len()).map(|v| {
                let mut held = [(0, 0.0); 4];
                let of = skin.influences.of(v).map(|(joint, w)| (skin.joints[joint as usize] as u16, w));
                held.iter_mut().zip(of).for_each(|(slot, influence)| *slot = influence);
                held
            }));
        }
        let tracks = character.clips.iter().take(1).flat_map(|clip| &clip.joint_tracks);
        rig.tracks = tracks
            .filter_map(|track| {
                let rotation = track.rotation.as_ref()?;
                Some((track.joint, rotation.times.clone(), rotation.values.clone()))
            })
            .collect();
        rig
    }

    /// Damages one to three of its arrays.
    pub fn damage(&mut self, dice: &mut Dice) {
        for _ in 0..1 + dice.below(3) {
            match dice.below(4) {
                0 => self.damage_weights(dice),
                1 => self.damage_positions(dice),
                2 => self.damage_triangles(dice),
                _ => self.damage_skeleton(dice),
            }
        }
    }

    /// Adds small triangles, each a piece of its own, on the skin.
    pub fn add_flakes(&mut self, count: usize, dice: &mut Dice) {
        let skin = self.positions.len();
        for _ in 0..count {
            let on = dice.below(skin);
            let first = self.positions.len() as u32;
            for _ in 0..3 {
                let sway = Vec3::new(dice.sway(), dice.sway(), dice.sway());
                self.positions.push(self.positions[on] + 0.004 * sway);
                self.held.push(self.held[on]);
            }
            self.triangles.push([first, first + 1, first + 2]);
        }
    }

    /// Gives every vertex to one joint, by chance.
    pub fn scatter_weights(&mut self, dice: &mut Dice) {
        let joints = self.joints.len();
        let one = |joint| [(joint, 1.0), (0, 0.0), (0, 0.0), (0, 0.0)];
        self.held.iter_mut().for_each(|held| *held = one(dice.below(joints) as u16));
    }

    fn damage_weights(&mut self, dice: &mut Dice) {
        let joints = self.joints.len();
        let share = dice.of(&[1, 2, 10, 100]);
        let few: Vec<u16> = (0..2 + dice.below(4)).map(|_| dice.below(joints) as u16).collect();
        let by = 1 + dice.below(joints);
        let kind = dice.below(8);
        for held in &mut self.held {
            if dice.below(share) != 0 {
                continue;
            }
            match kind {
                0 => held.iter_mut().for_each(|h| *h = (dice.below(joints) as u16, 0.25)),
                1 => *held = [(dice.below(joints) as u16, 1.0), (0, 0.0), (0, 0.0), (0, 0.0)],
                2 => *held = [(dice.of(&few), 1.0), (0, 0.0), (0, 0.0), (0, 0.0)],
                3 => *held = [(few[0], 1.0), (0, 0.0), (0, 0.0), (0, 0.0)],
                4 => held.iter_mut().for_each(|h| h.0 = ((h.0 as usize + by) % joints) as u16),
                5 => held.iter_mut().for_each(|h| h.1 = 0.0),
                6 => held[dice.below(4)].1 = dice.of(&NUMBERS),
                _ => held[dice.below(4)].0 = dice.of(&[0, 1, 255, 65_535]),
            }
        }
    }

    fn damage_positions(&mut self, dice: &mut Dice) {
        let (low, high) =
            self.positions.iter().fold((Vec3::MAX, Vec3::MIN), |(l, h), p| (l.min(*p), h.max(*p)));
        let size = low.distance(high);
        let (axis, share) = (dice.below(3), dice.of(&[1, 10, 100, 1000]));
        let grain = size / dice.of(&[2.0, 8.0, 30.0, 100.0]);
        let noise = size * dice.of(&[1e-5, 1e-3, 0.01, 0.05]);
        let scale = dice.of(&[0.0, 1e-6, 1e-3, 1e3, 1e6]);
        let kind = dice.below(9);
        for p in &mut self.positions {
            let sway = Vec3::new(dice.sway(), dice.sway(), dice.sway());
            let chosen = dice.below(share) == 0;
            match kind {
                0 => p[axis] *= scale,
                1 => *p = (*p / grain).round() * grain,
                2 if chosen => *p = low + (high - low) * (0.5 + 0.5 * sway),
                3 => *p += noise * sway,
                4 if chosen => *p = low,
                5 => *p *= scale.max(1e-6),
                6 if chosen => *p = sway * dice.of(&[10.0, 1e4, 1e8, 1e20]),
                7 => p[axis] = -p[axis],
                8 => *p += Vec3::splat(dice.of(&[1e4, 1e5])),
                _ => {}
            }
        }
    }

    fn damage_triangles(&mut self, dice: &mut Dice) {
        let count = self.positions.len();
        let share = dice.of(&[1, 2, 10, 100]);
        match dice.below(7) {
            0 => {
                for t in &mut self.triangles {
                    if dice.below(share) == 0 {
                        *t = [0; 3].map(|_| dice.below(count) as u32);
                    }
                }
            }
            // All through one vertex or one edge.
            1 => self.triangles.iter_mut().for_each(|t| t[0] = 0),
            2 => self.triangles.iter_mut().for_each(|t| (t[0], t[1]) = (0, 1)),
            // Every triangle alone.
            3 => {
                let (old, held) = (self.positions.clone(), self.held.clone());
                let shake = dice.of(&[0.0, 1e-4, 1e-2]);
                (self.positions, self.held) = (Vec::new(), Vec::new());
                for t in &mut self.triangles {
                    *t = t.map(|v| {
                        let sway = Vec3::new(dice.sway(), dice.sway(), dice.sway());
                        self.positions.push(old[v as usize] + shake * sway);
                        self.held.push(held[v as usize]);
                        self.positions.len() as u32 - 1
                    });
                }
            }
            4 => self.triangles = self.triangles.repeat(2 + dice.below(3)),
            5 => self.triangles.iter_mut().for_each(|t| {
                if dice.below(share) == 0 {
                    t.swap(0, 1);
                }
            }),
            _ => self.triangles.retain(|_| dice.below(1 + share) != 0),
        }
    }

    fn damage_skeleton(&mut self, dice: &mut Dice) {
        let count = self.joints.len();
        let place = |dice: &mut Dice| Vec3::new(dice.sway(), dice.sway(), dice.sway());
        match dice.below(9) {
            0 => (0..count).for_each(|j| self.joints[j].parent = j.checked_sub(1)),
            1 => (0..count).for_each(|j| self.joints[j].parent = (j + 1 < count).then_some(j + 1)),
            2 => (1..count).for_each(|j| self.joints[j].parent = Some(0)),
            3 => self.joints.iter_mut().for_each(|joint| joint.parent = Some(dice.below(count))),
            // A long chain that holds some of the skin.
            4 => {
                let more = dice.of(&[50, 300, 1000]);
                for k in 0..more {
                    let mut joint = self.joints[dice.below(count)].clone();
                    joint.parent = Some(if k == 0 { count - 1 } else { count + k - 1 });
                    self.joints.push(joint);
                }
                for held in &mut self.held {
                    held[dice.below(4)].0 = (count + dice.below(more)) as u16;
                }
            }
            5 => self.joints.iter_mut().for_each(|joint| joint.translation = Vec3::ZERO),
            6 => {
                let far = dice.of(&[0.1, 10.0, 1e5]);
                self.joints.iter_mut().for_each(|joint| joint.translation = far * place(dice));
            }
            7 => {
                let other = self.joints[dice.below(count)].joint_from_bind;
                let scale = dice.of(&[0.0, 1e-3, 1.0, 1e3]);
                self.joints.iter_mut().for_each(|joint| joint.joint_from_bind = other * scale);
            }
            _ => {
                for joint in &mut self.joints {
                    if dice.below(3) == 0 {
                        let turn = Quat::from_axis_angle(Vec3::Z, 3.0 * dice.sway());
                        joint.joint_from_bind = Mat4::from_rotation_translation(turn, place(dice));
                    }
                }
            }
        }
    }

    /// As binary glTF.
    pub fn glb(&self) -> Vec<u8> {
        let mut file = File::default();
        let floats = |values: &mut dyn Iterator<Item = f32>| -> Vec<u8> {
            values.flat_map(|x| x.to_le_bytes()).collect()
        };
        let count = self.positions.len();
        let bounds = self.positions.iter().fold((Vec3::MAX, Vec3::MIN), |(l, h), p| (l.min(*p), h.max(*p)));
        let bounds = json!({ "min": bounds.0.to_array(), "max": bounds.1.to_array() });
        let points = floats(&mut self.positions.iter().flat_map(|p| p.to_array()));
        let position = file.add(points, "VEC3", 5126, count, bounds);
        let indices = self.triangles.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
        let index = file.add(indices, "SCALAR", 5125, 3 * self.triangles.len(), json!({}));
        let joints = self.held.iter().flatten().flat_map(|h| h.0.to_le_bytes()).collect();
        let joint = file.add(joints, "VEC4", 5123, count, json!({}));
        let weights = floats(&mut self.held.iter().flatten().map(|h| h.1));
        let weight = file.add(weights, "VEC4", 5126, count, json!({}));
        let binds = floats(&mut self.joints.iter().flat_map(|j| j.joint_from_bind.to_cols_array()));
        let bind = file.add(binds, "MAT4", 5126, self.joints.len(), json!({}));
        let (mut channels, mut samplers) = (Vec::new(), Vec::new());
        for (joint, times, turns) in &self.tracks {
            let ends = json!({ "min": [times[0]], "max": [times.last()] });
            let input = file.add(floats(&mut times.iter().copied()), "SCALAR", 5126, times.len(), ends);
            let turns = floats(&mut turns.iter().flat_map(|q| q.to_array()));
            let output = file.add(turns, "VEC4", 5126, times.len(), json!({}));
            channels
                .push(json!({ "sampler": samplers.len(), "target": { "node": joint, "path": "rotation" } }));
            samplers.push(json!({ "input": input, "output": output }));
        }
        let mut children = vec![Vec::new(); self.joints.len()];
        for (j, joint) in self.joints.iter().enumerate() {
            joint.parent.into_iter().for_each(|parent| children[parent].push(j));
        }
        let mut nodes = Vec::new();
        for (j, joint) in self.joints.iter().enumerate() {
            let mut node = json!({ "name": joint.name,
                "translation": joint.translation.to_array(), "rotation": joint.rotation.to_array() });
            if !children[j].is_empty() {
                node["children"] = std::mem::take(&mut children[j]).into();
            }
            nodes.push(node);
        }
        let mut roots: Vec<usize> =
            (0..self.joints.len()).filter(|&j| self.joints[j].parent.is_none()).collect();
        roots.push(nodes.len());
        nodes.push(json!({ "name": "skin", "mesh": 0, "skin": 0 }));
        file.bytes(json!({
            "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": roots }], "nodes": nodes,
            "meshes": [{ "primitives": [{ "indices": index,
                "attributes": { "POSITION": position, "JOINTS_0": joint, "WEIGHTS_0": weight } }] }],
            "skins": [{ "joints": (0..self.joints.len()).collect::<Vec<_>>(), "inverseBindMatrices": bind }],
            "animations": [{ "name": "clip", "channels": channels, "samplers": samplers }],
        }))
    }
}

/// A binary glTF in the making.
#[derive(Default)]
struct File {
    binary: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl File {
    fn add(&mut self, bytes: Vec<u8>, kind: &str, component: u32, count: usize, more: Value) -> usize {
        let view = self.views.len();
        let mut accessor =
            json!({ "bufferView": view, "componentType": component, "count": count, "type": kind });
        more.as_object().into_iter().flatten().for_each(|(key, value)| accessor[key] = value.clone());
        self.views.push(json!({ "buffer": 0, "byteOffset": self.binary.len(), "byteLength": bytes.len() }));
        self.accessors.push(accessor);
        self.binary.extend(bytes);
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        self.accessors.len() - 1
    }

    fn bytes(self, mut document: Value) -> Vec<u8> {
        document["buffers"] = json!([{ "byteLength": self.binary.len() }]);
        document["bufferViews"] = self.views.into();
        document["accessors"] = self.accessors.into();
        let mut text = document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut file = b"glTF\x02\0\0\0".to_vec();
        file.extend((12 + 8 + text.len() as u32 + 8 + self.binary.len() as u32).to_le_bytes());
        for (kind, chunk) in [(b"JSON", text), (b"BIN\0", self.binary)] {
            file.extend((chunk.len() as u32).to_le_bytes());
            file.extend(kind);
            file.extend(chunk);
        }
        file
    }
}

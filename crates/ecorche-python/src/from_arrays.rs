//! A character made of arrays.

use crate::arrays;
use crate::error::wrong;
use ecorche::character::raw::{
    RawChannel, RawCharacter, RawClip, RawMesh, RawMorph, RawNode, RawSkin, RawTrack,
};
use ecorche::character::{Interpolation, Repair, World};
use ecorche::math::Transform;
use glam::{Affine3A, DAffine3, DMat3, DMat4, Mat3, Mat4, Quat, Vec3};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Shear below this share of a joint's largest axis is rounding, not intent.
const NO_SHEAR: f32 = 1e-3;

/// The unit and the axis that points up.
pub fn world(metres_per_unit: f32, up: &str) -> PyResult<World> {
    if !(metres_per_unit.is_finite() && metres_per_unit > 0.0) {
        return Err(wrong(
            "metres_per_unit",
            format_args!("a number above 0 expected, {metres_per_unit} given"),
        ));
    }
    match up {
        "Y" | "y" => Ok(World::y_up(metres_per_unit)),
        "Z" | "z" => Ok(World::z_up(metres_per_unit)),
        "X" | "x" => Ok(World::x_up(metres_per_unit)),
        other => Err(wrong("up", format_args!("\"X\", \"Y\" or \"Z\" expected, \"{other}\" given"))),
    }
}

/// The content of the arrays, as a file reader would leave it.
pub struct Rig {
    pub raw: RawCharacter,
    parents: Vec<Option<usize>>,
}

impl Rig {
    /// Joints and where they are when the skin is bound.
    pub fn new(
        world: World,
        joints: Vec<String>,
        parents: &Bound<'_, PyAny>,
        rest: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let count = joints.len();
        if count == 0 {
            return Err(wrong("joints", "empty; a character needs a joint"));
        }
        let (numbers, _) = arrays::signed("parents", parents, &[Some(count)])?;
        let parents = numbers.into_iter().enumerate().map(|(joint, parent)| match usize::try_from(parent) {
            Err(_) => Ok(None),
            Ok(parent) if parent < count && parent != joint => Ok(Some(parent)),
            Ok(_) => {
                Err(wrong("parents", format_args!("joint {joint} has parent {parent} of {count} joints")))
            }
        });
        let parents = parents.collect::<PyResult<Vec<_>>>()?;
        let rest = affines("rest", rest, &[Some(count), Some(4), Some(4)])?;
        if let Some(joint) = rest.iter().position(|m| m.matrix3.determinant() == 0.0) {
            return Err(wrong("rest", format_args!("the matrix of joint {joint} is singular")));
        }
        let mut raw = RawCharacter { world, ..RawCharacter::default() };
        let mut sheared = 0;
        for ((joint, name), matrix) in joints.into_iter().enumerate().zip(&rest) {
            let (local, shear) = local(matrix, parents[joint].map(|parent| &rest[parent]));
            sheared += usize::from(shear > NO_SHEAR);
            raw.nodes.push(RawNode { name, parent: parents[joint], local });
        }
        if sheared > 0 {
            let problem = format!("{sheared} joints are sheared at rest");
            raw.repairs.push(Repair::new("rest", problem, "the shear is left out"));
        }
        raw.meshes.push(RawMesh {
            skin: Some(RawSkin {
                joints: (0..count).collect(),
                joint_from_mesh: rest.iter().map(|m| Mat4::from(single(&m.inverse()))).collect(),
                ..RawSkin::default()
            }),
            ..RawMesh::default()
        });
        Ok(Self { raw, parents })
    }

    /// Points, polygons and weights.
    pub fn add_mesh(
        &mut self,
        name: &str,
        points: &Bound<'_, PyAny>,
        faces: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mesh = &mut self.raw.meshes[0];
        mesh.name = name.to_owned();
        let (numbers, count) = arrays::floats("points", points, &[None, Some(3)])?;
        if let Some(at) = numbers.iter().position(|x| !x.is_finite()) {
            return Err(wrong("points", format_args!("vertex {} is not finite", at / 3)));
        }
        mesh.positions = numbers.chunks_exact(3).map(Vec3::from_slice).collect();
        (mesh.face_sizes, mesh.corners) = polygons(faces)?;
        if let Some(corner) = mesh.corners.iter().find(|c| **c as usize >= count) {
            return Err(wrong("faces", format_args!("vertex {corner} named, but points has {count}")));
        }
        let joints = self.parents.len();
        match (weights, &mut mesh.skin) {
            (Some(weights), Some(skin)) => skin.influences = influences(weights, count, joints)?,
            _ => mesh.skin = None,
        }
        Ok(())
    }

    /// Blend shapes.
    pub fn add_morphs(&mut self, morphs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let mesh = &mut self.raw.meshes[0];
        let vertices = mesh.positions.len();
        for (name, offsets) in morphs.into_iter().flatten() {
            let name: String = name.extract()?;
            let argument = format!("morphs[\"{name}\"]");
            let (numbers, _) = arrays::floats(&argument, &offsets, &[Some(vertices), Some(3)])?;
            let offsets = numbers.chunks_exact(3).map(Vec3::from_slice).enumerate();
            let offsets =
                offsets.filter(|(_, offset)| *offset != Vec3::ZERO).map(|(v, offset)| (v as u32, offset));
            mesh.morphs.push(RawMorph { name, offsets: offsets.collect(), weight: 0.0 });
        }
        Ok(())
    }

    /// Animations: where every joint is in every frame, and the weights of morphs.
    pub fn add_clips(
        &mut self,
        clips: Option<&Bound<'_, PyDict>>,
        morph_weights: Option<&Bound<'_, PyDict>>,
        fps: f32,
    ) -> PyResult<()> {
        if !(fps.is_finite() && fps > 0.0) {
            return Err(wrong("fps", format_args!("a number above 0 expected, {fps} given")));
        }
        let joints = self.parents.len();
        for (name, matrices) in clips.into_iter().flatten() {
            let name: String = name.extract()?;
            let argument = format!("clips[\"{name}\"]");
            let world = affines(&argument, &matrices, &[None, Some(joints), Some(4), Some(4)])?;
            let count = world.len() / joints;
            if count == 0 {
                return Err(wrong(&argument, "has no frame"));
            }
            let times: Vec<f32> = (0..count).map(|k| (k as f64 / f64::from(fps)) as f32).collect();
            let range = Some((0.0, times[count - 1]));
            let mut clip = RawClip { name: name.clone(), fps: Some(fps), range, tracks: Vec::new() };
            self.add_tracks(&mut clip, &world, &times);
            self.add_morph_tracks(&mut clip, morph_weights, &times)?;
            self.raw.clips.push(clip);
        }
        for (name, _) in morph_weights.into_iter().flatten() {
            let name: String = name.extract()?;
            if !self.raw.clips.iter().any(|clip| clip.name == name) {
                return Err(wrong("morph_weights", format_args!("\"{name}\" is not in clips")));
            }
        }
        Ok(())
    }

    fn add_tracks(&mut self, clip: &mut RawClip, world: &[DAffine3], times: &[f32]) {
        let joints = self.parents.len();
        let mut sheared = 0;
        for (joint, parent) in self.parents.iter().enumerate() {
            let locals = world.chunks_exact(joints).map(|pose| local(&pose[joint], parent.map(|p| &pose[p])));
            let locals: Vec<(Transform, f32)> = locals.collect();
            sheared += usize::from(locals.iter().any(|(_, shear)| *shear > NO_SHEAR));
            let rotations = locals.iter().map(|(local, _)| local.rotation).collect::<Vec<Quat>>();
            let channels = [
                RawChannel::Translation(joint, locals.iter().map(|(local, _)| local.translation).collect()),
                RawChannel::Rotation(joint, rotations),
                RawChannel::Scale(joint, locals.iter().map(|(local, _)| local.scale).collect()),
            ];
            clip.tracks.extend(channels.map(|channel| track(times, channel)));
        }
        if sheared > 0 {
            let problem = format!("{sheared} joints are sheared");
            self.raw.repairs.push(Repair::new(
                format!("clip \"{}\"", clip.name),
                problem,
                "the shear is left out",
            ));
        }
    }

    fn add_morph_tracks(
        &self,
        clip: &mut RawClip,
        morph_weights: Option<&Bound<'_, PyDict>>,
        times: &[f32],
    ) -> PyResult<()> {
        let Some(of_clip) = morph_weights.map(|all| all.get_item(&clip.name)).transpose()?.flatten() else {
            return Ok(());
        };
        let argument = format!("morph_weights[\"{}\"]", clip.name);
        let Ok(of_clip) = of_clip.cast::<PyDict>() else {
            return Err(wrong(&argument, "expected a dict from morph names to weights"));
        };
        for (name, weights) in of_clip {
            let name: String = name.extract()?;
            let argument = format!("{argument}[\"{name}\"]");
            let Some(morph) = self.raw.meshes[0].morphs.iter().position(|morph| morph.name == name) else {
                return Err(wrong(&argument, "no such morph in morphs"));
            };
            let (weights, _) = arrays::floats(&argument, &weights, &[Some(times.len())])?;
            clip.tracks.push(track(times, RawChannel::Morph(0, morph, weights)));
        }
        Ok(())
    }
}

fn track(times: &[f32], channel: RawChannel) -> RawTrack {
    RawTrack { times: times.to_vec(), interpolation: Interpolation::Linear, channel }
}

/// A joint relative to its parent, and how much shear that leaves out.
fn local(world: &DAffine3, parent: Option<&DAffine3>) -> (Transform, f32) {
    let local = parent.map_or(*world, |parent| parent.inverse() * *world);
    Transform::from_affine(single(&local))
}

fn single(matrix: &DAffine3) -> Affine3A {
    let m = &matrix.matrix3;
    let columns = Mat3::from_cols(m.x_axis.as_vec3(), m.y_axis.as_vec3(), m.z_axis.as_vec3());
    Affine3A::from_mat3_translation(columns, matrix.translation.as_vec3())
}

/// Matrices as NumPy stores them, row-major, with a last row of 0 0 0 1.
fn affines(name: &str, value: &Bound<'_, PyAny>, shape: &[Option<usize>]) -> PyResult<Vec<DAffine3>> {
    let (numbers, _) = arrays::matrices(name, value, shape)?;
    let matrix = |(at, rows): (usize, &[f64])| {
        let m = DMat4::from_cols_slice(rows).transpose();
        let columns = DMat3::from_cols(m.x_axis.truncate(), m.y_axis.truncate(), m.z_axis.truncate());
        let affine = DAffine3 { matrix3: columns, translation: m.w_axis.truncate() };
        if !m.is_finite() {
            return Err(wrong(name, format_args!("matrix {at} is not finite")));
        }
        Ok(affine)
    };
    numbers.chunks_exact(16).enumerate().map(matrix).collect()
}

/// Sizes and corners of polygons.
fn polygons(faces: &Bound<'_, PyAny>) -> PyResult<(Vec<u32>, Vec<u32>)> {
    if let Some([sizes, corners]) = arrays::tuple(faces) {
        let (sizes, _) = arrays::indices("faces[0]", &sizes, &[None])?;
        let (corners, _) = arrays::indices("faces[1]", &corners, &[None])?;
        let promised: u64 = sizes.iter().map(|&n| u64::from(n)).sum();
        if promised != corners.len() as u64 {
            let text = format_args!("the sizes add up to {promised} corners, {} given", corners.len());
            return Err(wrong("faces", text));
        }
        return Ok((sizes, corners));
    }
    let (corners, shape) = arrays::indices("faces", faces, &[None, None])?;
    match shape[1] {
        sides @ (3 | 4) => Ok((vec![sides as u32; shape[0]], corners)),
        sides => Err(wrong("faces", format_args!("3 or 4 columns expected, {sides} given"))),
    }
}

/// Vertex, joint and weight of every influence.
fn influences(weights: &Bound<'_, PyAny>, vertices: usize, joints: usize) -> PyResult<Vec<(u32, u32, f32)>> {
    let Some([vertex, joint, weight]) = arrays::tuple(weights) else {
        let (dense, _) = arrays::floats("weights", weights, &[Some(vertices), Some(joints)])?;
        let all = dense.into_iter().enumerate().filter(|(_, weight)| *weight != 0.0);
        return Ok(all.map(|(at, weight)| ((at / joints) as u32, (at % joints) as u32, weight)).collect());
    };
    let (vertex, shape) = arrays::indices("weights[0]", &vertex, &[None])?;
    let (joint, _) = arrays::indices("weights[1]", &joint, &[Some(shape[0])])?;
    let (weight, _) = arrays::floats("weights[2]", &weight, &[Some(shape[0])])?;
    for (name, list, count) in [("weights[0]", &vertex, vertices), ("weights[1]", &joint, joints)] {
        if let Some(index) = list.iter().find(|i| **i as usize >= count) {
            return Err(wrong(name, format_args!("{index} named, but there are {count}")));
        }
    }
    Ok(vertex.into_iter().zip(joint).zip(weight).map(|((v, j), w)| (v, j, w)).collect())
}

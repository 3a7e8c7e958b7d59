//! All of a crowd in one picture.

use super::Crowd;
use crate::output::Picture;
use crate::output::colour::Colour;
use crate::output::raster::{Framing, Scene, Settings, Surface, View, ground_height, render};
use glam::{Affine3A, Mat3A, Vec3};

/// A crowd as it is now, `width` x `height` pixels.
pub fn picture(crowd: &Crowd, view: View, width: usize, height: usize) -> Picture {
    let placed = |(member, instance): (&super::Member, &super::Instance)| -> Vec<Vec<Vec3>> {
        let meshes = member.frame.meshes.iter();
        meshes.map(|m| m.positions.iter().map(|&p| instance.place.transform_point3(p)).collect()).collect()
    };
    let all: Vec<Vec<Vec<Vec3>>> = crowd.members().iter().zip(crowd.instances()).map(placed).collect();
    let points = || all.iter().flatten().map(Vec::as_slice);
    let framing = Framing { view, aspect: width as f32 / height.max(1) as f32, ..Framing::default() };
    let camera = framing.camera(points());
    let mut scene = Scene { ground: Some(ground_height(points())), ..Scene::default() };
    for (k, positions) in all.iter().enumerate() {
        let (character, place) = (crowd.body(k).character(), crowd.instances()[k].place);
        let turn = normal_map(place);
        for ((mesh, posed), positions) in
            character.meshes.iter().zip(&crowd.members()[k].frame.meshes).zip(positions)
        {
            let normals =
                mesh.shading.vertex_normals(&mesh.faces.corners, &posed.normals, mesh.positions.len());
            let normals: Vec<Vec3> = normals.into_iter().map(|n| (turn * n).normalize_or(Vec3::Y)).collect();
            let mut surface = Surface::new(positions, &mesh.triangles).normals(normals);
            if let Some(colour) = character.colour(mesh) {
                surface = surface.colour(Colour(colour.into()));
            }
            scene.surfaces.push(surface);
        }
    }
    render(&scene, &camera, &Settings { width, height, ..Settings::default() })
}

/// Turns normals as a map turns surfaces; lengths change.
pub(super) fn normal_map(place: Affine3A) -> Mat3A {
    let inverse = place.matrix3.inverse();
    if inverse.is_finite() { inverse.transpose() } else { Mat3A::IDENTITY }
}

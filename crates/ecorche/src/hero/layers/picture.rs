//! A picture of every layer of one frame: skin, fat, fascia, muscles.

use super::{HeroError, STAGES, Shot, Simulated, fascia, fat, split};
use crate::geom::TriMesh;
use crate::output::raster::{BONE, FAT, Framing, MUSCLE, Scene, Settings, Surface, View, render, shapes};
use crate::output::sheet::Sheet;
use crate::output::{Colour, Picture};
use glam::{DVec3, Vec3};

/// What fascia looks like.
const FASCIA: u32 = 0xD9C9C4;
/// What skin looks like.
const SKIN: u32 = 0xD8A58B;

impl Shot {
    /// Frame `index` of the shot in four panels: skin, fat cut open, fascia, muscles and bones.
    pub fn picture(
        &self,
        index: usize,
        simulated: &mut Simulated,
        view: View,
        size: usize,
    ) -> Result<Picture, HeroError> {
        let (frame, _) = self.frame(index, simulated)?;
        let k = self.timeline.lead_in + index;
        let moment = &self.timeline.moments[k];
        let [muscle_stage, fascia_stage, fat_stage] = &mut simulated.stages[..] else {
            return Ok(Picture::new(size, size, Colour::hex(0)));
        };
        let mut muscles = self.muscles()?;
        muscles.load(&muscle_stage.read(k)?, k, &self.timeline).ok_or(HeroError::Unfit(STAGES[0]))?;
        let (bellies, bones) = muscles.surfaces();
        let (_, sheet) =
            split::<fascia::Report>(&fascia_stage.read(k)?).ok_or(HeroError::Unfit(STAGES[1]))?;
        let (_, nodes) = split::<fat::Report>(&fat_stage.read(k)?).ok_or(HeroError::Unfit(STAGES[2]))?;
        let world = |p: &DVec3| moment.anchor.transform_point3(*p).as_vec3();
        let layer = |l: usize| nodes.iter().skip(l).step_by(3).map(world).collect::<Vec<Vec3>>();
        let triangles = &self.patch.0.triangles;
        let sheet = TriMesh { positions: sheet.iter().map(world).collect(), triangles: triangles.clone() };
        let (inner, outer) = (layer(0), layer(2));
        let whole = TriMesh { positions: outer.clone(), triangles: triangles.clone() };
        let mut rest = TriMesh::default();
        for (mesh, posed) in self.character.meshes.iter().zip(&frame.meshes) {
            let part = TriMesh { positions: posed.positions.clone(), triangles: mesh.triangles.clone() };
            shapes::append(&mut rest, &part);
        }
        let framing = Framing { view, margin: 0.1, ..Framing::default() };
        let camera = framing.camera(std::iter::once(&whole.positions[..]));
        // The half that looks at the camera is taken off the fat.
        let middle = outer.iter().sum::<Vec3>() / outer.len().max(1) as f32;
        let side = camera.right;
        let kept = |t: &&[u32; 3]| t.iter().all(|&v| (outer[v as usize] - middle).dot(side) < 0.0);
        let mut cut = TriMesh::default();
        let left: Vec<[u32; 3]> = triangles.iter().filter(kept).copied().collect();
        shapes::append(&mut cut, &closed(&inner, &outer, &left));
        let colour = |mesh: &TriMesh, hex: u32| {
            Surface::new(mesh.positions.clone(), mesh.triangles.clone()).colour(Colour::hex(hex))
        };
        let mut under = Vec::new();
        for belly in &bellies {
            under.push(Surface { gloss: 0.4, ..colour(belly, MUSCLE) });
        }
        under.extend(bones.iter().map(|b| colour(b, BONE)));
        let panels: [(&str, Vec<Surface<'_>>); 4] = [
            ("skin", vec![colour(&rest, SKIN)]),
            ("fat, cut open, on the fascia", vec![colour(&cut, FAT), colour(&sheet, FASCIA)]),
            ("fascia", vec![colour(&sheet, FASCIA)]),
            ("muscles and bones", under),
        ];
        let mut page = Sheet::new(4);
        for (caption, surfaces) in panels {
            let scene = Scene { surfaces, ..Scene::default() };
            page = page.panel(render(&scene, &camera, &Settings::sized(size, size)), caption);
        }
        Ok(page.compose())
    }
}

/// The solid between two sheets over some of their triangles.
fn closed(inner: &[Vec3], outer: &[Vec3], triangles: &[[u32; 3]]) -> TriMesh {
    let count = inner.len() as u32;
    let mut mesh = TriMesh { positions: [inner, outer].concat(), triangles: Vec::new() };
    for &[a, b, c] in triangles {
        mesh.triangles.push([a + count, b + count, c + count]);
        mesh.triangles.push([a, c, b]);
    }
    let mut sides: Vec<[u32; 2]> = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    sides.sort_unstable();
    for &[a, b] in sides.iter().filter(|[a, b]| sides.binary_search(&[*b, *a]).is_err()) {
        mesh.triangles.push([a, b, b + count]);
        mesh.triangles.push([a, b + count, a + count]);
    }
    mesh
}

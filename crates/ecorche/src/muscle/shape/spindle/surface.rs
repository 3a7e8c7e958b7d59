//! The surface of a spindle as a mesh, to be drawn.

use super::Spindle;
use crate::geom::{TriMesh, tube};
use crate::muscle::shape::DrawnSurface;
use std::f64::consts::TAU;

impl Spindle {
    /// See [`crate::muscle::Shape::surface`].
    pub(in crate::muscle::shape) fn surface(&self, around: usize, thinnest: f64) -> DrawnSurface {
        let axis = self.axis();
        let rings = axis.points().len();
        let (mut mesh, mut thickness) = (TriMesh::default(), Vec::new());
        for i in 0..rings {
            let here = self.thickness(axis.share(i));
            let radius = here.max(thinnest * self.width());
            let (n, t) = (axis.wide_axes()[i], axis.tangents()[i]);
            let b = t.cross(n);
            for k in 0..around {
                let (sine, cosine) = (TAU * k as f64 / around as f64).sin_cos();
                let reach = radius * self.section.radius(cosine).0;
                let reach = self.cut.as_ref().map_or(reach, |cut| reach.min(cut.at(i, sine.atan2(cosine))));
                mesh.positions.push((axis.points()[i] + reach * (cosine * n + sine * b)).as_vec3());
                thickness.push(here);
            }
        }
        mesh.triangles.extend(tube::sides(rings, around));
        let ends = [axis.points()[0], axis.points()[rings - 1]];
        tube::close(&mut mesh, rings, around, ends.map(|p| p.as_vec3()));
        thickness.extend([0.0, 0.0]);
        DrawnSurface { mesh, thickness }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Adjacency;
    use crate::muscle::{Axis, Profile, Profiles};
    use glam::DVec3;
    use std::sync::Arc;

    #[test]
    fn the_mesh_is_closed_and_has_the_volume() {
        let profiles = Arc::new(Profiles::new(Profile::beta(3, 3).unwrap(), Profile::beta(3, 3).unwrap()));
        let points: Vec<DVec3> = (0..=40).map(|i| DVec3::X * 0.005 * f64::from(i)).collect();
        let axis = Axis::new(&points, [DVec3::Y; 2], 0.0).unwrap();
        let spindle = Spindle::new(axis, profiles, 0.0, 0.5, 0.02);
        let surface = spindle.surface(18, 0.16);
        assert_eq!(Adjacency::new(&surface.mesh).open_edges(), 0);
        assert_eq!(surface.thickness.len(), surface.mesh.positions.len());
        let ratio = surface.mesh.volume() / spindle.volume();
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
    }
}

//! The solid parts of a skeleton: a capsule from each joint to its child, or surfaces from files.

use super::definition::BoneDef;
use crate::character::Skeleton;
use crate::dynamics::{Keep, Obstacle, Rigid, Shape};
use crate::geom::TriMesh;
use crate::geom::sdf::{DistanceGrid, SdfError, SurfaceDistance};
use glam::DVec3;
use std::sync::Arc;

/// Radius of a bone over its length: 11 mm for a humerus of 31 cm. Half as much lets muscles sink in visibly,
/// twice as much pushes them outward when a joint bends.
const SLENDER: f64 = 0.035;

/// Bones shorter than this at human size are left out, metres.
const SHORTEST: f64 = 0.01;

/// Cells of a distance grid along its longest side: 3 mm for a humerus.
const CELLS: f64 = 100.0;

/// The obstacles of a skeleton at bind. `surfaces`: for each definition that names a mesh, its joint and that mesh in metres,
/// in the joint's coordinates; `scale`: the body's size against a human's.
pub(super) fn obstacles(
    skeleton: &Skeleton,
    bind: &[Rigid],
    definitions: &[BoneDef],
    surfaces: &[Option<(usize, TriMesh)>],
    scale: f64,
) -> Result<Vec<Obstacle>, (usize, SdfError)> {
    let mut obstacles = Vec::new();
    let every_end = skeleton.bone_ends(|_| true, |_| true);
    for (joint, own) in skeleton.joints.iter().enumerate() {
        let bones = every_end[joint].iter().map(|&end| (end, bind[joint].point_back(bind[end].translation)));
        let mut given =
            definitions.iter().enumerate().filter(|(_, d)| skeleton.find(&d.bone) == Some(joint)).peekable();
        if given.peek().is_none() && own.in_skin {
            for (_, end) in bones.clone().filter(|(end, _)| skeleton.joints[*end].in_skin) {
                if end.length() > SHORTEST * scale {
                    obstacles.push(Obstacle::capsule(joint, [DVec3::ZERO, end], SLENDER * end.length()));
                }
            }
        }
        for (index, definition) in given {
            if let Some((_, surface)) = &surfaces[index] {
                obstacles.push(solid(joint, surface).map_err(|e| (index, e))?);
                continue;
            }
            let ends: Vec<[DVec3; 2]> = match definition.ends {
                Some(ends) => vec![ends.map(|e| e.as_dvec3())],
                None => bones.clone().map(|(_, end)| [DVec3::ZERO, end]).collect(),
            };
            for ends in ends {
                let length = ends[0].distance(ends[1]);
                let radius = definition.radius.map_or(SLENDER * length, f64::from);
                if radius > 0.0 {
                    obstacles.push(Obstacle::capsule(joint, ends, radius));
                }
            }
        }
    }
    Ok(obstacles)
}

fn solid(frame: usize, surface: &TriMesh) -> Result<Obstacle, SdfError> {
    let distance = SurfaceDistance::new(surface)?;
    let (low, high) = surface.bounds();
    let (low, high) = (low.as_dvec3(), high.as_dvec3());
    let cell = (high - low).max_element() / CELLS;
    let grid = DistanceGrid::new(|p| distance.signed(p), low, high, cell)?;
    let reach = (0.5 * (low + high), 0.5 * low.distance(high));
    Ok(Obstacle { frame, shape: Shape::Grid(Arc::new(grid)), keep: Keep::Outside, reach })
}

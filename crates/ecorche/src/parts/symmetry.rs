//! Symmetric bodies: which vertices and joints are mirror images of each other, and how the fields of their parts become
//! mirror images too.
//!
//! Samples are scattered at random, voxels lie where the box begins. On a body that is symmetric this alone would make
//! left and right skin differ by a tenth of a millimetre. There the parts of one side are fitted and the others get their
//! mirror images, and a part in the middle is fitted to samples of one half and their images.

use super::closure::Closure;
use super::fit::Fitted;
use super::outside::Outside;
use crate::field::{CompactHrbf, Field, Grid, Hrbf, Sample, Support, SurfaceSample};
use crate::geom::TriMesh;
use crate::geom::bvh::{Aabb, Bvh};
use crate::geom::poisson_disk::SurfacePoint;
use crate::pieces::skeleton::Bones;
use glam::{DVec3, Vec3};

/// A plane of bind space, across one of its axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mirror {
    /// 0 for x, 2 for z.
    axis: usize,
    /// Where on it.
    at: f32,
}

/// The plane in which a body is symmetric, and what is mirrored to what.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Symmetry {
    pub mirror: Mirror,
    /// The joint on the other side; itself in the middle.
    joint: Vec<u32>,
}

/// Of the body's size: mirror images farther apart than this are none. Files keep six or seven digits; a sculpted body
/// that is only nearly symmetric misses by a hundred times as much.
const TOLERANCE: f32 = 1e-5;

impl Mirror {
    pub fn point(self, mut p: Vec3) -> Vec3 {
        p[self.axis] = 2.0 * self.at - p[self.axis];
        p
    }

    pub fn vector(self, mut v: Vec3) -> Vec3 {
        v[self.axis] = -v[self.axis];
        v
    }

    /// Distance from the plane, positive on one side.
    pub fn side(self, p: Vec3) -> f32 {
        p[self.axis] - self.at
    }

    fn sample(self, s: SurfaceSample) -> SurfaceSample {
        SurfaceSample { position: self.point(s.position), normal: self.vector(s.normal) }
    }

    /// Into the plane; `None` for one that faces straight out of it.
    fn flat(self, s: SurfaceSample) -> Option<SurfaceSample> {
        let (mut position, mut normal) = (s.position, s.normal);
        position[self.axis] = self.at;
        normal[self.axis] = 0.0;
        Some(SurfaceSample { position, normal: normal.try_normalize()? })
    }

    /// The box of voxels from `low` on, moved so that the plane lies between two of them, and how many it needs along
    /// the axis across it.
    pub fn between_voxels(self, low: &mut Vec3, counts: &mut [usize; 3], cell: f32) {
        let before = ((self.at - low[self.axis]) / cell).ceil().max(1.0);
        let after = (low[self.axis] + counts[self.axis] as f32 * cell - self.at) / cell;
        low[self.axis] = self.at - before * cell;
        counts[self.axis] = before as usize + after.ceil().max(1.0) as usize;
    }
}

impl Symmetry {
    /// `None` if the body is not symmetric. `joint_of_vertex`: the joint that moves each vertex; those in the middle that
    /// go with one side are given to what carries both.
    pub fn find(mesh: &TriMesh, bones: &Bones, joint_of_vertex: &mut [u32]) -> Option<Self> {
        let (low, high) = mesh.bounds();
        [0, 2].into_iter().find_map(|axis| {
            let mirror = Mirror { axis, at: 0.5 * (low[axis] + high[axis]) };
            Self::about(mirror, mesh, bones, joint_of_vertex)
        })
    }

    fn about(mirror: Mirror, mesh: &TriMesh, bones: &Bones, joint_of_vertex: &mut [u32]) -> Option<Self> {
        let tolerance = TOLERANCE * mesh.size();
        let vertex = images(mirror, &mesh.positions, tolerance)?;
        let joint = joints(mirror, bones, tolerance)?;
        let held = |v: usize| joint_of_vertex[v] as usize;
        let apart = |v: usize| vertex[v] as usize != v;
        let matches = |v: usize| joint[held(v)] as usize == held(vertex[v] as usize);
        if !(0..vertex.len()).filter(|&v| apart(v)).all(matches) {
            return None;
        }
        let mut holds = vec![false; joint.len()];
        joint_of_vertex.iter().for_each(|&j| holds[j as usize] = true);
        for v in (0..vertex.len()).filter(|&v| !apart(v)) {
            let own = joint_of_vertex[v];
            if joint[own as usize] != own {
                let middle = |j: &u32| joint[*j as usize] == *j && holds[*j as usize];
                joint_of_vertex[v] = bones.ancestors(own).find(middle)?;
            }
        }
        Some(Self { mirror, joint })
    }

    /// The joint on the other side, or itself.
    pub fn twin(&self, joint: u32) -> u32 {
        self.joint[joint as usize]
    }

    pub fn is_middle(&self, joint: u32) -> bool {
        self.twin(joint) == joint
    }

    /// Of two mirrored closures the one of the lower side and its image, in place of both; what is nearly in the plane
    /// goes into it.
    pub fn even_closures(&self, closures: &[Closure], same: f32) -> Vec<Closure> {
        let mut even = Vec::new();
        for closure in closures {
            let side = self.mirror.side(closure.sample.position);
            if side.abs() < 0.5 * same * closure.radius {
                even.extend(self.mirror.flat(closure.sample).map(|sample| Closure { sample, ..*closure }));
            } else if side > 0.0 {
                let to = self.joint.get(closure.to as usize).copied().unwrap_or(closure.to);
                even.push(*closure);
                even.push(Closure {
                    to,
                    middle: self.mirror.point(closure.middle),
                    direction: self.mirror.vector(closure.direction),
                    sample: self.mirror.sample(closure.sample),
                    ..*closure
                });
            }
        }
        even
    }
}

/// The mirror image of every point among them; `None` if one has none, or not for certain.
fn images(mirror: Mirror, points: &[Vec3], tolerance: f32) -> Option<Vec<u32>> {
    let boxes: Vec<Aabb> = points.iter().map(|&p| Aabb::around(&[p])).collect();
    let tree = Bvh::new(&boxes);
    let image = |v: usize| -> Option<u32> {
        let wanted = mirror.point(points[v]);
        let distance = |k: u32| Some(points[k as usize].distance_squared(wanted));
        tree.nearest_item(wanted, tolerance, distance).map(|(best, _)| best)
    };
    let images: Vec<u32> = (0..points.len()).map(image).collect::<Option<_>>()?;
    (0..images.len()).all(|v| images[images[v] as usize] as usize == v).then_some(images)
}

/// The mirror image of every joint; joints of one place are told apart by what carries them and by their order.
fn joints(mirror: Mirror, bones: &Bones, tolerance: f32) -> Option<Vec<u32>> {
    let count = bones.position.len();
    let mut twin: Vec<Option<u32>> = vec![None; count];
    for j in 0..count {
        if twin[j].is_some() {
            continue;
        }
        let wanted = mirror.point(bones.position[j]);
        let carried_by = match bones.ancestors(j as u32).next() {
            // Parents come first, and theirs is known.
            Some(parent) => Some(twin[parent as usize]?),
            None => None,
        };
        let fits = |&k: &usize| {
            twin[k].is_none()
                && bones.ancestors(k as u32).next() == carried_by
                && bones.position[k].distance(wanted) <= tolerance
        };
        let found = if fits(&j) { j } else { (0..count).find(fits)? };
        twin[j] = Some(found as u32);
        twin[found] = Some(j as u32);
    }
    twin.into_iter().collect()
}

/// Of the mean distance between samples: nearer to the plane than this, one lies in it.
const IN_THE_PLANE: f32 = 0.3;
/// Of the mean distance between samples: closer to each other than this, two in the plane are one.
const CROWDED: f32 = 0.5;

/// A sample of a part in the middle, and its image if it is not in the plane.
pub(super) type Pair = (SurfaceSample, Option<SurfaceSample>);

impl Mirror {
    /// Of points scattered over a symmetric surface, `spacing` metres apart, those of one side with their images.
    pub fn even_samples(self, points: Vec<SurfacePoint>, spacing: f32, outside: &Outside) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = Vec::with_capacity(points.len());
        for point in points {
            let side = self.side(point.position);
            if side.abs() >= IN_THE_PLANE * spacing {
                if side > 0.0 {
                    pairs.push((point.into(), Some(self.sample(point.into()))));
                }
                continue;
            }
            let Some(mut flat) = self.flat(point.into()) else { continue };
            if let Some(foot) = outside.nearest(flat.position, spacing) {
                flat.position = foot.point;
                flat.position[self.axis] = self.at;
            }
            let crowded = |(other, image): &Pair| {
                image.is_none() && other.position.distance(flat.position) < CROWDED * spacing
            };
            if !pairs.iter().any(crowded) {
                pairs.push((flat, None));
            }
        }
        pairs
    }
}

/// The mean of a field and its mirror image, on a support that is as wide on both sides, in whole cells.
pub(super) struct Even<'a> {
    field: &'a dyn Field,
    mirror: Mirror,
    support: Support,
}

impl<'a> Even<'a> {
    /// `resolution`: cells along the longest side.
    pub fn new(field: &'a dyn Field, mirror: Mirror, resolution: u32) -> Self {
        let Support { mut low, mut high } = field.support();
        let (axis, at) = (mirror.axis, mirror.at);
        let half = (at - low[axis]).max(high[axis] - at);
        let mut size = high - low;
        size[axis] = 2.0 * half;
        let cell = size.max_element() / resolution as f32;
        let half = 0.5 * cell * (size[axis] / cell - 1e-3).ceil().max(1.0);
        (low[axis], high[axis]) = (at - half, at + half);
        Self { field, mirror, support: Support { low, high } }
    }
}

impl Field for Even<'_> {
    fn sample(&self, point: Vec3) -> Sample {
        let (here, there) = (self.field.sample(point), self.field.sample(self.mirror.point(point)));
        Sample {
            value: 0.5 * (here.value + there.value),
            gradient: 0.5 * (here.gradient + self.mirror.vector(there.gradient)),
        }
    }

    fn support(&self) -> Support {
        self.support
    }
}

impl Fitted {
    /// Its mirror image.
    pub fn mirrored(&self, mirror: Mirror) -> Option<Self> {
        let samples = |list: &[SurfaceSample]| list.iter().map(|&s| mirror.sample(s)).collect();
        let (middle, scale, centres, weights) = self.hrbf.hrbf().solution();
        let flip = |v: &DVec3| {
            let mut v = *v;
            v[mirror.axis] = -v[mirror.axis];
            v
        };
        let turned = |w: &[f64; 4]| {
            let mut w = *w;
            w[mirror.axis + 1] = -w[mirror.axis + 1];
            w
        };
        let hrbf = Hrbf::from_solution(
            mirror.point(middle),
            scale,
            centres.iter().map(flip).collect(),
            weights.iter().map(turned).collect(),
        );
        Some(Self {
            samples: samples(&self.samples),
            closures: samples(&self.closures),
            radius: self.radius,
            hrbf: CompactHrbf::new(hrbf, self.radius),
            field: mirrored_table(&self.field, mirror)?,
            cut_border: self.cut_border,
        })
    }
}

/// The table of the mirror image of a field.
fn mirrored_table(table: &Grid, mirror: Mirror) -> Option<Grid> {
    let (cells_per_metre, cells) = table.shape();
    let support = table.support();
    let mut low = support.low;
    low[mirror.axis] = 2.0 * mirror.at - support.high[mirror.axis];
    let counts = cells.to_array().map(|c| c as usize + 1);
    let strides = [1, counts[0], counts[0] * counts[1]];
    let nodes = (0..table.nodes().len()).map(|i| {
        let along = i / strides[mirror.axis] % counts[mirror.axis];
        let from = i + (counts[mirror.axis] - 1) * strides[mirror.axis] - 2 * along * strides[mirror.axis];
        let mut node = table.nodes()[from];
        node[mirror.axis + 1] = -node[mirror.axis + 1];
        node
    });
    Grid::from_nodes(low, cells_per_metre, cells, nodes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIRROR: Mirror = Mirror { axis: 0, at: 0.25 };

    #[test]
    fn points_find_their_images_or_are_refused() {
        let points = [Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.25, 2.0, 1.0), Vec3::new(0.5, 1.0, 0.0)];
        assert_eq!(images(MIRROR, &points, 1e-6), Some(vec![2, 1, 0]));
        let off = [points[0], points[1], Vec3::new(0.5, 1.001, 0.0)];
        assert_eq!(images(MIRROR, &off, 1e-6), None);
    }

    #[test]
    fn the_plane_lies_between_voxels_and_none_is_lost() {
        let (low, cell, count) = (Vec3::new(-0.31, 0.0, 0.0), 0.02, 60usize);
        let (mut moved, mut counts) = (low, [count; 3]);
        MIRROR.between_voxels(&mut moved, &mut counts, cell);
        let cells = (MIRROR.at - moved.x) / cell;
        assert!((cells - cells.round()).abs() < 1e-4);
        assert!(moved.x <= low.x && moved.x + counts[0] as f32 * cell >= low.x + count as f32 * cell - 1e-5);
        assert_eq!(counts[1..], [count; 2]);
    }

    #[test]
    fn a_table_seen_in_the_mirror_is_the_field_there() {
        let exact = crate::field::conformance::capsule(|p| p);
        let grid = Grid::bake(&exact, &crate::field::GridSettings { resolution: 20 }).unwrap();
        let image = mirrored_table(&grid, MIRROR).unwrap();
        let even = Even::new(&exact, MIRROR, 20);
        for p in crate::field::conformance::scatter(grid.support(), 500) {
            let (a, b) = (grid.sample(p), image.sample(MIRROR.point(p)));
            assert!((a.value - b.value).abs() < 1e-5);
            assert!(a.gradient.distance(MIRROR.vector(b.gradient)) < 1e-4 * a.gradient.length().max(1.0));
            let (a, b) = (even.sample(p), even.sample(MIRROR.point(p)));
            assert!((a.value - b.value).abs() < 1e-5);
        }
    }
}

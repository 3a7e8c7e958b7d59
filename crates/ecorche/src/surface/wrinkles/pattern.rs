//! The patterns of a surface: where it creases and which way, fixed at rest.

use super::WrinkleError;
use super::compression::Compression;
use super::creases::{Joints, Marks};
use super::definition::WrinkleDef;
use super::patch::Patch;
use super::regions::{self, WrinkledJoint};
use super::stripe_set::{Making, StripeSet};
use crate::character::Skeleton;
use crate::geom::Adjacency;
use crate::geom::adjacency::Lists;
use crate::skinning::Surface;
use glam::{DVec3, Vec3A};
use std::f64::consts::PI;

/// Wavelengths are blended between joints by this many means with the neighbours.
const BLENDS: usize = 12;

/// The skin that can wrinkle, and what is known of it before it has stripes.
pub(super) struct Ground<'a> {
    surface: &'a Surface,
    adjacency: &'a Adjacency,
    skeleton: &'a Skeleton,
    def: &'a WrinkleDef,
    compression: Compression,
    joint_of: Vec<Option<u32>>,
    marks: Marks,
    /// Joints whose skin can wrinkle, parents first.
    pub joints: Vec<WrinkledJoint>,
    /// Per vertex of the surface: whether it is of a joint that wrinkles.
    drawn: Vec<bool>,
    /// Per vertex of the surface, metres; not a number where nothing wrinkles.
    wavelengths: Vec<f64>,
    /// Per vertex of the surface.
    gains: Vec<f64>,
}

impl<'a> Ground<'a> {
    pub fn new(
        surface: &'a Surface,
        adjacency: &'a Adjacency,
        skeleton: &'a Skeleton,
        def: &'a WrinkleDef,
        compression: Compression,
    ) -> Result<Self, WrinkleError> {
        let joint_of = regions::bending_joints(surface, skeleton);
        let wanted = regions::wanted(def, skeleton, &joint_of)?;
        let is_wanted = |v: usize| joint_of[v].is_some_and(|j| wanted[j as usize]);
        let marks = Marks::new(def, surface, skeleton, is_wanted)?;
        let touched = |v: usize| marks.touch(v);
        let whole = Patch::new(&surface.mesh, adjacency, &compression, is_wanted, touched);
        let joints = regions::joints(def, surface, skeleton, &joint_of, &whole)?;
        let mut of_joint: Vec<Option<&WrinkledJoint>> = vec![None; skeleton.len()];
        for (j, joint) in joints.iter().filter(|(_, joint)| joint.subdivisions == 0) {
            of_joint[*j as usize] = Some(joint);
        }
        let joint = |v: usize| of_joint[joint_of[v]? as usize].filter(|_| is_wanted(v));
        let count = joint_of.len();
        let drawn: Vec<bool> = (0..count).map(|v| joint(v).is_some()).collect();
        let patch = Patch::new(&surface.mesh, adjacency, &compression, |v| drawn[v], touched);
        let mut logs: Vec<f64> = patch
            .vertices
            .iter()
            .map(|&v| joint(v as usize).map_or(0.0, |joint| f64::from(joint.wavelength).ln()))
            .collect();
        patch.average(&mut logs, BLENDS);
        let mut wavelengths = vec![f64::NAN; count];
        patch.vertices.iter().zip(logs).for_each(|(&v, log)| wavelengths[v as usize] = log.exp());
        let own_gain = |v: usize| def.joint.get(&joint(v)?.name)?.gain;
        let gains = (0..count).map(|v| f64::from(own_gain(v).unwrap_or(def.gain))).collect();
        let joints = joints.into_iter().map(|(_, joint)| joint).collect();
        Ok(Self {
            surface,
            adjacency,
            skeleton,
            def,
            compression,
            joint_of,
            marks,
            joints,
            drawn,
            wavelengths,
            gains,
        })
    }

    /// Whether a vertex of the surface is of a joint that wrinkles.
    pub fn is_of(&self, v: usize, joint: usize) -> bool {
        self.drawn[v] && self.joint_of[v] == Some(joint as u32)
    }

    /// The sets, strongest first; `compression`: beside the lines of sets so far. All are of the vertices of the first, or of
    /// some of them. Empty where nothing wrinkles.
    pub fn sets(
        &self,
        compression: impl Fn(&[Vec<DVec3>]) -> Compression,
    ) -> Result<Vec<StripeSet>, WrinkleError> {
        let (mut sets, mut taken) = (Vec::new(), Vec::new());
        for k in 0..self.def.patterns as usize {
            let further;
            let found = if k == 0 {
                &self.compression
            } else {
                further = compression(&taken);
                &further
            };
            let first = k == 0;
            let marked = |v: usize| first && self.marks.touch(v);
            let patch = Patch::new(&self.surface.mesh, self.adjacency, found, |v| self.drawn[v], marked);
            if patch.is_empty() {
                break;
            }
            let set = StripeSet::new(&patch, self.making(found, &patch, first))?;
            if set.mask.iter().all(|&mask| mask == 0.0) && !first {
                break;
            }
            taken.push(set.triangle_lines(&patch));
            sets.push(set);
        }
        Ok(sets)
    }

    /// Only the first set has creases and directions that were given; masks hold for all.
    fn making<'b>(&'b self, compression: &'b Compression, patch: &Patch, first: bool) -> Making<'b> {
        let of = |v: &u32| *v as usize;
        let vertices = || patch.vertices.iter().map(of);
        let joints = (first && self.def.creases > 0.0).then(|| Joints {
            skeleton: self.skeleton,
            surface: self.surface,
            joint_of: &self.joint_of,
            depth: f64::from(self.def.creases),
        });
        Making {
            compression,
            wavelengths: vertices().map(|v| self.wavelengths[v]).collect(),
            sharpness: f64::from(self.def.sharpness),
            directions: vertices()
                .map(|v| if first { self.marks.directions[v] } else { DVec3::ZERO })
                .collect(),
            creases: vertices().map(|v| self.marks.creases[v].filter(|_| first)).collect(),
            joints,
            masks: vertices().map(|v| self.marks.masks[v]).collect(),
        }
    }
}

/// A triangle whose length along the lines counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gauge {
    /// Vertices of the surface.
    pub corners: [u32; 3],
    /// Of each pattern, what to multiply the edges from the first corner with; the sum has length 1 at rest.
    pub along: [[f32; 2]; 3],
    /// 1 for each pattern that the triangle has.
    pub present: Vec3A,
    /// Whether the skin around it wrinkles fully in the first pattern.
    pub full: bool,
}

impl Gauge {
    /// Length along each pattern's line over that at rest, 0 without a line.
    pub fn lengths(&self, at: impl Fn(u32) -> Vec3A) -> Vec3A {
        let [a, b, c] = self.corners.map(at);
        let (u, v) = (b - a, c - a);
        let length = |k: usize| (u * self.along[k][0] + v * self.along[k][1]).length();
        if self.present.y + self.present.z > 0.0 {
            Vec3A::new(length(0), length(1), length(2))
        } else {
            Vec3A::new(length(0), 0.0, 0.0)
        }
    }
}

/// Where and which way a surface creases. Lists are per vertex of the pattern, with one component per set of stripes.
#[derive(Debug)]
pub(super) struct Pattern {
    /// Vertices of the surface, ascending.
    pub vertices: Vec<u32>,
    /// Offset in heights, positive outward.
    pub wave: Vec<Vec3A>,
    /// Height of a fold of 1, metres: wavelength times mask, over pi.
    pub scale: Vec<Vec3A>,
    /// How much deeper a valley of full fold is than others.
    pub depth: Vec<Vec3A>,
    /// Of the settings.
    pub gain: Vec<f32>,
    /// Squared cosines between the lines: first and second, first and third, second and third.
    pub overlap: Vec<Vec3A>,
    /// Sets of stripes, 0 to 3.
    pub count: usize,
    /// Neighbours, as places in these lists.
    pub rings: Lists,
    /// Gauges around each vertex.
    pub gauges_of: Lists,
    /// Triangles.
    pub gauges: Vec<Gauge>,
    /// Means with the neighbours that compression is smoothed by in a frame.
    pub means: usize,
    /// What is drawn where.
    pub joints: Vec<WrinkledJoint>,
    /// Share of the area that can wrinkle whose stripes are within 15 % of the wavelength asked for.
    pub spacing_kept: f32,
}

impl Pattern {
    /// Lays the sets over each other.
    pub fn new(ground: &Ground, sets: &[StripeSet]) -> Self {
        let vertices = sets.first().map_or(Vec::new(), |set| set.vertices.clone());
        let count = vertices.len();
        let mut wave = vec![Vec3A::ZERO; count];
        let mut scale = vec![Vec3A::ZERO; count];
        let mut depth = vec![Vec3A::ZERO; count];
        let mut lines = vec![[DVec3::ZERO; 3]; count];
        let place = |v: u32| vertices.binary_search(&v).ok();
        for (k, set) in sets.iter().enumerate() {
            for (v, &of_surface) in set.vertices.iter().enumerate() {
                let Some(i) = place(of_surface) else { continue };
                // A crease is deeper; the ridges beside it are as high as others.
                depth[i][k] = if set.wave[v] < 0.0 { set.depth[v] as f32 } else { 0.0 };
                wave[i][k] = set.wave[v];
                scale[i][k] = (set.wavelengths[v] / PI * set.mask[v]) as f32;
                // Without a mask, a pattern takes no part of the fold.
                lines[i][k] = if set.mask[v] > 0.0 { set.lines[v] } else { DVec3::ZERO };
            }
        }
        let overlap = lines.iter().map(|[a, b, c]| {
            Vec3A::from_array([(a, b), (a, c), (b, c)].map(|(p, q)| p.dot(*q).powi(2) as f32))
        });
        let (gauges, around) = gauges(ground, sets, &vertices);
        let mut pairs = Vec::new();
        let (mut halves, mut edges) = (0.0, 0);
        for edge in &ground.adjacency.edges {
            let [a, b] = edge.vertices;
            let (Some(i), Some(j)) = (place(a), place(b)) else { continue };
            pairs.extend([(i as u32, j as u32), (j as u32, i as u32)]);
            let [p, q] = edge.vertices.map(|v| ground.surface.mesh.positions[v as usize]);
            let wavelength = ground.wavelengths[a as usize];
            halves += (0.5 * wavelength / f64::from(p.distance(q)).max(1e-12)).min(1e3).powi(2);
            edges += 1;
        }
        pairs.sort_unstable();
        let means = halves / f64::from(edges.max(1));
        let [kept, all] =
            sets.iter().fold([0.0, 0.0], |[kept, all], set| [kept + set.spacing[0], all + set.spacing[1]]);
        Self {
            gain: vertices.iter().map(|&v| ground.gains[v as usize] as f32).collect(),
            overlap: overlap.collect(),
            count: sets.len(),
            rings: Lists::group(count, &pairs),
            gauges_of: Lists::group(count, &around),
            gauges,
            means: (means.ceil() as usize).clamp(2, 12),
            joints: ground.joints.clone(),
            spacing_kept: if all > 0.0 { (kept / all) as f32 } else { 1.0 },
            wave,
            scale,
            depth,
            vertices,
        }
    }
}

/// Gauges of all sets, and pairs of vertex of the pattern and gauge.
fn gauges(ground: &Ground, sets: &[StripeSet], vertices: &[u32]) -> (Vec<Gauge>, Vec<(u32, u32)>) {
    let triangles = &ground.surface.mesh.triangles;
    let mut along = vec![[[0.0; 2]; 3]; triangles.len()];
    let mut present = vec![Vec3A::ZERO; triangles.len()];
    let mut full = vec![false; triangles.len()];
    for (k, set) in sets.iter().enumerate() {
        for &(t, own) in &set.gauges {
            along[t as usize][k] = own;
            present[t as usize][k] = 1.0;
        }
    }
    for &(t, corners) in sets.first().map_or(&[][..], |set| &set.triangles) {
        full[t as usize] = corners.iter().all(|&v| sets[0].mask[v] > 0.99);
    }
    let (mut gauges, mut around) = (Vec::new(), Vec::new());
    for (t, corners) in triangles.iter().enumerate().filter(|(t, _)| present[*t] != Vec3A::ZERO) {
        let places = corners.iter().filter_map(|v| vertices.binary_search(v).ok());
        around.extend(places.map(|i| (i as u32, gauges.len() as u32)));
        gauges.push(Gauge { corners: *corners, along: along[t], present: present[t], full: full[t] });
    }
    around.sort_unstable();
    (gauges, around)
}

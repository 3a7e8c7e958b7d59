//! The judge: how good is a deformed surface, in numbers.
//!
//! [`Judge`] is made once from the rest surface and then looks at positions alone; it does not know which method
//! made them. [`Judge::clip`] takes the frames one after another and gives [`ClipFigures`], which
//! [`table`] prints and [`Limits`] checks. What each figure means is said once, in [`FIGURES`].
//!
//! * **Pairs**: triangles that meet without sharing a vertex, and did not at rest. Decided exactly, on positions
//!   moved by a fixed jitter of 1e-5 of the size that turns with the skin; without it, mirrored surfaces meet by coincidence.
//!   A pair counts as met at rest if it does so under any of eight jitters. Pairs within one group of vertices
//!   (by default a connected component) are counted apart from pairs across groups: eyes and teeth are always inside
//!   the head.
//! * **Depth** and buried vertices: counted along the skin by exact piercings, so no crossing means no depth
//!   (`geom::burial`).
//! * **Volume**: signed, of the whole and by part.
//! * **Stretch**: length of an edge over its rest length.
//! * **Flipped**: triangles turned by more than a right angle against where each of the strongest joints of their
//!   corners would carry them.
//! * **Strayed**: vertices farther from a reference (dual quaternion) position than a quarter of the limb's thickness
//!   under them, unless they are in contact.
//! * **Roughness**, **creases**, **crush** and **boil**: shape against the skinning that the method starts from
//!   ([`StartFrame`]). Free skin has no reason to differ from it.
//! * **Hollow**: gaps that stay open in closed folds.
//! * **Pierce**: how far muscles stand out of the skin.
//! * **Against**: distance to a reference surface, such as an elastic solution.
//! * **Popping** and **flicker**: motion of a vertex against the skeleton's near it.
//!
//! ```
//! use ecorche::character::Influences;
//! use ecorche::geom::TriMesh;
//! use ecorche::measure::{FrameInput, Judge, JudgeInput, Limits, table};
//! use glam::{Affine3A, Vec3};
//!
//! let rest = TriMesh {
//!     positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
//!     triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
//! };
//! let influences = Influences::new(vec![vec![(0, 1.0)]; 4]);
//! let judge = Judge::new(JudgeInput {
//!     rest: &rest,
//!     part_of_vertex: &[0; 4],
//!     group_of_vertex: None,
//!     influences: &influences,
//! })?;
//! let mut clip = judge.clip();
//! for frame in 0..3 {
//!     let posed_from_rest = [Affine3A::from_translation(Vec3::X * frame as f32)];
//!     let positions: Vec<Vec3> =
//!         rest.positions.iter().map(|&p| posed_from_rest[0].transform_point3(p)).collect();
//!     clip.add(&FrameInput { posed_from_rest: &posed_from_rest, ..FrameInput::new(frame, &positions) })?;
//! }
//! let figures = clip.finish();
//! println!("{}", table(&[("rigid", &figures)]));
//! assert!(Limits::parse("pairs=0,stretch_max=1.001,popping_p99=1.1")?.check(&figures).is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod against;
mod answer;
mod clip;
mod definition;
mod figures;
mod hollow;
mod limits;
mod motion;
mod muscles;
mod piece;
mod pierce;
mod report;
mod run;
mod shape;
mod volume;

pub use against::{Against, Column, RegionDistance, Target, frame_table, region_table};
pub use answer::{AgainstError, Reference, coarser_path};
pub use clip::{ClipFigures, ClipJudge, Jump, Summary};
pub use definition::{Bellies, Shown, ShownMuscle};
pub use figures::{FIGURES, Figure, FrameFigures, Worse, figure};
pub use limits::{Limits, LimitsError, Violation};
pub use muscles::{FibreFrame, FibreHistory, MuscleHistory, VolumeDrift, follow_muscles};
pub use piece::{PieceFigures, RoleFigures};
pub use pierce::{Pierce, PiercedBy, PiercingMuscle, bones_outside, pierce};
pub use report::table;
pub use run::{judge_clip, judge_clips};
use shape::{Bent, Shape};
use volume::PartVolumes;

use crate::character::Influences;
use crate::frame::MuscleReport;
use crate::geom::TriMesh;
use crate::geom::adjacency::Adjacency;
use crate::geom::burial::{Burial, Sheet};
use crate::geom::self_contact::{Crossings, SelfContact, jitter, most_crossings};
use crate::geom::thickness;
use crate::pieces::Pieces;
use crate::skinning::Surface;

use glam::{Affine3A, Vec3};
use rayon::prelude::*;
use thiserror::Error;

/// Size of the jitter that keeps mirrored and touching triangles from meeting by coincidence, as a share of the size.
const JITTER: f32 = 1e-5;
/// Seed of the jitter that every pose is judged with; rest is also judged with the next seven.
const SEED: u64 = 0;
const REST_SEEDS: u64 = 8;
/// Edges shorter than this at rest, of the size, have no meaningful stretch.
const SHORTEST_EDGE: f32 = 1e-6;
/// A part number this large is taken for a mistake.
const MOST_PARTS: u32 = 1 << 20;
/// The largest surface that is judged, metres.
const LARGEST: f32 = 1e10;
/// A vertex has strayed when it is farther from its reference than this share of the limb's thickness.
const STRAYED: f32 = 0.25;

/// What a [`Judge`] is made from. The surface must be welded, or the two sides of a seam count as touching.
#[derive(Clone, Copy, Debug)]
pub struct JudgeInput<'a> {
    /// The surface at rest: all that is to be judged together.
    pub rest: &'a TriMesh,
    /// Part of each vertex, for the volume by part; numbered from 0.
    pub part_of_vertex: &'a [u32],
    /// Group of each vertex: pairs and depth are counted within a group, pairs across groups apart. `None`:
    /// every connected component is a group.
    pub group_of_vertex: Option<&'a [u32]>,
    /// The joints that influence each vertex; their numbers index [`FrameInput::posed_from_rest`].
    pub influences: &'a Influences,
}

/// One frame to be judged.
#[derive(Clone, Copy, Debug)]
pub struct FrameInput<'a> {
    /// Number of the frame, by which the report names it.
    pub frame: usize,
    /// Positions of the rest surface's vertices in this frame.
    pub positions: &'a [Vec3],
    /// Map of each joint from the rest pose to this one. May be empty if the skeleton is not known; then there are
    /// no flipped triangles and no popping.
    pub posed_from_rest: &'a [Affine3A],
    /// Where a plain method puts the vertices, to find those that strayed; `None` leaves the figure out.
    pub reference: Option<&'a [Vec3]>,
    /// Which vertices the method moved for contact, and which may therefore be far from the reference.
    pub in_contact: Option<&'a [bool]>,
    /// What the method starts from in this frame, see [`Judge::start_frame`]; `None` leaves out the figures that compare with
    /// it.
    pub start: Option<&'a StartFrame>,
    /// A reference to compare with; `None` leaves the figures out.
    pub against: Option<Target<'a>>,
    /// Time the method took for the frame.
    pub milliseconds: f64,
    /// What the muscles did, if there are any.
    pub muscles: Option<MuscleReport>,
    /// Their names, by index into the anatomy.
    pub muscle_names: &'a [String],
    /// How far they stand out of the skin, if it is known.
    pub pierce: Option<&'a Pierce>,
    /// What shows of them, if it is known.
    pub shown: Option<&'a Shown>,
    /// The pieces of the surface with their roles, if they are known.
    pub pieces: Option<&'a Pieces>,
}

impl<'a> FrameInput<'a> {
    /// A frame of which only the positions are known.
    pub fn new(frame: usize, positions: &'a [Vec3]) -> Self {
        Self {
            frame,
            positions,
            posed_from_rest: &[],
            reference: None,
            in_contact: None,
            start: None,
            against: None,
            milliseconds: 0.0,
            muscles: None,
            muscle_names: &[],
            pierce: None,
            shown: None,
            pieces: None,
        }
    }
}

/// The plain skinning that a method starts from, in one frame. Made once per frame, for any number of methods.
#[derive(Clone, Debug)]
pub struct StartFrame {
    positions: Vec<Vec3>,
    /// New pairs within a group.
    pairs: Vec<[u32; 2]>,
    bent: Bent,
}

/// Why a surface or frame cannot be judged.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum JudgeError {
    /// The caller asked to stop.
    #[error("stopped; nothing was measured")]
    Stopped,
    /// An array has another length than the surface has vertices.
    #[error(
        "{what} has {found} entries, but the rest surface has {vertices} vertices; give one per welded vertex"
    )]
    Count {
        /// The array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// Vertices of the rest surface.
        vertices: usize,
    },
    /// A triangle of the rest surface names a vertex that does not exist.
    #[error("triangle {triangle} of the rest surface names vertex {vertex}, but there are {vertices}")]
    Vertex {
        /// The triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// Vertices of the rest surface.
        vertices: usize,
    },
    /// A part number that no skeleton has.
    #[error("vertex {vertex} is of part {part}; number the parts from 0, below {MOST_PARTS}")]
    Part {
        /// The first such vertex.
        vertex: usize,
        /// Its part.
        part: u32,
    },
    /// The rest surface is larger than anything that is measured in metres.
    #[error("the rest surface measures {size} m across, the most is {LARGEST}; check the unit of the file")]
    Size {
        /// Its size, metres.
        size: f32,
    },
    /// The rest surface crosses itself nearly everywhere, or most of its triangles lie in the same place.
    #[error(
        "the rest surface is a heap of triangles: more than {most} pairs cross, or far more lie in the same place; \
         measure a skin without copies of itself in the same place"
    )]
    TangledRest {
        /// Pairs that are looked at.
        most: usize,
    },
    /// A frame crosses itself nearly everywhere, or most of its triangles lie in the same place.
    #[error(
        "frame {frame} is a heap of triangles: more than {most} pairs cross, or far more lie in the same place; \
         measure the clip without it"
    )]
    Tangled {
        /// The frame.
        frame: usize,
        /// Pairs that are looked at.
        most: usize,
    },
    /// A rest position is not a number.
    #[error("vertex {vertex} of the rest surface is not finite; repair the rest pose before judging")]
    NotFinite {
        /// The first such vertex.
        vertex: usize,
    },
}

/// Judges poses of one surface. Immutable; any number of clips can be judged at once.
#[derive(Clone, Debug)]
pub struct Judge {
    rest: TriMesh,
    size: f32,
    influences: Influences,
    adjacency: Adjacency,
    component_of_vertex: Vec<u32>,
    group_of_vertex: Vec<u32>,
    /// Edges long enough to have a stretch, with their rest length.
    edges: Vec<([u32; 2], f32)>,
    volumes: PartVolumes,
    /// Rest distance straight through the limb under each vertex; infinite where nothing is opposite.
    thickness: Vec<f32>,
    jitter: Vec<Vec3>,
    rest_crossings: Crossings,
    rest_cover: Vec<Option<i32>>,
    contact: SelfContact,
    shape: Shape,
    /// A third of the area of the triangles around each vertex at rest, square metres.
    rest_area: Vec<f32>,
    /// How far each vertex is from skin that it faces at rest, within reach; see [`hollow`].
    rest_gaps: Vec<f32>,
    part_of_vertex: Vec<u32>,
}

/// What a frame's crossings are, for pictures and reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameDetail {
    /// New pairs of triangles within a group.
    pub pairs: Vec<[u32; 2]>,
    /// New pairs across groups.
    pub pairs_across: Vec<[u32; 2]>,
    /// New folds: pairs within a group that share one vertex and meet elsewhere.
    pub folds: Vec<[u32; 2]>,
    /// Vertices whose cover differs from rest, with their depth in metres; negative where the skin is inside out.
    pub depth: Vec<(u32, f32)>,
    /// Flipped triangles.
    pub flipped: Vec<u32>,
    /// Vertices that strayed from the reference.
    pub strayed: Vec<u32>,
}

impl Judge {
    /// A judge of a character's skinned surface.
    pub fn of(surface: &Surface) -> Result<Self, JudgeError> {
        Self::new(JudgeInput {
            rest: &surface.mesh,
            part_of_vertex: &surface.regions.region_of_vertex,
            group_of_vertex: None,
            influences: &surface.influences,
        })
    }

    /// Prepares the rest surface.
    pub fn new(input: JudgeInput) -> Result<Self, JudgeError> {
        let rest = input.rest;
        let vertices = rest.positions.len();
        let count = |what, found| {
            if found == vertices { Ok(()) } else { Err(JudgeError::Count { what, found, vertices }) }
        };
        count("part_of_vertex", input.part_of_vertex.len())?;
        count("influences", input.influences.len())?;
        if let Some(groups) = input.group_of_vertex {
            count("group_of_vertex", groups.len())?;
        }
        for (triangle, t) in rest.triangles.iter().enumerate() {
            if let Some(&vertex) = t.iter().find(|&&v| v as usize >= vertices) {
                return Err(JudgeError::Vertex { triangle, vertex, vertices });
            }
        }
        if let Some(vertex) = input.part_of_vertex.iter().position(|&part| part >= MOST_PARTS) {
            return Err(JudgeError::Part { vertex, part: input.part_of_vertex[vertex] });
        }
        if let Some(vertex) = rest.positions.iter().position(|p| !p.is_finite()) {
            return Err(JudgeError::NotFinite { vertex });
        }
        let size = rest.size();
        if size.is_nan() || size > LARGEST {
            return Err(JudgeError::Size { size });
        }
        let adjacency = Adjacency::new(rest);
        let (component_of_vertex, _) = adjacency.components();
        let edges = adjacency.edges.iter().map(|e| {
            let [a, b] = e.vertices.map(|v| rest.positions[v as usize]);
            (e.vertices, a.distance(b))
        });
        let mut rest_area = vec![0.0; vertices];
        for t in &rest.triangles {
            let [a, b, c] = t.map(|v| rest.positions[v as usize]);
            for &v in t {
                rest_area[v as usize] += (b - a).cross(c - a).length() / 6.0;
            }
        }
        let mut judge = Self {
            size,
            shape: Shape::new(rest, &adjacency, &component_of_vertex),
            rest_area,
            rest_gaps: Vec::new(),
            part_of_vertex: input.part_of_vertex.to_vec(),
            influences: input.influences.clone(),
            group_of_vertex: input.group_of_vertex.unwrap_or(&component_of_vertex).to_vec(),
            component_of_vertex,
            edges: edges.filter(|&(_, length)| length > size * SHORTEST_EDGE).collect(),
            volumes: PartVolumes::new(&rest.positions, &rest.triangles, input.part_of_vertex),
            thickness: Vec::new(),
            jitter: jitter(vertices, size * JITTER, SEED),
            rest_crossings: Crossings::default(),
            rest_cover: Vec::new(),
            contact: SelfContact::new(&rest.positions, &rest.triangles),
            adjacency,
            rest: rest.clone(),
        };
        for seed in SEED..SEED + REST_SEEDS {
            let offsets = jitter(vertices, size * JITTER, seed);
            let moved: Vec<Vec3> = rest.positions.iter().zip(offsets).map(|(&p, j)| p + j).collect();
            let most = judge.most_crossings();
            let crossings = judge.contact.find_up_to(&moved, most).ok_or(JudgeError::TangledRest { most })?;
            if seed == SEED {
                let mut burial = Burial::default();
                burial.cover(&judge.sheet(), &moved, &crossings, judge.contact.bvh());
                judge.rest_cover = burial.cover;
            }
            judge.rest_crossings.pairs.extend(crossings.pairs);
            judge.rest_crossings.folds.extend(crossings.folds);
        }
        for met in [&mut judge.rest_crossings.pairs, &mut judge.rest_crossings.folds] {
            met.sort_unstable();
            met.dedup();
        }
        // After heaps are refused: a ray through one would meet most of its triangles.
        judge.contact.fit(&rest.positions);
        judge.thickness = thickness::thickness(rest, judge.contact.bvh());
        judge.rest_gaps = judge.rest_gaps();
        Ok(judge)
    }

    /// Starts judging the frames of a clip.
    pub fn clip(&self) -> ClipJudge<'_> {
        ClipJudge::new(self)
    }

    /// Judges a single frame, without popping.
    pub fn frame(&self, input: &FrameInput) -> Result<FrameFigures, JudgeError> {
        self.clip().add(input).cloned()
    }

    /// Size of the rest surface, metres: the diagonal of its box.
    pub fn size(&self) -> f32 {
        self.size
    }

    fn most_crossings(&self) -> usize {
        most_crossings(self.rest.triangles.len())
    }

    fn sheet(&self) -> Sheet<'_> {
        Sheet::new(&self.rest.triangles, &self.adjacency, &self.component_of_vertex, &self.group_of_vertex)
    }

    fn check(&self, input: &FrameInput) -> Result<(), JudgeError> {
        let vertices = self.rest.positions.len();
        let arrays = [
            ("positions", input.positions.len()),
            ("reference", input.reference.map_or(vertices, <[_]>::len)),
            ("in_contact", input.in_contact.map_or(vertices, <[_]>::len)),
            ("start", input.start.map_or(vertices, |start| start.positions.len())),
            ("against", input.against.map_or(vertices, |target| target.positions.len())),
            ("pieces", input.pieces.map_or(vertices, |pieces| pieces.piece_of_vertex.len())),
        ];
        match arrays.into_iter().find(|&(_, found)| found != vertices) {
            Some((what, found)) => Err(JudgeError::Count { what, found, vertices }),
            None => Ok(()),
        }
    }

    /// Distance of each vertex from its reference over the limb's thickness; zero for vertices in contact.
    fn strays(&self, positions: &[Vec3], reference: &[Vec3], in_contact: Option<&[bool]>) -> Vec<f32> {
        let stray = |v: usize| match in_contact {
            Some(contact) if contact[v] => 0.0,
            _ => positions[v].distance(reference[v]) / self.thickness[v],
        };
        (0..positions.len()).map(stray).collect()
    }

    /// The positions with the jitter on them, turned with each vertex's strongest joint.
    fn jittered(&self, positions: &[Vec3], posed_from_rest: &[Affine3A]) -> Vec<Vec3> {
        (0..positions.len())
            .into_par_iter()
            .with_min_len(1024)
            .map(|v| {
                let turned = posed_from_rest
                    .get(self.influences.strongest(v) as usize)
                    .map_or(self.jitter[v], |m| m.transform_vector3(self.jitter[v]));
                positions[v] + turned
            })
            .collect()
    }

    /// Prepares the start of a frame: positions by plain skinning, and the joints' maps as for [`FrameInput`]. Positions that
    /// are not finite are taken from rest. All skin of a start with too many crossings is contact skin.
    pub fn start_frame(
        &self,
        positions: &[Vec3],
        posed_from_rest: &[Affine3A],
    ) -> Result<StartFrame, JudgeError> {
        let vertices = self.rest.positions.len();
        if positions.len() != vertices {
            return Err(JudgeError::Count { what: "start", found: positions.len(), vertices });
        }
        let finite = |(&p, &rest): (&Vec3, &Vec3)| if p.is_finite() { p } else { rest };
        let positions: Vec<Vec3> = positions.iter().zip(&self.rest.positions).map(finite).collect();
        let mut contact = self.contact.clone();
        let found = contact.find_up_to(&self.jittered(&positions, posed_from_rest), self.most_crossings());
        let (pairs, bent) = match found {
            Some(crossings) => {
                let (pairs, across) = self.new_pairs(&crossings);
                let bent =
                    self.shape.bent(&positions, &self.adjacency.vertex_ring, pairs.iter().chain(&across));
                (pairs, bent)
            }
            None => {
                let every: Vec<[u32; 2]> = (0..self.rest.triangles.len() as u32).map(|t| [t, t]).collect();
                (Vec::new(), self.shape.bent(&positions, &self.adjacency.vertex_ring, every.iter()))
            }
        };
        Ok(StartFrame { positions, pairs, bent })
    }

    /// Pairs that do not meet at rest, within groups and across.
    fn new_pairs(&self, crossings: &Crossings) -> (Vec<[u32; 2]>, Vec<[u32; 2]>) {
        let group = |t: u32| self.group_of_vertex[self.rest.triangles[t as usize][0] as usize];
        let is_new = |pair: &&[u32; 2]| self.rest_crossings.pairs.binary_search(pair).is_err();
        crossings.pairs.iter().filter(is_new).partition(|&&[a, b]| group(a) == group(b))
    }

    /// New crossings and depths; `None` if there are too many. `contact` is a copy of the judge's own, as scratch.
    fn crossings(
        &self,
        contact: &mut SelfContact,
        positions: &[Vec3],
        posed_from_rest: &[Affine3A],
    ) -> Option<FrameDetail> {
        let positions = self.jittered(positions, posed_from_rest);
        let crossings = contact.find_up_to(&positions, self.most_crossings())?;
        let (pairs, pairs_across) = self.new_pairs(&crossings);
        let is_new = |pair: &[u32; 2]| self.rest_crossings.folds.binary_search(pair).is_err();
        let folds = crossings.folds.iter().copied().filter(is_new).collect();
        let sheet = self.sheet();
        let (mut burial, mut depths) = (Burial::default(), Vec::new());
        burial.cover(&sheet, &positions, &crossings, contact.bvh());
        let changed: Vec<(u32, i32)> = (0..positions.len())
            .filter_map(|v| Some((v as u32, burial.cover[v]? - self.rest_cover[v]?)))
            .filter(|&(_, change)| change != 0)
            .collect();
        burial.depths(&sheet, &positions, contact.bvh(), &changed, &mut depths);
        let depth =
            changed.iter().zip(depths).map(|(&(v, change), d)| (v, d * change.signum() as f32)).collect();
        Some(FrameDetail { pairs, pairs_across, folds, depth, ..FrameDetail::default() })
    }

    /// Triangles turned over against every strongest joint of their corners.
    fn flipped(&self, positions: &[Vec3], posed_from_rest: &[Affine3A]) -> Vec<u32> {
        (0..self.rest.triangles.len())
            .into_par_iter()
            .with_min_len(1024)
            .filter(|&t| {
                let triangle = self.rest.triangles[t];
                let facing = |[a, b, c]: [Vec3; 3]| (b - a).cross(c - a);
                let here = facing(triangle.map(|v| positions[v as usize]));
                let rest = triangle.map(|v| self.rest.positions[v as usize]);
                triangle.iter().all(|&v| {
                    posed_from_rest
                        .get(self.influences.strongest(v as usize) as usize)
                        .is_some_and(|m| facing(rest.map(|p| m.transform_point3(p))).dot(here) < 0.0)
                })
            })
            .map(|t| t as u32)
            .collect()
    }

    /// Ninety-fifth percentile, largest and smallest of length over rest length; all 1 if there are no edges.
    fn stretch(&self, positions: &[Vec3]) -> [f32; 3] {
        let mut ratios: Vec<f32> = self
            .edges
            .par_iter()
            .with_min_len(4096)
            .map(|&([a, b], rest)| positions[a as usize].distance(positions[b as usize]) / rest)
            .collect();
        if ratios.is_empty() {
            return [1.0; 3];
        }
        let (least, most) = ratios.iter().fold((f32::MAX, 0f32), |(l, m), &r| (l.min(r), m.max(r)));
        [motion::percentile(&mut ratios, 0.95), most, least]
    }
}

#[cfg(test)]
mod tests;

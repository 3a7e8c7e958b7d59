//! Cutting a surface into one connected region per bone.
//!
//! Each vertex goes to the joint with the largest weight. Painted weights leave stray vertices and
//! small patches far from the bone they name; those join the region around them.

use crate::geom::Adjacency;

/// Settings of [`Regions::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionSettings {
    /// Patches of fewer vertices join their neighbour, unless they are all a joint has. 20 removes
    /// the strays of painted humans (1 to 14 vertices) and keeps both patches of their wrists (18 and
    /// 31 vertices around one bone) as they are or as regions of their own.
    pub smallest_island: usize,
}

impl Default for RegionSettings {
    fn default() -> Self {
        Self { smallest_island: 20 }
    }
}

/// A region of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The joint that moves it, as numbered in the list given.
    pub joint: u32,
    /// Number of vertices; at least one.
    pub vertices: usize,
}

/// A patch that was given to the region around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedIsland {
    /// The joint with the largest weight.
    pub from_joint: u32,
    /// The joint of the region it joined.
    pub to_joint: u32,
    /// Number of vertices.
    pub vertices: usize,
    /// Its first vertex, to find it by.
    pub first_vertex: u32,
}

/// Which region each vertex belongs to.
///
/// Within a connected component of the surface every region is connected. A joint has one region, and
/// further ones where it holds several large patches of one component. A region spans components where
/// the joint holds several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    /// Index into `regions` for each vertex.
    pub region_of_vertex: Vec<u32>,
    /// The regions, ascending by joint, the larger patch first.
    pub regions: Vec<Region>,
    /// Patches that were given to another region, in that order.
    pub joined: Vec<JoinedIsland>,
}

impl Regions {
    /// Cuts the surface with the given `adjacency` by the `strongest` joint of each of its vertices.
    pub fn new(adjacency: &Adjacency, strongest: &[u32], settings: RegionSettings) -> Self {
        let mut joint_of_vertex = strongest.to_vec();
        let mut joined = Vec::new();
        // Each round changes the joint of whole islands to that of a neighbour they then merge with,
        // so that the number of islands falls and the rounds end.
        loop {
            let islands = Islands::find(adjacency, &joint_of_vertex);
            let candidates = islands.too_small(adjacency, settings.smallest_island);
            let mut left = vec![false; islands.count()];
            let mut grown = vec![false; islands.count()];
            let before = joined.len();
            for island in candidates {
                let Some(neighbour) = islands.closest_neighbour(adjacency, island) else { continue };
                // What changed in this round is looked at again in the next.
                if left[neighbour as usize] || grown[island as usize] {
                    continue;
                }
                let to_joint = islands.joint[neighbour as usize];
                let vertices = &islands.vertices[island as usize];
                joined.push(JoinedIsland {
                    from_joint: islands.joint[island as usize],
                    to_joint,
                    vertices: vertices.len(),
                    first_vertex: vertices[0],
                });
                for &v in vertices {
                    joint_of_vertex[v as usize] = to_joint;
                }
                left[island as usize] = true;
                grown[neighbour as usize] = true;
            }
            if joined.len() == before {
                return islands.into_regions(adjacency, joined);
            }
        }
    }
}

/// Connected patches of vertices with the same joint, numbered by their first vertex.
struct Islands {
    of_vertex: Vec<u32>,
    joint: Vec<u32>,
    /// Ascending.
    vertices: Vec<Vec<u32>>,
}

impl Islands {
    fn find(adjacency: &Adjacency, joint_of_vertex: &[u32]) -> Self {
        let mut islands = Self {
            of_vertex: vec![u32::MAX; joint_of_vertex.len()],
            joint: Vec::new(),
            vertices: Vec::new(),
        };
        let mut stack = Vec::new();
        for first in 0..joint_of_vertex.len() {
            if islands.of_vertex[first] != u32::MAX {
                continue;
            }
            let island = islands.joint.len() as u32;
            let joint = joint_of_vertex[first];
            let mut vertices = Vec::new();
            islands.of_vertex[first] = island;
            stack.push(first as u32);
            while let Some(v) = stack.pop() {
                vertices.push(v);
                for &w in adjacency.vertex_ring.get(v as usize) {
                    if joint_of_vertex[w as usize] == joint && islands.of_vertex[w as usize] == u32::MAX {
                        islands.of_vertex[w as usize] = island;
                        stack.push(w);
                    }
                }
            }
            vertices.sort_unstable();
            islands.joint.push(joint);
            islands.vertices.push(vertices);
        }
        islands
    }

    fn count(&self) -> usize {
        self.joint.len()
    }

    /// Islands that should join a neighbour, smallest first: those below `smallest` vertices that are
    /// not their joint's largest, and those that hold no whole triangle (a field cannot be fitted to a
    /// line of vertices).
    fn too_small(&self, adjacency: &Adjacency, smallest: usize) -> Vec<u32> {
        let mut largest: std::collections::BTreeMap<u32, u32> = std::collections::BTreeMap::new();
        for island in 0..self.count() as u32 {
            let known = largest.entry(self.joint[island as usize]).or_insert(island);
            if self.vertices[island as usize].len() > self.vertices[*known as usize].len() {
                *known = island;
            }
        }
        let mut small: Vec<u32> = (0..self.count() as u32)
            .filter(|&island| {
                let size = self.vertices[island as usize].len();
                let secondary = largest[&self.joint[island as usize]] != island;
                size < smallest && (secondary || !self.has_triangle(adjacency, island))
            })
            .collect();
        small.sort_by_key(|&island| (self.vertices[island as usize].len(), island));
        small
    }

    /// Whether three of the island's vertices are neighbours of each other.
    fn has_triangle(&self, adjacency: &Adjacency, island: u32) -> bool {
        let own = |v: u32| self.of_vertex[v as usize] == island;
        self.vertices[island as usize].iter().any(|&a| {
            let ring = adjacency.vertex_ring.get(a as usize);
            ring.iter().filter(|&&b| own(b)).any(|&b| {
                adjacency.vertex_ring.get(b as usize).iter().any(|&c| c != a && own(c) && ring.contains(&c))
            })
        })
    }

    /// The island with the most edges to `island`; the larger, then the lower one of several.
    fn closest_neighbour(&self, adjacency: &Adjacency, island: u32) -> Option<u32> {
        let mut shared: std::collections::BTreeMap<u32, usize> = std::collections::BTreeMap::new();
        for &v in &self.vertices[island as usize] {
            for &w in adjacency.vertex_ring.get(v as usize) {
                let other = self.of_vertex[w as usize];
                if other != island {
                    *shared.entry(other).or_default() += 1;
                }
            }
        }
        shared
            .into_iter()
            .max_by_key(|&(other, edges)| {
                (edges, self.vertices[other as usize].len(), std::cmp::Reverse(other))
            })
            .map(|(other, _)| other)
    }

    fn into_regions(self, adjacency: &Adjacency, joined: Vec<JoinedIsland>) -> Regions {
        // The k-th largest island of a joint in each component goes to the joint's k-th region.
        let (component_of_vertex, _) = adjacency.components();
        let component = |island: u32| component_of_vertex[self.vertices[island as usize][0] as usize];
        let size = |island: u32| self.vertices[island as usize].len();
        let mut order: Vec<u32> = (0..self.count() as u32).collect();
        order.sort_by_key(|&i| (self.joint[i as usize], component(i), std::cmp::Reverse(size(i)), i));
        let mut keys = Vec::with_capacity(order.len());
        let mut rank = 0;
        for (k, &island) in order.iter().enumerate() {
            let same = k > 0 && {
                let last = order[k - 1];
                self.joint[last as usize] == self.joint[island as usize]
                    && component(last) == component(island)
            };
            rank = if same { rank + 1 } else { 0 };
            keys.push((self.joint[island as usize], rank, island));
        }
        keys.sort_unstable();
        let mut regions: Vec<Region> = Vec::new();
        let mut part_of_island = vec![0; self.count()];
        let mut last = None;
        for (joint, rank, island) in keys {
            if last != Some((joint, rank)) {
                regions.push(Region { joint, vertices: 0 });
                last = Some((joint, rank));
            }
            part_of_island[island as usize] = regions.len() as u32 - 1;
            if let Some(region) = regions.last_mut() {
                region.vertices += size(island);
            }
        }
        let region_of_vertex = self.of_vertex.iter().map(|&island| part_of_island[island as usize]).collect();
        Regions { region_of_vertex, regions, joined }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::tube;
    use super::*;
    use crate::geom::TriMesh;
    use proptest::prelude::*;

    const SIDES: usize = 12;

    fn adjacency(rings: usize) -> Adjacency {
        let (positions, triangles) = tube(0.0, 1.0, rings, SIDES);
        Adjacency::new(&TriMesh { positions, triangles })
    }

    #[test]
    fn stray_vertices_join_the_part_around_them() {
        let adjacency = adjacency(20);
        let count = adjacency.vertex_ring.len();
        let mut strongest: Vec<u32> = (0..count).map(|v| u32::from(v >= count / 2)).collect();
        strongest[30] = 1;
        strongest[31] = 1;
        strongest[count - 30] = 7;
        let regions = Regions::new(&adjacency, &strongest, RegionSettings::default());
        assert_eq!(regions.regions.iter().map(|p| p.joint).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(regions.regions[regions.region_of_vertex[30] as usize].joint, 0);
        let report: Vec<_> = regions.joined.iter().map(|j| (j.from_joint, j.to_joint, j.vertices)).collect();
        // The middle of the bottom cap comes last in the vertex list and is a stray too.
        assert_eq!(report, [(7, 1, 1), (1, 0, 1), (1, 0, 2)]);
    }

    #[test]
    fn the_only_patch_of_a_joint_stays_however_small() {
        let adjacency = adjacency(20);
        let mut strongest = vec![0; adjacency.vertex_ring.len()];
        strongest[SIDES] = 5;
        strongest[SIDES + 1] = 5;
        strongest[2 * SIDES] = 5;
        let regions = Regions::new(&adjacency, &strongest, RegionSettings::default());
        assert_eq!(regions.regions, [Region { joint: 0, vertices: 251 }, Region { joint: 5, vertices: 3 }]);
        assert!(regions.joined.is_empty());
    }

    #[test]
    fn a_second_large_patch_becomes_a_part_of_its_own() {
        let adjacency = adjacency(30);
        let count = adjacency.vertex_ring.len();
        let strongest: Vec<u32> = (0..count).map(|v| u32::from((v / (10 * SIDES)) == 1)).collect();
        let regions = Regions::new(&adjacency, &strongest, RegionSettings::default());
        assert_eq!(regions.regions.iter().map(|p| p.joint).collect::<Vec<_>>(), [0, 0, 1]);
    }

    proptest! {
        #[test]
        fn every_part_of_a_connected_surface_is_connected(
            strongest in prop::collection::vec(0u32..4, 9 * SIDES + 2),
            patch in 1usize..30,
        ) {
            let adjacency = adjacency(8);
            let settings = RegionSettings { smallest_island: patch };
            let regions = Regions::new(&adjacency, &strongest, settings);
            let islands = Islands::find(&adjacency, &regions.region_of_vertex);
            prop_assert_eq!(islands.count(), regions.regions.len());
            prop_assert_eq!(regions.regions.iter().map(|p| p.vertices).sum::<usize>(), strongest.len());
        }
    }
}

//! Who is next to whom on a surface: rings, edges, components, and what is wrong with the topology.

use super::TriMesh;

/// Lists of numbers stored back to back; list `i` is `items[starts[i]..starts[i + 1]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Groups `(list, item)` pairs into `count` lists, keeping the pairs' order within a list.
    pub fn group(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0u32; count + 1];
        for &(list, _) in pairs {
            starts[list as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut items = vec![0; pairs.len()];
        for &(list, item) in pairs {
            items[next[list as usize] as usize] = item;
            next[list as usize] += 1;
        }
        Self { starts, items }
    }

    /// Number of lists.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no list at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items of list `i`.
    pub fn get(&self, i: usize) -> &[u32] {
        &self.items[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        size_of_val(self.starts.as_slice()) + size_of_val(self.items.as_slice())
    }

    /// Every list in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|i| self.get(i))
    }
}

/// An undirected edge and the triangles on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The two vertices, smaller index first.
    pub vertices: [u32; 2],
    /// The triangles that use it, by index; one for an open edge, more than two for a non-manifold one.
    pub triangles: Vec<u32>,
}

/// Rings and edges of a triangle surface. Degenerate triangles (a repeated vertex) are left out.
#[derive(Clone, Debug, Default)]
pub struct Adjacency {
    /// For each vertex its neighbours, ascending.
    pub vertex_ring: Lists,
    /// For each vertex the triangles around it, ascending.
    pub triangles_of_vertex: Lists,
    /// Every edge once, ordered by its vertices.
    pub edges: Vec<Edge>,
}

impl Adjacency {
    /// Collects the neighbours of every vertex.
    pub fn new(mesh: &TriMesh) -> Self {
        let count = mesh.positions.len();
        let proper = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
        let mut half_edges = Vec::with_capacity(mesh.triangles.len() * 3);
        let mut corners = Vec::with_capacity(mesh.triangles.len() * 3);
        for (t, triangle) in mesh.triangles.iter().enumerate().filter(|(_, t)| proper(t)) {
            for k in 0..3 {
                let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
                half_edges.push((a.min(b), a.max(b), t as u32));
                corners.push((triangle[k], t as u32));
            }
        }
        half_edges.sort_unstable();
        let mut edges: Vec<Edge> = Vec::new();
        for (a, b, t) in half_edges {
            match edges.last_mut() {
                Some(edge) if edge.vertices == [a, b] => edge.triangles.push(t),
                _ => edges.push(Edge { vertices: [a, b], triangles: vec![t] }),
            }
        }
        let mut pairs: Vec<(u32, u32)> = edges
            .iter()
            .flat_map(|e| [(e.vertices[0], e.vertices[1]), (e.vertices[1], e.vertices[0])])
            .collect();
        pairs.sort_unstable();
        Self {
            vertex_ring: Lists::group(count, &pairs),
            triangles_of_vertex: Lists::group(count, &corners),
            edges,
        }
    }

    /// Edges with a single triangle: the rims of holes.
    pub fn open_edges(&self) -> usize {
        self.edges.iter().filter(|e| e.triangles.len() == 1).count()
    }

    /// Edges with more than two triangles.
    pub fn non_manifold_edges(&self) -> usize {
        self.edges.iter().filter(|e| e.triangles.len() > 2).count()
    }

    /// Connected component of every vertex, numbered in order of their first vertex, and how many there are.
    /// A vertex without triangles is a component of its own.
    pub fn components(&self) -> (Vec<u32>, usize) {
        let count = self.vertex_ring.len();
        let mut component = vec![u32::MAX; count];
        let mut found = 0;
        let mut stack = Vec::new();
        for first in 0..count {
            if component[first] != u32::MAX {
                continue;
            }
            component[first] = found;
            stack.push(first);
            while let Some(v) = stack.pop() {
                for &w in self.vertex_ring.get(v) {
                    if component[w as usize] == u32::MAX {
                        component[w as usize] = found;
                        stack.push(w as usize);
                    }
                }
            }
            found += 1;
        }
        (component, found as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn two_triangles_and_a_stray_vertex() -> TriMesh {
        TriMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE, Vec3::NEG_X],
            triangles: vec![[0, 1, 2], [2, 1, 3], [3, 3, 1]],
        }
    }

    #[test]
    fn an_open_square_has_four_open_edges() {
        let adjacency = Adjacency::new(&two_triangles_and_a_stray_vertex());
        assert_eq!(adjacency.edges.len(), 5);
        assert_eq!(adjacency.open_edges(), 4);
        assert_eq!(adjacency.non_manifold_edges(), 0);
        assert_eq!(adjacency.vertex_ring.get(1), &[0, 2, 3]);
        assert_eq!(adjacency.triangles_of_vertex.get(2), &[0, 1]);
    }

    #[test]
    fn a_stray_vertex_is_its_own_component() {
        let (component, count) = Adjacency::new(&two_triangles_and_a_stray_vertex()).components();
        assert_eq!(count, 2);
        assert_eq!(component, vec![0, 0, 0, 0, 1]);
    }
}

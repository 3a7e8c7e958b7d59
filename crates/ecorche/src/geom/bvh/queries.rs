//! What a ray meets, and what is nearest to a point.

use super::{Bvh, Stack};
use crate::geom::intersect::{Ray, closest_on_triangle, ray_triangle};
use glam::Vec3;

/// Where a ray meets a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Index of the triangle.
    pub triangle: u32,
    /// Distance along the ray, in lengths of its direction.
    pub distance: f32,
    /// Whether the ray meets the side the triangle's normal points to.
    pub front: bool,
}

/// The point of a surface nearest to a given one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Index of the triangle.
    pub triangle: u32,
    /// The nearest point on it.
    pub point: Vec3,
    /// Distance to that point, metres.
    pub distance: f32,
}

impl Bvh {
    /// The first triangle the ray meets within `reach` (in lengths of its direction) and for which `accept`
    /// holds. Of two at the same distance the lower index counts.
    pub fn first_hit(
        &self,
        ray: &Ray,
        reach: f32,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        accept: impl Fn(&Hit) -> bool,
    ) -> Option<Hit> {
        self.first_hit_counted(ray, reach, positions, triangles, accept, |_| {})
    }

    /// As [`Bvh::first_hit`]; `count` is told how many triangles are looked at, leaf by leaf.
    #[inline]
    pub fn first_hit_counted(
        &self,
        ray: &Ray,
        reach: f32,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        accept: impl Fn(&Hit) -> bool,
        mut count: impl FnMut(usize),
    ) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        let mut limit = reach;
        let mut stack = Stack::new();
        if let Some(root) = self.nodes.first()
            && ray.enters(&root.aabb, limit).is_some()
        {
            stack.push((0u32, 0f32));
        }
        while let Some((i, entry)) = stack.pop() {
            if entry > limit {
                continue;
            }
            let node = &self.nodes[i as usize];
            if node.count == 0 {
                let [mut near, mut far] =
                    [i + 1, node.link].map(|c| (c, ray.enters(&self.nodes[c as usize].aabb, limit)));
                if far.1.unwrap_or(f32::MAX) < near.1.unwrap_or(f32::MAX) {
                    (near, far) = (far, near);
                }
                for (child, entry) in [far, near] {
                    if let Some(entry) = entry {
                        stack.push((child, entry));
                    }
                }
                continue;
            }
            count(node.count as usize);
            for k in node.link as usize..(node.link + node.count) as usize {
                let triangle = self.order[k];
                let corners = triangles[triangle as usize].map(|v| positions[v as usize]);
                let Some((distance, front)) = ray_triangle(ray, corners) else { continue };
                let hit = Hit { triangle, distance, front };
                let better = match &best {
                    None => distance <= limit,
                    Some(b) => distance < b.distance || (distance == b.distance && triangle < b.triangle),
                };
                if better && accept(&hit) {
                    limit = distance;
                    best = Some(hit);
                }
            }
        }
        best
    }

    /// Whether the ray meets a triangle within `reach` for which `accept` holds; stops at the first found.
    pub fn any_hit(
        &self,
        ray: &Ray,
        reach: f32,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        accept: impl Fn(&Hit) -> bool,
    ) -> bool {
        let mut found = false;
        self.walk(
            |b| ray.enters(b, reach).is_some(),
            |triangle| {
                let corners = triangles[triangle as usize].map(|v| positions[v as usize]);
                if let Some((distance, front)) = ray_triangle(ray, corners) {
                    found = distance <= reach && accept(&Hit { triangle, distance, front });
                }
                !found
            },
        );
        found
    }

    /// Calls `visit` with every triangle the ray meets within `reach`, in no order of theirs.
    pub fn each_hit(
        &self,
        ray: &Ray,
        reach: f32,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        mut visit: impl FnMut(Hit),
    ) {
        self.walk(
            |b| ray.enters(b, reach).is_some(),
            |triangle| {
                let corners = triangles[triangle as usize].map(|v| positions[v as usize]);
                if let Some((distance, front)) = ray_triangle(ray, corners)
                    && distance <= reach
                {
                    visit(Hit { triangle, distance, front });
                }
                true
            },
        );
    }

    /// Every triangle the ray meets within `reach`, nearest first. A ray through an edge meets both
    /// triangles on it.
    pub fn all_hits(&self, ray: &Ray, reach: f32, positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Hit> {
        let mut hits = Vec::new();
        self.each_hit(ray, reach, positions, triangles, |hit| hits.push(hit));
        hits.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.triangle.cmp(&b.triangle)));
        hits
    }

    /// The item nearest to `point` by `distance_squared` (`None` leaves an item out), at most `within`
    /// away. The squared distance must not be below that of the item's box. Ties go to the lower index.
    pub fn nearest_item(
        &self,
        point: Vec3,
        within: f32,
        mut distance_squared: impl FnMut(u32) -> Option<f32>,
    ) -> Option<(u32, f32)> {
        let mut best: Option<(u32, f32)> = None;
        let mut limit = within * within;
        let mut stack = Stack::new();
        if let Some(root) = self.nodes.first() {
            stack.push((0u32, root.aabb.distance_squared(point)));
        }
        // Boxes and items are measured by different roundings of the same length.
        const SLACK: f32 = 1.0 - 4.0 * f32::EPSILON;
        while let Some((i, entry)) = stack.pop() {
            if entry * SLACK > limit {
                continue;
            }
            let node = &self.nodes[i as usize];
            if node.count == 0 {
                let [mut near, mut far] =
                    [i + 1, node.link].map(|c| (c, self.nodes[c as usize].aabb.distance_squared(point)));
                if far.1 < near.1 {
                    (near, far) = (far, near);
                }
                stack.push(far);
                stack.push(near);
                continue;
            }
            for k in node.link as usize..(node.link + node.count) as usize {
                if self.boxes[k].distance_squared(point) * SLACK > limit {
                    continue;
                }
                let item = self.order[k];
                let Some(d) = distance_squared(item) else { continue };
                let better = match best {
                    None => d <= limit,
                    Some((b, best)) => d < best || (d == best && item < b),
                };
                if better {
                    limit = d;
                    best = Some((item, d));
                }
            }
        }
        best.map(|(item, d)| (item, d.sqrt()))
    }

    /// The nearest point of the triangles, at most `within` away, among those for which
    /// `accept(triangle, nearest point on it)` holds.
    pub fn nearest(
        &self,
        point: Vec3,
        within: f32,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        accept: impl Fn(u32, Vec3) -> bool,
    ) -> Option<Nearest> {
        let on_triangle =
            |t: u32| closest_on_triangle(point, triangles[t as usize].map(|v| positions[v as usize]));
        let (triangle, distance) = self.nearest_item(point, within, |t| {
            let closest = on_triangle(t);
            accept(t, closest).then(|| closest.distance_squared(point))
        })?;
        Some(Nearest { triangle, point: on_triangle(triangle), distance })
    }
}

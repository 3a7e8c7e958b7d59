use super::*;
use crate::geom::intersect::{Ray, closest_on_triangle, ray_triangle};
use crate::geom::self_contact::jitter;

/// Triangles of a few hundredths scattered in a unit cube.
fn scattered(count: usize, seed: u64) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let centres = jitter(count, 0.5, seed);
    let corners = jitter(3 * count, 0.06, seed + 1);
    let positions = (0..3 * count).map(|i| centres[i / 3] + corners[i]).collect();
    (positions, (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect())
}

fn box_pairs_one_by_one(boxes: &[Aabb]) -> Vec<[u32; 2]> {
    let n = boxes.len();
    (0..n)
        .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
        .filter(|&(i, j)| boxes[i].overlaps(&boxes[j]))
        .map(|(i, j)| [i as u32, j as u32])
        .collect()
}

#[test]
fn overlapping_pairs_are_those_found_one_by_one() {
    for count in [0, 1, 2, 5, 700] {
        let (positions, triangles) = scattered(count, 3);
        let boxes: Vec<Aabb> =
            triangles.iter().map(|t| Aabb::around(&t.map(|v| positions[v as usize]))).collect();
        let bvh = Bvh::over_triangles(&positions, &triangles);
        assert_eq!(bvh.len(), count);
        assert_eq!(bvh.self_pairs(|_, _| true), box_pairs_one_by_one(&boxes));
    }
}

#[test]
fn coincident_items_neither_loop_nor_get_lost() {
    let boxes = vec![Aabb { low: Vec3::ONE, high: Vec3::ONE }; 300];
    assert_eq!(Bvh::new(&boxes).self_pairs(|_, _| true).len(), 300 * 299 / 2);
}

#[test]
fn a_refitted_tree_answers_for_the_new_positions() {
    let (before, triangles) = scattered(500, 5);
    let (after, _) = scattered(500, 9);
    let mut refitted = Bvh::over_triangles(&before, &triangles);
    refitted.refit_triangles(&after, &triangles);
    let fresh = Bvh::over_triangles(&after, &triangles);
    assert_eq!(refitted.self_pairs(|_, _| true), fresh.self_pairs(|_, _| true));
    let mut half = after.clone();
    let moved: Vec<u32> = (100..260).collect();
    for v in moved.iter().flat_map(|&t| triangles[t as usize]) {
        half[v as usize] = before[v as usize];
    }
    refitted.refit_among(&moved, |t| Aabb::around(&triangles[t as usize].map(|v| half[v as usize])));
    let fresh_half = Bvh::over_triangles(&half, &triangles);
    assert_eq!(refitted.self_pairs(|_, _| true), fresh_half.self_pairs(|_, _| true));
    refitted.refit_triangles(&after, &triangles);
    let point = Vec3::new(0.1, 0.2, 0.3);
    let nearest = |b: &Bvh| b.nearest(point, f32::INFINITY, &after, &triangles, |_, _| true);
    assert_eq!(nearest(&refitted), nearest(&fresh));
}

#[test]
fn rays_meet_what_a_search_through_all_triangles_meets() {
    let (positions, triangles) = scattered(800, 11);
    let bvh = Bvh::over_triangles(&positions, &triangles);
    let mut met = 0;
    for (from, towards) in jitter(200, 0.7, 1).into_iter().zip(jitter(200, 1.0, 2)) {
        // Along the axes too, where a component of the direction is zero.
        for direction in [towards, Vec3::X, Vec3::NEG_Y, Vec3::Z] {
            let ray = Ray::new(from, direction);
            let mut all: Vec<Hit> = (0..triangles.len())
                .filter_map(|t| {
                    let corners = triangles[t].map(|v| positions[v as usize]);
                    let (distance, front) = ray_triangle(&ray, corners)?;
                    Some(Hit { triangle: t as u32, distance, front })
                })
                .collect();
            all.sort_by(|a, b| a.distance.total_cmp(&b.distance));
            met += all.len();
            assert_eq!(bvh.all_hits(&ray, f32::INFINITY, &positions, &triangles), all);
            let first = bvh.first_hit(&ray, f32::INFINITY, &positions, &triangles, |_| true);
            assert_eq!(first.as_ref(), all.first());
            let any = bvh.any_hit(&ray, 0.4, &positions, &triangles, |h| h.front);
            assert_eq!(any, all.iter().any(|h| h.front && h.distance <= 0.4));
        }
    }
    assert!(met > 100);
}

#[test]
fn the_nearest_triangle_is_that_found_one_by_one() {
    let (positions, triangles) = scattered(600, 21);
    let bvh = Bvh::over_triangles(&positions, &triangles);
    for point in jitter(100, 0.8, 4) {
        let on = |t: usize| closest_on_triangle(point, triangles[t].map(|v| positions[v as usize]));
        let even = (0..triangles.len()).step_by(2);
        let best = even.map(|t| on(t).distance(point)).fold(f32::INFINITY, f32::min);
        let found = bvh.nearest(point, f32::INFINITY, &positions, &triangles, |t, _| t % 2 == 0);
        assert_eq!(found.map(|n| n.distance), Some(best));
        let too_near = bvh.nearest(point, best * 0.5, &positions, &triangles, |t, _| t % 2 == 0);
        assert_eq!(too_near, None);
    }
}

#[test]
fn any_number_of_threads_finds_the_same_in_the_same_order() {
    let (positions, triangles) = scattered(9000, 33);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        pool.install(|| {
            let bvh = Bvh::over_triangles(&positions, &triangles);
            (bvh.order.clone(), bvh.self_pairs(|_, _| true))
        })
    };
    assert_eq!(run(1), run(3));
}

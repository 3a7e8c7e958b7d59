use super::*;
use crate::pieces::{Piece, Role};
use std::collections::BTreeMap;
use std::f32::consts::{PI, TAU};

/// An octahedron split `levels` times onto the unit sphere: closed, even, and mirrored in every axis.
fn ball(levels: usize, radius: f32, centre: Vec3) -> TriMesh {
    let mut positions = vec![Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z];
    let mut triangles: Vec<[u32; 3]> =
        vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
    for _ in 0..levels {
        let mut middle: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut between = |a: u32, b: u32| {
            *middle.entry((a.min(b), a.max(b))).or_insert_with(|| {
                positions.push((positions[a as usize] + positions[b as usize]).normalize());
                positions.len() as u32 - 1
            })
        };
        triangles = triangles
            .iter()
            .flat_map(|&[a, b, c]| {
                let (ab, bc, ca) = (between(a, b), between(b, c), between(c, a));
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    TriMesh { positions: positions.iter().map(|&p| p * radius + centre).collect(), triangles }
}

fn joined(a: &TriMesh, b: &TriMesh) -> TriMesh {
    let first = a.positions.len() as u32;
    let moved = b.triangles.iter().map(|t| t.map(|v| v + first));
    TriMesh {
        positions: a.positions.iter().chain(&b.positions).copied().collect(),
        triangles: a.triangles.iter().copied().chain(moved).collect(),
    }
}

/// A closed tube of radius 1 along x from -4 to 4, with its two-joint weights: joint 1 holds x > 0.
fn tube() -> (TriMesh, Influences, Vec<u32>) {
    let (around, along) = (24u32, 48u32);
    let mut positions = Vec::new();
    for i in 0..=along {
        for k in 0..around {
            let angle = TAU * k as f32 / around as f32;
            let x = 8.0 * i as f32 / along as f32 - 4.0;
            positions.push(Vec3::new(x, angle.cos(), angle.sin()));
        }
    }
    let at = |i: u32, k: u32| i * around + k % around;
    let mut triangles = Vec::new();
    for i in 0..along {
        for k in 0..around {
            let (a, b, c, d) = (at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1));
            triangles.extend([[a, c, b], [a, d, c]]);
        }
    }
    for (ring, x, flip) in [(0, -4.0, false), (along, 4.0, true)] {
        let middle = positions.len() as u32;
        positions.push(Vec3::new(x, 0.0, 0.0));
        for k in 0..around {
            let (a, b) = (at(ring, k), at(ring, k + 1));
            triangles.push(if flip { [middle, a, b] } else { [middle, b, a] });
        }
    }
    let weight = |p: &Vec3| (p.x / 1.5 + 0.5).clamp(0.0, 1.0);
    let influences = Influences::new(positions.iter().map(|p| vec![(0, 1.0 - weight(p)), (1, weight(p))]));
    let parts = positions.iter().map(|p| u32::from(p.x > 0.01)).collect();
    (TriMesh { positions, triangles }, influences, parts)
}

/// The second half of the tube turned about z by `angle`.
fn bend(angle: f32) -> [Affine3A; 2] {
    [Affine3A::IDENTITY, Affine3A::from_rotation_z(angle)]
}

fn linear(rest: &TriMesh, influences: &Influences, posed_from_rest: &[Affine3A]) -> Vec<Vec3> {
    let blend = |v: usize| {
        influences
            .of(v)
            .map(|(j, w)| posed_from_rest[j as usize].transform_point3(rest.positions[v]) * w)
            .sum()
    };
    (0..rest.positions.len()).map(blend).collect()
}

fn rigid_judge(rest: &TriMesh, one_group: bool) -> Judge {
    let count = rest.positions.len();
    Judge::new(JudgeInput {
        rest,
        part_of_vertex: &vec![0; count],
        group_of_vertex: one_group.then_some(&vec![0; count]),
        influences: &Influences::new(vec![vec![(0, 1.0)]; count]),
    })
    .expect("the mesh is sound")
}

fn tube_judge() -> (Judge, TriMesh, Influences) {
    let (rest, influences, parts) = tube();
    let judge = Judge::new(JudgeInput {
        rest: &rest,
        part_of_vertex: &parts,
        group_of_vertex: None,
        influences: &influences,
    });
    (judge.expect("the tube is sound"), rest, influences)
}

fn still(positions: &[Vec3]) -> FrameInput<'_> {
    FrameInput::new(7, positions)
}

#[test]
fn rest_measures_zero_and_one() {
    let (judge, rest, _) = tube_judge();
    let pose = bend(0.0);
    let mut clip = judge.clip();
    for frame in 0..3 {
        let input = FrameInput { posed_from_rest: &pose, ..FrameInput::new(frame, &rest.positions) };
        clip.add(&input).expect("as many positions as vertices");
    }
    for f in clip.finish().frames {
        assert_eq!((f.pairs, f.pairs_across, f.folds, f.buried, f.everted), (0, 0, 0, 0, 0));
        assert_eq!((f.depth, f.volume, f.flipped, f.not_finite), (0.0, 1.0, Some(0), 0));
        assert_eq!((f.stretch_p95, f.stretch_max, f.stretch_min), (1.0, 1.0, 1.0));
        assert_eq!(f.volume_by_part, vec![Some(1.0), Some(1.0)]);
        assert!(f.popping_max.is_none_or(|p| p == 0.0));
        assert!(f.flicker_max.is_none_or(|p| p == 0.0));
    }
}

#[test]
fn rigid_motion_changes_nothing() {
    // Two boxes' worth of touching skin: balls that share a tangent point, and a sheet lying on its double.
    let rest = joined(&ball(3, 1.0, Vec3::ZERO), &ball(3, 1.0, Vec3::X * 2.0));
    let judge = rigid_judge(&rest, true);
    for step in 1..6 {
        let turn = Affine3A::from_rotation_x(step as f32) * Affine3A::from_rotation_y(0.7 * step as f32);
        let moved = Affine3A::from_translation(Vec3::new(3.0, -2.0, step as f32)) * turn;
        let positions: Vec<Vec3> = rest.positions.iter().map(|&p| moved.transform_point3(p)).collect();
        let input = FrameInput { posed_from_rest: &[moved], ..FrameInput::new(0, &positions) };
        let f = judge.frame(&input).expect("as many positions as vertices");
        assert_eq!((f.pairs, f.folds, f.buried, f.everted, f.flipped), (0, 0, 0, 0, Some(0)));
        assert!((f.volume - 1.0).abs() < 1e-5);
        assert!((f.stretch_max - 1.0).abs() < 1e-4 && (f.stretch_min - 1.0).abs() < 1e-4);
    }
}

#[test]
fn the_depth_of_two_balls_is_their_overlap() {
    let apart = joined(&ball(4, 1.0, Vec3::ZERO), &ball(4, 1.0, Vec3::X * 3.0));
    let one_group = rigid_judge(&apart, true);
    let by_component = rigid_judge(&apart, false);
    let half = apart.positions.len() / 2;
    for distance in [1.9f32, 1.5, 1.0] {
        // The poles of both balls are vertices, so the deepest points are measured.
        let mut positions = apart.positions.clone();
        positions[half..].iter_mut().for_each(|p| p.x += distance - 3.0);
        let f = one_group.frame(&still(&positions)).expect("as many positions as vertices");
        assert!((f.depth - f64::from(2.0 - distance)).abs() < 0.01, "{} at {distance}", f.depth);
        assert!(f.pairs > 0 && f.everted == 0);
        // The facets lie a little inside the balls they stand for.
        let within = |radius: f32| {
            let from_other =
                |v: usize| positions[v].distance(if v < half { Vec3::X * distance } else { Vec3::ZERO });
            (0..positions.len()).filter(|&v| from_other(v) < radius).count()
        };
        assert!((within(0.99)..=within(1.0)).contains(&f.buried), "{} at {distance}", f.buried);
        let f = by_component.frame(&still(&positions)).expect("as many positions as vertices");
        assert_eq!((f.pairs, f.depth), (0, 0.0));
        assert!(f.pairs_across > 0);
    }
}

#[test]
fn a_ball_swallowed_whole_is_buried_without_a_pair() {
    let apart = joined(&ball(3, 1.0, Vec3::ZERO), &ball(2, 0.2, Vec3::X * 3.0));
    let judge = rigid_judge(&apart, true);
    let mut positions = apart.positions.clone();
    let big = ball(3, 1.0, Vec3::ZERO).positions.len();
    positions[big..].iter_mut().for_each(|p| p.x -= 3.0);
    let f = judge.frame(&still(&positions)).expect("as many positions as vertices");
    assert_eq!((f.pairs, f.buried), (0, positions.len() - big));
    assert!(f.depth > 0.2);
}

#[test]
fn a_skin_turned_inside_out_is_everted() {
    // The cap of a ball pulled through its own far side sticks out with its inner face.
    let rest = ball(4, 1.0, Vec3::ZERO);
    let judge = rigid_judge(&rest, false);
    let positions: Vec<Vec3> = rest
        .positions
        .iter()
        .map(|p| Vec3::new(p.x, p.y, if p.z > 0.6 { p.z - 3.0 * (p.z - 0.6) * 2.5 } else { p.z }))
        .collect();
    let f = judge.frame(&still(&positions)).expect("as many positions as vertices");
    assert!(f.everted > 0, "{f:?}");
    assert_eq!(f.buried, 0);
    assert!(f.depth > 0.1);
}

#[test]
fn a_mirrored_overlap_counts_the_same_under_every_jitter() {
    // Two mirrored balls meet edge to edge and vertex to vertex in the mirror plane.
    let apart = joined(&ball(4, 1.0, Vec3::NEG_X * 1.2), &ball(4, 1.0, Vec3::X * 1.2));
    let half = apart.positions.len() / 2;
    let mut positions = apart.positions.clone();
    positions[..half].iter_mut().for_each(|p| p.x += 0.6);
    positions[half..].iter_mut().for_each(|p| p.x -= 0.6);
    let mut search = SelfContact::new(&apart.positions, &apart.triangles);
    let counts: Vec<usize> = (0..6)
        .map(|seed| {
            let offsets = jitter(positions.len(), 1e-5 * apart.size(), seed);
            let moved: Vec<Vec3> = positions.iter().zip(offsets).map(|(&p, j)| p + j).collect();
            search.find(&moved).pairs.len()
        })
        .collect();
    let (least, most) = (counts.iter().min(), counts.iter().max());
    assert!(least.zip(most).is_some_and(|(&l, &m)| l > 100 && (m - l) * 5 < m), "{counts:?}");
}

#[test]
fn linear_skinning_loses_more_volume_the_further_it_bends() {
    let (judge, rest, influences) = tube_judge();
    let mut last = 1.0;
    for degrees in [30f32, 60.0, 90.0, 120.0] {
        let pose = bend(degrees.to_radians());
        let positions = linear(&rest, &influences, &pose);
        let input = FrameInput { posed_from_rest: &pose, ..FrameInput::new(0, &positions) };
        let f = judge.frame(&input).expect("as many positions as vertices");
        assert!(f.volume < last - 1e-4, "{} at {degrees}", f.volume);
        let parts: Vec<f64> = f.volume_by_part.iter().flatten().copied().collect();
        assert!(parts.len() == 2 && parts.iter().all(|&p| p < 1.0));
        last = f.volume;
    }
}

#[test]
fn a_deep_bend_crosses_buries_and_a_shallow_one_does_not() {
    let (judge, rest, influences) = tube_judge();
    let figures = |degrees: f32| {
        let pose = bend(degrees.to_radians());
        let positions = linear(&rest, &influences, &pose);
        let input = FrameInput { posed_from_rest: &pose, ..FrameInput::new(0, &positions) };
        judge.frame(&input).expect("as many positions as vertices")
    };
    let shallow = figures(40.0);
    assert_eq!((shallow.pairs, shallow.folds, shallow.buried, shallow.flipped), (0, 0, 0, Some(0)));
    let deep = figures(150.0);
    assert!(deep.pairs > 20 && deep.buried > 10 && deep.depth > 0.1 && deep.depth < 1.0, "{deep:?}");
    assert!(deep.stretch_min < 0.5 && deep.stretch_max > 1.2);
}

#[test]
fn the_parts_of_a_tube_sum_to_the_whole() {
    let (rest, influences, parts) = tube();
    let volumes = PartVolumes::new(&rest.positions, &rest.triangles, &parts);
    assert!((volumes.rest_whole - rest.volume()).abs() < 1e-9);
    let sum = |positions: &[Vec3]| {
        let part = |p: u32| {
            let own: Vec<[u32; 3]> = rest
                .triangles
                .iter()
                .copied()
                .filter(|&t| volume::part_of_triangle(t, &parts) == p)
                .collect();
            PartVolumes::new(positions, &own, &vec![0; positions.len()]).rest_whole
        };
        part(0) + part(1)
    };
    let bent = linear(&rest, &influences, &bend(1.0));
    for positions in [&rest.positions, &bent] {
        let whole = crate::geom::mesh::volume(positions, &rest.triangles);
        assert!((sum(positions) / whole - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_patch_has_no_volume_of_its_own() {
    let (rest, _, _) = tube();
    // A strip along the top half of the tube, and the rest of it.
    let strip: Vec<u32> = rest.positions.iter().map(|p| u32::from(p.y > 0.8 && p.x.abs() < 2.0)).collect();
    let ratios = PartVolumes::new(&rest.positions, &rest.triangles, &strip).ratios(&rest.positions);
    assert_eq!((ratios.whole, ratios.parts), (1.0, vec![Some(1.0), None]));
}

/// Two squares of four triangles each lie on each other, and a triangle apart. The upper square is lifted off by its joint; skin
/// whose own joint rests goes with it by half.
#[test]
fn skin_may_move_with_what_touches_it_and_with_its_neighbours() {
    let square = |y: f32| {
        [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5]].map(|[x, z]| Vec3::new(x, y, z))
    };
    let far = [Vec3::X * 4.0, Vec3::X * 5.0, Vec3::X * 4.0 + Vec3::Z];
    let touching = 0.01;
    let positions = [square(0.0).as_slice(), &square(touching), &far].concat();
    let fan = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]];
    let mut triangles: Vec<[u32; 3]> = fan.into_iter().chain(fan.map(|t| t.map(|v| v + 5))).collect();
    triangles.push([10, 11, 12]);
    let rest = TriMesh { positions, triangles };
    let joints = (0..13).map(|v| vec![(u32::from((5..10).contains(&v)), 1.0)]);
    let influences = Influences::new(joints);
    let parts = vec![0; 13];
    let input =
        JudgeInput { rest: &rest, part_of_vertex: &parts, group_of_vertex: None, influences: &influences };
    let judge = Judge::new(input).expect("a sound surface");
    let popping = |moved: &[usize]| {
        let mut clip = judge.clip();
        for frame in 0..2 {
            let rise = frame as f32 * 0.3;
            let pose = [Affine3A::IDENTITY, Affine3A::from_translation(Vec3::Y * rise)];
            let mut positions = rest.positions.clone();
            for (v, p) in positions.iter_mut().enumerate() {
                let share = if (5..10).contains(&v) {
                    1.0
                } else if moved.contains(&v) {
                    0.5
                } else {
                    0.0
                };
                p.y += share * rise;
            }
            let input = FrameInput { posed_from_rest: &pose, ..FrameInput::new(frame, &positions) };
            clip.add(&input).expect("as many positions as vertices");
        }
        clip.finish().of("popping_max").map(|s| s.worst)
    };
    // What lay on it has gone by the second frame, farther than the reach.
    assert_eq!(popping(&[0, 1, 2, 3, 4]), Some(1.0));
    // Skin that nothing is near has no such excuse.
    assert!(popping(&[10]).is_some_and(|worst| worst > 100.0));
}

#[test]
fn linear_skinning_never_pops_and_a_jump_does() {
    let (judge, rest, influences) = tube_judge();
    let run = |pop: bool| {
        let mut clip = judge.clip();
        for frame in 0..12 {
            let pose = bend(0.03 * frame as f32);
            let mut positions = linear(&rest, &influences, &pose);
            if pop && frame == 6 {
                positions[5 * 24] += Vec3::Y * 0.5;
            }
            let input = FrameInput { posed_from_rest: &pose, ..FrameInput::new(frame, &positions) };
            clip.add(&input).expect("as many positions as vertices");
        }
        clip.finish()
    };
    let smooth = run(false);
    assert!(smooth.of("popping_max").is_some_and(|s| s.worst <= 1.0001), "{:?}", smooth.of("popping_max"));
    assert!(smooth.of("flicker_max").is_some_and(|s| s.worst < 0.2), "{:?}", smooth.of("flicker_max"));
    let jumped = run(true);
    assert!(jumped.of("popping_max").is_some_and(|s| s.worst > 2.0 && s.worst_frame == 6));
    assert!(jumped.of("flicker_max").is_some_and(|s| s.worst > 4.0 && s.worst_frame == 7));
    assert_eq!(jumped.worst_frames("flicker_max", 2)[0], 7);
    assert!(jumped.popping_p99.is_some_and(|p| p <= 1.02));
}

#[test]
fn a_triangle_turned_over_is_flipped_and_a_bent_limb_is_not() {
    let (judge, rest, influences) = tube_judge();
    let pose = bend(PI / 3.0);
    let mut positions = linear(&rest, &influences, &pose);
    let count = |positions: &[Vec3]| {
        let input = FrameInput { posed_from_rest: &pose, ..FrameInput::new(0, positions) };
        judge.frame(&input).expect("as many positions as vertices").flipped
    };
    assert_eq!(count(&positions), Some(0));
    // A vertex moved across the far edge of its ring turns the triangles on that side over.
    positions[24 * 6] = positions[24 * 8] + (positions[24 * 8] - positions[24 * 7]) * 0.5;
    assert!(count(&positions).is_some_and(|n| n >= 1));
}

#[test]
fn a_vertex_that_leaves_its_reference_has_strayed_unless_in_contact() {
    let (judge, rest, _) = tube_judge();
    let mut positions = rest.positions.clone();
    // The tube is 2 thick: a quarter of it is 0.5.
    positions[24 * 5] *= Vec3::new(1.0, 1.4, 1.4);
    positions[24 * 10 + 6] *= Vec3::new(1.0, 1.7, 1.7);
    let judged = |in_contact: Option<&[bool]>| {
        let input =
            FrameInput { reference: Some(&rest.positions), in_contact, ..FrameInput::new(0, &positions) };
        judge.frame(&input).expect("as many positions as vertices")
    };
    let f = judged(None);
    assert_eq!(f.strayed, Some(1));
    assert!(f.stray_max.is_some_and(|s| (s - 0.35).abs() < 0.01), "{:?}", f.stray_max);
    let mut contact = vec![false; positions.len()];
    contact[24 * 10 + 6] = true;
    assert_eq!(judged(Some(&contact)).strayed, Some(0));
}

#[test]
fn positions_that_are_no_numbers_are_counted_and_do_no_harm() {
    let (judge, rest, _) = tube_judge();
    let mut positions = rest.positions.clone();
    positions[3].y = f32::NAN;
    positions[9].x = f32::INFINITY;
    let f = judge.frame(&still(&positions)).expect("as many positions as vertices");
    assert_eq!((f.not_finite, f.pairs, f.volume), (2, 0, 1.0));
}

#[test]
fn any_number_of_threads_gives_the_same_figures() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        pool.install(|| {
            let (judge, rest, influences) = tube_judge();
            let pose = bend(2.4);
            let positions = linear(&rest, &influences, &pose);
            let mut clip = judge.clip();
            for frame in 0..2 {
                let input = FrameInput { posed_from_rest: &pose, ..FrameInput::new(frame, &positions) };
                clip.add(&input).expect("as many positions as vertices");
            }
            (clip.detail().clone(), clip.finish())
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn limits_are_read_checked_and_explained() {
    let (judge, rest, influences) = tube_judge();
    let pose = bend(2.6);
    let positions = linear(&rest, &influences, &pose);
    let mut clip = judge.clip();
    clip.add(&FrameInput { posed_from_rest: &pose, ..FrameInput::new(12, &positions) })
        .expect("as many positions as vertices");
    let figures = clip.finish();
    let limits =
        Limits::parse(" pairs=0, stretch_min = 0.9,milliseconds=10,popping_p99=1").expect("well formed");
    let passed = limits.check(&figures);
    assert_eq!(passed.iter().map(|v| v.figure).collect::<Vec<_>>(), vec!["pairs", "stretch_min"]);
    assert!(passed[0].to_string().contains("at frame 12, above the limit of 0"));
    assert!(passed[1].to_string().contains("below the limit of 0.9"));
    let unknown = Limits::parse("pears=0").expect_err("no such figure").to_string();
    assert!(unknown.contains("pears") && unknown.contains("pairs, pairs_across"));
    assert!(Limits::parse("pairs").is_err() && Limits::parse("pairs=few").is_err());
    assert!(Limits::parse("").is_ok_and(|l| l.check(&figures).is_empty()));
    let text = table(&[("lbs", &figures), ("dqs", &figures)]);
    assert!(text.lines().any(|l| l.starts_with("stretch_max")) && text.contains("1 frames"));
}

#[test]
fn arrays_of_another_length_are_refused_by_name() {
    let (judge, rest, influences) = tube_judge();
    let short = judge.frame(&still(&rest.positions[1..])).expect_err("one vertex short").to_string();
    assert!(short.contains("positions has") && short.contains("vertices"));
    let input =
        JudgeInput { rest: &rest, part_of_vertex: &[], group_of_vertex: None, influences: &influences };
    assert!(Judge::new(input).is_err_and(|e| e.to_string().starts_with("part_of_vertex")));
    let absurd = vec![u32::MAX; rest.positions.len()];
    assert!(Judge::new(JudgeInput { part_of_vertex: &absurd, ..input }).is_err());
}

/// A judge of a surface that one joint holds.
fn judge_of(rest: &TriMesh) -> Result<Judge, JudgeError> {
    let vertices = rest.positions.len();
    Judge::new(JudgeInput {
        rest,
        part_of_vertex: &vec![0; vertices],
        group_of_vertex: None,
        influences: &Influences::new(vec![vec![(0, 1.0)]; vertices]),
    })
}

#[test]
fn heaps_of_triangles_are_refused_or_judged() {
    // Every triangle between three of a few hundred points.
    let points = jitter(750, 1.0, 1);
    let mut state = 1u64;
    let mut pick = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % 750
    };
    let triangles: Vec<[u32; 3]> = (0..3000).map(|_| [pick(), pick(), pick()]).collect();
    let soup = TriMesh { positions: points, triangles };
    assert!(matches!(judge_of(&soup), Err(JudgeError::TangledRest { .. })));
    // Fifty copies of one grid in the same place lie on each other and cross nowhere.
    let mut copies = TriMesh::default();
    for _ in 0..50 {
        let first = copies.positions.len() as u32;
        copies.positions.extend((0..400).map(|i| Vec3::new((i % 20) as f32, (i / 20) as f32, 0.0)));
        for i in (0..19 * 20).filter(|i| i % 20 < 19) {
            let [a, b, c, d] = [i, i + 1, i + 21, i + 20].map(|v| v + first);
            copies.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let judge = judge_of(&copies).unwrap();
    assert_eq!(judge.frame(&FrameInput::new(0, &copies.positions)).unwrap().pairs, 0);
    // Thousands of triangles on one edge, like the pages of a book.
    let page = |i: usize| {
        let angle = i as f32 * std::f32::consts::TAU / 4000.0;
        Vec3::new(angle.cos(), 1.0, angle.sin())
    };
    let mut book = TriMesh { positions: vec![Vec3::ZERO, 2.0 * Vec3::Y], triangles: Vec::new() };
    book.positions.extend((0..4000).map(page));
    book.triangles.extend((0..4000).map(|i| [0, 1, i + 2]));
    let judge = judge_of(&book).unwrap();
    assert_eq!(judge.frame(&FrameInput::new(0, &book.positions)).unwrap().pairs, 0);
}

#[test]
fn a_frame_in_which_all_falls_on_one_point_is_named() {
    let mut rest = TriMesh::default();
    for i in 0..1000u32 {
        let at = Vec3::X * i as f32;
        rest.positions.extend([at, at + Vec3::Y, at + Vec3::Z]);
        rest.triangles.push([3 * i, 3 * i + 1, 3 * i + 2]);
    }
    let judge = judge_of(&rest).unwrap();
    let error = judge.frame(&FrameInput::new(7, &vec![Vec3::ZERO; 3000])).unwrap_err();
    assert!(matches!(error, JudgeError::Tangled { frame: 7, .. }), "{error}");
}

#[test]
fn a_surface_too_large_for_single_precision_is_refused() {
    let positions = vec![Vec3::ZERO, Vec3::X * 2e38, Vec3::Y * 2e38, Vec3::Z];
    let rest = TriMesh { positions, triangles: vec![[0, 1, 2], [0, 2, 3]] };
    assert!(matches!(judge_of(&rest), Err(JudgeError::Size { .. })));
}

/// A square sheet of `n` by `n` cells, a metre wide, in the plane y = 0, looking up.
fn square(n: u32) -> TriMesh {
    let at = |i: u32, k: u32| i * (n + 1) + k;
    let place = |i: u32, k: u32| Vec3::new(i as f32, 0.0, k as f32) / n as f32;
    let positions = (0..=n).flat_map(|i| (0..=n).map(move |k| place(i, k))).collect();
    let cells = (0..n).flat_map(|i| (0..n).map(move |k| (i, k)));
    let triangles = cells.flat_map(|(i, k)| {
        let [a, b, c, d] = [at(i, k), at(i, k + 1), at(i + 1, k + 1), at(i + 1, k)];
        [[a, b, c], [a, c, d]]
    });
    TriMesh { positions, triangles: triangles.collect() }
}

fn judged(judge: &Judge, positions: &[Vec3], start: &[Vec3]) -> FrameFigures {
    let start = judge.start_frame(start, &[]).unwrap();
    judge.frame(&FrameInput { start: Some(&start), ..FrameInput::new(0, positions) }).unwrap()
}

#[test]
fn a_sheet_bent_into_a_roof_is_as_rough_as_its_one_edge() {
    let rest = square(10);
    let judge = rigid_judge(&rest, true);
    let angle = 0.7f32;
    let roof: Vec<Vec3> = rest
        .positions
        .iter()
        .map(|p| {
            if p.x > 0.5 {
                Vec3::new(0.5 + (p.x - 0.5) * angle.cos(), (p.x - 0.5) * angle.sin(), p.z)
            } else {
                *p
            }
        })
        .collect();
    let f = judged(&judge, &roof, &rest.positions);
    // Ten of the inner edges, each a tenth long, bend by 40 degrees; creases are from 30 on.
    let inner: f64 = judge.adjacency.edges.iter().filter(|e| e.triangles.len() == 2).count() as f64;
    let length: f64 = judge
        .adjacency
        .edges
        .iter()
        .filter(|e| e.triangles.len() == 2)
        .map(|e| {
            f64::from(rest.positions[e.vertices[0] as usize].distance(rest.positions[e.vertices[1] as usize]))
        })
        .sum();
    let expected = f64::from(angle).to_degrees() * (1.0 / length).sqrt();
    assert!((f.roughness.unwrap() - expected).abs() < 1e-3, "{:?}, not {expected}", f.roughness);
    assert!((f.roughness_ratio.unwrap() - (expected + 0.5) / 0.5).abs() < 1e-2);
    assert!((f.creases.unwrap() - 10.0 / inner * 1000.0).abs() < 1e-6);
    assert_eq!((f.roughness_contact, f.crush), (None, Some(0.0)));
    // What the start has as well is not the method's fault.
    let f = judged(&judge, &roof, &roof);
    assert_eq!((f.roughness_ratio, f.creases, f.crush), (Some(1.0), Some(0.0), Some(0.0)));
}

#[test]
fn the_worst_piece_tells_how_much_is_crushed() {
    let rest = joined(&ball(3, 1.0, Vec3::ZERO), &ball(2, 0.1, Vec3::X * 3.0));
    let judge = rigid_judge(&rest, false);
    let middle = Vec3::X * 3.0;
    let crushed: Vec<Vec3> =
        rest.positions.iter().map(|&p| if p.x > 2.0 { middle + (p - middle) * 0.5 } else { p }).collect();
    let f = judged(&judge, &crushed, &rest.positions);
    assert!((f.crush.unwrap() - 0.75).abs() < 1e-4, "half the size has a quarter of the area: {:?}", f.crush);
    // A start that is crushed itself loses nothing more.
    assert_eq!(judged(&judge, &crushed, &crushed).crush, Some(0.0));
}

#[test]
fn each_role_names_its_most_crushed_piece() {
    let rest = joined(&ball(3, 1.0, Vec3::ZERO), &ball(2, 0.1, Vec3::X * 3.0));
    let judge = rigid_judge(&rest, false);
    let piece = |mesh: &str, role: Role, first_vertex: u32| Piece {
        mesh: mesh.to_owned(),
        material: String::new(),
        first_vertex,
        vertices: 0,
        area: 0.5,
        role,
        is_given: false,
        why: String::new(),
        measured: Default::default(),
        on_skin: 0.0,
        in_skin: 0.0,
        on: Vec::new(),
    };
    let piece_of_vertex: Vec<u32> = rest.positions.iter().map(|p| u32::from(p.x > 2.0)).collect();
    let first = piece_of_vertex.iter().position(|&p| p == 1).unwrap() as u32;
    let pieces = Pieces {
        pieces: vec![piece("body", Role::Skin, 0), piece("belt", Role::Worn, first)],
        piece_of_vertex,
        joined: Vec::new(),
    };
    let start = judge.start_frame(&rest.positions, &[]).unwrap();
    let mut clip = judge.clip();
    for (frame, size) in [1.0, 0.5, 0.8].into_iter().enumerate() {
        let positions: Vec<Vec3> = rest
            .positions
            .iter()
            .map(|&p| if p.x > 2.0 { Vec3::X * 3.0 + (p - Vec3::X * 3.0) * size } else { p })
            .collect();
        let input =
            FrameInput { start: Some(&start), pieces: Some(&pieces), ..FrameInput::new(frame, &positions) };
        clip.add(&input).unwrap();
    }
    let figures = clip.finish();
    let roles: Vec<(Role, usize, &str, usize)> =
        figures.by_role().iter().map(|r| (r.role, r.pieces, r.worst.mesh.as_str(), r.worst.frame)).collect();
    assert_eq!(roles, [(Role::Skin, 1, "body", 0), (Role::Worn, 1, "belt", 1)]);
    assert!((figures.pieces[1].crush - 0.75).abs() < 1e-4 && figures.pieces[0].crush < 1e-6);
}

#[test]
fn skin_that_jumps_where_the_start_rests_boils() {
    let rest = square(19);
    let judge = rigid_judge(&rest, true);
    let start = judge.start_frame(&rest.positions, &[]).unwrap();
    let mut clip = judge.clip();
    let mut moved = rest.positions.clone();
    let all = moved.len() as f64;
    for frame in 0..3 {
        if frame == 1 {
            for p in &mut moved[..40] {
                p.y += 0.006;
            }
            moved[100].y += 0.004;
        }
        clip.add(&FrameInput { start: Some(&start), ..FrameInput::new(frame, &moved) }).unwrap();
    }
    let boil: Vec<Option<f64>> = clip.finish().frames.iter().map(|f| f.boil).collect();
    assert_eq!(boil, vec![None, Some(40.0 * 1000.0 / all), Some(0.0)]);
}

/// A strip folded into a hairpin: leaves apart by `gap` (of the distance from the fold, metres), bent around a circle.
fn hairpin(rest: &TriMesh, gap: impl Fn(f32) -> f32) -> Vec<Vec3> {
    let bend = 0.06;
    let fold = |p: &Vec3| {
        let along = p.x - 0.5;
        let out = (along.abs() - bend).max(0.0);
        let half = 0.5 * gap(out);
        let angle = (along / bend).clamp(-1.0, 1.0) * 0.5 * PI;
        Vec3::new(half * angle.cos() - out, half * angle.sin(), p.z)
    };
    rest.positions.iter().map(fold).collect()
}

#[test]
fn a_slot_behind_the_contact_is_hollow_until_the_fold_is_closed() {
    let rest = square(60);
    let judge = rigid_judge(&rest, true);
    // The start passes through itself from 0.1 to 0.167 m from the bottom of the fold; beyond that it parts again.
    let apart = |out: f32| (0.5 * (out - 0.18)).max(0.0);
    let start = hairpin(&rest, |out| 0.02 - 0.2 * out + (0.5 * (out - 0.14)).max(0.0));
    let open = hairpin(&rest, |out| (0.02 - 0.2 * out).max(0.001) + apart(out));
    let half = hairpin(&rest, |out| (0.01 - 0.1 * out).max(0.001) + apart(out));
    let closed = hairpin(&rest, |out| 0.001 + apart(out));
    let figures = [open, half, closed].map(|p| judged(&judge, &p, &start));
    let figures = figures.map(|f| (f.hollow.unwrap(), f.hollow_mean.unwrap()));
    let [open, half, closed] = figures;
    // The reach of 0.05 m, from the contact inward, sees the slot up to a width of 10 mm.
    assert!((7.0..=10.5).contains(&open.0), "{figures:?}");
    assert!((3.0..=5.5).contains(&half.0), "half filled: {figures:?}");
    assert!(closed.0 < 1.2 && closed.1 < 1.2, "closed to a millimetre: {figures:?}");
    assert!(open.1 > half.1 && half.1 > closed.1, "{figures:?}");
    // A fold that nothing closes has no hollow.
    let wide = hairpin(&rest, |_| 0.1);
    assert_eq!(judged(&judge, &wide, &wide).hollow, Some(0.0));
}

fn whole(positions: &[Vec3]) -> Target<'_> {
    Target { positions, vertices: None }
}

#[test]
fn a_reference_counts_only_where_it_is_an_answer() {
    let rest = ball(4, 1.0, Vec3::ZERO);
    let judge = rigid_judge(&rest, true);
    // The upper half grows; the lower half moves away, but nobody asked about it.
    let upper: Vec<bool> = rest.positions.iter().map(|p| p.y > 0.2).collect();
    let moved = |p: &Vec3| if p.y > 0.2 { *p * 1.01 } else { *p - Vec3::Y };
    let positions: Vec<Vec3> = rest.positions.iter().map(moved).collect();
    let compared = |vertices| {
        let target = Target { positions: &positions, vertices };
        let input = FrameInput { against: Some(target), ..FrameInput::new(0, &rest.positions) };
        judge.frame(&input).unwrap().against.unwrap()
    };
    assert!(compared(Some(&upper)).mean < 11.0, "{:?}", compared(Some(&upper)));
    assert!(compared(None).mean > 100.0);
}

#[test]
fn a_reference_moved_outward_is_as_far_as_it_was_moved() {
    let rest = ball(4, 1.0, Vec3::ZERO);
    let judge = rigid_judge(&rest, true);
    let grown: Vec<Vec3> = rest.positions.iter().map(|&p| p * 1.01).collect();
    let f = judge
        .frame(&FrameInput { against: Some(whole(&grown)), ..FrameInput::new(0, &rest.positions) })
        .unwrap();
    let against = f.against.unwrap();
    assert!((against.mean - 10.0).abs() < 1.0 && (against.worst - 10.0).abs() < 1.0, "{against:?}");
    assert!(against.slope < 1.5, "{against:?}");
    assert_eq!(against.regions.len(), 1);
    // Sliding along the reference is no distance, but its facets show.
    let turned: Vec<Vec3> =
        rest.positions.iter().map(|&p| Affine3A::from_rotation_y(0.3).transform_point3(p)).collect();
    let f = judge
        .frame(&FrameInput { against: Some(whole(&turned)), ..FrameInput::new(0, &rest.positions) })
        .unwrap();
    assert!(f.against.unwrap().mean < 3.0);
}

#[test]
fn a_jump_is_told_with_its_vertex_and_with_what_sets_its_limit() {
    let (judge, rest, influences) = tube_judge();
    let mut clip = judge.clip();
    for frame in 0..2 {
        let pose = bend(0.02 * frame as f32);
        let mut positions = linear(&rest, &influences, &pose);
        if frame == 1 {
            positions[10].y += 0.5;
        }
        clip.add(&FrameInput { posed_from_rest: &pose, ..FrameInput::new(frame, &positions) }).unwrap();
    }
    let figures = clip.finish();
    let jump = figures.of("popping_max").unwrap().cause.unwrap();
    assert_eq!(jump.vertex, 10);
    assert!((jump.moved - 0.5).abs() < 0.01, "{jump:?}");
    let violation = Limits::parse("popping_max=2").unwrap().check(&figures).remove(0).to_string();
    assert!(violation.contains("vertex 10 moved"), "{violation}");
}

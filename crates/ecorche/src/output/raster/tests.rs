use super::*;

fn small() -> Settings {
    Settings { width: 160, height: 160, dome: 16 }
}

fn looking_along_z(radius: f32) -> Camera {
    Framing { view: View::From(Vec3::Z), margin: 0.0, ..Framing::default() }.focus(Vec3::ZERO, radius)
}

/// A red square facing +Z at this height, larger than the picture.
fn wall(z: f32) -> ([Vec3; 4], [[u32; 3]; 2]) {
    let corners = [[-9.0, -9.0], [9.0, -9.0], [9.0, 9.0], [-9.0, 9.0]];
    (corners.map(|[x, y]| Vec3::new(x, y, z)), [[0, 1, 2], [0, 2, 3]])
}

fn flat(surface: Surface, colour: u32) -> Surface {
    Surface { shadow: false, gloss: 0.0, ..surface.colour(Colour::hex(colour)) }
}

fn reddish(pixel: [u8; 3]) -> bool {
    i32::from(pixel[0]) > i32::from(pixel[2]) + 60
}

/// Every edge of the triangles once.
fn triangle_edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

#[test]
fn a_ball_is_round() {
    let ball = shapes::ball(Vec3::ZERO, 1.0, 5);
    let camera = looking_along_z(1.5);
    let settings = Settings { width: 200, height: 200, ..small() };
    // Coverage from a black ball on the light backdrop: the share of black in every pixel.
    let black =
        Scene { surfaces: vec![flat(Surface::new(&ball.positions, &ball.triangles), 0)], ..Scene::default() };
    let (with, without) = (render(&black, &camera, &settings), render(&Scene::default(), &camera, &settings));
    let area: f32 = with
        .pixels()
        .iter()
        .zip(without.pixels())
        .map(|(a, b)| 1.0 - Colour::from_bytes(*a).0.y / Colour::from_bytes(*b).0.y)
        .sum();
    // The outline is the circle where the eye's rays touch the ball.
    let distance = camera.eye.length();
    let radius = 1.0 / (distance * distance - 1.0).sqrt() / camera.pixel_size(200);
    let expected = std::f32::consts::PI * radius * radius;
    assert!((area / expected - 1.0).abs() < 0.01, "{area} {expected}");
}

#[test]
fn the_nearer_surface_hides_the_farther_whatever_their_order() {
    let (near, triangles) = wall(0.5);
    let (far, _) = wall(-0.5);
    let camera = looking_along_z(1.0);
    let red = flat(Surface::new(&near[..], &triangles[..]), 0xD02020);
    let blue = flat(Surface::new(&far[..], &triangles[..]), 0x2020D0);
    let first =
        render(&Scene { surfaces: vec![red.clone(), blue.clone()], ..Scene::default() }, &camera, &small());
    let second = render(&Scene { surfaces: vec![blue, red], ..Scene::default() }, &camera, &small());
    assert!(first.pixels().iter().all(|p| reddish(*p)));
    assert_eq!(first, second);
}

#[test]
fn through_a_clear_surface_what_is_behind_shows() {
    let (near, triangles) = wall(0.5);
    let (far, _) = wall(-0.5);
    let camera = looking_along_z(1.0);
    let blue = flat(Surface::new(&far[..], &triangles[..]), 0x1010E0);
    let glass = flat(Surface::new(&near[..], &triangles[..]).alpha(0.3), 0xE01010);
    let picture = render(&Scene { surfaces: vec![glass, blue], ..Scene::default() }, &camera, &small());
    let [red, _, blue] = picture.pixel(80, 80);
    assert!(blue > red && red > 60, "{red} {blue}");
}

#[test]
fn the_clip_plane_opens_the_front() {
    let (near, triangles) = wall(0.5);
    let camera = looking_along_z(1.0);
    let scene = Scene {
        surfaces: vec![flat(Surface::new(&near[..], &triangles[..]), 0xD02020)],
        clip: Some(Plane::through(Vec3::ZERO, Vec3::X)),
        ..Scene::default()
    };
    let picture = render(&scene, &camera, &small());
    assert!(!reddish(picture.pixel(70, 80)) && reddish(picture.pixel(90, 80)));
}

#[test]
fn lines_and_dots_show_in_front_and_not_behind() {
    let (near, triangles) = wall(0.0);
    let camera = looking_along_z(1.0);
    let scene = |z: f32| Scene {
        surfaces: vec![flat(Surface::new(&near[..], &triangles[..]), 0xE0E0E0)],
        lines: vec![Lines {
            segments: vec![[Vec3::new(-0.5, 0.3, z), Vec3::new(0.5, 0.3, z)]],
            width: 3.0,
            colour: Colour::hex(0xC00000),
            alpha: 1.0,
            lift: 0.0,
        }],
        dots: vec![Dots {
            points: vec![Vec3::new(0.0, -0.3, z)],
            width: 8.0,
            colour: Colour::hex(0xC00000),
            alpha: 0.9,
            lift: 0.0,
        }],
        ..Scene::default()
    };
    let count =
        |z: f32| render(&scene(z), &camera, &small()).pixels().iter().filter(|p| reddish(**p)).count();
    assert!(count(0.2) > 200 && count(-0.2) == 0);
}

#[test]
fn the_picture_is_the_same_for_any_number_of_threads() {
    let ball = shapes::ball(Vec3::Y, 0.8, 4);
    let camera = Framing::default().camera(std::iter::once(&ball.positions[..]));
    let heights: Vec<f32> = ball.positions.iter().map(|p| p.y).collect();
    let edges = triangle_edges(&ball.triangles);
    let skin = Surface::new(&ball.positions, &ball.triangles).wire(edges).quantity(
        heights,
        [0.0, 2.0],
        ColourMap::Sequential,
    );
    let veil = shapes::ball(Vec3::Y, 1.0, 3);
    let veil = Surface::new(&veil.positions, &veil.triangles).alpha(0.3);
    let scene = Scene { surfaces: vec![skin, veil], ground: Some(0.1), ..Scene::default() };
    let pictures = [1, 2, 7].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| render(&scene, &camera, &small()))
    });
    assert_eq!(pictures[0], pictures[1]);
    assert_eq!(pictures[0], pictures[2]);
}

#[test]
fn broken_geometry_draws_nothing_and_does_not_panic() {
    let positions = vec![
        Vec3::ZERO,
        Vec3::X,
        Vec3::NAN,
        Vec3::new(f32::INFINITY, 0.0, 0.0),
        Vec3::splat(1e30),
        Vec3::splat(2.0),
    ];
    let triangles = vec![[0, 1, 2], [0, 1, 3], [0, 0, 1], [0, 1, 1], [0, 1, 99], [4, 0, 1], [0, 5, 0]];
    let edges = vec![[0, 2], [1, 99], [0, 0], [3, 4]];
    let surface = Surface::new(positions, triangles).wire(edges);
    let camera = looking_along_z(1.0);
    let scene = Scene {
        surfaces: vec![
            surface,
            Surface::new(vec![], vec![[0, 1, 2]]).quantity(vec![], [0.0, 0.0], ColourMap::Sequential),
        ],
        ..Scene::default()
    };
    assert_eq!(render(&scene, &camera, &small()), render(&Scene::default(), &camera, &small()));
    let backwards = Framing { aspect: f32::NAN, margin: 7.0, ..Framing::default() }.focus(Vec3::NAN, 0.0);
    render(&Scene { ground: Some(f32::NAN), ..scene }, &backwards, &small());
}

#[test]
fn a_ball_on_the_ground_darkens_it_below_and_not_far_away() {
    let ball = shapes::ball(Vec3::Y, 1.0, 4);
    let camera = Framing { margin: 0.3, ..Framing::default() }.camera(std::iter::once(&ball.positions[..]));
    let scene = |ground| Scene {
        surfaces: vec![Surface::new(&ball.positions, &ball.triangles)],
        ground,
        ..Scene::default()
    };
    let (with, without) =
        (render(&scene(Some(0.0)), &camera, &small()), render(&scene(None), &camera, &small()));
    let ratio = |at: Vec3| {
        let p = camera.project(at, 160, 160).unwrap();
        let (x, y) = (p.x as usize, p.y as usize);
        f32::from(with.pixel(x, y)[1]) / f32::from(without.pixel(x, y)[1])
    };
    assert!(ratio(Vec3::new(0.4, 0.0, 0.65)) < 0.92, "{}", ratio(Vec3::new(0.4, 0.0, 0.65)));
    assert!(with.pixel(3, 3) == without.pixel(3, 3));
}

#[test]
fn the_top_of_a_crease_is_lighter_than_its_foot() {
    // Two walls meeting in a right angle: light reaches the corner less.
    let positions = vec![
        Vec3::new(-1.0, 0.0, 0.0),
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(1.0, 0.0, 1.0),
        Vec3::new(-1.0, 0.0, 1.0),
        Vec3::new(-1.0, 0.0, 0.0),
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(1.0, 1.0, 0.0),
        Vec3::new(-1.0, 1.0, 0.0),
    ];
    let triangles = vec![[0, 3, 2], [0, 2, 1], [4, 5, 6], [4, 6, 7]];
    let camera = Framing { view: View::From(Vec3::new(0.0, 0.6, 1.0)), ..Framing::default() }
        .camera(std::iter::once(&positions[..]));
    let surfaces = vec![Surface::new(&positions, &triangles)];
    let picture = render(&Scene { surfaces, ..Scene::default() }, &camera, &small());
    let shade = |y: f32| {
        let p = camera.project(Vec3::new(0.1, y, 0.0), 160, 160).unwrap();
        i32::from(picture.pixel(p.x as usize, p.y as usize)[1])
    };
    assert!(shade(0.8) > shade(0.06) + 4, "{} {}", shade(0.8), shade(0.06));
}

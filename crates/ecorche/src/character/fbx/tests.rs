use super::*;
use crate::character::damage::damaged;
use crate::character::raw::RawChannel;

/// Frames per second 24 and one second, in FBX ticks.
const SECOND: i64 = 46_186_158_000;

/// A whole text file; `axes` are up, front and right axis number and sign.
fn file(axes: [(i32, i32); 3], unit: f64, objects: &str, connections: &str) -> Vec<u8> {
    let mut settings = String::new();
    for (name, (axis, sign)) in ["Up", "Front", "Coord"].iter().zip(axes) {
        settings += &format!("P: \"{name}Axis\", \"int\", \"Integer\", \"\",{axis}\n");
        settings += &format!("P: \"{name}AxisSign\", \"int\", \"Integer\", \"\",{sign}\n");
    }
    format!(
        "; FBX 7.4.0 project file\nFBXHeaderExtension:  {{\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}}\n\
         GlobalSettings:  {{\nVersion: 1000\nProperties70:  {{\n{settings}\
         P: \"UnitScaleFactor\", \"double\", \"Number\", \"\",{unit}\nP: \"TimeMode\", \"enum\", \"\", \"\",11\n}}\n}}\n\
         Objects:  {{\n{objects}}}\nConnections:  {{\n{connections}}}\n"
    )
    .into_bytes()
}

const Y_UP: [(i32, i32); 3] = [(1, 1), (2, 1), (0, 1)];

fn model(id: u32, name: &str, kind: &str, properties: &str) -> String {
    format!(
        "Model: {id}, \"Model::{name}\", \"{kind}\" {{\nVersion: 232\nProperties70:  {{\n{properties}}}\n}}\n"
    )
}

fn vector(name: &str, [x, y, z]: [f64; 3]) -> String {
    format!("P: \"{name}\", \"{name}\", \"\", \"A\",{x},{y},{z}\n")
}

fn array(name: &str, values: &[f64]) -> String {
    let list: Vec<String> = values.iter().map(f64::to_string).collect();
    format!("{name}: *{} {{\na: {}\n}}\n", values.len(), list.join(","))
}

/// A quad and a triangle over five points.
fn geometry() -> String {
    let points = [0., 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0., 0., 2., 0.];
    let corners = [0., 1., 2., -4., 3., 2., -5.];
    format!(
        "Geometry: 10, \"Geometry::\", \"Mesh\" {{\n{}{}GeometryVersion: 124\n}}\n",
        array("Vertices", &points),
        array("PolygonVertexIndex", &corners)
    )
}

fn cluster(id: u32, vertices: &[f64], weights: &[f64], joint_height: f64) -> String {
    let shifted = |y: f64| [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., y, 0., 1.];
    format!(
        "Deformer: {id}, \"SubDeformer::\", \"Cluster\" {{\nVersion: 100\n{}{}{}{}}}\n",
        array("Indexes", vertices),
        array("Weights", weights),
        array("Transform", &shifted(-joint_height)),
        array("TransformLink", &shifted(joint_height))
    )
}

/// A mesh of two joints with a blend shape and a clip: the knee turns 90 degrees in a second, the
/// shape jumps from 0 to 100 percent after half a second.
fn rigged() -> (String, String) {
    let mut objects = geometry();
    objects += &model(20, "Body", "Mesh", "");
    objects += &model(21, "Hips", "LimbNode", "");
    objects += &model(22, "Knee", "LimbNode", &vector("Lcl Translation", [0.0, 1.0, 0.0]));
    objects += "Deformer: 30, \"Deformer::\", \"Skin\" {\nVersion: 101\n}\n";
    objects += &cluster(31, &[0., 1.], &[1., 1.], 0.0);
    objects += &cluster(32, &[2., 3., 99.], &[0.5, 1.0, 1.0], 1.0);
    objects += "Deformer: 50, \"Deformer::\", \"BlendShape\" {\nVersion: 100\n}\n";
    objects += &format!(
        "Deformer: 51, \"SubDeformer::smile\", \"BlendShapeChannel\" {{\nVersion: 100\nDeformPercent: 25\n{}}}\n",
        array("FullWeights", &[100.])
    );
    objects += &format!(
        "Geometry: 52, \"Geometry::smile\", \"Shape\" {{\nVersion: 100\n{}{}}}\n",
        array("Indexes", &[4.]),
        array("Vertices", &[0., 0., 3.])
    );
    objects += &format!(
        "AnimationStack: 40, \"AnimStack::Walk\", \"\" {{\nProperties70:  {{\n\
         P: \"LocalStop\", \"KTime\", \"Time\", \"\",{SECOND}\n}}\n}}\nAnimationLayer: 41, \"AnimLayer::Base\", \"\" {{\n}}\n"
    );
    objects += &curve(42, 43, "R", "X", &[(0, 0.0), (SECOND, 90.0)], 4);
    objects += &curve(44, 45, "DeformPercent", "DeformPercent", &[(0, 0.0), (SECOND / 2, 100.0)], 2);
    let mut connections = String::new();
    for (child, parent) in [
        (20, 0),
        (21, 0),
        (22, 21),
        (10, 20),
        (30, 10),
        (31, 30),
        (32, 30),
        (21, 31),
        (22, 32),
        (50, 10),
        (51, 50),
        (52, 51),
        (41, 40),
        (42, 41),
        (44, 41),
    ] {
        connections += &format!("C: \"OO\",{child},{parent}\n");
    }
    connections += "C: \"OP\",42,22,\"Lcl Rotation\"\nC: \"OP\",43,42,\"d|X\"\n";
    connections += "C: \"OP\",44,51,\"DeformPercent\"\nC: \"OP\",45,44,\"d|DeformPercent\"\n";
    (objects, connections)
}

fn curve(node: u32, curve: u32, name: &str, axis: &str, keys: &[(i64, f64)], flags: i32) -> String {
    let times: Vec<String> = keys.iter().map(|k| k.0.to_string()).collect();
    let values: Vec<f64> = keys.iter().map(|k| k.1).collect();
    format!(
        "AnimationCurveNode: {node}, \"AnimCurveNode::{name}\", \"\" {{\nProperties70:  {{\n\
         P: \"d|{axis}\", \"Number\", \"\", \"A\",0\n}}\n}}\n\
         AnimationCurve: {curve}, \"AnimCurve::\", \"\" {{\nDefault: 0\nKeyVer: 4008\nKeyTime: *{} {{\na: {}\n}}\n{}\
         KeyAttrFlags: *1 {{\na: {flags}\n}}\n{}KeyAttrRefCount: *1 {{\na: {}\n}}\n}}\n",
        times.len(),
        times.join(","),
        array("KeyValueFloat", &values),
        array("KeyAttrDataFloat", &[0.0; 4]),
        times.len()
    )
}

fn parse(bytes: &[u8]) -> RawCharacter {
    read_bytes(bytes, None, Path::new("test.fbx")).unwrap()
}

fn rigged_character() -> RawCharacter {
    let (objects, connections) = rigged();
    parse(&file(Y_UP, 1.0, &objects, &connections))
}

#[test]
fn polygons_and_vertices_stay_as_they_are() {
    let raw = rigged_character();
    let mesh = &raw.meshes[0];
    assert_eq!(mesh.name, "Body");
    assert_eq!(mesh.positions.len(), 5);
    assert_eq!(mesh.face_sizes, [4, 3]);
    assert_eq!(mesh.corners, [0, 1, 2, 3, 3, 2, 4]);
}

#[test]
fn clusters_become_joints_with_their_bind_matrices() {
    let raw = rigged_character();
    let skin = raw.meshes[0].skin.as_ref().unwrap();
    let names: Vec<&str> = skin.joints.iter().map(|&j| raw.nodes[j].name.as_str()).collect();
    assert_eq!(names, ["Hips", "Knee", "Body"]);
    // A point at the knee's height is the knee's origin.
    assert!(skin.joint_from_mesh[1].transform_point3(Vec3::Y).length() < 1e-6);
    assert!(skin.influences.contains(&(2, 1, 0.5)));
}

#[test]
fn vertices_without_weights_follow_the_meshs_node() {
    let raw = rigged_character();
    let skin = raw.meshes[0].skin.as_ref().unwrap();
    assert!(skin.influences.contains(&(4, 2, 1.0)));
    assert!(raw.repairs.iter().any(|r| r.problem.contains("no weights")), "{:?}", raw.repairs);
}

#[test]
fn blend_shapes_keep_offsets_and_weight() {
    let raw = rigged_character();
    let morph = &raw.meshes[0].morphs[0];
    assert_eq!((morph.name.as_str(), morph.weight), ("smile", 0.25));
    assert_eq!(morph.offsets, [(4, Vec3::Z * 3.0)]);
}

#[test]
fn a_clip_turns_and_steps_as_keyed() {
    let raw = rigged_character();
    let clip = &raw.clips[0];
    assert_eq!((clip.name.as_str(), clip.fps, clip.range), ("Walk", Some(24.0), Some((0.0, 1.0))));
    let mut seen = (false, false);
    for track in &clip.tracks {
        assert!(track.times.is_sorted_by(|a, b| a < b));
        match &track.channel {
            RawChannel::Rotation(node, values) if raw.nodes[*node].name == "Knee" => {
                let half = track.times.iter().position(|&t| (t - 0.5).abs() < 1e-6).unwrap();
                assert!(values[half].angle_between(Quat::from_rotation_x(45f32.to_radians())) < 1e-3);
                seen.0 = true;
            }
            RawChannel::Morph(0, 0, values) => {
                // The step takes one unit in the last place of time.
                let jump = values.windows(2).position(|w| w[0] < 0.5 && w[1] > 0.5).unwrap();
                assert_eq!((values[jump], values[jump + 1], track.times[jump + 1]), (0.0, 1.0, 0.5));
                assert_eq!(track.times[jump], 0.5f32.next_down());
                seen.1 = true;
            }
            _ => {}
        }
    }
    assert_eq!(seen, (true, true));
}

#[test]
fn units_and_axes_are_the_files() {
    let body = model(20, "Body", "Null", "");
    let connect = "C: \"OO\",20,0\n";
    // 3ds Max: Z up, front -Y; inches.
    let max = parse(&file([(2, 1), (1, -1), (0, 1)], 2.54, &body, connect));
    assert_eq!(max.world.up_name(), "Z");
    assert!((max.world.metres_per_unit - 0.0254).abs() < 1e-6);
    assert!(!max.world.is_mirrored());
    assert_eq!(max.world.axes, World::z_up(1.0).axes);
    // Left-handed: right, up and away.
    let left = parse(&file([(1, 1), (2, -1), (0, 1)], 100.0, &body, connect));
    assert!(left.world.is_mirrored());
    assert_eq!(left.world.metres_per_unit, 1.0);
    // Nonsense: all three along Y.
    let nonsense = parse(&file([(1, 1), (1, 1), (1, 1)], 0.0, &body, connect));
    assert_eq!(nonsense.world, World::y_up(0.01));
}

/// World matrices of our nodes, composed plainly.
fn worlds(raw: &RawCharacter) -> Vec<glam::Affine3A> {
    let mut worlds: Vec<glam::Affine3A> = Vec::new();
    for node in &raw.nodes {
        let local = node.local.to_affine();
        worlds.push(node.parent.map_or(local, |p| worlds[p] * local));
    }
    worlds
}

#[test]
fn pivots_geometric_transforms_and_uninherited_scale_become_plain_nodes() {
    let mut objects = geometry();
    let pivoted = vector("Lcl Rotation", [0., 0., 90.])
        + &vector("RotationPivot", [1., 0., 0.])
        + &vector("Lcl Scaling", [1., 2., 1.]);
    objects += &model(20, "Body", "Mesh", &(pivoted + &vector("GeometricTranslation", [0., 0., 5.])));
    // Does not inherit its parent's scale.
    let child = vector("Lcl Translation", [0., 1., 0.]) + "P: \"InheritType\", \"enum\", \"\", \"\",2\n";
    objects += &model(21, "Child", "LimbNode", &child);
    let bytes = file(Y_UP, 1.0, &objects, "C: \"OO\",20,0\nC: \"OO\",21,20\nC: \"OO\",10,20\n");
    let raw = parse(&bytes);
    let scene = ufbx::load_memory(&bytes, ufbx::LoadOpts::default()).ok().unwrap();
    let worlds = worlds(&raw);
    let carrier = raw.meshes[0].node.unwrap();
    assert_eq!(raw.nodes[carrier].name, "Body (geometry)");
    assert_eq!(raw.meshes[0].name, "Body");
    let node = |name: &str| scene.nodes.iter().find(|n| &*n.element.name == name).unwrap();
    let body = glam::Affine3A::from_mat4(matrix(&node("Body").geometry_to_world));
    assert!(worlds[carrier].abs_diff_eq(body, 1e-5), "{:?} {body:?}", worlds[carrier]);
    let child = glam::Affine3A::from_mat4(matrix(&node("Child").node_to_world));
    let index = raw.nodes.iter().position(|n| n.name == "Child").unwrap();
    assert!(worlds[index].abs_diff_eq(child, 1e-5), "{:?} {child:?}", worlds[index]);
}

#[test]
fn two_nodes_showing_one_mesh_give_two() {
    let objects = geometry() + &model(20, "a", "Mesh", "") + &model(21, "b", "Mesh", "");
    let raw = parse(&file(
        Y_UP,
        1.0,
        &objects,
        "C: \"OO\",20,0\nC: \"OO\",21,0\nC: \"OO\",10,20\nC: \"OO\",10,21\n",
    ));
    assert_eq!(raw.meshes.iter().map(|m| m.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn errors_name_the_file_and_the_remedy() {
    let cases: [(&[u8], &str); 3] = [
        (b"", "it is empty"),
        (b"v 0 0 0\nf 1 1 1\n", "test.fbx"),
        (b"Kaydara FBX Binary  \0\x1a\0\xe8\x1c\0\0", "again"),
    ];
    for (bytes, expected) in cases {
        let error = read_bytes(bytes, None, Path::new("test.fbx")).unwrap_err().to_string();
        assert!(error.starts_with("test.fbx: ") && error.contains(expected), "{error}");
    }
}

#[test]
fn damaged_files_never_panic() {
    let (objects, connections) = rigged();
    let sound = file(Y_UP, 1.0, &objects, &connections);
    arbtest::arbtest(|u| {
        let bytes = damaged(u, &sound, &["0", "98", "-", ",", "*", "{", "}", "\"", "e", ".", "\n"])?;
        let _ = read_bytes(&bytes, None, Path::new("fuzz.fbx"));
        Ok(())
    });
}

#[test]
fn a_chain_of_twenty_thousand_nodes_needs_no_stack() {
    let count = 20_000;
    let objects: String = (1..=count).map(|id| model(id, "n", "Null", "")).collect();
    let connections: String = (1..=count).map(|id| format!("C: \"OO\",{id},{}\n", id - 1)).collect();
    let raw = parse(&file(Y_UP, 1.0, &objects, &connections));
    assert_eq!(raw.nodes.len(), count as usize);
    assert!(raw.nodes.iter().enumerate().all(|(i, n)| n.parent == i.checked_sub(1)));
}

#[test]
fn nodes_that_are_their_own_ancestors_do_not_hang() {
    let objects = model(1, "a", "Null", "") + &model(2, "b", "Null", "") + &model(3, "c", "Null", "");
    let bytes = file(Y_UP, 1.0, &objects, "C: \"OO\",1,2\nC: \"OO\",2,1\nC: \"OO\",3,0\n");
    // An error or a repaired hierarchy, both are fine.
    if let Ok(raw) = read_bytes(&bytes, None, Path::new("test.fbx")) {
        assert!(raw.nodes.iter().any(|n| n.name == "c"));
    }
}

#[test]
fn keys_centuries_apart_stay_within_memory() {
    let (objects, connections) = rigged();
    let far = objects
        .replace(&format!("a: 0,{SECOND}\n"), "a: 0,9000000000000000000\n")
        .replace("a: 4\n", "a: 8\n");
    assert_ne!(far, objects);
    let raw = parse(&file(Y_UP, 1.0, &far, &connections));
    let keys: usize = raw.clips.iter().flat_map(|c| &c.tracks).map(|t| t.times.len()).sum();
    assert!(keys < 20_000, "{keys}");
}

#[test]
fn a_file_cut_between_its_sections_is_called_cut_and_not_empty() {
    let whole = file(Y_UP, 1.0, &model(1, "a", "LimbNode", ""), "C: \"OO\",1,0\n");
    assert!(read_bytes(&whole, None, Path::new("a.fbx")).is_ok());
    let text = String::from_utf8(whole).unwrap();
    for section in ["Objects", "Connections"] {
        let cut = &text.as_bytes()[..text.find(&format!("{section}:")).unwrap()];
        let message = read_bytes(cut, None, Path::new("a.fbx")).unwrap_err().to_string();
        assert!(message.contains("it ends before") && message.contains("download it again"), "{message}");
    }
}

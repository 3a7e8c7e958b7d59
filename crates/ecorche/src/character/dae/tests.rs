//! Whole small documents.

use super::*;
use crate::character::Interpolation;
use crate::character::damage::damaged;
use crate::character::raw::{RawChannel, RawTrack};
use glam::{Mat4, Quat, Vec3};

/// A square on two joints with a morph, a clip, curves of every kind.
const ARM: &str = r##"<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit meter="0.0254" name="inch"/><up_axis>Z_UP</up_axis></asset>
  <library_materials><material id="skin-mat" name="Skin"/></library_materials>
  <library_geometries>
    <geometry id="square" name="Square"><mesh>
      <source id="pos"><float_array id="pos-a" count="12">0 0 0  1 0 0  1 1 0  0 1 0</float_array>
        <technique_common><accessor source="#pos-a" count="4" stride="3">
          <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
        </accessor></technique_common></source>
      <source id="nor"><float_array id="nor-a" count="3">0 0 1</float_array>
        <technique_common><accessor source="#nor-a" count="1" stride="3"/></technique_common></source>
      <source id="uv"><float_array id="uv-a" count="8">0 0 1 0 1 1 0 1</float_array>
        <technique_common><accessor source="#uv-a" count="4" stride="2"/></technique_common></source>
      <vertices id="ver"><input semantic="POSITION" source="#pos"/></vertices>
      <polylist count="2" material="sym">
        <input semantic="VERTEX" source="#ver" offset="0"/>
        <input semantic="NORMAL" source="#nor" offset="1"/>
        <input semantic="TEXCOORD" source="#uv" offset="2" set="0"/>
        <vcount>3 3</vcount><p>0 0 0 1 0 1 2 0 2  0 0 0 2 0 2 3 0 3</p>
      </polylist>
    </mesh></geometry>
    <geometry id="raised" name="Raised"><mesh>
      <source id="pos2"><float_array id="pos2-a" count="12">0 0 0  1 0 0  1 1 5  0 1 0</float_array>
        <technique_common><accessor source="#pos2-a" count="4" stride="3"/></technique_common></source>
      <vertices id="ver2"><input semantic="POSITION" source="#pos2"/></vertices>
    </mesh></geometry>
  </library_geometries>
  <library_controllers>
    <controller id="morph"><morph source="#square" method="NORMALIZED">
      <source id="targets"><IDREF_array id="targets-a" count="1">raised</IDREF_array></source>
      <source id="weights"><float_array id="weights-a" count="1">0.25</float_array>
        <technique_common><accessor source="#weights-a" count="1" stride="1"/></technique_common></source>
      <targets><input semantic="MORPH_TARGET" source="#targets"/>
        <input semantic="MORPH_WEIGHT" source="#weights"/></targets>
    </morph></controller>
    <controller id="skin"><skin source="#morph">
      <bind_shape_matrix>1 0 0 10 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix>
      <source id="jn"><Name_array id="jn-a" count="2">hip knee</Name_array></source>
      <source id="ib"><float_array id="ib-a" count="32">1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1
          1 0 0 -3 0 1 0 0 0 0 1 0 0 0 0 1</float_array>
        <technique_common><accessor source="#ib-a" count="2" stride="16"/></technique_common></source>
      <source id="w"><float_array id="w-a" count="2">1 0.5</float_array>
        <technique_common><accessor source="#w-a" count="2" stride="1"/></technique_common></source>
      <joints><input semantic="JOINT" source="#jn"/><input semantic="INV_BIND_MATRIX" source="#ib"/></joints>
      <vertex_weights count="4"><input semantic="JOINT" source="#jn" offset="0"/>
        <input semantic="WEIGHT" source="#w" offset="1"/>
        <vcount>1 2 1 1</vcount><v>0 0  0 1 1 1  1 0  -1 0</v></vertex_weights>
    </skin></controller>
  </library_controllers>
  <library_visual_scenes><visual_scene id="scene">
    <node id="n-hip" name="Hip" sid="hip" type="JOINT"><translate sid="t">1 2 3</translate>
      <rotate sid="rz">0 0 1 0</rotate><rotate sid="rx">1 0 0 90</rotate>
      <node id="n-knee" name="Knee" sid="knee" type="JOINT">
        <matrix sid="m">1 0 0 3 0 1 0 0 0 0 1 0 0 0 0 1</matrix></node></node>
    <node id="n-mesh" name="Body"><instance_controller url="#skin"><skeleton>#n-hip</skeleton>
      <bind_material><technique_common><instance_material symbol="sym" target="#skin-mat"/></technique_common></bind_material>
    </instance_controller></node>
  </visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#scene"/></scene>
  <library_animations><animation id="all">
    <animation id="turn">
      <source id="ti"><float_array id="ti-a" count="2">0 1</float_array>
        <technique_common><accessor source="#ti-a" count="2" stride="1"/></technique_common></source>
      <source id="to"><float_array id="to-a" count="2">0 90</float_array>
        <technique_common><accessor source="#to-a" count="2" stride="1"/></technique_common></source>
      <source id="tn"><Name_array id="tn-a" count="2">LINEAR LINEAR</Name_array></source>
      <sampler id="ts"><input semantic="INPUT" source="#ti"/><input semantic="OUTPUT" source="#to"/>
        <input semantic="INTERPOLATION" source="#tn"/></sampler>
      <channel source="#ts" target="n-hip/rz.ANGLE"/><channel source="#ts" target="nobody/rz.ANGLE"/>
    </animation>
    <animation id="slide">
      <source id="sn"><Name_array id="sn-a" count="2">STEP STEP</Name_array></source>
      <sampler id="ss"><input semantic="INPUT" source="#ti"/><input semantic="OUTPUT" source="#to"/>
        <input semantic="INTERPOLATION" source="#sn"/></sampler>
      <channel source="#ss" target="n-knee/m(0)(3)"/><channel source="#ss" target="weights(0)"/>
    </animation>
  </animation></library_animations>
  <library_animation_clips><animation_clip id="c" name="Wave" start="0.25" end="1">
    <instance_animation url="#all"/></animation_clip></library_animation_clips>
</COLLADA>"##;

fn arm() -> RawCharacter {
    read_bytes(ARM.as_bytes(), None, Path::new("arm.dae")).unwrap()
}

fn track(raw: &RawCharacter, wanted: impl Fn(&RawChannel) -> bool) -> &RawTrack {
    raw.clips[0].tracks.iter().find(|t| wanted(&t.channel)).unwrap()
}

#[test]
fn a_whole_character_is_read() {
    let raw = arm();
    assert_eq!((raw.world.up_name(), raw.world.metres_per_unit), ("Z", 0.0254));
    let names: Vec<&str> = raw.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["Hip", "Knee", "Body", "bind shape"]);
    assert_eq!(raw.nodes[1].parent, Some(0));
    let turned = raw.nodes[0].local.rotation * Vec3::Y;
    assert!(turned.distance(Vec3::Z) < 1e-5);
    let mesh = &raw.meshes[0];
    assert_eq!((mesh.name.as_str(), mesh.positions.len(), mesh.corners.len()), ("Square", 4, 6));
    assert_eq!((&mesh.face_sizes[..], &mesh.corners[3..]), (&[3, 3][..], &[0, 2, 3][..]));
    assert_eq!(mesh.corner_normals, [Vec3::Z; 6]);
    assert_eq!(mesh.corner_uvs[5], glam::Vec2::Y);
    assert_eq!(mesh.materials, ["Skin"]);
    assert_eq!(mesh.morphs[0].offsets, [(2, Vec3::Z * 5.0)]);
    assert_eq!((mesh.morphs[0].name.as_str(), mesh.morphs[0].weight), ("Raised", 0.25));
}

#[test]
fn skins_carry_bind_shape_and_the_joint_that_is_none() {
    let raw = arm();
    let skin = raw.meshes[0].skin.as_ref().unwrap();
    assert_eq!(skin.joints, [0, 1, 3]);
    // Bind shape moves by 10, the knee's inverse bind back by 3.
    assert_eq!(skin.joint_from_mesh[1], Mat4::from_translation(Vec3::X * 7.0));
    assert_eq!(skin.influences, [(0, 0, 1.0), (1, 0, 0.5), (1, 1, 0.5), (2, 1, 1.0), (3, 2, 1.0)]);
}

#[test]
fn single_angles_and_matrix_entries_become_tracks() {
    let raw = arm();
    let clip = &raw.clips[0];
    assert_eq!((clip.name.as_str(), clip.range), ("Wave", Some((0.25, 1.0))));
    let turn = track(&raw, |c| matches!(c, RawChannel::Rotation(0, _)));
    let RawChannel::Rotation(_, values) = &turn.channel else { unreachable!("just matched") };
    let end = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2)
        * Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    assert!(values.last().unwrap().dot(end).abs() > 1.0 - 1e-5);
    let slide = track(&raw, |c| matches!(c, RawChannel::Translation(1, _)));
    let RawChannel::Translation(_, values) = &slide.channel else { unreachable!("just matched") };
    assert_eq!(
        (slide.interpolation, values.as_slice()),
        (Interpolation::Step, &[Vec3::ZERO, Vec3::X * 90.0][..])
    );
    let weight = track(&raw, |c| matches!(c, RawChannel::Morph(0, 0, _)));
    assert_eq!(weight.times, [0.0, 1.0]);
    assert!(raw.repairs.iter().any(|r| r.problem.contains("drive nothing")));
}

#[test]
fn an_instance_that_contains_itself_is_refused() {
    let text = r##"<COLLADA><library_visual_scenes><visual_scene><node id="a"><instance_node url="#a"/></node>
        </visual_scene></library_visual_scenes></COLLADA>"##;
    let error = read_bytes(text.as_bytes(), None, Path::new("loop.dae")).unwrap_err();
    assert!(error.to_string().contains("instance_node"), "{error}");
}

#[test]
fn sixty_thousand_nested_nodes_need_no_stack() {
    let depth = 60_000;
    let text = format!(
        "<COLLADA><library_visual_scenes><visual_scene>{}{}</visual_scene></library_visual_scenes></COLLADA>",
        "<node>".repeat(depth),
        "</node>".repeat(depth)
    );
    assert_eq!(read_bytes(text.as_bytes(), None, Path::new("deep.dae")).unwrap().nodes.len(), depth);
}

#[test]
fn entities_that_multiply_are_refused() {
    let mut text = String::from("<!DOCTYPE c [<!ENTITY a0 \"ha\">");
    for i in 1..40 {
        text += &format!("<!ENTITY a{i} \"&a{};&a{};\">", i - 1, i - 1);
    }
    text += "]><COLLADA>&a39;</COLLADA>";
    assert!(read_bytes(text.as_bytes(), None, Path::new("bomb.dae")).is_err());
}

#[test]
fn damaged_files_never_panic() {
    arbtest::arbtest(|u| {
        let bytes = damaged(u, ARM.as_bytes(), &["-1", "99999999999", "nan", "1e300", "4294967296"])?;
        let _ = read_bytes(&bytes, None, Path::new("damaged.dae"));
        Ok(())
    })
    .budget_ms(800);
}

use super::*;
use crate::character::Joint;
use crate::math::Transform;
use glam::Vec3;

/// `name` or `name<parent`, parents first; without a parent the joint hangs on the one before.
fn skeleton(text: &str) -> Skeleton {
    let mut joints: Vec<Joint> = Vec::new();
    for entry in text.split(',') {
        let (name, parent) = entry.trim().split_once('<').unwrap_or((entry.trim(), ""));
        let parent = match parent {
            "" => joints.len().checked_sub(1),
            parent => joints.iter().position(|j| j.name == parent),
        };
        joints.push(Joint { name: name.to_owned(), parent, rest: Transform::IDENTITY, in_skin: true });
    }
    Skeleton { joints }
}

/// VRM name of each recognised joint.
fn found(text: &str) -> Vec<(String, String)> {
    let skeleton = skeleton(text);
    let bones = recognise(&skeleton);
    skeleton.joints.iter().zip(bones).filter_map(|(j, b)| Some((j.name.clone(), b?.name()))).collect()
}

fn assert_found(text: &str, expected: &[(&str, &str)]) {
    let found = found(text);
    let expected: Vec<(String, String)> =
        expected.iter().map(|(joint, bone)| ((*joint).to_owned(), (*bone).to_owned())).collect();
    for pair in &expected {
        assert!(found.contains(pair), "{pair:?} missing in {found:?}");
    }
    assert_eq!(found.len(), expected.len(), "{found:?}");
}

#[test]
fn mixamo_with_and_without_namespace() {
    for prefix in ["mixamorig:", "", "mixamorig", "Armature|mixamorig5:"] {
        let names = "Hips,Spine,Spine1,Spine2,Neck,Head,HeadTop_End,LeftShoulder<Spine2,LeftArm,LeftForeArm,LeftHand,\
                     LeftHandThumb1,LeftHandThumb2,LeftHandThumb3,LeftHandThumb4,RightUpLeg<Hips,RightLeg,RightFoot,\
                     RightToeBase,RightToe_End";
        let text = names.replace(',', &format!(",{prefix}")).replace('<', &format!("<{prefix}"));
        let bones: Vec<String> =
            found(&format!("{prefix}{text}")).into_iter().map(|(_, bone)| bone).collect();
        assert_eq!(
            bones,
            [
                "hips",
                "spine",
                "chest",
                "upperChest",
                "neck",
                "head",
                "leftShoulder",
                "leftUpperArm",
                "leftLowerArm",
                "leftHand",
                "leftThumbMetacarpal",
                "leftThumbProximal",
                "leftThumbDistal",
                "rightUpperLeg",
                "rightLowerLeg",
                "rightFoot",
                "rightToes"
            ],
            "{prefix}"
        );
    }
}

#[test]
fn unreal_skips_twist_bones_and_metacarpals() {
    assert_found(
        "root,pelvis,spine_01,spine_02,spine_03,neck_01,head,clavicle_l<spine_03,upperarm_l,upperarm_twist_01_l<upperarm_l,\
         lowerarm_l<upperarm_l,hand_l,index_metacarpal_l,index_01_l,index_02_l,index_03_l,thigh_r<pelvis,calf_r,foot_r,ball_r",
        &[
            ("pelvis", "hips"),
            ("spine_01", "spine"),
            ("spine_02", "chest"),
            ("spine_03", "upperChest"),
            ("neck_01", "neck"),
            ("head", "head"),
            ("clavicle_l", "leftShoulder"),
            ("upperarm_l", "leftUpperArm"),
            ("lowerarm_l", "leftLowerArm"),
            ("hand_l", "leftHand"),
            ("index_01_l", "leftIndexProximal"),
            ("index_02_l", "leftIndexIntermediate"),
            ("index_03_l", "leftIndexDistal"),
            ("thigh_r", "rightUpperLeg"),
            ("calf_r", "rightLowerLeg"),
            ("foot_r", "rightFoot"),
            ("ball_r", "rightToes"),
        ],
    );
}

#[test]
fn rigify_tells_hips_and_head_by_their_place() {
    assert_found(
        "DEF-spine,DEF-spine.001,DEF-spine.002,DEF-spine.003,DEF-spine.004,DEF-spine.005,DEF-spine.006,\
         DEF-shoulder.L<DEF-spine.003,DEF-upper_arm.L,DEF-shoulder.R<DEF-spine.003,DEF-upper_arm.R,\
         DEF-thigh.L<DEF-spine,DEF-shin.L,DEF-thigh.R<DEF-spine,DEF-shin.R,DEF-f_pinky.01.R<DEF-upper_arm.R",
        &[
            ("DEF-spine", "hips"),
            ("DEF-spine.001", "spine"),
            ("DEF-spine.002", "chest"),
            ("DEF-spine.003", "upperChest"),
            ("DEF-spine.004", "neck"),
            ("DEF-spine.006", "head"),
            ("DEF-shoulder.L", "leftShoulder"),
            ("DEF-upper_arm.L", "leftUpperArm"),
            ("DEF-shoulder.R", "rightShoulder"),
            ("DEF-upper_arm.R", "rightUpperArm"),
            ("DEF-thigh.L", "leftUpperLeg"),
            ("DEF-shin.L", "leftLowerLeg"),
            ("DEF-thigh.R", "rightUpperLeg"),
            ("DEF-shin.R", "rightLowerLeg"),
            ("DEF-f_pinky.01.R", "rightLittleProximal"),
        ],
    );
}

#[test]
fn makehumans_doubled_bones_give_their_first() {
    assert_found(
        "root,spine05,spine04,spine03,spine02,spine01,neck01,neck02,head,jaw,eye.L<head,clavicle.L<spine01,shoulder01.L,\
         upperarm01.L,upperarm02.L,lowerarm01.L,lowerarm02.L,wrist.L,metacarpal1.L,finger1-1.L<wrist.L,finger1-2.L,\
         finger5-1.L<wrist.L,pelvis.L<root,upperleg01.L,upperleg02.L,lowerleg01.L,foot.L,toe1-1.L,\
         pelvis.R<root,upperleg01.R",
        &[
            ("root", "hips"),
            ("spine05", "spine"),
            ("spine03", "chest"),
            ("spine01", "upperChest"),
            ("neck01", "neck"),
            ("head", "head"),
            ("jaw", "jaw"),
            ("eye.L", "leftEye"),
            ("clavicle.L", "leftShoulder"),
            ("upperarm01.L", "leftUpperArm"),
            ("lowerarm01.L", "leftLowerArm"),
            ("wrist.L", "leftHand"),
            ("finger1-1.L", "leftThumbMetacarpal"),
            ("finger1-2.L", "leftThumbProximal"),
            ("finger5-1.L", "leftLittleProximal"),
            ("upperleg01.L", "leftUpperLeg"),
            ("lowerleg01.L", "leftLowerLeg"),
            ("foot.L", "leftFoot"),
            ("toe1-1.L", "leftToes"),
            ("upperleg01.R", "rightUpperLeg"),
        ],
    );
}

#[test]
fn biped_counts_fingers_from_the_thumb() {
    assert_found(
        "Bip01,Bip01 Pelvis,Bip01 Spine,Bip01 Spine1,Bip01 Neck,Bip01 Head,Bip01 HeadNub,Bip01 L Clavicle<Bip01 Neck,\
         Bip01 L UpperArm,Bip01 L Forearm,Bip01 L Hand,Bip01 L Finger0,Bip01 L Finger01,Bip01 L Finger1<Bip01 L Hand,\
         Bip01 L Finger11,Bip01 R Thigh<Bip01 Pelvis,Bip01 R Calf,Bip01 R Foot,Bip01 R Toe0,Bip01 R Toe0Nub",
        &[
            ("Bip01 Pelvis", "hips"),
            ("Bip01 Spine", "spine"),
            ("Bip01 Spine1", "chest"),
            ("Bip01 Neck", "neck"),
            ("Bip01 Head", "head"),
            ("Bip01 L Clavicle", "leftShoulder"),
            ("Bip01 L UpperArm", "leftUpperArm"),
            ("Bip01 L Forearm", "leftLowerArm"),
            ("Bip01 L Hand", "leftHand"),
            ("Bip01 L Finger0", "leftThumbMetacarpal"),
            ("Bip01 L Finger01", "leftThumbProximal"),
            ("Bip01 L Finger1", "leftIndexProximal"),
            ("Bip01 L Finger11", "leftIndexIntermediate"),
            ("Bip01 R Thigh", "rightUpperLeg"),
            ("Bip01 R Calf", "rightLowerLeg"),
            ("Bip01 R Foot", "rightFoot"),
            ("Bip01 R Toe0", "rightToes"),
        ],
    );
}

#[test]
fn cmu_hip_joints_are_not_legs() {
    assert_found(
        "Hips,LHipJoint,LeftUpLeg,LeftLeg,LeftFoot,LeftToeBase,LowerBack<Hips,Spine,Spine1,Neck,Neck1,Head,\
         LeftShoulder<Spine1,LeftArm,LeftForeArm,LeftHand,LeftFingerBase,LeftHandIndex1,LThumb<LeftHand",
        &[
            ("Hips", "hips"),
            ("LeftUpLeg", "leftUpperLeg"),
            ("LeftLeg", "leftLowerLeg"),
            ("LeftFoot", "leftFoot"),
            ("LeftToeBase", "leftToes"),
            ("LowerBack", "spine"),
            ("Spine", "chest"),
            ("Spine1", "upperChest"),
            ("Neck", "neck"),
            ("Head", "head"),
            ("LeftShoulder", "leftShoulder"),
            ("LeftArm", "leftUpperArm"),
            ("LeftForeArm", "leftLowerArm"),
            ("LeftHand", "leftHand"),
            ("LeftHandIndex1", "leftIndexProximal"),
            ("LThumb", "leftThumbMetacarpal"),
        ],
    );
}

#[test]
fn limbs_named_alike_are_dealt_out_along_the_hierarchy() {
    assert_found(
        "Skeleton_torso_joint_1,Skeleton_torso_joint_2,torso_joint_3,Skeleton_neck_joint_1,Skeleton_neck_joint_2,\
         Skeleton_arm_joint_L__4_<torso_joint_3,Skeleton_arm_joint_L__3_,Skeleton_arm_joint_L__2_,\
         Skeleton_arm_joint_R<torso_joint_3,leg_joint_L_1<Skeleton_torso_joint_1,leg_joint_L_2,leg_joint_L_3,leg_joint_L_5,\
         leg_joint_R_1<Skeleton_torso_joint_1",
        &[
            ("Skeleton_torso_joint_1", "hips"),
            ("Skeleton_torso_joint_2", "spine"),
            ("torso_joint_3", "chest"),
            ("Skeleton_neck_joint_1", "neck"),
            ("Skeleton_neck_joint_2", "head"),
            ("Skeleton_arm_joint_L__4_", "leftUpperArm"),
            ("Skeleton_arm_joint_L__3_", "leftLowerArm"),
            ("Skeleton_arm_joint_L__2_", "leftHand"),
            ("Skeleton_arm_joint_R", "rightUpperArm"),
            ("leg_joint_L_1", "leftUpperLeg"),
            ("leg_joint_L_2", "leftLowerLeg"),
            ("leg_joint_L_3", "leftFoot"),
            ("leg_joint_L_5", "leftToes"),
            ("leg_joint_R_1", "rightUpperLeg"),
        ],
    );
}

#[test]
fn mesh_nodes_named_like_limbs_do_not_take_their_place() {
    let mut skeleton = skeleton(
        "Hips,UpperArm.L,Arm.L,LowerArm.L<UpperArm.L,Palm.L,Hand.L,UpperLeg.L<Hips,Leg.L,LowerLeg.L<UpperLeg.L,Foot.L<Hips",
    );
    let mesh_nodes = ["Arm.L", "Hand.L", "Leg.L"];
    for joint in &mut skeleton.joints {
        joint.in_skin = !mesh_nodes.contains(&joint.name.as_str());
    }
    let bones = recognise(&skeleton);
    for (joint, bone) in skeleton.joints.iter().zip(bones) {
        assert_eq!(bone.is_none(), mesh_nodes.contains(&joint.name.as_str()), "{} {bone:?}", joint.name);
    }
}

#[test]
fn controls_and_quadrupeds_are_left_alone() {
    assert_found("elbowIK.l,control-foot-roll.l,handslot.l,PoleTarget.L,IK-toe.l", &[]);
    assert_found("BackUpLeg.L,BackLowLeg.L,FrontUpLeg.L,Tail1", &[]);
}

#[test]
fn every_vrm_name_is_its_own_bone() {
    let back = [Part::Hips, Part::Spine, Part::Chest, Part::UpperChest, Part::Neck, Part::Head, Part::Jaw];
    let mut names: Vec<String> = back.map(|part| HumanoidBone::centre(part).name()).to_vec();
    for side in [Side::Left, Side::Right] {
        let limbs = [
            Part::Eye,
            Part::Shoulder,
            Part::UpperArm,
            Part::LowerArm,
            Part::Hand,
            Part::UpperLeg,
            Part::LowerLeg,
            Part::Foot,
            Part::Toes,
        ];
        names.extend(limbs.map(|part| HumanoidBone { part, side }.name()));
        for finger in [Finger::Thumb, Finger::Index, Finger::Middle, Finger::Ring, Finger::Little] {
            names.extend([0, 1, 2].map(|n| HumanoidBone { part: Part::Finger(finger, n), side }.name()));
        }
    }
    let recognised = found(&names.join(","));
    // As many as VRM 1.0 lists.
    assert_eq!(recognised.len(), 55);
    for (joint, bone) in recognised {
        assert_eq!(joint, bone);
    }
}

/// A standing figure whose joints have no telling names.
fn nameless(facing_down: bool) -> Skeleton {
    let mut skeleton =
        skeleton("j0,j1,j2,j3,j4,j5<j3,j6,j7,j8,j9<j3,j10,j11,j12,j13<j0,j14,j15,j16,j17<j0,j18,j19,j20");
    let arm =
        |x: f32| [Vec3::new(0.05 * x, 0.1, 0.0), Vec3::X * 0.15 * x, Vec3::X * 0.3 * x, Vec3::X * 0.25 * x];
    let leg = |x: f32| [Vec3::new(0.1 * x, 0.0, 0.0), Vec3::Y * -0.45, Vec3::Y * -0.45, Vec3::Z * 0.15];
    let up = if facing_down { Vec3::Z } else { Vec3::Y };
    let mut offsets = vec![Vec3::Y, up * 0.15, up * 0.15, up * 0.15, up * 0.2];
    offsets.extend(arm(1.0).into_iter().chain(arm(-1.0)).chain(leg(1.0)).chain(leg(-1.0)));
    for (joint, offset) in skeleton.joints.iter_mut().zip(offsets) {
        joint.rest.translation = offset;
    }
    skeleton
}

#[test]
fn a_human_without_names_is_known_by_its_shape() {
    let bones: Vec<String> = recognise(&nameless(false))
        .into_iter()
        .map(|b| b.map_or_else(String::new, HumanoidBone::name))
        .collect();
    assert_eq!(bones[..5], ["hips", "spine", "chest", "upperChest", "head"]);
    assert_eq!(bones[5..9], ["leftShoulder", "leftUpperArm", "leftLowerArm", "leftHand"]);
    assert_eq!(bones[9], "rightShoulder");
    assert_eq!(bones[13..17], ["leftUpperLeg", "leftLowerLeg", "leftFoot", "leftToes"]);
    assert_eq!(bones[17], "rightUpperLeg");
}

#[test]
fn a_level_back_is_no_humans() {
    assert!(recognise(&nameless(true)).iter().all(Option::is_none));
}

//! Reading joint names.

use super::{Finger, HumanoidBone, Part, Side};
use crate::character::Skeleton;
use std::collections::BTreeMap;

/// Words that only say "this is a joint of a rig".
const FILLERS: [&str; 21] = [
    "def",
    "org",
    "bip",
    "bipped",
    "biped",
    "mixamorig",
    "joint",
    "jnt",
    "bone",
    "skeleton",
    "armature",
    "bind",
    "bnd",
    "rig",
    "b",
    "c",
    "f",
    "j",
    "cc",
    "valve",
    "sk",
];

/// How a skeleton writes its names: the first word that most of them share says nothing.
pub struct Naming {
    shared: Option<String>,
}

/// A joint's name taken apart.
#[derive(Debug, PartialEq)]
pub struct Name {
    /// The side it names.
    pub side: Side,
    /// What is left without namespace, prefix, side and numbers, in small letters.
    pub words: Vec<String>,
    /// Its numbers, in order, as written.
    pub numbers: Vec<String>,
}

impl Name {
    /// The words in one.
    pub fn key(&self) -> String {
        self.words.concat()
    }
}

impl Naming {
    /// Looks for a first word that most joints share, such as a character's name.
    pub fn of(skeleton: &Skeleton) -> Self {
        let mut counts = BTreeMap::<String, usize>::new();
        for joint in &skeleton.joints {
            if let Some(first) = split(&joint.name).into_iter().next() {
                *counts.entry(first).or_default() += 1;
            }
        }
        let shared = counts.into_iter().max_by_key(|(_, count)| *count);
        let most = |count: usize| count >= 4 && 2 * count > skeleton.len();
        Self {
            shared: shared
                .filter(|(word, count)| most(*count) && side_of(word).is_none())
                .map(|(word, _)| word),
        }
    }

    /// Takes `name` apart.
    pub fn parse(&self, name: &str) -> Name {
        let mut parsed = Name { side: Side::Centre, words: Vec::new(), numbers: Vec::new() };
        let mut pieces = split(name).into_iter().peekable();
        if pieces.peek() == self.shared.as_ref() && pieces.next().is_some() {
            skip_number(&mut pieces);
        }
        while let Some(word) = pieces.next() {
            if word == "bip" {
                // Biped's root name ends in a number: Bip01, Bip001.
                skip_number(&mut pieces);
            } else if word.starts_with(|c: char| c.is_ascii_digit()) {
                parsed.numbers.push(word);
            } else if let Some(side) = side_of(&word).filter(|_| parsed.side == Side::Centre) {
                parsed.side = side;
            } else if !FILLERS.contains(&word.as_str()) {
                parsed.words.push(word);
            }
        }
        parsed
    }

    /// The name without namespace, prefix and separators, side and numbers kept: what is compared
    /// between files that differ in such habits only.
    pub fn bare(&self, name: &str) -> String {
        let parsed = self.parse(name);
        let numbers = parsed.numbers.iter().map(|n| n.trim_start_matches('0')).collect::<Vec<_>>().join("-");
        let doubled = if is_doubled(name) { "__" } else { "" };
        format!("{doubled}{:?} {} {numbers}", parsed.side, parsed.key())
    }
}

/// Some exporters put a joint `__X` of no length above X, which is the one that moves.
fn is_doubled(name: &str) -> bool {
    name.starts_with("__")
}

fn skip_number(pieces: &mut std::iter::Peekable<impl Iterator<Item = String>>) {
    pieces.next_if(|next| next.starts_with(|c: char| c.is_ascii_digit()));
}

fn side_of(word: &str) -> Option<Side> {
    match word {
        "l" | "left" | "lf" => Some(Side::Left),
        "r" | "right" | "rt" => Some(Side::Right),
        _ => None,
    }
}

/// Words and numbers of a name without its namespace, in small letters. Words end at separators,
/// between small and capital letters, and between letters and digits.
fn split(name: &str) -> Vec<String> {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut fresh = true;
    for (i, &c) in letters.iter().enumerate() {
        if !c.is_alphanumeric() {
            fresh = true;
            continue;
        }
        if i > 0 && !fresh {
            let before = letters[i - 1];
            let next_is_small = letters.get(i + 1).is_some_and(|n| n.is_lowercase());
            // `LThumb` is L Thumb, `HandIK` is Hand IK.
            fresh = before.is_ascii_digit() != c.is_ascii_digit()
                || (c.is_uppercase() && (before.is_lowercase() || next_is_small));
        }
        if fresh {
            words.push(String::new());
            fresh = false;
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    // `lefthand` in small letters throughout.
    words
        .into_iter()
        .flat_map(|word| {
            for side in ["left", "right"] {
                if let Some(rest) = word.strip_prefix(side).filter(|rest| rest.len() > 2) {
                    return vec![side.to_owned(), rest.to_owned()];
                }
            }
            vec![word]
        })
        .collect()
}

/// What a name can claim.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// A part of its own; smaller rank wins.
    Part(Part, u8),
    /// Somewhere along the back.
    Back,
    /// Somewhere along an arm or leg.
    Arm,
    Leg,
    /// Somewhere along a finger.
    Finger(Finger),
}

fn claim(name: &Name) -> Option<Claim> {
    let paired = name.side != Side::Centre;
    if paired && let Some(finger) = finger(name) {
        return Some(Claim::Finger(finger));
    }
    let part = |part, rank| Some(Claim::Part(part, rank));
    match (name.key().as_str(), paired) {
        ("hips" | "pelvis", false) => part(Part::Hips, 0),
        ("hip", false) => part(Part::Hips, 1),
        (
            "spine" | "chest" | "upperchest" | "torso" | "abdomen" | "lowerback" | "upperback" | "waist"
            | "ribcage" | "stomach" | "belly" | "spinelower" | "spineupper" | "spinemiddle" | "spinemid"
            | "thorax",
            false,
        ) => Some(Claim::Back),
        ("neck" | "necklower" | "neckupper", false) => part(Part::Neck, 0),
        ("head", false) => part(Part::Head, 0),
        ("jaw" | "lowerjaw" | "mjaw", false) => part(Part::Jaw, 0),
        ("eye" | "eyeball", true) => part(Part::Eye, 0),
        ("clavicle" | "collar" | "clav" | "collarbone", true) => part(Part::Shoulder, 0),
        ("shoulder", true) => part(Part::Shoulder, 1),
        ("upperarm" | "uparm" | "armupper" | "shldr" | "shldrbend" | "humerus", true) => {
            part(Part::UpperArm, 0)
        }
        ("lowerarm" | "loarm" | "lowarm" | "forearm" | "armlower" | "forearmbend", true) => {
            part(Part::LowerArm, 0)
        }
        ("elbow", true) => part(Part::LowerArm, 1),
        ("hand", true) => part(Part::Hand, 0),
        ("wrist", true) => part(Part::Hand, 1),
        ("palm", true) => part(Part::Hand, 2),
        ("upperleg" | "upleg" | "thigh" | "legupper" | "thighbend" | "femur", true) => {
            part(Part::UpperLeg, 0)
        }
        ("hip", true) => part(Part::UpperLeg, 1),
        ("lowerleg" | "loleg" | "lowleg" | "shin" | "calf" | "leglower", true) => part(Part::LowerLeg, 0),
        ("knee", true) => part(Part::LowerLeg, 1),
        ("foot", true) => part(Part::Foot, 0),
        ("ankle", true) => part(Part::Foot, 1),
        ("toes" | "toebase" | "toe", true) => part(Part::Toes, 0),
        ("ball", true) => part(Part::Toes, 1),
        ("arm", true) => Some(Claim::Arm),
        ("leg", true) => Some(Claim::Leg),
        _ => None,
    }
}

fn finger(name: &Name) -> Option<Finger> {
    const BY_WORD: [(&str, Finger); 8] = [
        ("thumb", Finger::Thumb),
        ("index", Finger::Index),
        ("middle", Finger::Middle),
        ("mid", Finger::Middle),
        ("ring", Finger::Ring),
        ("pinky", Finger::Little),
        ("pinkie", Finger::Little),
        ("little", Finger::Little),
    ];
    const AFTER: [&str; 11] = [
        "finger",
        "prox",
        "proximal",
        "int",
        "intermediate",
        "dist",
        "distal",
        "phalanx",
        "phalange",
        "metacarpal",
        "meta",
    ];
    let mut words = name.words.iter().map(String::as_str).skip_while(|w| matches!(*w, "hand" | "finger"));
    let Some(word) = words.next() else {
        return (name.words.last()? == "finger").then(|| numbered_finger(&name.numbers)).flatten();
    };
    let (_, finger) = BY_WORD.into_iter().find(|(known, _)| *known == word)?;
    let in_palm = |w: &str| w.starts_with("meta") && finger != Finger::Thumb;
    words.all(|w| AFTER.contains(&w) && !in_palm(w)).then_some(finger)
}

/// `Finger0`, `Finger01`: Biped counts from the thumb as 0, the second digit is the bone.
/// `finger1-1`: MakeHuman counts from the thumb as 1.
fn numbered_finger(numbers: &[String]) -> Option<Finger> {
    const FINGERS: [Finger; 5] = [Finger::Thumb, Finger::Index, Finger::Middle, Finger::Ring, Finger::Little];
    let digit = usize::from(numbers.first()?.as_bytes().first()?.wrapping_sub(b'0'));
    let number = if numbers.len() >= 2 { digit.checked_sub(1)? } else { digit };
    FINGERS.get(number).copied()
}

/// Who has claimed what.
struct Claims {
    /// In the order of the hierarchy.
    joints: BTreeMap<(Side, Claim), Vec<usize>>,
    bone_of: Vec<Option<HumanoidBone>>,
}

impl Claims {
    fn of(&self, side: Side, claim: Claim) -> Vec<usize> {
        self.joints.get(&(side, claim)).cloned().unwrap_or_default()
    }

    fn joint(&self, part: Part, side: Side) -> Option<usize> {
        super::joint_of(&self.bone_of, HumanoidBone { part, side })
    }

    /// Gives `part` to `joint` unless either is taken.
    fn give(&mut self, joint: usize, part: Part, side: Side) -> bool {
        let free = self.bone_of[joint].is_none() && self.joint(part, side).is_none();
        if free {
            self.bone_of[joint] = Some(HumanoidBone { part, side });
        }
        free
    }
}

pub(super) fn recognise(skeleton: &Skeleton) -> Vec<Option<HumanoidBone>> {
    let naming = Naming::of(skeleton);
    let mut claims = Claims { joints: BTreeMap::new(), bone_of: vec![None; skeleton.len()] };
    for (index, joint) in skeleton.joints.iter().enumerate() {
        let name = naming.parse(&joint.name);
        if let Some(claim) = claim(&name) {
            claims.joints.entry((name.side, claim)).or_default().push(index);
        }
    }
    for joints in claims.joints.values_mut() {
        joints.sort_by_key(|&j| (is_doubled(&skeleton.joints[j].name), j));
    }
    // Joints of a skin first: nodes that carry meshes are often named after the limb they look like.
    for skinned in [true, false] {
        let claimed: Vec<_> = claims.joints.iter().map(|(&key, joints)| (key, joints.clone())).collect();
        // The map lists better ranks of a part first.
        for ((side, claim), joints) in claimed {
            let joint = joints.into_iter().find(|&j| skeleton.joints[j].in_skin == skinned);
            if let (Claim::Part(part, _), Some(joint)) = (claim, joint) {
                claims.give(joint, part, side);
            }
        }
    }
    for joints in claims.joints.values_mut() {
        if joints.iter().any(|&j| skeleton.joints[j].in_skin) {
            joints.retain(|&j| skeleton.joints[j].in_skin);
        }
    }
    for side in [Side::Left, Side::Right] {
        deal(skeleton, &mut claims, side, Claim::Arm, &[Part::UpperArm, Part::LowerArm, Part::Hand]);
        deal(
            skeleton,
            &mut claims,
            side,
            Claim::Leg,
            &[Part::UpperLeg, Part::LowerLeg, Part::Foot, Part::Toes],
        );
        for finger in [Finger::Thumb, Finger::Index, Finger::Middle, Finger::Ring, Finger::Little] {
            let bones = [0, 1, 2].map(|number| Part::Finger(finger, number));
            deal(skeleton, &mut claims, side, Claim::Finger(finger), &bones);
        }
        // A rig of shoulder, elbow, wrist has its upper arm at the shoulder.
        if claims.joint(Part::UpperArm, side).is_none()
            && claims.joint(Part::LowerArm, side).is_some()
            && let Some(shoulder) = claims.joint(Part::Shoulder, side)
        {
            claims.bone_of[shoulder] = Some(HumanoidBone { part: Part::UpperArm, side });
        }
    }
    find_hips(skeleton, &mut claims);
    deal_back(skeleton, &mut claims);
    claims.bone_of
}

/// Assigns joints with like names to the free places of a limb, from the body outward. In
/// arms and legs each must hang on the joint that has the place before.
fn deal(skeleton: &Skeleton, claims: &mut Claims, side: Side, claim: Claim, parts: &[Part]) {
    let mut joints = claims.of(side, claim).into_iter().peekable();
    // Tracked hands list their finger joints side by side.
    let is_finger = matches!(claim, Claim::Finger(_));
    let mut before = None;
    for &part in parts {
        if let Some(&joint) = joints.peek()
            && (is_finger || before.is_none_or(|before| is_ancestor(skeleton, before, joint)))
            && claims.give(joint, part, side)
        {
            joints.next();
        }
        before = claims.joint(part, side).or(before);
    }
}

/// Without a name for them, the hips are where the legs meet.
fn find_hips(skeleton: &Skeleton, claims: &mut Claims) {
    let legs = [Side::Left, Side::Right].map(|side| claims.joint(Part::UpperLeg, side));
    if let [Some(left), Some(right)] = legs
        && let Some(meeting) = common_ancestor(skeleton, left, right)
    {
        claims.give(meeting, Part::Hips, Side::Centre);
    }
}

/// Back joints below the arms are spine and chest; above, with none so named, neck and head.
fn deal_back(skeleton: &Skeleton, claims: &mut Claims) {
    let mut back: Vec<usize> =
        claims.of(Side::Centre, Claim::Back).into_iter().filter(|&j| claims.bone_of[j].is_none()).collect();
    back.sort_unstable();
    let arm = |side| claims.joint(Part::Shoulder, side).or_else(|| claims.joint(Part::UpperArm, side));
    let top = match (arm(Side::Left), arm(Side::Right)) {
        (Some(left), Some(right)) => common_ancestor(skeleton, left, right),
        _ => None,
    };
    if let Some(top) = top.filter(|top| back.contains(top)) {
        let above: Vec<usize> = back.iter().copied().filter(|&j| is_ancestor(skeleton, top, j)).collect();
        back.retain(|j| !above.contains(j));
        if let [first, .., last] = above[..] {
            claims.give(first, Part::Neck, Side::Centre);
            claims.give(last, Part::Head, Side::Centre);
        }
    }
    // Two joints in the neck and no head: the upper one carries it.
    let necks = claims.of(Side::Centre, Claim::Part(Part::Neck, 0));
    if let [_, .., last] = necks[..] {
        claims.give(last, Part::Head, Side::Centre);
    }
    let (first, last) = (back.first().copied(), back.last().copied());
    let middle = back.get(back.len() / 2).copied();
    let dealt = match back.len() {
        0 | 1 => [first, None, None],
        2 => [first, last, None],
        _ => [first, middle, last],
    };
    for (joint, part) in dealt.into_iter().zip([Part::Spine, Part::Chest, Part::UpperChest]) {
        if let Some(joint) = joint {
            claims.give(joint, part, Side::Centre);
        }
    }
}

fn is_ancestor(skeleton: &Skeleton, ancestor: usize, mut joint: usize) -> bool {
    while let Some(parent) = skeleton.joints[joint].parent {
        if parent == ancestor {
            return true;
        }
        joint = parent;
    }
    false
}

/// The nearest joint above both.
pub(super) fn common_ancestor(skeleton: &Skeleton, a: usize, b: usize) -> Option<usize> {
    let (mut a, mut b) = (skeleton.joints[a].parent?, skeleton.joints[b].parent?);
    // Parents have smaller indices: the larger climbs.
    while a != b {
        if a > b {
            a = skeleton.joints[a].parent?;
        } else {
            b = skeleton.joints[b].parent?;
        }
    }
    Some(a)
}

//! The field of a whole body in a pose, for pictures and for the schemes of the papers.

use super::fleshed::{PartField, UnderSkin};
use super::{Body, Settings};
use crate::character::Pose;
use crate::field::tree::{PosedTree, Rule, Tree};
use crate::field::{Composition, Posed};
use crate::parts::{Part, Parts};
use crate::tracking::robust;
use glam::Affine3A;
use std::sync::Arc;

/// The composed field of a body in a pose; its parts are those of [`Body::parts`].
pub type BodyField<'a> = PosedTree<Posed<PartField<'a>>>;

/// How the parts are joined.
pub(super) fn tree(parts: &Parts, settings: &Settings) -> Arc<Tree> {
    let default = settings.stack.tracking.unwrap_or_default().operator();
    let composition =
        settings.composition.clone().or_else(|| Composition::by_name(default)).expect("a known operator");
    let parents: Vec<Option<u32>> = parts.parts.iter().map(|p| p.parent).collect();
    let part_of_joint = |joint: usize| parts.parts.iter().position(|p| p.joint as usize == joint);
    let special = settings
        .joint_compositions
        .iter()
        .filter_map(|(joint, composition)| Some((part_of_joint(*joint)? as u32, composition.clone())));
    let tree = Tree::new(Rule::Contact, &parents, composition, special.collect());
    tree.expect("parts hang on the skeleton, which has no loops").into()
}

/// The joints at which the robust scheme does more than unite parts: those with an operator that blends.
pub(super) fn joins(parts: &Parts, settings: &Settings) -> Vec<robust::Join> {
    let of_part = |(part, below): (&Part, u32)| {
        let own = settings.joint_compositions.iter().find(|(joint, _)| *joint as u32 == part.joint);
        let composition = own.map(|(_, composition)| composition).or(settings.composition.as_ref())?;
        let blends = !composition.operator.separates();
        blends.then_some(robust::Join { parts: [below, part.parent?], composition: composition.clone() })
    };
    parts.parts.iter().zip(0..).filter_map(of_part).collect()
}

/// The parts' fields, moved, with what lies in them in that pose.
pub(super) fn posed<'a>(
    tree: &Arc<Tree>,
    parts: &'a Parts,
    posed_from_bind: &[Affine3A],
    under: Option<&UnderSkin>,
) -> BodyField<'a> {
    let posed = |(index, part): (usize, &'a Part)| {
        let motion = sound(&posed_from_bind[part.joint as usize]);
        Posed::new(PartField::new(part, index, under, motion), motion)
    };
    PosedTree::new(tree.clone(), parts.parts.iter().enumerate().map(posed).collect())
}

/// A motion that is not finite or not invertible counts as the identity.
pub(super) fn sound(motion: &Affine3A) -> Affine3A {
    if motion.is_finite() && motion.inverse().is_finite() { *motion } else { Affine3A::IDENTITY }
}

impl Body {
    /// The composed field in `pose`, as the papers' schemes see it; [`Tracking::Robust`](super::Tracking::Robust) takes the same parts
    /// and composes them in its own way, and has muscles beside the fields. `None` without tracking or skin.
    pub fn field(&self, pose: &Pose) -> Option<BodyField<'_>> {
        let implicit = self.implicit.as_deref()?;
        let posed_from_bind = implicit.surface.posed_from_rest(&self.character, pose);
        let under = implicit.under_skin_in(&posed_from_bind, &self.settings);
        Some(posed(&implicit.tree, &implicit.parts, &posed_from_bind, under.as_ref()))
    }
}

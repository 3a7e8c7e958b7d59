//! What a character is bound with.

use super::stack::{Stack, Tracking};
use crate::anatomy::{ControllerDef, Grooves, SamplesDef, SchemeDef, SkinDef, SolverDef};
use crate::character::Skeleton;
use crate::dynamics::{self, Solver};
use crate::field::{Composition, operator};
use crate::muscle::Motion;
use crate::parts::PartSettings;
use crate::tracking::papers::own_side::OwnSide;
use crate::tracking::papers::{scheme_2012, scheme_2014};
use crate::tracking::robust;

/// How muscles and fat move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuscleSettings {
    /// With or without inertia. A single pose ([`Body::deform`](super::Body::deform)) never has any.
    pub motion: Motion,
    /// How links are solved; the number of substeps comes from `substeps_per_second`.
    pub dynamics: dynamics::Settings,
    /// Substeps a second, whatever the frame rate: 50 in a frame at 24 a second. Twice as many change the arm
    /// sample's swing by 4 %; at 960 by 5.4 %.
    pub substeps_per_second: f32,
    /// Longest time the first pose is held before an animation starts, seconds: without inertia, until nothing moves.
    pub pre_roll: f32,
    /// How the skin lies over them where they meet.
    pub blend: Grooves,
}

impl Default for MuscleSettings {
    fn default() -> Self {
        Self {
            motion: Motion::Dynamic,
            dynamics: dynamics::Settings::default(),
            substeps_per_second: 1200.0,
            pre_roll: 1.0,
            blend: Grooves::default(),
        }
    }
}

/// How [`Body::bind`](super::Body::bind) binds a character. All but the stack concern tracking and what lies
/// under it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the deformation is made of.
    pub stack: Stack,
    /// Tracking starts from the frame before ([`Body::deform_next`](super::Body::deform_next)): faster, and a frame then
    /// depends on those before it. [`Tracking::Scheme2012`](super::Tracking::Scheme2012) does not use it.
    pub coherent: bool,
    /// How the skin is cut and its fields are fitted.
    pub parts: PartSettings,
    /// Settings of [`Tracking::Robust`](super::Tracking::Robust).
    pub robust: robust::Settings,
    /// How muscles move.
    pub muscles: MuscleSettings,
    /// Settings of [`Tracking::Scheme2012`](super::Tracking::Scheme2012).
    pub scheme_2012: scheme_2012::Settings,
    /// Settings of [`Tracking::Scheme2014`](super::Tracking::Scheme2014).
    pub scheme_2014: scheme_2014::Settings,
    /// How the schemes of the papers join the fields of two parts; `None` blends for 2012 and makes contact
    /// for 2014.
    pub composition: Option<Composition>,
    /// Skeleton joints with other operators.
    pub joint_compositions: Vec<(usize, Composition)>,
    /// Skeleton joints whose parts had samples added or removed by hand.
    pub joint_samples: Vec<(usize, SamplesDef)>,
}

/// Least angle between gradients that oppose each other, radians: 85 degrees. The fields of neighbours overlap at rest: at
/// 60 degrees the pass moves the resting arm sample by 1 % of its size, at 85 it does not.
const OPPOSED: f32 = 1.484;

impl Default for Settings {
    fn default() -> Self {
        let own_side = OwnSide { least_angle: OPPOSED, ..OwnSide::default() };
        Self {
            stack: Stack::default(),
            coherent: false,
            parts: PartSettings::default(),
            robust: robust::Settings::default(),
            muscles: MuscleSettings::default(),
            scheme_2012: scheme_2012::Settings::default(),
            scheme_2014: scheme_2014::Settings { own_side: Some(own_side), ..Default::default() },
            composition: None,
            joint_compositions: Vec::new(),
            joint_samples: Vec::new(),
        }
    }
}

impl From<Stack> for Settings {
    fn from(stack: Stack) -> Self {
        Self { stack, ..Self::default() }
    }
}

impl Settings {
    /// The settings an anatomy file's `[skin]` asks for, which must fit the skeleton: [`Stack::implicit`] with
    /// `tracking` and the file's start.
    pub fn of_skin(skin: &SkinDef, skeleton: &Skeleton, tracking: Tracking) -> Self {
        let mut settings = Self::from(Stack::implicit().with_tracking(tracking).with_start(skin.start));
        settings.parts.pieces.layers = skin.layers;
        settings.parts.samples = skin.samples.map(|n| n as usize);
        settings.parts.resolution = skin.grid;
        settings.parts.swing = skin.closure;
        settings.robust.gap = skin.gap;
        settings.robust.max_offset = skin.max_offset;
        settings.muscles.blend = skin.blend;
        settings.robust.definition = skin.definition;
        settings.muscles.dynamics.solver = match skin.solver {
            SolverDef::Direct => Solver::Direct,
            SolverDef::Xpbd => Solver::Xpbd,
            SolverDef::Pbd => Solver::Pbd { stiffness: 0.1, kept: 0.9 },
        };
        settings.set_schemes(&skin.scheme);
        let composition = |(operator, controller): (Option<&str>, Option<&ControllerDef>)| {
            let named = operator.is_some() || controller.is_some();
            named.then(|| composition(operator.unwrap_or(tracking.operator()), controller)).flatten()
        };
        settings.composition = composition((skin.operator.as_deref(), skin.controller.as_ref()));
        for (name, own) in &skin.joint {
            if let Some(joint) = skeleton.find(name).filter(|_| own.samples != SamplesDef::default()) {
                settings.joint_samples.push((joint, own.samples.clone()));
            }
            if let (Some(joint), Some(composition)) = (skeleton.find(name), composition(skin.at(name))) {
                settings.joint_compositions.push((joint, composition));
            }
        }
        settings
    }

    /// What an anatomy file changes of the papers' schemes.
    fn set_schemes(&mut self, scheme: &SchemeDef) {
        if scheme.printed {
            self.scheme_2012 = scheme_2012::Settings::printed();
            self.scheme_2014 = scheme_2014::Settings::printed();
        }
        let (of_2012, of_2014) = (&mut self.scheme_2012, &mut self.scheme_2014);
        if let Some(step) = scheme.step {
            of_2014.largest_turn = step;
        }
        if let Some(angle) = scheme.contact_angle {
            of_2012.newton.largest_turn = angle;
            of_2014.own_side.iter_mut().for_each(|pass| pass.least_angle = angle);
        }
        if let Some(iterations) = scheme.iterations {
            of_2012.iterations = iterations;
            of_2014.final_relaxations = iterations;
        }
        if !scheme.smoothing {
            of_2012.smoothing.iterations = 0;
            of_2014.smoothing = None;
        }
    }
}

fn composition(operator: &str, controller: Option<&ControllerDef>) -> Option<Composition> {
    let mut composition = Composition::new(operator::by_name(operator)?);
    if let Some(Ok(controller)) = controller.and_then(ControllerDef::build) {
        composition.controller = controller;
    }
    Some(composition)
}

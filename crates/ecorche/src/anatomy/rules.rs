//! Rules between values that the table of keys cannot say.

use super::skin::{ControllerDef, SamplesDef};
use super::{JointDef, SkinDef, WrinkleDef, keys};
use crate::muscle::definition::{
    BoneDef, FatDef, Footprint, KeysDef, MuscleDef, Parameter, ProfileDef, Side,
};
use crate::muscle::parametric::{ParametricDef, Template};
use crate::pieces::PieceDef;
use crate::schema::{Kind, Range, shortest};
use glam::Vec3;

/// An entry of a file.
pub(super) trait Rules {
    /// Rules that are broken, each with the dotted name of its key.
    fn broken(&self) -> Vec<(&'static str, String)>;
}

fn mirror_rule(mirror: bool, side: Side) -> Option<(&'static str, String)> {
    let message = || "needs a side to mirror from; write side = \"left\"".to_owned();
    (mirror && side == Side::Middle).then(|| ("mirror", message()))
}

impl Rules for MuscleDef {
    fn broken(&self) -> Vec<(&'static str, String)> {
        let mut broken: Vec<_> = mirror_rule(self.mirror, self.side).into_iter().collect();
        let is_point = |end: &Footprint| end.0.len() == 1;
        if self.fibres > 1 && is_point(&self.origin) && is_point(&self.insertion) {
            broken.push(("fibres", "needs a curve: make origin or insertion a list of points".to_owned()));
        }
        for (key, profile) in
            [("profile.rest.sines", &self.profile.rest), ("profile.active.sines", &self.profile.active)]
        {
            if let ProfileDef::Sines(sines) = profile
                && sines.sines.iter().all(|&x| x == 0.0)
            {
                broken.push((key, "must not all be zero".to_owned()));
            }
        }
        broken
    }
}

impl Rules for ParametricDef {
    fn broken(&self) -> Vec<(&'static str, String)> {
        let mut broken: Vec<_> = mirror_rule(self.mirror, self.side).into_iter().collect();
        if self.template == Template::Radial && self.radius == 0.0 {
            broken.push(("template", "radial needs a radius; write radius = 0.05".to_owned()));
        }
        if self.path.len() == 1 {
            broken.push(("path", "needs at least two points; leave it out if the line is enough".to_owned()));
        }
        broken
    }
}

impl Rules for FatDef {
    fn broken(&self) -> Vec<(&'static str, String)> {
        let mut broken: Vec<_> = mirror_rule(self.mirror, self.side).into_iter().collect();
        if let Some([a, b]) = self.axes
            && (a == Vec3::ZERO || a.cross(b).length() <= 1e-6 * a.length() * b.length())
        {
            broken.push(("axes", "must be two directions that are not parallel".to_owned()));
        }
        broken
    }
}

impl Rules for BoneDef {
    fn broken(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

impl Rules for WrinkleDef {
    fn broken(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

impl Rules for PieceDef {
    fn broken(&self) -> Vec<(&'static str, String)> {
        let names_none = self.mesh.is_none() && self.material.is_none() && self.index.is_none();
        let message = || "names no piece; write mesh, material or index".to_owned();
        names_none.then(|| ("role", message())).into_iter().collect()
    }
}

impl Rules for KeysDef {
    fn broken(&self) -> Vec<(&'static str, String)> {
        let of_muscle = |name: &str| match keys::MUSCLE.key(name).map(|key| key.kind) {
            Some(Kind::Number(range)) => range,
            _ => Range::ANY,
        };
        let range = match self.parameter {
            Parameter::Activation => Range::SHARE,
            Parameter::Gain => of_muscle("gain"),
            Parameter::Eccentricity => of_muscle("eccentricity"),
            Parameter::Stiffness => Range::within(1e-6, 1e6),
        };
        let wrong = |&[time, value]: &[f32; 2]| {
            let rule = range.broken_by(shortest(value))?;
            Some(("values", format!("{value} at {time} s {rule}")))
        };
        let none = || ("values", "needs at least one pair [time in seconds, value]".to_owned());
        let mut broken: Vec<_> = self.values.iter().find_map(wrong).into_iter().collect();
        broken.extend(self.values.is_empty().then(none));
        broken
    }
}

fn controller_rule(controller: Option<&ControllerDef>) -> Option<(&'static str, String)> {
    let error = controller?.build()?.err()?;
    Some(("controller.points", error.to_string()))
}

impl Rules for SkinDef {
    fn broken(&self) -> Vec<(&'static str, String)> {
        let mut broken: Vec<_> = controller_rule(self.controller.as_ref()).into_iter().collect();
        if self.samples[0] > self.samples[1] {
            broken.push(("samples", "must be the smaller number first, such as [50, 250]".to_owned()));
        }
        broken
    }
}

impl Rules for JointDef {
    fn broken(&self) -> Vec<(&'static str, String)> {
        let mut broken: Vec<_> = controller_rule(self.controller.as_ref()).into_iter().collect();
        let SamplesDef { add, .. } = &self.samples;
        if add.iter().any(|row| row[3..].iter().map(|x| x * x).sum::<f32>() < 1e-12) {
            let message = "a point is a place and the direction outward there: [x, y, z, nx, ny, nz]";
            broken.push(("samples.add", message.to_owned()));
        }
        broken
    }
}

//! Samples that the user adds and removes.

use super::fit::LastSolve;
use super::{Part, PartSettings, Parts, fit};
use crate::field::SurfaceSample;
use glam::Vec3;
use rayon::prelude::*;

/// Of the inner radius: a sample farther than this from the place that is named is not the one that is meant.
const NEAR: f32 = 0.5;

/// Changes of the samples of one part; places are in bind space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retouch {
    /// The skeleton joint whose part it is.
    pub joint: u32,
    /// Samples to go through as well.
    pub add: Vec<SurfaceSample>,
    /// Places whose nearest samples go.
    pub remove: Vec<Vec3>,
}

impl Parts {
    /// Changes samples and fits the parts they belong to again; other parts stay. A part that cannot be fitted with the
    /// changes stays as it was, and one that had been corrected where it leaves the skin loses the correction.
    pub fn retouch(&mut self, changes: &[Retouch], settings: &PartSettings) {
        self.parts.par_iter_mut().for_each(|part| {
            let joint = part.joint;
            for change in changes.iter().filter(|change| change.joint == joint) {
                retouch(part, change, settings);
            }
        });
    }
}

fn retouch(part: &mut Part, change: &Retouch, settings: &PartSettings) {
    let mut samples = part.samples.clone();
    for place in &change.remove {
        let distance = |s: &SurfaceSample| s.position.distance(*place);
        let nearest =
            (0..samples.len()).min_by(|&a, &b| distance(&samples[a]).total_cmp(&distance(&samples[b])));
        if let Some(nearest) = nearest.filter(|&n| distance(&samples[n]) <= NEAR * part.inner_radius) {
            samples.remove(nearest);
        }
    }
    samples.extend(&change.add);
    let scale = fit::scale(&samples, &part.bone, part.inner_radius);
    let last = &mut LastSolve::default();
    if let Ok((hrbf, field, _)) =
        fit::field(&samples, &part.closures, scale, part.radius, None, last, settings)
    {
        part.samples = samples;
        part.hrbf = hrbf;
        part.field = field;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Field;
    use crate::skinning::Surface;

    #[test]
    fn a_sample_pulls_the_surface_and_taking_it_away_lets_it_go() {
        let character = crate::samples::build("cylinder").unwrap();
        let surface = Surface::new(&character).unwrap();
        let settings = PartSettings::default();
        let parts = Parts::build(&surface, &character, &settings, None);
        let part = &parts.parts[0];
        let SurfaceSample { position, normal } = part.samples[10];
        // A bump where a sample was.
        let bump = SurfaceSample { position: position + 0.3 * part.inner_radius * normal, normal };
        let change = Retouch { joint: part.joint, add: vec![bump], remove: vec![position] };
        let mut bumped = parts.clone();
        bumped.retouch(&[change], &settings);
        let value = |parts: &Parts, p: Vec3| parts.parts[0].field.sample(p).value;
        assert!(value(&parts, bump.position) < 0.45);
        assert!((value(&bumped, bump.position) - 0.5).abs() < 0.05, "{}", value(&bumped, bump.position));
        assert_eq!(bumped.parts[0].samples.len(), part.samples.len());
        assert_eq!(bumped.parts[1], parts.parts[1], "the other part stays");
        let mut again = parts.clone();
        again.retouch(&[], &settings);
        assert_eq!(again, parts);
        let far = Retouch { joint: part.joint, add: Vec::new(), remove: vec![Vec3::splat(50.0)] };
        again.retouch(&[far], &settings);
        assert_eq!(again.parts[0].samples, part.samples);
    }
}

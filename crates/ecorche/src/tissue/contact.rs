//! Collisions.

use super::boundary::Boundary;
use super::terms::Term;
use glam::DVec3;

/// All collisions of a scene.
#[derive(Debug, Default)]
pub struct Contacts {}

impl Contacts {
    pub(super) fn remember_initial(&mut self, _positions: &[DVec3], _boundary: &Boundary, _time: f64) {}
    pub(super) fn begin_step(&mut self, _start: &[DVec3], _boundary: &Boundary, _time: f64, _h: f64) {}
    pub(super) fn renew(&mut self, _positions: &[DVec3], _boundary: &Boundary, _time: f64) -> bool {
        false
    }
    pub(super) fn deepest(&self, _positions: &[DVec3], _boundary: &Boundary, _time: f64) -> f64 {
        0.0
    }
    pub(super) fn add_terms(&self, _p: &[DVec3], _b: &Boundary, _t: f64, _terms: &mut Vec<Term>) -> f64 {
        0.0
    }
}

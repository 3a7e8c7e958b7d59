//! Running a scene frame by frame.

use super::Scene;
use crate::geom::TriMesh;
use crate::tissue::mesh::vtk::{self, Values};
use crate::tissue::step::{StepError, StepReport};
use crate::tissue::tet_mesh::TetMesh;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// What a body did up to a frame.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct BodyRecord {
    /// Name.
    pub name: String,
    /// Activation, 0 to 1.
    pub activation: f64,
    /// Volume over rest volume.
    pub volume: f64,
    /// Smallest volume ratio of a tetrahedron; at or below 0: inverted.
    pub smallest_volume_ratio: f64,
    /// Size of the force the body exerts on its insertion, newtons; 0 without one.
    pub end_force: f64,
    /// Root mean square speed of its nodes, metres per second.
    pub speed: f64,
}

/// What happened up to a frame.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct FrameRecord {
    /// Frame number; 0 is the first state.
    pub frame: usize,
    /// Seconds.
    pub time: f64,
    /// Steps taken, more than asked for when some were halved.
    pub steps: u32,
    /// Linear systems solved.
    pub solves: usize,
    /// Whether every step reached its tolerance.
    pub converged: bool,
    /// Deepest penetration at its end, metres.
    pub penetration: f64,
    /// Milliseconds of assembly, factorisation, solves and the rest.
    pub milliseconds: [f64; 4],
    /// Its bodies.
    pub bodies: Vec<BodyRecord>,
}

impl Scene {
    /// Advances one frame.
    pub fn advance(&mut self) -> Result<FrameRecord, StepError> {
        let h = self.step_length();
        let mut sum = StepReport { converged: true, ..StepReport::default() };
        for _ in 0..self.substeps {
            self.activate(self.simulation.state.time + h);
            let report = self.simulation.step(h)?;
            sum.substeps += report.substeps;
            sum.solves += report.solves;
            sum.converged &= report.converged;
            sum.penetration = report.penetration;
            sum.timings.assembly += report.timings.assembly;
            sum.timings.factorisation += report.timings.factorisation;
            sum.timings.solve += report.timings.solve;
            sum.timings.rest += report.timings.rest;
        }
        self.frame += 1;
        // Counted, not summed, so that a resumed run has the same times.
        self.simulation.state.time = self.frame as f64 / self.fps;
        Ok(self.record(&sum))
    }

    /// Seconds of one step.
    pub(super) fn step_length(&self) -> f64 {
        1.0 / (self.fps * f64::from(self.substeps))
    }

    /// Tenses every muscle as the scene says for `time`.
    pub(super) fn activate(&mut self, time: f64) {
        for body in &self.bodies {
            self.simulation.model.set_activation(body.part, interpolate(&body.activation, time));
        }
    }

    /// The record of the present state after a step report.
    pub fn record(&mut self, report: &StepReport) -> FrameRecord {
        let forces = self.simulation.internal_forces();
        let s = &self.simulation;
        let bodies = self
            .bodies
            .iter()
            .map(|body| {
                let nodes = s.model.parts[body.part].nodes.clone();
                let square: f64 = s.state.velocities[nodes.clone()].iter().map(|v| v.length_squared()).sum();
                BodyRecord {
                    name: body.name.clone(),
                    activation: interpolate(&body.activation, s.state.time),
                    volume: s.model.volume(body.part, &s.state.positions)
                        / s.model.volume(body.part, &s.model.rest),
                    smallest_volume_ratio: s.model.smallest_volume_ratio(body.part, &s.state.positions),
                    end_force: body
                        .insertion
                        .iter()
                        .fold(DVec3::ZERO, |f, &n| f + forces[n as usize])
                        .length(),
                    speed: (square / nodes.len() as f64).sqrt(),
                }
            })
            .collect();
        let t = &report.timings;
        FrameRecord {
            frame: self.frame,
            time: s.state.time,
            steps: report.substeps,
            solves: report.solves,
            converged: report.converged,
            penetration: report.penetration,
            milliseconds: [t.assembly, t.factorisation, t.solve, t.rest].map(|d| d.as_secs_f64() * 1e3),
            bodies,
        }
    }

    /// The surface of a body in the present state, metres.
    pub fn skin(&self, body: usize) -> TriMesh {
        let b = &self.bodies[body];
        TriMesh {
            positions: b.skin.iter().map(|p| p.at(&self.simulation.state.positions).as_vec3()).collect(),
            triangles: b.triangles.clone(),
        }
    }

    /// The surface of a bone in the present state, metres, if it has one.
    pub fn bone_surface(&self, bone: usize) -> Option<TriMesh> {
        let pose = self.simulation.boundary.bones[bone].at(self.simulation.state.time);
        self.bones[bone].surface.as_ref().map(|surface| TriMesh {
            positions: surface
                .positions
                .iter()
                .map(|p| pose.transform_point3(p.as_dvec3()).as_vec3())
                .collect(),
            triangles: surface.triangles.clone(),
        })
    }
}

impl Scene {
    /// A body's rest surface as OBJ text, in the scene's unit.
    pub fn rest_obj(&self, body: usize) -> String {
        let b = &self.bodies[body];
        let mut out = format!("# rest surface written by ecorche\no {}\n", b.name);
        for place in &b.skin {
            let p = place.at(&self.simulation.model.rest) / self.metres_per_unit;
            let _ = writeln!(out, "v {} {} {}", p.x as f32, p.y as f32, p.z as f32);
        }
        for t in &b.triangles {
            let _ = writeln!(out, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1);
        }
        out
    }

    /// All tetrahedra in the present state as VTK text, metres: volume ratio, fibre, activation and tissue.
    pub fn vtk(&self) -> String {
        let s = &self.simulation;
        let mesh = TetMesh { nodes: s.state.positions.clone(), tets: s.model.tets.clone() };
        let ratio: Vec<f64> = (0..mesh.tets.len())
            .map(|t| crate::tissue::element::volume(mesh.corners(t)) / s.model.shapes[t].volume)
            .collect();
        let fibre: Vec<DVec3> = (0..mesh.tets.len())
            .map(|t| s.model.shapes[t].gradient(mesh.corners(t)) * s.model.local[t].fibre)
            .collect();
        let activation: Vec<f64> = s.model.local.iter().map(|l| l.activation).collect();
        let tissue: Vec<f64> = s.model.tissue_of.iter().map(|&t| f64::from(t)).collect();
        let of_tets = [
            ("volume_ratio", Values::Numbers(&ratio)),
            ("fibre", Values::Vectors(&fibre)),
            ("activation", Values::Numbers(&activation)),
            ("tissue", Values::Numbers(&tissue)),
        ];
        vtk::write(&mesh, &of_tets, &[("velocity", Values::Vectors(&s.state.velocities))])
    }
}

/// Piecewise linear, held at both ends; 0 without keys.
fn interpolate(keys: &[(f64, f64)], time: f64) -> f64 {
    let after = keys.partition_point(|k| k.0 <= time);
    match (after.checked_sub(1).map(|i| keys[i]), keys.get(after)) {
        (None, None) => 0.0,
        (None, Some(next)) => next.1,
        (Some(last), None) => last.1,
        (Some(last), Some(next)) => last.1 + (next.1 - last.1) * (time - last.0) / (next.0 - last.0),
    }
}

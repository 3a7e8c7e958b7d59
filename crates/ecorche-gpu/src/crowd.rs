//! A crowd on the graphics card: poses and muscles go up, positions and normals stay there.

use crate::body::{DeformShape, Packed};
use crate::device::{GROUP, Gpu, GpuError};
use bytemuck::{Pod, Zeroable};
use ecorche::character::Pose;
use ecorche::crowd::{Crowd, CrowdReport, Instance, Level};
use ecorche::deform::Body;
use ecorche::frame::{Frame, FrameMesh};
use ecorche::muscle::parametric::{self, Posed};
use ecorche::skinning::Motion;
use glam::{Affine3A, Vec3};
use rayon::prelude::*;
use wgpu::BufferUsages;

/// A motion as `deform.wgsl` reads it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PackedMotion {
    rows: [[f32; 4]; 3],
    real: [f32; 4],
    dual: [f32; 4],
    stretch: [[f32; 4]; 3],
}

/// The uniform of `normals.wgsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct NormalShape {
    vertices: u32,
    slots: u32,
    instances: u32,
    padding: u32,
}

/// An instance as `deform.wgsl` reads it.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Member {
    rest: u32,
    level: u32,
}

/// What an instance has on the processor.
struct Seat {
    /// Its number in the crowd.
    instance: usize,
    pose: Pose,
    world: Vec<Affine3A>,
    motions: Vec<Motion>,
    muscles: parametric::Workspace,
    morphed: Vec<Vec3>,
    level: Level,
    clamped: usize,
    fell_back: usize,
    /// Whether it was deformed before.
    is_begun: bool,
}

/// Instances of one body that fit the buffers.
pub(crate) struct Batch {
    pub body: usize,
    pub packed: std::sync::Arc<Packed>,
    seats: Vec<Seat>,
    points: wgpu::Buffer,
    motions: wgpu::Buffer,
    muscles: wgpu::Buffer,
    members: wgpu::Buffer,
    pub positions: wgpu::Buffer,
    pub normals: wgpu::Buffer,
    pub corners: wgpu::Buffer,
    deform: wgpu::BindGroup,
    normal: wgpu::BindGroup,
    /// What is uploaded.
    packed_motions: Vec<PackedMotion>,
    packed_muscles: Vec<Posed>,
    packed_members: Vec<Member>,
}

/// A [`Crowd`] whose vertices live on a graphics card. The crowd says who is where; its own frames stay as they are.
pub struct GpuCrowd {
    pub(crate) gpu: Gpu,
    deform: wgpu::ComputePipeline,
    normal: wgpu::ComputePipeline,
    pub(crate) batches: Vec<Batch>,
}

impl std::fmt::Debug for GpuCrowd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GpuCrowd").field("batches", &self.batches.len()).finish_non_exhaustive()
    }
}

impl GpuCrowd {
    /// Puts the characters of a crowd on the card. An error for a character whose method needs the processor.
    pub fn new(gpu: &Gpu, crowd: &Crowd) -> Result<Self, GpuError> {
        let deform = gpu.compute("deform", crate::shaders::DEFORM);
        let normal = gpu.compute("normal", crate::shaders::NORMALS);
        let mut batches = Vec::new();
        for (b, body) in crowd.bodies().iter().enumerate() {
            let of_body: Vec<usize> =
                (0..crowd.instances().len()).filter(|&k| crowd.instances()[k].body == b).collect();
            if of_body.is_empty() {
                continue;
            }
            let packed = std::sync::Arc::new(Packed::new(body)?);
            let shared = Shared::new(gpu, &packed);
            for instances in of_body.chunks(packed.most_instances()) {
                let pipelines = (&deform, &normal);
                batches.push(Batch::new(gpu, pipelines, (b, body), packed.clone(), &shared, instances));
            }
        }
        gpu.wait()?;
        Ok(Self { gpu: gpu.clone(), deform, normal, batches })
    }

    /// Deforms all of them for a moment, seconds, as [`Crowd::frame`] does; returns when the card is done. Vertices that fall
    /// back because their result is no number are not counted here.
    pub fn frame(&mut self, crowd: &Crowd, time: f32, eye: Option<Vec3>) -> Result<CrowdReport, GpuError> {
        let mut report = CrowdReport::default();
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        for batch in &mut self.batches {
            batch.pose(crowd, time, eye)?;
            batch.upload(&self.gpu);
            batch.add_to(&mut report);
            let instances = batch.seats.len() as u32;
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.deform);
            pass.set_bind_group(0, &batch.deform, &[]);
            pass.dispatch_workgroups(batch.packed.vertices.div_ceil(GROUP), instances, 1);
            pass.set_pipeline(&self.normal);
            pass.set_bind_group(0, &batch.normal, &[]);
            pass.dispatch_workgroups(batch.packed.slots.div_ceil(GROUP), instances, 1);
        }
        self.gpu.queue.submit([encoder.finish()]);
        self.gpu.wait()?;
        Ok(report)
    }

    /// Reads an instance back, in the character's own space as [`Member::frame`](ecorche::crowd::Member::frame) is.
    pub fn read(&self, crowd: &Crowd, instance: usize) -> Result<Frame, GpuError> {
        let place = self.batches.iter().find_map(|batch| {
            batch.seats.iter().position(|seat| seat.instance == instance).map(|k| (batch, k as u64))
        });
        let Some((batch, k)) = place else {
            return Err(GpuError::Unsupported { what: format!("there is no instance {}", instance + 1) });
        };
        let (vertices, slots) = (u64::from(batch.packed.vertices), u64::from(batch.packed.slots));
        let positions: Vec<[f32; 3]> = self.gpu.read(&batch.positions, 12 * k * vertices, 12 * vertices)?;
        let normals: Vec<[f32; 3]> = self.gpu.read(&batch.normals, 12 * k * slots, 12 * slots)?;
        let mut frame = Frame::default();
        let (mut first, mut first_slot) = (0, 0);
        for mesh in &crowd.bodies()[batch.body].character().meshes {
            let end = first + mesh.positions.len();
            let end_slot = first_slot + mesh.shading.slots;
            frame.meshes.push(FrameMesh {
                positions: positions[first..end].iter().map(|&p| p.into()).collect(),
                normals: normals[first_slot..end_slot].iter().map(|&n| n.into()).collect(),
            });
            (first, first_slot) = (end, end_slot);
        }
        Ok(frame)
    }

    /// Bytes that go up every frame: motions and muscles.
    pub fn bytes_per_frame(&self) -> usize {
        let of = |batch: &Batch| {
            size_of_val(batch.packed_motions.as_slice())
                + size_of_val(batch.packed_muscles.as_slice())
                + size_of_val(batch.packed_members.as_slice())
        };
        self.batches.iter().map(of).sum()
    }
}

/// Buffers that all batches of a body read.
struct Shared {
    starts: wgpu::Buffer,
    influences: wgpu::Buffer,
    entries: wgpu::Buffer,
    slot_starts: wgpu::Buffer,
    slot_corners: wgpu::Buffer,
    corners: wgpu::Buffer,
}

impl Shared {
    fn new(gpu: &Gpu, packed: &Packed) -> Self {
        Self {
            starts: gpu.storage("starts", &packed.starts),
            influences: gpu.storage("influences", &packed.influences),
            entries: gpu.storage("entries", &packed.entries),
            slot_starts: gpu.storage("slot starts", &packed.slot_starts),
            slot_corners: gpu.storage("slot corners", &packed.slot_corners),
            corners: gpu.storage("corners", &packed.corners),
        }
    }
}

impl Batch {
    fn new(
        gpu: &Gpu,
        (deform, normal): (&wgpu::ComputePipeline, &wgpu::ComputePipeline),
        (number, body): (usize, &Body),
        packed: std::sync::Arc<Packed>,
        shared: &Shared,
        instances: &[usize],
    ) -> Self {
        let count = instances.len();
        let storage = |label: &str, bytes: u64| gpu.empty(label, bytes, BufferUsages::STORAGE);
        let kept =
            |label: &str, bytes: u64| gpu.empty(label, bytes, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
        let (vertices, many) = (u64::from(packed.vertices), count as u64);
        let own_rest = if packed.morphs { 16 * vertices * many } else { 0 };
        let points = storage("points", 16 * packed.points.len() as u64 + own_rest);
        gpu.queue.write_buffer(&points, 0, bytemuck::cast_slice(&packed.points));
        let motions = storage("motions", 128 * u64::from(packed.motions) * many);
        let muscles = storage("muscles", 160 * u64::from(packed.muscles) * many);
        let members = storage("members", 8 * many);
        let positions = kept("positions", 12 * vertices * many);
        let normals = kept("normals", 12 * u64::from(packed.slots) * many);
        let shape = DeformShape {
            vertices: packed.vertices,
            slots: packed.motions,
            muscles: packed.muscles,
            skinning: packed.skinning,
            centres: packed.vertices,
            instances: count as u32,
            padding: [0; 2],
        };
        let normal_shape = NormalShape {
            vertices: packed.vertices,
            slots: packed.slots,
            instances: count as u32,
            padding: 0,
        };
        let of_deform = [
            &gpu.uniform("shape", &shape),
            &shared.starts,
            &shared.influences,
            &shared.entries,
            &points,
            &motions,
            &muscles,
            &members,
            &positions,
        ];
        let of_normal = [
            &gpu.uniform("shape", &normal_shape),
            &shared.slot_starts,
            &shared.slot_corners,
            &positions,
            &normals,
        ];
        let seat = |&instance: &usize| Seat {
            instance,
            pose: Pose::rest(body.character()),
            world: Vec::new(),
            motions: Vec::new(),
            muscles: parametric::Workspace::default(),
            morphed: Vec::new(),
            level: Level::Full,
            clamped: 0,
            fell_back: 0,
            is_begun: false,
        };
        Self {
            body: number,
            seats: instances.iter().map(seat).collect(),
            deform: gpu.bind(&deform.get_bind_group_layout(0), &of_deform),
            normal: gpu.bind(&normal.get_bind_group_layout(0), &of_normal),
            points,
            motions,
            muscles,
            members,
            positions,
            normals,
            corners: shared.corners.clone(),
            packed_motions: vec![PackedMotion::zeroed(); packed.motions as usize * count],
            packed_muscles: vec![Posed::default(); packed.muscles as usize * count],
            packed_members: vec![Member::default(); count],
            packed,
        }
    }

    /// Who sits here, and where their joints are in the character's own space.
    pub fn seated(&self) -> impl Iterator<Item = (usize, &[Affine3A])> + '_ {
        self.seats.iter().map(|seat| (seat.instance, seat.world.as_slice()))
    }

    /// Samples poses and puts muscles into them.
    fn pose(&mut self, crowd: &Crowd, time: f32, eye: Option<Vec3>) -> Result<(), GpuError> {
        let body = &crowd.bodies()[self.body];
        let moved = |seat: &&Seat| crowd.instances().get(seat.instance).is_none_or(|i| i.body != self.body);
        if let Some(seat) = self.seats.iter().find(moved) {
            let what = format!("instance {} has another body now; make the crowd anew", seat.instance + 1);
            return Err(GpuError::Unsupported { what });
        }
        let packed = &self.packed;
        let motions = self.packed_motions.par_chunks_mut(packed.motions.max(1) as usize);
        let one =
            |(k, ((seat, motions), member)): (usize, ((&mut Seat, &mut [PackedMotion]), &mut Member))| {
                let instance = &crowd.instances()[seat.instance];
                seat.pose(body, instance, time, crowd.detail().level(instance, eye), motions);
                let own = packed.points.len() as u32 + k as u32 * packed.vertices;
                let rest = if packed.morphs { own } else { 0 };
                let stays = seat.level == Level::None && seat.is_begun;
                let level = match seat.level {
                    _ if stays => 2,
                    // One that was never seen is deformed once, in full as on the processor.
                    Level::Full => 0,
                    Level::Skinning | Level::None => 1,
                };
                *member = Member { rest, level };
                seat.is_begun = true;
            };
        self.seats.par_iter_mut().zip(motions).zip(&mut self.packed_members).enumerate().for_each(one);
        if packed.muscles > 0 {
            let muscles = self.packed_muscles.chunks_mut(packed.muscles as usize);
            for (seat, muscles) in self.seats.iter().zip(muscles) {
                if seat.muscles.posed.len() == muscles.len() {
                    muscles.copy_from_slice(&seat.muscles.posed);
                }
            }
        }
        Ok(())
    }

    fn upload(&self, gpu: &Gpu) {
        gpu.queue.write_buffer(&self.motions, 0, bytemuck::cast_slice(&self.packed_motions));
        gpu.queue.write_buffer(&self.muscles, 0, bytemuck::cast_slice(&self.packed_muscles));
        gpu.queue.write_buffer(&self.members, 0, bytemuck::cast_slice(&self.packed_members));
        if self.packed.morphs {
            let mut rest: Vec<[f32; 4]> =
                Vec::with_capacity(self.seats.len() * self.packed.vertices as usize);
            for seat in &self.seats {
                rest.extend(seat.morphed.iter().map(|p| p.extend(1.0).to_array()));
            }
            let first = 16 * self.packed.points.len() as u64;
            gpu.queue.write_buffer(&self.points, first, bytemuck::cast_slice(&rest));
        }
    }

    fn add_to(&self, report: &mut CrowdReport) {
        for seat in &self.seats {
            report.levels[seat.level as usize] += 1;
            if seat.level == Level::Full {
                report.muscles += self.packed.muscles as usize;
                report.clamped += seat.clamped;
            }
            if seat.level != Level::None {
                report.fell_back += seat.fell_back;
            }
        }
    }
}

impl Seat {
    fn pose(
        &mut self,
        body: &Body,
        instance: &Instance,
        time: f32,
        level: Level,
        packed: &mut [PackedMotion],
    ) {
        self.level = level;
        if level == Level::None && self.is_begun {
            return;
        }
        let character = body.character();
        let moment = instance.sample(body, time, &mut self.pose);
        self.pose.world_into(&character.skeleton, &mut self.world);
        self.motions.clear();
        self.morphed.clear();
        self.fell_back = 0;
        let morphs = character.meshes.iter().any(|mesh| !mesh.morphs.is_empty());
        let mut morphed = Vec::new();
        for (m, mesh) in character.meshes.iter().enumerate() {
            self.fell_back += body.skinner(m).motions(&self.world, &mut self.motions);
            if morphs {
                mesh.morphed(self.pose.morph_weights.get(m).map_or(&[][..], Vec::as_slice), &mut morphed);
                self.morphed.extend_from_slice(&morphed);
            }
        }
        for (packed, motion) in packed.iter_mut().zip(&self.motions) {
            *packed = PackedMotion::of(motion);
        }
        if let Some(muscles) = body.parametric().filter(|_| level == Level::Full) {
            let moment = instance.clip_of(body).map(|clip| (clip.name.as_str(), moment));
            self.clamped = muscles.pose_at(&self.world, instance.tension, moment, &mut self.muscles);
        }
    }
}

impl PackedMotion {
    fn of(motion: &Motion) -> Self {
        let Motion { matrix, real, dual, stretch } = motion;
        let columns = [stretch.x_axis, stretch.y_axis, stretch.z_axis];
        Self {
            rows: rows(matrix),
            real: real.to_array(),
            dual: dual.to_array(),
            stretch: columns.map(|column| column.extend(0.0).to_array()),
        }
    }
}

/// The rows of a map, its translation last.
pub(crate) fn rows(map: &Affine3A) -> [[f32; 4]; 3] {
    let matrix = map.matrix3.transpose();
    let translation = map.translation;
    [
        matrix.x_axis.extend(translation.x).to_array(),
        matrix.y_axis.extend(translation.y).to_array(),
        matrix.z_axis.extend(translation.z).to_array(),
    ]
}

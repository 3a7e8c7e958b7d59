//! The stage `project` of the robust scheme on the card, for the vertices that the processor found awake.

use crate::device::{GROUP, Gpu, GpuError, MOST_BYTES};
use bytemuck::Pod;
use ecorche::deform::Body;
use ecorche::tracking::robust::offload::{Batch, Constants, Fields, Projected, Projector};
use std::sync::{Arc, Mutex, PoisonError};
use wgpu::BufferUsages;

/// Projects awake vertices on a graphics card. A frame goes up, is projected and comes back before the next stage, so it pays
/// where the card is much faster than the processor and contact is large.
pub struct GpuProjector {
    gpu: Gpu,
    pipeline: wgpu::ComputePipeline,
    constants: Constants,
    fields: wgpu::Buffer,
    relations: wgpu::Buffer,
    nodes: wgpu::Buffer,
    /// Of one frame at a time; frames of a crowd wait for each other.
    frame: Mutex<Uploads>,
}

/// Buffers that grow with the frames.
struct Uploads {
    constants: wgpu::Buffer,
    parts: Growing,
    lines: Growing,
    vertices: Growing,
    near: Growing,
    projected: Growing,
    packed_lines: Vec<[f32; 4]>,
}

struct Growing {
    label: &'static str,
    buffer: wgpu::Buffer,
}

impl std::fmt::Debug for GpuProjector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GpuProjector").field("parts", &self.constants.parts).finish_non_exhaustive()
    }
}

impl GpuProjector {
    /// Moves the projections of a body and all its clones to the card, from now on. False, and nothing changes, for a body that
    /// does not track contact, or whose operators join parts; one with displaced flesh is still projected on the
    /// processor.
    pub fn offload(gpu: &Gpu, body: &Body) -> Result<bool, GpuError> {
        let Some(tracker) = body.tracker() else { return Ok(false) };
        let Some(fields) = tracker.fields() else { return Ok(false) };
        Ok(tracker.offload(Arc::new(Self::new(gpu, &fields)?)))
    }

    /// A projector with these fields.
    pub fn new(gpu: &Gpu, fields: &Fields) -> Result<Self, GpuError> {
        let bytes = size_of_val(fields.nodes.as_slice()) as u64;
        if bytes > MOST_BYTES {
            let what = format!(
                "the baked fields have {} MiB, more than the {} of a binding; use the processor, or a lower resolution",
                bytes >> 20,
                MOST_BYTES >> 20
            );
            return Err(GpuError::Unsupported { what });
        }
        let storage = |label: &'static str| Growing {
            label,
            buffer: gpu.empty(label, 0, BufferUsages::STORAGE | BufferUsages::COPY_SRC),
        };
        let uploads = Uploads {
            constants: gpu.uniform("constants", &fields.constants),
            parts: storage("parts"),
            lines: storage("lines"),
            vertices: storage("vertices"),
            near: storage("near"),
            projected: storage("projected"),
            packed_lines: Vec::new(),
        };
        let made = Self {
            pipeline: gpu.compute("project", crate::shaders::PROJECT),
            constants: fields.constants,
            fields: gpu.storage("fields", &fields.fields),
            relations: gpu.storage("relations", &fields.relations),
            nodes: gpu.storage("nodes", &fields.nodes),
            frame: Mutex::new(uploads),
            gpu: gpu.clone(),
        };
        gpu.check()?;
        Ok(made)
    }

    fn run(&self, batch: &Batch) -> Result<Vec<Projected>, GpuError> {
        let mut frame = self.frame.lock().unwrap_or_else(PoisonError::into_inner);
        let Uploads { constants, parts, lines, vertices, near, projected, packed_lines } = &mut *frame;
        // Bends follow the segments, two vectors each as these.
        packed_lines.clear();
        packed_lines.extend(batch.segments.iter().flatten().map(|end| end.to_array()));
        for bend in &batch.bends {
            let ([x, y, z], [u, v, w]) = (bend.at, bend.inside);
            packed_lines.extend([[x, y, z, bend.amount], [u, v, w, bend.other as f32]]);
        }
        let mut packed_parts = batch.parts.clone();
        packed_parts.iter_mut().for_each(|part| part.first_bend += batch.segments.len() as u32);
        let counted = Constants { padding: [batch.vertices.len() as u32, 0], ..self.constants };
        self.gpu.queue.write_buffer(constants, 0, bytemuck::bytes_of(&counted));
        parts.write(&self.gpu, &packed_parts)?;
        lines.write(&self.gpu, packed_lines)?;
        vertices.write(&self.gpu, &batch.vertices)?;
        near.write(&self.gpu, &batch.near)?;
        let bytes = size_of::<Projected>() as u64 * batch.vertices.len() as u64;
        projected.reserve(&self.gpu, bytes)?;
        let buffers = [
            constants,
            &self.fields,
            &self.relations,
            &self.nodes,
            &parts.buffer,
            &lines.buffer,
            &vertices.buffer,
            &near.buffer,
            &projected.buffer,
        ];
        let group = self.gpu.bind(&self.pipeline.get_bind_group_layout(0), &buffers);
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups((batch.vertices.len() as u32).div_ceil(GROUP), 1, 1);
        }
        self.gpu.queue.submit([encoder.finish()]);
        self.gpu.read(&projected.buffer, 0, bytes)
    }
}

impl Projector for GpuProjector {
    fn project(&self, batch: &Batch, projected: &mut Vec<Projected>) -> bool {
        let Ok(found) = self.run(batch) else { return false };
        // A card's arithmetic need not stop at numbers that are not finite; such a frame is not its.
        let sound = |p: &Projected| p.at.iter().chain(&p.gradient).chain([&p.h]).all(|x| x.is_finite());
        if !found.iter().all(sound) {
            return false;
        }
        projected.extend(found);
        true
    }
}

impl Growing {
    fn reserve(&mut self, gpu: &Gpu, bytes: u64) -> Result<(), GpuError> {
        if bytes > MOST_BYTES {
            let what = format!("the {} of a frame have {} MiB", self.label, bytes >> 20);
            return Err(GpuError::Unsupported { what });
        }
        if self.buffer.size() < bytes {
            let room = bytes.next_power_of_two().min(MOST_BYTES);
            self.buffer = gpu.empty(self.label, room, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
        }
        Ok(())
    }

    fn write<T: Pod>(&mut self, gpu: &Gpu, items: &[T]) -> Result<(), GpuError> {
        self.reserve(gpu, size_of_val(items) as u64)?;
        if !items.is_empty() {
            gpu.queue.write_buffer(&self.buffer, 0, bytemuck::cast_slice(items));
        }
        Ok(())
    }
}

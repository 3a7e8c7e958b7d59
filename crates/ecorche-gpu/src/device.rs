//! The graphics card: found, asked for a device, given buffers and shaders.

use bytemuck::Pod;
use std::sync::{Arc, Mutex, PoisonError};
use wgpu::util::{BufferInitDescriptor, DeviceExt};

/// Why something cannot be done on a graphics card. The processor can do it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// There is no adapter, or it gives no device.
    #[error("no graphics adapter: {0}")]
    NoAdapter(String),
    /// A character or crowd that is not made for it.
    #[error("{what}")]
    Unsupported {
        /// What, and what to do about it.
        what: String,
    },
    /// The device ran out of memory, was lost, or refused something.
    #[error("the graphics device failed: {0}")]
    Failed(String),
}

/// A graphics device.
#[derive(Clone, Debug)]
pub struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    name: String,
    is_software: bool,
    /// The first thing that went wrong since it was last asked.
    trouble: Arc<Mutex<Option<String>>>,
}

/// Bytes that a binding may have: WebGPU's default.
pub(crate) const MOST_BYTES: u64 = 128 << 20;
/// Workgroups along an axis: WebGPU's default.
pub(crate) const MOST_GROUPS: u32 = 65_535;
/// Threads of a workgroup in all shaders that go over vertices.
pub(crate) const GROUP: u32 = 64;

impl Gpu {
    /// The fastest adapter there is, with no more than the default limits of WebGPU. A software driver counts.
    pub fn new() -> Result<Self, GpuError> {
        let missing = |what: String| GpuError::NoAdapter(what);
        let instance = wgpu::Instance::default();
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&options))
            .map_err(|error| missing(first_line(&error.to_string())))?;
        let info = adapter.get_info();
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("ecorche"),
            required_limits: wgpu::Limits::default(),
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|error| missing(format!("{}: {}", info.name, first_line(&error.to_string()))))?;
        let trouble = Arc::new(Mutex::new(None));
        let (of_errors, of_loss) = (trouble.clone(), trouble.clone());
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| note(&of_errors, &error.to_string())));
        device.set_device_lost_callback(move |reason, text| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                note(&of_loss, &format!("lost: {text}"));
            }
        });
        let is_software = info.device_type == wgpu::DeviceType::Cpu;
        Ok(Self { device, queue, name: info.name, is_software, trouble })
    }

    /// The adapter's own name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a driver that computes on the processor: good for checks, not for speed.
    pub fn is_software(&self) -> bool {
        self.is_software
    }

    /// An error if something went wrong on the device since this was last asked.
    pub(crate) fn check(&self) -> Result<(), GpuError> {
        match self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(what) => Err(GpuError::Failed(what)),
            None => Ok(()),
        }
    }

    /// Waits until everything that was submitted is done.
    pub(crate) fn wait(&self) -> Result<(), GpuError> {
        let waited = self.device.poll(wgpu::PollType::wait_indefinitely());
        waited.map_err(|error| GpuError::Failed(error.to_string()))?;
        self.check()
    }

    /// A storage buffer with these numbers; never empty, since none may be bound.
    pub(crate) fn storage<T: Pod>(&self, label: &str, items: &[T]) -> wgpu::Buffer {
        if items.is_empty() {
            return self.empty(label, 256, wgpu::BufferUsages::STORAGE);
        }
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let contents = bytemuck::cast_slice(items);
        self.device.create_buffer_init(&BufferInitDescriptor { label: Some(label), contents, usage })
    }

    /// A uniform buffer.
    pub(crate) fn uniform<T: Pod>(&self, label: &str, item: &T) -> wgpu::Buffer {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let contents = bytemuck::bytes_of(item);
        self.device.create_buffer_init(&BufferInitDescriptor { label: Some(label), contents, usage })
    }

    /// A buffer to be filled, of at least 256 bytes.
    pub(crate) fn empty(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let size = bytes.max(256).next_multiple_of(4);
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    pub(crate) fn shader(&self, label: &str, text: &str) -> wgpu::ShaderModule {
        let source = wgpu::ShaderSource::Wgsl(text.into());
        self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(label), source })
    }

    pub(crate) fn compute(&self, entry: &str, text: &str) -> wgpu::ComputePipeline {
        let module = self.shader(entry, text);
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry),
            layout: None,
            module: &module,
            entry_point: Some(entry),
            compilation_options: Default::default(),
            cache: None,
        })
    }

    /// Buffers at the bindings 0, 1 and so on.
    pub(crate) fn bind(&self, layout: &wgpu::BindGroupLayout, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let bound = (0..).zip(buffers.iter().map(|buffer| buffer.as_entire_binding()));
        let entries: Vec<_> =
            bound.map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
    }

    /// Reads part of a buffer back, as numbers.
    pub(crate) fn read<T: Pod>(
        &self,
        buffer: &wgpu::Buffer,
        first: u64,
        bytes: u64,
    ) -> Result<Vec<T>, GpuError> {
        let usage = wgpu::BufferUsages::MAP_READ;
        let staging = self.empty("read back", bytes, usage);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, first, &staging, 0, bytes);
        self.queue.submit([encoder.finish()]);
        self.map(&staging, bytes)
    }

    /// The numbers of a buffer that can be mapped.
    pub(crate) fn map<T: Pod>(&self, staging: &wgpu::Buffer, bytes: u64) -> Result<Vec<T>, GpuError> {
        staging.map_async(wgpu::MapMode::Read, 0..bytes, |_| ());
        self.wait()?;
        let view = staging.get_mapped_range(0..bytes).map_err(|error| GpuError::Failed(error.to_string()))?;
        Ok(bytemuck::pod_collect_to_vec(&view))
    }
}

fn note(trouble: &Mutex<Option<String>>, what: &str) {
    let mut trouble = trouble.lock().unwrap_or_else(PoisonError::into_inner);
    trouble.get_or_insert_with(|| first_line(what));
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("unknown reason").to_owned()
}

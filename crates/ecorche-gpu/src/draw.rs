//! A picture of the crowd from the card's own buffers; only its pixels are read back.

use crate::crowd::{Batch, GpuCrowd, rows};
use crate::device::GpuError;
use bytemuck::{Pod, Zeroable};
use ecorche::character::Character;
use ecorche::crowd::Crowd;
use ecorche::output::Picture;
use ecorche::output::raster::{Camera, Framing, View};
use glam::{Affine3A, Mat3A, Vec3};

/// The uniform of `draw.wgsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PackedCamera {
    eye: [f32; 4],
    right: [f32; 4],
    up: [f32; 4],
    forward: [f32; 4],
    vertices: u32,
    slots: u32,
    padding: [u32; 2],
}

/// Where an instance is, as `draw.wgsl` reads it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Place {
    rows: [[f32; 4]; 3],
    normal_rows: [[f32; 4]; 3],
}

/// Samples of every pixel.
const SAMPLES: u32 = 4;
const COLOUR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// Pixels along a side: WebGPU's default for textures.
const MOST_PIXELS: usize = 8192;
/// Behind the crowd, linear light.
const GROUND: wgpu::Color = wgpu::Color { r: 0.83, g: 0.84, b: 0.86, a: 1.0 };

impl GpuCrowd {
    /// Draws the last frame, `width` x `height` pixels, at most 8192 each.
    pub fn picture(
        &self,
        crowd: &Crowd,
        view: View,
        width: usize,
        height: usize,
    ) -> Result<Picture, GpuError> {
        let (width, height) = (width.clamp(1, MOST_PIXELS), height.clamp(1, MOST_PIXELS));
        let points = self.reach(crowd);
        let framing = Framing { view, aspect: width as f32 / height as f32, ..Framing::default() };
        let camera = framing.camera(std::iter::once(points.as_slice()));
        let device = &self.gpu.device;
        let pipeline = self.pipeline();
        let size = wgpu::Extent3d { width: width as u32, height: height as u32, depth_or_array_layers: 1 };
        let texture = |format, samples, usage| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size,
                mip_level_count: 1,
                sample_count: samples,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage,
                view_formats: &[],
            })
        };
        let attached = wgpu::TextureUsages::RENDER_ATTACHMENT;
        let resolved = texture(COLOUR, 1, attached | wgpu::TextureUsages::COPY_SRC);
        let view_of = |texture: &wgpu::Texture| texture.create_view(&Default::default());
        let (colour, depth) =
            (view_of(&texture(COLOUR, SAMPLES, attached)), view_of(&texture(DEPTH, SAMPLES, attached)));
        let groups: Vec<wgpu::BindGroup> = self
            .batches
            .iter()
            .map(|batch| {
                let uniform = PackedCamera::new(&camera, width as f32 / height as f32, batch);
                let places: Vec<Place> =
                    batch.seated().map(|(k, _)| Place::of(crowd.instances()[k].place)).collect();
                let buffers = [
                    &self.gpu.uniform("camera", &uniform),
                    &batch.corners,
                    &batch.positions,
                    &batch.normals,
                    &self.gpu.storage("places", &places),
                ];
                self.gpu.bind(&pipeline.get_bind_group_layout(0), &buffers)
            })
            .collect();
        let mut encoder = device.create_command_encoder(&Default::default());
        {
            let resolve = view_of(&resolved);
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("crowd"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &colour,
                    depth_slice: None,
                    resolve_target: Some(&resolve),
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(GROUND),
                        store: wgpu::StoreOp::Discard,
                    },
                })],
                depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                    view: &depth,
                    depth_ops: Some(wgpu::Operations {
                        load: wgpu::LoadOp::Clear(0.0),
                        store: wgpu::StoreOp::Discard,
                    }),
                    stencil_ops: None,
                }),
                ..Default::default()
            });
            pass.set_pipeline(&pipeline);
            for (batch, group) in self.batches.iter().zip(&groups) {
                pass.set_bind_group(0, group, &[]);
                pass.draw(0..batch.packed.corners.len() as u32, 0..batch.seated().count() as u32);
            }
        }
        let row = (4 * width as u32).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let bytes = u64::from(row) * height as u64;
        let staging = self.gpu.empty("picture", bytes, wgpu::BufferUsages::MAP_READ);
        encoder.copy_texture_to_buffer(
            resolved.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &staging,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(row),
                    rows_per_image: None,
                },
            },
            size,
        );
        self.gpu.queue.submit([encoder.finish()]);
        let pixels: Vec<[u8; 4]> = self.gpu.map(&staging, bytes)?;
        let rows = pixels.chunks(row as usize / 4).flat_map(|row| &row[..width]);
        Ok(Picture::from_pixels(width, height, rows.map(|&[r, g, b, _]| [r, g, b]).collect()))
    }

    /// Points around every instance: each joint, and six as far from it as its skin is at rest.
    fn reach(&self, crowd: &Crowd) -> Vec<Vec3> {
        let mut points = Vec::new();
        for batch in &self.batches {
            let reaches = reaches(crowd.bodies()[batch.body].character());
            for (k, joints) in batch.seated() {
                let place = crowd.instances()[k].place;
                let scale = place.matrix3.determinant().abs().cbrt();
                for (joint, reach) in joints.iter().zip(&reaches).filter(|(_, reach)| **reach > 0.0) {
                    let at = place.transform_point3(joint.translation.into());
                    let aside = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| scale * reach * axis);
                    points.extend(aside.iter().flat_map(|&aside| [at - aside, at + aside]));
                }
            }
        }
        points
    }

    fn pipeline(&self) -> wgpu::RenderPipeline {
        let module = self.gpu.shader("draw", crate::shaders::DRAW);
        self.gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("draw"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("place"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Greater),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState { count: SAMPLES, ..Default::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("shade"),
                compilation_options: Default::default(),
                targets: &[Some(COLOUR.into())],
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

/// How far the skin that is bound most strongly to each joint is from it at rest, metres.
fn reaches(character: &Character) -> Vec<f32> {
    let mut reaches = vec![0f32; character.skeleton.len()];
    for mesh in &character.meshes {
        for (v, &p) in mesh.positions.iter().enumerate() {
            let (joint, at) = match mesh.skin().filter(|skin| v < skin.influences.len()) {
                Some(skin) => {
                    let slot = skin.influences.strongest(v) as usize;
                    let joint_from_bind = skin.joint_from_bind.get(slot).copied().unwrap_or_default();
                    (skin.joints.get(slot).copied().unwrap_or(0), joint_from_bind.transform_point3(p))
                }
                None => (mesh.joint, p),
            };
            if let Some(reach) = reaches.get_mut(joint) {
                *reach = reach.max(at.length());
            }
        }
    }
    reaches
}

impl PackedCamera {
    fn new(camera: &Camera, aspect: f32, batch: &Batch) -> Self {
        let least = 1e-3 * camera.reach;
        Self {
            eye: camera.eye.extend(0.0).to_array(),
            right: camera.right.extend(camera.half_height * aspect).to_array(),
            up: camera.up.extend(camera.half_height).to_array(),
            forward: camera.forward.extend(least).to_array(),
            vertices: batch.packed.vertices,
            slots: batch.packed.slots,
            padding: [0; 2],
        }
    }
}

impl Place {
    fn of(place: Affine3A) -> Self {
        let inverse = place.matrix3.inverse();
        let turn = if inverse.is_finite() { inverse.transpose() } else { Mat3A::IDENTITY };
        let turn = Affine3A { matrix3: turn, translation: Vec3::ZERO.into() };
        Self { rows: rows(&place), normal_rows: rows(&turn) }
    }
}

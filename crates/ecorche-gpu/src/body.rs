//! A body laid out for the shaders: all meshes one after the other. Made once, shared by its instances.

use crate::device::{GROUP, GpuError, MOST_BYTES, MOST_GROUPS};
use bytemuck::{Pod, Zeroable};
use ecorche::deform::{Body, Under};
use ecorche::skinning::Skinning;

/// The colour of a mesh without one: red, green, blue.
const CLAY: [f32; 3] = [0.584, 0.386, 0.301];

/// Vertices, weights, muscles and triangles as `deform.wgsl`, `normals.wgsl` and `draw.wgsl` read them.
pub(crate) struct Packed {
    /// Vertices and shading slots of all meshes.
    pub vertices: u32,
    pub slots: u32,
    /// Joints' motions of an instance: every mesh has its own.
    pub motions: u32,
    pub muscles: u32,
    pub skinning: u32,
    /// Whether morphs change the rest positions, so that every instance has its own.
    pub morphs: bool,
    pub starts: Vec<u32>,
    pub influences: Vec<[u32; 2]>,
    pub entries: Vec<[u32; 4]>,
    /// Rest positions, then the centres of rotation if there are any.
    pub points: Vec<[f32; 4]>,
    pub slot_starts: Vec<u32>,
    pub slot_corners: Vec<[u32; 4]>,
    /// Vertex, slot and colour of every triangle corner.
    pub corners: Vec<[u32; 4]>,
}

/// The uniform of `deform.wgsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct DeformShape {
    pub vertices: u32,
    pub slots: u32,
    pub muscles: u32,
    pub skinning: u32,
    pub centres: u32,
    pub instances: u32,
    pub padding: [u32; 2],
}

impl Packed {
    /// Lays a body out; an error names the character if its method is not one for graphics cards.
    pub fn new(body: &Body) -> Result<Self, GpuError> {
        let character = body.character();
        let unsupported =
            |what: String| GpuError::Unsupported { what: format!("{}: {what}", character.name) };
        let stack = body.stack();
        if stack.tracking.is_some() || !stack.surface.is_empty() || stack.under == Under::Flesh {
            return Err(unsupported(format!(
                "the method {stack} needs the processor; on a graphics card run lbs, dqs, cor and parametric over one of them"
            )));
        }
        let skinning = match stack.skinning {
            Skinning::Linear => 0,
            Skinning::DualQuaternion => 1,
            Skinning::CentreOfRotation => 2,
        };
        let mut packed = Self {
            vertices: 0,
            slots: 0,
            motions: 0,
            muscles: body.parametric().map_or(0, |muscles| muscles.len() as u32),
            skinning,
            morphs: character.meshes.iter().any(|mesh| !mesh.morphs.is_empty()),
            starts: vec![0],
            influences: Vec::new(),
            entries: Vec::new(),
            points: Vec::new(),
            slot_starts: vec![0],
            slot_corners: Vec::new(),
            corners: Vec::new(),
        };
        let mut centres = Vec::new();
        let mut entry_starts = vec![0];
        for (m, mesh) in character.meshes.iter().enumerate() {
            let (first, first_slot) = (packed.vertices, packed.slots);
            let skinner = body.skinner(m);
            let slots =
                mesh.skin().map_or(1, |skin| skin.joints.len().min(skin.joint_from_bind.len())) as u32;
            for v in 0..mesh.positions.len() {
                match mesh.skin() {
                    Some(skin) if v < skin.influences.len() => {
                        packed.influences.extend(
                            skin.influences
                                .of(v)
                                .map(|(slot, weight)| [packed.motions + slot.min(slots), weight.to_bits()]),
                        );
                    }
                    // The slot after the last does not move.
                    Some(_) => packed.influences.push([packed.motions + slots, 1f32.to_bits()]),
                    None => packed.influences.push([packed.motions, 1f32.to_bits()]),
                }
                packed.starts.push(packed.influences.len() as u32);
                packed.points.push(mesh.positions[v].extend(1.0).to_array());
                let centre = skinner.centres().as_slice().get(v).unwrap_or(&mesh.positions[v]);
                centres.push(centre.extend(1.0).to_array());
            }
            let mut next = 0;
            if let Some(muscles) = body.parametric() {
                for (v, entries) in muscles.influence(m).entries() {
                    entry_starts.resize(entry_starts.len() + v as usize - next, packed.entries.len() as u32);
                    packed.entries.extend(entries.iter().map(|e| {
                        let muscle = u32::from(e.muscle) | u32::from(e.on_one_bone) << 16;
                        [muscle, e.weight.to_bits(), e.fat.to_bits(), e.height.to_bits()]
                    }));
                    entry_starts.push(packed.entries.len() as u32);
                    next = v as usize + 1;
                }
            }
            let left = mesh.positions.len() - next;
            entry_starts.resize(entry_starts.len() + left, packed.entries.len() as u32);
            let triangles = mesh.shading.triangles();
            for slot in 0..mesh.shading.slots {
                packed.slot_corners.extend(mesh.shading.corners_of(slot).iter().map(|&c| {
                    let triangle = triangles[c as usize / 3];
                    let after = |k: u32| first + triangle[((c + k) % 3) as usize];
                    [after(0), after(1), after(2), 0]
                }));
                packed.slot_starts.push(packed.slot_corners.len() as u32);
            }
            let colour = pack_colour(character.colour(mesh).unwrap_or(CLAY));
            packed.corners.extend(mesh.faces.triangle_corners().iter().flatten().map(|&c| {
                let (vertex, slot) =
                    (mesh.faces.corners[c as usize], mesh.shading.slot_of_corner[c as usize]);
                [first + vertex, first_slot + slot, colour, 0]
            }));
            packed.vertices += mesh.positions.len() as u32;
            packed.slots += mesh.shading.slots as u32;
            packed.motions += slots + 1;
        }
        packed.starts.extend(entry_starts);
        if packed.skinning == 2 {
            packed.points.extend(centres);
        }
        let most = packed.points.len().max(packed.corners.len()).max(packed.slot_corners.len()) as u64 * 16;
        if most > MOST_BYTES || packed.vertices.max(packed.slots).div_ceil(GROUP) > MOST_GROUPS {
            return Err(unsupported(format!(
                "{} vertices are more than a graphics card takes at once; use the processor",
                packed.vertices
            )));
        }
        Ok(packed)
    }

    /// How many instances a batch may have: no buffer of it is larger than a binding may be.
    pub fn most_instances(&self) -> usize {
        let morphed = if self.morphs { 16 * u64::from(self.vertices) } else { 0 };
        let fixed = if self.morphs { 16 * self.points.len() as u64 } else { 0 };
        let sizes = [
            12 * u64::from(self.vertices),
            12 * u64::from(self.slots),
            128 * u64::from(self.motions),
            160 * u64::from(self.muscles),
            morphed,
        ];
        let largest = sizes.into_iter().max().unwrap_or(1).max(1);
        (((MOST_BYTES - fixed) / largest) as usize).clamp(1, MOST_GROUPS as usize)
    }
}

fn pack_colour(colour: [f32; 3]) -> u32 {
    let [red, green, blue] = colour.map(|c| (c.clamp(0.0, 1.0) * 255.0 + 0.5) as u32);
    red | green << 8 | blue << 16
}

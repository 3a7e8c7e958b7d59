//! The shaders' texts, in WGSL. Tests check them without a graphics card.

/// Skinning and parametric muscles; entry `deform`.
pub const DEFORM: &str = include_str!("shaders/deform.wgsl");
/// Normals; entry `normal`.
pub const NORMALS: &str = include_str!("shaders/normals.wgsl");
/// Pictures; entries `place` and `shade`.
pub const DRAW: &str = include_str!("shaders/draw.wgsl");
/// Projections; entry `project`.
pub const PROJECT: &str = include_str!("shaders/project.wgsl");

#[cfg(test)]
mod tests {
    use super::*;
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    use naga::{AddressSpace, ShaderStage};

    #[test]
    fn every_shader_is_valid_and_keeps_to_the_default_limits_of_webgpu() {
        for (name, text) in [("deform", DEFORM), ("normals", NORMALS), ("draw", DRAW), ("project", PROJECT)] {
            let module = naga::front::wgsl::parse_str(text)
                .unwrap_or_else(|error| panic!("{name}.wgsl: {}", error.emit_to_string(text)));
            let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
            if let Err(error) = validator.validate(&module) {
                panic!("{name}.wgsl: {}", error.emit_to_string(text));
            }
            let storage = |v: &naga::GlobalVariable| matches!(v.space, AddressSpace::Storage { .. });
            let buffers = module.global_variables.iter().filter(|(_, v)| storage(v)).count();
            assert!(buffers <= 8, "{name}.wgsl has {buffers} storage buffers");
            for entry in module.entry_points.iter().filter(|e| e.stage == ShaderStage::Compute) {
                assert!(entry.workgroup_size.iter().product::<u32>() <= 256, "{name}.wgsl: {}", entry.name);
            }
        }
    }

    #[test]
    fn a_shader_with_a_mistake_is_refused() {
        let wrong = NORMALS.replace("let slot = id.x;", "let slot = id.q;");
        let error = naga::front::wgsl::parse_str(&wrong).unwrap_err();
        assert!(error.emit_to_string(&wrong).contains("id.q"));
    }
}

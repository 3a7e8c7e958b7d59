// Normals of a deformed mesh: one invocation per shading slot and instance; see geom/shading.rs and geom/mesh.rs of the library.

struct Shape {
    vertices: u32,
    slots: u32,
    instances: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
// Of every slot its first corner, and the end.
@group(0) @binding(1) var<storage, read> starts: array<u32>;
// A triangle's vertices, first the one at the corner.
@group(0) @binding(2) var<storage, read> corners: array<vec4u>;
@group(0) @binding(3) var<storage, read> positions: array<f32>;
@group(0) @binding(4) var<storage, read_write> normals: array<f32>;

fn position(vertex: u32) -> vec3f {
    return vec3f(positions[3u * vertex], positions[3u * vertex + 1u], positions[3u * vertex + 2u]);
}

@compute @workgroup_size(64)
fn normal(@builtin(global_invocation_id) id: vec3u) {
    let slot = id.x;
    let instance = id.y;
    if slot >= shape.slots || instance >= shape.instances {
        return;
    }
    let first = instance * shape.vertices;
    var sum = vec3f(0.0);
    for (var i = starts[slot]; i < starts[slot + 1u]; i++) {
        let corner = corners[i];
        let a = position(first + corner.x);
        let next = position(first + corner.y) - a;
        let last = position(first + corner.z) - a;
        // Each corner counts by the sine of its angle over the lengths of its edges.
        let lengths = dot(next, next) * dot(last, last);
        if lengths > 0.0 {
            sum += cross(next, last) / lengths;
        }
    }
    let squared = dot(sum, sum);
    // A length that is no number is not above zero either.
    let unit = select(vec3f(0.0, 1.0, 0.0), sum * inverseSqrt(squared), squared > 0.0 && squared < 1e37);
    let out = 3u * (instance * shape.slots + slot);
    normals[out] = unit.x;
    normals[out + 1u] = unit.y;
    normals[out + 2u] = unit.z;
}

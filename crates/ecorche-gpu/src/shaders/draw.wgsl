// Instances from the buffers that `deform` and `normal` filled: nothing is read back.

struct Camera {
    eye: vec4f,
    // Unit axes; the fourth numbers: half width and half height of the picture at distance one, and the least distance.
    right: vec4f,
    up: vec4f,
    forward: vec4f,
    vertices: u32,
    slots: u32,
}

struct Place {
    rows: array<vec4f, 3>,
    // Rows that take normals to the world; lengths change.
    normal_rows: array<vec4f, 3>,
}

@group(0) @binding(0) var<uniform> camera: Camera;
// Vertex, slot and colour of every triangle corner.
@group(0) @binding(1) var<storage, read> corners: array<vec4u>;
@group(0) @binding(2) var<storage, read> positions: array<f32>;
@group(0) @binding(3) var<storage, read> normals: array<f32>;
@group(0) @binding(4) var<storage, read> places: array<Place>;

struct Seen {
    @builtin(position) at: vec4f,
    @location(0) normal: vec3f,
    @location(1) colour: vec3f,
    @location(2) to_eye: vec3f,
}

@vertex
fn place(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Seen {
    let corner = corners[vertex];
    let p = 3u * (instance * camera.vertices + corner.x);
    let n = 3u * (instance * camera.slots + corner.y);
    let point = vec4f(positions[p], positions[p + 1u], positions[p + 2u], 1.0);
    let normal = vec4f(normals[n], normals[n + 1u], normals[n + 2u], 0.0);
    let rows = places[instance].rows;
    let turn = places[instance].normal_rows;
    let world = vec3f(dot(rows[0], point), dot(rows[1], point), dot(rows[2], point));
    let offset = world - camera.eye.xyz;
    let distance = dot(offset, camera.forward.xyz);
    var seen: Seen;
    // Depth is the least distance over the distance: 1 near, 0 far.
    seen.at = vec4f(dot(offset, camera.right.xyz) / camera.right.w, dot(offset, camera.up.xyz) / camera.up.w, camera.forward.w, distance);
    seen.normal = vec3f(dot(turn[0], normal), dot(turn[1], normal), dot(turn[2], normal));
    seen.colour = unpack4x8unorm(corner.z).xyz;
    seen.to_eye = -offset;
    return seen;
}

@fragment
fn shade(seen: Seen) -> @location(0) vec4f {
    let normal = normalize(seen.normal);
    let key = max(dot(normal, normalize(vec3f(0.45, 0.7, 0.6))), 0.0);
    let sky = 0.5 + 0.5 * normal.y;
    let rim = pow(1.0 - max(dot(normal, normalize(seen.to_eye)), 0.0), 3.0);
    let light = 0.75 * key + 0.35 * sky + 0.08;
    return vec4f(seen.colour * light + vec3f(0.06 * rim), 1.0);
}

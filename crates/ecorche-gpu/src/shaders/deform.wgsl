// Skinning, then parametric muscles: one invocation per vertex and instance.
//
// The same formulas as skinning/{linear,dual_quaternion,centre_of_rotation}.rs and
// muscle/parametric/{pose,influence}.rs of the library.

struct Shape {
    vertices: u32,
    slots: u32,
    muscles: u32,
    // 0 linear, 1 dual quaternions, 2 centres of rotation.
    skinning: u32,
    // Of the vertices in `points`, where the centres of rotation begin.
    centres: u32,
    instances: u32,
}

struct Member {
    // Where its rest positions begin in `points`.
    rest: u32,
    // 0 with muscles, 1 skinned, 2 left as it is.
    level: u32,
}

struct Motion {
    rows: array<vec4f, 3>,
    real: vec4f,
    dual: vec4f,
    stretch: array<vec4f, 3>,
}

struct Muscle {
    origin: vec4f,
    side: vec4f,
    line: vec4f,
    bulge: vec4f,
    thickness: array<vec4f, 2>,
    // Before the centre across and along the bulge direction, then after it.
    sweep: array<vec4f, 4>,
}

@group(0) @binding(0) var<uniform> shape: Shape;
// Of every vertex its first influence, and the end; then its first entry, and the end.
@group(0) @binding(1) var<storage, read> starts: array<u32>;
// Slot, and bits of the weight.
@group(0) @binding(2) var<storage, read> influences: array<vec2u>;
// Muscle and, 16 bits up, whether it is on one bone; bits of weight, fat and height.
@group(0) @binding(3) var<storage, read> entries: array<vec4u>;
@group(0) @binding(4) var<storage, read> points: array<vec4f>;
@group(0) @binding(5) var<storage, read> motions: array<Motion>;
@group(0) @binding(6) var<storage, read> muscles: array<Muscle>;
@group(0) @binding(7) var<storage, read> members: array<Member>;
@group(0) @binding(8) var<storage, read_write> positions: array<f32>;

// Share of the line, of the half thickness and of the half axis over which weights fade; see the library.
const END = 0.08;
const EDGE = 0.15;
const GRIP = 0.5;

fn smooth_step(value: f32) -> f32 {
    let x = clamp(value, 0.0, 1.0);
    return x * x * (3.0 - 2.0 * x);
}

fn by_rows(rows: array<vec4f, 3>, p: vec3f) -> vec3f {
    let h = vec4f(p, 1.0);
    return vec3f(dot(rows[0], h), dot(rows[1], h), dot(rows[2], h));
}

fn linear(first_motion: u32, first: u32, end: u32, p: vec3f) -> vec3f {
    var sum = vec3f(0.0);
    for (var i = first; i < end; i++) {
        let influence = influences[i];
        sum += bitcast<f32>(influence.y) * by_rows(motions[first_motion + influence.x].rows, p);
    }
    return sum;
}

struct Blend {
    real: vec4f,
    dual: vec4f,
    stretch: mat3x3f,
}

// Motions of the joints, each on the side of the first, strongest one.
fn blend(first_motion: u32, first: u32, end: u32) -> Blend {
    let strongest = motions[first_motion + influences[first].x].real;
    var sum = Blend(vec4f(0.0), vec4f(0.0), mat3x3f(vec3f(0.0), vec3f(0.0), vec3f(0.0)));
    for (var i = first; i < end; i++) {
        let influence = influences[i];
        let at = first_motion + influence.x;
        let weight = bitcast<f32>(influence.y);
        let real = motions[at].real;
        let signed = select(weight, -weight, dot(strongest, real) < 0.0);
        sum.real += real * signed;
        sum.dual += motions[at].dual * signed;
        let columns = motions[at].stretch;
        sum.stretch += mat3x3f(columns[0].xyz, columns[1].xyz, columns[2].xyz) * weight;
    }
    return sum;
}

fn skin(first_motion: u32, vertex: u32, rest: vec3f) -> vec3f {
    let first = starts[vertex];
    let end = starts[vertex + 1u];
    if shape.skinning == 0u || end - first == 1u {
        return linear(first_motion, first, end, rest);
    }
    let sum = blend(first_motion, first, end);
    let axis = sum.real.xyz;
    let scale = 2.0 / dot(sum.real, sum.real);
    if shape.skinning == 1u {
        let p = sum.stretch * rest;
        let inner = cross(axis, p) + p * sum.real.w + sum.dual.xyz;
        return p + (cross(axis, inner) + sum.dual.xyz * sum.real.w - axis * sum.dual.w) * scale;
    }
    let centre = points[shape.centres + vertex].xyz;
    let arm = sum.stretch * (rest - centre);
    let inner = cross(axis, arm) + arm * sum.real.w;
    return linear(first_motion, first, end, centre) + arm + cross(axis, inner) * scale;
}

// Displacement by one muscle, weighted; and the weight.
fn displacement(muscle_at: u32, entry: vec4u, point: vec3f) -> vec4f {
    let origin = muscles[muscle_at].origin;
    let line = muscles[muscle_at].line;
    let offset = point - origin.xyz;
    let t = dot(offset, line.xyz) * line.w;
    if !(t > 0.0 && t < 1.0) {
        return vec4f(0.0);
    }
    let side = muscles[muscle_at].side;
    let bulge = muscles[muscle_at].bulge;
    let centre = side.w;
    let late = t > centre;
    let half = select(0u, 1u, late);
    let local = select(t / centre, (t - centre) / (1.0 - centre), late);
    let other = 1.0 - local;
    let basis = vec4f(other * other * other, 3.0 * local * other * other, 3.0 * local * local * other, local * local * local);
    let thickness = dot(muscles[muscle_at].thickness[half], basis);
    let across = dot(muscles[muscle_at].sweep[2u * half], basis);
    let along = dot(muscles[muscle_at].sweep[2u * half + 1u], basis);
    let tension = origin.w;
    let aside = abs(dot(offset, side.xyz) - across) * tension;
    if aside >= thickness {
        return vec4f(0.0);
    }
    let height = bulge.w * tension * sqrt((thickness - aside) * (thickness + aside));
    let fade = smooth_step((thickness - aside) / (EDGE * thickness)) * smooth_step(t / END) * smooth_step((1.0 - t) / END);
    let rest_height = bitcast<f32>(entry.w);
    let thicker = height - rest_height;
    let slipped = along - dot(offset, bulge.xyz) + rest_height + bitcast<f32>(entry.z);
    let grip = 1.0 - smooth_step(abs(slipped) / (GRIP * bulge.w * tension * thickness));
    let weight = bitcast<f32>(entry.y) * fade * grip;
    let moved = select(thicker + slipped, thicker, (entry.x >> 16u) != 0u);
    return vec4f(weight * max(moved, 0.0) * bulge.xyz, weight);
}

@compute @workgroup_size(64)
fn deform(@builtin(global_invocation_id) id: vec3u) {
    let vertex = id.x;
    let instance = id.y;
    if vertex >= shape.vertices || instance >= shape.instances {
        return;
    }
    let member = members[instance];
    if member.level == 2u {
        return;
    }
    let rest = points[member.rest + vertex].xyz;
    var point = skin(instance * shape.slots, vertex, rest);
    if member.level == 0u {
        let at = shape.vertices + 1u + vertex;
        var sum = vec4f(0.0);
        for (var i = starts[at]; i < starts[at + 1u]; i++) {
            let entry = entries[i];
            sum += displacement(instance * shape.muscles + (entry.x & 0xffffu), entry, point);
        }
        let moved = sum.xyz / max(1.0, sum.w);
        if dot(moved, moved) < 1e30 {
            point += moved;
        }
    }
    let out = 3u * (instance * shape.vertices + vertex);
    positions[out] = point.x;
    positions[out + 1u] = point.y;
    positions[out + 2u] = point.z;
}

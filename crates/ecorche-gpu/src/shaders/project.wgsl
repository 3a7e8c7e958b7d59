// Awake vertices to the zero of the level function: one invocation per vertex.
//
// The same formulas as tracking/robust/{level,project,bend}.rs and field/cells.rs of the library, which explain them.

struct Constants {
    plane: f32,
    plane_depth: f32,
    step: f32,
    gap: f32,
    slope: f32,
    contact_transition: f32,
    facing_low: f32,
    facing_high: f32,
    full_fold_depth: f32,
    kept_depth: f32,
    crease_width: f32,
    near_enough: f32,
    least_steepness: f32,
    least_distance: f32,
    fold_low: f32,
    fold_high: f32,
    steps: u32,
    parts: u32,
    vertices: u32,
}

struct Field {
    low: vec3f,
    cells_per_metre: f32,
    high: vec3f,
    steepest: f32,
    cells: vec3u,
    first: u32,
}

struct Part {
    rows: array<vec4f, 3>,
    radius: f32,
    first_segment: u32,
    segments: u32,
    first_bend: u32,
    bends: u32,
    // At rest.
    bone_radius: f32,
    padding_0: u32,
    padding_1: u32,
}

struct Vertex {
    start: vec3f,
    activity: f32,
    anchor: vec3f,
    max_offset: f32,
    normal: vec3f,
    held_offset: f32,
    iso: f32,
    near_contact: f32,
    depth: f32,
    gap: f32,
    part: u32,
    taken_from: u32,
    first_near: u32,
    near: u32,
}

struct Projected {
    at: vec3f,
    h: f32,
    gradient: vec3f,
    held: f32,
    value: f32,
    cosine: f32,
    partner: u32,
    evaluations: u32,
}

@group(0) @binding(0) var<uniform> constants: Constants;
@group(0) @binding(1) var<storage, read> fields: array<Field>;
@group(0) @binding(2) var<storage, read> relations: array<u32>;
// Value and gradient of a node in four halves.
@group(0) @binding(3) var<storage, read> nodes: array<vec2u>;
@group(0) @binding(4) var<storage, read> parts: array<Part>;
// Two vectors each: ends of the segments of bones; and bends: place and amount, direction and the other part.
@group(0) @binding(5) var<storage, read> lines: array<vec4f>;
@group(0) @binding(6) var<storage, read> vertices: array<Vertex>;
// Part, and bits of its threshold.
@group(0) @binding(7) var<storage, read> near: array<vec2u>;
@group(0) @binding(8) var<storage, read_write> projected: array<Projected>;

const NOTHING = 0xffffffffu;
const MOST_OTHERS = 16u;
const JOINT = 1u;
const FAR = 3u;

struct Sampled {
    gradient: vec3f,
    value: f32,
    part: u32,
}

struct Level {
    gradient: vec3f,
    h: f32,
    held: f32,
    value: f32,
    cosine: f32,
    partner: u32,
}

fn smooth_step(value: f32) -> f32 {
    let x = clamp(value, 0.0, 1.0);
    return x * x * (3.0 - 2.0 * x);
}

fn unit_or_zero(v: vec3f) -> vec3f {
    let squared = dot(v, v);
    return select(vec3f(0.0), v * inverseSqrt(squared), squared > 1e-30);
}

fn relation(a: u32, b: u32) -> u32 {
    return relations[a * constants.parts + b];
}

fn in_bind_space(part: u32, x: vec3f) -> vec3f {
    let rows = parts[part].rows;
    let h = vec4f(x, 1.0);
    return vec3f(dot(rows[0], h), dot(rows[1], h), dot(rows[2], h));
}

fn node(at: u32) -> vec4f {
    let packed = nodes[at];
    return vec4f(unpack2x16snorm(packed.x), unpack2x16snorm(packed.y));
}

fn sample(part: u32, x: vec3f) -> Sampled {
    let nowhere = Sampled(vec3f(0.0), 0.0, part);
    let field = fields[part];
    let point = in_bind_space(part, x);
    if !(all(point >= field.low) && all(point <= field.high)) {
        return nowhere;
    }
    let at = (point - field.low) * field.cells_per_metre;
    let cell = min(vec3u(at), field.cells - vec3u(1u));
    let f = at - vec3f(cell);
    let row = field.cells.x + 1u;
    let slice = row * (field.cells.y + 1u);
    let first = field.first + cell.x + row * cell.y + slice * cell.z;
    var sum = vec4f(0.0);
    // What the far corners along each axis do not have in common with the others; see field/grid.rs.
    var far = vec3f(0.0);
    for (var corner = 0u; corner < 8u; corner++) {
        let side = vec3u(corner & 1u, (corner >> 1u) & 1u, corner >> 2u);
        let share = select(vec3f(1.0) - f, f, side == vec3u(1u));
        let own = node(first + side.x + row * side.y + slice * side.z) * (share.x * share.y * share.z);
        sum += own;
        far += own.yzw * vec3f(side);
    }
    let gradient = sum.yzw * field.steepest;
    let carried = dot(gradient, f) - (far.x + far.y + far.z) * field.steepest;
    let value = clamp(sum.x + 0.5 * carried / field.cells_per_metre, 0.0, 1.0);
    let rows = parts[part].rows;
    return Sampled(rows[0].xyz * gradient.x + rows[1].xyz * gradient.y + rows[2].xyz * gradient.z, value, part);
}

// Closest point on a segment of a bone.
fn closest(segment: u32, x: vec3f) -> vec3f {
    let a = lines[2u * segment].xyz;
    let along = lines[2u * segment + 1u].xyz - a;
    let length = dot(along, along);
    if length <= 0.0 {
        return a;
    }
    return a + along * clamp(dot(x - a, along) / length, 0.0, 1.0);
}

// Closest point on a part's bone; between several segments a mean that leans strongly to the closest.
fn foot(part: u32, x: vec3f) -> vec3f {
    let first = parts[part].first_segment;
    let count = parts[part].segments;
    if count == 1u {
        return closest(first, x);
    }
    let least = constants.least_distance * constants.least_distance;
    var sum = vec3f(0.0);
    var total = 0.0;
    for (var s = first; s < first + count; s++) {
        let point = closest(s, x);
        let ratio = least / max(dot(point - x, point - x), least);
        sum += point * (ratio * ratio);
        total += ratio * ratio;
    }
    if total <= 0.0 {
        return x;
    }
    return sum / total;
}

// Metres per value of two parts that are compared.
fn scales(own: u32, other: u32) -> vec2f {
    let a = parts[own].radius;
    let b = parts[other].radius;
    return constants.slope * vec2f(0.75 * a + 0.25 * b, 0.75 * b + 0.25 * a);
}

// How much depth `own` lacks to own its bone beside `x` where the bone lies inside `other`.
fn lack(iso: f32, own: u32, other: u32, x: vec3f) -> f32 {
    let at = foot(own, x);
    let there = sample(other, at).value;
    if there <= iso {
        return 0.0;
    }
    let metres = scales(own, other);
    let depth = (sample(own, at).value - iso) * metres.x;
    return max((there - iso) * metres.y - (1.0 - constants.kept_depth) * depth, 0.0);
}

// Above zero on the own side; its gradient, then its value.
fn separation(iso: f32, x: vec3f, own: Sampled, other: Sampled) -> vec4f {
    let metres = scales(own.part, other.part);
    var value = (own.value - iso) * metres.x - (other.value - iso) * metres.y;
    var gradient = own.gradient * metres.x - other.gradient * metres.y;
    if relation(own.part, other.part) == JOINT {
        let depth = (min(own.value, other.value) - iso) * constants.slope;
        let pull = constants.plane * smooth_step(depth / constants.plane_depth);
        if pull > 0.0 {
            let a = foot(own.part, x);
            let b = foot(other.part, x);
            let normal = unit_or_zero(a - b);
            let radius = parts[other.part].radius;
            let middle = b + (a - b) * (radius / (parts[own.part].radius + radius));
            value += pull * dot(x - middle, normal);
            gradient += pull * normal;
        }
    } else {
        value += lack(iso, own.part, other.part, x) - lack(iso, other.part, own.part, x);
    }
    return vec4f(gradient, value);
}

// Whether skin of a part can press on another at all: neighbours only on the inside of a bent joint.
fn can_press(own: u32, other: u32, x: vec3f) -> f32 {
    if relation(own, other) != JOINT {
        return 1.0;
    }
    let first = parts[own].first_bend;
    for (var b = first; b < first + parts[own].bends; b++) {
        let direction = lines[2u * b + 1u];
        if u32(direction.w) == other {
            let joint = lines[2u * b];
            let at = dot(in_bind_space(own, x) - joint.xyz, direction.xyz) / parts[own].bone_radius;
            return joint.w * smooth_step((at - constants.fold_low) / (constants.fold_high - constants.fold_low));
        }
    }
    return 0.0;
}

fn level(v: Vertex, x: vec3f) -> Level {
    let own = sample(v.part, x);
    var top = own;
    var others: array<Sampled, MOST_OTHERS>;
    var thresholds: array<f32, MOST_OTHERS>;
    var count = 0u;
    for (var i = v.first_near; i < v.first_near + v.near; i++) {
        let other = sample(near[i].x, x);
        if other.value <= 0.0 {
            continue;
        }
        if other.value > top.value && relation(v.part, other.part) != FAR {
            top = other;
        }
        if count < MOST_OTHERS {
            others[count] = other;
            thresholds[count] = bitcast<f32>(near[i].y);
            count++;
        }
    }
    // In the crease between parts that are nearly as strong as each other, the gradient's middle.
    var sum = vec3f(0.0);
    var total = 0.0;
    let own_share = 1.0 - (top.value - own.value) / constants.crease_width;
    if own_share > 0.0 {
        sum += own.gradient * own_share;
        total += own_share;
    }
    for (var i = 0u; i < count; i++) {
        let share = 1.0 - (top.value - others[i].value) / constants.crease_width;
        if share > 0.0 && relation(v.part, others[i].part) != FAR {
            sum += others[i].gradient * share;
            total += share;
        }
    }
    if total > 1.0 {
        top.gradient = sum / total;
    }
    let r = parts[v.part].radius;
    let free = (top.value - v.iso) * constants.slope * r;
    var found = Level(top.gradient * (constants.slope * r), free, 0.0, top.value, 1.0, NOTHING);
    for (var i = 0u; i < count; i++) {
        let other = others[i];
        let metres = constants.slope * parts[other.part].radius;
        let slack = (thresholds[i] - other.value) * metres;
        if slack >= found.h + constants.contact_transition * r {
            continue;
        }
        var pressing = v.near_contact * can_press(v.part, other.part, x);
        if relation(v.part, other.part) == JOINT {
            pressing *= smooth_step(v.depth / (constants.full_fold_depth * r));
        }
        if pressing <= 0.0 {
            continue;
        }
        let side = separation(v.iso, x, own, other);
        let clear = side.w - constants.gap * v.gap * r * length(side.xyz);
        var h = slack;
        var gradient = other.gradient * -metres;
        if clear > slack {
            h = clear;
            gradient = side.xyz;
        }
        h += (1.0 - pressing) * r;
        if v.taken_from != other.part {
            let cosine = dot(v.normal, unit_or_zero(other.gradient));
            let range = constants.facing_high - constants.facing_low;
            h += (1.0 - smooth_step((cosine - constants.facing_low) / range)) * r;
        }
        found.held = max(found.held, smooth_step(0.5 + (free - h) / (constants.contact_transition * r)));
        if h < found.h {
            found.h = h;
            found.gradient = gradient;
            found.partner = other.part;
            found.cosine = dot(unit_or_zero(own.gradient), unit_or_zero(other.gradient));
        }
    }
    return found;
}

// Back toward the anchor: hardly near it, and never beyond the largest offset.
fn hold(v: Vertex, x: vec3f, held: f32) -> vec3f {
    let most = v.activity * (v.max_offset + held * v.held_offset);
    if most <= 0.0 {
        return v.anchor;
    }
    let away = x - v.anchor;
    let share = dot(away, away) / (most * most);
    return v.anchor + away / sqrt(sqrt(1.0 + share * share));
}

@compute @workgroup_size(64)
fn project(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= constants.vertices {
        return;
    }
    let v = vertices[id.x];
    let r = parts[v.part].radius;
    let near_enough = constants.near_enough * r;
    var x = v.start;
    var here = level(v, x);
    var evaluations = 0u;
    var known = true;
    for (var i = 0u; i < constants.steps; i++) {
        if !known {
            here = level(v, x);
            evaluations++;
        }
        var to = x;
        let steepness = dot(here.gradient, here.gradient);
        if abs(here.h) >= near_enough && steepness >= constants.least_steepness {
            var stride = here.gradient * (-here.h / steepness);
            let most = constants.step * r;
            let long = length(stride);
            if long > most {
                stride *= most / long;
            }
            let there = level(v, x + stride);
            evaluations++;
            let across = there.h * here.h < 0.0;
            if across || abs(there.h) > abs(here.h) {
                let share = select(0.25, here.h / (here.h - there.h), across);
                let between = level(v, x + share * stride);
                evaluations++;
                if abs(between.h) < min(abs(there.h), abs(here.h)) {
                    to = x + share * stride;
                    here = between;
                } else if abs(there.h) < abs(here.h) {
                    to = x + stride;
                    here = there;
                }
            } else {
                to = x + stride;
                here = there;
            }
        }
        x = hold(v, to, here.held);
        known = dot(x - to, x - to) < near_enough * near_enough;
        if known && abs(here.h) < near_enough {
            break;
        }
    }
    projected[id.x] = Projected(x, here.h, here.gradient, here.held, here.value, here.cosine, here.partner, evaluations);
}

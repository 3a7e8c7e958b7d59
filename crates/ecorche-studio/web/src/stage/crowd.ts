/** Many instances of the character: the graphics card skins and displaces them, from textures that are sent once. */

import {
  BufferAttribute,
  Color,
  DataTexture,
  FloatType,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  Mesh,
  MeshStandardMaterial,
  NearestFilter,
  RGBAFormat,
  Box3,
  Vector3,
} from "three";
import { decodeFilm, type Character, type Film } from "../messages.ts";
import type { Model } from "../model.ts";
import type { Stage } from "./stage.ts";

/** Texels of a row of a texture: every machine with WebGL 2 has as many. */
const ROW = 2048;
/** Instances, at most. */
const MOST = 10_000;
/** Frames that a count is watched for, and milliseconds a frame may take for there to be more. */
const WATCHED = 12;
const LONGEST = 40;
const CLAY = new Color(0xc7a08a);

/** What is shown of a crowd, and how fast. */
export interface CrowdState {
  /** Instances; 0 shows the character alone. */
  count: number;
  /** Milliseconds from one picture to the next, mean of the last ones; 0 before. */
  interval: number;
  /** Whether more are tried until pictures take too long. */
  growing: boolean;
  /** Why there is none. */
  problem: string | null;
}

export class Crowd {
  readonly state: CrowdState = { count: 0, interval: 0, growing: false, problem: null };
  film: Film | null = null;
  private mesh: Mesh<InstancedBufferGeometry, MeshStandardMaterial[]> | null = null;
  private readonly uniforms = { moment: { value: 0 }, film: { value: [0, 0, 0] }, joints: { value: null as DataTexture | null }, muscles: { value: null as DataTexture | null } };
  private intervals: number[] = [];
  private last = 0;
  private loading = "";
  private started = 0;
  private shownAt = "";

  constructor(
    private readonly model: Model,
    private readonly stage: Stage,
    /** The character's extent in the last frame. */
    private readonly extent: () => Box3 | undefined,
    private readonly changed: () => void,
  ) {
    // Another clip or anatomy is another film.
    for (const event of ["transport", "document", "character"] as const) {
      model.on(event, () => { if (this.state.count > 0) void this.show(this.state.count); });
    }
    model.on("frame", () => { if (this.state.count > 0) this.stage.invalidate(); });
  }

  get visible(): boolean {
    return this.state.count > 0 && this.mesh !== null;
  }

  /** As many as the machine draws at more than 25 pictures a second. */
  grow(): void {
    this.state.growing = true;
    void this.show(Math.max(25, this.state.count));
  }

  /** Shows that many; 0 for the character alone. */
  async show(count: number): Promise<void> {
    const { model, state } = this;
    const wanted = Math.max(0, Math.min(MOST, Math.round(count)));
    const clips = model.character?.clips ?? [];
    const clip = clips.findIndex(({ name }) => name === model.transport.clip);
    if (wanted === 0 || clip < 0) {
      const problem = wanted > 0 ? "Choose a clip: a crowd plays one." : null;
      Object.assign(state, { count: 0, growing: false, problem });
      this.dispose();
      this.told();
      return;
    }
    state.count = wanted;
    const key = `${clip} ${model.document?.revision ?? 0}`;
    if (this.loading !== key) {
      this.loading = key;
      const film = await this.load(clip);
      // Something else was asked for meanwhile.
      if (this.loading !== key || state.count === 0) return;
      if (film === null) {
        state.count = 0;
        this.loading = "";
        this.dispose();
        this.told();
        return;
      }
      this.build(film);
    }
    this.place();
    this.told();
    this.run();
  }

  private async load(clip: number): Promise<Film | null> {
    try {
      const answer = await fetch(`crowd/${clip}`);
      if (!answer.ok) throw new Error(await answer.text());
      this.state.problem = null;
      return decodeFilm(await answer.arrayBuffer());
    } catch (error) {
      this.state.problem = error instanceof Error ? error.message : String(error);
      return null;
    }
  }

  private build(film: Film): void {
    const { character } = this.model;
    this.dispose();
    if (character === null) return;
    this.film = film;
    this.uniforms.joints.value = texture(film.motions);
    this.uniforms.muscles.value = texture(film.muscleTexels);
    this.uniforms.film.value = [film.frames, film.slots, film.muscles];
    const geometry = new InstancedBufferGeometry();
    geometry.setIndex(new BufferAttribute(character.indices, 1));
    geometry.setAttribute("position", new BufferAttribute(film.places, 3));
    geometry.setAttribute("normal", new BufferAttribute(film.normals, 2, true));
    geometry.setAttribute("slots", new BufferAttribute(film.slotsOfVertex, 4));
    geometry.setAttribute("weights", new BufferAttribute(film.weights, 4));
    for (let k = 0; k < 4; k++) {
      const own = new Float32Array(4 * film.vertices);
      for (let v = 0; v < film.vertices; v++) own.set(film.entries.subarray(16 * v + 4 * k, 16 * v + 4 * k + 4), 4 * v);
      geometry.setAttribute(`held${k}`, new BufferAttribute(own, 4));
    }
    const materials = character.groups.map((group, k) => {
      geometry.addGroup(group.start, group.count, k);
      return this.material(group);
    });
    this.mesh = new Mesh(geometry, materials);
    this.mesh.frustumCulled = false;
    this.stage.scene.add(this.mesh);
  }

  private material(group: Character["groups"][number]): MeshStandardMaterial {
    const material = new MeshStandardMaterial({ roughness: 0.62, metalness: 0 });
    if (group.colour !== null) material.color.setRGB(...group.colour);
    else material.color.copy(CLAY);
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.uniforms);
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", `#include <common>\n${DEFORM}`)
        .replace("#include <beginnormal_vertex>", "vec3 objectNormal; vec3 deformed; deform(objectNormal, deformed);")
        .replace("#include <begin_vertex>", "vec3 transformed = deformed;");
    };
    return material;
  }

  /** In rows behind and beside each other, the first in the middle in front. */
  private place(): void {
    const { mesh, film, state } = this;
    if (mesh === null || film === null) return;
    const size = this.extent()?.getSize(new Vector3()) ?? new Vector3(1, 1, 1);
    const gap = 1.15 * Math.max(size.x, size.z, 0.3 * size.y);
    const columns = Math.ceil(Math.sqrt(state.count));
    const places = new Float32Array(3 * state.count);
    for (let k = 0; k < state.count; k++) {
      const [row, column] = [Math.floor(k / columns), k % columns];
      // 0, 1, -1, 2, -2: the first is where the character is.
      const aside = (column % 2 === 0 ? -1 : 1) * Math.ceil(column / 2);
      places.set([gap * aside, -gap * row, k === 0 ? 0 : (k * 0.618034) % 1], 3 * k);
    }
    mesh.geometry.setAttribute("place", new InstancedBufferAttribute(places, 3));
    mesh.geometry.instanceCount = state.count;
    const framed = `${state.count}`;
    if (framed === this.shownAt) return;
    this.shownAt = framed;
    const box = this.extent()?.clone() ?? new Box3();
    const half = 0.5 * gap * columns;
    box.expandByPoint(new Vector3(-half, 0, -gap * columns)).expandByPoint(new Vector3(half, 0, 0));
    this.stage.orbit.maxDistance = Math.max(this.stage.orbit.maxDistance, 6 * gap * columns);
    this.stage.lookAt(box);
    this.stage.camera.far = Math.max(this.stage.camera.far, 12 * gap * columns);
  }

  /** Draws as long as the clip plays, and once where it stands. */
  private run(): void {
    this.intervals = [];
    this.last = 0;
    const started = ++this.started;
    const step = (now: number): void => {
      if (started !== this.started || !this.visible) return;
      this.advance(now);
      this.stage.invalidate();
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  private advance(now: number): void {
    const { film, model, state } = this;
    if (film === null) return;
    const clip = model.character?.clips.find(({ name }) => name === model.transport.clip);
    const at = model.transport.playing ? (now / 1000) * film.fps * model.transport.speed : (model.moment() * film.fps) / (clip?.fps ?? film.fps);
    this.uniforms.moment.value = ((at % film.frames) + film.frames) % film.frames;
    if (this.last > 0) this.intervals.push(now - this.last);
    this.last = now;
    if (this.intervals.length < WATCHED) return;
    // The first pictures of a count pay for its buffers.
    const counted = this.intervals.slice(2);
    state.interval = counted.reduce((sum, x) => sum + x, 0) / counted.length;
    this.intervals = [];
    if (state.growing && state.interval < LONGEST && state.count < MOST) void this.show(2 * state.count);
    else state.growing = false;
    this.told();
  }

  private told(): void {
    this.changed();
    this.stage.invalidate();
  }

  private dispose(): void {
    this.started++;
    this.shownAt = "";
    this.mesh?.geometry.dispose();
    for (const material of this.mesh?.material ?? []) material.dispose();
    this.mesh?.removeFromParent();
    this.uniforms.joints.value?.dispose();
    this.uniforms.muscles.value?.dispose();
    this.uniforms.joints.value = this.uniforms.muscles.value = null;
    this.mesh = null;
    this.film = null;
    if (this.state.count === 0) this.loading = "";
  }
}

/** Numbers as a texture of four to a texel, in rows of a fixed length. */
function texture(numbers: Float32Array): DataTexture {
  const rows = Math.max(1, Math.ceil(numbers.length / 4 / ROW));
  const padded = new Float32Array(4 * ROW * rows);
  padded.set(numbers);
  const made = new DataTexture(padded, ROW, rows, RGBAFormat, FloatType);
  made.minFilter = made.magFilter = NearestFilter;
  made.needsUpdate = true;
  return made;
}

/** Skinning by dual quaternions, then displacement by parametric muscles; as the engine has them. */
const DEFORM = `
attribute vec4 slots;
attribute vec4 weights;
attribute vec4 held0;
attribute vec4 held1;
attribute vec4 held2;
attribute vec4 held3;
attribute vec3 place;
uniform float moment;
uniform vec3 film;
uniform highp sampler2D joints;
uniform highp sampler2D muscles;
vec4 texel(highp sampler2D from, int at) { return texelFetch(from, ivec2(at % ${ROW}, at / ${ROW}), 0); }
float rise(float x) { float t = clamp(x, 0.0, 1.0); return t * t * (3.0 - 2.0 * t); }
vec3 unfolded(vec2 seen) {
  vec3 normal = vec3(seen, 1.0 - abs(seen.x) - abs(seen.y));
  float over = max(-normal.z, 0.0);
  normal.xy += vec2(normal.x >= 0.0 ? -over : over, normal.y >= 0.0 ? -over : over);
  return normalize(normal);
}
vec4 displacement(vec4 held, int first, vec3 point) {
  if (held.x < 0.0) return vec4(0.0);
  float number = floor(0.5 * held.x);
  int at = first + 10 * int(number);
  vec4 origin = texel(muscles, at), side = texel(muscles, at + 1), line = texel(muscles, at + 2), bulge = texel(muscles, at + 3);
  vec3 from = point - origin.xyz;
  float t = dot(from, line.xyz) * line.w;
  if (!(t > 0.0 && t < 1.0)) return vec4(0.0);
  int half_ = t <= side.w ? 0 : 1;
  float local = half_ == 0 ? t / side.w : (t - side.w) / (1.0 - side.w);
  float other = 1.0 - local;
  vec4 basis = vec4(other * other * other, 3.0 * local * other * other, 3.0 * local * local * other, local * local * local);
  float thickness = dot(texel(muscles, at + 4 + half_), basis);
  float across = dot(texel(muscles, at + 6 + 2 * half_), basis);
  float along = dot(texel(muscles, at + 7 + 2 * half_), basis);
  float tension = origin.w;
  float aside = abs(dot(from, side.xyz) - across) * tension;
  if (aside >= thickness) return vec4(0.0);
  float height = bulge.w * tension * sqrt((thickness - aside) * (thickness + aside));
  float fade = rise((thickness - aside) / (0.15 * thickness)) * rise(t / 0.08) * rise((1.0 - t) / 0.08);
  float thicker = height - held.w;
  float slipped = along - dot(from, bulge.xyz) + held.w + held.z;
  float grip = 1.0 - rise(abs(slipped) / (0.5 * bulge.w * tension * thickness));
  float weight = held.y * fade * grip;
  bool alone = held.x - 2.0 * number > 0.5;
  return vec4(weight * max(alone ? thicker : thicker + slipped, 0.0) * bulge.xyz, weight);
}
void deform(out vec3 turned, out vec3 point) {
  int frame = int(mod(moment + place.z * film.x, film.x));
  int base = 8 * frame * int(film.y);
  vec3 straight = unfolded(normal.xy);
  vec4 real = vec4(0.0), dual = vec4(0.0), first = texel(joints, base + 8 * int(slots.x) + 3);
  mat3 stretch = mat3(0.0);
  for (int k = 0; k < 4; k++) {
    if (weights[k] <= 0.0) continue;
    int at = base + 8 * int(slots[k]);
    vec4 own = texel(joints, at + 3);
    float signed_ = dot(first, own) < 0.0 ? -weights[k] : weights[k];
    real += own * signed_;
    dual += texel(joints, at + 4) * signed_;
    stretch += weights[k] * mat3(texel(joints, at + 5).xyz, texel(joints, at + 6).xyz, texel(joints, at + 7).xyz);
  }
  float scale = 2.0 / dot(real, real);
  vec3 p = stretch * position;
  vec3 inner = cross(real.xyz, p) + p * real.w + dual.xyz;
  point = p + (cross(real.xyz, inner) + dual.xyz * real.w - real.xyz * dual.w) * scale;
  turned = straight + cross(real.xyz, cross(real.xyz, straight) + straight * real.w) * scale;
  int muscle = 10 * frame * int(film.z);
  vec4 sum = displacement(held0, muscle, point) + displacement(held1, muscle, point) + displacement(held2, muscle, point) + displacement(held3, muscle, point);
  point += sum.xyz / max(1.0, sum.w);
  point.xz += place.xy;
}`;

/** Muscles as tubes that the graphics card puts around their strands, and fat pads. */

import {
  Color,
  BackSide,
  BufferAttribute,
  DataTexture,
  DoubleSide,
  FloatType,
  Group,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  NearestFilter,
  type Raycaster,
  RGBAFormat,
  SphereGeometry,
  Vector3,
} from "three";
import type { Frame, Owner, Owners, Strands } from "../messages.ts";
import type { Mark, Paint, Selection } from "../model.ts";

const SLACK = new Color(0x9a6a62);
const TENSE = new Color(0xe2412c);
const SHORT = new Color(0xe2412c);
const LONG = new Color(0x4f86c6);
const EVEN = new Color(0xb9b4b0);
const OUTLINE = new Color(0x8fd3ff);
const CHOSEN_FAT = new Color(0xfff3cf);
const FAT = new Color(0xe8c66f);

/** Vertices around a tube. */
const SIDES = 12;
/** Numbers of a ring. */
const RING = 8;
/** Tension at which a muscle is painted fully red, newtons. */
const FULL_TENSION = 18;
/** Change of length at which it is painted fully, as a share of that at bind. */
const FULL_STRETCH = 0.3;

/** The colours' ends, for a legend. */
export const SCALES: Record<Paint, { low: string; middle: string | null; high: string; colours: Color[] }> = {
  activation: { low: "0 slack", middle: null, high: "1 tense", colours: [SLACK, TENSE] },
  tension: { low: "0 N", middle: null, high: `${FULL_TENSION} N and more`, colours: [SLACK, TENSE] },
  length: { low: `−${100 * FULL_STRETCH} %`, middle: "as at bind", high: `+${100 * FULL_STRETCH} %`, colours: [SHORT, EVEN, LONG] },
};

export interface Hit extends Owner {
  kind: "muscle" | "fat";
  distance: number;
}

export class Flesh {
  readonly group = new Group();
  private owners: Owners = { muscles: [], fat: [], rings: 0 };
  private readonly material: MeshStandardMaterial;
  private readonly texture = { value: null as DataTexture | null };
  private tubes: Mesh<InstancedBufferGeometry, MeshStandardMaterial> | null = null;
  /** The selected muscles once more, a little thicker, seen from within: a line around them. */
  private outline: Mesh<InstancedBufferGeometry, MeshBasicMaterial> | null = null;
  private readonly line = new MeshBasicMaterial({ color: OUTLINE, side: BackSide });
  private readonly thickness = { value: 0 };
  private pads: InstancedMesh<SphereGeometry, MeshStandardMaterial> | null = null;
  private frame: Frame | null = null;
  /** The character's, metres. */
  size = 1;
  /** Muscles that are selected along with one. */
  also: readonly Owner[] = [];
  /** Numbers of the rings, eight each. */
  private rings = new Float32Array();
  /** Which are hidden, seen through, or passed by clicks. */
  /** How much of a muscle is tendon, at each end. */
  tendonOf: (owner: Owner) => number = () => 0;
  marked: (owner: Owner & { kind: "muscle" | "fat" }, mark: Mark) => boolean = () => false;

  constructor() {
    this.material = new MeshStandardMaterial({ vertexColors: true, roughness: 0.45, side: DoubleSide });
    this.material.onBeforeCompile = (shader) => {
      shader.uniforms.strands = this.texture;
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", `#include <common>\n${STRANDS}\n${FIBRE_NUMBERS}`)
        .replace("#include <beginnormal_vertex>", "vec3 objectNormal; vec3 place; onStrand(position, 0.0, shown, place, objectNormal); tellFibre();")
        .replace("#include <begin_vertex>", "vec3 transformed = place;");
      shader.fragmentShader = shader.fragmentShader
        .replace("#include <common>", "#include <common>\nvarying vec4 fibre; varying float seen;")
        .replace("#include <color_fragment>", `#include <color_fragment>\n${FIBRES}`);
    };
    this.line.onBeforeCompile = (shader) => {
      shader.uniforms.strands = this.texture;
      shader.uniforms.thickness = this.thickness;
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", `#include <common>\nuniform float thickness; attribute float chosen;\n${STRANDS}`)
        .replace("#include <begin_vertex>", "vec3 transformed; vec3 outward; onStrand(position, thickness, chosen, transformed, outward);");
    };
  }

  /** Whose the numbers of the frames to come are. */
  begin(owners: Owners): void {
    this.owners = owners;
    this.tubes?.removeFromParent();
    this.outline?.removeFromParent();
    this.tubes?.geometry.dispose();
    this.pads?.removeFromParent();
    this.pads?.dispose();
    this.texture.value?.dispose();
    this.tubes = this.outline = this.pads = this.texture.value = this.frame = null;
    if (owners.muscles.length > 0) {
      this.tubes = new Mesh(tubeGeometry(owners.rings, owners.muscles.length), this.material);
      this.tubes.frustumCulled = false;
      this.outline = new Mesh(this.tubes.geometry, this.line);
      this.outline.frustumCulled = false;
      this.group.add(this.tubes, this.outline);
    }
    if (owners.fat.length > 0) {
      const material = new MeshStandardMaterial({ roughness: 0.6, transparent: true, opacity: 0.75 });
      this.pads = new InstancedMesh(new SphereGeometry(1, 24, 16), material, owners.fat.length);
      this.pads.frustumCulled = false;
      this.group.add(this.pads);
    }
  }

  /** Takes a frame's numbers as they are. */
  take(frame: Frame, paint: Paint, selection: Selection): void {
    const { muscles, fat, rings } = this.owners;
    const numbers = "exact" in frame.strands ? frame.strands.exact : frame.strands.rounded;
    if (numbers.length !== RING * rings * muscles.length || frame.pads.length !== 16 * fat.length) return;
    this.frame = frame;
    this.rings = exactRings(frame.strands, this.rings);
    if (this.texture.value === null) {
      const texture = new DataTexture(this.rings, 2 * rings, muscles.length, RGBAFormat, FloatType);
      texture.minFilter = texture.magFilter = NearestFilter;
      this.texture.value = texture;
    } else this.texture.value.image.data = this.rings;
    this.texture.value.needsUpdate = true;
    if (this.pads) {
      this.pads.instanceMatrix.array.set(frame.pads);
      this.pads.instanceMatrix.needsUpdate = true;
      this.pads.boundingSphere = null;
    }
    this.repaint(paint, selection);
  }

  repaint(paint: Paint, selection: Selection): void {
    const { frame, owners, tubes, pads } = this;
    if (frame === null) return;
    const chosen = (kind: "muscle" | "fat", { name, side }: Owner): boolean =>
      selection.kind === kind && [selection, ...this.also].some((other) => other.name === name && other.side === side);
    this.thickness.value = this.size * 0.0022;
    const marks = tubes?.geometry.getAttribute("chosen");
    const tendons = tubes?.geometry.getAttribute("tendon");
    owners.muscles.forEach((owner, k) => {
      marks?.setX(k, chosen("muscle", owner) ? 1 : 0);
      tendons?.setX(k, this.tendonOf(owner));
    });
    if (marks) marks.needsUpdate = true;
    if (tendons) tendons.needsUpdate = true;
    const colours = tubes?.geometry.getAttribute("color");
    const shown = tubes?.geometry.getAttribute("shown");
    const seen = (kind: "muscle" | "fat", owner: Owner): number => (this.marked({ kind, ...owner }, "hidden") ? 0 : this.marked({ kind, ...owner }, "ghost") ? 0.5 : 1);
    owners.muscles.forEach((owner, k) => { shown?.setX(k, seen("muscle", owner)); });
    if (shown) shown.needsUpdate = true;
    owners.muscles.forEach((_, k) => {
      const colour = strandColour(frame.states, k, paint);
      colours?.setXYZ(k, colour.r, colour.g, colour.b);
    });
    if (colours) colours.needsUpdate = true;
    const matrix = new Matrix4();
    owners.fat.forEach((owner, k) => {
      pads?.setColorAt(k, chosen("fat", owner) ? CHOSEN_FAT : FAT);
      // A ball without extent is not seen.
      pads?.setMatrixAt(k, seen("fat", owner) === 0 ? matrix.makeScale(0, 0, 0) : matrix.fromArray(frame.pads, 16 * k));
    });
    if (pads) pads.instanceMatrix.needsUpdate = true;
    if (pads?.instanceColor) pads.instanceColor.needsUpdate = true;
  }

  /** The muscle or fat pad under a ray. */
  pick(ray: Raycaster): Hit | null {
    const { frame, owners } = this;
    if (frame === null || !this.group.visible) return null;
    const hits: Hit[] = [];
    const [from, to, seen] = [new Vector3(), new Vector3(), new Vector3()];
    const passed = (kind: "muscle" | "fat", owner: Owner): boolean => this.marked({ kind, ...owner }, "hidden") || this.marked({ kind, ...owner }, "locked");
    owners.muscles.forEach((owner, k) => {
      if (passed("muscle", owner)) return;
      for (let ring = 0; ring + 1 < owners.rings; ring++) {
        const at = RING * (k * owners.rings + ring);
        from.fromArray(this.rings, at);
        to.fromArray(this.rings, at + RING);
        const thickness = Math.max(this.rings[at + 3] ?? 0, this.rings[at + RING + 3] ?? 0);
        if (ray.ray.distanceSqToSegment(from, to, seen) < thickness * thickness) {
          hits.push({ kind: "muscle", ...owner, distance: seen.distanceTo(ray.ray.origin) - thickness });
        }
      }
    });
    const [pad] = this.pads ? ray.intersectObject(this.pads) : [];
    const fat = pad?.instanceId === undefined ? undefined : owners.fat[pad.instanceId];
    if (pad && fat && !passed("fat", fat)) hits.push({ kind: "fat", ...fat, distance: pad.distance });
    return hits.sort((a, b) => a.distance - b.distance)[0] ?? null;
  }

  /** Where a muscle's middle or a pad is, to be looked at. */
  place(kind: "muscle" | "fat", name: string, side: string): Vector3 | null {
    const { frame, owners } = this;
    const same = (owner: Owner): boolean => owner.name === name && owner.side === side;
    if (frame === null) return null;
    const k = (kind === "muscle" ? owners.muscles : owners.fat).findIndex(same);
    if (k < 0) return null;
    if (kind === "fat") return new Vector3().setFromMatrixPosition(new Matrix4().fromArray(frame.pads, 16 * k));
    return new Vector3().fromArray(this.rings, RING * (k * owners.rings + (owners.rings >> 1)));
  }
}

/** The rings as numbers: those of the message, or made from it in the room of the last ones. */
function exactRings(strands: Strands, room: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  if ("exact" in strands) return strands.exact as Float32Array<ArrayBuffer>;
  const { rounded, cube } = strands;
  const rings = room.length === rounded.length && room.buffer.byteLength === room.byteLength ? room : new Float32Array(rounded.length);
  const [step, share] = [cube.side / 65535, 1 / 65535];
  const [x, y, z] = cube.corner;
  const number = (k: number): number => rounded[k] ?? 0;
  for (let k = 0; k < rounded.length; k += RING) {
    rings[k] = x + step * number(k);
    rings[k + 1] = y + step * number(k + 1);
    rings[k + 2] = z + step * number(k + 2);
    rings[k + 3] = step * number(k + 3);
    rings[k + 4] = 2 * share * number(k + 4) - 1;
    rings[k + 5] = 2 * share * number(k + 5) - 1;
    rings[k + 6] = 2 * share * number(k + 6) - 1;
    rings[k + 7] = share * number(k + 7);
  }
  return rings;
}

const MIXED = new Color();

function strandColour(states: Float32Array, k: number, paint: Paint): Color {
  const [activation = 0, tension = 0, stretch = 1] = states.subarray(3 * k, 3 * k + 3);
  if (paint === "activation") return MIXED.lerpColors(SLACK, TENSE, activation);
  if (paint === "tension") return MIXED.lerpColors(SLACK, TENSE, Math.min(Math.max(tension / FULL_TENSION, 0), 1));
  const share = Math.max(-1, Math.min(1, (stretch - 1) / FULL_STRETCH));
  return MIXED.lerpColors(EVEN, share < 0 ? SHORT : LONG, Math.abs(share));
}

/** A tube for every strand; a vertex says its ring, and cosine and sine of its angle. */
function tubeGeometry(rings: number, count: number): InstancedBufferGeometry {
  const vertices = new Float32Array(3 * rings * SIDES);
  const triangles: number[] = [];
  for (let ring = 0; ring < rings; ring++) {
    for (let side = 0; side < SIDES; side++) {
      const angle = (2 * Math.PI * side) / SIDES;
      vertices.set([ring, Math.cos(angle), Math.sin(angle)], 3 * (ring * SIDES + side));
      const [a, b] = [ring * SIDES + side, ring * SIDES + ((side + 1) % SIDES)];
      if (ring + 1 < rings) triangles.push(a, b, a + SIDES, b, b + SIDES, a + SIDES);
    }
  }
  const geometry = new InstancedBufferGeometry();
  geometry.instanceCount = count;
  const corners = new BufferAttribute(vertices, 3);
  geometry.setAttribute("position", corners);
  // The shader makes the normals; without this three would shade the facets flat.
  geometry.setAttribute("normal", corners);
  geometry.setAttribute("color", new InstancedBufferAttribute(new Float32Array(3 * count), 3));
  geometry.setAttribute("chosen", new InstancedBufferAttribute(new Float32Array(count), 1));
  geometry.setAttribute("tendon", new InstancedBufferAttribute(new Float32Array(count), 1));
  geometry.setAttribute("shown", new InstancedBufferAttribute(new Float32Array(count).fill(1), 1));
  geometry.setIndex(triangles);
  return geometry;
}

/** The surface of a muscle: an ellipse of equal area across the strand at every ring. */
const STRANDS = `
uniform highp sampler2D strands;
void onStrand(vec3 corner, float beyond, float shown, out vec3 place, out vec3 normal) {
  int ring = int(corner.x + 0.5);
  int last = textureSize(strands, 0).x / 2 - 1;
  vec4 here = texelFetch(strands, ivec2(2 * ring, gl_InstanceID), 0);
  vec4 broad = texelFetch(strands, ivec2(2 * ring + 1, gl_InstanceID), 0);
  vec4 before = texelFetch(strands, ivec2(2 * max(ring - 1, 0), gl_InstanceID), 0);
  vec4 after = texelFetch(strands, ivec2(2 * min(ring + 1, last), gl_InstanceID), 0);
  float span = max(length(after.xyz - before.xyz), 1e-9);
  vec3 tangent = (after.xyz - before.xyz) / span;
  vec3 narrow = cross(tangent, broad.xyz);
  float square = broad.w * broad.w;
  float radius = inversesqrt(square * corner.y * corner.y + corner.z * corner.z / square);
  place = here.xyz + (broad.xyz * corner.y + narrow * corner.z) * (here.w * radius);
  vec3 outward = normalize(broad.xyz * (square * corner.y) + narrow * (corner.z / square));
  normal = outward - tangent * ((after.w - before.w) / span * radius);
  // One that is hidden has no thickness, so no pixel.
  place = shown > 0.0 ? place + outward * beyond : here.xyz;
}`;

/** Where on its muscle a vertex is: along it, cosine and sine around it, share of tendon; and whether it is a ghost. */
const FIBRE_NUMBERS = `
attribute float shown;
attribute float tendon;
varying vec4 fibre;
varying float seen;
void tellFibre() {
  fibre = vec4(position.x / float(textureSize(strands, 0).x / 2 - 1), position.yz, tendon);
  seen = shown;
}`;

/** Fibres run along a muscle; its ends are tendon, pale and smooth. A ghost is every other pixel. */
const FIBRES = `
if (seen < 0.75 && mod(floor(gl_FragCoord.x) + floor(gl_FragCoord.y), 2.0) < 0.5) discard;
float fromEnd = min(fibre.x, 1.0 - fibre.x);
float sinew = fibre.w > 0.0 ? 1.0 - smoothstep(0.75 * fibre.w, 1.15 * fibre.w + 0.03, fromEnd) : 0.0;
float turn = atan(fibre.z, fibre.y) * 13.0 + 1.6 * sin(7.0 * fibre.x);
float fine = 1.0 - smoothstep(0.9, 2.6, fwidth(turn));
diffuseColor.rgb *= 1.0 + 0.16 * fine * (1.0 - 0.7 * sinew) * sin(turn);
diffuseColor.rgb = mix(diffuseColor.rgb, vec3(0.78, 0.74, 0.66), 0.85 * sinew);`;

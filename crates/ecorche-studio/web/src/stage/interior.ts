/** Samples, surfaces and planes of the fields. */

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DataTexture,
  DoubleSide,
  FloatType,
  Group,
  LinearFilter,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshStandardMaterial,
  type PerspectiveCamera,
  PlaneGeometry,
  Points,
  PointsMaterial,
  RedFormat,
  ShaderMaterial,
  Vector3,
} from "three";
import type { Character, Inside, SliceHead } from "../messages.ts";
import { disc } from "./disc.ts";
import type { ChosenSample } from "../panel/samples.ts";

/** How close to a sample a click must be, pixels. */
const REACH = 8;

export class Interior {
  readonly group = new Group();
  private readonly points: Points<BufferGeometry, PointsMaterial>;
  private readonly needles: LineSegments<BufferGeometry, LineBasicMaterial>;
  private readonly surface: Mesh<BufferGeometry, MeshStandardMaterial>;
  private readonly slice: Mesh<PlaneGeometry, ShaderMaterial>;
  last: Inside | null = null;

  constructor(private readonly character: Character) {
    this.points = new Points(
      new BufferGeometry(),
      new PointsMaterial({ size: 6, sizeAttenuation: false, vertexColors: true, map: disc(), alphaTest: 0.3 }),
    );
    this.needles = new LineSegments(
      new BufferGeometry(),
      new LineBasicMaterial({ vertexColors: true, transparent: true, opacity: 0.7 }),
    );
    this.surface = new Mesh(
      new BufferGeometry(),
      new MeshStandardMaterial({
        color: 0x6f93b8,
        roughness: 0.5,
        side: DoubleSide,
        transparent: true,
        opacity: 0.82,
      }),
    );
    this.slice = new Mesh(new PlaneGeometry(2, 2), sliceMaterial(character.sequential));
    this.slice.matrixAutoUpdate = false;
    this.slice.renderOrder = 3;
    for (const object of [this.points, this.needles, this.surface, this.slice]) {
      object.frustumCulled = false;
      object.visible = false;
      this.group.add(object);
    }
  }

  take(inside: Inside | null): void {
    this.last = inside;
    this.takeSamples(inside);
    this.takeSurface(inside);
    this.takeSlice(inside?.slice ?? null, inside?.sliceValues ?? new Float32Array());
  }

  private takeSamples(inside: Inside | null): void {
    const count = inside === null ? 0 : inside.samples[0] + inside.samples[1];
    this.points.visible = this.needles.visible = count > 0;
    if (inside === null || count === 0) return;
    const places = new Float32Array(3 * count);
    const lines = new Float32Array(6 * count);
    const colours = new Float32Array(3 * count);
    const lineColours = new Float32Array(6 * count);
    const length = 0.012 * this.character.size;
    for (let k = 0; k < count; k++) {
      const colour = k >= inside.samples[0] ? new Color(0x20242a) : partColour(inside.sampleJoints[k] ?? 0);
      for (let c = 0; c < 3; c++) {
        const place = inside.samplePoints[6 * k + c] ?? 0;
        const normal = inside.samplePoints[6 * k + 3 + c] ?? 0;
        places[3 * k + c] = lines[6 * k + c] = place;
        lines[6 * k + 3 + c] = place + length * normal;
      }
      colour.toArray(colours, 3 * k);
      colour.toArray(lineColours, 6 * k);
      colour.toArray(lineColours, 6 * k + 3);
    }
    this.points.geometry.dispose();
    this.needles.geometry.dispose();
    this.points.geometry = simple(places, colours);
    this.needles.geometry = simple(lines, lineColours);
  }

  private takeSurface(inside: Inside | null): void {
    this.surface.visible = (inside?.surface ?? null) !== null;
    if (inside === null || inside.surface === null) return;
    this.surface.geometry.dispose();
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(inside.surfaceVertices, 3));
    geometry.setIndex(new BufferAttribute(inside.surfaceIndices, 1));
    geometry.computeVertexNormals();
    this.surface.geometry = geometry;
  }

  private takeSlice(slice: SliceHead | null, values: Float32Array): void {
    this.slice.visible = slice !== null;
    if (slice === null) return;
    const uniforms = this.slice.material.uniforms;
    (uniforms.values?.value as DataTexture | null)?.dispose();
    const texture = new DataTexture(values, slice.columns, slice.rows, RedFormat, FloatType);
    texture.minFilter = texture.magFilter = LinearFilter;
    texture.needsUpdate = true;
    if (uniforms.values) uniforms.values.value = texture;
    const [right, up, middle] = [slice.right, slice.up, slice.middle].map((v) => new Vector3(...v)) as [Vector3, Vector3, Vector3];
    const out = right.clone().cross(up);
    this.slice.matrix
      .makeBasis(right.multiplyScalar(slice.half[0]), up.multiplyScalar(slice.half[1]), out)
      .setPosition(middle);
    this.slice.matrixWorldNeedsUpdate = true;
  }

  /** The sample of a field under a pixel; closures cannot be chosen. */
  pickSample(x: number, y: number, camera: PerspectiveCamera, width: number, height: number): ChosenSample | null {
    if (this.last === null) return null;
    let best: { at: number; distance: number } | null = null;
    for (let k = 0; k < this.last.samples[0]; k++) {
      const seen = new Vector3().fromArray(this.last.samplePoints, 6 * k).project(camera);
      const distance = Math.hypot(0.5 * (seen.x + 1) * width - x, 0.5 * (1 - seen.y) * height - y);
      if (distance < REACH && seen.z < 1 && (best === null || distance < best.distance)) best = { at: k, distance };
    }
    if (best === null) return null;
    const [place, normal] = [0, 3].map((k) => new Vector3().fromArray(this.last?.samplePoints ?? [], 6 * best.at + k)) as [Vector3, Vector3];
    return { joint: this.last.sampleJoints[best.at] ?? 0, place, normal };
  }
}

/** Colours that tell the parts of neighbouring joints apart. */
function partColour(joint: number): Color {
  return new Color().setHSL((joint * 0.381966) % 1, 0.62, 0.58);
}

function simple(places: Float32Array, colours: Float32Array): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(places, 3));
  geometry.setAttribute("color", new BufferAttribute(colours, 3));
  return geometry;
}

function sliceMaterial(table: Uint8Array): ShaderMaterial {
  const colours = new Uint8Array(4 * 256);
  for (let k = 0; k < 256; k++) colours.set([table[3 * k] ?? 0, table[3 * k + 1] ?? 0, table[3 * k + 2] ?? 0, 255], 4 * k);
  const map = new DataTexture(colours, 256, 1);
  map.minFilter = map.magFilter = LinearFilter;
  map.needsUpdate = true;
  return new ShaderMaterial({
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
    uniforms: { values: { value: null }, map: { value: map } },
    vertexShader: `varying vec2 place;
      void main() { place = uv; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }`,
    // A line at every tenth; the surface, a half, is the bold one.
    fragmentShader: `varying vec2 place; uniform sampler2D values; uniform sampler2D map;
      void main() {
        float value = texture2D(values, place).r;
        if (value <= 0.001) discard;
        float tenth = value * 10.0;
        float width = max(fwidth(tenth), 1e-5);
        float line = 1.0 - smoothstep(0.6, 1.4, abs(fract(tenth - 0.5) - 0.5) / width);
        // Not where the field ends.
        line *= step(0.5, tenth);
        float bold = 1.0 - smoothstep(1.4, 2.4, abs(tenth - 5.0) / width);
        vec3 colour = texture2D(map, vec2(value, 0.5)).rgb;
        gl_FragColor = vec4(mix(colour, vec3(1.0), max(0.55 * line, bold)), 0.86);
      }`,
  });
}

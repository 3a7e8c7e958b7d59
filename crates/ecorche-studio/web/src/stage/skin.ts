/** The skin as it streams in: places and normals go to the graphics card as they arrive. */

import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  Color,
  DataTexture,
  DoubleSide,
  DynamicDrawUsage,
  FrontSide,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  LinearFilter,
  Mesh,
  MeshPhysicalMaterial,
  MeshStandardMaterial,
  Plane,
  Sphere,
  SRGBColorSpace,
  type Texture,
  Vector3,
} from "three";
import type { Character, Group, Quantity, Surface } from "../messages.ts";

import { PLAIN } from "../model.ts";

const CLAY = new Color(0xc7a08a);
const PARTNER = new Color(0x9fb0c4);

/** A group's picture, if its file has one. */
export type Pictures = (group: Group) => Texture | null;

export class Skin {
  readonly mesh: Mesh<BufferGeometry, MeshStandardMaterial[]>;
  private readonly exact: BufferAttribute;
  private readonly normals: BufferAttribute;
  /** Place and normal of each vertex in one buffer. */
  private readonly rounded: InterleavedBuffer;
  private readonly roundedPlaces: InterleavedBufferAttribute;
  private readonly roundedNormals: InterleavedBufferAttribute;
  /** Whether the normal is in the halves of one number. */
  private readonly halved = { value: 0 };
  private readonly values: BufferAttribute;
  private readonly painted = { value: 0 };
  private readonly table: { value: DataTexture };
  private map = "";
  private dressed = true;
  private wasPainted = false;

  constructor(
    private readonly character: Character,
    private readonly second: boolean,
    private readonly pictures: Pictures,
  ) {
    const count = character.drawn;
    const geometry = new BufferGeometry();
    this.exact = streamed(new Float32Array(3 * count), 3, false);
    this.rounded = new InterleavedBuffer(new Uint16Array(4 * count), 4).setUsage(DynamicDrawUsage);
    this.roundedPlaces = new InterleavedBufferAttribute(this.rounded, 3, 0, true);
    this.roundedNormals = new InterleavedBufferAttribute(this.rounded, 1, 3, true);
    this.normals = streamed(new Int16Array(2 * count), 2, true);
    this.values = streamed(new Uint16Array(count), 1, true);
    geometry.setAttribute("position", this.exact);
    geometry.setAttribute("normal", this.normals);
    geometry.setAttribute("painting", this.values);
    if (character.uvs.length > 0) geometry.setAttribute("uv", new BufferAttribute(character.uvs, 2));
    geometry.setIndex(new BufferAttribute(character.indices, 1));
    // Else three would go over all vertices of every frame to find one.
    geometry.boundingSphere = new Sphere(new Vector3(), Infinity);
    this.table = { value: colourTable(character.sequential) };
    const materials = character.groups.map((_, k) => {
      const { start, count: indices } = character.groups[k] ?? { start: 0, count: 0 };
      geometry.addGroup(start, indices, k);
      return this.material();
    });
    this.mesh = new Mesh(geometry, materials);
    this.mesh.castShadow = true;
    this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    this.mesh.matrixAutoUpdate = false;
    this.dress(true);
  }

  private material(): MeshStandardMaterial {
    // Light that scatters under skin brightens what is seen at a slant.
    const soft = { sheen: 0.45, sheenRoughness: 0.55, sheenColor: new Color(0xff9d7a), clearcoat: 0.06, clearcoatRoughness: 0.45 };
    const material = PLAIN ? new MeshStandardMaterial({ roughness: 0.62, metalness: 0 }) : new MeshPhysicalMaterial({ roughness: 0.58, metalness: 0, ...soft });
    material.onBeforeCompile = (shader) => {
      shader.uniforms.painted = this.painted;
      shader.uniforms.halved = this.halved;
      shader.uniforms.table = this.table;
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", `#include <common>\n${UNFOLD}`)
        .replace("#include <beginnormal_vertex>", "vec3 objectNormal = unfold(halved > 0.5 ? halves(normal.x) : normal.xy); value = vec2(painting, painting > 0.0 ? 1.0 : 0.0);");
      shader.fragmentShader = shader.fragmentShader
        .replace("#include <common>", "#include <common>\nuniform float painted; uniform sampler2D table; varying vec2 value;")
        .replace(
          "#include <color_fragment>",
          `#include <color_fragment>
          if (painted > 0.5) diffuseColor.rgb = value.y > 0.999 ? texture2D(table, vec2(value.x, 0.5)).rgb : vec3(0.16);`,
        );
    };
    return material;
  }

  /** Puts on the file's pictures and colours, or clay. */
  dress(own: boolean): void {
    this.dressed = own;
    this.mesh.material.forEach((material, k) => {
      const group = this.character.groups[k];
      const picture = own && group ? this.pictures(group) : null;
      if ((material.map === null) !== (picture === null)) material.needsUpdate = true;
      material.map = picture;
      const colour = own ? (group?.colour ?? null) : null;
      if (this.wasPainted || picture !== null) material.color.set(0xffffff);
      else if (colour !== null) material.color.setRGB(...colour);
      else material.color.copy(this.second ? PARTNER : CLAY);
    });
  }

  /** Takes a frame's numbers as they are; nothing is copied. */
  take(surface: Surface): void {
    const { geometry } = this.mesh;
    const exact = "exact" in surface;
    if (exact) {
      this.exact.array = surface.exact;
      this.normals.array = surface.normals;
      this.exact.needsUpdate = this.normals.needsUpdate = true;
      this.mesh.matrix.identity();
    } else {
      this.rounded.array = surface.rounded;
      this.rounded.needsUpdate = true;
      const { side, corner } = surface.cube;
      this.mesh.matrix.makeScale(side, side, side).setPosition(...corner);
    }
    const positions = exact ? this.exact : this.roundedPlaces;
    if (geometry.getAttribute("position") !== positions) {
      geometry.setAttribute("position", positions);
      geometry.setAttribute("normal", exact ? this.normals : this.roundedNormals);
      this.halved.value = exact ? 0 : 1;
    }
    this.mesh.updateMatrixWorld(true);
  }

  /** Colours the skin by a quantity; `null` takes the colours away. */
  paint(quantity: Quantity | null, values: Uint16Array): void {
    const painted = quantity !== null && values.length === this.character.drawn;
    this.painted.value = painted ? 1 : 0;
    if (painted !== this.wasPainted) {
      this.wasPainted = painted;
      this.dress(this.dressed);
    }
    if (!painted) return;
    this.values.array = values;
    this.values.needsUpdate = true;
    if (this.map === quantity.map) return;
    this.map = quantity.map;
    this.table.value.dispose();
    this.table.value = colourTable(this.character[quantity.map]);
  }

  look(opacity: number, wireframe: boolean, cut: Plane | null): void {
    const seen = opacity < 0.995;
    for (const material of this.mesh.material) {
      if (material.transparent !== seen) material.needsUpdate = true;
      material.transparent = seen;
      material.opacity = opacity;
      material.depthWrite = !seen;
      material.wireframe = wireframe;
      material.side = cut ? DoubleSide : FrontSide;
      material.clippingPlanes = cut ? [cut] : [];
      material.clipShadows = cut !== null;
    }
    // The ground keeps its shadow however transparent the skin is; with nothing left of it the shadow goes, too.
    this.mesh.castShadow = opacity > 0.02;
    // Light that comes in through a cut would be striped by the map's pattern.
    this.mesh.receiveShadow = cut === null;
  }

  /** Hides groups (0) or makes them transparent; 1 leaves them as they are. */
  mark(opacityOf: (group: Group) => number): void {
    this.mesh.material.forEach((material, k) => {
      const group = this.character.groups[k];
      const opacity = group ? opacityOf(group) : 1;
      material.visible = opacity > 0;
      if (opacity === 0 || opacity === 1) return;
      if (!material.transparent) material.needsUpdate = true;
      material.transparent = true;
      material.opacity = Math.min(material.opacity, opacity);
      material.depthWrite = false;
    });
  }

  private get places(): BufferAttribute | InterleavedBufferAttribute {
    return this.mesh.geometry.getAttribute("position");
  }

  box(): Box3 {
    // Interleaved ones are read the same way; the types of three do not say so.
    return new Box3().setFromBufferAttribute(this.places as BufferAttribute).applyMatrix4(this.mesh.matrix);
  }

  middle(): Vector3 {
    return this.box().getCenter(new Vector3());
  }

  /** Where a vertex is. */
  at(vertex: number): Vector3 {
    return new Vector3().fromBufferAttribute(this.places, vertex).applyMatrix4(this.mesh.matrix);
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    for (const material of this.mesh.material) material.dispose();
    this.table.value.dispose();
    this.mesh.removeFromParent();
  }
}

function streamed(array: Float32Array | Uint16Array | Int16Array, size: number, normalized: boolean): BufferAttribute {
  return new BufferAttribute(array, size, normalized).setUsage(DynamicDrawUsage);
}

/** The colours of a quantity as a picture one pixel high. */
function colourTable(colours: Uint8Array): DataTexture {
  const pixels = new Uint8Array(4 * 256);
  for (let k = 0; k < 256; k++) pixels.set([colours[3 * k] ?? 0, colours[3 * k + 1] ?? 0, colours[3 * k + 2] ?? 0, 255], 4 * k);
  const table = new DataTexture(pixels, 256, 1);
  table.colorSpace = SRGBColorSpace;
  table.minFilter = table.magFilter = LinearFilter;
  table.needsUpdate = true;
  return table;
}

/** The two numbers in the halves of one, and the direction they stand for; see the engine's drawn.rs. */
const UNFOLD = `
attribute float painting;
uniform float halved;
varying vec2 value;
vec2 halves(float both) {
  float whole = floor(both * 65535.0 + 0.5);
  float high = floor(whole / 256.0);
  return (vec2(high, whole - 256.0 * high) - 128.0) / 127.0;
}
vec3 unfold(vec2 seen) {
  vec3 normal = vec3(seen, 1.0 - abs(seen.x) - abs(seen.y));
  float over = max(-normal.z, 0.0);
  normal.xy += vec2(normal.x >= 0.0 ? -over : over, normal.y >= 0.0 ? -over : over);
  return normalize(normal);
}`;

/** The skin as it streams in: positions and normals go to the graphics card as they arrive. */

import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  DynamicDrawUsage,
  FrontSide,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  Mesh,
  MeshStandardMaterial,
  Plane,
  Vector3,
} from "three";
import type { Character, Quantity } from "../messages.ts";

const CLAY = new Color(0xc7a08a);
const PARTNER = new Color(0x9fb0c4);

export class Skin {
  readonly mesh: Mesh<BufferGeometry, MeshStandardMaterial>;
  private readonly positions: BufferAttribute;
  private readonly normals: InterleavedBuffer;
  private readonly colours: InterleavedBuffer;

  constructor(
    private readonly character: Character,
    second: boolean,
  ) {
    const count = character.drawn;
    const geometry = new BufferGeometry();
    this.positions = new BufferAttribute(new Float32Array(3 * count), 3);
    this.positions.setUsage(DynamicDrawUsage);
    this.normals = new InterleavedBuffer(new Int16Array(4 * count), 4);
    this.normals.setUsage(DynamicDrawUsage);
    this.colours = new InterleavedBuffer(new Uint8Array(4 * count).fill(255), 4);
    geometry.setAttribute("position", this.positions);
    geometry.setAttribute("normal", new InterleavedBufferAttribute(this.normals, 3, 0, true));
    geometry.setAttribute("color", new InterleavedBufferAttribute(this.colours, 3, 0, true));
    geometry.setIndex(new BufferAttribute(character.indices, 1));
    const material = new MeshStandardMaterial({ color: second ? PARTNER : CLAY, roughness: 0.62, metalness: 0 });
    this.mesh = new Mesh(geometry, material);
    this.mesh.castShadow = true;
    this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    this.mesh.userData.base = material.color.clone();
  }

  /** Takes a frame's numbers as they are; nothing is copied. */
  take(positions: Float32Array, normals: Int16Array): void {
    this.positions.array = positions;
    this.positions.needsUpdate = true;
    this.normals.array = normals;
    this.normals.needsUpdate = true;
  }

  /** Colours the skin by a quantity; `null` takes the colours away. */
  paint(quantity: Quantity | null, values: Float32Array): void {
    const material = this.mesh.material;
    const colours = quantity !== null && values.length === this.character.drawn;
    if (material.vertexColors !== colours) {
      material.vertexColors = colours;
      material.color.copy(colours ? new Color(0xffffff) : (this.mesh.userData.base as Color));
      material.needsUpdate = true;
    }
    if (!colours) return;
    const table = this.character[quantity.map];
    const [low, high] = quantity.range;
    const scale = 255 / Math.max(high - low, 1e-12);
    const target = this.colours.array;
    for (let v = 0; v < values.length; v++) {
      const value = values[v] ?? NaN;
      const at = 3 * Math.max(0, Math.min(255, Math.round((value - low) * scale)));
      const known = !Number.isNaN(value);
      for (let c = 0; c < 3; c++) target[4 * v + c] = known ? (table[at + c] ?? 0) : 110;
    }
    this.colours.needsUpdate = true;
  }

  look(opacity: number, wireframe: boolean, cut: Plane | null): void {
    const material = this.mesh.material;
    const seen = opacity < 0.995;
    if (material.transparent !== seen) material.needsUpdate = true;
    material.transparent = seen;
    material.opacity = opacity;
    material.depthWrite = !seen;
    material.wireframe = wireframe;
    material.side = cut ? DoubleSide : FrontSide;
    material.clippingPlanes = cut ? [cut] : [];
    material.clipShadows = cut !== null;
    this.mesh.castShadow = !seen;
  }

  box(): Box3 {
    return new Box3().setFromBufferAttribute(this.positions);
  }

  middle(): Vector3 {
    return this.box().getCenter(new Vector3());
  }

  /** Numbers of the vertex as they were streamed. */
  at(vertex: number): Vector3 {
    return new Vector3().fromBufferAttribute(this.positions, vertex);
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
    this.mesh.removeFromParent();
  }
}

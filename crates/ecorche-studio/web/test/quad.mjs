import { Buffer } from "node:buffer";
import { deflateSync } from "node:zlib";

/** A glTF file of a square on one joint, with a picture of four colours. */
export function texturedQuad() {
  const crc = (bytes) => {
    let sum = ~0;
    for (const byte of bytes) {
      sum ^= byte;
      for (let k = 0; k < 8; k++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
    }
    return ~sum >>> 0;
  };
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc(body));
    return Buffer.concat([length, body, check]);
  };
  const rows = Buffer.from([0, 220, 40, 40, 40, 200, 60, 0, 50, 80, 220, 240, 220, 40]);
  const png = Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 2, 0, 0, 0])),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
  const floats = (list) => Buffer.from(new Float32Array(list).buffer);
  const parts = [
    [floats([-0.5, 0, 0, 0.5, 0, 0, 0.5, 1, 0, -0.5, 1, 0]), { type: "VEC3", componentType: 5126, count: 4, min: [-0.5, 0, 0], max: [0.5, 1, 0] }],
    [floats([0, 1, 1, 1, 1, 0, 0, 0]), { type: "VEC2", componentType: 5126, count: 4 }],
    [Buffer.alloc(16), { type: "VEC4", componentType: 5121, count: 4 }],
    [floats([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]), { type: "VEC4", componentType: 5126, count: 4 }],
    [Buffer.from(new Uint32Array([0, 1, 2, 0, 2, 3]).buffer), { type: "SCALAR", componentType: 5125, count: 6 }],
  ];
  const bytes = Buffer.concat(parts.map(([part]) => part));
  const data = (type, content) => `data:${type};base64,${content.toString("base64")}`;
  let at = 0;
  const bufferViews = parts.map(([part]) => ({ buffer: 0, byteOffset: (at += part.length) - part.length, byteLength: part.length }));
  return JSON.stringify({
    asset: { version: "2.0" },
    scene: 0,
    scenes: [{ nodes: [0, 1] }],
    nodes: [{ name: "root" }, { name: "quad", mesh: 0, skin: 0 }],
    skins: [{ joints: [0] }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0, TEXCOORD_0: 1, JOINTS_0: 2, WEIGHTS_0: 3 }, indices: 4, material: 0 }] }],
    materials: [{ name: "cloth", pbrMetallicRoughness: { baseColorTexture: { index: 0 } } }],
    textures: [{ source: 0 }],
    images: [{ uri: data("image/png", png) }],
    accessors: parts.map(([, accessor], bufferView) => ({ bufferView, ...accessor })),
    bufferViews,
    buffers: [{ byteLength: bytes.length, uri: data("application/octet-stream", bytes) }],
  });
}

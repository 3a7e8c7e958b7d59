/** PNG pictures put together to an animated one. */

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let k = 0; k < 8; k++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function checksum(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (TABLE[(sum ^ byte) & 255] ?? 0) ^ (sum >>> 8);
  return ~sum >>> 0;
}

function chunk(name: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  bytes.set(new TextEncoder().encode(name), 4);
  bytes.set(data, 8);
  view.setUint32(8 + data.length, checksum(bytes.subarray(4, 8 + data.length)));
  return bytes;
}

/** The chunks of a PNG by name, in order. */
function chunksOf(png: Uint8Array): [string, Uint8Array][] {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const found: [string, Uint8Array][] = [];
  for (let at = SIGNATURE.length; at + 12 <= png.length; ) {
    const length = view.getUint32(at);
    found.push([String.fromCharCode(...png.subarray(at + 4, at + 8)), png.subarray(at + 8, at + 8 + length)]);
    at += 12 + length;
  }
  return found;
}

function numbers(length: number, write: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(length);
  write(new DataView(bytes.buffer));
  return bytes;
}

/** Pictures of one size, shown `milliseconds` each, again and again. */
export function animate(pictures: readonly Uint8Array[], milliseconds: number): Uint8Array<ArrayBuffer> {
  const [first] = pictures;
  const header = first ? chunksOf(first).find(([name]) => name === "IHDR")?.[1] : undefined;
  if (!header) throw new Error("there is no picture to animate");
  const [width, height] = [new DataView(header.buffer, header.byteOffset).getUint32(0), new DataView(header.buffer, header.byteOffset).getUint32(4)];
  const parts = [Uint8Array.from(SIGNATURE), chunk("IHDR", header), chunk("acTL", numbers(8, (view) => { view.setUint32(0, pictures.length); }))];
  let sequence = 0;
  pictures.forEach((picture, k) => {
    parts.push(chunk("fcTL", numbers(26, (view) => {
      view.setUint32(0, sequence++);
      view.setUint32(4, width);
      view.setUint32(8, height);
      view.setUint16(20, Math.round(milliseconds));
      view.setUint16(22, 1000);
    })));
    for (const [name, data] of chunksOf(picture)) {
      if (name !== "IDAT") continue;
      if (k === 0) parts.push(chunk("IDAT", data));
      else {
        const numbered = new Uint8Array(4 + data.length);
        new DataView(numbered.buffer).setUint32(0, sequence++);
        numbered.set(data, 4);
        parts.push(chunk("fdAT", numbered));
      }
    }
  });
  parts.push(chunk("IEND", new Uint8Array()));
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

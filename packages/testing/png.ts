import { inflateSync } from 'node:zlib';

/** The pixels of a PNG. */
export interface DecodedPng {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of a pixel, each from 0 to 255. */
  at(x: number, y: number): readonly [number, number, number];
  /** Number of pixels in a part of the picture for which the function returns true. */
  count(
    part: { x: number; y: number; width: number; height: number },
    has: (red: number, green: number, blue: number) => boolean,
  ): number;
}

/** Decodes a PNG of 8 bits a channel without a palette and interlacing. Throws on any other (https://www.w3.org/TR/png-3/). */
export function decodePng(png: Uint8Array): DecodedPng {
  const file = Buffer.from(png);
  if (file.toString('latin1', 1, 4) !== 'PNG') throw new Error('this is no PNG');
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const channels = { 2: 3, 6: 4 }[file.readUInt8(25)];
  if (file.readUInt8(24) !== 8 || !channels || file.readUInt8(28) !== 0)
    throw new Error('another kind of PNG');
  const rows = unfilter(inflateSync(packedData(file)), { stride: width * channels, height, channels });
  const at = (x: number, y: number) => {
    const from = (y * width + x) * channels;
    return [rows[from] ?? 0, rows[from + 1] ?? 0, rows[from + 2] ?? 0] as const;
  };
  return {
    width,
    height,
    at,
    count(part, has) {
      let found = 0;
      for (let y = part.y; y < part.y + part.height; y++)
        for (let x = part.x; x < part.x + part.width; x++) if (has(...at(x, y))) found++;
      return found;
    },
  };
}

function packedData(file: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(file.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  return Buffer.concat(parts);
}

function unfilter(
  packed: Buffer,
  { stride, height, channels }: { stride: number; height: number; channels: number },
): Uint8Array {
  const rows = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = packed[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const here = y * stride + x;
      const left = x < channels ? 0 : (rows[here - channels] as number);
      const above = y === 0 ? 0 : (rows[here - stride] as number);
      const corner = x < channels || y === 0 ? 0 : (rows[here - stride - channels] as number);
      const guess = guessOf(filter ?? 0, left, above, corner);
      rows[here] = (packed[y * (stride + 1) + 1 + x] as number) + guess;
    }
  }
  return rows;
}

/** Predicts a byte without arrays, since it runs for each of some million bytes. */
function guessOf(filter: number, left: number, above: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  const a = Math.abs(above - corner);
  const b = Math.abs(left - corner);
  const c = Math.abs(left + above - 2 * corner);
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}

/** Gets a picture as a browser does, and decodes it. */
export async function fetchPng(address: string): Promise<{ headers: Headers; picture: DecodedPng }> {
  const response = await fetch(address);
  if (response.status !== 200) throw new Error(`${address} is ${response.status}: ${await response.text()}`);
  return { headers: response.headers, picture: decodePng(await response.bytes()) };
}

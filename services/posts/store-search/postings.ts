import { addBit, type Bitmap, emptyBitmap, placesOf } from './bitmap.ts';

const asSteps = 0;
const asBitmap = 1;

/** Ascending places as bytes: the steps between them in seven bits a byte, or a bit for each place where that is shorter. */
export function encodePlaces(places: ArrayLike<number>, span: number): Uint8Array {
  const bytes = new Uint8Array(1 + Math.min(3 * places.length, (span >>> 3) + 3));
  let length = 1;
  let previous = -1;
  for (let index = 0; index < places.length; index++) {
    if (length > span >>> 3) return encodeBitmap(places, span);
    const place = places[index] as number;
    let step = place - previous - 1;
    for (; step > 127; step >>>= 7) bytes[length++] = step | 128;
    bytes[length++] = step;
    previous = place;
  }
  bytes[0] = asSteps;
  return bytes.subarray(0, length);
}

/** Adds the places to a bitmap. */
export function addPlaces(bitmap: Bitmap, bytes: Uint8Array): void {
  if (bytes[0] === asBitmap) {
    const words = wordsOf(bytes);
    for (let word = 0; word < bitmap.length; word++)
      bitmap[word] = (bitmap[word] as number) | (words[word] as number);
    return;
  }
  let place = -1;
  for (let index = 1; index < bytes.length; ) {
    let byte = bytes[index++] as number;
    let step = byte & 127;
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[index++] as number;
      step |= (byte & 127) << shift;
    }
    place += step + 1;
    addBit(bitmap, place);
  }
}

/** Writes the places, each moved by `offset`, to `target` from `start`; gives where they end. */
export function decodePlaces(bytes: Uint8Array, offset: number, target: Uint16Array, start: number): number {
  let end = start;
  if (bytes[0] === asBitmap) {
    for (const place of placesOf(wordsOf(bytes))) target[end++] = place + offset;
    return end;
  }
  let place = offset - 1;
  for (let index = 1; index < bytes.length; ) {
    let byte = bytes[index++] as number;
    let step = byte & 127;
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[index++] as number;
      step |= (byte & 127) << shift;
    }
    place += step + 1;
    target[end++] = place;
  }
  return end;
}

function encodeBitmap(places: ArrayLike<number>, span: number): Uint8Array {
  const bitmap = emptyBitmap(span);
  for (let index = 0; index < places.length; index++) addBit(bitmap, places[index] as number);
  const bytes = new Uint8Array(1 + bitmap.byteLength);
  bytes[0] = asBitmap;
  bytes.set(new Uint8Array(bitmap.buffer), 1);
  return bytes;
}

function wordsOf(bytes: Uint8Array): Bitmap {
  return new Uint32Array(bytes.slice(1).buffer);
}

/** A set of documents of a segment, one bit each, by their place in it. */
export type Bitmap = Uint32Array<ArrayBuffer>;

export function emptyBitmap(span: number): Bitmap {
  return new Uint32Array(span >>> 5);
}

export function addBit(bitmap: Bitmap, place: number): void {
  bitmap[place >>> 5] = (bitmap[place >>> 5] as number) | (1 << (place & 31));
}

export function dropBit(bitmap: Bitmap, place: number): void {
  bitmap[place >>> 5] = (bitmap[place >>> 5] as number) & ~(1 << (place & 31));
}

export function hasBit(bitmap: Bitmap, place: number): boolean {
  return (((bitmap[place >>> 5] as number) >>> (place & 31)) & 1) === 1;
}

export function unite(target: Bitmap, other: Bitmap): void {
  for (let word = 0; word < target.length; word++)
    target[word] = (target[word] as number) | (other[word] as number);
}

export function intersect(target: Bitmap, other: Bitmap): void {
  for (let word = 0; word < target.length; word++)
    target[word] = (target[word] as number) & (other[word] as number);
}

export function subtract(target: Bitmap, other: Bitmap): void {
  for (let word = 0; word < target.length; word++)
    target[word] = (target[word] as number) & ~(other[word] as number);
}

export function countBits(bitmap: Bitmap): number {
  let total = 0;
  for (let word = 0; word < bitmap.length; word++) {
    let bits = bitmap[word] as number;
    bits -= (bits >>> 1) & 0x55555555;
    bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
    total += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return total;
}

/** The places of the bits that are set, ascending. */
export function placesOf(bitmap: Bitmap): Uint16Array {
  const places = new Uint16Array(countBits(bitmap));
  let length = 0;
  for (let word = 0; word < bitmap.length; word++) {
    let bits = bitmap[word] as number;
    while (bits !== 0) {
      places[length++] = word * 32 + 31 - Math.clz32(bits & -bits);
      bits &= bits - 1;
    }
  }
  return places;
}

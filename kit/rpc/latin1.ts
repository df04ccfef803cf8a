/**
 * Bytes as text of the same length, a character each (ISO 8859-1). Node writes a head and a small body fastest when both
 * are one such text. `Buffer.from(bytes)` first would cost more than the rest of it.
 */
export function latin1(bytes: Uint8Array, end: number = bytes.length): string {
  return latin1Slice.call(bytes, 0, end);
}

/** The largest body that is better joined to its head than written after it. */
export const joinedBytesMax = 16 * 1024;

const { latin1Slice } = Buffer.prototype as unknown as {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
};

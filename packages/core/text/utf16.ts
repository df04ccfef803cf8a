let units = new Uint16Array(4_096);
let bytes = Buffer.from(units.buffer);

/**
 * The UTF-16 code units of a text. The array is longer than the text, and valid until the next call. A loop over it takes a third
 * of the time of `charCodeAt` at each index.
 */
export function utf16(text: string): Uint16Array {
  if (text.length > units.length) {
    units = new Uint16Array(2 * text.length);
    bytes = Buffer.from(units.buffer);
  }
  bytes.write(text, 'utf16le');
  return units;
}

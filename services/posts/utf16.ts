let units = new Uint16Array(4_096);
let bytes = Buffer.from(units.buffer);

/**
 * The UTF-16 units of a text, and then whatever; valid until the next call. To go through them there takes a third of the time of
 * asking the text for one after another.
 */
export function utf16(text: string): Uint16Array {
  if (text.length > units.length) {
    units = new Uint16Array(2 * text.length);
    bytes = Buffer.from(units.buffer);
  }
  bytes.write(text, 'utf16le');
  return units;
}

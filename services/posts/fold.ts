/**
 * The form in which text is compared: NFC, each code point in simple lower case. `toLowerCase` on a whole text would make
 * a final sigma of Σ and two code points of İ, so that a part would not be found in its whole.
 */
export function fold(text: string): string {
  return text.normalize('NFC').replaceAll('\u03a3', '\u03c3').replaceAll('\u0130', 'i').toLowerCase();
}

/** Stands between title and body: an upper-case letter is in no folded text, so no term reaches from one to the other. */
export const divider = 'A';

/**
 * What a post must store to be searched in SQL: nothing where lower-casing ASCII, which both databases do alike, gives
 * the folded text, as it does for nearly all.
 */
export function storedFold(title: string, body: string): string | null {
  if (isAscii(title) && isAscii(body)) return null;
  const [foldedTitle, foldedBody] = [fold(title), fold(body)];
  if (isLowerAscii(foldedTitle, title) && isLowerAscii(foldedBody, body)) return null;
  return foldedTitle + divider + foldedBody;
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

/** Whether lower-casing the ASCII letters of a text gives the other. */
function isLowerAscii(lower: string, text: string): boolean {
  if (lower.length !== text.length) return false;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const isCapital = unit >= 0x41 && unit <= 0x5a;
    if (lower.charCodeAt(index) !== (isCapital ? unit + 32 : unit)) return false;
  }
  return true;
}

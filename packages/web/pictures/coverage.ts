/** The code points that a TrueType font has letters for, from its table `cmap` of format 12 or 4. Throws if it has neither. */
export function codePointsOf(font: Uint8Array): Set<number> {
  const view = new DataView(font.buffer, font.byteOffset, font.byteLength);
  const cmap = tableOffset(view, 'cmap');
  const offsets = new Map<number, number>();
  for (let index = 0; index < view.getUint16(cmap + 2); index++) {
    const at = cmap + view.getUint32(cmap + 4 + index * 8 + 4);
    offsets.set(view.getUint16(at), at);
  }
  const [all, basic] = [offsets.get(12), offsets.get(4)];
  if (all !== undefined) return readGroups(view, all);
  if (basic !== undefined) return readSegments(view, basic);
  throw new Error('the font has no table of Unicode letters');
}

/**
 * A text as a font can show it: composed, without formatting characters, and without symbols that the font lacks, such as emoji. Undefined if the font lacks a
 * letter, a digit or a mark of it, or nothing is left.
 */
export function coveredText(text: string, codePoints: ReadonlySet<number>): string | undefined {
  let covered = '';
  for (const character of text.normalize('NFC')) {
    if (/\s/.test(character)) covered += character === '\n' ? '\n' : ' ';
    else if (codePoints.has(character.codePointAt(0) ?? 0) && !/\p{C}/u.test(character)) covered += character;
    else if (/[\p{L}\p{N}\p{M}]/u.test(character) && !/\p{Variation_Selector}/u.test(character))
      return undefined;
    else covered += leftOut;
  }
  const tidy = covered
    .replace(/ *\0[ \0]*(?=[.,;:!?…”’»)\n]|$)/g, '')
    .replace(/[ \0]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim();
  return tidy === '' ? undefined : tidy;
}

const leftOut = '\0';

function tableOffset(view: DataView, name: string): number {
  for (let index = 0; index < view.getUint16(4); index++) {
    const at = 12 + index * 16;
    const tag = String.fromCharCode(...[0, 1, 2, 3].map((byte) => view.getUint8(at + byte)));
    if (tag === name) return view.getUint32(at + 8);
  }
  throw new Error(`the font has no table ${name}`);
}

function readGroups(view: DataView, at: number): Set<number> {
  const points = new Set<number>();
  for (let index = 0; index < view.getUint32(at + 12); index++) {
    const group = at + 16 + index * 12;
    addRange(points, view.getUint32(group), view.getUint32(group + 4));
  }
  return points;
}

function readSegments(view: DataView, at: number): Set<number> {
  const points = new Set<number>();
  const length = view.getUint16(at + 6);
  for (let offset = 0; offset < length; offset += 2) {
    const last = view.getUint16(at + 14 + offset);
    if (last !== 0xffff) addRange(points, view.getUint16(at + 16 + length + offset), last);
  }
  return points;
}

function addRange(points: Set<number>, first: number, last: number): void {
  for (let point = first; point <= last; point++) points.add(point);
}

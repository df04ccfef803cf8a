/**
 * The width of a text in a serif face, in units of its size. Faces differ by a tenth, so leave that much room. Letters of scripts with
 * square characters are as wide as they are high.
 */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += widths.get(character) ?? widthByKind(character);
  return width;
}

const widths = new Map<string, number>();
for (const [characters, width] of [
  ["ijltI’‘.,:;!|'", 0.29],
  ['fr()[]“”-"/', 0.37],
  [' ', 0.25],
  ['aceszvxyk', 0.46],
  ['bdghnopqu', 0.52],
  ['mwMW—', 0.86],
  ['0123456789', 0.52],
] as const) {
  for (const character of characters) widths.set(character, width);
}

function widthByKind(character: string): number {
  if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Extended_Pictographic}]/u.test(character))
    return 1;
  if (/\p{M}/u.test(character)) return 0;
  return /\p{Lu}/u.test(character) ? 0.7 : 0.52;
}

/**
 * Breaks a text into lines of at most `width`, all about equally long, at spaces or else within a word. Lines that the text has stay
 * apart.
 */
export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => balanced(wordsOf(line, width), width));
}

/** The breaks for which the squares of what is left of each line are the least, over as few lines as possible. */
function balanced(words: readonly string[], width: number): string[] {
  const space = widthOf(' ');
  const wordWidths = words.map(widthOf);
  const best: { cost: number; lines: number; start: number }[] = [{ cost: 0, lines: 0, start: 0 }];
  for (let end = 1; end <= words.length; end++) {
    let lineWidth = -space;
    for (let start = end - 1; start >= 0; start--) {
      lineWidth += (wordWidths[start] as number) + space;
      if (lineWidth > width && start < end - 1) break;
      const before = best[start] as { cost: number; lines: number };
      const found = { cost: before.cost + (width - lineWidth) ** 2, lines: before.lines + 1, start };
      const known = best[end];
      if (!known || found.lines < known.lines || (found.lines === known.lines && found.cost < known.cost)) {
        best[end] = found;
      }
    }
  }
  const lines: string[] = [];
  for (let end = words.length; end > 0; ) {
    const { start } = best[end] as { start: number };
    lines.unshift(words.slice(start, end).join(' '));
    end = start;
  }
  return lines;
}

/** Words, of which those that are too long for a line are cut. */
function wordsOf(line: string, width: number): string[] {
  return line
    .split(/\s+/)
    .filter((word) => word !== '')
    .flatMap((word) => (widthOf(word) <= width ? [word] : pieces(word, width)));
}

function pieces(word: string, width: number): string[] {
  const found: string[] = [];
  let piece = '';
  for (const character of word) {
    if (piece !== '' && widthOf(piece + character) > width) {
      found.push(piece);
      piece = '';
    }
    piece += character;
  }
  return [...found, piece];
}

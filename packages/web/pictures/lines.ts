/** Height of a line in units of its size. */
export const lineHeight = 1.3;

export interface Room {
  readonly width: number;
  readonly height: number;
  readonly sizes: readonly number[];
  readonly linesMax?: number | undefined;
}

/** The width of a text in units of its size. */
export type Measure = (text: string) => number;

/** The largest size in which a text fits, with its lines. Lines that the text has are rather set smaller than broken; what never fits is cut. */
export function fitText(
  text: string,
  { width, height, sizes, linesMax = Number.POSITIVE_INFINITY }: Room,
  measure: Measure,
): { size: number; lines: string[] } {
  const linesAt = (size: number) => Math.min(linesMax, Math.max(1, Math.floor(height / (size * lineHeight))));
  const fits = sizes.flatMap((size) => {
    const lines = breakLines(text, width / size, measure);
    return lines.length <= linesAt(size) ? [{ size, lines }] : [];
  });
  const given = text.split('\n').length;
  const fit = fits.find(({ lines }) => given > 1 && lines.length === given) ?? fits[0];
  if (fit) return fit;
  const size = sizes.at(-1) as number;
  const lines = breakLines(text, width / size, measure);
  const whole = lines.splice(0, linesAt(size) - 1);
  const last = shortened(lines.slice(0, 2).join(' '), width / size, measure);
  return { size, lines: [...whole, last] };
}

/** Breaks a text into lines of at most `width`, all about equally long, at spaces or else within a word. Lines that the text has stay apart. */
function breakLines(text: string, width: number, measure: Measure): string[] {
  return text.split('\n').flatMap((line) => balanced(wordsOf(line, width, measure), width, measure));
}

/** The breaks for which the squares of what is left of each line are the least, over as few lines as possible. */
function balanced(words: readonly string[], width: number, measure: Measure): string[] {
  const space = measure(' ');
  const widths = words.map(measure);
  const best: { cost: number; lines: number; start: number }[] = [{ cost: 0, lines: 0, start: 0 }];
  for (let end = 1; end <= words.length; end++) {
    let lineWidth = -space;
    for (let start = end - 1; start >= 0; start--) {
      lineWidth += (widths[start] as number) + space;
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
function wordsOf(line: string, width: number, measure: Measure): string[] {
  const words = line.split(/\s+/).filter((word) => word !== '');
  return words.flatMap((word) => (measure(word) <= width ? [word] : pieces(word, width, measure)));
}

function pieces(word: string, width: number, measure: Measure): string[] {
  const found: string[] = [];
  let piece = '';
  for (const character of word) {
    if (piece !== '' && measure(piece + character) > width) {
      found.push(piece);
      piece = '';
    }
    piece += character;
  }
  return [...found, piece];
}

/** The line with an ellipsis in place of its last words, or of letters where the last word is most of it. */
function shortened(line: string, width: number, measure: Measure): string {
  let rest = line;
  while (rest !== '' && measure(`${rest} …`) > width) {
    const space = rest.lastIndexOf(' ');
    rest = rest.slice(0, space > rest.length / 2 ? space : -1);
  }
  return `${rest} …`;
}

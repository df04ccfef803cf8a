import { rowBlocks } from '../table.ts';

/** A line between rows, and one with values: of box-drawing characters, or of plus signs, dashes and bars. */
const border = /^[┌├└╔╠╚╞+][┌├└╔╠╚╞┬┼┴╦╬╩╪┐┤┘╗╣╝╡─═━+=-]{2,}$/u;
const values = /^[│║|].*[│║|]$/u;
const wall = /[│║|]/u;

/** The rows of a table that a paragraph draws with lines, each with the names of its columns; undefined if it is something else. */
export function drawnRows(paragraph: string): string[] | undefined {
  const lines = paragraph.split('\n').map((line) => line.trim());
  if (!border.test(lines[0] ?? '') || !lines.every((line) => border.test(line) || values.test(line)))
    return undefined;
  const groups: string[][][] = [];
  for (const line of lines) {
    if (border.test(line)) groups.push([]);
    else groups.at(-1)?.push(line.slice(1, -1).split(wall));
  }
  const [header = [], ...bodies] = groups.filter((lines) => lines.length > 0);
  // With lines between all rows, a value may go on below itself.
  const rows = bodies.length > 1 ? bodies.map(joined) : bodies.flat();
  return rowBlocks([joined(header), ...rows]).map(({ text }) => text.replace(/\s+/g, ' '));
}

function joined(lines: readonly (readonly string[])[]): string[] {
  const [first = []] = lines;
  return first.map((_, column) =>
    lines
      .map((cells) => cells[column]?.trim() ?? '')
      .join(' ')
      .trim(),
  );
}

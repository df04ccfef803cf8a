/**
 * Tables of PDF files whose cells are known: a folder with `NAME.pdf` beside `NAME-str.xml`, as the table competition of ICDAR 2013 gives
 * them. Counts values that stand beside a name of their column, those beside a name of none, and those in a row without names.
 *
 *   npx node proof/bench/documents-tables.ts FOLDER... [--half even|odd] [--verbose]
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { extract } from '@octavo/documents';

const { positionals: folders, values } = parseArgs({
  allowPositionals: true,
  options: { half: { type: 'string', default: '' }, verbose: { type: 'boolean', default: false } },
});
if (folders.length === 0 || !folders.every((folder) => existsSync(folder))) {
  console.log('skipped: name folders of PDF files with their tables');
  process.exit(0);
}

/** A cell by its first and last row and column, with the letters and digits of its text. */
interface Cell {
  readonly page: number;
  readonly table: number;
  readonly rows: readonly [number, number];
  readonly columns: readonly [number, number];
  readonly text: string;
}

const counts = { files: 0, tables: 0, values: 0, named: 0, misnamed: 0, unnamed: 0 };
for (const folder of folders)
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.pdf'))
    .sort()) {
    const parity = Number(/\d+/.exec(file)?.[0] ?? 0) % 2 === 0 ? 'even' : 'odd';
    if (values.half === '' || values.half === parity) await judge(folder, file);
  }
console.log(counts);
process.exit(0);

async function judge(folder: string, file: string): Promise<void> {
  const cells = cellsOf(readFileSync(join(folder, file.replace(/\.pdf$/, '-str.xml')), 'utf8'));
  const below = cells.filter((cell) => namesOf(cell, cells).length > 0 && cell.columns[0] > 0);
  counts.files++;
  counts.tables += new Set(cells.map(({ table }) => table)).size;
  counts.values += below.length;
  const left = new Set(below);
  const { blocks } = await extract('application/pdf', new Uint8Array(readFileSync(join(folder, file))));
  for (const { text, page } of blocks)
    for (const part of text.includes('; ') ? text.split('; ') : []) {
      const [, name, value = part] = /^(.*?): (.*)$/.exec(part) ?? [];
      const found = below.filter((cell) => cell.page === page && cell.text === lettersOf(value));
      const named = name === undefined ? [] : found.filter((cell) => isNamed(cell, name, cells));
      const right = named.find((cell) => left.has(cell));
      const taken = right ?? (named.length > 0 ? undefined : found.find((cell) => left.has(cell)));
      if (!taken) continue;
      left.delete(taken);
      counts[right ? 'named' : name === undefined ? 'unnamed' : 'misnamed']++;
      if (!right && name !== undefined && values.verbose) console.log(`${file}, page ${page}: ${part}`);
    }
}

function cellsOf(xml: string): Cell[] {
  return xml
    .split(/<table\b/)
    .slice(1)
    .flatMap((table, index) =>
      table
        .split(/<region\b/)
        .slice(1)
        .flatMap((region) => {
          const page = Number(/page=['"](\d+)/.exec(region)?.[1] ?? 1);
          return region
            .split(/<cell\b/)
            .slice(1)
            .map((cell) => cellOf(cell, { page, table: index }));
        }),
    )
    .filter(({ text }) => text !== '');
}

function cellOf(xml: string, place: Pick<Cell, 'page' | 'table'>): Cell {
  const number = (name: string) => {
    const [, found] = new RegExp(`\\b${name}=['"](\\d+)`).exec(xml) ?? [];
    return found === undefined ? undefined : Number(found);
  };
  const [row = 0, column = 0] = [number('start-row'), number('start-col')];
  const text = /<content>([\s\S]*?)<\/content>/.exec(xml)?.[1] ?? '';
  return {
    ...place,
    rows: [row, number('end-row') ?? row],
    columns: [column, number('end-col') ?? column],
    text: lettersOf(text.replace(/&(?:amp|lt|gt|quot|apos);/g, ' ')),
  };
}

function lettersOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}%]+/gu, '');
}

/** The cells above one in its columns. */
function namesOf({ page, table, rows, columns }: Cell, cells: readonly Cell[]): Cell[] {
  return cells.filter(
    (each) =>
      each.page === page &&
      each.table === table &&
      each.rows[1] < rows[0] &&
      each.columns[0] <= columns[1] &&
      each.columns[1] >= columns[0],
  );
}

/** True if each part of a name is, or is made of, cells above the value. */
function isNamed(cell: Cell, name: string, cells: readonly Cell[]): boolean {
  const above = namesOf(cell, cells).map(({ text }) => text);
  const whole = above.join('');
  return name.split(' / ').every((part) => {
    const letters = lettersOf(part);
    return letters !== '' && (whole.includes(letters) || above.some((text) => letters === text));
  });
}

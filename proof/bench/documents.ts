/**
 * Documents of other people: small inputs after public reports by the chat (`field/web/cases.json`), documents of public projects
 * beside what independent tools read of them (`documents/truth.json`), tables of our own in each format, and values of workbooks beside
 * those that a spreadsheet program shows (`NAME.xlsx` with `NAME.xlsx.N.csv`). The files are not ours to give, so the folders are named.
 * It prints what is not right, and writes the table of `packages/documents/README.md`.
 *
 *   npx node proof/bench/documents.ts FOLDER [SHEETS] [--half]
 *
 * With `--half` it measures every other document and writes nothing, so that the others stay unseen until the end.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Judged, publicDocuments } from './documents/public.ts';
import { reports } from './documents/reports.ts';
import { shownValues } from './documents/sheets.ts';
import { madeTables } from './documents/tables.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { half: { type: 'boolean', default: false } },
});
const [folder = '', sheets = ''] = positionals;
const document = new URL('../../packages/documents/README.md', import.meta.url);
const markers = ['<!-- written by proof/bench/documents.ts -->', '<!-- end -->'] as const;

if (folder === '' || !existsSync(folder)) {
  console.log('skipped: name a folder of files, whose documents/truth.json says what is in them');
  process.exit(0);
}
const judged: Judged[] = [
  ...(await reports(join(folder, 'field/web'))),
  ...(await publicDocuments(join(folder, 'documents'), values.half)),
  ...(await madeTables()),
  ...(sheets === '' ? [] : await shownValues(sheets, values.half)),
];
for (const { group, file, isRight, said } of judged)
  if (!isRight) console.log(`${group}: ${file}: ${said.slice(0, 600)}`);
const table = tableOf(judged);
console.log(`\n${table}`);
if (!values.half) {
  const text = readFileSync(document, 'utf8');
  const [start, end] = markers.map((marker) => text.indexOf(marker)) as [number, number];
  writeFileSync(document, `${text.slice(0, start)}${markers[0]}\n\n${table}\n\n${text.slice(end)}`);
}
process.exit(0);

function tableOf(all: readonly Judged[]): string {
  const kinds = [...new Set(all.map(({ kind }) => kind))].sort();
  const groups = [...new Set(all.map(({ group }) => group))];
  const counted = (some: readonly Judged[]) => {
    const [right, whole] = [some.filter(({ isRight }) => isRight), some].map((each) =>
      each.reduce((sum, { weight = 1 }) => sum + weight, 0),
    );
    return whole === 0 ? '' : `${right} of ${whole}`;
  };
  const lineOf = (name: string, some: readonly Judged[]) =>
    `| ${[name, ...groups.map((group) => counted(some.filter((each) => each.group === group)))].join(' | ')} |`;
  return [
    `| format | ${groups.join(' | ')} |`,
    `|${'---|'.repeat(groups.length + 1)}`,
    ...kinds.map((kind) =>
      lineOf(
        kind,
        all.filter((each) => each.kind === kind),
      ),
    ),
    lineOf('all', all),
  ].join('\n');
}

/**
 * Words of documents that are lost without a warning: those that an independent reading has (pandoc, pdftotext, LibreOffice; the text in
 * `truth/` where a program is absent) and ours has not. A document that lacks more than one in twenty and has no warning is listed with
 * them, and the exit code is 1.
 *
 *   npx node proof/bench/documents-lost.ts FOLDER...
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { independentReading, installedTools } from './documents/independent.ts';
import { lackOf, textOf, wordsOf } from './documents/public.ts';

/** Share of the words from which something is lost. */
const lostFrom = 0.05;
const shownMax = 20;

const { positionals: folders } = parseArgs({ allowPositionals: true });
if (folders.length === 0 || !folders.every((folder) => existsSync(folder))) {
  console.log('skipped: name folders of documents');
  process.exit(0);
}
const tools = installedTools();
console.log(
  `Programs: ${tools.map(({ name }) => name).join(', ') || 'none, so texts that they wrote before'}`,
);
const counts = { whole: 0, warned: 0, silent: 0, refused: 0, alone: 0 };
for (const folder of folders) for (const file of readdirSync(folder).sort()) await compare(folder, file);
const { whole, warned, silent, refused, alone } = counts;
console.log(
  `${whole} whole, ${warned} with less and a warning, ${silent} with less and none; ${refused} refused, ${alone} that nobody else reads`,
);
process.exit(silent > 0 ? 1 : 0);

async function compare(folder: string, file: string): Promise<void> {
  const path = join(folder, file);
  if (!statSync(path).isFile() || /^(?:truth|cases)\.json$|^README/.test(file)) return;
  const read = await textOf(file, readFileSync(path));
  if ('refused' in read) {
    counts.refused++;
    return;
  }
  const other = independentReading(tools, folder, file);
  if (!other) {
    counts.alone++;
    return;
  }
  const wanted = wordsOf(other.text);
  // A sheet shows groups in numbers, where a program may tell what is stored.
  const lost = lackOf(wanted, wordsOf(`${read.text}\n${read.text.replace(/(?<=\d),(?=\d{3}\b)/g, '')}`));
  const share = lost.length / Math.max(1, wanted.length);
  if (share <= lostFrom) {
    counts.whole++;
    return;
  }
  counts[read.warnings.length > 0 ? 'warned' : 'silent']++;
  const said = read.warnings.length > 0 ? `told: ${read.warnings.join(' ')}` : 'told nothing';
  const words = lost.slice(0, shownMax).join(' ');
  console.log(
    `${file} (${other.by}): ${Math.round(share * 100)} % of ${wanted.length} words, ${said}: ${words}`,
  );
}

/**
 * Imports of other people's files: statements of banks whose expenses are known (`bank/truth.json`), by the API with the best options and by
 * the page as it stands, and small inputs after public reports (`field/money/cases.json`). The files are not ours to give, so
 * the folder is named; nothing is measured where it is absent. It prints what is not right, and writes the table of docs/files.md.
 *
 *   npx node proof/bench/files.ts FOLDER
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBudgets } from '../../services/budgets/testing.ts';
import { type Judged, reports, statements, type Verdict } from './files/cases.ts';

const [folder = ''] = process.argv.slice(2);
const document = new URL('../../docs/files.md', import.meta.url);
const markers = ['<!-- written by proof/bench/files.ts -->', '<!-- end -->'] as const;
const verdicts: readonly Verdict[] = ['right', 'partly', 'refused', 'wrong'];
const kinds = { csv: 'CSV', ofx: 'OFX, QFX', qif: 'QIF', camt: 'CAMT.053, CAMT.052', mt940: 'MT940' };

if (folder === '' || !existsSync(folder)) {
  console.log('skipped: name a folder of files, whose bank/truth.json says what is in them');
  process.exit(0);
}
const judged: Judged[] = [];
{
  await using app = await startBudgets();
  const bank = join(folder, 'bank');
  const money = join(folder, 'field/money');
  if (existsSync(bank)) await judge(statements(app, bank));
  if (existsSync(money)) await judge(reports(app, money));
}
const text = readFileSync(document, 'utf8');
const [start, end] = markers.map((marker) => text.indexOf(marker)) as [number, number];
writeFileSync(document, `${text.slice(0, start)}${markers[0]}\n\n${tableOf(judged)}\n\n${text.slice(end)}`);
process.exit(0);

async function judge(cases: AsyncIterable<Judged>): Promise<void> {
  for await (const each of cases) {
    judged.push(each);
    const { way, file, verdict, outcome } = each;
    if (verdict === 'right') continue;
    const { readAs, errors } = outcome.result ?? {};
    const said = outcome.refused ?? JSON.stringify({ errors, readAs, rows: outcome.rows.slice(0, 3) });
    console.log(`${way}: ${verdict}: ${file}: ${said.slice(0, 800)}`);
  }
}

function tableOf(all: readonly Judged[]): string {
  const lineOf = (name: string, some: readonly Judged[]) => {
    const counts = verdicts.map((verdict) => some.filter((each) => each.verdict === verdict).length);
    return `| ${[name, some.length, ...counts].join(' | ')} |`;
  };
  const lines = Object.entries(kinds).flatMap(([kind, name]) =>
    (['API', 'page'] as const).map((way) => {
      const some = all.filter((each) => each.kind === kind && each.way === way);
      return lineOf(`${name}, ${way === 'API' ? 'best options' : 'the page as it stands'}`, some);
    }),
  );
  const small = all.filter(({ way }) => way === 'report');
  return [
    '| files | number | right | partly | refused | wrong |',
    '|---|---|---|---|---|---|',
    ...lines,
    lineOf('small inputs after public reports', small),
  ].join('\n');
}

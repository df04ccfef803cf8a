import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { type Comparison, chart } from './chart.ts';

export interface Part {
  /** Name of its chart. */
  readonly name: string;
  readonly title: string;
  readonly comparisons: readonly Comparison[];
}

interface Report {
  readonly parts: readonly Part[];
  /** Comparisons that were not made, with the reasons. */
  readonly missing: readonly string[];
  readonly command: string;
}

const [begin, end] = ['<!-- peers -->', '<!-- /peers -->'];

/** Writes the charts into `performance/` of a folder, and the table between the markers of its `performance.md`. */
export function writeReport(folder: string, report: Report): void {
  mkdirSync(join(folder, 'performance'), { recursive: true });
  for (const part of report.parts)
    writeFileSync(join(folder, 'performance', `${part.name}.svg`), chart(part.comparisons));
  const file = join(folder, 'performance.md');
  const text = readIfThere(file) ?? `# Performance\n\n${begin}\n${end}\n`;
  const [before, rest = ''] = text.split(begin);
  const after = rest.split(end)[1] ?? '';
  writeFileSync(file, `${before}${begin}\n${markdown(report)}${end}${after}`);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function markdown({ parts, missing, command }: Report): string {
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version}`;
  const day = new Date().toISOString().slice(0, 10);
  const rows = parts.flatMap(({ comparisons }) => comparisons.map(row));
  const charts = parts.map(
    ({ name, title, comparisons }) =>
      `### ${title}\n\n![${comparisons.map(textOf).join('; ')}](performance/${name}.svg)\n`,
  );
  return [
    `\nMeasured on ${day} by \`${command}\` on ${machine}. Rates are operations a second.\n`,
    '| measurement | ours | beside | ratio |\n|---|---|---|---|',
    `${rows.join('\n')}\n`,
    ...(missing.length > 0 ? [`Not compared:\n\n${missing.map((line) => `- ${line}`).join('\n')}\n`] : []),
    ...charts,
    '',
  ].join('\n');
}

/** One row of the table. Ours may have run in two ways; the last of them, as the first figure of the peer, is compared. */
function row({ title, figures }: Comparison): string {
  const entries = Object.entries(figures);
  const own = entries.filter(([name]) => name.startsWith('ours'));
  const others = entries.filter(([name]) => !name.startsWith('ours'));
  const ours = own.map(([name, rate]) => `${written(rate)}${name.slice('ours'.length)}`).join('<br>');
  const beside = others.map(([name, rate]) => `${name} ${written(rate)}`).join('<br>');
  const ratios = others.map(([, rate]) => own.map(([, each]) => (each / rate).toFixed(2)).join(' and '));
  return `| ${title} | ${ours} | ${beside} | ${ratios.join('<br>')} |`;
}

function textOf({ title, figures }: Comparison): string {
  const said = Object.entries(figures).map(([name, rate]) => `${name} ${written(rate)}`);
  return `${title}: ${said.join(', ')}`;
}

function written(rate: number): string {
  return Math.round(rate).toLocaleString('en-US');
}

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Counts, countedSets } from './count.ts';
import { type Rule, rules } from './list.ts';
import { prepareLibraries } from './prepare.ts';

export interface RulesOptions {
  /** Folder that keeps the data of each set for the next run. */
  readonly libraries: string;
  /** Folder that keeps downloaded packages. */
  readonly packages: string | undefined;
  /** Rules to measure; all if there are none. */
  readonly named: readonly string[];
  /** Switches them off together. */
  readonly isTogether: boolean;
}

/** Prints what each rule is worth: by how many of a hundred questions by others the answers are worse where it is switched off. */
export async function measureRules(options: RulesOptions): Promise<void> {
  const { libraries, packages, named, isTogether } = options;
  const data = libraries || mkdtempSync(join(tmpdir(), 'octavo-libraries-'));
  await prepareLibraries(data, packages ?? join(tmpdir(), 'octavo-packages'), countedSets);
  const whole = await countWithout([], data);
  console.log(
    shares.map((share) => `${share.name}: ${share.of} ${sumOf(Object.values(whole), share.of)}`).join('; '),
  );
  console.log(
    `| rule | ${shares.map(({ name }) => name).join(' | ')} |\n|---|${'---|'.repeat(shares.length)}`,
  );
  console.log(`| all, of a hundred | ${shares.map((share) => shareOf(share, whole)).join(' | ')} |`);
  const chosen = rules.filter(({ name }) => named.length === 0 || named.includes(name));
  for (const off of isTogether ? [chosen] : chosen.map((rule) => [rule])) {
    const without = await countWithout(off, data);
    const name = off.map((rule) => rule.name).join(' + ');
    console.log(`| ${name} | ${shares.map((share) => worthOf(share, whole, without)).join(' | ')} |`);
  }
}

type BySet = Readonly<Record<string, Counts>>;

/** A worker has modules of its own, so that only its rules change. */
function countWithout(off: readonly Rule[], libraries: string): Promise<BySet> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: { off, libraries } });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

interface Share {
  readonly name: string;
  readonly count: keyof Counts;
  readonly of: keyof Counts;
  /** Answers that are better the fewer there are. */
  readonly isBad?: boolean;
}

const shares: readonly Share[] = [
  { name: 'in three', count: 'inThree', of: 'answerable' },
  { name: 'alone right', count: 'aloneRight', of: 'answerable' },
  { name: 'alone wrong', count: 'aloneWrong', of: 'answerable', isBad: true },
  { name: 'near misses claimed', count: 'nearClaimed', of: 'near', isBad: true },
  { name: 'everyday', count: 'everydayRight', of: 'everyday' },
  { name: 'follow-ups in three', count: 'followUpsInThree', of: 'followUps' },
];

function sumOf(counts: readonly Counts[], key: keyof Counts): number {
  return counts.reduce((sum, each) => sum + each[key], 0);
}

function shareIn({ count, of }: Share, counts: readonly Counts[]): number {
  return (100 * sumOf(counts, count)) / (sumOf(counts, of) || 1);
}

/** Of all sets that may be learned from, and of the one that may not. */
function shareOf(share: Share, whole: BySet): string {
  const { 'held-back': held, ...seen } = whole;
  return `${shareIn(share, Object.values(seen)).toFixed(1)}, ${shareIn(share, held ? [held] : []).toFixed(1)}`;
}

/** Points over all sets that may be learned from; on the worst and the best of them; and on the one that may not. */
function worthOf(share: Share, whole: BySet, without: BySet): string {
  const points = (sets: readonly string[]) => {
    const [all, less] = [whole, without].map((counts) =>
      shareIn(
        share,
        sets.flatMap((set) => counts[set] ?? []),
      ),
    );
    return (share.isBad ? -1 : 1) * ((all ?? 0) - (less ?? 0));
  };
  const seen = countedSets.filter((set) => set !== 'held-back');
  const each = seen.map((set) => points([set]));
  const range = `${Math.min(...each).toFixed(0)} to ${Math.max(...each).toFixed(0)}`;
  return `${points(seen).toFixed(1)} (${range}), ${points(['held-back']).toFixed(1)}`;
}

import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Corpus } from '../quotes/corpus.ts';
import { type BudgetsProcess, light, register, send, startBudgetsProcess } from './start.ts';

/** Number of expenses that stay between benchmarks; OCTAVO_BENCH_EXPENSES makes fewer. */
export const expenseCount = Number(process.env.OCTAVO_BENCH_EXPENSES || 1_000_000);
const folder = join(tmpdir(), `octavo-bench-expenses-${expenseCount}`);
const perAccount = 1_000;
const importsAtOnce = 3;
const samplesEach = 5;

/** An account with a thousand expenses, and the words of some of them. */
export interface BenchAccount {
  readonly email: string;
  readonly budgetId: string;
  readonly samples: readonly string[];
}

/** Starts the service with a thousand expenses in each of a thousand accounts, imported at the first call. */
export async function startMillion(): Promise<BudgetsProcess & { accounts: readonly BenchAccount[] }> {
  const list = join(folder, 'accounts.json');
  const isThere = existsSync(list);
  if (!isThere) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const service = await startBudgetsProcess(folder, light);
  if (!isThere) await writeFile(list, JSON.stringify(await importAll(service)));
  return { ...service, accounts: JSON.parse(await readFile(list, 'utf8')) };
}

async function importAll({ url }: BudgetsProcess): Promise<BenchAccount[]> {
  const corpus = new Corpus(1);
  const accounts: BenchAccount[] = [];
  const numbers = Array.from({ length: expenseCount / perAccount }, (_, number) => number).values();
  const work = async () => {
    for (const number of numbers) {
      accounts.push(await importOne(url, number, corpus));
      if (accounts.length % 50 === 0) console.error(`${accounts.length * perAccount} expenses`);
    }
  };
  await Promise.all(Array.from({ length: importsAtOnce }, work));
  return accounts;
}

async function importOne(url: string, number: number, corpus: Corpus): Promise<BenchAccount> {
  const email = `user-${number}@example.com`;
  const headers = await register(url, email);
  const budget = { name: 'Everything', limit: 1_000_000 };
  const { id: budgetId } = (await send(`${url}/api/budgets`, { headers, body: budget })) as { id: string };
  const descriptions = Array.from({ length: perAccount }, (_, index) => {
    return Array.from({ length: 3 + (index % 5) }, () => corpus.word()).join(' ');
  });
  const rows = descriptions.map((description, index) => {
    const day = new Date(Date.UTC(2024, 0, 1 + (index % 730))).toISOString().slice(0, 10);
    return `${day},${description},${(index % 500) + 1}.50,${corpus.word()}`;
  });
  const form = new FormData();
  form.append('format', 'csv');
  form.append('budgetId', budgetId);
  form.append('file', new Blob([`spentOn,description,amount,category\n${rows.join('\n')}\n`]), 'file.csv');
  const response = await fetch(`${url}/api/import`, { method: 'POST', headers, body: form });
  const { id } = (await response.json()) as { id: string };
  for (let status = ''; status !== 'completed'; await setTimeout(50)) {
    const answer = await fetch(`${url}/api/tasks/${id}`, { headers });
    // The service may be too busy to tell.
    if (answer.ok) ({ status } = (await answer.json()) as { status: string });
    if (status === 'failed') throw new Error(`the import of ${email} failed`);
  }
  return { email, budgetId, samples: descriptions.slice(0, samplesEach) };
}

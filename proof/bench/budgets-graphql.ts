/**
 * GraphQL of the budgets beside Apollo Server and mercurius with JIT, which do the same work: a bearer token, its session, and 20 rows of
 * the same database. First `npm ci --prefix proof/bench/peers`.
 *
 *   node proof/bench/budgets-graphql.ts [rounds] [seconds]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { testFolder } from '@octavo/testing';
import { addBudgets, startBudgetsProcess } from './budgets/start.ts';
import { bests, say } from './lib/compare.ts';
import { offer } from './lib/load.ts';

const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 3);
const body = JSON.stringify({ query: '{ budgets { id name limit createdAt } }' });

const first = await startBudgetsProcess();
await addBudgets(first, 20);
await first[Symbol.asyncDispose]();
using apollo = await startPeer('apollo');
using mercurius = await startPeer('mercurius');
await using ours = await startBudgetsProcess(first.folder);
const rate = async (url: string) => {
  const report = await offer({ url, method: 'POST', headers: first.headers, body, seconds });
  if (report.failures > 0) throw new Error(`${report.failures} requests to ${url} failed`);
  return report.perSecond;
};
const found = await bests(
  {
    ours: () => rate(`${ours.url}/api/graphql`),
    'mercurius with JIT': () => rate(mercurius.url),
    'Apollo Server': () => rate(apollo.url),
  },
  rounds,
);
say('GraphQL, session and 20 rows', found, ['ours', 'mercurius with JIT', 'Apollo Server']);

/** The peer on a copy of the folder, since each is held by one process. */
async function startPeer(which: string): Promise<{ url: string } & Disposable> {
  const folder = testFolder(`bench-${which}`);
  cpSync(first.folder, folder, { recursive: true });
  const child = fork(fileURLToPath(new URL('./budgets/graphql-peer.ts', import.meta.url)), [which, folder]);
  const [url] = (await once(child, 'message')) as [string];
  return { url, [Symbol.dispose]: () => void child.kill() };
}

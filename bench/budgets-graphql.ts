/**
 * GraphQL of the budgets, 20 rows from the database after a bearer token, beside Apollo Server and mercurius with JIT, which answer the
 * same rows from memory to anybody. The peers are installed into a temporary folder.
 *
 *   node bench/budgets-graphql.ts [rounds] [seconds]
 */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { testFolder } from '#kit/testing/folder.ts';
import { addBudgets, startBudgetsProcess } from './budgets/start.ts';
import { bests, say } from './lib/compare.ts';
import { offer } from './lib/load.ts';

const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 3);
const body = JSON.stringify({ query: '{ budgets { id name limit createdAt } }' });
const packages = ['@apollo/server@5', 'mercurius@16', 'fastify@5', 'graphql@16'];

const folder = testFolder('graphql-peers');
execFileSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--silent', ...packages]);
await using ours = await startBudgetsProcess();
await addBudgets(ours, 20);
using apollo = await startPeer('apollo');
using mercurius = await startPeer('mercurius');
const rate = async (url: string, headers: Record<string, string> = {}) => {
  const report = await offer({ url, method: 'POST', headers, body, seconds });
  if (report.failures > 0) throw new Error(`${report.failures} requests to ${url} failed`);
  return report.perSecond;
};
const found = await bests(
  {
    ours: () => rate(`${ours.url}/api/graphql`, ours.headers),
    'mercurius with JIT': () => rate(mercurius.url),
    'Apollo Server': () => rate(apollo.url),
  },
  rounds,
);
say('GraphQL, 20 rows', found, ['ours', 'mercurius with JIT', 'Apollo Server']);

async function startPeer(which: string): Promise<{ url: string } & Disposable> {
  const child = fork(fileURLToPath(new URL('./budgets/graphql-peer.ts', import.meta.url)), [folder, which]);
  const [url] = (await once(child, 'message')) as [string];
  return { url, [Symbol.dispose]: () => void child.kill() };
}

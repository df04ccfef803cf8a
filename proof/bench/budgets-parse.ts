/**
 * Budgets on PostgreSQL beside Parse Server on PostgreSQL: an account with a session reads 20 of its rows, and creates rows. Ours also
 * keeps sums, notifications and events; Parse keeps sessions in memory for some seconds. First `npm ci --prefix proof/bench/peers`.
 *
 *   node proof/bench/budgets-parse.ts [rounds] [seconds]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { testFolder } from '@octavo/testing';
import { addBudgets, send, startBudgetsProcess } from './budgets/start.ts';
import { bests, report } from './lib/compare.ts';
import { createDatabase } from './lib/django.ts';
import { offer } from './lib/load.ts';

const [rounds = 3, seconds = 3] = process.argv.slice(2).map(Number);
const listed = 20;

await using ours = await startBudgetsProcess(testFolder('bench'), {
  DATABASE_URL: await createDatabase('octavo_bench_budgets'),
});
await addBudgets(ours, listed);
using peer = await startParse();
const ownUrl = `${ours.url}/api/budgets`;
const peerUrl = `${peer.url}/classes/Budget`;
const row = { name: 'Food', limit: 500 };

await compare('Budgets: list of 20 rows', {
  'ours on PostgreSQL': () => rate(`${ownUrl}?limit=${listed}`, ours.headers),
  'Parse Server on PostgreSQL': () => rate(`${peerUrl}?limit=${listed}`, peer.headers),
});
await compare('Budgets: create, durable, 64 clients', {
  'ours on PostgreSQL': () => rate(ownUrl, ours.headers, row),
  'Parse Server on PostgreSQL': () => rate(peerUrl, peer.headers, { ...row, ACL: peer.acl }),
});

async function compare(title: string, ways: Readonly<Record<string, () => Promise<number>>>): Promise<void> {
  const found = await bests(ways, rounds);
  report(title, found);
  const said = Object.entries(found).map(([name, each]) => `${name} ${each.toFixed(0)}/s`);
  console.log(`${title}: ${said.join(', ')}`);
}

async function rate(url: string, headers: Record<string, string>, body?: object): Promise<number> {
  const sent = body && { method: 'POST', body: JSON.stringify(body) };
  const { perSecond, failures } = await offer({ url, headers, seconds, ...sent });
  if (failures > 0) throw new Error(`${failures} requests to ${url} failed`);
  return perSecond;
}

/** Parse Server with one account and its rows. */
async function startParse() {
  const database = await createDatabase('octavo_bench_parse');
  const child = fork(fileURLToPath(new URL('./budgets/parse-peer.ts', import.meta.url)), [database], {
    // It warns of options that will change.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // It writes logs where it is started.
    cwd: testFolder('bench-parse'),
  });
  const [url] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('Parse Server has ended'))),
  ])) as [string];
  const application = { 'x-parse-application-id': 'bench' };
  const alice = { username: 'alice', password: 'ferries wait in fog' };
  const signedUp = await send(`${url}/users`, { headers: application, body: alice });
  const { sessionToken, objectId } = signedUp as { sessionToken: string; objectId: string };
  const headers = { ...application, 'x-parse-session-token': sessionToken };
  const acl = { [objectId]: { read: true, write: true } };
  for (let index = 0; index < listed; index++)
    await send(`${url}/classes/Budget`, {
      headers,
      body: { name: `Budget ${index}`, limit: index, ACL: acl },
    });
  return { url, headers, acl, [Symbol.dispose]: () => void child.kill() };
}

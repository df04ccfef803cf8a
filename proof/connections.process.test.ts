import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import pg from 'pg';
import { startProcess, stopProcess } from '../apps/octavo/testing.ts';
import { filesOfServices, runFile } from './files-of-services.ts';

const { url, skip } = await testDatabaseUrl();

describe('with a single connection', { skip }, () => {
  for (const file of filesOfServices)
    test(`${file} passes`, () => runFile(file, { TEST_DATABASE: 'postgres', TEST_CONNECTIONS: '1' }));
});

test('three replicas of two services on a server with a fifth of the connections refuse no request', {
  skip,
  timeout: 120_000,
}, async (context) => {
  const role = `few_${randomBytes(6).toString('hex')}`;
  const limited = new URL(url as string);
  [limited.username, limited.password] = [role, role];
  // Six processes may take twelve each.
  await onServer(`CREATE ROLE ${role} LOGIN PASSWORD '${role}' CONNECTION LIMIT 14;
    GRANT CREATE ON DATABASE ${limited.pathname.slice(1)} TO ${role}`);
  const environment = { NODE_ENV: 'test', LOG_LEVEL: 'error', DATABASE_URL: limited.href };
  const replicas: Awaited<ReturnType<typeof start>>[] = [];
  const start = async (name: 'polls' | 'quotes') => {
    const { url: site, child } = await startProcess(name, { ...environment, OCTAVO_DATA: testFolder(name) });
    return { child, page: `${site}${name === 'polls' ? '/api/questions/' : '/api/quotes/'}`, site };
  };
  context.after(async () => {
    for (const { child } of replicas) await stopProcess(child);
    await onServer(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
  });
  for (const name of ['polls', 'quotes'] as const)
    for (let replica = 0; replica < 3; replica++) replicas.push(await start(name));
  const statuses: Record<string, number> = {};
  const client = async (page: string) => {
    for (let request = 0; request < 25; request++) {
      const response = await fetch(page);
      await response.arrayBuffer();
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    }
  };
  await Promise.all(replicas.flatMap(({ page }) => Array.from({ length: 12 }, () => client(page))));
  assert.deepEqual(statuses, { 200: 1_800 });
  for (const { site } of replicas) assert.equal((await fetch(`${site}/readiness`)).status, 200);
});

async function onServer(script: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(script);
  await client.end();
}

import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { admins, startSignIns } from './sign-ins.ts';

const folder = testFolder('limits');
const { urls, attempts, newClient, ...signIns } = await startSignIns({
  OCTAVO_DATA: folder,
  ARGON2_MEMORY_KIB: '8',
});
after(() => signIns[Symbol.asyncDispose]());

/** Wrong credentials are refused a number of times, and then get the last status. */
const table: Readonly<Record<string, { refused: number; failures: number; last: 423 | 429 | 200 }>> = {
  'gateway login': { refused: 401, failures: 10, last: 429 },
  'tokens login': { refused: 401, failures: 5, last: 423 },
  // Throttled without a word to the client.
  'magic link request': { refused: 200, failures: 31, last: 200 },
  'TOTP code': { refused: 401, failures: 5, last: 429 },
  'recovery code': { refused: 401, failures: 60, last: 429 },
  'mailed code': { refused: 401, failures: 60, last: 429 },
  'polls token': { refused: 400, failures: 5, last: 429 },
  'quotes token': { refused: 401, failures: 5, last: 429 },
  'budgets login': { refused: 401, failures: 5, last: 423 },
  'portfolio token': { refused: 401, failures: 30, last: 429 },
  ...Object.fromEntries(
    admins.map((service) => [`${service} admin`, { refused: 401, failures: 5, last: 429 as const }]),
  ),
};

for (const [way, attempt] of Object.entries(attempts)) {
  test(`${way}: wrong credentials are refused alike for names that exist and that do not, until it is enough`, async () => {
    const { refused, failures, last } = table[way] ?? assert.fail('the table names no limit');
    const seen = new Map<string, string[]>();
    for (const name of ['known', 'unknown'] as const) {
      const client = newClient();
      const answers: string[] = [];
      for (let count = 0; count <= failures; count++) {
        const { status, text, headers } = await attempt(name, client);
        answers.push(`${status} ${sameFor(text, name)}`);
        assert.equal(status, count < failures ? refused : last, `${name}, attempt ${count + 1}: ${text}`);
        if (count === failures && last !== 200)
          assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/, 'Retry-After in seconds');
      }
      seen.set(name, answers);
    }
    assert.deepEqual(seen.get('known'), seen.get('unknown'));
  });
}

test('a service whose database is gone is not ready and says so, and is alive', {
  timeout: 30_000,
}, async () => {
  // The portal and tokens keep nothing on disk.
  const sites = [...urls].filter(([name]) => !['portal', 'tokens'].includes(name));
  const readinessOf = async (url: string) => {
    const response = await fetch(`${url}/readiness`);
    const { checks } = (await response.json()) as { checks: Record<string, string> };
    return { status: response.status, checks };
  };
  for (const [name, url] of sites) assert.equal((await readinessOf(url)).status, 200, name);
  for (const file of readdirSync(folder).filter((each) => each.includes('.sqlite')))
    rmSync(join(folder, file));
  for (const [name, url] of sites) {
    let readiness = await readinessOf(url);
    // A result is kept for a moment.
    while (readiness.status === 200) readiness = await readinessOf(url);
    const { status, checks } = readiness;
    assert.equal(status, 503, name);
    assert.match(Object.values(checks).join(), /\.sqlite was deleted or replaced/, name);
    assert.equal((await fetch(`${url}${name === 'chat' ? '/livez' : '/health'}`)).status, 200, name);
  }
  for (const name of ['portal', 'tokens'])
    assert.equal((await fetch(`${urls.get(name)}/readiness`)).status, 200);
});

/** The text of an answer without what differs by request: ids, seconds, form tokens and the name that was sent. */
function sameFor(text: string, name: string): string {
  return text
    .replaceAll(name === 'known' ? /known|viewer/g : /unknown/g, 'NAME')
    .replace(/"request_?[iI]d":"[^"]*"/, '')
    .replaceAll(/\d+/g, 'N');
}

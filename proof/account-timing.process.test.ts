import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { processorMs, testFolder } from '@octavo/testing';
import { startSignIns } from './sign-ins.ts';

/** A password costs some 20 ms here, several times as much as all the rest of a sign-in. */
const { attempts, newClient, ...signIns } = await startSignIns({
  OCTAVO_DATA: testFolder('account-timing'),
  ARGON2_MEMORY_KIB: '16384',
  ARGON2_PASSES: '2',
  LOCKOUT_THRESHOLD: '100',
});
after(() => signIns[Symbol.asyncDispose]());

for (const [way, attempt] of Object.entries(attempts))
  test(`${way}: takes as long for names that do not exist`, async () => {
    const best = { known: Number.POSITIVE_INFINITY, unknown: Number.POSITIVE_INFINITY };
    const areAlike = () => best.unknown > best.known / 2 && best.unknown < best.known * 2;
    // Processor time of this process, with its threads that hash, and the least of many turns: other work makes any single one longer.
    for (let round = 0; round < 8 || (round < 19 && !areAlike()); round++)
      for (const name of ['known', 'unknown'] as const) {
        const client = newClient();
        const ms = await processorMs(async () => {
          const { status, text } = await attempt(name, client);
          assert.ok(status < 423, `${name}, round ${round}: ${status} ${text}`);
        });
        best[name] = Math.min(best[name], ms);
      }
    assert.ok(areAlike(), `known ${best.known} ms, unknown ${best.unknown} ms`);
  });

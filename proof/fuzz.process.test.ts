import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runFuzz } from './fuzz/run.ts';

// The short mode of the fuzzer, over APIs, pages and edges of all services; a busy machine sends fewer requests and is slower. `node proof/fuzz.ts` runs longer ones.
const seed = 7;

test('odd requests end in no error of a server, no leak and no undocumented response', async (t) => {
  const { findings, summary } = await runFuzz({ seed, steps: 300, seconds: 10, lanes: 2, slowMs: 60_000 });
  for (const line of summary) t.diagnostic(line);
  assert.deepEqual(findings, []);
});

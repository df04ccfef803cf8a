import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { root } from './documents.ts';

/** Parts whose smoke run starts at most three processes. */
const parts = ['sentiment', 'graphql', 'search'];

test('proof/bench/peers.ts measures the peers that are there, and names the others', (t) => {
  const folder = testFolder('peers');
  const args = ['proof/bench/peers.ts', 'smoke', folder, parts.join(',')];
  const output = execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', timeout: 300_000 });
  const report = readFileSync(join(folder, 'performance.md'), 'utf8');

  assert.match(
    report,
    /^\| Posts: sentiment of short texts, .* \| [\d,]+ \| vader-sentiment [\d,]+ \| [\d.]+ \|$/m,
  );
  assert.match(readFileSync(join(folder, 'performance/sentiment.svg'), 'utf8'), /^<svg .*>vader-sentiment</s);
  for (const name of parts) {
    const isDrawn = existsSync(join(folder, `performance/${name}.svg`));
    assert.equal(report.includes(`](performance/${name}.svg)`), isDrawn, name);
  }
  const missing = output.split('\n').filter((line) => line.startsWith('not compared: '));
  for (const line of missing) {
    assert.match(line, /not installed \(`npm ci --prefix proof\/bench\/peers`\)\.$/);
    t.diagnostic(line);
  }
});

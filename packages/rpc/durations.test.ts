import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Histogram, Registry } from 'prom-client';
import { DurationHistogram } from './durations.ts';

const buckets = [0.01, 0.1, 1];

test('it says the same as the histogram of prom-client', async () => {
  const ours = new Registry();
  const theirs = new Registry();
  const labelNames = ['method', 'code'] as const;
  const options = { name: 'calls_seconds', help: 'Calls.', labelNames, buckets };
  const histogram = DurationHistogram.in({ ...options, registry: ours });
  const reference = new Histogram({ ...options, buckets: [...buckets], registers: [theirs] });
  for (const seconds of [0, 0.01, 0.010001, 0.5, 1, 7]) {
    for (const labels of [
      { method: 'Get', code: 'ok' },
      { method: 'Put', code: 'timeout' },
    ]) {
      histogram.at(labels).observe(seconds);
      reference.observe(labels, seconds);
    }
  }
  assert.deepEqual(linesOf(await ours.metrics()), linesOf(await theirs.metrics()));
});

test('parts that name the same histogram count together', async () => {
  const registry = new Registry();
  const options = { name: 'calls_seconds', help: 'Calls.', labelNames: ['code'] as const, buckets, registry };
  DurationHistogram.in(options).at({ code: 'ok' }).observe(0.5);
  DurationHistogram.in(options).at({ code: 'ok' }).observe(0.5);
  assert.match(await registry.metrics(), /^calls_seconds_count\{code="ok"\} 2$/m);
});

function linesOf(text: string): string[] {
  return text.split('\n').sort();
}

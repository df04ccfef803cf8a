import assert from 'node:assert/strict';
import { test } from 'node:test';
import { childTraceparent, createTraceparent, formatTraceparent, parseTraceparent } from './trace.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test('a header is read and written back the same', () => {
  const header = `00-${traceId}-${spanId}-01`;
  const parent = parseTraceparent(header);
  assert.deepEqual(parent, { traceId, spanId, sampled: true });
  assert.equal(formatTraceparent(parent), header);
  assert.equal(parseTraceparent(`00-${traceId}-${spanId}-02`)?.sampled, false);
});

test('a later version is read by its first four fields', () => {
  assert.deepEqual(parseTraceparent(`cc-${traceId}-${spanId}-01-what-next`), {
    traceId,
    spanId,
    sampled: true,
  });
});

test('what is not valid counts as absent', () => {
  const invalid = [
    undefined,
    '',
    'nonsense',
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-1`,
    ` 00-${traceId}-${spanId}-01`,
  ];
  for (const header of invalid) assert.equal(parseTraceparent(header), undefined, String(header));
});

test('a child stays in the trace under a name of its own', () => {
  const parent = createTraceparent();
  const child = childTraceparent(parent);
  assert.equal(child.traceId, parent.traceId);
  assert.notEqual(child.spanId, parent.spanId);
  assert.deepEqual(parseTraceparent(formatTraceparent(child)), child);
  assert.notEqual(createTraceparent().traceId, parent.traceId);
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { eventTypes } from './events.ts';

const rows = readFileSync(new URL('../docs/design.md', import.meta.url), 'utf8').matchAll(
  /^ *\| `([a-z.]+\.v\d)` +\| `octavo\.posts\.([a-z0-9-]+)` +\| `(\w+)` +\|$/gm,
);
const proto = readFileSync(
  new URL('../../../packages/protocols/posts/v1/events.proto', import.meta.url),
  'utf8',
);

test('the documents list every event with its subject, and the contract has its payload', () => {
  const documented = [...rows];
  assert.deepEqual(
    documented.map(([, type]) => type),
    Object.values(eventTypes),
  );
  for (const [, type = '', subject, payload] of documented) {
    assert.equal(subject, type.replaceAll('.', '-'));
    assert.match(proto, new RegExp(`^// ${RegExp.escape(type)}(:.*)?\\nmessage ${payload} \\{`, 'm'));
  }
});

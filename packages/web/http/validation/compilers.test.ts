import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from '@octavo/core';
import { startTestServer } from '../testing.ts';

test('serializes alternatives with our own formats, without a warning on the console', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  const Person = Type.Object({ kind: Type.Literal('person'), name: Type.String({ format: 'text' }) });
  const Event = Type.Object({ kind: Type.Literal('event'), day: Type.String({ format: 'date' }) });
  const response = { 200: Type.Object({ items: Type.Array(Type.Union([Person, Event])) }) };
  const items = [{ kind: 'person', name: 'Zoë' } as const, { kind: 'event', day: '2026-02-28' } as const];
  await using server = await startTestServer((app) => {
    app.get('/items', { access: 'public', schema: { response } }, async () => ({ items }));
  });
  assert.deepEqual((await server.send('/items')).json, { items });
  assert.equal(warn.mock.callCount(), 0);
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { notificationTypes } from '../notifications/index.ts';
import { startBudgets } from '../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

test('/docs leads to the GraphQL schema, the proto and the WebSocket messages', async () => {
  const { text } = await app.send('/docs');
  for (const [name, file, words] of [
    ['graphql', 'schema.graphql', 'type Budget {'],
    ['grpc', 'budget_service.proto', 'service BudgetService'],
    ['websocket', 'asyncapi.yaml', 'asyncapi: 3.0.0'],
  ] as const) {
    assert.ok(text.includes(`href="/docs/${name}"`), name);
    const page = await app.send(`/docs/${name}`);
    assert.match(page.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
    assert.ok(page.text.includes(words), name);
    const raw = await app.send(`/docs/${file}`);
    assert.match(raw.headers.get('content-type') ?? '', /^text\/plain/);
    assert.ok(raw.text.includes(words));
  }
});

test('the AsyncAPI document names every event, and refers to what it has', async () => {
  const document = parse((await app.send('/docs/asyncapi.yaml')).text);
  const { messages } = document.components;
  assert.deepEqual(messages.notification.payload.properties.event.enum, notificationTypes);
  const events = readFileSync(new URL('../docs/events.md', import.meta.url), 'utf8');
  for (const type of notificationTypes)
    assert.ok(events.includes(`\`${type}.v1\``), `docs/events.md names ${type}`);
  const references = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);
  for (const [, path = ''] of references) {
    const found = path.split('/').reduce((value, key) => value?.[key], document);
    assert.ok(found, path);
  }
  assert.deepEqual(Object.keys(document.channels.notifications.messages), Object.keys(messages));
});

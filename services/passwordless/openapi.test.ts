import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { routes } from './routes.ts';
import { startService } from './testing.ts';

interface Media {
  readonly schema?: unknown;
  readonly example?: unknown;
  readonly examples?: unknown;
}

interface Operation {
  readonly summary?: string;
  readonly requestBody?: { readonly content: Record<string, Media> };
  readonly responses: Record<string, { readonly content?: Record<string, Media> }>;
}

const service = await startService({ after }, { databaseUrl: undefined });
const { text: source } = await service.get('/openapi.json');
const document = JSON.parse(source) as {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
};

test('the document passes the linter', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lintFromString({ source, config, absoluteRef: 'openapi.json' });
  assert.deepEqual(
    problems.map(({ message, location }) => `${location[0]?.pointer}: ${message}`),
    [],
  );
  assert.match(document.openapi, /^3\.1\./);
});

test('it has every route of the API', () => {
  for (const route of Object.values(routes)) {
    const path = route.replace(/:(\w+)/g, '{$1}');
    assert.ok(document.paths[path], path);
  }
});

test('every operation has a summary, and every response has a schema and an example', () => {
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { summary, requestBody, responses }] of Object.entries(operations)) {
      const name = `${method} ${path}`;
      assert.ok(summary, name);
      const bodies = Object.entries(responses).flatMap(([status, { content }]) => {
        assert.ok(content, `${name} ${status}`);
        return Object.values(content);
      });
      for (const { schema, example, examples } of [...bodies, ...Object.values(requestBody?.content ?? {})]) {
        assert.ok(schema, name);
        assert.ok(example !== undefined || examples !== undefined, name);
      }
    }
  }
});

test('it names entities, other media types, and the conflict with a deletion of the account', () => {
  const { schemas } = document.components;
  for (const name of ['Error', 'Passkey', 'Profile', 'SessionList', 'Tokens', 'TotpEnrollment']) {
    assert.ok(schemas[name], name);
  }
  const typesOf = (path: string, method: string) =>
    Object.keys(document.paths[path]?.[method]?.responses['200']?.content ?? {});
  assert.deepEqual(typesOf(routes.totpEnroll, 'post'), ['application/json', 'image/svg+xml']);
  assert.deepEqual(typesOf(routes.verifyMagic, 'get'), ['application/json', 'text/html']);
  for (const path of [routes.totpEnroll, routes.recoveryCodes, routes.passkeyRegisterOptions]) {
    assert.ok(document.paths[path]?.post?.responses['409'], path);
  }
});

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { productVersion } from '@octavo/core';
import { startTestSystem } from '@octavo/octavo/testing';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { routes } from './routes.ts';

interface Media {
  readonly schema?: unknown;
  readonly example?: unknown;
  readonly examples?: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly requestBody?: { readonly content: Record<string, Media> };
  readonly responses: Record<string, { readonly content?: Record<string, Media> }>;
}

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const source = await (await fetch(`${system.url}/openapi.json`)).text();
const document = JSON.parse(source) as {
  openapi: string;
  info: { version: string; 'x-product-version': string };
  components: { schemas: Record<string, unknown> };
  paths: Record<string, Record<string, Operation>>;
};

test('the document passes the linter', async () => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    // The specification has posts/reanalyze/{jobId} beside posts/{id}/sentiment. The fixed word takes precedence over the id.
    rules: { 'no-ambiguous-paths': 'off' },
  });
  const problems = await lintFromString({ source, config, absoluteRef: 'openapi.json' });
  assert.deepEqual(
    problems.map(({ message, location }) => `${location[0]?.pointer}: ${message}`),
    [],
  );
  assert.match(document.openapi, /^3\.1\./);
  assert.equal(document.info.version, '3.0.0');
  assert.equal(document.info['x-product-version'], productVersion());
});

test('entities have names, and operations a tag and what can go wrong before them', () => {
  assert.deepEqual(Object.keys(document.components.schemas).sort(), [
    'AdminStatus',
    'AnalyticsResult',
    'BulkCreateRequest',
    'BulkCreateResponse',
    'CreatePostRequest',
    'DailyCounts',
    'DeletedPost',
    'Error',
    'ExportObjectInfo',
    'LoginRequest',
    'LoginResult',
    'PaginationMeta',
    'Post',
    'PostSentiment',
    'ReanalysisJob',
    'ReanalysisTicket',
    'ResponseMeta',
    'SentimentRequest',
    'SentimentResponse',
    'TimedResponseMeta',
    'UpdatePostRequest',
  ]);
  const created = document.paths[routes.posts]?.post?.responses['201']?.content?.['application/json'];
  assert.match(JSON.stringify(created?.schema), /"data":\{"\$ref":"#\/components\/schemas\/Post"\}/);
  for (const operations of Object.values(document.paths)) {
    for (const { operationId, tags, responses } of Object.values(operations)) {
      assert.equal(tags?.length, 1, operationId);
      assert.ok(responses['431'], operationId);
    }
  }
});

test('every route of the API is documented', () => {
  const { storedExportPlain: _, ...documented } = routes;
  for (const route of Object.values(documented)) {
    const path = route.replace(/:(\w+)/g, '{$1}');
    assert.ok(document.paths[path], path);
  }
});

test('every operation that asks a backend may time out, and a second post with a key may conflict', () => {
  const api = Object.entries(document.paths).filter(([path]) => path.startsWith('/api/v1/'));
  for (const [path, operations] of api) {
    for (const [method, { responses }] of Object.entries(operations)) {
      assert.ok(responses['504'], `${method} ${path}`);
    }
  }
  assert.ok(document.paths[routes.posts]?.post?.responses['409']);
});

test('every operation has a summary, and every response a schema and an example', () => {
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { summary, requestBody, responses }] of Object.entries(operations)) {
      const name = `${method} ${path}`;
      assert.ok(summary, name);
      const bodies = Object.entries(responses).flatMap(([status, { content }]) => {
        assert.ok(content || status === '304', `${name} ${status}`);
        return Object.values(content ?? {});
      });
      for (const { schema, example, examples } of [...bodies, ...Object.values(requestBody?.content ?? {})]) {
        assert.ok(schema, name);
        assert.ok(example !== undefined || examples !== undefined, name);
      }
    }
  }
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AppError, Type } from '@octavo/core';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import type { AccessRule } from '../access.ts';
import type { HttpApp } from '../server.ts';
import { startTestServer, type TestServer } from '../testing.ts';
import { compileValidator } from '../validation/validator.ts';

const Note = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  title: Type.String({ minLength: 1, maxLength: 3 }),
  kind: Type.Enum(['plain', 'rich']),
  at: Type.String({ format: 'date-time' }),
  parent: Type.Union([Type.Null(), Type.String({ format: 'uuid' })]),
  labels: Type.Record(Type.String(), Type.Integer()),
});
const Draft = Type.Object({ title: Type.String({ maxLength: 500 }), size: Type.Integer({ default: 20 }) });
const Query = Type.Object({
  page: Type.Integer({ default: 1 }),
  tag: Type.Optional(Type.Array(Type.String())),
});
const off = new AppError('unavailable', 'Storing is switched off.', { reason: 'STORE_DISABLED' });

function addRoutes(app: HttpApp): void {
  app.post(
    '/notes',
    {
      access: 'public',
      schema: { summary: 'Write a note', security: [{ bearer: [] }], body: Draft, response: { 201: Note } },
      config: { errors: ['conflict', off] },
    },
    async () => ({}) as never,
  );
  app.get(
    '/notes',
    { access: 'public', schema: { querystring: Query, response: { 200: Type.Array(Note) } } },
    async () => [],
  );
  app.get(
    '/notes/:id/files/*',
    {
      access: 'public',
      schema: {
        params: Type.Object({ id: Type.Integer(), '*': Type.String() }),
        response: { 200: { content: { 'text/csv': { schema: Type.String() } } } },
      },
      config: { errors: ['not_found'] },
    },
    async () => 'a,b' as never,
  );
  app.delete(
    '/notes/:id',
    { access: 'public', schema: { params: Type.Object({ id: Type.Integer() }) } },
    async () => ({}),
  );
  const open: AccessRule = { security: [{ bearer: [] }, {}], errors: ['unauthenticated'] };
  app.get('/open', { access: open, config: { errors: ['not_found'] } }, async () => ({}));
  app.get('/page', { access: 'public', schema: { hide: true } }, async () => '<p>');
}

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: {
    required?: boolean;
    content: Record<string, { schema: { required?: string[] }; example?: unknown }>;
  };
  readonly parameters?: { name: string; in: string; required?: boolean }[];
  readonly responses: Record<
    string,
    {
      content?: Record<
        string,
        { schema?: object; example?: unknown; examples?: Record<string, { value: unknown }> }
      >;
    }
  >;
}

let server: TestServer;
let document: Document;
before(async () => {
  server = await startTestServer(addRoutes);
  document = (await server.send('/openapi.json')).json as Document;
});
after(() => server[Symbol.asyncDispose]());

describe('/openapi.json', () => {
  test('is OpenAPI 3.1 without linter findings', async () => {
    assert.equal(document.openapi, '3.1.0');
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    assert.deepEqual(
      problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
      [],
    );
  });

  test('has every route, also the probes, but no hidden ones', () => {
    assert.deepEqual(Object.keys(document.paths).sort(), [
      '/health',
      '/metrics',
      '/notes',
      '/notes/{id}',
      '/notes/{id}/files/{rest}',
      '/open',
      '/readiness',
    ]);
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map((each) => each.operationId),
    );
    assert.deepEqual([...new Set(ids)].sort(), ids.sort());
    assert.ok(ids.includes('postNotes') && ids.includes('getNotesIdFiles'));
  });

  test('shows each status with its schema and a matching example', () => {
    const { responses = {}, requestBody } = document.paths['/notes']?.post ?? {};
    assert.deepEqual(Object.keys(responses), [
      '201',
      '400',
      '401',
      '403',
      '408',
      '409',
      '413',
      '415',
      '422',
      '431',
      '500',
      '503',
    ]);
    for (const [status, { content }] of Object.entries(responses)) {
      const media = content?.['application/json'];
      assert.ok(media?.schema, status);
      assert.ok(media.example ?? media.examples, status);
    }
    assert.equal(
      compileValidator(Note)(responses['201']?.content?.['application/json']?.example).fields,
      undefined,
    );
    assert.deepEqual(requestBody?.content['application/json']?.example, { title: 'text', size: 20 });
    assert.deepEqual(Object.keys(responses['503']?.content?.['application/json']?.examples ?? {}), [
      'SERVICE_UNAVAILABLE',
      'STORE_DISABLED',
    ]);
  });

  test('shows the errors of bodies that are ignored, and of tokens that are optional', async () => {
    const statuses = (operation?: Operation) => Object.keys(operation?.responses ?? {});
    const deleted = statuses(document.paths['/notes/{id}']?.delete);
    assert.deepEqual(deleted, ['200', '400', '408', '413', '415', '431', '500', '503']);
    const { status } = await server.send('/notes/1', {
      method: 'DELETE',
      headers: { 'content-type': 'text/plain' },
      body: 'x',
    });
    assert.equal(status, 415);
    const open = statuses(document.paths['/open']?.get);
    assert.deepEqual(open, ['200', '400', '401', '404', '431', '500', '503']);
  });

  test('shows errors as the server answers them', async () => {
    const example =
      document.paths['/notes']?.post?.responses['422']?.content?.['application/json']?.examples
        ?.VALIDATION_FAILED;
    const real = await server.send('/notes', { body: {} });
    const shape = (value: unknown) =>
      JSON.stringify(value, (_key, each) => (typeof each === 'string' ? '' : each));
    assert.equal(shape(example?.value), shape(real.json));
  });

  test('names the schemas with a title, and refuses two that differ', async () => {
    const start = (fields: object) =>
      startTestServer((app) => {
        const Label = Type.Object({ name: Type.String(), ...fields }, { title: 'Label' });
        const schema = { response: { 200: Type.Array(Label) } };
        app.get('/labels', { access: 'public', schema }, async () => []);
        const Plain = Type.Object({ name: Type.String(), title: Type.String() }, { title: 'Label' });
        app.post('/labels', { access: 'public', schema: { body: Plain } }, async () => ({}));
      });
    await using same = await start({ title: Type.String() });
    const named = (await same.send('/openapi.json')).json as Document & { components: { schemas: object } };
    const reference = { $ref: '#/components/schemas/Label' };
    const { get, post } = named.paths['/labels'] ?? {};
    const media = get?.responses['200']?.content?.['application/json'];
    assert.deepEqual(media?.schema, { type: 'array', items: reference });
    assert.deepEqual(media?.example, [{ name: 'text', title: 'text' }]);
    assert.deepEqual(post?.requestBody?.content['application/json']?.schema, reference);
    assert.ok('Label' in named.components.schemas);
    await using different = await start({});
    assert.equal((await different.send('/openapi.json')).status, 500);
    assert.match(JSON.stringify(different.log), /two different schemas have the title Label/);
  });

  test('does not require what has a default', () => {
    const body = document.paths['/notes']?.post?.requestBody?.content['application/json'];
    assert.deepEqual(body?.schema.required, ['title']);
    const page = document.paths['/notes']?.get?.parameters?.find(({ name }) => name === 'page');
    assert.equal(page?.required ?? false, false);
  });
});

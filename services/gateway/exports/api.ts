import type { Clock } from '@octavo/core';
import { type TSchema, Type } from '@octavo/core';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import type { HttpApp } from '@octavo/web/server';
import { sendRanged, sendStream, whenDelivered } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import { callOf, type Permits } from '../access/index.ts';
import { FilterQuery, Post, toFilter } from '../posts/index.ts';
import { routes } from '../routes.ts';
import { integrationDisabled } from '../status/index.ts';
import { exportEncodings, exportFile, FormatQuery } from './export-file.ts';
import { csvHeader } from './format.ts';
import type { StoredExports } from './store.ts';
import { ExportObjectInfo, exportFolder, headersOf, toInfo } from './stored-export.ts';

interface Parts {
  readonly permits: Permits;
  readonly posts: Client<PostServiceDefinition>;
  readonly clock: Clock;
  /** Absent if the object store is off. */
  readonly exports: StoredExports | undefined;
}

const CsvTable = Type.String({
  examples: [`${csvHeader}42,2,Fog,The ferries wait.,2026-01-31T08:15:00.000Z,2026-01-31T08:15:00.000Z\r\n`],
});

export function addExports(app: HttpApp, parts: Parts): void {
  addExport(app, parts);
  addStoredExports(app, parts);
}

function addExport(app: HttpApp, { permits, posts, clock, exports }: Parts): void {
  app.get(
    routes.export,
    {
      access: permits('export', 'read'),
      schema: {
        operationId: 'exportPosts',
        tags: ['Exports'],
        summary: 'All posts as a file',
        description:
          'Streams the posts as JSON or CSV, with the filters of the list and compressed if the client accepts it. Cells that a spreadsheet would run as a formula are made safe.',
        querystring: Type.Object({ ...FilterQuery.properties, ...FormatQuery.properties }),
        response: { 200: fileOf({ 'application/json': Type.Array(Post), 'text/csv': CsvTable }, 'The file') },
      },
      config: { errors: ['timeout', integrationDisabled('inferenceServer')] },
    },
    async (request, reply) => {
      const { query } = request;
      const wanted = { ...query, filter: toFilter(query) };
      const file = exportFile(wanted, { posts, nowMs: clock.now(), call: callOf(request) });
      const chunks = exports ? exports.copied(file, whenDelivered(reply)) : file.chunks;
      reply.headers(file.headers);
      return await sendStream(reply, chunks, { encodings: exportEncodings });
    },
  );
}

function addStoredExports(app: HttpApp, { permits, exports }: Parts): void {
  const access = permits('export', 'read');
  const disabled = integrationDisabled('objectStore');
  const media = { 'application/json': Type.Array(Post), 'text/csv': CsvTable };
  app.get(
    routes.exports,
    {
      access,
      schema: {
        operationId: 'listExports',
        tags: ['Exports'],
        summary: 'Stored exports, newest first',
        description:
          'Returns name, size and time of each file that the service has stored. Download one by its key.',
        response: { 200: Type.Object({ data: Type.Array(ExportObjectInfo) }) },
      },
      config: { errors: [disabled] },
    },
    async () => {
      if (!exports) throw disabled;
      return { data: (await exports.list()).map(toInfo) };
    },
  );
  app.get(
    routes.storedExport,
    {
      access,
      schema: {
        operationId: 'getExport',
        tags: ['Exports'],
        summary: 'A stored export, whole or a range of it',
        description:
          'Returns the bytes of a stored file. It takes `Range` and `If-None-Match`, so that a download can go on where it broke off.',
        params: Type.Object({ key: Type.String() }),
        response: {
          200: fileOf(media, 'The file'),
          206: fileOf(media, 'The requested range'),
          304: Type.Null({ description: 'Not changed since If-None-Match' }),
        },
      },
      config: { errors: ['not_found', 'range_not_satisfiable', disabled] },
    },
    async (request, reply) => await sendStored(reply, request.params.key, exports),
  );
  app.get<{ Params: { name: string } }>(
    routes.storedExportPlain,
    { access, schema: { hide: true } },
    (request, reply) => sendStored(reply, exportFolder + request.params.name, exports),
  );
}

async function sendStored(
  reply: FastifyReply,
  keyOrName: string,
  exports: StoredExports | undefined,
): Promise<FastifyReply> {
  if (!exports) throw integrationDisabled('objectStore');
  const object = await exports.find(keyOrName);
  reply.headers(headersOf(object));
  return sendRanged(reply, { ...object, read: (range) => exports.read(object, range) });
}

/** A file, for the API document. */
function fileOf(mediaTypes: Readonly<Record<string, TSchema>>, description: string) {
  return {
    description,
    content: Object.fromEntries(Object.entries(mediaTypes).map(([type, schema]) => [type, { schema }])),
  };
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendRanged } from '#kit/http/ranges.ts';
import { Type } from '#kit/schema.ts';
import { without } from './api-disabled.ts';
import type { ApiParts } from './api-parts.ts';
import { dataOf, fileOf, operation } from './api-schemas.ts';
import { integrationDisabled } from './integrations.ts';
import { routes } from './routes.ts';
import type { StoredExports } from './store.ts';
import { ExportObjectInfo, exportFolder, headersOf, toInfo } from './stored-export.ts';

type Parts = Pick<ApiParts, 'app' | 'permits' | 'exports'>;

const listSchema = {
  ...operation('listExports', 'Stored exports, newest first'),
  response: { 200: dataOf(Type.Array(ExportObjectInfo)) },
};
const media = { 'application/json': Type.String(), 'text/csv': Type.String() };
const fileSchema = {
  ...operation('getExport', 'A stored export, whole or a range of it'),
  params: Type.Object({ key: Type.String() }),
  response: {
    200: fileOf(media, 'The file'),
    206: fileOf(media, 'The range that was asked for'),
    304: Type.Null({ description: 'Not changed since If-None-Match' }),
  },
};

export function addStoredExports({ app, permits, exports }: Parts): void {
  const access = permits('export', 'read');
  const off = without('objectStore');
  const errors = ['not_found' as const, 'range_not_satisfiable' as const, integrationDisabled('objectStore')];
  const list = exports && { handler: listing(exports), options: { config: { errors: errors.slice(2) } } };
  const file = exports && { handler: sending(exports), options: { config: { errors } } };
  const [ofList, ofFile] = [(list ?? off).options, (file ?? off).options];
  app.get(routes.exports, { access, ...ofList, schema: listSchema }, (list ?? off).handler);
  app.get(routes.storedExport, { access, ...ofFile, schema: fileSchema }, (file ?? off).handler);
  app.get(
    routes.storedExportPlain,
    { access, ...ofFile, schema: { hide: true } as object },
    (file ?? off).handler,
  );
}

function listing(exports: StoredExports) {
  return async () => ({ data: (await exports.list()).map(toInfo) });
}

function sending(exports: StoredExports) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { key = '', name } = request.params as { key?: string; name?: string };
    const object = await exports.find(name === undefined ? key : exportFolder + name);
    reply.headers(headersOf(object));
    return sendRanged(reply, { ...object, read: (range) => exports.read(object, range) });
  };
}

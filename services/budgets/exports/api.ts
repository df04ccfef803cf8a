import type { AccessRule } from '#kit/http/access.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { sendStream } from '#kit/http/stream.ts';
import { Type } from '#kit/schema.ts';
import { callerOf } from '../api-access.ts';
import type { Core } from '../commands.ts';
import { Expense } from '../expenses/index.ts';
import { routes } from '../routes.ts';
import { ExportRequest, exportExpenses } from './exports.ts';

export function addExportApi(app: HttpApp, core: Core, access: AccessRule): void {
  app.get(
    routes.export,
    {
      access,
      schema: {
        operationId: 'exportExpenses',
        summary: 'Your expenses as a file',
        tags: ['Import and export'],
        querystring: ExportRequest,
        response: {
          200: {
            description: 'The file',
            content: {
              'text/csv': { schema: Type.String() },
              'application/x-ofx': { schema: Type.String() },
              'application/qif': { schema: Type.String() },
              'application/json': { schema: Type.Array(Expense) },
            },
          },
        },
      },
      config: { errors: ['rate_limited'] },
    },
    async (request, reply) => {
      const { name, mediaType, chunks } = exportExpenses(core, callerOf(request), request.query);
      reply.headers({ 'content-type': mediaType, 'content-disposition': `attachment; filename="${name}"` });
      return (await sendStream(reply, chunks, { encodings: ['zstd', 'gzip'] })) as never;
    },
  );
}

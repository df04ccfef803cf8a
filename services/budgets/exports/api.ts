import { Type } from '@octavo/core';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import { sendStream } from '@octavo/web/server';
import type { Context } from '../commands.ts';
import { callerOf } from '../edges/api-access.ts';
import { Expense } from '../expenses/index.ts';
import { routes } from '../routes.ts';
import { ExportRequest, exportExpenses } from './exports.ts';

export function addExportApi(app: HttpApp, context: Context, access: AccessRule): void {
  app.get(
    routes.export,
    {
      access,
      schema: {
        operationId: 'exportExpenses',
        summary: 'Your expenses as a file',
        description: 'Streams all your expenses that match, as CSV, OFX, QIF or JSON.',
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
      config: { errors: ['not_found', 'rate_limited'] },
    },
    async (request, reply) => {
      const { name, mediaType, chunks } = await exportExpenses(context, callerOf(request), request.query);
      reply.headers({ 'content-type': mediaType, 'content-disposition': `attachment; filename="${name}"` });
      return await sendStream(reply, chunks, { encodings: ['zstd', 'gzip'] });
    },
  );
}

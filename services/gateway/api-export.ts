import { sendStream, whenDelivered } from '#kit/http/stream.ts';
import { Type } from '#kit/schema.ts';
import type { ApiParts } from './api-parts.ts';
import { fileOf, operation } from './api-schemas.ts';
import { callOf } from './call.ts';
import { csvHeader } from './csv.ts';
import { ExportQuery, exportCodings, exportFile } from './export.ts';
import { Post } from './post.ts';
import { routes } from './routes.ts';

const Table = Type.String({
  examples: [`${csvHeader}42,2,Fog,The ferries wait.,2026-01-31T08:15:00.000Z,2026-01-31T08:15:00.000Z\r\n`],
});

type Parts = Pick<ApiParts, 'app' | 'posts' | 'permits' | 'clock' | 'exports'>;

export function addExport({ app, posts, permits, clock, exports }: Parts): void {
  app.get(
    routes.export,
    {
      access: permits('export', 'read'),
      schema: {
        ...operation('exportPosts', 'All posts as a file'),
        querystring: ExportQuery,
        response: { 200: fileOf({ 'application/json': Type.Array(Post), 'text/csv': Table }, 'The file') },
      },
    },
    async (request, reply) => {
      const call = callOf(request);
      const file = exportFile(request.query, { posts, nowMs: clock.now(), call });
      const pieces = exports ? exports.copied(file, whenDelivered(reply)) : file.pieces;
      reply.headers(file.headers);
      return (await sendStream(reply, pieces, { encodings: exportCodings })) as never;
    },
  );
}

import { AppError } from '#kit/errors.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { sendStream, whenDelivered } from '#kit/http/stream.ts';
import { compileTextValidator } from '#kit/http/validation/text-parameters.ts';
import type { Validation } from '#kit/http/validation/validator.ts';
import { callOf } from '../call.ts';
import { ExportQuery, exportCodings, exportFile } from '../export.ts';
import { pageRoutes } from '../page-routes.ts';
import type { PageParts, Ticket } from './parts.ts';
import type { ForReaders } from './reader.ts';

/** The file of the API's export, for a browser that has a session and no token. */
export function addExportPage(
  routes: PageRoutes<Ticket>,
  forReaders: ForReaders,
  { posts, clock, exports }: Pick<PageParts, 'posts' | 'clock' | 'exports'>,
): void {
  const readQuery = compileTextValidator(ExportQuery) as (query: object) => Validation<ExportQuery>;
  routes.get(
    pageRoutes.exportPosts,
    forReaders('export', 'read', async ({ visit }) => {
      const reading = readQuery(visit.request.query as object);
      if (reading.fields)
        throw new AppError('invalid_input', 'There is no such export.', { fields: reading.fields });
      const call = callOf(visit.request);
      const file = exportFile(reading.value, { posts, nowMs: clock.now(), call });
      const pieces = exports ? exports.copied(file, whenDelivered(visit.reply)) : file.pieces;
      visit.reply.headers(file.headers);
      return sendStream(visit.reply, pieces, { encodings: exportCodings });
    }),
  );
}

import { withMark } from '@octavo/core/text';
import type { PageRoutes } from '@octavo/web/pages';
import { sendStream } from '@octavo/web/server';
import { isDay } from '../money/periods.ts';
import { pageRoutes } from '../routes.ts';
import { type PageParts, type PageSession, parameter } from '../site/page-context.ts';
import { exportExpenses } from './exports.ts';
import { exportFormats } from './formats.ts';

/** Expenses as a file. */
export function addExportPages(
  routes: PageRoutes<PageSession>,
  { context, visitors: access }: PageParts,
): void {
  routes.get(pageRoutes.export, { access }, async ({ visit, caller }) => {
    const given = parameter(visit, 'format');
    const format = exportFormats.find((each) => each === given) ?? 'csv';
    const dayOf = (name: string) => (isDay(parameter(visit, name)) ? parameter(visit, name) : undefined);
    const { name, mediaType, chunks } = await exportExpenses(context, caller, {
      format,
      from: dayOf('from'),
      to: dayOf('to'),
    });
    visit.reply.headers({
      'content-type': mediaType,
      'content-disposition': `attachment; filename="${name}"`,
    });
    return sendStream(visit.reply, format === 'csv' ? withMark(chunks) : chunks, {
      encodings: ['zstd', 'gzip'],
    });
  });
}

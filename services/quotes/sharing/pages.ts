import { AppError } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { Pictures } from '@octavo/web/pictures';
import type { HttpApp } from '@octavo/web/server';
import { findQuote } from '../quotes/index.ts';
import { pageRoutes } from '../routes.ts';
import type { Tables } from '../tables.ts';
import { quoteCard } from './card.ts';

/** Adds the pictures for links that are shared. */
export function addCards(
  app: HttpApp,
  { database, pictures }: { database: Database<Tables>; pictures: Pictures },
): void {
  const open = { access: 'public', schema: { hide: true } } as const;
  app.get(pageRoutes.card, open, async (request, reply) => {
    const { id = '' } = request.params as { id?: string };
    const quote = /^\d{1,15}$/.test(id) ? await findQuote(database, Number(id)) : undefined;
    if (!quote?.isPublished) throw new AppError('not_found', 'There is no quote at this address.');
    return pictures.send(request, reply, { picture: quoteCard(quote), maxAgeSeconds: 3_600 });
  });
}

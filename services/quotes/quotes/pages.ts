import { AppError } from '@octavo/core';
import type { Database } from '@octavo/data';
import { type Content, type Html, html, icon, linkButton, notice, site } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { commentSection } from '../comments/index.ts';
import { likeButton, likes } from '../likes/index.ts';
import { authorPath, categoryPath, pageRoutes, quotePath } from '../routes.ts';
import type { PageSession, Visitor, Visitors } from '../site.ts';
import type { Tables } from '../tables.ts';
import { mayChange, maySee } from './quote.ts';
import { type CountedQuote, findCountedQuote, moreByAuthor } from './store.ts';
import { findChange } from './store-changes.ts';
import { excerpt, quoteFigure, titleOf } from './views.ts';

const moreShown = 3;

export interface QuotePagesParts {
  readonly visitors: Visitors;
  readonly database: Database<Tables>;
  readonly isOpenEditing: boolean;
}

export function addQuotePages(routes: PageRoutes<PageSession>, parts: QuotePagesParts): void {
  const { visitors } = parts;
  routes.get(pageRoutes.quote, { access: visitors }, (visitor) => showQuote(visitor, parts));
}

async function showQuote(visitor: Visitor, parts: QuotePagesParts): Promise<string> {
  const { database } = parts;
  const quote = await visibleQuote(visitor, database);
  const { reader, visit } = visitor;
  const isLiked = reader !== undefined && (await likes(database, { quoteId: quote.id, userId: reader.id }));
  const frame = visitor.frame();
  const { csrfField } = frame;
  const comments = await commentSection(database, visitor, { quote, csrfField });
  const more = await moreByAuthor(database, { ...quote, limit: moreShown });
  return site(frame, {
    title: titleOf(quote),
    modules: ['quotes.js'],
    sharing: {
      description: `“${excerpt(quote.text, 200)}” — ${quote.author}${quote.source && `, ${quote.source}`}`,
      path: quotePath(pageRoutes.quote, quote.id),
      image: quotePath(pageRoutes.card, quote.id),
    },
    main: html`<h1 class="eyebrow">${categoryOf(quote)}<span class="hidden"> quote by ${quote.author}</span></h1>
${waiting(quote)}${await waitingChange(visitor, quote, database)}${quoteFigure(quote, { isHero: true })}${doubt(quote)}
<div class="deeds">${likeButton({ quote, isLiked, csrfField, back: quotePath(pageRoutes.quote, quote.id) })}
<button type="button" class="secondary" data-copy="${visit.origin}${quotePath(pageRoutes.quote, quote.id)}" hidden>${icon('link')}<span>Copy link</span></button>
${linkButton(quotePath(pageRoutes.report, quote.id), html`${icon('flag')}Report`, 'quiet')}${changes(visitor, quote, parts)}</div>
${comments}${more.length > 0 && moreSection(quote.author, more)}`,
  });
}

function moreSection(author: string, quotes: readonly CountedQuote[]): Html {
  return html`<section><h2>More by <a href="${authorPath(author)}">${author}</a></h2><ul class="days plain-days">${quotes.map(
    ({ id, text, source }) =>
      html`<li><div><a href="${quotePath(pageRoutes.quote, id)}">${excerpt(text, 140)}</a>${source && html`<small>${source}</small>`}</div></li>`,
  )}</ul></section>`;
}

/** The quote of a request's path. Throws `not_found` if there is none that the visitor may see. */
export async function visibleQuote(
  { visit, reader }: Visitor,
  database: Database<Tables>,
): Promise<CountedQuote> {
  const { id = '' } = visit.request.params as { id?: string };
  const quote = /^\d{1,15}$/.test(id) ? await findCountedQuote(database, Number(id)) : undefined;
  if (!quote || !maySee(quote, reader)) throw new AppError('not_found', 'There is no quote at this address.');
  return quote;
}

function waiting({ isPublished }: CountedQuote): Content {
  return isPublished === 0 && notice('info', 'Only you and the staff see this quote until it is published.');
}

/** The category of a quote that waits may have no page yet. */
function categoryOf({ isPublished, category, categorySlug }: CountedQuote): Content {
  return isPublished === 1 ? html`<a href="${categoryPath(categorySlug)}">${category}</a>` : category;
}

async function waitingChange(
  { reader }: Visitor,
  { id }: CountedQuote,
  database: Database<Tables>,
): Promise<Content> {
  if (!reader || !(await findChange(database, { quoteId: id, userId: reader.id }))) return undefined;
  return notice(
    'info',
    html`Your change waits for approval. Until then, this is what everybody sees. <a href="${quotePath(pageRoutes.editQuote, id)}">See your change</a>`,
  );
}

function doubt({ attribution, author }: CountedQuote): Content {
  if (attribution === 'misattributed') {
    return notice('warn', `It is widely attributed to ${author}, but the source says otherwise.`);
  }
  return attribution === 'disputed' && notice('info', `It is uncertain whether ${author} said this.`);
}

function changes({ reader }: Visitor, quote: CountedQuote, { isOpenEditing }: QuotePagesParts): Content {
  if (!mayChange(quote, reader, isOpenEditing)) return undefined;
  return html`${linkButton(quotePath(pageRoutes.editQuote, quote.id), 'Edit', 'quiet')}
<a class="button quiet" href="${quotePath(pageRoutes.deleteQuote, quote.id)}" data-dialog>Delete</a>`;
}

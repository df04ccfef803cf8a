import type { Database } from '#kit/db/index.ts';
import { parameter } from '#kit/drf/paging.ts';
import { AppError } from '#kit/errors.ts';
import { empty, linkButton, notice } from '#kit/html/blocks.ts';
import { count } from '#kit/html/format.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { icon } from '#kit/html/icons.ts';
import { site } from '#kit/html/layout.ts';
import { pager } from '#kit/html/pager.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { commentSection } from '../comments/index.ts';
import { likeButton, likes } from '../likes/index.ts';
import { authorPath, categoryPath, pageRoutes, quotePath } from '../routes.ts';
import type { PageSession, Visitor, Visitors } from '../site.ts';
import type { Tables } from '../tables.ts';
import { mayChange, maySee } from './quote.ts';
import { type CountedQuote, findCountedQuote, moreByAuthor, quotesOfCategory } from './store.ts';
import { findCategory } from './store-categories.ts';
import { excerpt, pageSize, quoteFigure, quoteList, titleOf } from './views.ts';

const moreShown = 3;

export interface QuotePagesParts {
  readonly visitors: Visitors;
  readonly database: Database<Tables>;
  readonly isOpenEditing: boolean;
}

export function addQuotePages(routes: PageRoutes<PageSession>, parts: QuotePagesParts): void {
  const { visitors, database } = parts;
  routes.get(pageRoutes.category, { access: visitors }, (visitor) => showCategory(visitor, database));
  routes.get(pageRoutes.quote, { access: visitors }, (visitor) => showQuote(visitor, parts));
}

async function showCategory(visitor: Visitor, database: Database<Tables>): Promise<string> {
  const { slug } = visitor.visit.request.params as { slug: string };
  const category = await findCategory(database, slug);
  if (!category) throw new AppError('not_found', 'There is no category at this address.');
  const { name, quotes: total } = category;
  const page = pageOf(visitor, total);
  const quotes = await quotesOfCategory(database, category.id, {
    limit: pageSize,
    offset: (page - 1) * pageSize,
  });
  const href = (number: number) => `${categoryPath(slug)}${number === 1 ? '' : `?page=${number}`}`;
  return site(visitor.frame(), {
    title: page === 1 ? name : `${name}, page ${page}`,
    sharing: {
      description: `${count(total, 'quote')} in the category ${name}, with their authors and sources.`,
      path: href(page),
    },
    main: html`<h1 class="title">${name}</h1><p class="lead">${count(total, 'quote')}</p>
${total === 0 ? noQuotes(name) : quoteList(quotes)}${pager({ page, pageSize, total, href })}`,
  });
}

function noQuotes(name: string): Html {
  return empty({
    icon: 'inbox',
    title: 'No quotes yet',
    text: `Quotes in the category ${name} show up here.`,
    actions: linkButton(pageRoutes.newQuote, 'Add a quote'),
  });
}

/** The number of a page: the first if it is no number, the last if there are fewer. */
export function pageOf({ visit }: Visitor, total: number): number {
  const given = Number(/^\d{1,9}$/.exec(parameter(visit.request.query, 'page') ?? '')?.[0] ?? 1);
  return Math.max(1, Math.min(given, Math.ceil(total / pageSize)));
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
      imagePath: quotePath(pageRoutes.card, quote.id),
    },
    main: html`<h1 class="eyebrow"><a href="${categoryPath(quote.categorySlug)}">${quote.category}</a><span class="hidden"> quote by ${quote.author}</span></h1>
${waiting(quote)}${quoteFigure(quote, { isHero: true })}${doubt(quote)}
<div class="deeds">${likeButton({ quote, isLiked, csrfField, back: quotePath(pageRoutes.quote, quote.id) })}
<button type="button" class="secondary" data-copy="${visit.origin}${quotePath(pageRoutes.quote, quote.id)}" hidden>${icon('link')}<span>Copy link</span></button>
${linkButton(quotePath(pageRoutes.report, quote.id), html`${icon('flag')}Report`, 'quiet')}${changes(visitor, quote, parts)}</div>
${comments}${more.length > 0 && moreSection(quote.author, more)}`,
  });
}

function moreSection(author: string, quotes: readonly CountedQuote[]): Html {
  return html`<section><h2>More by <a href="${authorPath(author)}" rel="nofollow">${author}</a></h2><ul class="days plain-days">${quotes.map(
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

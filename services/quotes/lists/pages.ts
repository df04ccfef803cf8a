import { AppError } from '@octavo/core';
import type { Database } from '@octavo/data';
import {
  attributes,
  type Content,
  count,
  empty,
  type Html,
  html,
  pageNumber,
  pager,
  site,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import {
  authorNamed,
  countListed,
  findCategory,
  type ListedQuotes,
  listedQuotes,
  pageSize,
  type QuoteOrder,
  quoteList,
} from '../quotes/index.ts';
import { authorPath, categoryPath, pageRoutes, signInPath } from '../routes.ts';
import type { PageSession, Visitor, Visitors } from '../site.ts';
import type { Tables } from '../tables.ts';

export interface ListPagesParts {
  readonly visitors: Visitors;
  readonly database: Database<Tables>;
}

/** Adds pages with many quotes: all, those of a category, those of an author, and those that the reader likes. */
export function addListPages(routes: PageRoutes<PageSession>, { visitors, database }: ListPagesParts): void {
  const access = visitors;
  routes.get(pageRoutes.quotes, { access }, (visitor) =>
    showList(visitor, database, {
      listed: {},
      title: 'All quotes',
      path: pageRoutes.quotes,
      standard: 'newest',
    }),
  );
  routes.get(pageRoutes.category, { access }, async (visitor) => {
    const { slug } = visitor.visit.request.params as { slug: string };
    const category = await findCategory(database, slug);
    if (!category) throw new AppError('not_found', 'There is no category at this address.');
    return showList(visitor, database, {
      listed: { categoryId: category.id },
      title: category.name,
      path: categoryPath(slug),
      standard: 'oldest',
      about: `in the category ${category.name}, with their authors and sources`,
    });
  });
  routes.get(pageRoutes.author, { access }, async (visitor) => {
    const { author } = visitor.visit.request.params as { author: string };
    const name = await authorNamed(database, author);
    if (name === undefined)
      throw new AppError('not_found', 'There are no quotes of an author at this address.');
    return showList(visitor, database, {
      listed: { author: name },
      title: name,
      path: authorPath(name),
      standard: 'oldest',
      about: `by ${name}, with their sources`,
    });
  });
  routes.get(pageRoutes.likes, { access }, async (visitor) => {
    const { reader, visit } = visitor;
    if (!reader) return visit.redirect(signInPath(pageRoutes.likes));
    return showList(visitor, database, {
      listed: { likedBy: reader.id },
      title: 'My likes',
      path: pageRoutes.likes,
      standard: 'newest',
    });
  });
}

interface List {
  readonly listed: ListedQuotes;
  readonly title: string;
  readonly path: string;
  /** The order without a word in the address. */
  readonly standard: QuoteOrder;
  /** The quotes in words, for search engines; a list without them has no address of its own to share. */
  readonly about?: string;
}

async function showList(visitor: Visitor, database: Database<Tables>, list: List): Promise<string> {
  const { title, path, standard, about } = list;
  const { query } = visitor.visit.request;
  const order = orderOf(query) ?? standard;
  const total = await countListed(database, list.listed);
  const page = Math.max(1, Math.min(pageNumber(query), Math.ceil(total / pageSize)));
  const slice = { order, limit: pageSize, offset: (page - 1) * pageSize };
  const quotes = await listedQuotes(database, list.listed, slice);
  const href = (to: { page?: number; order?: QuoteOrder }) => {
    const { page: number = 1, order: wanted = order } = to;
    const parameters = [
      ...(wanted === standard ? [] : [`order=${wanted}`]),
      ...(number === 1 ? [] : [`page=${number}`]),
    ];
    return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`;
  };
  return site(visitor.frame(), {
    title: page === 1 ? title : `${title}, page ${page}`,
    ...(about && { sharing: { description: `${count(total, 'quote')} ${about}.`, path: href({ page }) } }),
    main: html`<h1 class="title">${title}</h1><p class="lead">${count(total, 'quote')}</p>
${total > 1 && orderLinks(order, (wanted) => href({ order: wanted }))}
${total > 0 ? quoteList(quotes) : nothing(list)}${pager({ page, pageSize, total, href: (number) => href({ page: number }) })}`,
  });
}

const orders = {
  newest: 'Newest',
  liked: 'Most liked',
  oldest: 'Oldest',
} as const satisfies Record<QuoteOrder, string>;

/** The order of an address; undefined if it names none. */
function orderOf(query: unknown): QuoteOrder | undefined {
  const { order } = query as { order?: unknown };
  return (Object.keys(orders) as QuoteOrder[]).find((known) => known === order);
}

function orderLinks(current: QuoteOrder, href: (order: QuoteOrder) => string): Html {
  const link = ([order, label]: [string, string]) =>
    html`<a href="${href(order as QuoteOrder)}"${attributes({ 'aria-current': order === current && 'true', class: order === current ? 'button secondary' : 'button quiet' })}>${label}</a>`;
  return html`<nav class="actions" aria-label="Order">${Object.entries(orders).map(link)}</nav>`;
}

function nothing({ listed }: List): Content {
  return listed.likedBy === undefined
    ? empty({ icon: 'inbox', title: 'No quotes yet', text: 'Quotes appear here when someone adds one.' })
    : empty({
        icon: 'heart',
        title: 'No likes yet',
        text: 'Quotes that you like appear here.',
        actions: html`<a class="button secondary" href="${pageRoutes.quotes}">Browse quotes</a>`,
      });
}

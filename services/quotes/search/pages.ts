import type { Database } from '@octavo/data';
import type { WordQuery } from '@octavo/data/terms';
import { parameter } from '@octavo/drf';
import { count, empty, formatNumber, type Html, html, pageNumber, pager, site } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { type CountedQuote, countedQuotes, pageSize, quoteList } from '../quotes/index.ts';
import { pageRoutes } from '../routes.ts';
import type { PageSession, Visitor, Visitors } from '../site.ts';
import type { Tables } from '../tables.ts';
import { findMatches } from './search.ts';
import { parseSignedQuery, type SignedQuery } from './signed-words.ts';

/** Later pages are of no use to people, and cost the more the later they are. */
const pageMax = 50;
const queryCharactersMax = 500;

export interface SearchPagesParts {
  readonly visitors: Visitors;
  readonly database: Database<Tables>;
}

export function addSearchPages(
  routes: PageRoutes<PageSession>,
  { visitors, database }: SearchPagesParts,
): void {
  routes.get(pageRoutes.search, { access: visitors }, (visitor) => showResults(visitor, database));
}

async function showResults(visitor: Visitor, database: Database<Tables>): Promise<string> {
  const { visit } = visitor;
  const text = (parameter(visit.request.query, 'q') ?? '').trim().slice(0, queryCharactersMax);
  const query = parseSignedQuery(text);
  const href = (number: number) =>
    `${pageRoutes.search}?q=${encodeURIComponent(text)}${number === 1 ? '' : `&page=${number}`}`;
  const sharing = {
    description: 'Search quotes by their words, authors and categories.',
    path: href(1),
  };
  if (text === '') {
    return site(visitor.frame(), {
      title: 'Search',
      sharing,
      main: html`<h1 class="title">Search</h1>${syntaxHelp()}`,
    });
  }
  const { quotes, page, total, isMore } = await resultsOf(visitor, database, query);
  const number = isMore ? `More than ${formatNumber(total)} quotes` : count(total, 'quote');
  const results =
    total === 0
      ? noResults(query)
      : html`${quoteList(quotes, query)}${pager({ page, pageSize, total, isMore, href })}`;
  return site(visitor.frame(), {
    title: `Search for ${text}`,
    sharing,
    main: html`<h1 class="title">${text}</h1><p class="lead" role="status">${number}</p>${results}`,
  });
}

interface Results {
  readonly quotes: readonly CountedQuote[];
  readonly page: number;
  readonly total: number;
  /** True if there are more than `total`. */
  readonly isMore: boolean;
}

/** The page that was asked for, or the last one. */
async function resultsOf(
  { visit }: Visitor,
  database: Database<Tables>,
  query: SignedQuery,
): Promise<Results> {
  const given = pageNumber(visit.request.query);
  const wanted = Math.max(1, Math.min(given, pageMax));
  const found = await findPage(database, query, wanted);
  const last = Math.max(1, Math.ceil(found.seen / pageSize));
  const page = Math.min(wanted, last);
  const { ids } = page === wanted ? found : await findPage(database, query, page);
  return {
    quotes: await countedQuotes(database, ids),
    page,
    total: found.seen,
    isMore: !found.isAll && page < pageMax,
  };
}

function findPage(database: Database<Tables>, query: SignedQuery, page: number) {
  return findMatches(database, query, { limit: pageSize, offset: (page - 1) * pageSize });
}

function noResults({ wanted }: WordQuery): Html {
  const text =
    wanted.length === 0
      ? 'It has no words to search for.'
      : 'Every word must be in the text, the author or the category. Try fewer words, or the beginning of a word followed by *.';
  return html`${empty({ icon: 'search', title: 'No matching quotes', text })}<section>${syntaxHelp()}</section>`;
}

function syntaxHelp(): Html {
  const examples = [
    ['courage fear', 'quotes with both words, in any form'],
    ['"to be"', 'these words next to each other'],
    ['love -hate', 'with the first word and without the second'],
    ['philosoph*', 'words that begin like this'],
    ['Jane Austen', 'quotes by an author, or in a category'],
  ] as const;
  return html`<h2>What you can search for</h2><dl class="examples">${examples.map(
    ([example, meaning]) =>
      html`<dt><a href="${`${pageRoutes.search}?q=${encodeURIComponent(example)}`}"><code>${example}</code></a></dt><dd>${meaning}</dd>`,
  )}</dl>`;
}

import { filters } from '#kit/html/filters.ts';
import { field, timeZoneField } from '#kit/html/form.ts';
import { type Html, html } from '#kit/html/html.ts';
import { pageRoutes } from '../routes.ts';
import { sentimentLabels } from '../sentiment/index.ts';
import { isFiltered } from './page-filter.ts';
import type { PageQuery } from './pages-list-query.ts';
import { defaultPageSize } from './pages-list-query.ts';

/** The names of the filters, as people see them. */
export const filterLabels: Readonly<Record<string, string>> = {
  search: 'Search',
  userId: 'User number',
  from: 'Created from',
  to: 'Created until',
  sentiment: 'Sentiment',
  page: 'Page',
};

/** The form above the list. */
export function listFilters(query: PageQuery, hasSentiments: boolean): Html {
  const { userId, search, from, to, zone, sentiment, sortBy, sortOrder, pageSize } = query;
  return filters({
    action: pageRoutes.posts,
    search: field({
      name: 'search',
      label: 'Search in title and body',
      type: 'search',
      value: search,
      attributes: { maxlength: 256 },
    }),
    more: html`${field({ name: 'userId', label: 'User number', value: userId, attributes: { inputmode: 'numeric', pattern: '[0-9]*' } })}
${field({ name: 'from', label: 'Created from', type: 'date', value: from })}
${field({ name: 'to', label: 'Created until', type: 'date', value: to })}${timeZoneField(zone)}
${hasSentiments && field({ name: 'sentiment', label: 'Sentiment', type: 'select', value: sentiment, choices: sentimentChoices })}
${field({ name: 'sortBy', label: 'Sort by', type: 'select', value: sortBy, choices: sortChoices, phoneOnly: true })}
${field({ name: 'sortOrder', label: 'Order', type: 'select', value: sortOrder, choices: orderChoices, phoneOnly: true })}
${pageSize !== defaultPageSize && html`<input type="hidden" name="pageSize" value="${pageSize}">`}
<noscript class="small muted">Days are in UTC.</noscript>`,
    hasMore: [userId, from, to, sentiment].some((given) => given !== undefined),
    clearHref: isFiltered(query) ? pageRoutes.posts : undefined,
  });
}

const sentimentChoices: readonly (readonly [string, string])[] = [
  ['', 'Any'],
  ...sentimentLabels.map((label) => [label, `${label.slice(0, 1).toUpperCase()}${label.slice(1)}`] as const),
];

const sortChoices = [
  ['id', 'Number'],
  ['title', 'Title'],
  ['createdAt', 'Created'],
  ['updatedAt', 'Changed'],
] as const;

const orderChoices = [
  ['desc', 'Descending'],
  ['asc', 'Ascending'],
] as const;

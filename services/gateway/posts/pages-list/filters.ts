import { filters } from '#kit/html/components/filters.ts';
import { field, timeZoneField } from '#kit/html/components/form.ts';
import { type Html, html } from '#kit/html/html.ts';
import { pageRoutes } from '../../routes.ts';
import { sentimentLabels } from '../../sentiment/index.ts';
import { userField, userFieldLabel } from '../../users/index.ts';
import { isFiltered } from '../page-filter.ts';
import type { PageQuery } from './query.ts';
import { defaultPageSize } from './query.ts';

/** The names of the filters, as people see them. */
export const filterLabels: Readonly<Record<string, string>> = {
  search: 'Search',
  userId: userFieldLabel,
  from: 'Created from',
  to: 'Created until',
  sentiment: 'Sentiment',
  page: 'Page',
};

interface FilterOptions {
  readonly hasSentiments: boolean;
  /** The name of the user that is chosen, and names to choose from. */
  readonly users: { readonly name: string | undefined; readonly choices: readonly string[] };
}

/** The form above the list. */
export function listFilters(query: PageQuery, { hasSentiments, users }: FilterOptions): Html {
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
    more: html`${userField({ value: users.name ?? String(userId ?? ''), names: users.choices })}
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

import {
  type Content,
  type FieldOptions,
  field,
  filters,
  type Html,
  html,
  timeZoneField,
} from '@octavo/web/html';
import { pageRoutes } from '../../routes.ts';
import { sentimentLabels } from '../../sentiment/index.ts';
import { userField, userFieldLabel } from '../../users/index.ts';
import { type FilterName, isFiltered } from '../filter.ts';
import type { PageQuery } from './query.ts';
import { defaultPageSize } from './query.ts';

type MoreName = Exclude<FilterName, 'search'>;

/** The controls of the filters beside the search, in order. */
const controls: Readonly<Record<MoreName, Omit<FieldOptions, 'name' | 'value'>>> = {
  userId: { label: userFieldLabel },
  from: { label: 'Created from', type: 'date' },
  to: { label: 'Created until', type: 'date' },
  sentiment: {
    label: 'Sentiment',
    type: 'select',
    choices: [
      ['', 'Any'],
      ...sentimentLabels.map(
        (label) => [label, `${label.slice(0, 1).toUpperCase()}${label.slice(1)}`] as const,
      ),
    ],
  },
};

/** The name of a parameter, as people see it. */
export function parameterLabel(name: string): string {
  if (Object.hasOwn(controls, name)) return controls[name as MoreName].label;
  return { search: 'Search', page: 'Page' }[name] ?? name;
}

interface FilterOptions {
  readonly hasSentiments: boolean;
  /** The name of the user that is chosen, and names to choose from. */
  readonly users: { readonly name: string | undefined; readonly choices: readonly string[] };
}

/** The form above the list. */
export function listFilters(query: PageQuery, options: FilterOptions): Html {
  const { search, zone, sortBy, sortOrder, pageSize } = query;
  return filters({
    action: pageRoutes.posts,
    search: field({
      name: 'search',
      label: 'Search in title and body',
      type: 'search',
      value: search,
      attributes: { maxlength: 256 },
    }),
    more: html`${(Object.keys(controls) as MoreName[]).map((name) => control(name, query, options))}${timeZoneField(zone)}
${field({ name: 'sortBy', label: 'Sort by', type: 'select', value: sortBy, choices: sortChoices, phoneOnly: true })}
${field({ name: 'sortOrder', label: 'Order', type: 'select', value: sortOrder, choices: orderChoices, phoneOnly: true })}
${pageSize !== defaultPageSize && html`<input type="hidden" name="pageSize" value="${pageSize}">`}
<noscript class="small muted">Days are in UTC.</noscript>`,
    hasMore: isFiltered({ ...query, search: undefined }),
    clearHref: isFiltered(query) ? pageRoutes.posts : undefined,
  });
}

function control(name: MoreName, query: PageQuery, { hasSentiments, users }: FilterOptions): Content {
  if (name === 'userId') {
    return userField({ value: users.name ?? String(query.userId ?? ''), names: users.choices });
  }
  if (name === 'sentiment' && !hasSentiments) return undefined;
  return field({ name, value: query[name]?.toString(), ...controls[name] });
}

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

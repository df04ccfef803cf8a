import {
  type Content,
  count,
  empty,
  errorSummary,
  field,
  filters,
  formatNumber,
  type Html,
  html,
  pager,
  table,
} from '@octavo/web/html';
import type { Kind, Sector } from '../records.ts';
import { pageRoutes } from '../routes.ts';
import { money, type Visitor } from '../site.ts';
import type { Named, SectorAmount } from '../store/names.ts';
import { amountCharts } from './amounts.ts';
import { type Listing, pageSize } from './pages-filters.ts';
import {
  type InvestmentTable,
  investmentTable,
  memberLinks,
  memberTable,
  recordLink,
  type Sorting,
} from './tables.ts';

type Names = ReadonlyMap<string, Named>;

const labels: Readonly<Record<string, string>> = {
  q: 'Search',
  name: 'Name',
  role: 'Role',
  location: 'Location',
  sector: 'Sector',
  stage: 'Stage',
  status: 'Status',
  team_member: 'Team member',
  country: 'Country',
  amount_from: 'Amount from',
  amount_to: 'Amount to',
  from: 'Invested from',
  to: 'Invested to',
  sort: 'Order',
};

const statuses = [
  ['', 'Any'],
  ['active', 'Active'],
  ['exited', 'Exited'],
  ['written_off', 'Written off'],
] as const;

export function teamPage(
  visitor: Visitor,
  { listing, sectors }: { listing: Listing<'team'>; sectors: Names },
): string {
  return listPage(visitor, {
    title: 'Team',
    path: pageRoutes.team,
    listing,
    nouns: ['person', 'people'],
    placeholder: 'Names, titles and biographies',
    fields: html`${input(listing, 'role')}${sectorField(listing, sectors)}${input(listing, 'location')}`,
    rows: (sorting) => memberTable(listing.found.items, sectors, sorting),
  });
}

interface InvestmentsView extends Pick<InvestmentTable, 'sectors' | 'members'> {
  readonly listing: Listing<'investments'>;
}

export function investmentsPage(visitor: Visitor, { listing, sectors, members }: InvestmentsView): string {
  const { items } = listing.found;
  return listPage(visitor, {
    title: 'Investments',
    path: pageRoutes.investments,
    listing,
    nouns: ['investment', 'investments'],
    placeholder: 'Companies, countries and descriptions',
    fields: html`${sectorField(listing, sectors)}${field({ ...common(listing, 'status'), type: 'select', choices: statuses })}${input(listing, 'stage')}
${input(listing, 'team_member')}${input(listing, 'country')}${input(listing, 'amount_from', { inputmode: 'numeric', placeholder: '1,000,000' })}${input(listing, 'amount_to', { inputmode: 'numeric' })}
${field({ ...common(listing, 'from'), type: 'date' })}${field({ ...common(listing, 'to'), type: 'date' })}`,
    rows: (sorting) => investmentTable({ items, sectors, members, sorting, caption: 'Investments' }),
  });
}

interface SectorsView {
  readonly listing: Listing<'sectors'>;
  readonly members: Names;
  readonly amounts: readonly SectorAmount[];
}

export function sectorsPage(visitor: Visitor, { listing, members, amounts }: SectorsView): string {
  const shown = new Set(listing.found.items.map(({ slug }) => slug));
  const charts = amountCharts(amounts.filter(({ slug }) => shown.has(slug)));
  return listPage(visitor, {
    title: 'Sectors',
    path: pageRoutes.sectors,
    listing,
    nouns: ['sector', 'sectors'],
    placeholder: 'Names and descriptions',
    rows: (sorting) =>
      html`<div class="stack">${charts}${sectorTable(listing.found.items, members, sorting)}</div>`,
  });
}

function sectorTable(items: readonly Sector[], members: Names, sorting: Sorting): Html {
  return table<Sector>({
    caption: 'Sectors',
    rows: items,
    columns: [
      {
        header: 'Sector',
        kind: 'main',
        ...sorting('name'),
        cell: (sector) =>
          html`${recordLink(pageRoutes.sector, sector)}${sector.description && html`<div>${sector.description}</div>`}`,
      },
      { header: 'Leads', kind: 'plain', cell: ({ lead_ids }) => memberLinks(lead_ids, members) },
      {
        header: 'Investments',
        kind: 'number',
        ...sorting('investment_count'),
        cell: ({ investment_count }) => formatNumber(investment_count),
      },
      {
        header: 'Invested',
        kind: 'amount',
        ...sorting('total_amount_minor'),
        cell: ({ total_amount_minor, currency }) => money(total_amount_minor, currency),
      },
    ],
  });
}

interface ListView<K extends Kind> {
  readonly title: string;
  readonly path: string;
  readonly listing: Listing<K>;
  readonly nouns: readonly [string, string];
  readonly placeholder: string;
  readonly fields?: Content;
  rows(sorting: Sorting): Html;
}

function listPage<K extends Kind>(visitor: Visitor, view: ListView<K>): string {
  const { title, path, listing, nouns, placeholder, fields, rows } = view;
  const { typed, sort, page, found, errors } = listing;
  const hasErrors = Object.keys(errors).length > 0;
  const isFiltered = Object.keys(typed).length > 0;
  const href = (more: Readonly<Record<string, string>>) =>
    `${path}?${new URLSearchParams({ ...typed, ...(sort && { sort }), ...more })}`;
  const sorting: Sorting = (name) => {
    const sorted = sort === name ? 'asc' : sort === `-${name}` ? 'desc' : undefined;
    return { sortHref: href({ sort: sorted === 'asc' ? `-${name}` : name }), sorted };
  };
  const search = field({
    ...common(listing, 'q'),
    type: 'search',
    attributes: { maxlength: 200, placeholder },
  });
  const hasMore = Object.keys(typed).some((name) => name !== 'q');
  return visitor.render({
    title,
    lead: hasErrors ? undefined : `${count(found.total, ...nouns)}${isFiltered ? ' found' : ''}`,
    main: html`${errorSummary(errors, labels, 'Check these filters')}${filters({
      action: path,
      search: html`${search}${sort && html`<input type="hidden" name="sort" value="${sort}">`}`,
      ...(fields && { more: fields, hasMore }),
      clearHref: isFiltered ? path : undefined,
    })}${
      found.total > 0
        ? html`${found.items.length > 0 && rows(sorting)}${pager({ page, pageSize, total: found.total, href: (to) => href({ page: String(to) }) })}`
        : !hasErrors && nothing(view, isFiltered)
    }`,
  });
}

function nothing<K extends Kind>({ nouns: [, plural] }: ListView<K>, isFiltered: boolean): Html {
  return isFiltered
    ? empty({
        icon: 'search',
        title: `No matching ${plural}`,
        text: 'Words match from their beginning, without regard to case and accents. Try fewer filters.',
      })
    : empty({ icon: 'list', title: `No ${plural} yet`, text: 'They appear here when they are imported.' });
}

function common<K extends Kind>({ typed, errors }: Listing<K>, name: string) {
  return { name, label: labels[name] ?? name, value: typed[name], error: errors[name] };
}

function input<K extends Kind>(
  listing: Listing<K>,
  name: string,
  attributes: Readonly<Record<string, string>> = {},
): Html {
  return field({ ...common(listing, name), attributes: { maxlength: 200, ...attributes } });
}

/** A sector that the address names otherwise, such as by words of its name, stays as it is. */
function sectorField<K extends Kind>(listing: Listing<K>, sectors: Names): Html {
  const { sector = '' } = listing.typed;
  const known = [...sectors.values()].map(({ slug, name }) => [slug, name] as const);
  const other = sector === '' || sectors.has(sector) ? [] : [[sector, sector] as const];
  const choices = [['', 'Any'] as const, ...known, ...other];
  return field({ ...common(listing, 'sector'), type: 'select', choices });
}

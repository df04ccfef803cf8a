import { badge, type Column, type Content, type Html, html, type Tone, table } from '@octavo/web/html';
import { type Investment, labelOf, type Member, statusWords } from '../records.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { day, money } from '../site.ts';
import type { Named } from '../store/names.ts';

/** A link to a record of the kind whose page the route is. */
export function recordLink(
  route: string,
  record: Pick<Named, 'slug' | 'name'> | undefined,
): Html | undefined {
  return record && html`<a href="${pathOf(route, record.slug)}">${record.name}</a>`;
}

const tones: Readonly<Record<Investment['status'], Tone | 'plain'>> = {
  active: 'good',
  exited: 'info',
  written_off: 'plain',
};

export function statusBadge(status: Investment['status']): Html {
  return badge(tones[status], statusWords[status].toLowerCase());
}

/** `series_a` as people write it: `Series A`. */
export function stageText(stage: string): string {
  const text = stage.replaceAll('_', ' ').replace(/ [a-z]$/, (letter) => letter.toUpperCase());
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Adds the sort link of a column header. */
export type Sorting = (name: string) => Pick<Column<never>, 'sortHref' | 'sorted'>;

const unsorted: Sorting = () => ({});

export interface InvestmentTable {
  readonly items: readonly Investment[];
  readonly sectors: ReadonlyMap<string, Named>;
  /** Leads by their ids. */
  readonly members: ReadonlyMap<string, Named>;
  readonly sorting?: Sorting;
  readonly caption: string;
}

export function investmentTable(view: InvestmentTable): Html {
  const { items, sectors, members, sorting = unsorted, caption } = view;
  return table<Investment>({
    caption,
    rows: items,
    columns: [
      {
        header: labelOf('investments', 'company'),
        kind: 'main',
        ...sorting('company'),
        cell: (deal) => html`${recordLink(pageRoutes.investment, { slug: deal.slug, name: deal.company })}
<div>${[stageText(deal.stage), members.get(deal.lead_id ?? '')?.name].filter(Boolean).join(' · ')}</div>`,
      },
      {
        header: labelOf('investments', 'sector'),
        kind: 'plain',
        cell: ({ sector }) => recordLink(pageRoutes.sector, sectors.get(sector)),
      },
      {
        header: labelOf('investments', 'status'),
        kind: 'plain',
        ...sorting('status'),
        cell: ({ status }) => statusBadge(status),
      },
      {
        header: labelOf('investments', 'invested_on'),
        kind: 'plain',
        ...sorting('invested_on'),
        cell: (deal) => day(deal.invested_on),
      },
      {
        header: labelOf('investments', 'amount_minor'),
        kind: 'amount',
        ...sorting('amount_minor'),
        cell: ({ amount_minor, currency }) => money(amount_minor, currency),
      },
    ],
  });
}

export function memberTable(
  items: readonly Member[],
  sectors: ReadonlyMap<string, Named>,
  sorting: Sorting = unsorted,
): Html {
  return table<Member>({
    caption: 'People',
    rows: items,
    columns: [
      {
        header: labelOf('team', 'name'),
        kind: 'main',
        ...sorting('name'),
        cell: ({ slug, name, title, role }) =>
          html`${recordLink(pageRoutes.member, { slug, name })}<div>${title || stageText(role)}</div>`,
      },
      { header: labelOf('team', 'location'), kind: 'plain', cell: ({ location }) => location },
      {
        header: labelOf('team', 'sectors'),
        kind: 'plain',
        cell: (member) => sectorLinks(member.sectors, sectors),
      },
      {
        header: labelOf('team', 'joined_on'),
        kind: 'fit',
        ...sorting('joined_on'),
        cell: ({ joined_on }) => joined_on && day(joined_on),
      },
    ],
  });
}

/** Links to sectors, separated by commas. */
export function sectorLinks(slugs: readonly string[], sectors: ReadonlyMap<string, Named>): Content {
  const links = slugs.flatMap((slug) => recordLink(pageRoutes.sector, sectors.get(slug)) ?? []);
  return links.map((link, index) => html`${index > 0 && ', '}${link}`);
}

/** Links to people, separated by commas. */
export function memberLinks(ids: readonly string[], members: ReadonlyMap<string, Named>): Content {
  const links = ids.flatMap((id) => recordLink(pageRoutes.member, members.get(id)) ?? []);
  return links.map((link, index) => html`${index > 0 && ', '}${link}`);
}

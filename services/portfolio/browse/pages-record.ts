import { type Content, card, count, facts, formatNumber, type Html, html, stats } from '@octavo/web/html';
import { type Investment, labelOf, type Member, type Sector } from '../records.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { day, money, type Visitor } from '../site.ts';
import type { Named } from '../store/names.ts';
import { regionOf } from '../words.ts';
import type { Deals } from './deals.ts';
import {
  investmentTable,
  memberLinks,
  memberTable,
  recordLink,
  sectorLinks,
  stageText,
  statusBadge,
} from './tables.ts';

type Names = ReadonlyMap<string, Named>;

export function memberPage(visitor: Visitor, { member, deals }: { member: Member; deals: Deals }): string {
  const { id, name, title, role, location, email, joined_on, links, bio, sectors } = member;
  return visitor.render({
    title: name,
    lead: title || stageText(role),
    parent: { href: pageRoutes.team, label: 'Team' },
    actions: editLink(visitor, 'team', id),
    main: html`<div class="stack">${card(
      undefined,
      html`${paragraphs(bio)}${known([
        [labelOf('team', 'role'), stageText(role)],
        [labelOf('team', 'location'), location],
        [labelOf('team', 'sectors'), sectors.length > 0 && sectorLinks(sectors, deals.sectors)],
        [labelOf('team', 'email'), email && html`<a href="${`mailto:${email}`}">${email}</a>`],
        [labelOf('team', 'joined_on'), joined_on && day(joined_on)],
        ...Object.entries(links).map(([label, address]) => [stageText(label), outside(address)] as const),
      ])}`,
    )}${dealsSection(deals, `No investments of ${name} yet.`, { team_member: member.slug })}</div>`,
  });
}

interface InvestmentView {
  readonly investment: Investment;
  /** The people of its team by their ids. */
  readonly members: Names;
  readonly sectors: Names;
}

export function investmentPage(visitor: Visitor, { investment, members, sectors }: InvestmentView): string {
  const { id, company, description, stage, status, country, website, lead_id, team_ids } = investment;
  const { amount_minor, currency, invested_on, exited_on, sector } = investment;
  const others = team_ids.filter((each) => each !== lead_id);
  return visitor.render({
    title: company,
    lead: html`${statusBadge(status)} ${stageText(stage)}`,
    parent: { href: pageRoutes.investments, label: 'Investments' },
    actions: editLink(visitor, 'investment', id),
    main: html`<div class="stack">${stats([{ label: 'Invested', value: money(amount_minor, currency) }])}${card(
      undefined,
      html`${paragraphs(description)}${known([
        [labelOf('investments', 'sector'), recordLink(pageRoutes.sector, sectors.get(sector))],
        [labelOf('investments', 'lead_id'), recordLink(pageRoutes.member, members.get(lead_id ?? ''))],
        [labelOf('investments', 'team_ids'), others.length > 0 && memberLinks(others, members)],
        [labelOf('investments', 'invested_on'), day(invested_on)],
        [labelOf('investments', 'exited_on'), exited_on && day(exited_on)],
        [labelOf('investments', 'country'), regionOf(country) ?? country],
        [labelOf('investments', 'website'), website && outside(website)],
      ])}`,
    )}</div>`,
  });
}

interface SectorView {
  readonly sector: Sector;
  readonly deals: Deals;
  readonly leads: Names;
  readonly team: readonly Member[];
}

export function sectorPage(visitor: Visitor, { sector, deals, leads, team }: SectorView): string {
  const { id, name, description, investment_count, total_amount_minor, currency, lead_ids, slug } = sector;
  return visitor.render({
    title: name,
    lead: description,
    parent: { href: pageRoutes.sectors, label: 'Sectors' },
    actions: editLink(visitor, 'sector', id),
    main: html`<div class="stack">${stats([
      { label: `Invested in ${currency}`, value: money(total_amount_minor, currency) },
      { label: 'Investments', value: formatNumber(investment_count) },
    ])}${lead_ids.length > 0 && html`<p>Led by ${memberLinks(lead_ids, leads)}</p>`}
${dealsSection(deals, 'No investments in this sector yet.', { sector: slug })}
${team.length > 0 && html`<section><h2>${count(team.length, 'person', 'people')}</h2>${memberTable(team, deals.sectors)}</section>`}</div>`,
  });
}

function dealsSection(
  { page, sectors, members }: Deals,
  nothing: string,
  filter: Readonly<Record<string, string>>,
): Html {
  if (page.total === 0) return html`<p class="muted">${nothing}</p>`;
  const { items, total } = page;
  const all = `${pageRoutes.investments}?${new URLSearchParams(filter)}`;
  return html`<section><h2>${count(total, 'investment')}</h2>${investmentTable({ items, sectors, members, caption: 'Investments, latest first' })}
${total > items.length && html`<p><a href="${all}">See all ${count(total, 'investment')}</a></p>`}</section>`;
}

/** The facts that there are. */
function known(entries: readonly (readonly [string, Content])[]): Html {
  return facts(
    entries.filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false),
  );
}

function paragraphs(text: string): Html[] {
  return text
    .split(/\n{2,}/)
    .filter((part) => part.trim() !== '')
    .map((part) => html`<p>${part}</p>`);
}

/** A link to another site; the rules of records allow http and https only. */
function outside(address: string): Html {
  return html`<a href="${address}" rel="noopener noreferrer nofollow">${address.replace(/^https?:\/\/(www\.)?/, '').replace(/\/$/, '')}</a>`;
}

/** Link for staff, who change single records in the admin. */
function editLink({ user }: Visitor, model: 'team' | 'investment' | 'sector', id: string): Content {
  if (!user?.isStaff) return undefined;
  const path = pathOf(`/admin/portfolio/${model}/:id/change/`, id);
  return html`<a class="button secondary" href="${path}">Edit</a>`;
}

import { card, empty, formatNumber, type Html, html, linkButton, stats } from '@octavo/web/html';
import type { Counts } from '../records.ts';
import { pageRoutes } from '../routes.ts';
import { type PageVisit, signInHref, type Visitor } from '../site.ts';
import type { SectorAmount, YearAmount } from '../store/names.ts';
import { amountCharts, yearCharts } from './amounts.ts';
import type { Deals } from './deals.ts';
import { investmentTable } from './tables.ts';

interface HomeView {
  readonly counts: Counts;
  readonly amounts: readonly SectorAmount[];
  readonly years: readonly YearAmount[];
  readonly latest: Deals;
}

/** The portfolio at a glance. */
export function homePage(visitor: Visitor, { counts, amounts, years, latest }: HomeView): string {
  const { page, sectors, members } = latest;
  return visitor.render({
    title: 'Portfolio',
    lead: 'The people, investments and sectors of the firm.',
    main: html`<div class="stack">${tiles(counts)}${
      page.total === 0
        ? nothingYet(visitor)
        : html`${yearCharts(years)}${amountCharts(amounts)}<section><h2>Latest investments</h2>${investmentTable({ items: page.items, sectors, members, caption: 'Latest investments' })}
<p><a href="${pageRoutes.investments}">See all investments</a></p></section>`
    }${apiCard(visitor.visit)}</div>`,
  });
}

/** Page for strangers, where the pages are not public. */
export function closedPage(visitor: Visitor, counts: Counts): string {
  return visitor.render({
    title: 'Portfolio',
    lead: 'The people, investments and sectors of the firm.',
    actions: linkButton(signInHref(visitor.visit), 'Sign in', 'primary'),
    main: html`<div class="stack">${tiles(counts)}<p>Sign in to see them. Programs use the API.</p>${apiCard(visitor.visit)}</div>`,
  });
}

function tiles({ team, investments, sectors }: Counts): Html {
  return stats([
    { label: 'People', value: html`<a href="${pageRoutes.team}">${formatNumber(team)}</a>` },
    {
      label: 'Investments',
      value: html`<a href="${pageRoutes.investments}">${formatNumber(investments)}</a>`,
    },
    { label: 'Sectors', value: html`<a href="${pageRoutes.sectors}">${formatNumber(sectors)}</a>` },
  ]);
}

function nothingYet({ isAdministrator }: Visitor): Html {
  return empty({
    icon: 'wallet',
    title: 'No investments yet',
    text: isAdministrator
      ? 'Import a JSON or CSV file, or add single records in the admin.'
      : 'An administrator can import a file of people, investments and sectors.',
    actions: isAdministrator && linkButton(pageRoutes.import, 'Import a file', 'primary'),
  });
}

function apiCard({ request }: PageVisit): Html {
  const address = `${request.protocol}://${request.host}`;
  return card(
    'The same data for programs',
    html`<p>Get a token, and send it with each request. It is valid for an hour. <a href="/docs">API reference</a></p>
<pre><code>TOKEN=$(curl -s ${address}/auth/token | jq -r .token)
curl -H "Authorization: Bearer $TOKEN" '${address}/api/team?name=muller'</code></pre>`,
  );
}

import type { AccountSession } from '@octavo/admin';
import type { Database } from '@octavo/data';
import type { PageRoutes } from '@octavo/web/pages';
import { findRecord, listMatching } from '../listing.ts';
import { pageRoutes } from '../routes.ts';
import type { PageVisit, Visitors } from '../site.ts';
import { membersById, sectorAmounts, sectorsBySlug, yearAmounts } from '../store/names.ts';
import { countRecords, type Tables } from '../store/store.ts';
import { investmentsOf, leadsOf } from './deals.ts';
import { readListing } from './pages-filters.ts';
import { closedPage, homePage } from './pages-home.ts';
import { investmentsPage, sectorsPage, teamPage } from './pages-list.ts';
import { investmentPage, memberPage, sectorPage } from './pages-record.ts';

/** Investments of one person or sector that a page shows; more are in the list. */
const investmentsMax = 100;
const latestMax = 8;

export interface BrowsePagesParts {
  readonly database: Database<Tables>;
  readonly visitors: Visitors;
}

/** The portfolio as pages: lists with the filters of the API, and a page for each record. */
export function addBrowsePages(routes: PageRoutes<AccountSession>, parts: BrowsePagesParts): void {
  const { database, visitors } = parts;
  const { reader: access } = visitors;
  routes.get(pageRoutes.home, { access: visitors.anybody }, (visitor) =>
    database.read(async (store) => {
      const counts = await countRecords(store);
      if (!visitor.user && !visitors.isPublic) return closedPage(visitor, counts);
      const amounts = await sectorAmounts(store);
      const latest = await investmentsOf(store, {}, latestMax);
      return homePage(visitor, { counts, amounts, years: await yearAmounts(store), latest });
    }),
  );
  routes.get(pageRoutes.team, { access }, (visitor) =>
    database.read(async (store) => {
      const listing = await readListing(visitor.visit, store, 'team');
      return teamPage(refuse(visitor, listing), { listing, sectors: await sectorsBySlug(store) });
    }),
  );
  routes.get(pageRoutes.investments, { access }, (visitor) =>
    database.read(async (store) => {
      const listing = await readListing(visitor.visit, store, 'investments');
      const sectors = await sectorsBySlug(store);
      const members = await membersById(store, leadsOf(listing.found.items));
      return investmentsPage(refuse(visitor, listing), { listing, sectors, members });
    }),
  );
  routes.get(pageRoutes.sectors, { access }, (visitor) =>
    database.read(async (store) => {
      const listing = await readListing(visitor.visit, store, 'sectors');
      const leads = listing.found.items.flatMap(({ lead_ids }) => lead_ids);
      const members = await membersById(store, leads);
      return sectorsPage(refuse(visitor, listing), { listing, members, amounts: await sectorAmounts(store) });
    }),
  );
  addRecordPages(routes, parts);
}

function addRecordPages(
  routes: PageRoutes<AccountSession>,
  { database, visitors: { reader: access } }: BrowsePagesParts,
): void {
  routes.get(pageRoutes.member, { access }, async (visitor) => {
    const member = await findRecord(database, 'team', keyOf(visitor.visit));
    const deals = await investmentsOf(database, { team_member: member.id }, investmentsMax);
    return memberPage(visitor, { member, deals });
  });
  routes.get(pageRoutes.investment, { access }, async (visitor) => {
    const investment = await findRecord(database, 'investments', keyOf(visitor.visit));
    const members = await membersById(database, investment.team_ids);
    return investmentPage(visitor, { investment, members, sectors: await sectorsBySlug(database) });
  });
  routes.get(pageRoutes.sector, { access }, async (visitor) => {
    const sector = await findRecord(database, 'sectors', keyOf(visitor.visit));
    const deals = await investmentsOf(database, { sector: sector.id }, investmentsMax);
    const leads = await membersById(database, sector.lead_ids);
    const { items: team } = await listMatching(database, 'team', {
      sector: sector.id,
      limit: investmentsMax,
      offset: 0,
      sort: 'name',
    });
    return sectorPage(visitor, { sector, deals, leads, team });
  });
}

/** A list with a wrong filter is a page of its own status. */
function refuse<V extends { readonly visit: PageVisit }>(
  visitor: V,
  { errors }: { readonly errors: object },
): V {
  if (Object.keys(errors).length > 0) visitor.visit.reply.code(400);
  return visitor;
}

function keyOf({ request }: PageVisit): string {
  return (request.params as { readonly id: string }).id.slice(0, 200).replaceAll('\0', '');
}

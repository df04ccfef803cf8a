import { listMatching } from '../listing.ts';
import { membersById, sectorsBySlug } from '../store/names.ts';

type Store = Parameters<typeof listMatching>[0];

/** The latest investments that match, with the names of their sectors and leads. */
export async function investmentsOf(
  store: Store,
  filter: { readonly sector?: string; readonly team_member?: string },
  limit: number,
) {
  const page = await listMatching(store, 'investments', {
    ...filter,
    limit,
    offset: 0,
    sort: '-invested_on',
  });
  const sectors = await sectorsBySlug(store);
  return { page, sectors, members: await membersById(store, leadsOf(page.items)) };
}

export type Deals = Awaited<ReturnType<typeof investmentsOf>>;

/** Ids of the leads of investments. */
export function leadsOf(items: readonly { readonly lead_id: string | null }[]): string[] {
  return items.flatMap(({ lead_id }) => lead_id ?? []);
}

import type { Session } from '@octavo/data';
import { decimalText } from '@octavo/documents/values';
import { type Imported, type Kind, kinds } from '../records.ts';
import type { Tables } from './store.ts';

/** A record that an import would change, with the fields whose values would be others. */
export interface RecordChange {
  readonly kind: Kind;
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly from: string; readonly to: string }[];
}

/** The records of a file with their places: their ids in its order, and the ids of those that they name. */
export interface Resolved {
  readonly ids: Readonly<Record<Kind, readonly string[]>>;
  readonly named: {
    readonly team: readonly (readonly string[])[];
    readonly sectors: readonly (readonly string[])[];
    readonly investments: readonly {
      readonly sector_id: string;
      readonly lead_id: string | null;
      readonly members: readonly string[];
    }[];
  };
  /** The name of a record for readers, by its id. */
  nameOf(kind: Kind, id: string): string;
}

type Texts = Readonly<Record<string, string>>;

/** The changes of the records that are stored already, in the order of the file. Records that would stay as they are are left out. */
export async function changesOf(
  store: Session<Tables>,
  given: Imported,
  resolved: Resolved,
): Promise<RecordChange[]> {
  const changes: RecordChange[] = [];
  for (const kind of kinds) {
    const before = given[kind].length > 0 ? await stored[kind](store, resolved) : new Map<string, Texts>();
    for (const [index, id] of resolved.ids[kind].entries()) {
      const old = before.get(id);
      if (!old) continue;
      const after = textsOf[kind](given, index, resolved);
      const fields = Object.entries(after)
        .map(([name, to]) => ({ name, from: old[name] ?? '', to }))
        .filter(({ from, to }) => from !== to);
      if (fields.length > 0) changes.push({ kind, name: old.name ?? old.company ?? '', fields });
    }
  }
  return changes;
}

/** The values of a record of the file, for readers. */
const textsOf: Readonly<Record<Kind, (given: Imported, index: number, resolved: Resolved) => Texts>> = {
  team(given, index, resolved) {
    const {
      id: _,
      slug: __,
      updated_at: ___,
      links,
      ...member
    } = given.team[index] as Imported['team'][number];
    const sectors = resolved.named.team[index] ?? [];
    return { ...plain(member), links: linksText(links), sectors: namesOf(resolved, 'sectors', sectors) };
  },
  sectors(given, index, resolved) {
    const {
      id: _,
      slug: __,
      updated_at: ___,
      ...sector
    } = given.sectors[index] as Imported['sectors'][number];
    return { ...plain(sector), lead_ids: namesOf(resolved, 'team', resolved.named.sectors[index] ?? []) };
  },
  investments(given, index, resolved) {
    const deal = given.investments[index] as Imported['investments'][number];
    const { id: _, slug: __, updated_at: ___, amount_minor, currency, ...others } = deal;
    const { sector_id = '', lead_id = null, members = [] } = resolved.named.investments[index] ?? {};
    return {
      ...plain(others),
      amount: `${currency} ${decimalText(amount_minor, currency)}`,
      sector: resolved.nameOf('sectors', sector_id),
      lead_id: lead_id === null ? '' : resolved.nameOf('team', lead_id),
      team_ids: namesOf(resolved, 'team', members),
    };
  },
};

/** The values of the stored records, by id, as {@link textsOf} gives them. */
const stored: Readonly<
  Record<Kind, (store: Session<Tables>, resolved: Resolved) => Promise<Map<string, Texts>>>
> = {
  async team({ kysely }, resolved) {
    const rows = await kysely.selectFrom('member').selectAll().execute();
    const links = await kysely.selectFrom('member_sector').selectAll().orderBy('place').execute();
    const sectors = Map.groupBy(links, ({ member_id }) => member_id);
    return byId(rows, ({ id, links: addresses, ...member }) => ({
      ...plain(member),
      links: linksText(JSON.parse(addresses)),
      sectors: namesOf(
        resolved,
        'sectors',
        (sectors.get(id) ?? []).map(({ sector_id }) => sector_id),
      ),
    }));
  },
  async sectors({ kysely }, resolved) {
    const rows = await kysely.selectFrom('sector').selectAll().execute();
    const leads = Map.groupBy(
      await kysely.selectFrom('sector_lead').selectAll().orderBy('place').execute(),
      ({ sector_id }) => sector_id,
    );
    return byId(rows, ({ id, ...sector }) => ({
      ...plain(sector),
      lead_ids: namesOf(
        resolved,
        'team',
        (leads.get(id) ?? []).map(({ member_id }) => member_id),
      ),
    }));
  },
  async investments({ kysely }, resolved) {
    const rows = await kysely.selectFrom('investment').selectAll().execute();
    const teams = Map.groupBy(
      await kysely.selectFrom('investment_member').selectAll().orderBy('place').execute(),
      ({ investment_id }) => investment_id,
    );
    return byId(rows, ({ id, amount_minor, currency, sector_id, lead_id, ...deal }) => ({
      ...plain(deal),
      amount: `${currency} ${decimalText(amount_minor, currency)}`,
      sector: resolved.nameOf('sectors', sector_id),
      lead_id: lead_id === null ? '' : resolved.nameOf('team', lead_id),
      team_ids: namesOf(
        resolved,
        'team',
        (teams.get(id) ?? []).map(({ member_id }) => member_id),
      ),
    }));
  },
};

function byId<R extends { readonly id: string }>(rows: readonly R[], textsOfRow: (row: R) => Texts) {
  return new Map(rows.map((row) => [row.id, textsOfRow(row)]));
}

/** Texts of the values that are no lists and no links. */
function plain(values: Readonly<Record<string, unknown>>): Texts {
  const simple = Object.entries(values).filter(([, value]) => typeof value !== 'object' || value === null);
  return Object.fromEntries(simple.map(([name, value]) => [name, String(value ?? '')]));
}

function linksText(links: Readonly<Record<string, string>>): string {
  return Object.entries(links)
    .map((pair) => pair.join(' '))
    .join(', ');
}

function namesOf(resolved: Resolved, kind: Kind, ids: readonly string[]): string {
  return ids.map((id) => resolved.nameOf(kind, id)).join(', ');
}

import type { Kysely } from 'kysely';
import type { WriteSession } from '#kit/db/index.ts';
import { AppError } from '#kit/errors.ts';
import { newOrderedId } from '#kit/ids.ts';
import { type Counts, type Imported, type Kind, kinds } from './records.ts';
import type { Tables } from './store.ts';
import { slugOf, wordColumns } from './words.ts';

/** The table of each kind. */
export const tables = { team: 'member', investments: 'investment', sectors: 'sector' } as const;
const problemsMax = 20;

/**
 * Writes records over those with the same id, or else the same slug, and adds the others; `replaces` removes what there was before.
 * Throws `validation_failed` that names each record which is twice in the file or names another that does not exist.
 */
export async function saveRecords(
  store: WriteSession<Tables>,
  given: Imported,
  { nowMs, replaces }: { nowMs: number; replaces: boolean },
): Promise<Counts> {
  await store.lock('import');
  if (replaces)
    for (const table of ['investment', 'member', 'sector'] as const)
      await store.kysely.deleteFrom(table).execute();
  const problems = new Map<string, string>();
  const keys = {} as Record<Kind, Keys>;
  for (const kind of kinds) {
    const known = await store.kysely.selectFrom(tables[kind]).select(['id', 'slug']).execute();
    keys[kind] = new Keys(kind, known, problems);
    keys[kind].add(given[kind].map((each) => ({ ...each, name: 'name' in each ? each.name : each.company })));
  }
  const rows = rowsOf(given, keys, nowMs);
  const relations = relationsOf(given, keys);
  if (problems.size > 0) throw refusal(problems);
  const { kysely } = store;
  for (const row of rows.sectors) await upsert(kysely, 'sector', row);
  for (const row of rows.team) await upsert(kysely, 'member', row);
  for (const row of rows.investments) await upsert(kysely, 'investment', row);
  await saveRelations(kysely, relations, keys);
  return { team: rows.team.length, investments: rows.investments.length, sectors: rows.sectors.length };
}

/** One error for all that is wrong with a file, by the names of its records. */
export function refusal(problems: ReadonlyMap<string, string>): AppError {
  const lines = [...problems].slice(0, problemsMax).map(([name, problem]) => `${name} ${problem}`);
  const more = problems.size > problemsMax ? [`and ${problems.size - problemsMax} more`] : [];
  return new AppError('validation_failed', [...lines, ...more].join('; '), {
    fields: Object.fromEntries([...problems].slice(0, problemsMax)),
  });
}

interface Identified {
  readonly id?: string | undefined;
  readonly slug?: string | undefined;
  readonly name: string;
}

/** The ids of the records of one kind, those that are stored and those of the file. */
class Keys {
  /** In the order of the file. */
  readonly of: { readonly id: string; readonly slug: string }[] = [];
  readonly #kind: Kind;
  readonly #problems: Map<string, string>;
  readonly #idBySlug: Map<string, string>;
  readonly #slugById: Map<string, string>;

  constructor(kind: Kind, known: readonly { id: string; slug: string }[], problems: Map<string, string>) {
    this.#kind = kind;
    this.#problems = problems;
    this.#idBySlug = new Map(known.map(({ id, slug }) => [slug, id]));
    this.#slugById = new Map(known.map(({ id, slug }) => [id, slug]));
  }

  /** Namesakes without a slug of their own get numbered ones, in the order of the file. */
  add(records: readonly Identified[]): void {
    const taken = new Set(records.flatMap(({ slug }) => slug ?? []));
    const seen = new Set<string>();
    for (const [index, record] of records.entries()) {
      const slug = record.slug ?? this.#slugFor(record, taken);
      taken.add(slug);
      const id = record.id?.toLowerCase() ?? this.#idBySlug.get(slug) ?? newOrderedId();
      const name = `${this.#kind}[${index}]`;
      const owner = this.#idBySlug.get(slug);
      if (seen.has(id)) this.#problems.set(name, 'is in the file twice');
      else if (owner !== undefined && owner !== id) this.#problems.set(`${name}.slug`, 'is taken');
      seen.add(id);
      this.of.push({ id, slug });
      this.#idBySlug.set(slug, id);
      this.#slugById.set(id, slug);
    }
  }

  ids(): string[] {
    return this.of.map(({ id }) => id);
  }

  idAt(index: number): string {
    return this.of[index]?.id ?? '';
  }

  /** The id of the record that a text names by id or slug. */
  find(reference: string, place: string): string {
    const key = reference.trim().normalize('NFC').toLowerCase();
    const id = this.#slugById.has(key) ? key : this.#idBySlug.get(key);
    if (id === undefined) this.#problems.set(place, `names nothing of ${this.#kind}`);
    return id ?? '';
  }

  #slugFor({ id, name }: Identified, taken: ReadonlySet<string>): string {
    const known = id && this.#slugById.get(id.toLowerCase());
    if (known) return known;
    const base = slugOf(name) || this.#kind;
    const isFree = (slug: string) => !taken.has(slug) && (id === undefined || !this.#idBySlug.has(slug));
    for (let number = 1; ; number++) {
      const slug = number === 1 ? base : `${base}-${number}`;
      if (isFree(slug)) return slug;
    }
  }
}

function rowsOf(given: Imported, keys: Readonly<Record<Kind, Keys>>, nowMs: number) {
  const head = (kind: Kind, index: number, updatedAt: string | undefined) => ({
    ...(keys[kind].of[index] as { id: string; slug: string }),
    updated_at_ms: updatedAt === undefined ? nowMs : Date.parse(updatedAt),
  });
  return {
    team: given.team.map(({ sectors: _, updated_at, ...member }, index) => ({
      ...member,
      ...head('team', index, updated_at),
      links: JSON.stringify(member.links),
      ...wordColumns.team(member),
    })),
    sectors: given.sectors.map(({ lead_ids: _, updated_at, ...sector }, index) => ({
      ...sector,
      ...head('sectors', index, updated_at),
      ...wordColumns.sectors(sector),
    })),
    investments: given.investments.map(({ sector, team_ids: _, updated_at, ...deal }, index) => {
      const place = `investments[${index}]`;
      return {
        ...deal,
        ...head('investments', index, updated_at),
        sector_id: keys.sectors.find(sector, `${place}.sector`),
        lead_id: deal.lead_id === null ? null : keys.team.find(deal.lead_id, `${place}.lead_id`),
        ...wordColumns.investments(deal),
      };
    }),
  };
}

async function upsert<T extends 'member' | 'sector' | 'investment'>(
  kysely: Kysely<Tables>,
  table: T,
  row: Tables[T],
): Promise<void> {
  const insert = kysely.insertInto(table as 'sector').values(row as Tables['sector']);
  await insert.onConflict((conflict) => conflict.column('id').doUpdateSet(row as Tables['sector'])).execute();
}

/** Who belongs to what, in the order of the file. */
function relationsOf(given: Imported, keys: Readonly<Record<Kind, Keys>>) {
  const placed = (kind: Kind, references: readonly string[], place: string) =>
    [...new Set(references.map((each, index) => keys[kind].find(each, `${place}[${index}]`)))].entries();
  return {
    member_sector: given.team.flatMap(({ sectors }, index) =>
      [...placed('sectors', sectors, `team[${index}].sectors`)].map(([place, sector_id]) => ({
        ...{ member_id: keys.team.idAt(index), sector_id, place },
      })),
    ),
    sector_lead: given.sectors.flatMap(({ lead_ids }, index) =>
      [...placed('team', lead_ids, `sectors[${index}].lead_ids`)].map(([place, member_id]) => ({
        ...{ sector_id: keys.sectors.idAt(index), member_id, place },
      })),
    ),
    investment_member: given.investments.flatMap(({ lead_id, team_ids }, index) =>
      [...placed('team', [lead_id ?? [], team_ids].flat(), `investments[${index}].team_ids`)].map(
        ([place, member_id]) => ({ investment_id: keys.investments.idAt(index), member_id, place }),
      ),
    ),
  };
}

async function saveRelations(
  kysely: Kysely<Tables>,
  relations: ReturnType<typeof relationsOf>,
  keys: Readonly<Record<Kind, Keys>>,
): Promise<void> {
  for (const id of keys.team.ids())
    await kysely.deleteFrom('member_sector').where('member_id', '=', id).execute();
  for (const id of keys.sectors.ids())
    await kysely.deleteFrom('sector_lead').where('sector_id', '=', id).execute();
  for (const id of keys.investments.ids())
    await kysely.deleteFrom('investment_member').where('investment_id', '=', id).execute();
  for (const row of relations.member_sector) await kysely.insertInto('member_sector').values(row).execute();
  for (const row of relations.sector_lead) await kysely.insertInto('sector_lead').values(row).execute();
  for (const row of relations.investment_member)
    await kysely.insertInto('investment_member').values(row).execute();
}

import { AppError, newOrderedId } from '@octavo/core';
import type { Session, WriteSession } from '@octavo/data';
import type { Kysely } from 'kysely';
import { type Counts, type Imported, type Kind, kinds } from '../records.ts';
import { foldedName, slugOf, wordColumns } from '../words.ts';
import { changesOf, type RecordChange } from './import-changes.ts';
import { replaceMembers, type Tables } from './store.ts';

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
  { nowMs, replaces, onSaved }: { nowMs: number; replaces: boolean; onSaved?: OnSaved | undefined },
): Promise<Counts> {
  await store.lock('import');
  if (replaces)
    for (const table of ['investment', 'member', 'sector'] as const)
      await store.kysely.deleteFrom(table).execute();
  const { keys, named, problems } = resolve(given, await knownKeys(store));
  if (problems.size > 0) throw refusal(problems);
  // All rows come before what leads from one to another.
  await saveRows(store, given, { keys, named, nowMs, onSaved });
  await saveRelations(store, named, keys);
  return { team: given.team.length, investments: given.investments.length, sectors: given.sectors.length };
}

/** Called for each record that was written, in the transaction: it may wait, and ends the import by throwing. */
export type OnSaved = () => Promise<void> | void;

export interface ImportPlan {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
  /** Changes of records that are stored already. */
  readonly changes: readonly RecordChange[];
  /** Problems by the names of their records, as in {@link refusal}. */
  readonly problems: ReadonlyMap<string, string>;
}

/** Returns what {@link saveRecords} would do. Nothing is written. */
export async function planRecords(
  store: Session<Tables>,
  given: Imported,
  { replaces }: { replaces: boolean },
): Promise<ImportPlan> {
  const known = await knownKeys(store);
  const nothing: KnownKeys = { team: [], investments: [], sectors: [] };
  const { keys, named, problems } = resolve(given, replaces ? nothing : known);
  const before = new Set(kinds.flatMap((kind) => known[kind].map(({ id }) => id)));
  const idsOf = (kind: Kind) => given[kind].map((_, index) => keys[kind].at(index).id);
  const ids = { team: idsOf('team'), investments: idsOf('investments'), sectors: idsOf('sectors') };
  const all = kinds.flatMap((kind) => ids[kind]);
  const kept = all.filter((id) => before.has(id)).length;
  const nameOf = (kind: Kind, id: string) => keys[kind].nameOf(id);
  const changes = problems.size > 0 ? [] : await changesOf(store, given, { ids, named, nameOf });
  return {
    added: all.length - kept,
    changed: changes.length,
    unchanged: kept - changes.length,
    removed: replaces ? before.size - kept : 0,
    changes,
    problems,
  };
}

type KnownKeys = Readonly<Record<Kind, readonly Identified[]>>;

async function knownKeys({ kysely }: Session<Tables>): Promise<KnownKeys> {
  return {
    team: await kysely.selectFrom('member').select(['id', 'slug', 'name']).execute(),
    sectors: await kysely.selectFrom('sector').select(['id', 'slug', 'name']).execute(),
    investments: await kysely.selectFrom('investment').select(['id', 'slug', 'company as name']).execute(),
  };
}

/** The keys and references of the records, with all problems. */
function resolve(given: Imported, known: KnownKeys) {
  const problems = new Map<string, string>();
  const keys = {} as Record<Kind, Keys>;
  for (const kind of kinds) {
    keys[kind] = new Keys(kind, known[kind], problems);
    keys[kind].add(given[kind].map((each) => ({ ...each, name: 'name' in each ? each.name : each.company })));
  }
  const named = referencesOf(given, keys);
  return { keys, named, problems };
}

/** Tells the records whose id and slug are free. */
export async function findFree({ kysely }: Session<Tables>) {
  const taken = {} as Record<Kind, Set<string>>;
  for (const kind of kinds) {
    const rows = await kysely.selectFrom(tables[kind]).select(['id', 'slug']).execute();
    taken[kind] = new Set(rows.flatMap(({ id, slug }) => [id, slug]));
  }
  return (
    kind: Kind,
    { id, slug }: { readonly id?: string | undefined; readonly slug?: string | undefined },
  ) => !taken[kind].has(id ?? '') && !taken[kind].has(slug ?? '');
}

/** One error for all that is wrong with a file, by the names of its records. */
export function refusal(problems: ReadonlyMap<string, string>): AppError {
  const lines = [...problems].slice(0, problemsMax).map(([name, problem]) => `${name} ${problem}`);
  const more = problems.size > problemsMax ? [`and ${problems.size - problemsMax} more`] : [];
  return new AppError('validation_failed', [...lines, ...more].join('; '), {
    fields: Object.fromEntries([...problems].slice(0, problemsMax)),
  });
}

const words = {
  team: { one: 'person', many: 'people' },
  investments: { one: 'company', many: 'companies' },
  sectors: { one: 'sector', many: 'sectors' },
} as const;

type AllKeys = Readonly<Record<Kind, Keys>>;

interface Identified {
  readonly id?: string | undefined;
  readonly slug?: string | undefined;
  readonly name: string;
}

/** The ids of the records of one kind, those that are stored and those of the file. */
class Keys {
  /** Keys in the order of the file. */
  readonly #own: { readonly id: string; readonly slug: string }[] = [];
  readonly #kind: Kind;
  readonly #problems: Map<string, string>;
  readonly #idBySlug: Map<string, string>;
  readonly #slugById: Map<string, string>;
  readonly #nameById: Map<string, string>;
  #idsByName: Map<string, string[]> | undefined;

  constructor(kind: Kind, known: KnownKeys[Kind], problems: Map<string, string>) {
    this.#kind = kind;
    this.#problems = problems;
    this.#idBySlug = new Map(known.map(({ id = '', slug = '' }) => [slug, id]));
    this.#slugById = new Map(known.map(({ id = '', slug = '' }) => [id, slug]));
    this.#nameById = new Map(known.map(({ id = '', name }) => [id, name]));
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
      this.#own.push({ id, slug });
      this.#idBySlug.set(slug, id);
      this.#slugById.set(id, slug);
      this.#nameById.set(id, record.name);
    }
  }

  nameOf(id: string): string {
    return this.#nameById.get(id) ?? id;
  }

  /** The id and the slug of a record of the file. */
  at(index: number): { readonly id: string; readonly slug: string } {
    return this.#own[index] as { id: string; slug: string };
  }

  /** The id of the record that a text names by id, slug or name. */
  find(reference: string, place: string): string | undefined {
    const key = reference.trim().normalize('NFC').toLowerCase();
    const known = this.#slugById.has(key) ? key : this.#idBySlug.get(key);
    if (known !== undefined) return known;
    const [id, namesake] = this.#named(reference);
    const { one, many } = words[this.#kind];
    const name = `“${reference.trim().slice(0, 60)}”`;
    if (namesake !== undefined)
      this.#problems.set(place, `must be a slug, as there are several ${many} called ${name}`);
    else if (id === undefined)
      this.#problems.set(place, `must be the name or the slug of a ${one}; there is no ${name}`);
    return namesake === undefined ? id : undefined;
  }

  #named(reference: string): readonly string[] {
    this.#idsByName ??= Map.groupBy(this.#nameById.keys(), (id) => foldedName(this.nameOf(id)));
    return this.#idsByName.get(foldedName(reference)) ?? [];
  }

  /** The ids of several, each once. */
  findAll(references: readonly string[], place: string): string[] {
    const ids = references.flatMap((each, index) => this.find(each, `${place}[${index}]`) ?? []);
    return [...new Set(ids)];
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

type References = ReturnType<typeof referencesOf>;

/** The ids of the referenced records, in the order of the file; the lead of an investment is the first of its team. */
function referencesOf(given: Imported, keys: AllKeys) {
  return {
    team: given.team.map(({ sectors }, index) => keys.sectors.findAll(sectors, `team[${index}].sectors`)),
    sectors: given.sectors.map(({ lead_ids }, index) =>
      keys.team.findAll(lead_ids, `sectors[${index}].lead_ids`),
    ),
    investments: given.investments.map(({ sector, lead_id, team_ids }, index) => {
      const place = `investments[${index}]`;
      return {
        sector_id: keys.sectors.find(sector, `${place}.sector`) ?? '',
        lead_id: lead_id === null ? null : (keys.team.find(lead_id, `${place}.lead_id`) ?? ''),
        members: keys.team.findAll([lead_id ?? [], team_ids].flat(), `${place}.team_ids`),
      };
    }),
  };
}

interface Saving {
  readonly keys: AllKeys;
  readonly named: References;
  readonly nowMs: number;
  readonly onSaved?: OnSaved | undefined;
}

async function saveRows(
  { kysely }: WriteSession<Tables>,
  given: Imported,
  { keys, named, nowMs, onSaved }: Saving,
): Promise<void> {
  const head = (kind: Kind, index: number, updatedAt: string | undefined) => ({
    ...keys[kind].at(index),
    updated_at_ms: updatedAt === undefined ? nowMs : Date.parse(updatedAt),
  });
  for (const [index, { lead_ids: _, updated_at, ...sector }] of given.sectors.entries()) {
    const words = wordColumns.sectors(sector);
    await upsert(kysely, 'sector', { ...sector, ...head('sectors', index, updated_at), ...words });
    await onSaved?.();
  }
  for (const [index, { sectors: _, updated_at, links, ...member }] of given.team.entries()) {
    const columns = { links: JSON.stringify(links), ...wordColumns.team(member) };
    await upsert(kysely, 'member', { ...member, ...head('team', index, updated_at), ...columns });
    await onSaved?.();
  }
  for (const [index, { sector: _, team_ids: __, updated_at, ...deal }] of given.investments.entries()) {
    const { sector_id = '', lead_id = null } = named.investments[index] ?? {};
    const columns = { ...wordColumns.investments(deal), sector_id, lead_id };
    await upsert(kysely, 'investment', { ...deal, ...head('investments', index, updated_at), ...columns });
    await onSaved?.();
  }
}

async function saveRelations(store: WriteSession<Tables>, named: References, keys: AllKeys): Promise<void> {
  for (const [index, members] of named.team.entries())
    await replaceMembers(store, 'member_sector', { id: keys.team.at(index).id, members });
  for (const [index, members] of named.sectors.entries())
    await replaceMembers(store, 'sector_lead', { id: keys.sectors.at(index).id, members });
  for (const [index, { members }] of named.investments.entries())
    await replaceMembers(store, 'investment_member', { id: keys.investments.at(index).id, members });
}

async function upsert<T extends 'member' | 'sector' | 'investment'>(
  kysely: Kysely<Tables>,
  table: T,
  row: Tables[T],
): Promise<void> {
  const insert = kysely.insertInto(table as 'sector').values(row as Tables['sector']);
  await insert.onConflict((conflict) => conflict.column('id').doUpdateSet(row as Tables['sector'])).execute();
}

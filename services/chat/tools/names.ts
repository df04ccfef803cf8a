import type { Clock } from '#kit/base/clock.ts';
import type { DomainApi } from './domain-api.ts';
import type { Vocabulary } from './question/conditions.ts';
import { foldedWords } from './question/words.ts';
import { type ApiRecord, type DataKind, dataKinds } from './trace.ts';

const freshMs = 60_000;
const loadMs = 3_000;
const pageRows = 100;
const pagesMax = 20;

/** A record that a question names. */
export interface Named {
  readonly kind: DataKind;
  readonly name: string;
  readonly slug: string;
}

interface Known {
  readonly names: readonly Named[];
  readonly vocabulary: Vocabulary;
}

export interface KnownNames {
  /** Returns the names in a text, the longest first. */
  in(text: string): Named[];
  readonly vocabulary: Vocabulary;
  readonly isCached: boolean;
}

/** The names of all records of the domain API, cached for a minute. */
export class Names {
  readonly #api: DomainApi;
  readonly #clock: Clock;
  #known: (Known & { readonly atMs: number }) | undefined;
  #loading: Promise<Known> | undefined;

  constructor(api: DomainApi, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
  }

  /** Undefined if the API does not respond. */
  async known(): Promise<KnownNames | undefined> {
    const fresh = this.#fresh;
    const known = fresh ?? (await this.#loaded().catch(() => undefined));
    return (
      known && {
        in: (text) => matching(known.names, text),
        vocabulary: known.vocabulary,
        isCached: fresh !== undefined,
      }
    );
  }

  get #fresh(): Known | undefined {
    return this.#known && this.#clock.now() - this.#known.atMs < freshMs ? this.#known : undefined;
  }

  #loaded(): Promise<Known> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #load(): Promise<Known> {
    const signal = AbortSignal.timeout(loadMs);
    const values = { locations: new Set<string>(), roles: new Set<string>() };
    const lists = await Promise.all(dataKinds.map((kind) => this.#namesOf(kind, values, signal)));
    const names = lists.flat().filter(({ name }) => name !== '');
    const vocabulary = { locations: [...values.locations], roles: [...values.roles] };
    this.#known = { names, vocabulary, atMs: this.#clock.now() };
    return this.#known;
  }

  /** Page by page. The first pages count even if a later one is too slow. */
  async #namesOf(
    kind: DataKind,
    { locations, roles }: Record<keyof Vocabulary, Set<string>>,
    signal: AbortSignal,
  ): Promise<Named[]> {
    const names = new Map<string, Named>();
    for (let page = 0; page < pagesMax; page++) {
      const query = { limit: String(pageRows), ...(page > 0 && { offset: String(page * pageRows) }) };
      try {
        const { rows } = await this.#api.get(`/api/${kind}`, query, signal);
        const known = names.size;
        for (const row of rows) {
          names.set(String(row.id ?? row.slug), named(kind, row));
          for (const [set, value] of [
            [locations, row.location],
            [roles, row.role],
          ] as const)
            if (typeof value === 'string' && foldedWords(value) !== '  ') set.add(foldedWords(value).trim());
        }
        // An API without pages gives the same rows again.
        if (rows.length < pageRows || names.size === known) break;
      } catch (error) {
        if (page === 0) throw error;
        break;
      }
    }
    return [...names.values()];
  }
}

function named(kind: DataKind, row: ApiRecord): Named {
  const name = kind === 'investments' ? row.company : row.name;
  return { kind, name: String(name ?? ''), slug: String(row.slug ?? row.id ?? '') };
}

/** Words that alone do not name a sector or a company. */
const plainWords = new Set(
  'and of the for in ports food tools data technology energy lab labs grid team health clara second first third yellow'.split(
    ' ',
  ),
);

function matching(names: readonly Named[], text: string): Named[] {
  const folded = foldedWords(text);
  const found = names.filter((each) => folded.includes(foldedWords(each.name)));
  const parts = names.filter((each) => !found.includes(each) && namesByPart(each, folded));
  const all = [...found, ...parts.filter((part) => !isInside(part, found))];
  // The sector "Health" is not meant where "Health Partners" is.
  return all
    .filter((one) => !all.some((other) => other !== one && isLonger(other, one)))
    .sort((one, other) => other.name.length - one.name.length);
}

/** A person by the first or the last name, a sector by its slug or a telling word, a company by its first word. */
function namesByPart({ kind, name, slug }: Named, folded: string): boolean {
  const words = foldedWords(name).trim().split(' ');
  const has = (word: string | undefined) =>
    word !== undefined && word.length > 2 && !plainWords.has(word) && folded.includes(` ${word} `);
  if (kind === 'team') return has(words[0]) || has(words.at(-1));
  if (kind === 'sectors') return folded.includes(` ${slug.replaceAll('-', ' ')} `) || words.some(has);
  return words.length > 1 && (words[0]?.length ?? 0) > 4 && has(words[0]);
}

/** Returns true if all that a part could name is named in full already: "Anna" beside "Anna Berg". */
function isInside(part: Named, found: readonly Named[]): boolean {
  const words = foldedWords(part.name).trim().split(' ');
  return found.some(
    ({ kind, name }) => kind === part.kind && words.some((word) => foldedWords(name).includes(` ${word} `)),
  );
}

function isLonger(other: Named, one: Named): boolean {
  const [long, short] = [foldedWords(other.name), foldedWords(one.name)];
  return long !== short && long.includes(short);
}

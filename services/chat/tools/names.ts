import type { Clock } from '@octavo/core';
import type { DomainApi } from './domain-api.ts';
import { type KnownName, type Named, namedIn } from './naming.ts';
import { type ApiRecord, type DataKind, dataKinds } from './trace.ts';

const freshMs = 60_000;
const loadMs = 3_000;
const pageRows = 100;
const pagesMax = 20;

interface Known {
  readonly names: readonly KnownName[];
}

export interface KnownNames {
  /** Returns the names in a text, the longest first. */
  in(text: string): Named[];
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
        in: (text) => namedIn(text, known.names),
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
    const lists = await Promise.all(dataKinds.map((kind) => this.#namesOf(kind, signal)));
    const names = lists.flat().filter(({ name }) => name !== '');
    this.#known = { names, atMs: this.#clock.now() };
    return this.#known;
  }

  /** Page by page. The first pages count even if a later one is too slow. */
  async #namesOf(kind: DataKind, signal: AbortSignal): Promise<KnownName[]> {
    const names = new Map<string, KnownName>();
    for (let page = 0; page < pagesMax; page++) {
      const query = { limit: String(pageRows), ...(page > 0 && { offset: String(page * pageRows) }) };
      try {
        const { rows } = await this.#api.get(`/api/${kind}`, query, signal);
        const known = names.size;
        for (const row of rows) names.set(String(row.id ?? row.slug), named(kind, row));
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

function named(kind: DataKind, row: ApiRecord): KnownName {
  const name = kind === 'investments' ? row.company : row.name;
  return { kind, name: String(name ?? ''), slug: String(row.slug ?? row.id ?? '') };
}

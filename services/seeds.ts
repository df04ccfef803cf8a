import type { Environment } from '#kit/base/config.ts';
import { configOf } from '#kit/service.ts';
import { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import { contextFor, System } from './system.ts';
import { posts, topology } from './topology.ts';

export interface SeedOptions {
  /** Number of records, if the amount is free. */
  readonly count: number;
  /** Also where the service holds data of its owner's. */
  readonly isForced: boolean;
  readonly onProgress: (done: number) => void;
}

type Seed = (environment: Environment, options: SeedOptions) => Promise<string | undefined>;

/**
 * Demo data, by the service whose pages show it. Each returns how much it loaded, such as `14 polls`; undefined if it loaded nothing
 * because the service holds data of its owner's.
 */
export const seeds: Readonly<Record<string, Seed>> = {
  polls: async (environment, { isForced }) => {
    const { openPolls } = await import('./polls/service.ts');
    const { holdsOwnPolls, seedPolls } = await import('./polls/seed.ts');
    const context = contextFor('polls', { environment });
    await using database = await openPolls(environment, context);
    if (!isForced && (await holdsOwnPolls(database))) return undefined;
    return amount(await seedPolls(database, context.clock.now()), 'polls');
  },
  quotes: async (environment, { isForced }) => {
    const { openQuotes } = await import('./quotes/service.ts');
    const { holdsOwnQuotes, seedQuotes } = await import('./quotes/seed/seed.ts');
    const context = contextFor('quotes', { environment });
    const { database, dayKeys } = await openQuotes(environment, context);
    await using _ = database;
    if (!isForced && (await holdsOwnQuotes(database))) return undefined;
    return amount(await seedQuotes(database, { nowMs: context.clock.now(), dayKeys }), 'quotes');
  },
  gateway: async (environment, { count, isForced, onProgress }) => {
    const { createCorpus, SeedClock, seedPosts, seedSpanMs } = await import('./posts/corpus.ts');
    const clock = new SeedClock();
    const startMs = Date.now() - seedSpanMs;
    // Queued work is left to the service, whose clock shows the time of day.
    await using system = new System(topology, {
      environment: { ...environment, POSTS_WORKER: 'off' },
      clock,
    });
    const client = await system.client(PostServiceDefinition, posts, {
      address: 'POSTSVC_ADDR',
      context: contextFor('posts', { environment }),
    });
    const corpus = createCorpus({ seed: 1, size: count, users: 40, startMs });
    const progress = environment.POSTSVC_ADDR ? { onProgress } : { clock, onProgress };
    return amount(await seedPosts(client, corpus, { ...progress, isForced }), 'posts');
  },
  passwordless: async (environment) => {
    const { passwordless, loadDemo } = await import('./passwordless/service.ts');
    const context = contextFor('passwordless', { environment });
    return amount(await loadDemo(configOf(passwordless, environment, context.log), context), 'users');
  },
  budgets: async (environment) => {
    const { loadDemo } = await import('./budgets/service.ts');
    const loaded = await loadDemo(environment, contextFor('budgets', { environment }));
    const words = loaded?.signIns.map(
      ({ username, password }) => ` (sign in as ${username} with ${password})`,
    );
    return loaded && `${amount(loaded.expenses, 'expenses')}${words?.join('')}`;
  },
  chat: async (environment, { isForced }) => {
    const { loadHandbook } = await import('./chat/service.ts');
    return amount(
      await loadHandbook(environment, contextFor('chat', { environment }), isForced),
      'documents',
    );
  },
  portfolio: async (environment, { isForced }) => {
    const { loadDemo } = await import('./portfolio/service.ts');
    return amount(await loadDemo(environment, contextFor('portfolio', { environment }), isForced), 'records');
  },
};

function amount<T extends number | undefined>(count: T, noun: string) {
  return count === undefined ? undefined : `${count.toLocaleString('en')} ${noun}`;
}

export interface ImportOptions {
  /** List that a file holds, if it does not say so itself. */
  readonly kind: string | undefined;
  /** True to remove the existing records first. */
  readonly replaces: boolean;
}

/** Reads a file of the owner's own data, all or nothing, by service. Returns how many records there were, by kind. */
export const imports: Readonly<
  Record<
    string,
    (environment: Environment, file: string, options: ImportOptions) => Promise<Record<string, number>>
  >
> = {
  portfolio: async (environment, file, options) => {
    const { importFile } = await import('./portfolio/service.ts');
    return importFile({ environment, context: contextFor('portfolio', { environment }), file, ...options });
  },
};

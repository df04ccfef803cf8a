import type { Environment } from '@octavo/core';
import { AppError, newSecret } from '@octavo/core';
import { configOf } from '@octavo/data/service';
import { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import { contextFor, System } from './system.ts';
import { authz, posts, topology } from './topology.ts';

export interface SeedOptions {
  /** Number of records, if the amount is free. */
  readonly count: number;
  /** True to load it also where the service holds its owner's data. */
  readonly isForced: boolean;
  readonly onProgress: (done: number) => void;
}

/** Demo data that was loaded. */
export interface Loaded {
  /** Number of records that were missing. */
  readonly count: number;
  /** The number with its noun, such as `14 polls`. */
  readonly text: string;
}

type Seed = (environment: Environment, options: SeedOptions) => Promise<Loaded | undefined>;

/**
 * Demo data, by the service whose pages show it. Each returns how much it loaded; undefined if it loaded nothing because the service
 * holds data of its owner's.
 */
export const seeds: Readonly<Record<string, Seed>> = {
  polls: async (environment, { isForced }) => {
    const { openPolls } = await import('@octavo/polls');
    const { holdsOwnPolls, seedPolls } = await import('@octavo/polls/seed');
    const context = contextFor('polls', { environment });
    await using database = await openPolls(environment, context);
    if (!isForced && (await holdsOwnPolls(database))) return undefined;
    return amount(await seedPolls(database, context.clock.now()), 'polls');
  },
  quotes: async (environment, { isForced }) => {
    const { openQuotes } = await import('@octavo/quotes');
    const { holdsOwnQuotes, seedQuotes } = await import('@octavo/quotes/seed/seed');
    const context = contextFor('quotes', { environment });
    const { database, dayKeys } = await openQuotes(environment, context);
    await using _ = database;
    if (!isForced && (await holdsOwnQuotes(database))) return undefined;
    return amount(await seedQuotes(database, { nowMs: context.clock.now(), dayKeys }), 'quotes');
  },
  gateway: async (environment, { count, isForced, onProgress }) => {
    const { createCorpus, SeedClock, seedPosts, seedSpanMs } = await import('@octavo/posts/corpus');
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
    const corpus = createCorpus({ seed: 1, size: count, users: demoRoles + authors.length, startMs });
    const progress = environment.POSTSVC_ADDR ? { onProgress } : { clock, onProgress };
    const loaded = await seedPosts(client, corpus, { ...progress, isForced });
    if (loaded) await nameAuthors(system, environment);
    return amount(loaded, 'posts');
  },
  passwordless: async (environment) => {
    const { passwordless, loadDemo } = await import('@octavo/passwordless');
    const context = contextFor('passwordless', { environment });
    return amount(await loadDemo(configOf(passwordless, environment, context.log), context), 'users');
  },
  budgets: async (environment) => {
    const { loadDemo } = await import('@octavo/budgets');
    const loaded = await loadDemo(environment, contextFor('budgets', { environment }));
    if (!loaded) return undefined;
    const words = loaded.signIns.map(
      ({ username, password }) => ` (sign in as ${username} with ${password})`,
    );
    return amount(loaded.expenses, `expenses${words.join('')}`);
  },
  chat: async (environment, { isForced }) => {
    const { loadHandbook } = await import('@octavo/chat');
    return amount(
      await loadHandbook(environment, contextFor('chat', { environment }), isForced),
      'documents',
    );
  },
  portfolio: async (environment, { isForced }) => {
    const { loadDemo } = await import('@octavo/portfolio');
    return amount(await loadDemo(environment, contextFor('portfolio', { environment }), isForced), 'records');
  },
};

/** Accounts that authz creates for its roles when it starts; their numbers are the first. */
const demoRoles = 3;
/** Names of the other authors of demo posts, in the order of their numbers. */
const authors = ['ada', 'bruno', 'chen', 'dalia', 'emil', 'farah', 'goran', 'hana', 'ines'];

/** Creates accounts with unknown passwords, so that pages show names. In production there are none. */
async function nameAuthors(system: System, environment: Environment): Promise<void> {
  if (environment.NODE_ENV === 'production') return;
  const client = await system.client(AuthServiceDefinition, authz, {
    address: 'AUTHSVC_ADDR',
    context: contextFor('authz', { environment }),
  });
  for (const username of authors) {
    try {
      await client.createAccount({ username, role: 'viewer', password: newSecret(18) });
    } catch (error) {
      // The name is taken.
      if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
    }
  }
}

function amount(count: number | undefined, noun: string): Loaded | undefined {
  return count === undefined ? undefined : { count, text: `${count.toLocaleString('en')} ${noun}` };
}

export interface ImportOptions {
  /** List that a file holds, if it does not say so itself. */
  readonly kind: string | undefined;
  /** Decimal sign of amounts, where a file allows both. */
  readonly decimal: string | undefined;
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
    const { importFile } = await import('@octavo/portfolio');
    return importFile({ environment, context: contextFor('portfolio', { environment }), file, ...options });
  },
};

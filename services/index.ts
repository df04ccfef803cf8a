import { type Environment, readConfig, type Settings } from '#kit/config.ts';
import { configOf, type Running, type Service } from '#kit/service.ts';
import { AuthServiceDefinition } from '#proto/authz/v1/authz.ts';
import { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import {
  contextFor,
  type Entry,
  type Loaded,
  type Provider,
  System,
  type SystemOptions,
  suiteSettings,
  unknownService,
} from './system.ts';

const posts: Provider<PostServiceDefinition> = {
  name: 'posts',
  alonePort: 50_051,
  load: async () => alone((await import('./posts/service.ts')).posts),
};

const authz: Provider<AuthServiceDefinition> = {
  name: 'authz',
  alonePort: 50_052,
  load: async () => alone((await import('./authz/service.ts')).authz),
};

/** Every service of the suite. This is the only place that names all of them. Code is loaded on demand. */
export const topology: readonly Entry[] = [
  {
    name: 'portal',
    upPort: 3000,
    alonePort: 3000,
    load: async () => {
      const { portal } = await import('./portal/service.ts');
      return {
        service: portal,
        start: (system, context) =>
          portal.start(readConfig(portal.settings, system.environment), context, {
            sites: () => system.addresses(),
            demoSignIns: () => system.demoSignIns(),
            seedable: Object.keys(seeds),
          }),
      };
    },
  },
  {
    name: 'gateway',
    upPort: 3001,
    signIn: 'with a demo account below',
    alonePort: 3000,
    calls: { POSTSVC_ADDR: posts, AUTHSVC_ADDR: authz },
    load: async () => {
      const { gateway } = await import('./gateway/service.ts');
      return {
        service: gateway,
        start: async (system, context) =>
          gateway.start(readConfig(gateway.settings, system.environment), context, {
            posts: await system.client(PostServiceDefinition, posts, {
              address: 'POSTSVC_ADDR',
              context,
            }),
            authz: await system.client(AuthServiceDefinition, authz, {
              address: 'AUTHSVC_ADDR',
              context,
            }),
            rpcAddresses: {
              postsvc: system.environment.POSTSVC_ADDR || 'in-process',
              authsvc: system.environment.AUTHSVC_ADDR || 'in-process',
            },
          }),
      };
    },
  },
  posts,
  {
    name: 'posts-worker',
    folder: 'posts',
    alonePort: 50_061,
    load: async () => alone((await import('./posts/service.ts')).postsWorker),
  },
  authz,
  {
    name: 'tokens',
    upPort: 3002,
    signIn: 'anybody can register there with an e-mail address',
    alonePort: 3000,
    load: async () => alone((await import('./tokens/service.ts')).tokens),
  },
  {
    name: 'passwordless',
    upPort: 3003,
    signIn: 'with any e-mail address; the mails are at /mails',
    alonePort: 3000,
    load: async () => alone((await import('./passwordless/service.ts')).passwordless),
  },
  {
    name: 'polls',
    upPort: 3004,
    signIn: 'none to vote; the terminal shows a link for the first administrator',
    alonePort: 3000,
    load: async () => alone((await import('./polls/service.ts')).polls),
  },
  {
    name: 'quotes',
    upPort: 3005,
    signIn: 'none to read; anybody can register there',
    alonePort: 3000,
    load: async () => alone((await import('./quotes/service.ts')).quotes),
  },
  {
    name: 'passwordless-worker',
    folder: 'passwordless',
    // Any free port, because several may run on one machine.
    alonePort: 0,
    load: async () => alone((await import('./passwordless/service.ts')).passwordlessWorker),
  },
  {
    name: 'budgets',
    upPort: 3006,
    signIn: 'anybody can register, through the API',
    alonePort: 3000,
    load: async () => alone((await import('./budgets/service.ts')).budgets),
  },
  {
    name: 'chat',
    upPort: 3007,
    alonePort: 3000,
    // It starts after the portfolio, which it calls: services start from the end of this list.
    load: async () => {
      const { chat } = await import('./chat/service.ts');
      return {
        service: chat,
        start: async (system, context) => {
          const portfolioUrl = await system.urlOf('portfolio');
          const environment = { DOMAIN_API_URL: portfolioUrl, ...withoutEmpty(system.environment) };
          return chat.start(configOf(chat, environment, context.log), context, {});
        },
      };
    },
  },
  {
    name: 'portfolio',
    upPort: 3008,
    signIn: 'with a token from /auth/token',
    alonePort: 3000,
    load: async () => alone((await import('./portfolio/service.ts')).portfolio),
  },
];

/** Without the variables that count as not set. */
function withoutEmpty(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
}

/** A service that calls no other. */
function alone<S extends Settings, R extends Running>(service: Service<S, object, R>): Loaded<R> {
  return {
    service,
    start: (system, context) =>
      service.start(configOf(service, system.environment, context.log), context, {}),
  };
}

export interface SeedOptions {
  /** How many, where the amount is free. */
  readonly count: number;
  readonly onProgress: (done: number) => void;
}

/** Demo data, by the service whose pages show it. Each returns how much it loaded, such as `14 polls`. */
export const seeds: Readonly<
  Record<string, (environment: Environment, options: SeedOptions) => Promise<string>>
> = {
  polls: async (environment) => {
    const { openPolls } = await import('./polls/service.ts');
    const { seedPolls } = await import('./polls/seed.ts');
    const context = contextFor('polls', { environment });
    await using database = await openPolls(environment, context);
    return `${await seedPolls(database, context.clock.now())} polls`;
  },
  quotes: async (environment) => {
    const { openQuotes } = await import('./quotes/service.ts');
    const { seedQuotes } = await import('./quotes/seed/seed.ts');
    const context = contextFor('quotes', { environment });
    const { database, dayKeys } = await openQuotes(environment, context);
    await using _ = database;
    return `${await seedQuotes(database, { nowMs: context.clock.now(), dayKeys })} quotes`;
  },
  gateway: async (environment, { count, onProgress }) => {
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
    await seedPosts(client, corpus, environment.POSTSVC_ADDR ? { onProgress } : { clock, onProgress });
    return `${count.toLocaleString('en')} posts`;
  },
  passwordless: async (environment) => {
    const { passwordless, loadDemo } = await import('./passwordless/service.ts');
    const context = contextFor('passwordless', { environment });
    return `${await loadDemo(configOf(passwordless, environment, context.log), context)} users`;
  },
  budgets: async (environment) => {
    const { loadDemo } = await import('./budgets/service.ts');
    const { expenses, signIns } = await loadDemo(environment, contextFor('budgets', { environment }));
    const words = signIns.map(({ username, password }) => ` (sign in as ${username} with ${password})`);
    return `${expenses.toLocaleString('en')} expenses${words.join('')}`;
  },
  chat: async (environment) => {
    const { loadHandbook } = await import('./chat/service.ts');
    return `${await loadHandbook(environment, contextFor('chat', { environment }))} documents`;
  },
  portfolio: async (environment) => {
    const { loadDemo } = await import('./portfolio/service.ts');
    return `${await loadDemo(environment, contextFor('portfolio', { environment }))} records`;
  },
};

export interface ImportOptions {
  /** Which of the service's lists a file holds that does not say so. */
  readonly kind: string | undefined;
  /** Whether what there was before is removed. */
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

/** Starts the named services and those that they call. */
export async function startSystem(names: readonly string[], options: SystemOptions): Promise<System> {
  const system = new System(topology, options);
  try {
    for (const name of inOrder(names)) await system.start(name);
    return system;
  } catch (error) {
    await system[Symbol.asyncDispose]();
    throw error;
  }
}

/** The named services, or all if none is named, in the order of the topology. Throws for an unknown name. */
export async function loadServices(names: readonly string[] = []): Promise<Service<Settings, never>[]> {
  const known = topology.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw unknownService(unknown, known);
  const entries = names.length === 0 ? topology : topology.filter(({ name }) => names.includes(name));
  return Promise.all(entries.map(async (entry) => (await entry.load()).service));
}

/** The services that `octavo up` starts: those with pages or a public API. */
export function upNames(): string[] {
  return topology.filter((entry) => entry.upPort !== undefined).map((entry) => entry.name);
}

/**
 * Ports by service name. A single service uses PORT or its default; several use their `octavo up` offsets from PORT.
 */
export function portsFor(names: readonly string[], port: number | undefined): Record<string, number> {
  const entries = topology.filter((entry) => names.includes(entry.name));
  return Object.fromEntries(entries.map((entry) => [entry.name, portOf(entry, entries.length, port)]));
}

/** Reads the settings that all services share. */
export function readSuite(environment: Environment) {
  return readConfig(suiteSettings, environment);
}

function portOf(entry: Entry, count: number, port: number | undefined): number {
  if (port === 0) return 0;
  if (count === 1) return port ?? entry.alonePort;
  if (entry.upPort === undefined) return entry.alonePort;
  return entry.upPort - 3_000 + (port ?? 3_000);
}

/** Services that others call come first, so that they listen before they are called. */
function inOrder(names: readonly string[]): string[] {
  const wanted = new Set(names);
  const known = topology.map((entry) => entry.name);
  return [
    ...names.filter((name) => !known.includes(name)),
    ...known.filter((name) => wanted.has(name)).reverse(),
  ];
}

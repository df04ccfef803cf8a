import { type Environment, readConfig } from '#kit/config.ts';
import { configOf } from '#kit/service.ts';
import { AuthServiceDefinition } from '#proto/authz/v1/authz.ts';
import { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import { authz } from './authz/service.ts';
import { gateway } from './gateway/service.ts';
import { passwordless, passwordlessWorker } from './passwordless/service.ts';
import { portal } from './portal/service.ts';
import { createCorpus } from './posts/corpus.ts';
import { seedPosts } from './posts/seed.ts';
import { posts, postsWorker } from './posts/service.ts';
import { type Entry, System, type SystemOptions, suiteSettings, surroundingsFor } from './system.ts';
import { tokens } from './tokens/service.ts';

/** Every service of the suite: the only place that names them all. */
export const topology: readonly Entry[] = [
  {
    service: portal,
    upPort: 3000,
    alonePort: 3000,
    start: (system, surroundings) =>
      portal.start(readConfig(portal.settings, system.environment), surroundings, {
        sites: () => system.addresses(),
        demoSignIns: () => system.demoSignIns(),
      }),
  },
  {
    service: gateway,
    upPort: 3001,
    alonePort: 3000,
    start: async (system, surroundings) =>
      gateway.start(readConfig(gateway.settings, system.environment), surroundings, {
        posts: await system.client(PostServiceDefinition, posts, { address: 'POSTSVC_ADDR', surroundings }),
        authz: await system.client(AuthServiceDefinition, authz, { address: 'AUTHSVC_ADDR', surroundings }),
        rpcAddresses: {
          postsvc: system.environment.POSTSVC_ADDR || 'in-process',
          authsvc: system.environment.AUTHSVC_ADDR || 'in-process',
        },
      }),
  },
  {
    service: posts,
    alonePort: 50_051,
    start: (system, surroundings) =>
      posts.start(readConfig(posts.settings, system.environment), surroundings, {}),
  },
  {
    service: postsWorker,
    folder: 'posts',
    alonePort: 50_061,
    start: (system, surroundings) =>
      postsWorker.start(readConfig(postsWorker.settings, system.environment), surroundings, {}),
  },
  {
    service: authz,
    alonePort: 50_052,
    start: (system, surroundings) =>
      authz.start(readConfig(authz.settings, system.environment), surroundings, {}),
  },
  {
    service: tokens,
    upPort: 3002,
    alonePort: 3000,
    start: (system, surroundings) =>
      tokens.start(readConfig(tokens.settings, system.environment), surroundings, {}),
  },
  {
    service: passwordless,
    upPort: 3003,
    alonePort: 3000,
    start: (system, surroundings) =>
      passwordless.start(configOf(passwordless, system.environment, surroundings.log), surroundings, {}),
  },
  {
    service: passwordlessWorker,
    folder: 'passwordless',
    // Any free one, since several may run on a machine.
    alonePort: 0,
    start: (system, surroundings) =>
      passwordlessWorker.start(
        configOf(passwordlessWorker, system.environment, surroundings.log),
        surroundings,
        {},
      ),
  },
];

export interface SeedOptions {
  readonly count: number;
  readonly onProgress: (done: number) => void;
}

/** Demonstration data, by the service whose pages show it. */
export const seeds: Readonly<
  Record<string, (environment: Environment, options: SeedOptions) => Promise<void>>
> = {
  gateway: async (environment, { count, onProgress }) => {
    await using system = new System(topology, { environment });
    const surroundings = surroundingsFor('posts', { environment });
    const client = await system.client(PostServiceDefinition, posts, {
      address: 'POSTSVC_ADDR',
      surroundings,
    });
    await seedPosts(client, createCorpus({ seed: 1, size: count, users: 40 }), onProgress);
  },
};

/** Starts the named services and what they need. All settings are checked before anything opens. */
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

/** The names of `octavo up`: everything that people open. */
export function upNames(): string[] {
  return topology.filter((entry) => entry.upPort !== undefined).map((entry) => entry.service.name);
}

/**
 * Ports by service name. One name takes PORT or its own default; several take their `octavo up` offsets from PORT.
 */
export function portsFor(names: readonly string[], port: number | undefined): Record<string, number> {
  const entries = topology.filter((entry) => names.includes(entry.service.name));
  return Object.fromEntries(
    entries.map((entry) => [entry.service.name, portOf(entry, entries.length, port)]),
  );
}

/** The settings that all services share, read from an environment. */
export function readSuite(environment: Environment) {
  return readConfig(suiteSettings, environment);
}

function portOf(entry: Entry, count: number, port: number | undefined): number {
  if (port === 0) return 0;
  if (count === 1) return port ?? entry.alonePort;
  if (entry.upPort === undefined) return entry.alonePort;
  return entry.upPort - 3_000 + (port ?? 3_000);
}

/** Those that others need come first, so that they listen before they are called. */
function inOrder(names: readonly string[]): string[] {
  const wanted = new Set(names);
  const known = topology.map((entry) => entry.service.name);
  return [
    ...names.filter((name) => !known.includes(name)),
    ...known.filter((name) => wanted.has(name)).reverse(),
  ];
}

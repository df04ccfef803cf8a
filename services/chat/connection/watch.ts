import type { Log } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import type { Connected } from './connected.ts';
import { checkListed, ServerProblem } from './probe.ts';

/** The servers that the chat uses. */
export interface WatchedServers {
  readonly models: Connected<object>;
  readonly vectorServers: Connected<object>;
  readonly rerankers: Connected<object>;
}

/** Interval at which servers are asked for their models. */
const everyMs = 60_000;

/** Asks the servers for their models in the background, so that an administrator learns that one is away before a question does. */
export class ServerWatch {
  readonly #servers: WatchedServers;
  /** Words for administrators; undefined for a server that is there with its models. */
  readonly #problems = new WeakMap<object, string | undefined>();

  constructor(servers: WatchedServers) {
    this.#servers = servers;
  }

  /** Goes on until it is disposed of. */
  start(log: Log): AsyncDisposable {
    const failure = 'the servers of models were not looked at';
    return runEvery(everyMs, () => this.check(), { log, failure, startsNow: true });
  }

  /** True if the last time the server listed its models, or that it has no list. */
  isThere(server: object): boolean {
    return this.#problems.has(server) && this.problemOf(server) === undefined;
  }

  /** The reason why a server could not be used the last time; undefined if it could, or was not asked yet. */
  problemOf(server: object): string | undefined {
    return this.#problems.get(server);
  }

  /** Asks all servers once. */
  async check(): Promise<void> {
    const { models, vectorServers, rerankers } = this.#servers;
    await Promise.all([models, vectorServers, rerankers].map((each) => this.#check(each)));
  }

  async #check(connected: Connected<object>): Promise<void> {
    const used = await connected.used();
    if (!used) return;
    const problem = await checkListed(used.connection).then(() => undefined, problemOf);
    this.#problems.set(used.server, problem);
  }
}

/** A server without a list of models may have its model all the same. */
function problemOf(error: unknown): string | undefined {
  if (!(error instanceof ServerProblem)) throw error;
  return error.isWithoutList ? undefined : error.message;
}

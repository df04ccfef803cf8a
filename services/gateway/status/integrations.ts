import { AppError } from '@octavo/core';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import type { preValidationAsyncHookHandler } from 'fastify';
import { Gauge, type Registry } from 'prom-client';

export const integrationNames = [
  'objectStore',
  'messageBroker',
  'eventStream',
  'inferenceServer',
  'cache',
  'tracing',
] as const;
export type Integration = (typeof integrationNames)[number];

/** State of an integration. */
export type IntegrationState = 'off' | 'up' | 'down';

type Check = (signal: AbortSignal) => Promise<void>;

export interface IntegrationsOptions {
  readonly posts: Client<PostServiceDefinition>;
  /** The checks of the gateway's own integrations; absent if they are off. */
  readonly objectStore: Check | undefined;
  readonly tracing: Check | undefined;
}

/** The integrations that belong to the posts service, which says by `CheckIntegrations` which of them are on. */
const ofPosts: readonly Integration[] = ['messageBroker', 'eventStream', 'inferenceServer'];

const checkTimeoutMs = 400;
const freshMs = 1_000;

/** The error of a feature whose integration is off. */
export function integrationDisabled(integration: Integration): AppError {
  return new AppError('unavailable', `This needs the integration ${integration}, which is not enabled.`, {
    reason: 'INTEGRATION_DISABLED',
    fields: { integration },
    retryAfterSeconds: Number.POSITIVE_INFINITY,
  });
}

/** The optional parts of the gateway and of the posts service: which are on, and whether they answer. */
export class Integrations {
  readonly #posts: Client<PostServiceDefinition>;
  readonly #own: Readonly<Partial<Record<Integration, Check>>>;
  /** The problem of each integration that the posts service listed last; empty if it answers. */
  #listed: ReadonlyMap<string, string> | undefined;
  #askedMs = Number.NEGATIVE_INFINITY;
  #listing: Promise<ReadonlyMap<string, string>> | undefined;

  constructor({ posts, objectStore, tracing }: IntegrationsOptions) {
    this.#posts = posts;
    this.#own = { ...(objectStore && { objectStore }), ...(tracing && { tracing }) };
  }

  /** Returns true if an integration is on. Until the posts service has responded, its integrations count as on. */
  async isEnabled(name: Integration): Promise<boolean> {
    if (!ofPosts.includes(name)) return this.#own[name] !== undefined;
    return (await this.#lastListed())?.has(name) ?? true;
  }

  async enabled(): Promise<Record<Integration, boolean>> {
    const entries = integrationNames.map(async (name) => [name, await this.isEnabled(name)]);
    return Object.fromEntries(await Promise.all(entries));
  }

  /** A hook for routes that need an integration: it refuses requests while the integration is off. */
  require(name: Integration): preValidationAsyncHookHandler {
    return async () => {
      if (!(await this.isEnabled(name))) throw integrationDisabled(name);
    };
  }

  /** The checks for readiness. Each throws if its integration is on and does not respond. */
  checks(): Partial<Record<Integration, Check>> {
    const checks = ofPosts.map((name): [Integration, Check] => [name, (signal) => this.#check(name, signal)]);
    return { ...this.#own, ...Object.fromEntries(checks) };
  }

  /** Returns the state of each integration. It takes at most 400 ms. */
  async states(): Promise<Record<Integration, IntegrationState>> {
    const checks = this.checks();
    const entries = integrationNames.map(async (name) => {
      const check = checks[name];
      const isUp = check !== undefined && (await succeeds(check));
      return [name, (await this.isEnabled(name)) ? (isUp ? 'up' : 'down') : 'off'];
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  async #check(name: Integration, signal: AbortSignal): Promise<void> {
    try {
      const problem = (await this.#list(signal)).get(name);
      if (problem) throw new AppError('unavailable', problem);
    } catch (error) {
      if (this.#listed?.has(name) !== false) throw error;
    }
  }

  /** Returns the last list, which is renewed in the background once it is older than a second. */
  async #lastListed(): Promise<ReadonlyMap<string, string> | undefined> {
    const isFresh = performance.now() - this.#askedMs < freshMs;
    const renewed = isFresh ? undefined : this.#list().catch(() => undefined);
    return this.#listed ?? renewed;
  }

  #list(signal = AbortSignal.timeout(checkTimeoutMs)): Promise<ReadonlyMap<string, string>> {
    this.#listing ??= this.#posts
      .checkIntegrations({}, { signal })
      .then(({ integrations }) => {
        this.#listed = new Map(integrations.map(({ name, problem }) => [name, problem]));
        return this.#listed;
      })
      .finally(() => {
        this.#askedMs = performance.now();
        this.#listing = undefined;
      });
    return this.#listing;
  }
}

/** Shows for each integration that is on whether it answers, checked at most once a second. */
export function addIntegrationMetrics(registry: Registry, integrations: Integrations): void {
  let checkedMs = Number.NEGATIVE_INFINITY;
  let checking: Promise<Record<Integration, IntegrationState>> | undefined;
  new Gauge({
    name: 'integration_up',
    help: '1 if an enabled integration responds, else 0.',
    labelNames: ['integration'],
    registers: [registry],
    async collect() {
      if (!checking && performance.now() - checkedMs < freshMs) return;
      // Two scrapes at once wait for the same checks.
      checking ??= integrations.states().finally(() => {
        checkedMs = performance.now();
        checking = undefined;
      });
      const states = await checking;
      this.reset();
      for (const [integration, state] of Object.entries(states)) {
        if (state !== 'off') this.set({ integration }, state === 'up' ? 1 : 0);
      }
    },
  });
}

/** Returns true if a check passes within 400 ms, also one that ignores its signal. */
export async function succeeds(check: Check): Promise<boolean> {
  const signal = AbortSignal.timeout(checkTimeoutMs);
  const late = new Promise<boolean>((resolve) => {
    signal.addEventListener('abort', () => resolve(false));
  });
  const passed = check(signal).then(
    () => true,
    () => false,
  );
  return Promise.race([passed, late]);
}

import { mkdirSync } from 'node:fs';
import { Registry } from 'prom-client';
import { type Clock, systemClock } from '#kit/clock.ts';
import type { Settings } from '#kit/config.ts';
import { choice, type Environment, integer, readConfig, text } from '#kit/config.ts';
import { AppError } from '#kit/errors.ts';
import { shareFolder } from '#kit/folder-lock.ts';
import { createLog, type Log } from '#kit/log.ts';
import type { Client, Handlers, ServiceDefinition } from '#kit/rpc/index.ts';
import { localClient, requireTokenOffLoopback, rpcSettings } from '#kit/rpc/index.ts';
import type { DemoSignIn, Running, Service, ServiceContext } from '#kit/service.ts';
import { openTracer, tracingSettings } from '#kit/tracing/open.ts';

/** Settings that every service shares. */
export const suiteSettings = {
  OCTAVO_DATA: text({ default: './data', help: 'Folder for databases, stored files and generated secrets' }),
  HOST: text({ default: '127.0.0.1', help: 'Address to listen on' }),
  PORT: integer({ min: 0, max: 65_535, help: 'Port to listen on; 0 picks a free one' }),
  NODE_ENV: choice(['development', 'test', 'production'], {
    default: 'development',
    help: 'production refuses missing secrets and has no demo accounts',
  }),
  LOG_LEVEL: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    default: 'info',
    help: 'Least severe level to log',
  }),
  ...tracingSettings,
  ...rpcSettings,
} satisfies Settings;

/** One service of the suite. */
export interface Entry<R extends Running = Running> {
  readonly name: string;
  /** Its folder in `services/`, if it differs from the name. */
  readonly folder?: string;
  /** Its port in `octavo up`; absent if only other services call it. */
  readonly upPort?: number;
  /** How a newcomer gets in, for the portal; absent if its page says all. */
  readonly signIn?: string;
  /** Its port when served alone. */
  readonly alonePort: number;
  /** The services that it calls in its own process, by the setting that holds their address when they run elsewhere. */
  readonly calls?: Readonly<Record<string, Entry>>;
  /** Loads its code, so that a process holds only the code it runs. */
  load(): Promise<Loaded<R>>;
}

/** A service that other services call. */
export type Provider<D extends ServiceDefinition> = Entry<Running & { readonly handlers: Handlers<D> }>;

export interface Loaded<R extends Running = Running> {
  readonly service: Service<Settings, never>;
  /** Starts it in a system, with clients of the services that it calls. */
  start(system: System, context: ServiceContext): Promise<R>;
}

/** The address of a running service. */
export interface Address {
  readonly name: string;
  readonly summary: string;
  readonly url: string;
  /** How a newcomer gets in. */
  readonly signIn?: string | undefined;
}

/** A demo account, and the service whose pages and API it is for. */
export interface KnownSignIn extends DemoSignIn {
  readonly service: string;
}

export interface SystemOptions {
  readonly environment: Environment;
  /** Port by service name. A service without one is only called in process. */
  readonly ports?: Readonly<Record<string, number>>;
  readonly clock?: Clock;
  /** By default, logs go to standard error at LOG_LEVEL. */
  readonly log?: Log;
}

interface Started {
  readonly service: Service<Settings, never>;
  readonly running: Running;
}

/** The services running in this process, and the clients that connect them. */
export class System implements AsyncDisposable {
  readonly environment: Environment;
  readonly #options: SystemOptions;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #running = new Map<string, Promise<Started>>();
  readonly #stack = new AsyncDisposableStack();
  #folderLock: Disposable | undefined;

  constructor(entries: readonly Entry[], options: SystemOptions) {
    this.environment = options.environment;
    this.#options = options;
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
  }

  /** Starts a service, or returns it if it is running. A service called in process uses the `metrics` of its caller. */
  async start(name: string, metrics = new Registry()): Promise<Running> {
    const known = this.#running.get(name);
    if (known) return (await known).running;
    const entry = this.#entries.get(name);
    if (!entry) throw unknownService(name, [...this.#entries.keys()]);
    this.#folderLock ??= this.#stack.use(
      shareFolder(readConfig(suiteSettings, this.environment).OCTAVO_DATA),
    );
    const started = this.#start(entry, metrics);
    this.#running.set(name, started);
    return (await started).running;
  }

  /** A client of another service: over the network if the setting `address` is set, else in this process. */
  async client<D extends ServiceDefinition>(
    definition: D,
    provider: Provider<D>,
    { address, context }: { address: string; context: ServiceContext },
  ): Promise<Client<D>> {
    const { log, metrics } = context;
    const remote = this.environment[address];
    if (remote) {
      const { RPC_TOKEN: token } = readConfig(suiteSettings, this.environment);
      const { environment } = context;
      requireTokenOffLoopback({ tokenSetting: 'RPC_TOKEN', address: remote, token, environment });
      const { remoteClient } = await import('#kit/rpc/remote.ts');
      return this.#stack.use(remoteClient(definition, { address: remote, token, log, metrics }));
    }
    const running = (await this.start(provider.name, metrics)) as Running & { handlers: Handlers<D> };
    return localClient(definition, running.handlers, { log, metrics });
  }

  /** The running services that can be opened, in the order of the topology. */
  async addresses(): Promise<Address[]> {
    const started = await this.#started();
    return started.flatMap(({ service, running }) =>
      running.url === undefined
        ? []
        : [
            {
              name: service.name,
              summary: service.summary,
              url: running.url,
              signIn: this.#entries.get(service.name)?.signIn,
            },
          ],
    );
  }

  /** The address of a service that was started before; undefined if it was not, or does not listen. */
  async urlOf(name: string): Promise<string | undefined> {
    return (await this.#running.get(name))?.running.url;
  }

  /** Accounts for trying things out; none in production. */
  async demoSignIns(): Promise<KnownSignIn[]> {
    const started = await this.#started();
    return started.flatMap(({ service, running }) =>
      (running.demoSignIns ?? []).map((signIn) => ({ ...signIn, service: this.#openedFor(service.name) })),
    );
  }

  /** The service that people open, if another one keeps its accounts. */
  #openedFor(name: string): string {
    const callers = [...this.#entries.values()].filter(({ calls = {} }) =>
      Object.values(calls).some((called) => called.name === name),
    );
    return callers.find(({ upPort }) => upPort !== undefined)?.name ?? name;
  }

  /** One-time addresses at which the first administrators are created, by service. */
  async setupLinks(): Promise<{ name: string; url: string }[]> {
    const started = await this.#started();
    return started.flatMap(({ service, running }) =>
      running.setupLink === undefined ? [] : [{ name: service.name, url: running.setupLink }],
    );
  }

  /** Stops in the reverse order of starting, so callers stop before the services that they call. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }

  /** Its spans are sent on when all services have stopped. */
  async #context(name: string, metrics: Registry): Promise<ServiceContext> {
    const context = contextFor(name, this.#options, metrics);
    const config = readConfig(suiteSettings, this.environment);
    const tracer = this.#stack.use(await openTracer(config, { service: name, log: context.log, metrics }));
    return { ...context, tracer };
  }

  async #start(entry: Entry, metrics: Registry): Promise<Started> {
    const { service, start } = await entry.load();
    const running = this.#stack.use(await start(this, await this.#context(entry.name, metrics)));
    return { service, running };
  }

  #started(): Promise<Started[]> {
    const running = [...this.#entries.keys()].map((name) => this.#running.get(name));
    return Promise.all(running.filter((each) => each !== undefined));
  }
}

export function unknownService(name: string, known: readonly string[]): AppError {
  return new AppError('invalid_input', `unknown service ${name}; known: ${known.join(', ')}`);
}

/** What a service gets besides its settings. Creates the data folder. */
export function contextFor(name: string, options: SystemOptions, metrics = new Registry()): ServiceContext {
  const config = readConfig(suiteSettings, options.environment);
  mkdirSync(config.OCTAVO_DATA, { recursive: true, mode: 0o700 });
  return {
    log: options.log?.child({ service: name }) ?? createLog({ service: name, level: config.LOG_LEVEL }),
    clock: options.clock ?? systemClock,
    dataFolder: config.OCTAVO_DATA,
    environment: config.NODE_ENV,
    host: config.HOST,
    port: options.ports?.[name],
    metrics,
  };
}

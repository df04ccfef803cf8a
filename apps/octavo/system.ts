import { mkdirSync } from 'node:fs';
import {
  AppError,
  type Clock,
  type Environment,
  type Log,
  parseSites,
  readConfig,
  type Settings,
  type Suite,
  type SuiteSite,
  systemClock,
} from '@octavo/core';
import { createLog, standardError } from '@octavo/core/log';
import { openTracer } from '@octavo/core/tracing';
import { shareFolder } from '@octavo/data';
import type { DemoSignIn, Running, Service, ServiceContext } from '@octavo/data/service';
import type { ActivityMetric, ServersMetric, WaitingMetric } from '@octavo/portal/activity';
import { RecentErrors } from '@octavo/portal/recent-errors';
import type { SampleRequest } from '@octavo/portal/requests';
import type { Client, Handlers, ServiceDefinition } from '@octavo/rpc';
import { localClient, requireTokenOffLoopback } from '@octavo/rpc';
import { createSuite, type MarkAccent, type MarkIcon } from '@octavo/web/html';
import type { DestinationStream } from 'pino';
import { Registry } from 'prom-client';
import { OneSignIn, type SignInProvider } from './one-sign-in.ts';
import { suiteSettings } from './suite-settings.ts';

/** One service of the suite. */
export interface Entry<R extends Running = Running> {
  readonly name: string;
  /** Folder in `services/`, if it differs from the name. */
  readonly folder?: string;
  /** Face to visitors; absent if only other services call it. */
  readonly site?: SiteEntry;
  /** Port in `octavo up`; absent if only other services call it. */
  readonly upPort?: number;
  /** Instructions for signing in, for the portal; absent if its page says all. */
  readonly signIn?: string;
  /** Instructions where one service signs people in for all. */
  readonly oneSignIn?: string;
  /** Place of mails that are not sent: a folder inside the data folder, or that of the setting. Absent if it sends none. */
  readonly mails?: { readonly folder: string; readonly setting: string };
  /** Port when served alone. */
  readonly alonePort: number;
  /** Port of gRPC, beside that of HTTP, and the setting for another one. */
  readonly grpc?: { readonly setting: string; readonly port: number };
  /** The services that it calls in its own process, by the setting that holds their address when they run elsewhere. */
  readonly calls?: Readonly<Record<string, Entry>>;
  /** Facts about it as replicas, for the files of `deploy/`. */
  readonly deploy: Deployment;
  /** `octavo seed` has demo data for it. */
  readonly hasDemo?: true;
  /** Loads its code, so that a process holds only the code it runs. */
  load(): Promise<Loaded<R>>;
}

/** A service as visitors see it: its pages, `/docs`, the portal and the menu of services use this name. */
export type SiteEntry = Site & (Application | { readonly isApplication?: never; readonly samples?: never });

interface Site {
  readonly title: string;
  /** Purpose of a visit, in a few words. */
  readonly summary: string;
  readonly mark: { readonly icon: MarkIcon; readonly accent: MarkAccent };
  /** True if it has an admin at `/admin/`. */
  readonly hasAdmin?: true;
  /** True for the OpenID provider of the suite. */
  readonly isProvider?: true;
  /** Metrics that tell visitors of the portal how much is going on. */
  readonly activity?: readonly ActivityMetric[];
  /** Metrics that tell administrators what waits for them. */
  readonly waiting?: readonly WaitingMetric[];
  /** The metric that tells administrators which servers of others it uses. */
  readonly servers?: ServersMetric;
}

interface Application {
  /** True if it signs people in with an OpenID provider. */
  readonly isApplication: true;
  /** Requests that visitors of the portal can try out, with a token of the provider: no other service takes one. */
  readonly samples?: readonly SampleRequest[];
}

/** Facts about a service that runs as replicas. */
export interface Deployment {
  /** First label of its public host name, empty for the domain itself; absent if only other services call it. */
  readonly host?: string;
  /** Settings with a secret that each deployment makes for itself. */
  readonly secrets?: readonly string[];
  /** Settings with a public address, and the path that follows it there. */
  readonly addresses?: Readonly<Record<string, string>>;
  /** Other settings, by name. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Path of the liveness probe, where `/health` asks for more than the process. */
  readonly livePath?: string;
  /** Clients come back to the same replica. */
  readonly isSticky?: boolean;
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
  /** Instructions for signing in. */
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
  /** The passwordless service signs people in for all others, if OCTAVO_SSO allows it. */
  readonly hasOneSignIn?: boolean;
  /** Log; by default, standard error at LOG_LEVEL. */
  readonly log?: Log;
  /** Writes logs for people in place of standard error. Requests are then logged at `debug`. */
  readonly terminal?: DestinationStream | undefined;
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
  /** Errors in the log of this process. */
  readonly recentErrors: RecentErrors;
  #folderLock: Disposable | undefined;
  #oneSignIn: OneSignIn | undefined;
  /** Waiting records of each service, as the portal of this process last read them. */
  #waitingAt: Suite['waitingAt'] | undefined;
  #sites: readonly SuiteSite[] | undefined;
  /** Sites that listen in this process, in the order of the topology. */
  #ownSites: readonly SuiteSite[] = [];

  constructor(entries: readonly Entry[], options: SystemOptions) {
    this.environment = withFormerNames(options.environment);
    this.#options = { ...options, environment: this.environment };
    this.recentErrors = new RecentErrors(options.terminal ?? standardError());
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
      const { remoteClient } = await import('@octavo/rpc/remote');
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

  /** The services that pages link to: those of SUITE_SITES, else those that listen in this process. */
  sites(): readonly SuiteSite[] {
    this.#sites ??= this.#givenSites();
    return this.#sites ?? this.#ownSites;
  }

  #givenSites(): readonly SuiteSite[] | undefined {
    const { SUITE_SITES } = readConfig(suiteSettings, this.environment);
    if (SUITE_SITES === undefined) return undefined;
    return Array.from(parseSites(SUITE_SITES), ([name, url]) => ({ ...this.#siteOf(name), url }));
  }

  #siteOf(name: string): Suite['own'] {
    const { site } = this.#entries.get(name) ?? {};
    return site
      ? { name, ...site, hasOneSignIn: this.#signsIn(site) }
      : { name, title: name, summary: '', mark: { icon: '', accent: '' } };
  }

  /** True for an application of the provider. Where services run apart, all are taken for one of that of this process. */
  #signsIn({ isApplication }: SiteEntry): boolean {
    return Boolean(isApplication && (this.#oneSignIn || this.environment.OIDC_ISSUER));
  }

  /** Settings of a service, with those that make it, or the service that people open for it, an application of the one sign-in. */
  environmentOf(name: string): Environment {
    const opened = this.#openedFor(name);
    const { site } = this.#entries.get(opened) ?? {};
    if (!site || !this.#oneSignIn) return this.environment;
    return { ...this.environment, ...this.#oneSignIn.settingsFor({ name: opened, ...site }) };
  }

  /** True if one service is to sign people in for the others. */
  get wantsOneSignIn(): boolean {
    const { OCTAVO_SSO } = readConfig(suiteSettings, this.environment);
    return Boolean(this.#options.hasOneSignIn && OCTAVO_SSO && !this.environment.OIDC_ISSUER);
  }

  /** The one sign-in, once its service has started. */
  get signIn(): SignInProvider | undefined {
    return this.#oneSignIn?.provider;
  }

  /** The address of a service that was started before; undefined if it was not, or does not listen. */
  async urlOf(name: string): Promise<string | undefined> {
    return (await this.#running.get(name))?.running.url;
  }

  /** Accounts for trying things out; none in production. */
  async demoSignIns(): Promise<KnownSignIn[]> {
    const started = await this.#started();
    const found = await Promise.all(
      started.map(async ({ service, running }) => {
        const signIns = (await running.demoSignIns?.()) ?? [];
        return signIns.map((signIn) => ({ ...signIn, service: this.#openedFor(service.name) }));
      }),
    );
    return found.flat();
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
    const links: { name: string; url: string }[] = [];
    for (const { service, running } of await this.#started()) {
      const url = await running.setupLink?.();
      if (url !== undefined) links.push({ name: service.name, url });
    }
    return links;
  }

  /** Stops in the reverse order of starting, so callers stop before the services that they call. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }

  /** Context whose spans are sent on when all services have stopped. */
  async #context(name: string, metrics: Registry): Promise<ServiceContext> {
    const context = contextFor(name, this.#options, { metrics, destination: this.recentErrors });
    const config = readConfig(suiteSettings, this.environment);
    const tracer = this.#stack.use(await openTracer(config, { service: name, log: context.log, metrics }));
    const own = this.#siteOf(name);
    const waitingAt = (service: string) => this.#waitingAt?.(service) ?? [];
    return { ...context, tracer, suite: createSuite({ own, sites: () => this.sites(), waitingAt }) };
  }

  async #start(entry: Entry, metrics: Registry): Promise<Started> {
    const { service, start } = await entry.load();
    const running = this.#stack.use(await start(this, await this.#context(entry.name, metrics)));
    const { waitingAt } = running as Partial<Pick<Suite, 'waitingAt'>>;
    this.#waitingAt ??= waitingAt;
    if (running.url !== undefined && entry.site) {
      this.#add({ ...this.#siteOf(entry.name), url: running.url });
      await this.#connect(entry.name, service, running);
    }
    return { service, running };
  }

  /** Makes the service the provider of the one sign-in, or one of its applications. */
  async #connect(name: string, { settings }: Started['service'], running: Running): Promise<void> {
    const { suiteSignIn } = running as { readonly suiteSignIn?: SignInProvider };
    if (suiteSignIn && this.wantsOneSignIn) this.#oneSignIn = new OneSignIn(suiteSignIn);
    if (!this.#oneSignIn || !('OIDC_CLIENT_ID' in settings)) return;
    const own = this.#ownSites.find((site) => site.name === name) as SuiteSite;
    const others = this.sites().filter((site) => site.name === name);
    const urls = [...others, own].flatMap(({ url }) => [url, url.replace('://localhost', '://127.0.0.1')]);
    await this.#oneSignIn.register(own, [...new Set(urls)]);
  }

  #add(site: SuiteSite): void {
    const names = [...this.#entries.keys()];
    this.#ownSites = onOneHost([...this.#ownSites, site]).sort(
      (one, other) => names.indexOf(one.name) - names.indexOf(other.name),
    );
  }

  #started(): Promise<Started[]> {
    const running = [...this.#entries.keys()].map((name) => this.#running.get(name));
    return Promise.all(running.filter((each) => each !== undefined));
  }
}

export function unknownService(name: string, known: readonly string[]): AppError {
  return new AppError('invalid_input', `unknown service ${name}; known: ${known.join(', ')}`);
}

/** Settings under the names that they had before count where the name of today is not set. */
export function withFormerNames({ PORTAL_SITES, ...environment }: Environment): Environment {
  return { ...environment, SUITE_SITES: environment.SUITE_SITES || PORTAL_SITES };
}

/** Returns the context of a service besides its settings. Creates the data folder unless `makesFolder` is false. */
export function contextFor(
  name: string,
  options: SystemOptions,
  {
    metrics = new Registry(),
    destination,
    makesFolder = true,
  }: { metrics?: Registry; destination?: DestinationStream; makesFolder?: boolean } = {},
): ServiceContext {
  const config = readConfig(suiteSettings, options.environment);
  if (makesFolder) mkdirSync(config.OCTAVO_DATA, { recursive: true, mode: 0o700 });
  return {
    log:
      options.log?.child({ service: name }) ??
      createLog({ service: name, level: config.LOG_LEVEL, destination }),
    ...(options.terminal && { requestLevel: 'debug' }),
    clock: options.clock ?? systemClock,
    dataFolder: config.OCTAVO_DATA,
    environment: config.NODE_ENV,
    host: config.HOST,
    port: options.ports?.[name],
    metrics,
  };
}

/** Addresses on this machine under one name, that which passkeys need, so that all services share the cookie of the theme. */
export function onOneHost<T extends { readonly url: string }>(addresses: readonly T[]): T[] {
  const onLocalhost = (url: string) => url.replace(/^http:\/\/127\.0\.0\.1(?=[:/]|$)/, 'http://localhost');
  return addresses.map((address) => ({ ...address, url: onLocalhost(address.url) }));
}

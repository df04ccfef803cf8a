import type { Registry } from 'prom-client';
import type { Clock } from './clock.ts';
import { type Config, type Environment, readConfig, type Settings } from './config.ts';
import type { Database, DatabaseOptions } from './db/index.ts';
import type { Log } from './log.ts';
import type { Tracer } from './tracing/tracer.ts';

/** What every service is given besides its own settings. */
export interface ServiceContext {
  readonly log: Log;
  readonly clock: Clock;
  /** Where this service keeps its files; it exists. */
  readonly dataFolder: string;
  readonly environment: 'development' | 'test' | 'production';
  /** Where figures are kept; one for all services that share a process. */
  readonly metrics: Registry;
  /** Where spans of traces go; absent where nobody collects them. */
  readonly tracer?: Tracer | undefined;
  /** Address to listen on. */
  readonly host: string;
  /** Port to listen on; 0 picks a free one. Without one the service does not listen and is used in process. */
  readonly port: number | undefined;
}

/** What {@link defineService} makes a service of. */
export interface ServiceOptions<S extends Settings, Deps, R> {
  readonly name: string;
  /** One sentence for `--help` and for lists of what runs. */
  readonly summary: string;
  readonly settings: S;
  /** The folder of its migrations, `new URL('./migrations/', import.meta.url)`; absent where it has no database. */
  readonly migrations?: URL;
  /** Where its database is, if not at `DATABASE_URL` or else in `<name>.sqlite` in the data folder. */
  databaseLocation?(config: Config<S>): Pick<DatabaseOptions, 'url'> & Partial<DatabaseOptions>;
  /** Where its settings come from, if that is more than the environment. */
  sources?(environment: Environment, log?: Log): Environment;
  /** It keeps its state in memory, so that it runs as one process only. */
  readonly isSingle?: true;
  /** Puts the service together and resolves when it listens. What it adds to `stack` is disposed of when it stops. */
  build(parts: ServiceParts<S, Deps>): Promise<R>;
}

/** What `build` has to work with. */
export interface ServiceParts<S extends Settings, Deps = object> {
  readonly config: Config<S>;
  readonly context: ServiceContext;
  /** Clients of the services that it needs. */
  readonly deps: Deps;
  /** Disposed of in reverse order when the service stops, or when `build` throws. */
  readonly stack: AsyncDisposableStack;
  /** Opens the service's own database, brings its schema up to date, and closes it when the service stops. */
  openDatabase<DB>(): Promise<Database<DB>>;
}

/** What a service gives once it runs, besides being disposable. */
export type Started = Omit<Running, typeof Symbol.asyncDispose>;

/** A service as a value. Nothing happens until it is started. */
export function defineService<S extends Settings, Deps = object, R extends Started = Started>(
  options: ServiceOptions<S, Deps, R>,
): Service<S, Deps, R & Running> {
  const { build, migrations, databaseLocation, ...service } = options;
  const database =
    migrations &&
    ((config: Config<S>, { dataFolder, log, metrics }: ServiceContext): DatabaseOptions => {
      const url = (config as { DATABASE_URL?: string }).DATABASE_URL;
      return {
        ...{ name: service.name, url, folder: dataFolder, migrations, log, metrics },
        ...databaseLocation?.(config),
      };
    });
  return {
    ...service,
    ...(database && { database }),
    async start(config, context, deps) {
      await using stack = new AsyncDisposableStack();
      const openDatabase = async <DB>() =>
        stack.use(await openServiceDatabase<DB, S>({ name: service.name, database }, config, context));
      const started = await build({ config, context, deps, stack, openDatabase });
      const owned = stack.move();
      return { ...started, [Symbol.asyncDispose]: () => owned.disposeAsync() };
    },
  };
}

/** A service is a value: the same one is started by the command line, by `octavo up` and by tests. */
export interface Service<S extends Settings = Settings, Deps = object, R extends Running = Running> {
  readonly name: string;
  /** One sentence for `--help` and for lists of what runs. */
  readonly summary: string;
  readonly settings: S;
  /**
   * What its settings are read from, where that is more than the environment: a configuration file, or fall-backs. Throws
   * as `readConfig` does; warnings go to the log.
   */
  sources?(environment: Environment, log?: Log): Environment;
  /** It keeps its state in memory, so that it runs as one process only. */
  readonly isSingle?: true;
  /** Its database, so that it can be migrated, backed up and restored without serving; absent where it has none. */
  database?(config: Config<S>, context: ServiceContext): DatabaseOptions;
  /** Resolves when the service listens. `deps` holds the clients of the services that it needs. */
  start(config: Config<S>, context: ServiceContext, deps: Deps): Promise<R>;
}

/** Opens the database of a service without starting it, for the command line. The caller closes it. */
export async function openServiceDatabase<DB, S extends Settings = Settings>(
  { name, database }: Pick<Service<S, never>, 'name' | 'database'>,
  config: Config<S>,
  context: ServiceContext,
): Promise<Database<DB>> {
  if (!database) throw new Error(`${name} has no database`);
  const { openDatabase } = await import('./db/index.ts');
  return openDatabase<DB>(database(config, context));
}

/** The settings of a service, from all that it reads them from. Throws as `readConfig` does. */
export function configOf<S extends Settings>(
  service: Pick<Service<S, never>, 'settings' | 'sources'>,
  environment: Environment,
  log?: Log,
): Config<S> {
  return readConfig(service.settings, service.sources?.(environment, log) ?? environment);
}

/** A started service. Disposing it stops it gracefully: no new work, in-flight work ends. */
export interface Running extends AsyncDisposable {
  /** Where it listens, such as `http://127.0.0.1:3001`; absent for one that only works on a queue. */
  readonly url?: string;
  /** Accounts for trying it out; absent in production. */
  readonly demoSignIns?: readonly DemoSignIn[];
}

/** An account with a known password, made at first start outside production. */
export interface DemoSignIn {
  readonly username: string;
  readonly password: string;
  readonly role: string;
}

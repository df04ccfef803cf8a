import type { Clock, Fields, Log, Suite } from '@octavo/core';
import {
  type Config,
  type Environment,
  inspectConfig,
  problemsOf,
  readConfig,
  refuse,
  type Settings,
} from '@octavo/core';
import type { Tracer } from '@octavo/core/tracing';
import type { Registry } from 'prom-client';
import type { Database, DatabaseOptions, Derived, databaseSettings, Migrations } from './db/index.ts';

/** Parts that every service gets besides its own settings. */
export interface ServiceContext {
  readonly log: Log;
  readonly clock: Clock;
  /** An existing folder for the files of this service. */
  readonly dataFolder: string;
  readonly environment: 'development' | 'test' | 'production';
  /** The registry of metrics; one for all services that share a process. */
  readonly metrics: Registry;
  /** Level of the log for requests, in place of the service's own. */
  readonly requestLevel?: 'debug' | 'info' | undefined;
  /** Records spans of traces; absent if nothing collects them. */
  readonly tracer?: Tracer | undefined;
  /** The suite that the service belongs to; absent if it stands alone. */
  readonly suite?: Suite | undefined;
  /** Address to listen on. */
  readonly host: string;
  /** Port to listen on; 0 picks a free one. If undefined, the service does not listen and is called in process. */
  readonly port: number | undefined;
}

/** The parts of a service, for {@link defineService}. */
export interface ServiceOptions<S extends Settings, Deps, R> {
  readonly name: string;
  /** One sentence for `--help` and for lists of what runs. */
  readonly summary: string;
  readonly settings: S;
  /**
   * The folder of its migrations, `new URL('./migrations/', import.meta.url)`, or a list with those of packages:
   * `[accountMigrations, new URL('./migrations/', import.meta.url)]`. Absent if it has no database.
   */
  readonly migrations?: Migrations;
  /** Parts of its database that are made from others. See {@link DatabaseOptions.derived}. */
  readonly derived?: Derived;
  /** Returns the location of its database. By default at `DATABASE_URL`, or in `<name>.sqlite` in the data folder. */
  databaseLocation?(config: Config<S>): Pick<DatabaseOptions, 'url'> & Partial<DatabaseOptions>;
  /** Returns the environment with other sources of settings. See {@link Service.sources}. */
  sources?(environment: Environment, log?: Log): Environment;
  /** Rules between settings, and about the files that they name. See {@link Service.problems}. */
  readonly checks?: readonly ConfigCheck<S>[];
  /** Files of a backup besides the database. See {@link Service.backupFiles}. */
  readonly backupFiles?: readonly string[];
  /** Files of secrets by setting. See {@link Service.keptSecrets}. */
  readonly keptSecrets?: Readonly<Record<string, string>>;
  /** True for a single process, with its state in memory. */
  readonly isSingle?: true;
  /** Wires the service up. Resolves when it listens. What it adds to `stack` is disposed of when it stops. */
  build(parts: ServiceParts<S, Deps>): Promise<R>;
}

/** Throws like `refuse` if the settings do not fit each other, or what they name cannot be used. It opens nothing and waits for nothing. */
export type ConfigCheck<S extends Settings> = (config: Config<S>, context: CheckContext) => unknown;

/** Place in which a service is about to start. */
export type CheckContext = Pick<ServiceContext, 'environment' | 'host' | 'port' | 'dataFolder'>;

/** Arguments of `build`. */
export interface ServiceParts<S extends Settings, Deps = object> {
  readonly config: Config<S>;
  readonly context: ServiceContext;
  /** Clients of the services that this one calls. */
  readonly deps: Deps;
  /** Disposed of in reverse order when the service stops, or when `build` throws. */
  readonly stack: AsyncDisposableStack;
  /** Opens the service's own database and migrates it. It is closed when the service stops. */
  openDatabase<DB>(): Promise<Database<DB>>;
}

/** Result of `build`: a {@link Running} service without its disposal, which `stack` takes care of. */
export type Started = Omit<Running, typeof Symbol.asyncDispose>;

/** Values of `databaseSettings`, which most services have. */
type DatabasePlace = Partial<Config<typeof databaseSettings>>;

/** Makes a service. Nothing happens until it is started. */
export function defineService<S extends Settings, Deps = object, R extends Started = Started>(
  options: ServiceOptions<S, Deps, R>,
): Service<S, Deps, R & Running> {
  const { build, migrations, derived, databaseLocation, checks = [], ...service } = options;
  const problems = (config: Config<S>, context: CheckContext) =>
    problemsOf(checks.map((check) => () => check(config, context)));
  const database =
    migrations &&
    ((config: Config<S>, { dataFolder, log, metrics }: ServiceContext): DatabaseOptions => {
      const {
        DATABASE_URL: url,
        DATABASE_POOLER: pooler,
        DATABASE_DIRECT_URL: directUrl,
        DATABASE_CONNECTIONS: connections,
      } = config as DatabasePlace;
      return {
        name: service.name,
        url,
        pooler,
        directUrl,
        connections,
        folder: dataFolder,
        migrations,
        ...(derived && { derived }),
        log,
        metrics,
        ...databaseLocation?.(config),
      };
    });
  return {
    ...service,
    ...(database && { database }),
    problems,
    async start(config, context, deps) {
      refuse(problems(config, context));
      await using stack = new AsyncDisposableStack();
      const openDatabase = async <DB>() =>
        stack.use(await openServiceDatabase<DB, S>({ name: service.name, database }, config, context));
      const started = await build({ config, context, deps, stack, openDatabase });
      const owned = stack.move();
      return { ...started, [Symbol.asyncDispose]: () => owned.disposeAsync() };
    },
  };
}

/** A service as a value: `octavo serve`, `octavo up` and the tests start the same one. */
export interface Service<S extends Settings = Settings, Deps = object, R extends Running = Running> {
  readonly name: string;
  /** One sentence for `--help` and for lists of what runs. */
  readonly summary: string;
  readonly settings: S;
  /**
   * Returns the environment with other sources of settings: a configuration file, or fallbacks. Throws like `readConfig`;
   * warnings go to the log.
   */
  sources?(environment: Environment, log?: Log): Environment;
  /** Returns the problems of settings that are each valid, which `start` refuses before it opens anything. */
  problems(config: Config<S>, context: CheckContext): Fields;
  /** True for a single process, with its state in memory. */
  readonly isSingle?: true;
  /**
   * Files of a backup besides the database: files in the data folder by name (`signing-secret`), and folders with all that is
   * in them, with a slash (`objects/`). Files whose names start with a dot are left out.
   */
  readonly backupFiles?: readonly string[];
  /** The files among these that hold the value of a setting while it is not set, by the name of the setting. */
  readonly keptSecrets?: Readonly<Record<string, string>>;
  /** Database, so that it can be migrated, backed up and restored without serving; absent if there is none. */
  database?(config: Config<S>, context: ServiceContext): DatabaseOptions;
  /** Resolves when the service listens. `deps` holds clients of the services that it calls. */
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

/** The settings of a service, from all of its sources. Throws like `readConfig`. */
export function configOf<S extends Settings>(
  service: Pick<Service<S, never>, 'name' | 'settings' | 'sources'>,
  environment: Environment,
  log?: Log,
): Config<S> {
  const own = withOwnClient(service.name, environment);
  return readConfig(service.settings, service.sources?.(own, log) ?? own);
}

/** Returns the settings of {@link configOf}, with the problems that it would throw; no settings if their sources cannot be read. */
export function inspectService<S extends Settings>(
  service: Pick<Service<S, never>, 'name' | 'settings' | 'sources'>,
  environment: Environment,
): { config?: Config<S>; problems: Fields } {
  const own = withOwnClient(service.name, environment);
  let all = own;
  const problems = problemsOf([
    () => {
      all = service.sources?.(own) ?? own;
    },
  ]);
  return Object.keys(problems).length > 0 ? { problems } : inspectConfig(service.settings, all);
}

/**
 * Several services may share an environment, but each is a client of its own at an OpenID provider: `POLLS_OIDC_CLIENT_ID` is in place of
 * `OIDC_CLIENT_ID` for polls, and so on.
 */
function withOwnClient(name: string, environment: Environment): Environment {
  const service = `${name.toUpperCase().replaceAll('-', '_')}_`;
  const own = Object.entries(environment).filter(([key]) => key.startsWith(`${service}OIDC_`));
  if (own.length === 0) return environment;
  return {
    ...environment,
    ...Object.fromEntries(own.map(([key, value]) => [key.slice(service.length), value])),
  };
}

/** A started service. Disposing it stops it gracefully: it takes no new work, and work in flight ends. */
export interface Running extends AsyncDisposable {
  /** Address it listens on, such as `http://127.0.0.1:3001`; absent if it does not. */
  readonly url?: string;
  /** The demo accounts that there are now, also those that were added while it runs; absent in production. */
  demoSignIns?(): Promise<readonly DemoSignIn[]>;
  /** Makes the one-time address at which the first administrator is created, which the command line prints. Undefined if there is none. */
  setupLink?(): Promise<string | undefined>;
}

/** An account with a known password. There are none in production. */
export interface DemoSignIn {
  readonly username: string;
  readonly password: string;
  readonly role: string;
}

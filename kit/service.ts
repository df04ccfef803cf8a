import type { Registry } from 'prom-client';
import type { Clock } from './clock.ts';
import { type Config, type Environment, readConfig, type Settings } from './config.ts';
import type { DatabaseOptions } from './db/index.ts';
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

import type { ErrorCode, Fields } from '../errors.ts';
import type { ServiceContext } from '../service.ts';
import type { TrustedProxy } from './client-address.ts';

/** What a service says about its HTTP side. */
export interface HttpServerOptions {
  /** Name of the service, in logs. */
  readonly name: string;
  readonly context: ServiceContext;
  /** Heads `/openapi.json` and `/docs`. */
  readonly title: string;
  readonly description: string;
  /** Version of the interface; `1.0.0` by default. */
  readonly version?: string;
  /**
   * What readiness depends on, by name. A check throws where its dependency does not answer; it should stop when the
   * signal aborts.
   */
  readonly checks?: Readonly<Record<string, (signal: AbortSignal) => Promise<void>>>;
  /** The same for parts that it can do without: readiness names those that fail, and is ready all the same. */
  readonly optionalChecks?: Readonly<Partial<Record<string, (signal: AbortSignal) => Promise<void>>>>;
  /** Whether readiness names those that do not fail, too. */
  readonly namesOptionalChecks?: boolean;
  /** The body of an error; by default `{ error: { code, message, fields }, meta: { requestId, timestamp } }`. */
  readonly errorBody?: (error: HttpError, request: { readonly id: string }) => unknown;
  /** Statuses and codes that differ from the default table. */
  readonly errorTable?: Partial<Record<ErrorCode, ErrorRow>>;
  /** What a body that does not fit its schema is; a route can say otherwise by `config.invalidBody`. */
  readonly invalidBody?: 'validation_failed' | 'invalid_input';
  /** Origins whose pages may read responses: `*`, or a list separated by commas; none by default. */
  readonly corsOrigin?: string;
  /** Proxies that are believed about their clients, as `parseTrustedProxies` gives them; none by default. */
  readonly trustedProxy?: TrustedProxy;
  /** The level at which each response is logged; `debug` by default. */
  readonly accessLog?: 'debug' | 'info';
  readonly limits?: Partial<Limits>;
}

/** How one error code goes over HTTP. */
export interface ErrorRow {
  readonly status: number;
  readonly code: string;
}

/** An error as the caller sees it: `code` is the one on the wire, such as `VALIDATION_FAILED`. */
export interface HttpError extends ErrorRow {
  readonly message: string;
  readonly fields: Fields;
  readonly retryAfterSeconds: number | undefined;
}

/** Bounds on what clients may ask of a server. */
export interface Limits {
  /** Size of a request's body; a route can have its own by `bodyLimit`. */
  readonly bodyBytes: number;
  /** Size of the request line and all headers. */
  readonly headerBytes: number;
  /** Length of the path with its query. */
  readonly urlCharacters: number;
  /** Time until all headers are there. */
  readonly headersTimeoutMs: number;
  /** Time until the whole request is there. */
  readonly requestTimeoutMs: number;
  /** How long a connection may be idle. */
  readonly keepAliveTimeoutMs: number;
  /** How long nothing may move on a connection while a request is being answered: clients that do not read. */
  readonly stalledMs: number;
  /** Connections beyond these are closed at once. */
  readonly connections: number;
  /** Requests in flight beyond which others are refused with 503. */
  readonly inFlight: number;
  /** Delay of the event loop beyond which requests are refused with 503. */
  readonly eventLoopDelayMs: number;
  /** On stopping: how long the server goes on accepting while readiness says 503. */
  readonly drainMs: number;
  /** On stopping: how long requests in flight may take before their connections are cut. */
  readonly graceMs: number;
}

const defaultLimits: Limits = {
  bodyBytes: 256 * 1024,
  headerBytes: 16 * 1024,
  urlCharacters: 8 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 30_000,
  stalledMs: 120_000,
  connections: 10_000,
  inFlight: 1_000,
  eventLoopDelayMs: 500,
  drainMs: 0,
  graceMs: 10_000,
};

/** The limits of a server: its own, else the default ones. */
export function withDefaults(limits: Partial<Limits> = {}): Limits {
  return { ...defaultLimits, ...limits };
}

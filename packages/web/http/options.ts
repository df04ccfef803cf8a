import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { ErrorCode, Fields } from '@octavo/core';
import type { ServiceContext } from '@octavo/data/service';
import type { TrustedProxy } from './requests/client-address.ts';

/** Security schemes of OpenAPI by name. */
type SecuritySchemes = NonNullable<
  NonNullable<NonNullable<FastifyDynamicSwaggerOptions['openapi']>['components']>['securitySchemes']
>;

/** Options of a service's HTTP server. */
export interface HttpServerOptions {
  /** Name of the service, in logs. */
  readonly name: string;
  readonly context: ServiceContext;
  /** Title of `/openapi.json` and `/docs`. */
  readonly title: string;
  readonly description: string;
  /** Version of the API; by default that of the product. */
  readonly version?: string;
  /** Documents of other protocols, which `/docs` links to. */
  readonly documents?: readonly ApiDocument[];
  /**
   * Dependencies of readiness, by name. A check throws if its dependency does not respond, and should stop when the signal
   * aborts.
   */
  readonly checks?: Readonly<Record<string, (signal: AbortSignal) => Promise<void>>>;
  /** Checks of optional parts: readiness names those that fail, but stays 200. */
  readonly optionalChecks?: Readonly<Partial<Record<string, (signal: AbortSignal) => Promise<void>>>>;
  /** True if readiness also lists the optional parts that work. */
  readonly namesOptionalChecks?: boolean;
  /** The body of an error; by default `{ error: { code, message, fields }, meta: { requestId, timestamp } }`. */
  readonly errorBody?: (error: HttpError, request: ErrorRequest) => unknown;
  /** JSON Schema of that body, for `/openapi.json`; derived from the body of a 404 by default. */
  readonly errorSchema?: Readonly<Record<string, unknown>>;
  /** The `WWW-Authenticate` header of a 401; `Bearer` by default. */
  readonly challenge?: string;
  /** Security schemes of `/openapi.json` by name; `bearer` by default. */
  readonly securitySchemes?: SecuritySchemes;
  /** Statuses and codes that differ from the default table. */
  readonly errorTable?: Partial<Record<ErrorCode, ErrorRow>>;
  /** The code on the wire for a body that is not JSON; by default that of `invalid_input`. */
  readonly invalidJsonCode?: string;
  /** The service adds `/health` itself, because it says more there than that the process answers. */
  readonly hasOwnHealth?: boolean;
  /** The error code for a body that does not match its schema. A route can override it with `config.invalidBody`. */
  readonly invalidBody?: 'validation_failed' | 'invalid_input';
  /** Origins whose pages may read responses: `*`, or a comma-separated list; none by default. */
  readonly corsOrigin?: string;
  /** True if these pages may read every response in JSON, probes too, and not only those of the API. */
  readonly corsOnEveryJson?: boolean;
  /** Trusted proxies, as `parseTrustedProxies` returns them; none by default. */
  readonly trustedProxy?: TrustedProxy;
  /** The level at which each response is logged; `debug` by default. */
  readonly accessLog?: 'debug' | 'info';
  readonly limits?: Partial<Limits>;
}

/** A document beside `/openapi.json`, such as a schema of GraphQL: a page at `/docs/<name>`, and its text at `/docs/<file>`. */
export interface ApiDocument {
  readonly name: string;
  /** Label of the link and the page. */
  readonly label: string;
  readonly file: string;
  /** A sentence above it, in plain text. */
  readonly description: string;
  /** Called at each request. */
  read(): string | Promise<string>;
}

/** The HTTP status of an error code, and the code that callers see. */
export interface ErrorRow {
  readonly status: number;
  readonly code: string;
}

/** An error as the caller sees it: `code` is the one on the wire, such as `VALIDATION_FAILED`. */
export interface HttpError extends ErrorRow {
  readonly message: string;
  readonly fields: Fields;
  readonly details: unknown;
  readonly retryAfterSeconds: number | undefined;
}

/** The failed request as far as it is known; only its id if it could not be parsed. */
export interface ErrorRequest {
  readonly id: string;
  readonly method?: string;
  readonly headers?: IncomingHttpHeaders;
}

/** Limits on what clients may send and how long they may take. */
export interface Limits {
  /** Size of a request's body. A route can override it with `bodyLimit`. */
  readonly bodyBytes: number;
  /** Size of the request line and all headers. */
  readonly headerBytes: number;
  /** Length of the path with its query. */
  readonly urlCharacters: number;
  /** Time until all headers have arrived. */
  readonly headersTimeoutMs: number;
  /** Time until the whole request has arrived. */
  readonly requestTimeoutMs: number;
  /** Longest time that a connection may be idle. */
  readonly keepAliveTimeoutMs: number;
  /** Longest time that a connection may be silent during a response, for clients that do not read. */
  readonly stalledMs: number;
  /** Further connections are closed at once. */
  readonly connections: number;
  /** Further requests get 503. Sockets and responses that are being streamed do not count. */
  readonly inFlight: number;
  /** Requests get 503 while the delay of the event loop is longer. */
  readonly eventLoopDelayMs: number;
  /** Time of a stop in which the server accepts requests while readiness is 503. */
  readonly drainMs: number;
  /** Time of a stop in which requests in flight may end before their connections are cut. */
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

/** The limits of a server: its own, or else the defaults. */
export function withDefaults(limits: Partial<Limits> = {}): Limits {
  return { ...defaultLimits, ...limits };
}

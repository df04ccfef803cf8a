import type { Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { Registry } from 'prom-client';
import {
  type CallOptions,
  type Client,
  defaults,
  type MethodDefinition,
  type ServiceDefinition,
} from '../contract.ts';
import { createEncoder, createEnvelopeEncoder } from '../envelope.ts';
import { callMetrics } from '../metrics.ts';
import type { RemoteMethod } from './call.ts';
import type { Endpoint } from './endpoint.ts';
import { Endpoints } from './endpoints.ts';
import { callStream } from './stream.ts';
import { callUnary } from './unary.ts';

/** Address of a service, and options of its calls. */
export interface RemoteClientOptions {
  /** `host:port` or `http://host:port`. Several, separated by commas, and the several records of a name share the calls. */
  readonly address: string;
  /** Sent as bearer token. */
  readonly token?: string;
  readonly log: Log;
  readonly metrics?: Registry;
  /** Deadline of a unary call that names none. */
  readonly timeoutMs?: number;
  /** Longest time that either side of a stream may wait for the other. */
  readonly streamIdleTimeoutMs?: number;
  /** The largest message, either way, in bytes. */
  readonly messageBytesMax?: number;
}

/** A client of a service elsewhere. Disposing it lets unary calls in flight finish and cuts streams. */
export type RemoteClient<D extends ServiceDefinition> = Client<D> &
  AsyncDisposable & {
    /** Throws `unavailable` unless one of the servers answers `GET /health` with 200 within 5 s. */
    ping(signal?: AbortSignal): Promise<void>;
  };

/**
 * Calls a service over the network by the Connect protocol (https://connectrpc.com/docs/protocol) in protobuf.
 * Deadlines, errors and cancellation are those of `localClient`; a server that cannot be reached is `unavailable`.
 * Methods marked NO_SIDE_EFFECTS are tried again on a broken connection or `unavailable`; others only if the server did
 * nothing. Throws `invalid_input` for a malformed address.
 */
export function remoteClient<D extends ServiceDefinition>(
  definition: D,
  options: RemoteClientOptions,
): RemoteClient<D> {
  const { log, timeoutMs = defaults.timeoutMs } = options;
  const { streamIdleTimeoutMs = defaults.streamIdleTimeoutMs } = options;
  const { messageBytesMax = defaults.messageBytesMax } = options;
  const endpoints = new Endpoints(options.address, log);
  const noteCalls = callMetrics(options.metrics, 'client');
  const client: Record<string | symbol, unknown> = {
    ping: (signal?: AbortSignal) => ping(endpoints, signal),
    [Symbol.asyncDispose]: () => endpoints[Symbol.asyncDispose](),
  };
  for (const [key, definedMethod] of Object.entries(definition.methods)) {
    const { requestType, responseType, responseStream } = definedMethod;
    const name = `${definition.fullName}/${definedMethod.name}`;
    const method: RemoteMethod = {
      name,
      encode: responseStream ? createEnvelopeEncoder(requestType) : createEncoder(requestType),
      responseType,
      isStream: responseStream,
      isIdempotent: definedMethod.options.idempotencyLevel === 'NO_SIDE_EFFECTS',
      endpoints,
      headers: headersOf(definedMethod, options.token),
      note: noteCalls(name),
      log,
      streamIdleTimeoutMs,
      messageBytesMax,
    };
    client[key] = responseStream
      ? (request: unknown, callOptions: CallOptions = {}) => callStream(method, request, callOptions)
      : (request: unknown, callOptions?: CallOptions) =>
          callUnary(method, request, {
            ...callOptions,
            timeoutMs: callOptions?.timeoutMs ?? timeoutMs,
          });
  }
  return client as RemoteClient<D>;
}

function headersOf({ responseStream }: MethodDefinition, token: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': responseStream ? 'application/connect+proto' : 'application/proto',
    'connect-protocol-version': '1',
  };
  if (token) headers.authorization = `Bearer ${token}`;
  return headers;
}

async function ping(endpoints: Endpoints, signal: AbortSignal | undefined): Promise<void> {
  if (endpoints.size === 0) await endpoints.lookUp();
  try {
    await Promise.any(endpoints.all().map((endpoint) => pingOne(endpoint, signal)));
  } catch (cause) {
    throw new AppError('unavailable', 'the RPC server does not respond', { retryAfterSeconds: 1, cause });
  }
}

async function pingOne(
  { streams, target, origin }: Endpoint,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { statusCode, body } = await streams.request({
    method: 'GET',
    path: '/health',
    headers: { host: target.host },
    signal: signal ?? null,
    headersTimeout: defaults.timeoutMs,
    bodyTimeout: defaults.timeoutMs,
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`${origin}/health answered ${statusCode}`);
}

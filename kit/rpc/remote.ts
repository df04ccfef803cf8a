import type { Registry } from 'prom-client';
import type { Log } from '../log.ts';
import type { CallOptions, Client, MessageCodec, MethodDefinition, ServiceDefinition } from './contract.ts';
import { defaults } from './defaults.ts';
import { Endpoints } from './endpoints.ts';
import { createEncloser } from './envelope.ts';
import { callMetrics, type NoteCall } from './metrics.ts';
import { ping } from './ping.ts';
import { streamMessages } from './remote-stream.ts';
import { UnaryCall } from './remote-unary.ts';
import { createWriter } from './writer.ts';

export interface RemoteClientOptions {
  /** `host:port` or `http://host:port`; several, separated by commas, and a name's several records share the calls. */
  readonly address: string;
  /** Sent as bearer token. */
  readonly token?: string;
  readonly log: Log;
  readonly metrics?: Registry;
  /** Deadline of a unary call that names none. */
  readonly timeoutMs?: number;
  /** How long a stream may leave its reader waiting. */
  readonly streamIdleTimeoutMs?: number;
  /** The largest message, either way, in bytes. */
  readonly messageBytesMax?: number;
}

/** A client of a service elsewhere. Disposing it lets unary calls in flight end and cuts streams. */
export type RemoteClient<D extends ServiceDefinition> = Client<D> &
  AsyncDisposable & {
    /** Throws `unavailable` unless one of the servers answers `GET /health` with 200. */
    ping(signal?: AbortSignal): Promise<void>;
  };

/** One method as it is called. */
export interface RemoteMethod {
  /** `testing.v1.TestService/Read` */
  readonly name: string;
  readonly responseType: MessageCodec;
  /** The request's bytes, for a stream in their envelope. */
  write(request: unknown): Uint8Array;
  readonly isIdempotent: boolean;
  readonly endpoints: Endpoints;
  /** Headers of each call, as they are written. */
  readonly headerLines: string;
  readonly note: NoteCall;
  readonly log: Log;
  readonly streamIdleTimeoutMs: number;
  readonly messageBytesMax: number;
}

/**
 * Calls a service over the network by the Connect protocol (https://connectrpc.com/docs/protocol) in protobuf.
 * Deadlines, errors and cancellation are those of `localClient`; besides, a server that cannot be reached is
 * `unavailable`. Methods marked NO_SIDE_EFFECTS are tried again on a broken connection or `unavailable`; others
 * only where the server did nothing. Throws `invalid_input` for an address that is none.
 */
export function remoteClient<D extends ServiceDefinition>(
  definition: D,
  options: RemoteClientOptions,
): RemoteClient<D> {
  const { log, timeoutMs = defaults.timeoutMs } = options;
  const endpoints = new Endpoints(options.address, log);
  const noteCalls = callMetrics(options.metrics, 'client');
  const client: Record<string | symbol, unknown> = {
    ping: (signal?: AbortSignal) => ping(endpoints, signal),
    [Symbol.asyncDispose]: () => endpoints[Symbol.asyncDispose](),
  };
  for (const [key, method] of Object.entries(definition.methods)) {
    const name = `${definition.fullName}/${method.name}`;
    const remote: RemoteMethod = {
      name,
      responseType: method.responseType,
      write: method.responseStream ? createEncloser(method.requestType) : createWriter(method.requestType),
      isIdempotent: method.options.idempotencyLevel === 'NO_SIDE_EFFECTS',
      endpoints,
      headerLines: headerLinesOf(method, options.token),
      note: noteCalls(name),
      log,
      streamIdleTimeoutMs: options.streamIdleTimeoutMs ?? defaults.streamIdleTimeoutMs,
      messageBytesMax: options.messageBytesMax ?? defaults.messageBytesMax,
    };
    client[key] = method.responseStream ? callStream(remote) : callUnary(remote, timeoutMs);
  }
  return client as RemoteClient<D>;
}

function callUnary(method: RemoteMethod, timeoutMs: number) {
  const byDefault: CallOptions = { timeoutMs };
  return (request: unknown, options = byDefault): Promise<unknown> =>
    new UnaryCall(method, options.timeoutMs === undefined ? { ...options, timeoutMs } : options).send(
      request,
    );
}

function callStream(method: RemoteMethod) {
  return (request: unknown, options: CallOptions = {}): AsyncIterable<unknown> =>
    streamMessages(method, request, options);
}

function headerLinesOf(method: MethodDefinition, token: string | undefined): string {
  const contentType = method.responseStream ? 'application/connect+proto' : 'application/proto';
  const lines = `content-type: ${contentType}\r\nconnect-protocol-version: 1\r\n`;
  return token ? `${lines}authorization: Bearer ${token}\r\n` : lines;
}

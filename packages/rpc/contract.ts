import type { BinaryWriter } from '@bufbuild/protobuf/wire';

/** Codec that ts-proto generates for a message type, for protobuf and JSON. */
export interface MessageCodec<T = unknown> {
  encode(message: T, writer?: BinaryWriter): BinaryWriter;
  decode(bytes: Uint8Array): T;
  fromJSON(object: unknown): T;
  toJSON(message: T): unknown;
}

/** One method of a service, as `ts-proto` with `outputServices=generic-definitions` writes it. */
export interface MethodDefinition {
  readonly name: string;
  readonly requestType: MessageCodec;
  readonly requestStream: boolean;
  readonly responseType: MessageCodec;
  readonly responseStream: boolean;
  readonly options: { readonly idempotencyLevel?: string };
}

/** One service, such as `TestServiceDefinition`. */
export interface ServiceDefinition {
  readonly fullName: string;
  readonly methods: Readonly<Record<string, MethodDefinition>>;
}

type RequestOf<M extends MethodDefinition> = M['requestType'] extends MessageCodec<infer T> ? T : never;
type ResponseOf<M extends MethodDefinition> = M['responseType'] extends MessageCodec<infer T> ? T : never;
type ResultOf<M extends MethodDefinition> = M['responseStream'] extends true
  ? AsyncIterable<ResponseOf<M>>
  : Promise<ResponseOf<M>>;

/**
 * The functions that serve a definition, by method. A unary one returns a promise, a streaming one an async iterable,
 * such as an async generator. They throw `AppError`; any other error reaches the caller as a bare `internal`.
 */
export type Handlers<D extends ServiceDefinition> = {
  readonly [K in keyof D['methods']]: (
    request: RequestOf<D['methods'][K]>,
    context: RpcContext,
  ) => ResultOf<D['methods'][K]>;
};

/**
 * The functions that call a definition, by method, wherever its handlers run. A message belongs to its receiver once it
 * is passed: in one process both sides hold the same object.
 */
export type Client<D extends ServiceDefinition> = {
  readonly [K in keyof D['methods']]: (
    request: RequestOf<D['methods'][K]>,
    options?: CallOptions,
  ) => ResultOf<D['methods'][K]>;
};

/** Options of one call. */
export interface CallOptions {
  /** Cancels the call: it fails as `canceled`, and the handler's signal aborts. */
  readonly signal?: AbortSignal;
  /** The call fails as `timeout` after this long. By default 5 s for a unary call, no limit for a whole stream. */
  readonly timeoutMs?: number;
  /** Identifies the request in the logs of both services; generated when absent. */
  readonly requestId?: string;
  /** The caller's span (W3C Trace Context), or a function that creates it, called only if the span is needed. */
  readonly traceparent?: string | (() => string);
}

/** Context of a call, for its handler. */
export interface RpcContext {
  /** Aborts when the answer is no longer needed: the deadline passed, or the caller canceled or went away. */
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** The caller's span, W3C Trace Context. */
  readonly traceparent?: string;
  /** Time at which the caller stops waiting, in milliseconds since the Unix epoch; absent if it waits forever. */
  readonly deadlineMs?: number;
}

/** Defaults of both transports. */
export const defaults = {
  /** Deadline of a unary call. */
  timeoutMs: 5_000,
  /** Longest time that either side of a stream may wait for the other. */
  streamIdleTimeoutMs: 60_000,
  /** The largest message, in bytes, either way. 1,000 texts of 10,000 code points fit. */
  messageBytesMax: 64 * 1024 * 1024,
} as const;

import type { BinaryWriter } from '@bufbuild/protobuf/wire';

/** What ts-proto generates for a message; the protobuf binary and JSON codecs of one type. */
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

/** One service: such as `TestServiceDefinition`. */
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
 * The functions that serve a definition, by method. A unary one gives a promise, a streaming one an async iterable
 * (an async generator does). They throw `AppError`; anything else reaches the caller as a bare `internal`.
 */
export type Handlers<D extends ServiceDefinition> = {
  readonly [K in keyof D['methods']]: (
    request: RequestOf<D['methods'][K]>,
    context: RpcContext,
  ) => ResultOf<D['methods'][K]>;
};

/**
 * The functions that call a definition, by method; where the handlers run does not show.
 * A message handed over, either way, belongs to the receiver: in one process both hold the same object.
 */
export type Client<D extends ServiceDefinition> = {
  readonly [K in keyof D['methods']]: (
    request: RequestOf<D['methods'][K]>,
    options?: CallOptions,
  ) => ResultOf<D['methods'][K]>;
};

/** What a caller may say about one call. */
export interface CallOptions {
  /** Gives the call up: it fails as `canceled`, and the handler's signal aborts. */
  readonly signal?: AbortSignal;
  /** Fails the call as `timeout` after this long. By default 5 s for a unary call, none for a whole stream. */
  readonly timeoutMs?: number;
  /** Names the request in both services' logs; made up when absent. */
  readonly requestId?: string;
  /** The caller's span, W3C Trace Context, or what makes it: asked in this process only if the handler looks at it. */
  readonly traceparent?: string | (() => string);
}

/** What a handler knows about the call that it serves. */
export interface RpcContext {
  /** Aborts when nobody waits any more: deadline passed, caller gave up or is gone. */
  readonly signal: AbortSignal;
  readonly requestId: string;
  readonly traceparent?: string;
  /** When the caller stops waiting, in milliseconds since the Unix epoch; absent where it waits for ever. */
  readonly deadlineMs?: number;
}

import type { AppError, Log } from '@octavo/core';
import type { Registry } from 'prom-client';
import {
  type CallOptions,
  type Client,
  defaults,
  type Handlers,
  type ServiceDefinition,
} from './contract.ts';
import { callMetrics, type NoteCall } from './metrics.ts';
import { runStream, runUnary, type ServedMethod } from './server/run.ts';

/** Options of a client for handlers in this process. */
export interface LocalClientOptions {
  /** Log of unexpected errors of the handlers; the caller only sees `internal`. */
  readonly log: Log;
  readonly metrics?: Registry;
  /** Deadline of a unary call that names none. */
  readonly timeoutMs?: number;
  /** Longest time that either side of a stream may wait for the other. */
  readonly streamIdleTimeoutMs?: number;
}

/**
 * Calls handlers in this process, with the deadlines, errors and cancellation of a call over the network.
 * Messages are passed as they are, not copied: do not change one after you passed it.
 */
export function localClient<D extends ServiceDefinition>(
  definition: D,
  handlers: Handlers<D>,
  options: LocalClientOptions,
): Client<D> {
  const { log, metrics, timeoutMs = defaults.timeoutMs } = options;
  const { streamIdleTimeoutMs = defaults.streamIdleTimeoutMs } = options;
  const noteCalls = callMetrics(metrics, 'client');
  const client: Record<string, unknown> = {};
  for (const [key, { name, responseStream }] of Object.entries(definition.methods)) {
    const method: ServedMethod = {
      name: `${definition.fullName}/${name}`,
      handler: handlers[key] as ServedMethod['handler'],
      log,
      streamIdleTimeoutMs,
    };
    const note = noteCalls(method.name);
    client[key] = responseStream ? callStream(method, note) : callUnary(method, note, timeoutMs);
  }
  return client as Client<D>;
}

function callUnary(method: ServedMethod, note: NoteCall, timeoutMs: number) {
  return async (request: unknown, options?: CallOptions): Promise<unknown> => {
    const startedMs = performance.now();
    try {
      const response = await runUnary(method, request, {
        ...options,
        timeoutMs: options?.timeoutMs ?? timeoutMs,
      });
      note('ok', startedMs);
      return response;
    } catch (error) {
      note((error as AppError).code, startedMs);
      throw error;
    }
  };
}

function callStream(method: ServedMethod, note: NoteCall) {
  return async function* (request: unknown, options: CallOptions = {}): AsyncGenerator<unknown> {
    const startedMs = performance.now();
    let code: Parameters<NoteCall>[0] = 'canceled';
    try {
      yield* runStream(method, request, options);
      code = 'ok';
    } catch (error) {
      code = (error as AppError).code;
      throw error;
    } finally {
      note(code, startedMs);
    }
  };
}

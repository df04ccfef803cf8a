import { AppError } from '@octavo/core';
import type { CallContext, ServerMiddlewareCall, ServiceDefinition } from 'nice-grpc';
import { findUnsafeText, invalid, textProblem } from '../edges/schema-parser.ts';

/** A request whose bytes do not fit its message, or that has a number beyond what a double holds. */
const unreadable = Symbol('unreadable');

type Decoder = { decode(bytes: Uint8Array): unknown };

/**
 * Wraps the service so that requests that cannot be decoded come through to {@link checkRequests}: the library responds to them
 * with INTERNAL, before the caller is known.
 */
export function withUnreadable<D extends ServiceDefinition | { readonly methods: object }>(definition: D): D {
  const methods = Object.entries((definition as { methods: object }).methods).map(([name, method]) => {
    const requestType = method.requestType as Decoder;
    const decode = (bytes: Uint8Array) => {
      try {
        return requestType.decode(bytes);
      } catch {
        return { [unreadable]: true };
      }
    };
    return [name, { ...method, requestType: { ...requestType, decode } }];
  });
  return { ...definition, methods: Object.fromEntries(methods) };
}

/** Refuses requests that cannot be read, and texts that not every database can hold. */
export async function* checkRequests<Request, Response, Extra>(
  call: ServerMiddlewareCall<Request, Response, Extra>,
  context: CallContext & Extra,
) {
  if (!call.requestStream) {
    const request = call.request as object;
    if (unreadable in request)
      throw new AppError('invalid_input', 'The request cannot be read. Numbers must be at most 2^53 - 1.');
    const path = findUnsafeText(request)?.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter}`));
    if (path) throw invalid({ [path.join('.').toLowerCase()]: textProblem });
  }
  return yield* call.next(call.request as Request, context);
}

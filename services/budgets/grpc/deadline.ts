import {
  ResponderBuilder,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerListenerBuilder,
} from '@grpc/grpc-js';
import { type CallContext, ServerError, type ServerMiddlewareCall, Status } from 'nice-grpc';

const defaultMs = 5_000;
const longestMs = 30_000;
const header = 'x-octavo-deadline-ms';

/** Passes the deadline of a call on to the middleware, which does not see the header of the protocol. */
export const passDeadline: ServerInterceptor = (_method, call: ServerInterceptingCallInterface) =>
  new ServerInterceptingCall(
    call,
    new ResponderBuilder().withStart((next) => next(listenerOf(call))).build(),
  );

function listenerOf(call: ServerInterceptingCallInterface) {
  return new ServerListenerBuilder()
    .withOnReceiveMetadata((metadata, next) => {
      const deadline = call.getDeadline();
      metadata.set(header, String(deadline instanceof Date ? deadline.getTime() : deadline));
      next(metadata);
    })
    .build();
}

/** Ends a unary call after its deadline: 5 seconds if the client gives none, at most 30. Streams last until the client cancels. */
export async function* limitTime<Request, Response>(
  call: ServerMiddlewareCall<Request, Response>,
  context: CallContext,
) {
  if (call.responseStream) return yield* call.next(call.request, context);
  const given = Number(context.metadata.get(header)) - Date.now();
  const limitMs = Number.isFinite(given) ? Math.min(given, longestMs) : defaultMs;
  const stopping = new AbortController();
  const signal = AbortSignal.any([context.signal, stopping.signal]);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => {
      stopping.abort();
      late.reject(
        new ServerError(Status.DEADLINE_EXCEEDED, `There was no response within ${Math.round(limitMs)} ms.`),
      );
    },
    Math.max(0, limitMs),
  );
  // Prevents an unhandled rejection.
  late.promise.catch(() => undefined);
  const responding = call.next(call.request, { ...context, signal });
  try {
    const { value } = await Promise.race([responding.next(), late.promise]);
    return value as Response;
  } finally {
    clearTimeout(timer);
  }
}

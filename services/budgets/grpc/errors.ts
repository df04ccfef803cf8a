import type { Log } from '@octavo/core';
import { type AppError, type ErrorCode, toAppError } from '@octavo/core';
import { type CallContext, ServerError, type ServerMiddlewareCall, Status } from 'nice-grpc';
import { BadRequest, RetryInfo, RichServerError } from 'nice-grpc-error-details';

const statuses: Partial<Record<ErrorCode, Status>> = {
  invalid_input: Status.INVALID_ARGUMENT,
  validation_failed: Status.INVALID_ARGUMENT,
  unauthenticated: Status.UNAUTHENTICATED,
  forbidden: Status.PERMISSION_DENIED,
  not_found: Status.NOT_FOUND,
  conflict: Status.ALREADY_EXISTS,
  precondition_failed: Status.ABORTED,
  rate_limited: Status.RESOURCE_EXHAUSTED,
  too_large: Status.RESOURCE_EXHAUSTED,
  timeout: Status.DEADLINE_EXCEEDED,
  canceled: Status.CANCELLED,
  unavailable: Status.UNAVAILABLE,
};

const messageMax = 500;

/** Turns the errors of our rules into statuses with details. Others become INTERNAL and are only logged. */
export function createErrorMapping(log: Log) {
  return async function* mapErrors<Request, Response>(
    call: ServerMiddlewareCall<Request, Response>,
    context: CallContext,
  ) {
    try {
      return yield* call.next(call.request, context);
    } catch (error) {
      if (error instanceof ServerError || (error as Error)?.name === 'AbortError') throw error;
      const known = toAppError(error);
      if (known.code === 'internal') log.error({ err: error }, 'a gRPC call failed');
      throw toServerError(known);
    }
  };
}

function toServerError({ code, message, fields, retryAfterSeconds }: AppError): ServerError {
  const violations = Object.entries(fields).map(([field, description]) => ({ field, description }));
  const details = [
    ...(violations.length > 0 ? [BadRequest.create({ fieldViolations: violations })] : []),
    ...(retryAfterSeconds !== undefined && Number.isFinite(retryAfterSeconds)
      ? [RetryInfo.create({ retryDelay: { seconds: retryAfterSeconds, nanos: 0 } })]
      : []),
  ];
  return new RichServerError(statuses[code] ?? Status.INTERNAL, shortened(message), details);
}

/** A message that may repeat what the client sent. It is sent in a header, and clients take no more than 8 kB of headers. */
function shortened(message: string): string {
  return message.length > messageMax ? `${message.slice(0, messageMax).toWellFormed()}…` : message;
}

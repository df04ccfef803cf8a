import { AppError } from '../errors.ts';
import type { Endpoint } from './endpoint.ts';
import type { Endpoints } from './endpoints.ts';

/** How one attempt at a call failed. */
export interface Failure {
  readonly error: AppError;
  /** Nothing of the call was done, so that any method may be tried again. */
  readonly isUndone: boolean;
  /** No connection could be made, or it broke; else the server itself answered with the error. */
  readonly isConnection: boolean;
}

/** The failure of a connection; `isSent` once the request was being written. */
export function connectionFailure(cause: Error, isSent: boolean): Failure {
  const message = isSent ? 'the RPC server went away' : 'the RPC server cannot be reached';
  const error = new AppError('unavailable', message, { retryAfterSeconds: 1, cause });
  return { error, isUndone: !isSent, isConnection: true };
}

/** What is known when an attempt has failed. */
export interface Attempted {
  readonly failure: Failure;
  /** 1 for the first. */
  readonly attempt: number;
  readonly isIdempotent: boolean;
  readonly endpoint: Endpoint;
  readonly endpoints: Endpoints;
}

/**
 * How long to wait before trying again, or `undefined` to give up. A method with side effects is only tried again when
 * nothing was done. At once where there is another server, even one that failed a while ago; else twice, some 20 and 40 ms later, unless the server
 * has been down for long or says itself when to come back.
 */
export function retryDelayMs(attempted: Attempted): number | undefined {
  const { failure, attempt, isIdempotent, endpoint, endpoints } = attempted;
  if (failure.error.code !== 'unavailable') return undefined;
  if (!failure.isUndone && !isIdempotent) return undefined;
  if (endpoints.hasOther(endpoint) && attempt <= endpoints.size) return 0;
  // Those that failed a while ago may be back, as when servers are restarted one after the other.
  if (failure.isConnection && attempt < endpoints.size) return 0;
  if (attempt > 2 || endpoint.isLongDown(performance.now())) return undefined;
  if (!failure.isConnection && failure.error.retryAfterSeconds !== undefined) return undefined;
  return 20 * attempt * (0.5 + Math.random());
}

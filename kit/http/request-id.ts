import type { IncomingMessage } from 'node:http';
import { newId } from '../ids.ts';

/** The caller's `X-Request-Id` where it is 1 to 128 of `[A-Za-z0-9._-]`, else a new one. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : newId();
}

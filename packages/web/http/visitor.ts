import type { Visitor } from '@octavo/core/auth';
import type { FastifyRequest } from 'fastify';
import { clientAddress } from './requests/client-address.ts';

const userAgentCharacters = 160;

/** The address and user agent of a request. */
export function visitorOf(request: FastifyRequest): Visitor {
  const userAgent = request.headers['user-agent'] ?? '';
  return { address: clientAddress(request), userAgent: userAgent.slice(0, userAgentCharacters) };
}

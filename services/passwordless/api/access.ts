import type { Visitor } from '@octavo/core/auth';
import type { AccessRule } from '@octavo/web/server';
import { visitorOf } from '@octavo/web/server';
import type { FastifyRequest } from 'fastify';
import { authErrors } from '../errors.ts';
import type { Caller, Sessions } from '../sessions/index.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The user and session of the bearer token; undefined where an optional token was not sent. */
    caller: Caller | undefined;
  }
}

/** Tokens are checked after the body is parsed and before it is validated, as the contract orders the pipeline. */
export interface ApiAccess {
  /** Requires a bearer token. */
  readonly bearer: AccessRule;
  /** Accepts requests without a token. An invalid token is refused, never ignored. */
  readonly optionalBearer: AccessRule;
}

export function createApiAccess(sessions: Sessions): ApiAccess {
  return {
    bearer: {
      security: [{ bearer: [] }],
      preValidation: async (request) => {
        request.caller = await sessions.identify(request.headers.authorization);
        request.userId = request.caller.user.id;
      },
    },
    optionalBearer: {
      security: [{}, { bearer: [] }],
      preValidation: async (request) => {
        const { authorization } = request.headers;
        if (authorization === undefined) return;
        request.caller = await sessions.identify(authorization);
        request.userId = request.caller.user.id;
      },
    },
  };
}

/** Errors of every route that requires a token. */
export const bearerErrors = [
  authErrors.missingToken(),
  authErrors.invalidToken(),
  authErrors.tokenExpired(),
] as const;

/** The user and session of the token, on routes with {@link ApiAccess.bearer}. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error('the route does not require a token');
  return request.caller;
}

/** Returns the origin of a request, and the language for mails about it. */
export function senderOf(request: FastifyRequest): { visitor: Visitor; locale: string | undefined } {
  return { visitor: visitorOf(request), locale: request.headers['accept-language'] };
}

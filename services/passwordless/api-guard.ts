import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Visitor } from '#kit/auth/visitor.ts';
import type { Clock } from '#kit/clock.ts';
import type { Access } from '#kit/http/access.ts';
import { clientAddress } from '#kit/http/client-address.ts';
import { limitRequests, takeAll } from '#kit/http/rate-limit.ts';
import { responseOf } from '#kit/http/response.ts';
import { visitorOf } from '#kit/http/visitor.ts';
import { networkOf } from '#kit/network.ts';
import type { Limits } from './api-limits.ts';
import type { Caller } from './caller.ts';
import type { Sessions } from './sessions.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, on the routes that want a bearer token, and where there is one on those that take it. */
    caller: Caller | undefined;
  }
}

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Who may call a route. */
interface Guard {
  readonly access: Access;
}

/** A route that is also limited; the limit counts those whom the access let through. */
interface Limited extends Guard {
  readonly preValidation: Hook;
}

/** Options of routes. Their hooks run after the body is parsed and before it is validated, as the contract orders them. */
export interface Guards {
  /** Requires a bearer token. */
  readonly bearer: Guard;
  /** The same for POST, which counts. */
  readonly bearerPost: Limited;
  /** Begins something; needs no token. */
  readonly open: Limited;
  /** Adds a factor. Takes a bearer token; an invalid one is refused, never ignored. */
  readonly enroll: Limited;
  /** Takes a link, a code or the response to a challenge. */
  readonly verify: Limited;
  /** Exchanges a refresh token. */
  readonly refresh: Limited;
  /** Takes a bearer token, and ignores an invalid one. */
  readonly bearerIfValid: Guard;
  /**
   * Has a magic link sent unless the client has had its share; neither is told. `send` says whether it counts: what the limit of an address
   * refused does not.
   */
  sendMagic(request: FastifyRequest, send: () => Promise<boolean>): Promise<void>;
}

export function createGuards(parts: { sessions: Sessions; limits: Limits; clock: Clock }): Guards {
  const { sessions, limits, clock } = parts;
  const { post, magic, enroll, verify, refresh } = limits;
  const [limitPost, limitEnroll, limitVerify, limitRefresh, limitGet] = [
    limitRequests(post, clock),
    limitRequests([...post, ...enroll], clock),
    limitRequests([...post, ...verify], clock),
    limitRequests([...post, ...refresh], clock),
    limitRequests(verify, clock),
  ];
  const identify = async (request: FastifyRequest, reply: FastifyReply): Promise<Caller> => {
    const caller = await sessions.identify(request.headers.authorization);
    responseOf(reply).userId = caller.user.id;
    return caller;
  };
  const access: Access = {
    security: [{ bearer: [] }],
    async preValidation(request, reply) {
      request.caller = await identify(request, reply);
    },
  };
  const optional: Access = {
    security: [{}, { bearer: [] }],
    async preValidation(request, reply) {
      const { authorization } = request.headers;
      if (authorization !== undefined) request.caller = await identify(request, reply);
    },
  };
  const limited = (limit: (request: FastifyRequest, reply: FastifyReply) => void) => ({
    preValidation: async (request: FastifyRequest, reply: FastifyReply) => limit(request, reply),
  });
  return {
    bearer: { access },
    bearerPost: { access, ...limited(limitPost) },
    open: { access: 'public', ...limited(limitPost) },
    enroll: { access: optional, ...limited(limitEnroll) },
    verify: {
      access: 'public',
      ...limited((request, reply) =>
        request.method === 'POST' ? limitVerify(request, reply) : limitGet(request, reply),
      ),
    },
    refresh: { access: 'public', ...limited(limitRefresh) },
    bearerIfValid: { access: { security: [{}, { bearer: [] }] } },
    async sendMagic(request, send) {
      const [client, nowMs] = [networkOf(clientAddress(request)), clock.now()];
      const verdicts = takeAll([...post, ...magic], client, nowMs);
      if (verdicts.some(({ isAllowed }) => !isAllowed) || (await send())) return;
      for (const { limiter } of magic) limiter.giveBack(client, nowMs);
    },
  };
}

/** Who asks, behind {@link Guards.bearer}. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error('the route has no guard');
  return request.caller;
}

/** Where a request came from, and the language to write to its sender in. */
export function senderOf(request: FastifyRequest): { visitor: Visitor; locale: string | undefined } {
  return { visitor: visitorOf(request), locale: request.headers['accept-language'] };
}

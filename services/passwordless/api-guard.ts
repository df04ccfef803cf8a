import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Visitor } from '#kit/auth/visitor.ts';
import type { Clock } from '#kit/clock.ts';
import { clientAddress } from '#kit/http/client-address.ts';
import { limitRequests, takeAll } from '#kit/http/rate-limit.ts';
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

interface Guard {
  readonly preValidation: Hook;
}

/** Hooks that run once the body is parsed and before it is validated, as the order of the pipeline wants it. */
export interface Guards {
  /** Wants a bearer token. */
  readonly bearer: Guard;
  /** For what begins something and needs no token. */
  readonly open: Guard;
  /** For what adds a factor. Takes a bearer token; a broken one is refused, never passed over. */
  readonly enroll: Guard;
  /** For what hands in a link, a code or the answer to a challenge. */
  readonly verify: Guard;
  /** For what exchanges a refresh token. */
  readonly refresh: Guard;
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
  const identify = async (request: FastifyRequest): Promise<Caller> => {
    const caller = await sessions.identify(request.headers.authorization);
    request.userId = caller.user.id;
    return caller;
  };
  return {
    bearer: {
      async preValidation(request, reply) {
        request.caller = await identify(request);
        if (request.method === 'POST') limitPost(request, reply);
      },
    },
    open: { preValidation: async (request, reply) => limitPost(request, reply) },
    enroll: {
      async preValidation(request, reply) {
        const { authorization } = request.headers;
        if (authorization !== undefined) request.caller = await identify(request);
        limitEnroll(request, reply);
      },
    },
    verify: {
      preValidation: async (request, reply) =>
        request.method === 'POST' ? limitVerify(request, reply) : limitGet(request, reply),
    },
    refresh: { preValidation: async (request, reply) => limitRefresh(request, reply) },
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

import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { RateLimiter } from '#kit/auth/rate-limiter.ts';
import type { Clock } from '#kit/clock.ts';
import { AppError } from '#kit/errors.ts';
import { refuseLong } from '#kit/http/body.ts';
import { limitRequests } from '#kit/http/rate-limit.ts';
import type { Caller } from './caller.ts';
import type { SignIns } from './sign-ins.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, on the routes that want a bearer token. */
    holder: Caller;
  }
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

/** Hooks that run once the body is parsed and before it is validated, as the order of the pipeline wants it. */
export interface Guards {
  readonly open: { readonly preValidation: Hook };
  readonly bearer: { readonly preValidation: Hook };
  /** The rate limit by itself. Throws RATE_LIMITED. */
  limit(request: FastifyRequest, reply: FastifyReply): void;
}

export function createGuards(parts: {
  signIns: SignIns;
  limiter: RateLimiter | undefined;
  clock: Clock;
}): Guards {
  const { signIns, limiter, clock } = parts;
  const limit = limitRequests(limiter ? [{ name: 'auth', limiter }] : [], clock);
  return {
    limit,
    open: {
      preValidation(request, reply, done) {
        limit(request, reply);
        done();
      },
    },
    bearer: {
      preValidation(request, reply, done) {
        request.holder = signIns.identify(request.headers.authorization);
        request.userId = request.holder.user.id;
        limit(request, reply);
        done();
      },
    },
  };
}

/** A body of any other kind than JSON is no input; one that is too long is told that first, and a compressed one is the kit's 415. */
export const refuseOtherBodies: Hook = (request, _reply, done) => {
  refuseLong(request);
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
  const hasBody = coding !== undefined || length !== '0';
  const isRead = request.method !== 'GET' && request.method !== 'HEAD';
  if (hasBody && isRead && !/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new AppError('invalid_input', 'The request body must be application/json.');
  }
  done();
};

/** Also where no body is asked for: what is sent is an object or malformed. */
export const refuseBareValues: Hook = ({ body }, _reply, done) => {
  if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body))) {
    throw new AppError('invalid_input', 'The request body must be an object.');
  }
  done();
};

import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { isWrongMethod } from '#kit/http/fallback-routes.ts';
import type { Access, Action, Caller, Resource } from './access.ts';
import { callOf } from './call.ts';
import { protectedPrefix, routes } from './routes.ts';

type OnRequest = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

/** Gives a route its hook: 401 without a token, then 403 unless the decision allows it, both before the body is read. */
export type Permits = (resource: Resource, action: Action) => { readonly onRequest: OnRequest };

/** Where a request keeps who asks. */
export const callerName = 'caller';

/** Who asks, on a route that has its permits. */
export function callerOf(request: FastifyRequest): Caller {
  return request.getDecorator<Caller>(callerName);
}

export function createPermits(access: Access): Permits {
  return (resource, action) => ({
    onRequest: (request, _reply, done) => {
      const { raw } = request;
      const caller = access.identifyBearer(raw.headers.authorization);
      request.setDecorator(callerName, caller);
      const mfaVerified = access.isMfaVerified(caller, raw.rawHeaders);
      const asked = access.authorize(caller, { resource, action, mfaVerified }, callOf(request));
      if (asked) asked.then(() => done(), done);
      else done();
    },
  });
}

/** An address below the protected prefix that no route takes is 404 or 405 only for those who have a token. */
export function refuseStrangers(access: Access): OnRequest {
  return (request, _reply, done) => {
    if ((request.is404 || isWrongMethod(request)) && isProtected(request.url))
      access.identifyBearer(request.headers.authorization);
    done();
  };
}

function isProtected(url: string): boolean {
  const path = url.split('?', 1)[0];
  if (path === routes.login) return false;
  return path === protectedPrefix || url.startsWith(`${protectedPrefix}/`);
}

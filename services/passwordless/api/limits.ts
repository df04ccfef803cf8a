import type { Clock } from '@octavo/core';
import { networkOf } from '@octavo/core';
import type { Background } from '@octavo/core/concurrency';
import { clientAddress, limitSharedRequests, type RouteLimits, takeAllShared } from '@octavo/web/server';
import { authErrors } from '../errors.ts';
import type { LimitRequest, Limits, RequestLimits } from '../limits.ts';

/** Limits as hooks. On a route they run after its access, so that refused tokens do not count. Links are sent in `background` if it is given. */
export function createRequestLimits(limits: Limits, clock: Clock, background?: Background): RequestLimits {
  const { post, magic, enroll, verify, refresh } = limits;
  const limitedBy = (route: RouteLimits): LimitRequest => {
    const limit = limitSharedRequests(route, clock);
    // As a hook it would get a callback where the client may be given.
    return (request, reply) => limit(request, reply);
  };
  const [verifyByGet, verifyByPost] = [
    limitedBy({ shared: verify }),
    limitedBy({ local: post, shared: verify }),
  ];
  return {
    post: limitedBy({ local: post, shared: [] }),
    enroll: limitedBy({ local: post, shared: enroll }),
    verify: (request, reply) => (request.method === 'POST' ? verifyByPost : verifyByGet)(request, reply),
    refresh: limitedBy({ local: [...post, ...refresh], shared: [] }),
    oidc: {
      page: limitedBy({ local: limits.oidcPage, shared: [] }),
      call: limitedBy({ local: limits.oidcCall, shared: [] }),
      application: limitSharedRequests({ local: limits.oidcApplication, shared: [] }, clock),
    },
    async sendMagic(request, send) {
      const [client, nowMs] = [networkOf(clientAddress(request)), clock.now()];
      const verdicts = await takeAllShared({ local: post, shared: magic }, client, nowMs);
      if (verdicts.some(({ isAllowed }) => !isAllowed)) return;
      const sendAndCount = async () => {
        if (await send()) return;
        for (const { limiter } of magic) await limiter.giveBack(client, nowMs);
      };
      if (background) background.run('sending a magic link', sendAndCount);
      else await sendAndCount();
    },
  };
}

/** Error of every limited route. */
export const limitError = authErrors.rateLimited(60);

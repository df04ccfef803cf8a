import type { Clock } from '#kit/base/clock.ts';
import { networkOf } from '#kit/base/network.ts';
import type { Background } from '#kit/concurrency/background.ts';
import { clientAddress } from '#kit/http/requests/client-address.ts';
import { limitRequests, type RateLimit, takeAll } from '#kit/http/requests/rate-limit.ts';
import { authErrors } from '../errors.ts';
import type { LimitRequest, Limits, RequestLimits } from '../limits.ts';

/** Limits as hooks. On a route they run after its access, so that refused tokens do not count. Links are sent in `background` if it is given. */
export function createRequestLimits(limits: Limits, clock: Clock, background?: Background): RequestLimits {
  const { post, magic, enroll, verify, refresh, oidc } = limits;
  const limitedBy = (...counted: RateLimit[]): LimitRequest => {
    const limit = limitRequests(counted, clock);
    return async (request, reply) => limit(request, reply);
  };
  const [verifyByGet, verifyByPost] = [limitedBy(...verify), limitedBy(...post, ...verify)];
  return {
    post: limitedBy(...post),
    enroll: limitedBy(...post, ...enroll),
    verify: (request, reply) => (request.method === 'POST' ? verifyByPost : verifyByGet)(request, reply),
    refresh: limitedBy(...post, ...refresh),
    oidc: limitedBy(...oidc),
    async sendMagic(request, send) {
      const [client, nowMs] = [networkOf(clientAddress(request)), clock.now()];
      const verdicts = takeAll([...post, ...magic], client, nowMs);
      if (verdicts.some(({ isAllowed }) => !isAllowed)) return;
      const sendAndCount = async () => {
        if (await send()) return;
        for (const { limiter } of magic) limiter.giveBack(client, nowMs);
      };
      if (background) background.run('sending a magic link', sendAndCount);
      else await sendAndCount();
    },
  };
}

/** Error of every limited route. */
export const limitError = authErrors.rateLimited(60);

import type { HttpApp } from '#kit/http/server.ts';
import { addAccount } from './api-account.ts';
import type { Guards } from './api-guard.ts';
import { addMagicLinks, type Landing } from './api-magic.ts';
import { addRecovery } from './api-recovery.ts';
import { addTokens } from './api-tokens.ts';
import { addTotp } from './api-totp.ts';
import { addWellKnown } from './api-well-known.ts';
import type { Domain } from './domain.ts';
import { addPasskeys } from './passkeys/api.ts';

export interface ApiParts extends Domain {
  readonly app: HttpApp;
  readonly guards: Guards;
  readonly landing: Landing;
}

/** Adds every endpoint of the API. */
export function addApi(parts: ApiParts): void {
  parts.app.register(async (app) => {
    app.decorateRequest('caller');
    app.addHook('onRequest', (_request, reply, done) => {
      reply.header('cache-control', 'no-store');
      done();
    });
    const inside = { ...parts, app };
    addMagicLinks(inside);
    addTotp(inside);
    addRecovery(inside);
    addTokens(inside);
    addAccount(inside);
    addPasskeys(inside);
    addWellKnown(inside);
  });
}

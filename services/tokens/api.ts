import type { HttpApp } from '#kit/http/server.ts';
import type { Accounts } from './accounts.ts';
import { addAccount } from './api-account.ts';
import { type Guards, refuseBareValues, refuseOtherBodies } from './api-guard.ts';
import { addSessions } from './api-sessions.ts';
import { addSignIns } from './api-sign-ins.ts';
import { routes } from './routes.ts';
import type { SignIns } from './sign-ins.ts';

export interface ApiParts {
  readonly app: HttpApp;
  readonly accounts: Accounts;
  readonly signIns: SignIns;
  readonly guards: Guards;
}

const changePasswordPage = '/#password';

/** Adds every endpoint of the API. */
export function addApi(parts: ApiParts): void {
  // Where password managers send those who want to change one (W3C, A Well-Known URL for Changing Passwords).
  parts.app.get(routes.changePasswordHint, { schema: { hide: true } as object }, (_request, reply) =>
    reply.code(302).header('location', changePasswordPage).send(),
  );
  parts.app.register(async (app) => {
    app.decorateRequest('holder');
    app.addHook('onRequest', (_request, reply, done) => {
      reply.header('cache-control', 'no-store');
      done();
    });
    app.addHook('onRequest', refuseOtherBodies);
    app.addHook('preValidation', refuseBareValues);
    const inside = { ...parts, app };
    addSignIns(inside);
    addAccount(inside);
    addSessions(inside);
  });
}

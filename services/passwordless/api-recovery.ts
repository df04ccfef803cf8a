import { visitorOf } from '#kit/http/visitor.ts';
import { Type } from '#kit/schema.ts';
import type { ApiParts } from './api.ts';
import { callerOf, senderOf } from './api-guard.ts';
import { email, Tokens } from './api-schemas.ts';
import { refusals } from './refusals.ts';
import { routes } from './routes.ts';

const tags = ['recovery codes'];
const badToken = [refusals.missingToken(), refusals.invalidToken(), refusals.tokenExpired()];
const limited = refusals.rateLimited(60);
const RecoveryCode = Type.String({ minLength: 1, maxLength: 100, examples: ['J3KQ-7ZPA-M2XW-LRTC'] });

export function addRecovery({ app, guards, recoveryCodes }: ApiParts): void {
  app.post(
    routes.recoveryCodes,
    {
      ...guards.bearerPost,
      schema: {
        response: { 200: Type.Object({ codes: Type.Array(RecoveryCode) }) },
        tags,
        summary: 'Make new recovery codes, shown this once; the former ones no longer work',
      },
      config: { errors: [...badToken, refusals.reauthRequired(), limited] },
    },
    async (request) => ({ codes: await recoveryCodes.renew(callerOf(request), senderOf(request)) }),
  );
  app.post(
    routes.recoveryVerify,
    {
      ...guards.verify,
      schema: {
        body: Type.Object({ email, code: RecoveryCode }),
        response: { 200: Tokens },
        tags,
        summary: 'Sign in by a recovery code, which is used up',
      },
      config: { errors: [refusals.invalidCode(), limited] },
    },
    (request) => recoveryCodes.verify(request.body, visitorOf(request)),
  );
}

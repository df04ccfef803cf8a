import { Type } from '@octavo/core';
import type { HttpApp } from '@octavo/web/server';
import { visitorOf } from '@octavo/web/server';
import { type ApiAccess, bearerErrors, callerOf, senderOf } from '../api/access.ts';
import { limitError } from '../api/limits.ts';
import { email, Tokens } from '../api/schemas.ts';
import { authErrors } from '../errors.ts';
import type { RequestLimits } from '../limits.ts';
import { routes } from '../routes.ts';
import type { RecoveryCodes } from './recovery-codes.ts';

const tags = ['recovery codes'];
const RecoveryCode = Type.String({ minLength: 1, maxLength: 100, examples: ['J3KQ-7ZPA-M2XW-LRTC'] });

interface RecoveryCodeApi {
  readonly recoveryCodes: RecoveryCodes;
  readonly access: ApiAccess;
  readonly limits: RequestLimits;
}

export function addRecoveryCodeApi(app: HttpApp, { recoveryCodes, access, limits }: RecoveryCodeApi): void {
  app.post(
    routes.recoveryCodes,
    {
      access: access.bearer,
      preValidation: limits.post,
      schema: {
        response: { 200: Type.Object({ codes: Type.Array(RecoveryCode) }) },
        tags,
        summary: 'Create new recovery codes; they replace the old ones and are shown only once',
        description:
          'Returns ten codes, which the service keeps only as hashes. Codes that were not used stop working.',
      },
      config: { errors: [...bearerErrors, authErrors.reauthRequired(), 'conflict', limitError] },
    },
    async (request) => ({ codes: await recoveryCodes.renew(callerOf(request), senderOf(request)) }),
  );
  app.post(
    routes.recoveryVerify,
    {
      access: 'public',
      preValidation: limits.verify,
      schema: {
        body: Type.Object({ email, code: RecoveryCode }),
        response: { 200: Tokens },
        tags,
        summary: 'Sign in with a recovery code; each code works once',
        description:
          'Takes `email` and `code` and returns tokens. Wrong codes are counted, and too many of them refuse this way of signing in for a while.',
      },
      config: { errors: [authErrors.invalidCode(), limitError] },
    },
    (request) => recoveryCodes.verify(request.body, visitorOf(request)),
  );
}

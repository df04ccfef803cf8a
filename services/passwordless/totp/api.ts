import { Type } from '@octavo/core';
import { qrCodeSvg } from '@octavo/web/html';
import type { HttpApp } from '@octavo/web/server';
import { visitorOf } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiAccess, bearerErrors, callerOf, senderOf } from '../api/access.ts';
import { limitError } from '../api/limits.ts';
import { Code, codeOf, email, message, Tokens } from '../api/schemas.ts';
import { authErrors } from '../errors.ts';
import type { RequestLimits } from '../limits.ts';
import { routes } from '../routes.ts';
import type { TotpSetup } from './setup.ts';
import type { TotpSignIns } from './sign-ins.ts';

const tags = ['authenticator app'];
const removed = { message: 'Authenticator app removed' } as const;

const Enrollment = Type.Object(
  {
    secret: Type.String({ examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'] }),
    otpauth_url: Type.String({ examples: ['otpauth://totp/Octavo:alice%40example.com?secret=JBSWY3DP'] }),
  },
  { title: 'TotpEnrollment' },
);

interface TotpApi {
  readonly totpSetup: TotpSetup;
  readonly totpSignIns: TotpSignIns;
  readonly access: ApiAccess;
  readonly limits: RequestLimits;
}

export function addTotpApi(app: HttpApp, parts: TotpApi): void {
  addSetup(app, parts);
  addSignIn(app, parts);
}

function addSetup(app: HttpApp, { totpSetup, access, limits }: TotpApi): void {
  app.post(
    routes.totpEnroll,
    {
      access: access.optionalBearer,
      preValidation: limits.enroll,
      schema: {
        body: Type.Object({ email }),
        querystring: Type.Object({ qr: Type.Optional(Type.Literal('svg')) }),
        response: {
          200: {
            description: 'The secret, as JSON or as a QR code',
            content: {
              'application/json': { schema: Enrollment },
              'image/svg+xml': {
                schema: Type.String({ examples: ['<svg xmlns="http://www.w3.org/2000/svg"></svg>'] }),
              },
            },
          },
        },
        tags,
        summary: 'Start to set up an authenticator app',
        description:
          'With a token, the secret is for its user. Without one, it is for a new user. With `qr=svg` or `Accept: image/svg+xml`, the response is the QR code.',
      },
      config: {
        errors: [
          authErrors.invalidEmail(),
          ...bearerErrors,
          authErrors.reauthRequired(),
          authErrors.emailMismatch(),
          // The account was deleted in the meantime.
          'conflict',
          limitError,
        ],
      },
    },
    async (request, reply) => {
      const from = { caller: request.caller, ...senderOf(request) };
      const enrollment = await totpSetup.enroll(request.body.email, from);
      if (wantsQrCode(request)) return sendQrCode(reply, enrollment.otpauth_url);
      return enrollment;
    },
  );
  app.delete(
    routes.totp,
    {
      access: access.bearer,
      schema: {
        response: { 200: message(removed.message) },
        tags,
        summary: 'Remove the authenticator app, unless it is the last way to sign in',
        description:
          'Deletes the secret that the app uses. 409 if you would then have no other way to sign in.',
      },
      config: {
        errors: [
          ...bearerErrors,
          authErrors.reauthRequired(),
          authErrors.totpNotFound(),
          authErrors.lastFactor(),
        ],
      },
    },
    async (request) => {
      await totpSetup.remove(callerOf(request), senderOf(request));
      return removed;
    },
  );
}

function addSignIn(app: HttpApp, { totpSignIns, limits }: TotpApi): void {
  app.post(
    routes.totpVerify,
    {
      access: 'public',
      preValidation: limits.verify,
      schema: {
        body: Type.Object({ email, code: Code }),
        response: { 200: Tokens },
        tags,
        summary: 'Sign in with a code of an authenticator app; the first code completes the setup',
        description:
          'Takes `email` and `code` and returns tokens. Each code works once; too many wrong ones refuse this way of signing in for a while.',
      },
      config: { errors: [authErrors.invalidCode(), limitError] },
    },
    (request) => {
      const { email: address, code } = request.body;
      return totpSignIns.verify({ email: address, code: codeOf(code) }, visitorOf(request));
    },
  );
}

function wantsQrCode(request: FastifyRequest): boolean {
  const { qr } = request.query as { qr?: string };
  return qr === 'svg' || /\bimage\/svg\+xml\b/i.test(request.headers.accept ?? '');
}

function sendQrCode(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', 'image/svg+xml; charset=utf-8').send(qrCodeSvg(text));
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import { visitorOf } from '#kit/http/visitor.ts';
import { Type } from '#kit/schema.ts';
import type { ApiParts } from './api.ts';
import { callerOf, senderOf } from './api-guard.ts';
import { Code, codeOf, email, message, Tokens } from './api-schemas.ts';
import { refusals } from './refusals.ts';
import { routes } from './routes.ts';
import { qrOf } from './totp-qr.ts';

const removed = { message: 'Authenticator app removed' } as const;
const tags = ['authenticator app'];
const badToken = [refusals.invalidToken(), refusals.tokenExpired()];
const limited = refusals.rateLimited(60);

const Enrolment = Type.Object({
  secret: Type.String({ examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'] }),
  otpauth_url: Type.String({ examples: ['otpauth://totp/Octavo:alice%40example.com?secret=JBSWY3DP'] }),
});

export function addTotp(parts: ApiParts): void {
  addEnrolment(parts);
  addVerification(parts);
  addRemoval(parts);
}

function addEnrolment({ app, guards, totps }: ApiParts): void {
  app.post(
    routes.totpEnroll,
    {
      ...guards.enroll,
      schema: {
        body: Type.Object({ email }),
        querystring: Type.Object({ qr: Type.Optional(Type.Literal('svg')) }),
        response: { 200: Enrolment },
        tags,
        summary: 'Begin to set up an authenticator app',
        description:
          'With a token the secret is for its user, without one for a user of its own. `qr=svg`, or asking for image/svg+xml, gives the QR code instead.',
      },
      config: {
        errors: [
          refusals.invalidEmail(),
          refusals.missingToken(),
          ...badToken,
          refusals.reauthRequired(),
          refusals.emailMismatch(),
          limited,
        ],
      },
    },
    async (request, reply) => {
      const asking = { caller: request.caller, ...senderOf(request) };
      const enrolment = await totps.enroll(request.body.email, asking);
      return wantsQr(request) ? sendQr(reply, enrolment.otpauth_url) : enrolment;
    },
  );
}

function addVerification({ app, guards, totpSignIns }: ApiParts): void {
  app.post(
    routes.totpVerify,
    {
      ...guards.verify,
      schema: {
        body: Type.Object({ email, code: Code }),
        response: { 200: Tokens },
        tags,
        summary: 'Sign in by the code of an authenticator app; the first one also ends its setting up',
      },
      config: { errors: [refusals.invalidCode(), limited] },
    },
    (request) => {
      const given = { email: request.body.email, code: codeOf(request.body.code) };
      return totpSignIns.verify(given, visitorOf(request));
    },
  );
}

function addRemoval({ app, guards, totps }: ApiParts): void {
  app.delete(
    routes.totp,
    {
      ...guards.bearer,
      schema: {
        response: { 200: message(removed.message) },
        tags,
        summary: 'Remove the authenticator app',
      },
      config: {
        errors: [
          refusals.missingToken(),
          ...badToken,
          refusals.reauthRequired(),
          refusals.totpNotFound(),
          refusals.lastFactor(),
        ],
      },
    },
    async (request) => {
      await totps.remove(callerOf(request), senderOf(request));
      return removed;
    },
  );
}

function wantsQr(request: FastifyRequest): boolean {
  const { qr } = request.query as { qr?: string };
  return qr === 'svg' || /\bimage\/svg\+xml\b/i.test(request.headers.accept ?? '');
}

function sendQr(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', 'image/svg+xml; charset=utf-8').send(qrOf(text));
}

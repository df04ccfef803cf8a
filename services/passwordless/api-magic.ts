import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#kit/errors.ts';
import { visitorOf } from '#kit/http/visitor.ts';
import { Type } from '#kit/schema.ts';
import type { ApiParts } from './api.ts';
import { codeOf, message, Tokens, VerifyMagic } from './api-schemas.ts';
import { orNobody } from './caller.ts';
import { refusals } from './refusals.ts';
import { routes } from './routes.ts';

const onItsWay = {
  message: 'If the address can receive mail, a sign-in link is on its way.',
} as const;
const tags = ['magic link'];
const tokenCharactersMax = 512;
const errors = [refusals.invalidToken(), refusals.tokenExpired(), refusals.rateLimited(60)];

export function addMagicLinks(parts: ApiParts): void {
  addRequest(parts);
  addVerification(parts);
}

/** Nothing in the answer, nor whether there is a limit, tells anything about the address. */
function addRequest({ app, guards, magicLinks, sessions }: ApiParts): void {
  app.post(
    routes.requestMagic,
    {
      ...guards.bearerIfValid,
      schema: {
        body: Type.Unknown({ examples: [{ email: 'alice@example.com' }] }),
        response: { 200: message(onItsWay.message) },
        tags,
        summary: 'Send a magic link',
        description: 'The answer is the same for every address, also for what is none.',
      },
    },
    async (request) => {
      await guards.sendMagic(request, async () => {
        const { email } = (request.body ?? {}) as { email?: unknown };
        if (typeof email !== 'string') return false;
        // Whose token asks keeps, once the address is verified, what they have set up. A bad token is as good as none.
        const caller = await orNobody(sessions.identify(request.headers.authorization));
        return magicLinks.request(email, { caller, locale: request.headers['accept-language'] });
      });
      return onItsWay;
    },
  );
}

function addVerification({ app, guards, magicLinks, landing }: ApiParts): void {
  // Of its own, since the one that goes with GET would use the link up.
  app.head(routes.verifyMagic, { access: 'public', schema: { hide: true } as object }, (_request, reply) =>
    reply.header('content-type', 'text/html; charset=utf-8').send(),
  );
  app.get(
    routes.verifyMagic,
    {
      access: guards.verify.access,
      preValidation: async (request, reply) => {
        if (!isOnlyLooking(request)) await guards.verify.preValidation(request, reply);
      },
      exposeHeadRoute: false,
      schema: {
        response: { 200: Tokens },
        querystring: Type.Object({ token: Type.Unknown({ examples: ['b3BhcXVl'] }) }),
        tags,
        summary: 'Sign in by a magic link',
        description:
          'Browsers, mail scanners and whoever fetches ahead get a page with a button, which uses nothing up.',
      },
      config: { errors },
    },
    (request, reply) => {
      const token = checkToken((request.query as { token?: unknown }).token);
      if (isOnlyLooking(request)) return landing(request, reply, token) as never;
      return magicLinks.verify(token, visitorOf(request));
    },
  );
  app.post(
    routes.verifyMagic,
    {
      ...guards.verify,
      schema: {
        body: VerifyMagic,
        response: { 200: Tokens },
        tags,
        summary: 'Sign in by the token of a magic link, or by the code of the same mail',
      },
      config: { errors },
    },
    (request) => {
      const { token, email, code } = request.body;
      if (token !== undefined) return magicLinks.verify(checkToken(token), visitorOf(request));
      if (email === undefined || code === undefined) throw invalid('token, or email and code, is required');
      return magicLinks.verifyCode({ email, code: codeOf(code) }, visitorOf(request));
    },
  );
}

/** Shows a page to whoever would not read JSON: see {@link isOnlyLooking}. */
export type Landing = (request: FastifyRequest, reply: FastifyReply, token: string) => Promise<FastifyReply>;

/** Browsers that navigate or fetch ahead, and mail scanners, which mostly call themselves browsers. */
function isOnlyLooking({ headers }: FastifyRequest): boolean {
  const purposes = [headers['sec-purpose'], headers.purpose, headers['x-purpose'], headers['x-moz']];
  if (purposes.some((purpose) => /prefetch|preview|prerender/i.test(String(purpose ?? '')))) return true;
  return /\btext\/html\b|\bapplication\/xhtml\+xml\b/i.test(headers.accept ?? '');
}

function checkToken(token: unknown): string {
  if (typeof token === 'string' && token.length > 0 && token.length <= tokenCharactersMax) return token;
  throw invalid(`token must be there once, with 1 to ${tokenCharactersMax} characters`);
}

function invalid(problem: string): AppError {
  return new AppError('invalid_input', problem);
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#kit/errors.ts';
import type { AccessRule } from '#kit/http/access.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { visitorOf } from '#kit/http/visitor.ts';
import { Type } from '#kit/schema.ts';
import { limitError } from '../api-limits.ts';
import { Code, codeOf, email, message, Tokens } from '../api-schemas.ts';
import { authErrors } from '../errors.ts';
import type { RequestLimits } from '../limits.ts';
import { routes } from '../routes.ts';
import { orUndefined, type Sessions } from '../sessions/index.ts';
import type { MagicLinks } from './magic-links.ts';

const tags = ['magic link'];
const requested = {
  message: 'If the address can receive mail, a sign-in link is on its way.',
} as const;
const tokenCharactersMax = 512;
const errors = [authErrors.invalidToken(), authErrors.tokenExpired(), limitError];

/** The response is 200 whatever is sent, so an invalid token is ignored. */
const ignoredBearer: AccessRule = { security: [{}, { bearer: [] }] };

/** Shows browsers the page of a link: see {@link isOnlyLooking}. */
export type ShowLanding = (
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
) => Promise<FastifyReply>;

interface MagicLinkApi {
  readonly magicLinks: MagicLinks;
  readonly sessions: Sessions;
  readonly limits: RequestLimits;
  readonly showLanding: ShowLanding;
}

export function addMagicLinkApi(app: HttpApp, parts: MagicLinkApi): void {
  addRequest(app, parts);
  addVerificationByLink(app, parts);
  addVerificationByPost(app, parts);
}

/** The response is the same for every address, and also when a limit was reached. */
function addRequest(app: HttpApp, { magicLinks, sessions, limits }: MagicLinkApi): void {
  app.post(
    routes.requestMagic,
    {
      access: ignoredBearer,
      schema: {
        body: Type.Unknown({ examples: [{ email: 'alice@example.com' }] }),
        response: { 200: message(requested.message) },
        tags,
        summary: 'Send a magic link',
        description: 'The response is the same for every address, even for one that is not valid.',
      },
    },
    async (request) => {
      await limits.sendMagic(request, async () => {
        const { email: address } = (request.body ?? {}) as { email?: unknown };
        if (typeof address !== 'string') return false;
        // Whose token asks keeps, once the address is verified, the sign-in methods they have added.
        const caller = await orUndefined(sessions.identify(request.headers.authorization));
        return magicLinks.request(address, { caller, locale: request.headers['accept-language'] });
      });
      return requested;
    },
  );
}

function addVerificationByLink(app: HttpApp, { magicLinks, limits, showLanding }: MagicLinkApi): void {
  // Fastify answers HEAD by running the GET handler, which would use up the link.
  app.head(routes.verifyMagic, { access: 'public', schema: { hide: true } as object }, (_request, reply) =>
    reply.header('content-type', 'text/html; charset=utf-8').send(),
  );
  app.get(
    routes.verifyMagic,
    {
      access: 'public',
      preValidation: async (request, reply) => {
        if (!isOnlyLooking(request)) await limits.verify(request, reply);
      },
      exposeHeadRoute: false,
      schema: {
        response: { 200: Tokens },
        querystring: Type.Object({ token: Type.Unknown({ examples: ['b3BhcXVl'] }) }),
        tags,
        summary: 'Sign in with a magic link',
        description:
          'Browsers, mail scanners and prefetchers get a page with a button instead, which does not use up the link.',
      },
      config: { errors },
    },
    (request, reply) => {
      const token = checkToken((request.query as { token?: unknown }).token);
      if (isOnlyLooking(request)) return showLanding(request, reply, token) as never;
      return magicLinks.verify(token, visitorOf(request));
    },
  );
}

function addVerificationByPost(app: HttpApp, { magicLinks, limits }: MagicLinkApi): void {
  app.post(
    routes.verifyMagic,
    {
      access: 'public',
      preValidation: limits.verify,
      schema: {
        body: Type.Object({
          token: Type.Optional(Type.String()),
          email: Type.Optional(email),
          code: Type.Optional(Code),
        }),
        response: { 200: Tokens },
        tags,
        summary: 'Sign in with the token of a magic link, or with the code from the same mail',
      },
      config: { errors },
    },
    (request) => {
      const { token, email: address, code } = request.body;
      if (token !== undefined) return magicLinks.verify(checkToken(token), visitorOf(request));
      if (address === undefined || code === undefined) {
        throw new AppError('invalid_input', 'token, or email and code, is required');
      }
      return magicLinks.verifyCode({ email: address, code: codeOf(code) }, visitorOf(request));
    },
  );
}

/** Browsers that navigate or prefetch, and mail scanners, most of which call themselves browsers. */
function isOnlyLooking({ headers }: FastifyRequest): boolean {
  const purposes = [headers['sec-purpose'], headers.purpose, headers['x-purpose'], headers['x-moz']];
  if (purposes.some((purpose) => /prefetch|preview|prerender/i.test(String(purpose ?? '')))) return true;
  return /\btext\/html\b|\bapplication\/xhtml\+xml\b/i.test(headers.accept ?? '');
}

function checkToken(token: unknown): string {
  if (typeof token === 'string' && token.length > 0 && token.length <= tokenCharactersMax) return token;
  throw new AppError('invalid_input', `token is required once, with 1 to ${tokenCharactersMax} characters`);
}

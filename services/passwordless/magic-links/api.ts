import { AppError, Type } from '@octavo/core';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import { visitorOf } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { limitError } from '../api/limits.ts';
import { Code, codeOf, email, message, Tokens } from '../api/schemas.ts';
import { authErrors } from '../errors.ts';
import type { RequestLimits } from '../limits.ts';
import { routes } from '../routes.ts';
import { type Caller, orUndefined, type Sessions } from '../sessions/index.ts';
import type { MagicLinks } from './magic-links.ts';

const tags = ['magic link'];
const requested = {
  message: 'If the address can receive mail, a sign-in link is on its way.',
} as const;
const tokenCharactersMax = 512;
const errors = [authErrors.invalidToken(), authErrors.tokenExpired(), limitError];

/** An invalid token is ignored: asking always returns 200, and whose token has expired must be able to sign in again. */
const ignoredBearer: AccessRule = { security: [{}, { bearer: [] }] };

const verification =
  'The first link used decides who owns the address: the user of the token, who keeps their sign-in methods, or else a new user.';

/** Shows browsers the page of a link: see {@link isOnlyLooking}. Without a token, the page says that the link is not complete. */
export type ShowLanding = (
  request: FastifyRequest,
  reply: FastifyReply,
  token: string | undefined,
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
        const caller = await callerOf(request, sessions);
        return magicLinks.request(address, { caller, locale: request.headers['accept-language'] });
      });
      return requested;
    },
  );
}

function addVerificationByLink(app: HttpApp, parts: MagicLinkApi): void {
  const { magicLinks, sessions, limits, showLanding } = parts;
  // Fastify answers HEAD by running the GET handler, which would use up the link.
  app.head(routes.verifyMagic, { access: 'public', schema: { hide: true } }, (_request, reply) =>
    reply.header('content-type', 'text/html; charset=utf-8').send(),
  );
  app.get(
    routes.verifyMagic,
    {
      access: ignoredBearer,
      preValidation: async (request, reply) => {
        if (isOnlyLooking(request)) return showLanding(request, reply, findToken(request.query));
        await limits.verify(request, reply);
      },
      exposeHeadRoute: false,
      schema: {
        response: {
          200: {
            description: 'The tokens, or the page for browsers',
            content: {
              'application/json': { schema: Tokens },
              'text/html': { schema: Type.String({ examples: ['<!doctype html>'] }) },
            },
          },
        },
        querystring: Type.Object({ token: Type.Unknown({ examples: ['b3BhcXVl'] }) }),
        tags,
        summary: 'Sign in with a magic link',
        description:
          'Browsers, mail scanners and prefetchers get a page with a button instead, which does not use up the link. ' +
          verification,
      },
      config: { errors },
    },
    async (request) => {
      const token = checkToken((request.query as { token?: unknown }).token);
      return await magicLinks.verify(token, await useOf(request, sessions));
    },
  );
}

function addVerificationByPost(app: HttpApp, { magicLinks, sessions, limits }: MagicLinkApi): void {
  app.post(
    routes.verifyMagic,
    {
      access: ignoredBearer,
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
        description: verification,
      },
      config: { errors },
    },
    async (request) => {
      const { token, email: address, code } = request.body;
      const use = await useOf(request, sessions);
      if (token !== undefined) return magicLinks.verify(checkToken(token), use);
      if (address === undefined || code === undefined) {
        throw new AppError('invalid_input', 'token, or email and code, is required');
      }
      return magicLinks.verifyCode({ email: address, code: codeOf(code) }, use);
    },
  );
}

function callerOf(request: FastifyRequest, sessions: Sessions): Promise<Caller | undefined> {
  return orUndefined(sessions.identify(request.headers.authorization));
}

async function useOf(request: FastifyRequest, sessions: Sessions) {
  return { caller: await callerOf(request, sessions), visitor: visitorOf(request) };
}

/** Browsers that navigate or prefetch, and mail scanners, most of which call themselves browsers. */
function isOnlyLooking({ headers }: FastifyRequest): boolean {
  const purposes = [headers['sec-purpose'], headers.purpose, headers['x-purpose'], headers['x-moz']];
  if (purposes.some((purpose) => /prefetch|preview|prerender/i.test(String(purpose ?? '')))) return true;
  return /\btext\/html\b|\bapplication\/xhtml\+xml\b/i.test(headers.accept ?? '');
}

function findToken(query: unknown): string | undefined {
  const { token } = query as { token?: unknown };
  return isToken(token) ? token : undefined;
}

function isToken(token: unknown): token is string {
  return typeof token === 'string' && token.length > 0 && token.length <= tokenCharactersMax;
}

function checkToken(token: unknown): string {
  if (isToken(token)) return token;
  throw new AppError('invalid_input', `token is required once, with 1 to ${tokenCharactersMax} characters`);
}

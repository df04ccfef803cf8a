import { AppError } from '@octavo/core';
import type { HttpApp } from '@octavo/web/server';
import { refuseLong, visitorOf } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest, onRequestHookHandler, preValidationHookHandler } from 'fastify';
import type { Accounts } from './accounts/accounts.ts';
import type { SignIns } from './accounts/sign-ins.ts';
import { addAccountRoutes, bearer, bearerErrors, callerOf, type RouteOptions } from './api-account.ts';
import { Credentials, Issued, message, RefreshToken } from './api-schemas.ts';
import { errors } from './errors.ts';
import { addLinkRoutes } from './links/api.ts';
import type { MailLinks } from './links/links.ts';
import { routes } from './routes.ts';

export interface ApiOptions {
  readonly accounts: Accounts;
  readonly signIns: SignIns;
  readonly links: MailLinks;
  /** Throws RATE_LIMITED. */
  limit(request: FastifyRequest, reply: FastifyReply): void;
}

const changePasswordPage = '/#password';

/** Adds every endpoint. A request passes these in order: body, access, rate limit, validation, handler. */
export function addApi(app: HttpApp, { accounts, signIns, links, limit }: ApiOptions): void {
  // Where password managers send people to change a password (W3C, A Well-Known URL for Changing Passwords).
  app.get(routes.changePasswordHint, { access: 'public', schema: { hide: true } }, (_request, reply) =>
    reply.code(302).header('location', changePasswordPage).send(),
  );
  app.register(async (scope) => {
    scope.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'no-store');
    });
    scope.addHook('onRequest', requireJson);
    scope.addHook('preValidation', requireObject);
    const preValidation: preValidationHookHandler = (request, reply, done) => {
      limit(request, reply);
      done();
    };
    addSignInRoutes(scope, { accounts, signIns, preValidation });
    addAccountRoutes(scope, { accounts, signIns, preValidation });
    addLinkRoutes(scope, { links, preValidation, bearer: bearer(signIns), bearerErrors, callerOf });
  });
}

const tags = ['sign-in'];
const verifyFirst = { message: 'Verify the address by the link that was mailed to it' } as const;
const loggedOut = { message: 'Logged out successfully' } as const;
const openErrors = [errors.rateLimited(60), errors.missingSecret()];

function addSignInRoutes(app: HttpApp, { accounts, signIns, preValidation }: RouteOptions): void {
  app.post(
    routes.register,
    {
      access: 'public',
      preValidation,
      schema: {
        body: Credentials,
        response: { 201: Issued, 202: message(verifyFirst.message) },
        tags,
        summary: 'Register',
        description:
          'Takes `email` and `password` and returns a pair of tokens for the new account. 409 if the address is taken. 202 without tokens if the address must be verified first, which is a setting.',
      },
      config: {
        errors: [
          errors.invalidEmail(),
          errors.weakPassword('must be at least 8 characters'),
          errors.duplicateEmail(),
          ...openErrors,
        ],
      },
    },
    async (request, reply) => {
      const tokens = await accounts.register(request.body, visitorOf(request));
      if (!tokens) return reply.code(202).send(verifyFirst);
      return reply.code(201).send({ tokens });
    },
  );
  app.post(
    routes.login,
    {
      access: 'public',
      preValidation,
      schema: {
        body: Credentials,
        response: { 200: Issued },
        tags,
        summary: 'Sign in',
        description:
          'Takes `email` and `password` and returns a pair of tokens. Several wrong passwords lock the account for a while; the response does not tell whether the account exists.',
      },
      config: {
        errors: [errors.invalidCredentials(), errors.emailNotVerified(), errors.locked(900), ...openErrors],
      },
    },
    async (request) => ({ tokens: await signIns.login(request.body, visitorOf(request)) }),
  );
  app.post(
    routes.refresh,
    {
      access: 'public',
      preValidation,
      schema: {
        body: RefreshToken,
        response: { 200: Issued },
        tags,
        summary: 'Exchange a refresh token for a new pair',
        description:
          'Takes a `refreshToken` and returns the next pair. The old one is no longer valid; using it again ends the session, because it may have been stolen.',
      },
      config: {
        errors: [errors.invalidToken(), errors.tokenExpired(), errors.userNotFound(), ...openErrors],
      },
    },
    async (request) => ({ tokens: signIns.refresh(request.body.refreshToken, visitorOf(request)) }),
  );
  app.post(
    routes.logout,
    {
      access: 'public',
      preValidation,
      schema: {
        body: RefreshToken,
        response: { 200: message(loggedOut.message) },
        tags,
        summary: 'End the session of a refresh token',
        description:
          'Takes a `refreshToken` and ends its session. The response is 200 even if the token is invalid.',
      },
      config: { errors: openErrors },
    },
    async (request) => {
      signIns.logout(request.body.refreshToken);
      return loggedOut;
    },
  );
}

/** A body of another type is INVALID_INPUT here, but a body that is too long is openErrors 413, so that comes first. */
const requireJson: onRequestHookHandler = (request, _reply, done) => {
  refuseLong(request);
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
  const hasBody = coding !== undefined || length !== '0';
  const isRead = request.method !== 'GET' && request.method !== 'HEAD';
  if (hasBody && isRead && !/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new AppError('invalid_input', 'The request body must be application/json.');
  }
  done();
};

/** Requires an object as the body, also on routes without one. */
const requireObject: preValidationHookHandler = ({ body }, _reply, done) => {
  if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body))) {
    throw new AppError('invalid_input', 'The request body must be an object.');
  }
  done();
};

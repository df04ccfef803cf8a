import type { FastifyReply, FastifyRequest, onRequestHookHandler, preValidationHookHandler } from 'fastify';
import { AppError } from '#kit/errors.ts';
import { refuseLong } from '#kit/http/body.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { visitorOf } from '#kit/http/visitor.ts';
import type { Accounts } from './accounts.ts';
import { addAccountRoutes, type RouteOptions } from './api-account.ts';
import { Credentials, Issued, message, RefreshToken } from './api-schemas.ts';
import { errors } from './errors.ts';
import { routes } from './routes.ts';
import type { SignIns } from './sign-ins.ts';

export interface ApiOptions {
  readonly accounts: Accounts;
  readonly signIns: SignIns;
  /** Throws RATE_LIMITED. */
  limit(request: FastifyRequest, reply: FastifyReply): void;
}

const changePasswordPage = '/#password';

/** Adds every endpoint. A request passes these in order: body, access, rate limit, validation, handler. */
export function addApi(app: HttpApp, { accounts, signIns, limit }: ApiOptions): void {
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
  });
}

const tags = ['sign-in'];
const loggedOut = { message: 'Logged out successfully' } as const;
const openErrors = [errors.rateLimited(60), errors.missingSecret()];

function addSignInRoutes(app: HttpApp, { accounts, signIns, preValidation }: RouteOptions): void {
  app.post(
    routes.register,
    {
      access: 'public',
      preValidation,
      schema: { body: Credentials, response: { 201: Issued }, tags, summary: 'Register' },
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
      reply.code(201);
      return { tokens: await accounts.register(request.body, visitorOf(request)) };
    },
  );
  app.post(
    routes.login,
    {
      access: 'public',
      preValidation,
      schema: { body: Credentials, response: { 200: Issued }, tags, summary: 'Log in' },
      config: { errors: [errors.invalidCredentials(), errors.locked(900), ...openErrors] },
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

/** Also on routes that take no body: what is sent is an object, or it is malformed. */
const requireObject: preValidationHookHandler = ({ body }, _reply, done) => {
  if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body))) {
    throw new AppError('invalid_input', 'The request body must be an object.');
  }
  done();
};

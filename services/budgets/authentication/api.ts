import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { AccessRule } from '#kit/http/access.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { Type } from '#kit/schema.ts';
import { callerOf } from '../api-access.ts';
import { routes } from '../routes.ts';
import {
  type Accounts,
  deleteProfile,
  getProfile,
  login,
  register,
  resetOrRequest,
  updateProfile,
  verifyOrRequest,
} from './accounts.ts';
import { endSession, tokenSeconds } from './tokens.ts';
import {
  Confirmation,
  EmailVerification,
  errors,
  Login,
  PasswordReset,
  Profile,
  ProfileChange,
  Registration,
  User,
} from './user.ts';

export interface AuthenticationApiParts {
  readonly accounts: Accounts;
  readonly bearer: AccessRule;
  /** Throws `rate_limited` for a client address with too many requests. */
  limit(request: FastifyRequest, reply: FastifyReply): void;
}

const Message = Type.Object({ message: Type.String() }, { title: 'Message' });
const token = Type.String({ examples: ['eyJhbGciOiJIUzI1NiJ9.e30.c2ln'] });
const tags = ['Accounts'];

export function addAuthenticationApi(
  app: HttpApp,
  { accounts, bearer, limit }: AuthenticationApiParts,
): void {
  const onRequest: onRequestHookHandler = (request, reply, done) => {
    limit(request, reply);
    reply.header('cache-control', 'no-store');
    done();
  };
  addSignIn(app, accounts, onRequest);
  addMailed(app, accounts, onRequest);
  app.post(
    routes.logout,
    {
      access: bearer,
      onRequest,
      schema: {
        operationId: 'logout',
        summary: 'End the session of the token',
        tags,
        response: { 200: Message },
      },
    },
    async (request) => {
      await endSession(accounts.core, callerOf(request));
      return { message: 'Logged out' };
    },
  );
  addProfile(app, accounts, bearer);
}

function addSignIn(app: HttpApp, accounts: Accounts, onRequest: onRequestHookHandler): void {
  app.post(
    routes.register,
    {
      access: 'public',
      onRequest,
      schema: {
        operationId: 'register',
        summary: 'Create an account and sign in',
        tags,
        body: Registration,
        response: {
          201: Type.Object({ message: Type.String(), user: User, token }, { title: 'Registered' }),
        },
      },
      config: { errors: [errors.taken(), 'rate_limited'] },
    },
    async (request, reply) => {
      const { user, token } = await register(accounts, request.body);
      reply.code(201).header('location', routes.profile);
      return { message: 'User registered', user, token };
    },
  );
  app.post(
    routes.login,
    {
      access: 'public',
      onRequest,
      schema: {
        operationId: 'login',
        summary: 'Sign in with a password',
        tags,
        body: Login,
        response: {
          200: Type.Object(
            {
              message: Type.String(),
              token,
              tokenType: Type.Literal('Bearer'),
              expiresIn: Type.Integer({ description: 'Seconds', examples: [tokenSeconds] }),
              user: User,
            },
            { title: 'LoggedIn' },
          ),
        },
      },
      config: { errors: [errors.wrongCredentials(), errors.disabled(), errors.locked(900), 'rate_limited'] },
    },
    async (request) => {
      const { user, token } = await login(accounts, request.body);
      return { message: 'Logged in', token, tokenType: 'Bearer' as const, expiresIn: tokenSeconds, user };
    },
  );
}

function addMailed(app: HttpApp, accounts: Accounts, onRequest: onRequestHookHandler): void {
  const open = { access: 'public', onRequest, config: { errors: ['rate_limited'] } } as const;
  app.post(
    routes.verifyEmail,
    {
      ...open,
      schema: {
        operationId: 'verifyEmail',
        summary: 'Verify the e-mail address, or get another mail',
        tags,
        body: EmailVerification,
        response: { 200: Message },
      },
    },
    async (request) => {
      await verifyOrRequest(accounts, request.body);
      if (request.body.token !== undefined) return { message: 'E-mail address verified' };
      return { message: 'If this address has an account to verify, a link is on its way.' };
    },
  );
  app.post(
    routes.resetPassword,
    {
      ...open,
      schema: {
        operationId: 'resetPassword',
        summary: 'Get a link by e-mail, or set a new password with its token',
        description: 'A new password ends every session.',
        tags,
        body: PasswordReset,
        response: { 200: Message },
      },
    },
    async (request) => {
      const done = await resetOrRequest(accounts, request.body);
      if (done === 'reset') return { message: 'Password changed. Log in with the new one.' };
      return { message: 'If this address has an account, a link is on its way.' };
    },
  );
}

function addProfile(app: HttpApp, accounts: Accounts, access: AccessRule): void {
  app.get(
    routes.profile,
    {
      access,
      schema: { operationId: 'getProfile', summary: 'Your account', tags, response: { 200: Profile } },
    },
    (request) => getProfile(accounts, callerOf(request)),
  );
  app.put(
    routes.profile,
    {
      access,
      schema: {
        operationId: 'updateProfile',
        summary: 'Change your account',
        description: 'A new address must be verified again. A new password ends all other sessions.',
        tags,
        body: ProfileChange,
        response: { 200: Profile },
      },
      config: { errors: [errors.wrongPassword(), errors.taken(), errors.locked(900)] },
    },
    (request) => updateProfile(accounts, callerOf(request), request.body),
  );
  app.delete(
    routes.profile,
    {
      access,
      schema: {
        operationId: 'deleteProfile',
        summary: 'Erase your account with everything in it',
        tags,
        body: Confirmation,
        response: { 200: Type.Object({ message: Type.String(), id: Type.String() }, { title: 'Erased' }) },
      },
      config: { errors: [errors.wrongPassword(), errors.locked(900)] },
    },
    async (request) => {
      const caller = callerOf(request);
      await deleteProfile(accounts, caller, request.body.password);
      return { message: 'Account erased', id: caller.userId };
    },
  );
}

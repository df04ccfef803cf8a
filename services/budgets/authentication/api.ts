import { Type } from '@octavo/core';
import { IdempotencyHeader } from '@octavo/web/rest';
import type { AccessRule, HttpApp, LimitSharedRequest } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { runCommand } from '../commands.ts';
import { callerOf, callerWithIdempotencyKey } from '../edges/api-access.ts';
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
import type { AnonymousIdempotency } from './anonymous-idempotency.ts';
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
  readonly onceKeys: AnonymousIdempotency;
  /** Throws `rate_limited` for a client address with too many requests. */
  readonly limit: LimitSharedRequest;
}

const Message = Type.Object({ message: Type.String() }, { title: 'Message' });
const token = Type.String({ examples: ['eyJhbGciOiJIUzI1NiJ9.e30.c2ln'] });
const tags = ['Accounts'];

export function addAuthenticationApi(
  app: HttpApp,
  { accounts, bearer, onceKeys, limit }: AuthenticationApiParts,
): void {
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store');
    await limit(request, reply);
  };
  const open = { access: 'public', onRequest } as const;
  addSignIn(app, { accounts, onceKeys, open });
  addMailed(app, { accounts, onceKeys, open });
  app.post(
    routes.logout,
    {
      access: bearer,
      onRequest,
      schema: {
        operationId: 'logout',
        summary: 'End the session of the token',
        description: 'Ends this session at once. Other sessions of the account go on.',
        tags,
        headers: IdempotencyHeader,
        response: { 200: Message },
      },
      config: { errors: ['conflict', 'rate_limited'] },
    },
    async (request, reply) => {
      const caller = callerWithIdempotencyKey(request, reply);
      await runCommand(accounts.context, caller, ({ session }) => endSession(session, caller));
      return { message: 'Logged out' };
    },
  );
  addProfile(app, accounts, bearer);
}

interface OpenParts extends Pick<AuthenticationApiParts, 'accounts' | 'onceKeys'> {
  readonly open: { readonly access: 'public'; readonly onRequest: onRequestHookHandler };
}

function addSignIn(app: HttpApp, { accounts, onceKeys, open }: OpenParts): void {
  app.post(
    routes.register,
    {
      ...open,
      schema: {
        operationId: 'register',
        summary: 'Create an account and sign in',
        description:
          'Creates an account and mails a link that verifies its address. An address that is taken gives 409.',
        tags,
        headers: IdempotencyHeader,
        body: Registration,
        response: {
          201: Type.Object({ message: Type.String(), user: User, token }, { title: 'Registered' }),
        },
      },
      config: { errors: [errors.taken(), 'rate_limited'] },
    },
    async (request, reply) => {
      const { user, token } = await register(accounts, request.body, {
        once: onceKeys.of(request, reply),
      });
      reply.code(201).header('location', routes.profile);
      return { message: 'User registered', user, token };
    },
  );
  app.post(
    routes.login,
    {
      ...open,
      schema: {
        operationId: 'login',
        summary: 'Sign in with a password',
        description:
          'Starts a session and returns its token. Too many wrong passwords lock the account for a while.',
        tags,
        headers: IdempotencyHeader,
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
      config: {
        errors: [
          errors.wrongCredentials(),
          errors.disabled(),
          errors.locked(900),
          'conflict',
          'rate_limited',
        ],
      },
    },
    async (request, reply) => {
      const { user, token } = await login(accounts, request.body, { once: onceKeys.of(request, reply) });
      return { message: 'Logged in', token, tokenType: 'Bearer' as const, expiresIn: tokenSeconds, user };
    },
  );
}

function addMailed(app: HttpApp, { accounts, onceKeys, open }: OpenParts): void {
  const config = { errors: ['conflict', 'rate_limited'] } as const;
  app.post(
    routes.verifyEmail,
    {
      ...open,
      config,
      schema: {
        operationId: 'verifyEmail',
        summary: 'Verify the e-mail address, or get another mail',
        description: 'With the `token` of a mail, verifies its address; with an `email`, sends another mail.',
        tags,
        headers: IdempotencyHeader,
        body: EmailVerification,
        response: { 200: Message },
      },
    },
    async (request, reply) => {
      await verifyOrRequest(accounts, request.body, onceKeys.of(request, reply));
      if (request.body.token !== undefined) return { message: 'E-mail address verified' };
      return { message: 'If this address has an account to verify, a link is on its way.' };
    },
  );
  app.post(
    routes.resetPassword,
    {
      ...open,
      config,
      schema: {
        operationId: 'resetPassword',
        summary: 'Get a link by e-mail, or set a new password with its token',
        description: 'A new password ends every session.',
        tags,
        headers: IdempotencyHeader,
        body: PasswordReset,
        response: { 200: Message },
      },
    },
    async (request, reply) => {
      const done = await resetOrRequest(accounts, request.body, onceKeys.of(request, reply));
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
      schema: {
        operationId: 'getProfile',
        summary: 'Your account',
        description: 'Reads the account of the token.',
        tags,
        response: { 200: Profile },
      },
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
        description: 'Deletes budgets, expenses and everything else of the account. It cannot be undone.',
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

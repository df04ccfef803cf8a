import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { FastifyRequest, preValidationHookHandler } from 'fastify';
import type { Accounts } from './accounts/accounts.ts';
import type { SignIns } from './accounts/sign-ins.ts';
import type { Caller, Session } from './accounts/user.ts';
import {
  Confirmation,
  EmailChange,
  message,
  PasswordChange,
  Profile,
  SessionId,
  SessionList,
} from './api-schemas.ts';
import { errors } from './errors.ts';
import { routes } from './routes.ts';

export interface RouteOptions {
  readonly accounts: Accounts;
  readonly signIns: SignIns;
  /** The rate limit, which runs after the access check. */
  readonly preValidation: preValidationHookHandler;
}

const passwordChanged = { message: 'Password changed successfully' } as const;
const emailChanged = { message: 'Email updated successfully' } as const;
const deleted = { message: 'Account deleted successfully' } as const;
const revoked = { message: 'Session revoked successfully' } as const;
const allRevoked = { message: 'All sessions revoked successfully' } as const;

export const bearerErrors = [
  errors.missingToken(),
  errors.invalidToken(),
  errors.tokenExpired(),
  errors.userNotFound(),
  errors.rateLimited(60),
  errors.missingSecret(),
];
const confirmed = [errors.wrongPassword(), errors.locked(900), ...bearerErrors];

/** The routes that require an access token. */
export function addAccountRoutes(app: HttpApp, { accounts, signIns, preValidation }: RouteOptions): void {
  app.decorateRequest('caller');
  const checks = { access: bearer(signIns), preValidation };
  addProfile(app, accounts, checks);
  addSessions(app, signIns, checks);
  addDeletion(app, accounts, checks);
}

/** Access of every route here: a token, and then the rate limit. */
interface Checks {
  readonly access: AccessRule;
  readonly preValidation: preValidationHookHandler;
}

/** The caller of a route is the holder of the bearer token. */
export function bearer(signIns: SignIns): AccessRule {
  return {
    security: [{ bearer: [] }],
    preValidation(request, _reply, done) {
      const caller = signIns.identify(request.headers.authorization);
      request.setDecorator('caller', caller);
      request.userId = caller.user.id;
      done();
    },
  };
}

export function callerOf(request: FastifyRequest): Caller {
  return request.getDecorator('caller');
}

function addProfile(app: HttpApp, accounts: Accounts, { access, preValidation }: Checks): void {
  const tags = ['account'];
  app.get(
    routes.me,
    {
      access,
      preValidation,
      schema: {
        tags,
        response: { 200: Profile },
        summary: 'The user that the token belongs to',
        description: 'Returns id, e-mail address and time of registration of the caller.',
      },
      config: { errors: bearerErrors },
    },
    async (request) => {
      const { id, email, createdMs } = callerOf(request).user;
      return { id, email, createdAt: isoOf(createdMs) };
    },
  );
  app.post(
    routes.changePassword,
    {
      access,
      preValidation,
      schema: {
        tags,
        body: PasswordChange,
        response: { 200: message(passwordChanged.message) },
        summary: 'Change the password and end all sessions',
        description:
          'Takes `currentPassword` and `newPassword`. All sessions end, this one too: log in again with the new password.',
      },
      config: { errors: [errors.weakPassword('must be at least 8 characters'), ...confirmed] },
    },
    async (request) => {
      await accounts.changePassword(callerOf(request), request.body);
      return passwordChanged;
    },
  );
  app.put(
    routes.email,
    {
      access,
      preValidation,
      schema: {
        tags,
        body: EmailChange,
        response: { 200: message(emailChanged.message) },
        summary: 'Change the e-mail address',
        description: 'Takes `newEmail` and `password`. The old address no longer signs in; sessions go on.',
      },
      config: { errors: [errors.invalidEmail(), errors.duplicateEmail(), ...confirmed] },
    },
    async (request) => {
      await accounts.changeEmail(callerOf(request), request.body);
      return emailChanged;
    },
  );
}

function addSessions(app: HttpApp, signIns: SignIns, { access, preValidation }: Checks): void {
  const tags = ['sessions'];
  app.post(
    routes.logoutAll,
    {
      access,
      preValidation,
      schema: {
        tags,
        response: { 200: message(allRevoked.message) },
        summary: 'End all sessions, including this one',
        description: 'Signs the caller out everywhere. All of their refresh tokens are refused from then on.',
      },
      config: { errors: bearerErrors },
    },
    async (request) => {
      signIns.logoutAll(callerOf(request));
      return allRevoked;
    },
  );
  app.get(
    routes.sessions,
    {
      access,
      preValidation,
      schema: {
        tags,
        response: { 200: SessionList },
        summary: 'Live sessions, newest first',
        description: 'Returns each session that has not ended, with its device and when it was last used.',
      },
      config: { errors: bearerErrors },
    },
    async (request) => {
      const caller = callerOf(request);
      return { sessions: signIns.sessionsOf(caller).map((session) => toJson(session, caller.session)) };
    },
  );
  app.delete(
    routes.session,
    {
      access,
      preValidation,
      schema: {
        tags,
        params: SessionId,
        response: { 200: message(revoked.message) },
        summary: 'End one session',
        description: 'Ends one of your sessions by its id. Its refresh token is refused from then on.',
      },
      config: { errors: [errors.sessionNotFound(), ...bearerErrors] },
    },
    async (request) => {
      signIns.revokeSession(callerOf(request), request.params.id);
      return revoked;
    },
  );
}

/** Under two addresses: some clients drop the body of a DELETE. */
function addDeletion(app: HttpApp, accounts: Accounts, { access, preValidation }: Checks): void {
  const options = {
    access,
    preValidation,
    schema: {
      tags: ['account'],
      body: Confirmation,
      response: { 200: message(deleted.message) },
      summary: 'Delete the account',
      description:
        'Takes the `password`, deletes the account and ends its sessions. It cannot be undone. Clients that drop the body of a DELETE use the POST.',
    },
    config: { errors: confirmed },
  };
  const remove = async (request: FastifyRequest<{ Body: { password: string } }>) => {
    await accounts.remove(callerOf(request), request.body.password);
    return deleted;
  };
  app.delete(routes.account, options, remove);
  app.post(routes.accountDeletion, options, remove);
}

function toJson(session: Session, current: Session) {
  const { id, createdMs, lastUsedMs, expiresMs, visitor } = session;
  return {
    id,
    current: session === current,
    createdAt: isoOf(createdMs),
    lastUsedAt: isoOf(lastUsedMs),
    expiresAt: isoOf(expiresMs),
    address: visitor.address,
    userAgent: visitor.userAgent,
  };
}

function isoOf(instantMs: number): string {
  return new Date(instantMs).toISOString();
}

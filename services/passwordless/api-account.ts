import type { ApiParts } from './api.ts';
import { callerOf, senderOf } from './api-guard.ts';
import { message, Profile, SessionId, SessionList } from './api-schemas.ts';
import { refusals } from './refusals.ts';
import { routes } from './routes.ts';
import type { Session } from './session.ts';

const revoked = { message: 'Session revoked' } as const;
const allRevoked = { message: 'All sessions revoked' } as const;
const deleted = { message: 'Account deleted' } as const;
const tags = ['account'];
const always = [refusals.missingToken(), refusals.invalidToken(), refusals.tokenExpired()];

/** What users see and change of themselves. */
export function addAccount(parts: ApiParts): void {
  addProfile(parts);
  addSessions(parts);
}

function addProfile({ app, accounts, guards }: ApiParts): void {
  app.get(
    routes.me,
    {
      ...guards.bearer,
      schema: { tags, response: { 200: Profile }, summary: 'Who the token speaks for' },
      config: { errors: always },
    },
    async (request) => {
      const caller = callerOf(request);
      const { id, email, isVerified, createdMs } = caller.user;
      const { totp, passkeys, recoveryCodes } = await accounts.factors(caller);
      const who = { id, email, email_verified: isVerified, created_at: isoOf(createdMs) };
      return { ...who, totp, passkeys, recovery_codes: recoveryCodes };
    },
  );
  app.delete(
    routes.me,
    {
      ...guards.bearer,
      schema: {
        tags,
        response: { 200: message(deleted.message) },
        summary: 'Delete the account and all that belongs to it',
      },
      config: { errors: [refusals.reauthRequired(), ...always] },
    },
    async (request) => {
      await accounts.remove(callerOf(request), senderOf(request));
      return deleted;
    },
  );
}

function addSessions({ app, sessions, guards }: ApiParts): void {
  app.post(
    routes.logoutAll,
    {
      ...guards.bearerPost,
      schema: {
        tags,
        response: { 200: message(allRevoked.message) },
        summary: 'End all sessions, also this one',
      },
      config: { errors: [refusals.rateLimited(60), ...always] },
    },
    async (request) => {
      await sessions.revokeAll(callerOf(request), senderOf(request));
      return allRevoked;
    },
  );
  app.get(
    routes.sessions,
    {
      ...guards.bearer,
      schema: { tags, response: { 200: SessionList }, summary: 'Live sessions, newest first' },
      config: { errors: always },
    },
    async (request) => {
      const caller = callerOf(request);
      return { sessions: (await sessions.of(caller)).map((each) => shown(each, caller.session)) };
    },
  );
  app.delete(
    routes.session,
    {
      ...guards.bearer,
      schema: {
        tags,
        params: SessionId,
        response: { 200: message(revoked.message) },
        summary: 'End one session',
      },
      config: { errors: [refusals.sessionNotFound(), ...always] },
    },
    async (request) => {
      await sessions.revokeOne(callerOf(request), request.params.id);
      return revoked;
    },
  );
}

function shown(session: Session, current: Session) {
  const { id, amr, authenticatedMs, lastUsedMs, expiresMs, visitor } = session;
  return {
    id,
    current: id === current.id,
    amr: [...amr],
    created_at: isoOf(authenticatedMs),
    last_used_at: isoOf(lastUsedMs),
    expires_at: isoOf(expiresMs),
    address: visitor.address,
    user_agent: visitor.userAgent,
  };
}

function isoOf(instantMs: number): string {
  return new Date(instantMs).toISOString();
}

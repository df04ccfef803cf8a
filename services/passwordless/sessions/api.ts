import { Type } from '@octavo/core';
import type { HttpApp } from '@octavo/web/server';
import { visitorOf } from '@octavo/web/server';
import { type ApiAccess, bearerErrors, callerOf, senderOf } from '../api/access.ts';
import { limitError } from '../api/limits.ts';
import { instant, isoTime, message, opaqueToken, Tokens, uuid } from '../api/schemas.ts';
import { authErrors } from '../errors.ts';
import type { RequestLimits } from '../limits.ts';
import { routes } from '../routes.ts';
import type { Session } from './session.ts';
import type { Sessions } from './sessions.ts';

const tokenRevoked = { message: 'Token revoked' } as const;
const sessionRevoked = { message: 'Session revoked' } as const;
const allRevoked = { message: 'All sessions revoked' } as const;

const SessionList = Type.Object(
  {
    sessions: Type.Array(
      Type.Object({
        id: uuid,
        current: Type.Boolean({ description: 'True for the session of the token' }),
        amr: Type.Array(Type.String(), {
          description: 'Authentication methods (RFC 8176)',
          examples: [['email']],
        }),
        created_at: instant,
        last_used_at: instant,
        expires_at: instant,
        address: Type.String({ examples: ['192.0.2.7'] }),
        user_agent: Type.String({ examples: ['Firefox'] }),
      }),
    ),
  },
  { title: 'SessionList' },
);

interface SessionApi {
  readonly sessions: Sessions;
  readonly access: ApiAccess;
  readonly limits: RequestLimits;
}

export function addSessionApi(app: HttpApp, parts: SessionApi): void {
  addTokens(app, parts);
  addSessions(app, parts);
}

/** Adds routes that take a token in the body and need no bearer token. */
function addTokens(app: HttpApp, { sessions, limits }: SessionApi): void {
  const tags = ['tokens'];
  app.post(
    routes.refresh,
    {
      access: 'public',
      preValidation: limits.refresh,
      schema: {
        body: Type.Object({ refresh_token: opaqueToken }),
        response: { 200: Tokens },
        tags,
        summary: 'Exchange a refresh token for new tokens',
        description:
          'Returns an access token and the next refresh token. The old one is no longer valid; using it again ends the session, because it may have been stolen.',
      },
      config: { errors: [authErrors.invalidToken(), authErrors.tokenExpired(), limitError] },
    },
    (request) => sessions.refresh(request.body.refresh_token, visitorOf(request)),
  );
  app.post(
    routes.revoke,
    {
      access: 'public',
      preValidation: limits.post,
      schema: {
        body: Type.Object({ token: opaqueToken }),
        response: { 200: message(tokenRevoked.message) },
        tags,
        summary: 'End the session of a refresh token or an access token (RFC 7009)',
        description:
          'Takes a `token` of either kind and ends its session. The response is 200 even if the token is invalid.',
      },
      config: { errors: [limitError] },
    },
    async (request) => {
      await sessions.revoke(request.body.token);
      return tokenRevoked;
    },
  );
}

function addSessions(app: HttpApp, { sessions, access, limits }: SessionApi): void {
  const tags = ['account'];
  app.post(
    routes.logoutAll,
    {
      access: access.bearer,
      preValidation: limits.post,
      schema: {
        tags,
        response: { 200: message(allRevoked.message) },
        summary: 'End all sessions, including this one',
        description: 'Signs the caller out everywhere. All of their tokens are refused from then on.',
      },
      config: { errors: [limitError, ...bearerErrors] },
    },
    async (request) => {
      await sessions.revokeAll(callerOf(request), senderOf(request));
      return allRevoked;
    },
  );
  app.get(
    routes.sessions,
    {
      access: access.bearer,
      schema: {
        tags,
        response: { 200: SessionList },
        summary: 'Your sessions, newest first',
        description:
          'Returns each session with its device, how it was signed in to and when it was last used.',
      },
      config: { errors: [...bearerErrors] },
    },
    async (request) => {
      const caller = callerOf(request);
      return { sessions: (await sessions.of(caller)).map((each) => toJson(each, caller.session)) };
    },
  );
  app.delete(
    routes.session,
    {
      access: access.bearer,
      schema: {
        tags,
        params: Type.Object({ id: Type.String() }),
        response: { 200: message(sessionRevoked.message) },
        summary: 'End one session',
        description:
          'Signs out one of your devices by the id of its session. Its tokens are refused from then on.',
      },
      config: { errors: [authErrors.sessionNotFound(), ...bearerErrors] },
    },
    async (request) => {
      await sessions.revokeOne(callerOf(request), request.params.id);
      return sessionRevoked;
    },
  );
}

function toJson(session: Session, current: Session) {
  const { id, amr, authenticatedMs, lastUsedMs, expiresMs, visitor } = session;
  return {
    id,
    current: id === current.id,
    amr: [...amr],
    created_at: isoTime(authenticatedMs),
    last_used_at: isoTime(lastUsedMs),
    expires_at: isoTime(expiresMs),
    address: visitor.address,
    user_agent: visitor.userAgent,
  };
}

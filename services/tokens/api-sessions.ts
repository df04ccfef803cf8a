import type { ApiParts } from './api.ts';
import { message, SessionId, SessionList } from './api-schemas.ts';
import { refusals } from './refusals.ts';
import { routes } from './routes.ts';
import type { Session } from './sessions.ts';

const revoked = { message: 'Session revoked successfully' } as const;
const allRevoked = { message: 'All sessions revoked successfully' } as const;
const bearer = { security: [{ bearer: [] }], tags: ['sessions'] };
const always = [
  refusals.missingToken(),
  refusals.invalidToken(),
  refusals.tokenExpired(),
  refusals.userNotFound(),
  refusals.rateLimited(60),
  refusals.missingSecret(),
];

export function addSessions({ app, signIns, guards }: ApiParts): void {
  app.post(
    routes.logoutAll,
    {
      ...guards.bearer,
      schema: {
        ...bearer,
        response: { 200: message(allRevoked.message) },
        summary: 'End all sessions, also this one',
      },
      config: { errors: always },
    },
    (request, reply) => {
      signIns.logoutAll(request.holder);
      reply.send(allRevoked);
    },
  );
  app.get(
    routes.sessions,
    {
      ...guards.bearer,
      schema: { ...bearer, response: { 200: SessionList }, summary: 'Live sessions, newest first' },
      config: { errors: always },
    },
    (request, reply) => {
      const { holder } = request;
      reply.send({ sessions: signIns.sessionsOf(holder).map((each) => shown(each, holder.session)) });
    },
  );
  app.delete(
    routes.session,
    {
      ...guards.bearer,
      schema: {
        ...bearer,
        params: SessionId,
        response: { 200: message(revoked.message) },
        summary: 'End one session',
      },
      config: { errors: [refusals.sessionNotFound(), ...always] },
    },
    (request, reply) => {
      signIns.revokeSession(request.holder, request.params.id);
      reply.send(revoked);
    },
  );
}

function shown(session: Session, current: Session) {
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

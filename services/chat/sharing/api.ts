import type { Clock } from '@octavo/core';
import { AppError, Type } from '@octavo/core';
import type { HttpApp } from '@octavo/web/server';
import type { FastifyRequest } from 'fastify';
import type { Gate } from '../gate/index.ts';
import { pageRoutes, pathOf, routes } from '../routes.ts';
import type { Reach } from '../sessions/index.ts';
import { type ShareParts, shareSession, unshareSession } from './store.ts';

export interface ShareApiParts extends ShareParts {
  readonly gate: Gate;
  readonly clock: Clock;
  /** Address that people see; that of the request if undefined. */
  readonly publicUrl: string | undefined;
}

const Shared = Type.Object(
  {
    url: Type.String({ description: 'The address for the readers of the chat' }),
    expires_at: Type.String({ format: 'date-time' }),
  },
  { title: 'SharedSession' },
);
const Key = Type.Object({ id: Type.String({ maxLength: 100, format: 'text' }) });
const tags = ['Sessions'];
const access = (gate: Gate) => gate.access('session');

/** Adds the endpoints by which a session is shared with strangers. */
export function addShareApi(app: HttpApp, parts: ShareApiParts): void {
  const { gate, clock, publicUrl } = parts;
  // A forged Host header must not lead readers elsewhere.
  const site = ({ protocol, host }: FastifyRequest) =>
    publicUrl?.replace(/\/$/, '') ?? `${protocol}://${host}`;
  const reachOf = (request: FastifyRequest): Reach => ({
    owner: gate.ownerOf(request),
    nowMs: clock.now(),
  });
  app.post(
    routes.sessionShare,
    {
      access: access(gate),
      config: { errors: ['not_found', 'validation_failed'] },
      schema: {
        tags,
        summary: 'Share a session',
        description:
          'Makes a link to the session as it is now, for 30 days. Whoever has it reads questions, answers and quotes, and nothing else of the documents. Shared again, it is 200 with the same link. The link ends with the session, the account, or a document that is quoted.',
        params: Key,
        response: { 200: Shared, 201: Shared },
      },
    },
    async (request, reply) => {
      const { share, isNew } = await shareSession(parts, reachOf(request), request.params.id);
      const body = {
        url: `${site(request)}${pathOf(pageRoutes.shared, share.token)}`,
        expires_at: new Date(share.expiresAtMs).toISOString(),
      };
      return reply.code(isNew ? 201 : 200).send(body);
    },
  );
  app.delete(
    routes.sessionShare,
    {
      access: access(gate),
      config: { errors: ['not_found'] },
      schema: {
        tags,
        summary: 'End sharing',
        description: 'Ends the link of the session at once. 404 if it is not shared.',
        params: Key,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      if (!(await unshareSession(parts, reachOf(request), request.params.id)))
        throw new AppError('not_found', 'The session is not shared.');
      return reply.code(204).send(null);
    },
  );
}

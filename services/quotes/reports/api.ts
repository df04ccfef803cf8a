import type { Clock } from '@octavo/core';
import { Type } from '@octavo/core';
import type { Database } from '@octavo/data';
import { bodyTypes, type DrfScope, serializer } from '@octavo/drf';
import { blankable, choice, optional, text } from '@octavo/drf/dialect';
import type { HttpApp } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiAccess, readerOf } from '../accounts/index.ts';
import { routes } from '../routes.ts';
import type { Tables } from '../tables.ts';
import { noteMax, reasons } from './report.ts';
import { reportQuote } from './store.ts';

const body = serializer(
  {
    reason: choice(reasons),
    note: optional(blankable(text({ maxLength: noteMax }))),
  },
  { title: 'ReportRequest' },
);

const Report = Type.Object(
  { id: Type.Integer(), quote: Type.Integer(), reason: Type.Enum(reasons), note: Type.String() },
  { title: 'Report' },
);

export interface ReportApiParts {
  readonly database: Database<Tables>;
  readonly access: ApiAccess;
  readonly clock: Clock;
  readonly limitWrites: (request: FastifyRequest, reply: FastifyReply) => void;
}

export function addReportApi(app: HttpApp, drf: DrfScope, parts: ReportApiParts): void {
  const { database, access, clock, limitWrites } = parts;
  app.post(
    routes.report,
    {
      access: access.reader,
      preHandler: async (request: FastifyRequest, reply: FastifyReply) => limitWrites(request, reply),
      config: { errors: ['not_found', 'rate_limited'] },
      schema: {
        tags: ['reports'],
        summary: 'Report a quote to staff',
        description:
          'A second report of the same quote by the same reader replaces the first, if that is still open.',
        params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
        body: body.schema,
        consumes: bodyTypes,
        response: { 201: Report },
      },
    },
    async (request, reply) => {
      const { reason, note = '' } = await body.parse(request.body);
      const key = { quoteId: request.params.id, userId: readerOf(request).id };
      const report = await reportQuote(database, { ...key, reason, note, nowMs: clock.now() });
      return reply.code(201).send(report);
    },
  );
  drf.describe(routes.report, { name: 'Report', description: 'Reports a quote.', access: access.reader });
}

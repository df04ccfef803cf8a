import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Visitor } from '#kit/auth/visitor.ts';
import type { Clock } from '#kit/clock.ts';
import type { HttpApp } from '#kit/http/server.ts';
import type { Domain } from '../domain.ts';

type Limit = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** What the pages are made of: the same parts that answer the API. */
export interface PageParts extends Domain {
  readonly app: HttpApp;
  readonly clock: Clock;
  /** Seals cookies and form tokens. */
  readonly secret: string;
  readonly sessionSeconds: number;
  /** Life of a magic link. */
  readonly linkSeconds: number;
  /** The name that users know us by, also in their authenticator apps. */
  readonly issuer: string;
  /** Where mails are kept instead of being sent, to be read on pages. */
  readonly mailFolder: string | undefined;
  /** Forms count for the same limits as the API. */
  readonly limits: {
    readonly open: Limit;
    readonly enroll: Limit;
    readonly verify: Limit;
    sendMagic(request: FastifyRequest, send: () => Promise<boolean>): Promise<void>;
  };
  visitorOf(request: FastifyRequest): Visitor;
}

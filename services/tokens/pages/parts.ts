import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Visitor } from '#kit/auth/visitor.ts';
import type { Clock } from '#kit/clock.ts';
import type { HttpApp } from '#kit/http/server.ts';
import type { Accounts } from '../accounts.ts';
import type { NewPasswords } from '../new-passwords.ts';
import type { SignIns } from '../sign-ins.ts';

/** What the page is made of: the same parts that answer the API. */
export interface PageParts {
  readonly app: HttpApp;
  readonly accounts: Accounts;
  readonly signIns: SignIns;
  readonly newPasswords: NewPasswords;
  readonly clock: Clock;
  /** Seals cookies and form tokens. */
  readonly secret: string;
  /** Forms count for the same limit as the API. */
  limit(request: FastifyRequest, reply: FastifyReply): void;
  visitorOf(request: FastifyRequest): Visitor;
}

import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { AppError } from '#kit/errors.ts';
import type { Frame } from '#kit/html/layout.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { IngestParts, Reach } from '../documents/index.ts';
import type { Gate } from '../gate/index.ts';
import { type LibraryMode, libraryKeyOf } from '../library.ts';
import type { Owner } from '../owner.ts';
import { listSessions } from '../sessions/index.ts';
import type { Tables } from '../tables.ts';
import type { Turns } from '../turns/index.ts';
import { frameOf } from './pages-frame.ts';

export interface PageParts {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly libraryMode: LibraryMode;
  readonly turns: Turns;
  readonly gate: Gate;
  readonly ingest: IngestParts;
  readonly secret: string;
}

/** Who is at the browser. */
export interface Visitor {
  readonly visit: Visit<never>;
  readonly owner: Owner;
}

export type Routes = PageRoutes<never>;

const chatsShown = 30;

/** The access of a page: with sign-in, whoever is signed in; else each browser as an owner of its own. */
export function visitorsOf({ gate, clock }: PageParts) {
  return async (visit: Visit<never>): Promise<Visitor> => {
    if (!gate.hasSignIn) return { visit, owner: gate.remember(visit.request, visit.reply) };
    const owner = gate.browserOwner(visit.request.cookies, clock.now());
    if (owner === undefined) throw new AppError('unauthenticated', 'Sign in first.');
    return { visit, owner };
  };
}

/** What the page of a visitor is drawn in, with their chats at the side. */
export async function framed(
  { database, clock, gate }: PageParts,
  { visit, owner }: Visitor,
): Promise<Frame> {
  const reach = { owner, nowMs: clock.now() };
  const { sessions } = await listSessions(database, reach, { limit: chatsShown });
  return frameOf(visit, { sessions, isSignedIn: gate.hasSignIn });
}

/** The documents that a visitor may see. */
export function reachOf({ libraryMode }: PageParts, owner: Owner): Reach {
  return { owner, libraryKey: libraryKeyOf(libraryMode, owner) };
}

/** The id in the path. */
export function idIn({ request }: Visit<never>): string {
  return (request.params as { id: string }).id;
}

import type { Clock } from '@octavo/core';
import { AppError, foldAddress, isFromThisMachine, isLoopback } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { OidcSignIn } from '@octavo/people/sign-in';
import type { Frame } from '@octavo/web/html';
import { errorPage } from '@octavo/web/html';
import type { PageRoutes, Visit } from '@octavo/web/pages';
import type { HttpError } from '@octavo/web/server';
import type { Connected, Connections, ServerWatch } from '../connection/index.ts';
import { type IngestParts, reachOf, type Viewer } from '../documents/index.ts';
import type { EmbeddingsInUse, VectorSource } from '../embeddings/index.ts';
import type { Gate } from '../gate/index.ts';
import type { LibraryRules } from '../library.ts';
import type { ChatModel } from '../model/index.ts';
import { type Owner, publicOwner } from '../owner.ts';
import type { CrossEncoder } from '../retrieval/index.ts';
import { pageRoutes } from '../routes.ts';
import { listSessions } from '../sessions/index.ts';
import type { Tables } from '../tables.ts';
import type { TurnRegistry } from '../turns/index.ts';
import { frameOf } from './pages-frame.ts';
import type { Starters } from './starters.ts';

export interface PageParts {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly library: LibraryRules;
  readonly turns: TurnRegistry;
  readonly gate: Gate;
  readonly ingest: IngestParts;
  readonly starters: Starters;
  /** Vectors beside the words. */
  readonly embeddings: EmbeddingsInUse;
  readonly vectorServers: Connected<VectorSource>;
  /** True if the encoder of this machine makes vectors where no server does. */
  readonly hasEncoder: boolean;
  readonly connections: Connections;
  readonly models: Connected<ChatModel>;
  readonly rerankers: Connected<CrossEncoder>;
  readonly watch: ServerWatch;
  /** Such as `production`. */
  readonly environment: string;
  readonly secret: string;
  /** Address that people see, if it is set. */
  readonly publicUrl: string | undefined;
  /** The sign-in with the OpenID provider, if there is one. */
  readonly oidc: OidcSignIn<never> | undefined;
}

/** The visitor at the browser. */
export interface Visitor {
  readonly visit: Visit<never>;
  readonly owner: Owner;
}

export type Routes = PageRoutes<never>;

const chatsShown = 30;

/** The access of a page: signed-in people if there is no access without, else also each browser as a separate owner. */
export function visitorsOf({ gate, clock }: PageParts) {
  return async (visit: Visit<never>): Promise<Visitor> => {
    if (!gate.requiresSignIn) return { visit, owner: gate.remember(visit.request, visit.reply) };
    const owner = gate.browserOwner(visit.request.cookies, clock.now());
    if (owner === undefined) throw new AppError('unauthenticated', 'Sign in first.');
    return { visit, owner };
  };
}

/** True for administrators, and without a sign-in for people at this machine. */
export async function mayConnect({ gate }: PageParts, { request }: Visit<never>): Promise<boolean> {
  if (gate.hasSignIn) return (await gate.identityOf(request)).isAdmin;
  return isFromThisMachine(request.headers) && isLoopback(foldAddress(request.socket.remoteAddress ?? ''));
}

/** Returns the frame of a visitor's page, with their chats at the side. */
export async function framed(parts: PageParts, { visit, owner }: Visitor): Promise<Frame> {
  const { database, clock, gate, oidc } = parts;
  const isPerson = owner.startsWith('person:');
  const reach = { owner, nowMs: clock.now() };
  const { sessions } = await listSessions(database, reach, { limit: chatsShown });
  return frameOf(visit, {
    sessions,
    isSignedIn: gate.requiresSignIn || isPerson,
    isPerson,
    mayConnect: await mayConnect(parts, visit),
    offersSignIn: oidc !== undefined && !isPerson,
  });
}

/** An error with the navigation and the chats of its visitor; without sign-in, everybody is one. */
export async function errorPageOf(parts: PageParts, visit: Visit<never>, error: HttpError): Promise<string> {
  const { gate, clock } = parts;
  const owner = gate.browserOwner(visit.request.cookies, clock.now());
  const hasNavigation = error.status !== 401 && (owner !== undefined || !gate.requiresSignIn);
  // What failed may be the database, which has the chats.
  const hasChats = hasNavigation && owner !== undefined && owner !== publicOwner && error.status < 500;
  const frame = hasChats ? await framed(parts, { visit, owner }).catch(() => frameOf(visit)) : frameOf(visit);
  // A chat of another person is not there, and may be their own once they sign in.
  const mayBeTheirs = parts.oidc !== undefined && !owner?.startsWith('person:');
  const isChat = visit.request.routeOptions.url === pageRoutes.chat;
  const home =
    error.status === 401 || (error.status === 404 && isChat && mayBeTheirs)
      ? { href: pageRoutes.signIn, label: 'Sign in' }
      : { href: pageRoutes.home, label: 'Go to the start page' };
  return errorPage(frame, error, {
    requestId: visit.request.id,
    home,
    hasNavigation,
    styles: ['chat.css'],
  });
}

/** A visitor, and the documents that they may see. */
export async function viewing({ gate, library }: PageParts, { visit, owner }: Visitor): Promise<Viewer> {
  const { isAdmin } = await gate.identityOf(visit.request);
  return { identity: { owner, isAdmin }, reach: reachOf(library, owner) };
}

/** The id in the path. */
export function idIn({ request }: Visit<never>): string {
  return (request.params as { id: string }).id;
}

import { AppError, notFound } from '#kit/errors.ts';
import type { Frame, NavigationItem } from '#kit/html/layout.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { CallOptions } from '#kit/rpc/index.ts';
import type { Access, Action, Caller, Permission, Resource } from '../access.ts';
import { callOf } from '../call.ts';
import { pageRoutes } from '../page-routes.ts';
import type { PageParts, Ticket } from './parts.ts';

/** What a reader may do, so that a page shows no control that would be refused. */
export interface Abilities {
  readonly write: boolean;
  readonly delete: boolean;
  /** Deleting wants a second factor. */
  readonly deleteNeedsMfa: boolean;
  readonly export: boolean;
  readonly classify: boolean;
  readonly administer: boolean;
}

/** Somebody who is signed in and may see the page they asked for. */
export interface Reader {
  readonly visit: Visit<Ticket>;
  readonly caller: Caller;
  readonly may: Abilities;
  /** For calls made on this reader's behalf. */
  readonly call: CallOptions;
  /** What the page shares with all others; it takes the waiting message, so once a page. */
  frame(): Frame;
}

/** The access of a page: whoever is not signed in is asked to, and the decision service says the rest. */
export type Readers = (resource: Resource, action: Action) => (visit: Visit<Ticket>) => Promise<Reader>;

export function createReaders({ access }: Pick<PageParts, 'access'>): Readers {
  return (resource, action) => async (visit) => {
    const caller = callerOf(visit, access);
    const call = callOf(visit.request);
    // A page that asks for the second factor is for those who could give one.
    await access.authorize(caller, { resource, action, mfaVerified: action === 'delete' }, call);
    const may = await abilitiesOf(caller, access, call);
    return { visit, caller, may, call, frame: () => frameOf(visit, caller, may) };
  };
}

/** Who is signed in. Throws 401, which becomes the sign-in page. */
export function callerOf(visit: Visit<Ticket>, access: Access): Caller {
  const token = visit.who?.token;
  if (token === undefined) throw new AppError('unauthenticated', 'Sign in to see this page.');
  return access.identify(token);
}

/** The frame of a page; of one who is not signed in without a way anywhere. */
export function frameOf(visit: Visit<Ticket>, caller?: Caller, may?: Abilities): Frame {
  return {
    ...visit.frame(),
    service: 'Post gateway',
    navigation: caller ? navigation.filter(({ needs }) => !needs || may?.[needs]) : [],
    account: caller && { name: caller.username, detail: caller.role, signOutHref: pageRoutes.signOut },
    flash: visit.takeFlash(),
  };
}

const navigation: readonly (NavigationItem & { needs?: keyof Abilities })[] = [
  { href: pageRoutes.posts, label: 'Posts', icon: 'list' },
  { href: pageRoutes.storedExports, label: 'Exports', icon: 'inbox', needs: 'export' },
  { href: pageRoutes.analysis, label: 'Analysis', icon: 'chart' },
  { href: pageRoutes.sentiment, label: 'Sentiment', icon: 'smile', needs: 'classify' },
  { href: pageRoutes.importPosts, label: 'Import', icon: 'upload', needs: 'write' },
  { href: pageRoutes.status, label: 'Status', icon: 'pulse', needs: 'administer' },
];

async function abilitiesOf(caller: Caller, access: Access, call: CallOptions): Promise<Abilities> {
  const isAllowed = (resource: Resource, action: Action, mfaVerified = false) =>
    allows(access, caller, { permission: { resource, action, mfaVerified }, call });
  const mfaVerified = access.isMfaVerified(caller, mfaHeader);
  const [write, plainDelete, verifiedDelete, exporting, classify, administer] = await Promise.all([
    isAllowed('post', 'write'),
    isAllowed('post', 'delete', access.isMfaVerified(caller, [])),
    isAllowed('post', 'delete', mfaVerified),
    isAllowed('export', 'read'),
    isAllowed('ml', 'write'),
    isAllowed('admin', 'read'),
  ]);
  return {
    write,
    delete: verifiedDelete,
    deleteNeedsMfa: !plainDelete,
    export: exporting,
    classify,
    administer,
  };
}

/** The post that a page is about. What is no number is no post. */
export function postIdOf(visit: Visit<Ticket>): number {
  const { id = '' } = visit.request.params as { id?: string };
  if (!/^[1-9]\d{0,15}$/.test(id) || !Number.isSafeInteger(Number(id))) throw notFound('post', id);
  return Number(id);
}

/** What a ticked confirmation box sends along. */
export const mfaHeader: readonly string[] = ['X-MFA-Verified', 'true'];

async function allows(
  access: Access,
  caller: Caller,
  { permission, call }: { permission: Permission; call: CallOptions },
): Promise<boolean> {
  try {
    await access.authorize(caller, permission, call);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'forbidden') return false;
    throw error;
  }
}

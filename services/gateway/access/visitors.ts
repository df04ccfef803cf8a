import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { Action, ResourceType } from '@octavo/protocols/authz/v1/permissions';
import type { CallOptions } from '@octavo/rpc';
import type { Frame, NavigationItem } from '@octavo/web/html';
import type { Visit } from '@octavo/web/pages';
import { pageRoutes } from '../routes.ts';
import { type Access, type Caller, callOf, type Permission } from './access.ts';

/** Content of a page session. */
export interface PageSession {
  /** Token as the API takes it. */
  readonly token: string;
  /** Time at which a code of the visitor's authenticator app was accepted, in milliseconds since 1970. */
  readonly confirmedAtMs?: number;
}

/** Permissions of a visitor, so that pages show only controls that work. */
export interface Abilities {
  readonly write: boolean;
  readonly delete: boolean;
  readonly export: boolean;
  readonly deleteExports: boolean;
  readonly classify: boolean;
  readonly administer: boolean;
}

/** A signed-in user who may see the page. */
export interface Visitor {
  readonly visit: Visit<PageSession>;
  readonly caller: Caller;
  readonly may: Abilities;
  /** True if a deletion needs a second factor first. */
  readonly needsMfa: boolean;
  /** Options of RPC calls made for this visitor. */
  readonly call: CallOptions;
  /** Frame shared by all pages. It takes the flash message, so call it once for a page. */
  frame(): Frame;
  /** Remembers for five minutes that the visitor has just given a second factor. */
  confirm(): void;
}

/** The access of a page: visitors who are not signed in get the sign-in page, and authz decides about the others. */
export type Visitors = (
  resource: ResourceType,
  action: Action,
) => (visit: Visit<PageSession>) => Promise<Visitor>;

export function createVisitors(access: Access, clock: Clock): Visitors {
  return (resource, action) => async (visit) => {
    const caller = signedIn(visit, access);
    const call = callOf(visit.request);
    // The page that asks for the second factor is for those who could give one.
    await access.authorize(caller, { resource, action, mfaVerified: action === 'delete' }, call);
    const mfaVerified = access.isMfaVerified(caller, []) || isConfirmed(visit, clock.now());
    const permission = { resource, action, mfaVerified };
    const [may, { role }, isEnough] = await Promise.all([
      abilitiesOf(caller, access, call),
      access.accountOf(caller, call),
      action !== 'delete' || allows(access, caller, { permission, call }),
    ]);
    return {
      visit,
      caller,
      may,
      needsMfa: !isEnough,
      call,
      frame: () => frameOf(visit, { ...caller, role }, may),
      confirm: () => visit.renew({ ...(visit.who as PageSession), confirmedAtMs: clock.now() }),
    };
  };
}

const confirmationMs = 5 * 60_000;

/** A clock that is set back does not make a confirmation last longer. */
function isConfirmed({ who }: Visit<PageSession>, nowMs: number): boolean {
  const ageMs = nowMs - (who?.confirmedAtMs ?? Number.NEGATIVE_INFINITY);
  return ageMs >= 0 && ageMs < confirmationMs;
}

/** Returns the signed-in caller. Throws 401, which becomes the sign-in page. */
export function signedIn(visit: Visit<PageSession>, access: Access): Caller {
  const token = visit.who?.token;
  if (token === undefined) throw new AppError('unauthenticated', 'Sign in to see this page.');
  return access.identify(token);
}

/** Returns the signed-in caller, if there is one. */
export function findSignedIn(visit: Visit<PageSession>, access: Access): Caller | undefined {
  try {
    return signedIn(visit, access);
  } catch {
    return undefined;
  }
}

/**
 * Returns the signed-in visitor, for pages that everybody may see, such as errors. Without abilities if authz does not respond,
 * and undefined if their password was changed since.
 */
export async function findVisitor(
  visit: Visit<PageSession>,
  access: Access,
): Promise<{ caller?: Caller; may?: Abilities }> {
  const caller = findSignedIn(visit, access);
  if (!caller) return {};
  try {
    const call = callOf(visit.request);
    const [may, { role }] = await Promise.all([
      abilitiesOf(caller, access, call),
      access.accountOf(caller, call),
    ]);
    return { caller: { ...caller, role }, may };
  } catch (error) {
    return error instanceof AppError && error.code === 'unauthenticated' ? {} : { caller };
  }
}

/** The frame of a page, with navigation only for those who are signed in. */
export function frameOf(visit: Visit<PageSession>, caller?: Caller, may?: Abilities): Frame {
  return {
    ...visit.frame(),
    service: 'Posts',
    isAdministrator: may?.administer ?? false,
    navigation: caller ? navigation.filter(({ needs }) => !needs || may?.[needs]) : [],
    account: caller && {
      name: caller.username,
      detail: caller.role,
      signOutHref: pageRoutes.signOut,
      href: pageRoutes.account,
    },
    flash: visit.takeFlash(),
  };
}

const navigation: readonly (NavigationItem & { needs?: keyof Abilities })[] = [
  { href: pageRoutes.posts, below: '/posts', label: 'Posts', icon: 'list', searches: 'search' },
  { href: pageRoutes.storedExports, label: 'Exports', icon: 'inbox', needs: 'export' },
  { href: pageRoutes.analysis, label: 'Analysis', icon: 'chart' },
  { href: pageRoutes.sentiment, label: 'Sentiment', icon: 'smile', needs: 'classify' },
  { href: pageRoutes.importPosts, label: 'Import', icon: 'upload', needs: 'write' },
  { href: pageRoutes.users, label: 'Users', icon: 'users', needs: 'administer' },
  { href: pageRoutes.status, label: 'Status', icon: 'pulse', needs: 'administer' },
  { href: '/docs', label: 'API', icon: 'screen' },
];

/** Returns the visitor's abilities. Actions that need a second factor count as allowed, because pages ask for it. */
async function abilitiesOf(caller: Caller, access: Access, call: CallOptions): Promise<Abilities> {
  const isAllowed = (resource: ResourceType, action: Action) =>
    allows(access, caller, { permission: { resource, action, mfaVerified: action === 'delete' }, call });
  const [write, deletes, exporting, deleteExports, classify, administer] = await Promise.all([
    isAllowed('post', 'write'),
    isAllowed('post', 'delete'),
    isAllowed('export', 'read'),
    isAllowed('export', 'delete'),
    isAllowed('ml', 'write'),
    isAllowed('admin', 'read'),
  ]);
  return { write, delete: deletes, export: exporting, deleteExports, classify, administer };
}

/** Returns true if authz allows it. Throws 401 for a token whose password was changed since, or 503. */
export async function allows(
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

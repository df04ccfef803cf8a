import { AppError } from '@octavo/core';
import { addLeavingPage, type Leaver, type OidcSignIn } from '@octavo/people/sign-in';
import type { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import type { Client } from '@octavo/rpc';
import { layout } from '@octavo/web/html';
import type { PageRoutes, Visit } from '@octavo/web/pages';
import {
  type Access,
  accountPasswords,
  allows,
  callOf,
  findSignedIn,
  findVisitor,
  frameOf,
  type PageSession,
} from '../access/index.ts';
import { pageRoutes } from '../routes.ts';

interface Parts {
  readonly access: Access;
  readonly authz: Client<AuthServiceDefinition>;
  readonly oidc: OidcSignIn<PageSession> | undefined;
}

/** The page on which people erase their account, also those who may do nothing else here. */
export function addLeavePage(routes: PageRoutes<PageSession>, parts: Parts): void {
  const { access, authz, oidc } = parts;
  addLeavingPage<PageSession>(routes, {
    service: 'Posts',
    paths: {
      leave: pageRoutes.leave,
      account: pageRoutes.account,
      signIn: pageRoutes.signIn,
      after: pageRoutes.signIn,
    },
    erased: ['Your user name, password, authenticator app and sign-ins'],
    kept: ['Posts that you wrote, as of a former user'],
    passwords: accountPasswords(authz),
    oidc,
    find: (visit) => findLeaver(visit, parts),
    async erase(visit, { account }) {
      await authz.deleteAccount({ uid: Number(account) }, callOf(visit.request));
    },
    signOut: (visit) => visit.signOut(),
    async render(visit, page) {
      const { caller, may } = await findVisitor(visit, access);
      return layout(frameOf(visit, caller, may), page);
    },
  });
}

/** Undefined for strangers, for tokens that are stale, and once the account is erased. */
async function findLeaver(visit: Visit<PageSession>, { access, authz }: Parts): Promise<Leaver | undefined> {
  const caller = findSignedIn(visit, access);
  if (!caller) return undefined;
  const call = callOf(visit.request);
  try {
    const permission = { resource: 'post', action: 'read', mfaVerified: false } as const;
    await allows(access, caller, { permission, call });
    const { account } = await authz.getAccount({ uid: caller.uid }, call);
    return account && { account: String(caller.uid), name: account.username };
  } catch (error) {
    const isGone = error instanceof AppError && ['unauthenticated', 'not_found'].includes(error.code);
    if (isGone) return undefined;
    throw error;
  }
}

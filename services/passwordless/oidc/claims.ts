import type { Database } from '@octavo/data';
import type { Account, KoaContextWithOIDC } from 'oidc-provider';
import type { Method } from '../sessions/index.ts';
import type { Tables } from '../store/store.ts';
import { findUser, rolesFor, type User } from '../users/index.ts';
import { findAudience } from './store-clients.ts';

/** The claims of each scope. */
export const claimsByScope = {
  openid: ['sub', 'amr', 'acr', 'auth_time'],
  email: ['email', 'email_verified'],
  profile: ['name'],
  roles: ['roles'],
} as const;

/** Two factors, or one. */
export const acrValues = ['mfa', 'sfa'] as const;

/**
 * `mfa` for two different methods, or a passkey whose authenticator verified its user: it is something they have, and something they know or
 * are (NIST SP 800-63B section 5.1.9).
 */
export function acrOf(amr: readonly Method[]): (typeof acrValues)[number] {
  const hasKey = amr.includes('hwk') || amr.includes('swk');
  if (hasKey && amr.includes('user')) return 'mfa';
  const others = (['email', 'otp', 'recovery'] as const).filter((method) => amr.includes(method));
  return others.length + Number(hasKey) > 1 ? 'mfa' : 'sfa';
}

/** `amr` as applications get it: with `mfa`, as RFC 8176 names it. */
export function amrOf(amr: readonly Method[]): string[] {
  return acrOf(amr) === 'mfa' ? [...amr, 'mfa'] : [...amr];
}

/** Returns the function by which the library finds a user and their claims. */
export function accountFinder(database: Database<Tables>) {
  return async (ctx: KoaContextWithOIDC, id: string): Promise<Account | undefined> => {
    const user = await findUser(database, id);
    return (
      user && {
        accountId: id,
        claims: async (_use, scope) => ({
          sub: id,
          ...identityOf(user),
          ...(scope.split(' ').includes('roles') && {
            roles: await rolesFor(database, id, ctx.oidc.client?.clientId),
          }),
        }),
      }
    );
  };
}

/** An access token, as far as its claims need it. */
interface IssuedToken {
  readonly accountId?: string;
  readonly scope?: string | undefined;
  readonly aud?: unknown;
}

/** Claims of access tokens about authentication and identity (RFC 9068 sections 2.2.1 to 2.2.3). Without a request, there was no sign-in for it. */
export async function accessTokenClaims(
  database: Database<Tables>,
  ctx: KoaContextWithOIDC | undefined,
  token: IssuedToken,
): Promise<Record<string, unknown> | undefined> {
  const { accountId, aud, scope = '' } = token;
  if (accountId === undefined || typeof aud !== 'string') return undefined;
  const user = await findUser(database, accountId);
  if (!user) return undefined;
  const scopes = scope.split(' ');
  const { email, email_verified, name } = identityOf(user);
  const { AuthorizationCode: code, RefreshToken: refreshToken, Client: client } = ctx?.oidc.entities ?? {};
  const source = code ?? refreshToken;
  const isTrusted = client?.trusted === true;
  return {
    ...(source && { auth_time: source.authTime, acr: source.acr, amr: source.amr }),
    ...(scopes.includes('email') && { email, email_verified }),
    ...(scopes.includes('profile') && { name }),
    ...(scopes.includes('roles') && {
      roles: await rolesFor(
        database,
        accountId,
        await roleClient(database, aud, isTrusted ? undefined : client?.clientId),
      ),
    }),
  };
}

/** The application whose roles a token may show. A stranger's application can read its tokens, so it sees no roles that are for another. */
async function roleClient(
  database: Database<Tables>,
  audience: string,
  reader: string | undefined,
): Promise<string | undefined> {
  const id = (await findAudience(database, audience))?.id;
  return reader === undefined || reader === id ? id : undefined;
}

/** An unverified address could be anybody's, so no application is told it, nor a name that follows from it. */
function identityOf({ email, isVerified }: User) {
  const name = email.slice(0, email.lastIndexOf('@'));
  return { email_verified: isVerified, ...(isVerified && { email, name }) };
}

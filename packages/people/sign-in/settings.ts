import { AppError, type Config, flag, isLoopback, refuse, type Settings, text } from '@octavo/core';

const roleMapText = text({
  help: 'Local role for each role of the provider, as theirs=ours separated by commas; the same names if unset',
});

/** The settings of the sign-in with an OpenID provider; services spread them into theirs. */
export const oidcSettings = {
  OIDC_ISSUER: text({ help: 'Address of the OpenID provider to sign in with; none if unset' }),
  OIDC_CLIENT_ID: text({ help: 'Id of this service at the OpenID provider' }),
  OIDC_CLIENT_SECRET: text({ secret: true, help: 'Secret of this service at the OpenID provider' }),
  OIDC_NAME: text({ default: 'Octavo', help: 'Name of the OpenID provider, shown on the button' }),
  OIDC_ACCOUNT_URL: text({
    help: 'Page of the OpenID provider where people change their e-mail address and password; OIDC_ISSUER if unset',
  }),
  OIDC_ADDRESS: text({
    help: 'Address of this service at the OpenID provider: of its callback, and the audience of access tokens; if unset, the public address, or for tokens that of SUITE_SITES or octavo up',
  }),
  OIDC_ROLES_CLAIM: text({
    default: 'roles',
    help: 'Claim with the roles of a user; dots lead into objects, as in realm_access.roles',
  }),
  OIDC_ROLE_MAP: {
    ...roleMapText,
    parse(value: string) {
      parseRoleMap(value);
      return value;
    },
  },
  OIDC_ONLY: flag({ default: false, help: 'Turns off sign-in with a password' }),
} satisfies Settings;

export type OidcConfig = Config<typeof oidcSettings>;

/** An OpenID provider, as the settings describe it. */
export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly name: string;
  /** Page of the provider where people change their e-mail address and password. */
  readonly accountUrl: string;
  /** Own address at the provider, without a slash at its end; undefined if that of each request is used. */
  readonly address: string | undefined;
  /** Path to the claim: names of nested properties. */
  readonly rolesClaim: string;
  /** Our role by the provider's; undefined if the names are the same. */
  readonly roleMap: ReadonlyMap<string, string> | undefined;
  /** True if passwords are off. */
  readonly isOnly: boolean;
}

/** Throws for settings that do not fit each other; a check for `checks` of a service. */
export function checkOidc(config: OidcConfig): void {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = config;
  const problems: Record<string, string> = {};
  if (issuer !== undefined && !isSafeAddress(issuer))
    problems.OIDC_ISSUER = 'must be an address with https://, or with http:// on this machine';
  for (const name of ['OIDC_ADDRESS', 'OIDC_ACCOUNT_URL'] as const) {
    const address = config[name];
    if (address !== undefined && !/^https?:$/.test(URL.parse(address)?.protocol ?? ''))
      problems[name] = 'must be an HTTP address';
  }
  if (issuer !== undefined && clientId === undefined)
    problems.OIDC_CLIENT_ID = 'is required with OIDC_ISSUER';
  if (config.OIDC_ONLY && issuer === undefined) problems.OIDC_ISSUER = 'is required with OIDC_ONLY';
  refuse(problems);
}

/** The provider of the settings; undefined without one. `publicUrl` is the address of the service, if another setting has it. */
export function providerOf(config: OidcConfig, publicUrl?: string): ProviderSettings | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_ROLE_MAP: roleMap } = config;
  if (issuer === undefined || clientId === undefined) return undefined;
  return {
    issuer,
    clientId,
    clientSecret: config.OIDC_CLIENT_SECRET,
    name: config.OIDC_NAME,
    accountUrl: config.OIDC_ACCOUNT_URL ?? issuer,
    address: (config.OIDC_ADDRESS ?? publicUrl)?.replace(/\/$/, ''),
    rolesClaim: config.OIDC_ROLES_CLAIM,
    roleMap: roleMap === undefined ? undefined : parseRoleMap(roleMap),
    isOnly: config.OIDC_ONLY,
  };
}

/** The error of a sign-in with a password where there is none. */
export function passwordsOff(): AppError {
  return new AppError('forbidden', 'Sign-in with a password is turned off here.', {
    reason: 'PASSWORDS_OFF',
  });
}

/** Our roles among those that claims name: a list, or one name. Names that are no text are left out. Throws for one that cannot be kept. */
export function rolesIn(
  claims: Readonly<Record<string, unknown>>,
  { rolesClaim, roleMap }: Pick<ProviderSettings, 'rolesClaim' | 'roleMap'>,
): string[] {
  const names = namesIn(claimAt(claims, rolesClaim));
  const ours = roleMap ? names.flatMap((name) => roleMap.get(name) ?? []) : names;
  if (!ours.every(isName)) throw new Error('a role is too long, or has characters that no name has');
  return [...new Set(ours)];
}

/** Texts of a claim that is one text or a list of them. */
export function namesIn(claim: unknown): string[] {
  return [claim ?? []].flat().filter((each): each is string => typeof each === 'string');
}

/** True for an id as OpenID Connect Core 2 allows it for a subject: 1 to 255 ASCII characters, here those that print. */
export function isIdentifier(claim: unknown): claim is string {
  return typeof claim === 'string' && /^[\x20-\x7e]{1,255}$/.test(claim);
}

/** A name without letters of other scripts beside Latin ones, so that no user is called "admin" with a Cyrillic a. */
export function inOneScript(name: string): string {
  const plain = name.toWellFormed().normalize('NFKC');
  if (!/\p{Script=Latin}/u.test(plain)) return plain;
  return plain.replace(/((?!\p{Script=Latin})\p{L}\p{M}*)+/gu, '-').replace(/^-+|-+$/g, '');
}

function isName(name: string): boolean {
  return name.length <= 255 && name.isWellFormed() && !/\p{Cc}/u.test(name);
}

/** A claim by its name, or by a path with dots. */
export function claimAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let found: unknown = claims;
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

function parseRoleMap(value: string): ReadonlyMap<string, string> {
  const pairs = value
    .split(',')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [, theirs = '', ours = ''] = /^(.+)=([\w-]+)$/.exec(pair) ?? [];
      if (theirs === '') throw new Error('must be theirs=ours for each role, with commas between');
      return [theirs.trim(), ours] as const;
    });
  return new Map(pairs);
}

/** Secrets are not sent over a network without TLS. */
function isSafeAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url?.protocol === 'https:') return true;
  return url?.protocol === 'http:' && isLoopback(url.hostname.replace(/[[\]]/g, ''));
}

import type { EventEmitter } from 'node:events';
import { Encryption } from '@octavo/core/auth';
import type { Database } from '@octavo/data';
import type { ServiceContext } from '@octavo/data/service';
import type { Configuration, KoaContextWithOIDC, Provider, ResourceServer } from 'oidc-provider';
import { Counter } from 'prom-client';
import type { Keys } from '../keys/keys.ts';
import { oidcRoutes } from '../routes.ts';
import type { Sessions } from '../sessions/index.ts';
import type { PasswordlessConfig } from '../settings.ts';
import type { Site } from '../site.ts';
import type { Tables } from '../store/store.ts';
import { findUser } from '../users/index.ts';
import { accessTokenClaims, accountFinder, acrValues, claimsByScope } from './claims.ts';
import { hasSignIn, linkSignIn, signInOf } from './logout/store-logouts.ts';
import { queueLogouts } from './logout/telling.ts';
import { findAudience, isSecret } from './store-clients.ts';
import { type SigningKeySet, SigningKeys } from './store-keys.ts';
import { createAdapter } from './store-records.ts';

export interface ProviderParts {
  readonly config: PasswordlessConfig;
  readonly context: ServiceContext;
  readonly site: Site;
  readonly keys: Keys;
  readonly database: Database<Tables>;
  readonly sessions: Sessions;
}

/** Pages that the library asks for. They are drawn by {@link ProviderPages}, with the visit of the browser. */
export interface ProviderPages {
  error(ctx: KoaContextWithOIDC, problem: { error: string; error_description?: string | undefined }): void;
  /** Asks whether to sign out. The form is sent with `xsrf`, and with `logout=yes` to do it. */
  signOut(ctx: KoaContextWithOIDC, xsrf: string): void;
  signedOut(ctx: KoaContextWithOIDC): void;
}

/** Gives the provider. The library is loaded with the first request that needs it. */
export interface OpenIdProvider {
  get(): Promise<Provider>;
}

const accessTokenSeconds = 600;
const hourSeconds = 3_600;
const keysMs = 60_000;
const tellMs = 5_000;

/** The OpenID provider. It has no state, so it is made again when the signing keys change. */
export function createProvider(parts: ProviderParts, pages: ProviderPages): OpenIdProvider {
  const { context, database, keys } = parts;
  const { clock } = context;
  const encryption = new Encryption(keys.keysFor('oidc-key'));
  const signingKeys = new SigningKeys({ database, clock, encryption });
  const events = countEvents(context);
  let current: Promise<{ provider: Provider; version: string }> | undefined;
  let checkedMs = 0;
  const renewed = async (before: typeof current) => {
    const keySet = await signingKeys.current();
    const known = await before?.catch(() => undefined);
    if (known?.version === keySet.version) return known;
    const provider = await buildProvider(parts, pages, keySet);
    events.follow(provider);
    return { provider, version: keySet.version };
  };
  return {
    async get() {
      if (!current || clock.now() - checkedMs >= keysMs) {
        checkedMs = clock.now();
        current = renewed(current).catch((error) => {
          current = undefined;
          throw error;
        });
      }
      return (await current).provider;
    },
  };
}

async function buildProvider(
  parts: ProviderParts,
  pages: ProviderPages,
  keySet: SigningKeySet,
): Promise<Provider> {
  const library = await loadLibrary(parts.context);
  const { config, context, database, site, sessions } = parts;
  const { clock } = context;
  const provider = new library.Provider(site.issuer, {
    ...protocolOf(parts, keySet),
    adapter: createAdapter({
      database,
      clock,
      errors: library.errors,
      isSigningOut: () => library.Provider.ctx?.oidc?.route === 'end_session_confirm',
    }),
    findAccount: accountFinder(database),
    extraTokenClaims: (ctx, token) => accessTokenClaims(database, ctx, token),
    features: featuresOf(parts, pages, library.errors),
    interactions: {
      url: (_ctx, { uid }) => oidcRoutes.interaction.replace(':uid', uid),
      policy: policyOf(library, parts),
    },
    loadExistingGrant: (ctx) => loadGrant(ctx, parts),
    renderError: (ctx, out) => pages.error(ctx, out),
    ttl: ttlOf(config),
  });
  // Its addresses follow from the issuer alone: the headers that say so are written in `pages-mount.ts`.
  provider.proxy = true;
  hashSecrets(provider);
  queueLogouts(provider, { database, clock });
  provider.use(async (ctx, next) => {
    await next();
    const { oidc } = ctx as KoaContextWithOIDC;
    // The library would send a form with an inline script.
    if (oidc?.route === 'end_session' && ctx.status === 200 && !oidc.session?.accountId) {
      pages.signOut(ctx as KoaContextWithOIDC, oidc.session?.state?.secret as string);
    }
    // A forged form is refused with an error page.
    const isDone = oidc?.route === 'end_session_confirm' && ctx.status === 303 && oidc.params?.logout;
    if (isDone && oidc.session) await endSignIn(database, sessions, oidc.session);
  });
  return provider;
}

/** Loads the library, which warns of releases of Node that are not marked for long-term support, as the first ones of each year are not. */
async function loadLibrary({ log }: ServiceContext): Promise<typeof import('oidc-provider')> {
  const { warn } = console;
  console.warn = (text: unknown) => log.debug(String(text));
  try {
    return await import('oidc-provider');
  } finally {
    console.warn = warn;
  }
}

/** Offers and demands of the protocol. */
function protocolOf({ keys, site }: ProviderParts, keySet: SigningKeySet): Configuration {
  const cookieKeys = keys.keysFor('oidc-cookie').map((key) => key.toString('base64url'));
  return {
    acrValues,
    allowOmittingSingleRegisteredRedirectUri: false,
    claims: { ...claimsByScope, sid: null, iss: null },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    clientBasedCORS: (_ctx, origin, client) =>
      client.clientAuthMethod === 'none' &&
      (client.redirectUris ?? []).some((address) => new URL(address).origin === origin),
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      id_token_signed_response_alg: 'ES256',
      response_types: ['code'],
    },
    conformIdTokenClaims: false,
    cookies: {
      keys: cookieKeys,
      // The others are for one path each, which a name with this prefix does not allow.
      names: {
        session: `${site.isSecure ? '__Host-' : ''}oidc_session`,
        interaction: 'oidc_interaction',
        resume: 'oidc_resume',
      },
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    extraClientMetadata: { properties: ['trusted'] },
    // Applications are registered by staff, so their addresses may be in the same network.
    fetch: (address, options) =>
      fetch(address, {
        ...options,
        dispatcher: undefined,
        signal: AbortSignal.timeout(tellMs),
      } as RequestInit),
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    jwks: { keys: keySet.keys },
    pkce: { required: () => true },
    responseTypes: ['code'],
    rotateRefreshToken: true,
    routes: oidcRoutes.library,
    scopes: ['openid', 'offline_access', 'email', 'profile', 'roles'],
  };
}

function featuresOf(
  { database }: ProviderParts,
  pages: ProviderPages,
  errors: typeof import('oidc-provider').errors,
): NonNullable<Configuration['features']> {
  return {
    backchannelLogout: { enabled: true },
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: async () => true,
      async getResourceServerInfo(_ctx, audience, client) {
        const owner = await findAudience(database, audience);
        if (!owner || !(owner.isFirstParty || owner.id === client.clientId)) throw new errors.InvalidTarget();
        return apiAt(audience);
      },
    },
    revocation: {
      enabled: true,
      allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
    },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: async (ctx) => pages.signOut(ctx, ctx.oidc.session?.state?.secret as string),
      postLogoutSuccessSource: async (ctx) => pages.signedOut(ctx),
    },
  };
}

/** An API that takes access tokens. */
function apiAt(audience: string): ResourceServer {
  return {
    scope: 'openid email profile roles',
    audience,
    accessTokenFormat: 'jwt',
    accessTokenTTL: accessTokenSeconds,
    jwt: { sign: { alg: 'ES256' } },
  };
}

/** Issues an access token for the API at an address, as its own application would get it. Undefined if there is no such application. */
export async function issueAccessToken(
  provider: Provider,
  database: Database<Tables>,
  { audience, userId }: { readonly audience: string; readonly userId: string },
): Promise<string | undefined> {
  const owner = await findAudience(database, audience);
  const client = owner && (await provider.Client.find(owner.id));
  if (!client) return undefined;
  const api = apiAt(audience);
  const token = new provider.AccessToken({
    client,
    accountId: userId,
    scope: api.scope,
    resourceServer: new provider.ResourceServer(audience, api),
    gty: 'authorization_code',
    // It is not kept here and cannot be renewed, so it needs no grant.
    grantId: '',
  });
  return token.save();
}

function ttlOf(config: PasswordlessConfig): NonNullable<Configuration['ttl']> {
  const sessionSeconds = config.PASSWORDLESS_SESSION_MAX_AGE_SECONDS;
  return {
    AccessToken: accessTokenSeconds,
    AuthorizationCode: 60,
    Grant: sessionSeconds,
    IdToken: hourSeconds,
    Interaction: hourSeconds,
    RefreshToken: Math.min(config.PASSWORDLESS_REFRESH_TOKEN_EXPIRY_SECONDS, sessionSeconds),
    Session(_ctx, session) {
      const { loginTs } = session;
      if (loginTs === undefined) return hourSeconds;
      return Math.max(1, loginTs + sessionSeconds - Math.floor(Date.now() / 1_000));
    },
  };
}

/** The library's own policy, and three checks: users who were deleted, sign-ins that are over, and `acr_values`. */
function policyOf(
  { interactionPolicy }: typeof import('oidc-provider'),
  { database, context: { clock } }: ProviderParts,
) {
  const { base, Check } = interactionPolicy;
  const policy = base();
  const login = policy.get('login');
  login?.checks.add(
    new Check('no_account', 'the account does not exist any more', ({ oidc }) =>
      Boolean(oidc.session?.accountId && !oidc.account),
    ),
  );
  login?.checks.add(
    new Check(
      'no_sign_in',
      'the sign-in has ended or expired',
      'login_required',
      async ({ oidc: { session } }) =>
        Boolean(session?.accountId && !(await hasSignIn(database, session.uid ?? '', clock.now()))),
    ),
  );
  login?.checks.add(
    new Check('second_factor', 'a second factor is required', ({ oidc }) => {
      const wanted = String(oidc.params?.acr_values ?? '').split(' ');
      return wanted.includes('mfa') && !wanted.includes('sfa') && oidc.session?.acr !== 'mfa';
    }),
  );
  return policy;
}

/** The grant of the session. First-party applications get every requested scope. */
async function loadGrant(ctx: KoaContextWithOIDC, { config, database }: ProviderParts) {
  const { client, session, result, account, params, provider } = ctx.oidc;
  if (!client || !session || !account) return undefined;
  const signInId = result?.login?.signInId;
  if (typeof signInId === 'string' && session.uid !== undefined) {
    const expiresMs = ((session.loginTs ?? 0) + config.PASSWORDLESS_SESSION_MAX_AGE_SECONDS) * 1_000;
    await linkSignIn(database, { sessionUid: session.uid, signInId, expiresMs });
  }
  const grantId = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
  let grant = grantId ? await provider.Grant.find(grantId) : undefined;
  if (client.trusted !== true) return grant;
  const scopes = [...ctx.oidc.requestParamOIDCScopes];
  const resources = Object.entries(ctx.oidc.resourceServers ?? {}).map(([address, { scopes: known }]) => ({
    address,
    scope: String(params?.scope ?? '')
      .split(' ')
      .filter((scope) => known.has(scope))
      .join(' '),
  }));
  const hasAll =
    grant &&
    isSubset(scopes, grant.getOIDCScope()) &&
    resources.every(({ address, scope }) =>
      isSubset(scope.split(' '), grant?.getResourceScope(address) ?? ''),
    );
  if (hasAll) return grant;
  grant ??= new provider.Grant({ accountId: account.accountId, clientId: client.clientId });
  grant.addOIDCScope(scopes.join(' '));
  for (const { address, scope } of resources) if (scope) grant.addResourceScope(address, scope);
  await grant.save();
  return grant;
}

function isSubset(wanted: readonly string[], granted: string): boolean {
  const names = new Set(granted.split(' '));
  return wanted.every((scope) => scope === '' || names.has(scope));
}

/** Secrets are stored as hashes. The library awaits this method for such a comparison of one's own. */
function hashSecrets(provider: Provider): void {
  provider.Client.prototype.compareClientSecret = function compare(actual) {
    return isSecret(actual, this.clientSecret);
  };
}

/** Ends the sign-in on our pages, too, when a session of the provider was ended by an application. */
async function endSignIn(
  database: Database<Tables>,
  sessions: Sessions,
  { uid, accountId }: { uid?: string | undefined; accountId?: string | undefined },
): Promise<void> {
  const signInId = uid && (await signInOf(database, uid));
  const user = accountId ? await findUser(database, accountId) : undefined;
  if (signInId && user) await sessions.revokeOne({ user }, signInId);
}

const counted = [
  'authorization.success',
  'authorization.error',
  'grant.success',
  'grant.error',
  'grant.revoked',
  'end_session.success',
] as const;

function countEvents({ metrics, log }: ServiceContext) {
  const counter = new Counter({
    name: 'passwordless_oidc_events_total',
    help: 'Events of the OpenID provider, by kind',
    labelNames: ['event'],
    registers: [metrics],
  });
  return {
    follow(provider: Provider): void {
      for (const event of counted) provider.on(event as 'grant.success', () => counter.inc({ event }));
      provider.on('server_error', (_ctx, error) => {
        counter.inc({ event: 'server_error' });
        log.error({ err: error }, 'request of the OpenID provider failed');
      });
      (provider as EventEmitter).on('error', (error: Error) =>
        log.error({ err: error }, 'OpenID provider failed'),
      );
    },
  };
}

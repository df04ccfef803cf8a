import type { Clock } from '@octavo/core';
import { AppError, formatTraceparent, measureCache } from '@octavo/core';
import { createJwt, type Jwt, type JwtClaims } from '@octavo/core/jwt';
import type { OidcSignIn } from '@octavo/people/sign-in';
import type { Account, AuthServiceDefinition, DecideResponse } from '@octavo/protocols/authz/v1/authz';
import { type Action, type ResourceType, roleAmong, roles } from '@octavo/protocols/authz/v1/permissions';
import type { CallOptions, Client } from '@octavo/rpc';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { protectedPrefix, routes } from '../routes.ts';

/** The caller, according to the token. */
export interface Caller {
  readonly uid: number;
  readonly username: string;
  readonly role: string;
  /** The token itself says that a second factor was used (RFC 8176). */
  readonly hasMfaClaim: boolean;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** Version of the password that the token was issued for; absent in tokens of others. */
  readonly passwordChangedAtMs: number | undefined;
  /** The session that began at the OpenID provider; absent for one with a password. */
  readonly sessionKey: string | undefined;
  /** The role that an access token of the provider names. */
  readonly providerRole?: string | undefined;
}

type Holders = Pick<OidcSignIn<never>, 'holderOf' | 'tokens'>;

export interface Permission {
  readonly resource: ResourceType;
  readonly action: Action;
  readonly mfaVerified: boolean;
}

export interface SignedIn {
  readonly token: string;
  readonly username: string;
  readonly role: string;
}

export interface AccessOptions {
  readonly authz: Client<AuthServiceDefinition>;
  readonly secret: string;
  readonly clock: Clock;
  /** Proof of a second factor: the request's header, or the token's `amr`. */
  readonly mfaAssertion: 'header' | 'signed';
}

/** The access rule of a route: 401 without a token, then 403 unless authz allows it. The body is read after that. */
export type Permits = (resource: ResourceType, action: Action) => AccessRule;

export const tokenLifetimeSeconds = 3_600;
const decisionLifetimeMs = 1_000;
const decisionTimeoutMs = 2_000;
const decisionsMax = 10_000;
const tokensMax = 10_000;
const callerName = 'caller';

/** Prepares an app for callers with tokens. Without one, also an unknown address below the protected prefix is 401. */
export function createPermits(app: HttpApp, access: Access): Permits {
  app.decorateRequest(callerName);
  // Each asks a backend, which may take too long.
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith(`${protectedPrefix}/`)) return;
    const errors = new Set(route.config?.errors).add('timeout');
    route.config = { ...route.config, errors: [...errors] };
  });
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.isUnrouted || !isProtected(request.url)) return done();
    const caller = access.callerOf(request.headers.authorization);
    if (caller instanceof Promise) caller.then(() => done(), done);
    else done();
  });
  return (resource, action) => ({
    security: [{ bearer: [] }],
    onRequest(request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) {
      const admit = (caller: Caller) => {
        request.setDecorator(callerName, caller);
        const mfaVerified = access.isMfaVerified(caller, request.raw.rawHeaders);
        return access.authorize(caller, { resource, action, mfaVerified }, callOf(request));
      };
      const caller = access.callerOf(request.headers.authorization);
      const decision = caller instanceof Promise ? caller.then(admit) : admit(caller);
      if (decision) decision.then(() => done(), done);
      else done();
    },
  });
}

/** Returns the caller of a route that `Permits` protects. */
export function callerOf(request: FastifyRequest): Caller {
  return request.getDecorator<Caller>(callerName);
}

/** Returns the options of RPC calls made for a request: its id and its span. */
export function callOf(request: Pick<FastifyRequest, 'id' | 'trace'>): CallOptions {
  return { requestId: request.id, traceparent: () => formatTraceparent(request.trace) };
}

/** The texts of keys, and some hundred bytes beside each. */
function bytesOfKeys(cache: ReadonlyMap<string, unknown>): number {
  return cache.keys().reduce((sum, key) => sum + key.length + 200, 0);
}

/** Signs and verifies tokens, and asks authz for decisions. What authz allowed is cached for at most a second. */
export class Access {
  readonly #options: AccessOptions;
  readonly #jwt: Jwt;
  /** Times at which each permission was granted. Denials are not cached, so a new permission takes effect immediately. */
  readonly #allowedMs = new Map<string, number>();
  readonly #pending = new Map<string, Promise<void>>();
  #holders: Holders | undefined;
  readonly #held = new Map<string, { caller: Caller; expiresAtMs: number }>();

  constructor(options: AccessOptions) {
    const { secret, clock } = options;
    this.#options = options;
    measureCache('permissions', this.#allowedMs, bytesOfKeys);
    measureCache('callers', this.#held, bytesOfKeys);
    this.#jwt = createJwt({
      secret,
      clock,
      issuer: 'post-gateway',
      audience: 'post-api',
      cacheSize: tokensMax,
    });
  }

  async signIn(
    credentials: { username: string; password: string; remoteAddress: string },
    call: CallOptions,
  ): Promise<SignedIn> {
    const { account } = await this.#options.authz.login(credentials, call);
    if (!account) throw new Error('authz sent no account for a login');
    return { token: this.tokenFor(account), username: account.username, role: account.role };
  }

  /** Takes access tokens of an OpenID provider, too. */
  takeTokensOf(oidc: Holders): void {
    this.#holders = oidc;
  }

  /** The caller of an `Authorization` header. Throws 401; a promise for a token of the OpenID provider, 503 without its keys. */
  callerOf(authorization: string | undefined): Caller | Promise<Caller> {
    const token = authorization === undefined ? undefined : bearer.exec(authorization)?.[1];
    return token !== undefined && this.#holders?.tokens.isOurs(token)
      ? this.#holderOf(this.#holders, token)
      : this.identifyBearer(authorization);
  }

  /** A token of a session, and of methods of authentication (RFC 8176), if there are any. It lasts until the account's password changes, and for an hour at most. */
  tokenFor(
    { uid, username, role, passwordChangedAtMs }: Account,
    { key, amr = [] }: { readonly key?: string | undefined; readonly amr?: readonly string[] } = {},
  ): string {
    const session = { ...(key !== undefined && { sid: key }), ...(amr.length > 0 && { amr }) };
    return this.#jwt.sign(
      { sub: username, uid, role, passwordChangedAtMs, ...session },
      tokenLifetimeSeconds,
    );
  }

  /** The caller that a token names. Throws 401. */
  identify(token: string): Caller {
    return callerIn(this.#verify(token));
  }

  /** The caller that an Authorization header names (RFC 6750 section 2.1). Throws 401. */
  identifyBearer(authorization: string | undefined): Caller {
    const token = authorization === undefined ? undefined : bearer.exec(authorization)?.[1];
    if (token === undefined) throw new AppError('unauthenticated', 'A bearer token is required.');
    return this.identify(token);
  }

  /** The account of a caller as it is now: a token has the role of when it was made. Throws `unavailable`. */
  async accountOf({ uid }: Caller, call: CallOptions): Promise<Account> {
    const { account } = await this.#options.authz.getAccount({ uid }, call);
    if (!account) throw new AppError('unauthenticated', 'The token is not valid.');
    return account;
  }

  isMfaVerified(caller: Caller, rawHeaders: readonly string[]): boolean {
    return this.#options.mfaAssertion === 'signed' ? caller.hasMfaClaim : headerSaysMfa(rawHeaders);
  }

  /**
   * Returns nothing if the permission is cached, else a promise. Throws 403, 401 if the password was changed since the
   * token was issued, or 503 if authz does not respond.
   */
  authorize(caller: Caller, permission: Permission, call: CallOptions): undefined | Promise<void> {
    const { resource, action, mfaVerified } = permission;
    const { uid, role, issuedAt, passwordChangedAtMs, username, sessionKey, providerRole } = caller;
    const key = `${sessionKey} ${providerRole} ${uid} ${role} ${issuedAt} ${passwordChangedAtMs} ${resource} ${action} ${mfaVerified} ${username}`;
    if (this.#isCached(key)) return undefined;
    const pending = this.#pending.get(key);
    if (pending) return pending;
    const decision = this.#decide(caller, permission, { key, call }).finally(() => this.#pending.delete(key));
    this.#pending.set(key, decision);
    return decision;
  }

  /** Tokens of the provider are verified once, and count until they expire. */
  async #holderOf(holders: Holders, token: string): Promise<Caller> {
    const { authz, clock } = this.#options;
    const known = this.#held.get(token);
    if (known && known.expiresAtMs > clock.now()) return known.caller;
    const holder = await holders.holderOf(token);
    const { account } = holder ? await authz.getAccount({ uid: Number(holder.account) }, {}) : {};
    if (!holder || !account) throw new AppError('unauthenticated', 'The token is not valid.');
    const { uid, username, passwordChangedAtMs } = account;
    const providerRole = roleAmong(holder.roles) ?? 'viewer';
    const issuedAt = Math.floor(clock.now() / 1_000);
    const rest = {
      role: providerRole,
      providerRole,
      hasMfaClaim: holder.amr.includes('mfa'),
      issuedAt,
      sessionKey: undefined,
    };
    const caller = { uid, username, passwordChangedAtMs, ...rest };
    const oldest = this.#held.keys().next().value;
    if (this.#held.size >= tokensMax && oldest !== undefined) this.#held.delete(oldest);
    this.#held.set(token, { caller, expiresAtMs: holder.expiresAtMs });
    return caller;
  }

  /** A clock that is set back does not make a decision last longer. */
  #isCached(key: string): boolean {
    const allowedMs = this.#allowedMs.get(key);
    if (allowedMs === undefined) return false;
    const ageMs = this.#options.clock.now() - allowedMs;
    return ageMs >= 0 && ageMs < decisionLifetimeMs;
  }

  #verify(token: string): JwtClaims {
    try {
      return this.#jwt.verify(token);
    } catch (error) {
      // Without the reason of the library, which is not one of the API's codes.
      if (error instanceof AppError) throw new AppError('unauthenticated', error.message);
      throw error;
    }
  }

  async #decide(
    caller: Caller,
    permission: Permission,
    { key, call }: { key: string; call: CallOptions },
  ): Promise<void> {
    const askedMs = this.#options.clock.now();
    const decision = await this.#ask(caller, permission, call);
    if (decision.allowed !== true) throw denied(decision);
    this.#allowedMs.delete(key);
    const oldest = this.#allowedMs.keys().next().value;
    if (this.#allowedMs.size >= decisionsMax && oldest !== undefined) this.#allowedMs.delete(oldest);
    this.#allowedMs.set(key, askedMs);
  }

  /** Any failure is 503, which neither allows nor denies. */
  async #ask(caller: Caller, permission: Permission, call: CallOptions): Promise<DecideResponse> {
    const { uid, username, role, issuedAt, passwordChangedAtMs, sessionKey, providerRole } = caller;
    const { resource, action, mfaVerified } = permission;
    const token = { issuedAt, passwordChangedAtMs, sessionKey, providerRole };
    const subject = { uid, username, role, mfaVerified, ...token };
    const request = { subject, resourceType: resource, action };
    try {
      return await this.#options.authz.decide(request, { ...call, timeoutMs: decisionTimeoutMs });
    } catch (error) {
      throw new AppError('unavailable', 'Access cannot be checked at the moment.', {
        retryAfterSeconds: 1,
        cause: error,
      });
    }
  }
}

const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

function isProtected(url: string): boolean {
  const path = url.split('?', 1)[0];
  if (path === routes.login) return false;
  return path === protectedPrefix || url.startsWith(`${protectedPrefix}/`);
}

function isRole(role: unknown): boolean {
  return roles.some((known) => known === role);
}

function callerIn({ sub, uid, role, amr, iat, sid, passwordChangedAtMs }: JwtClaims): Caller {
  const isValid =
    isWhole(uid) && uid > 0 && isRole(role) && sub !== '' && isOptionalWhole(passwordChangedAtMs);
  if (!isValid) throw new AppError('unauthenticated', 'The token is not valid.');
  const hasMfaClaim = Array.isArray(amr) && amr.includes('mfa');
  const issuedAt = Math.floor(iat);
  const sessionKey = typeof sid === 'string' ? sid : undefined;
  return {
    uid,
    username: sub,
    role: role as string,
    hasMfaClaim,
    issuedAt,
    passwordChangedAtMs,
    sessionKey,
  };
}

function isWhole(claim: unknown): claim is number {
  return Number.isSafeInteger(claim);
}

function isOptionalWhole(claim: unknown): claim is number | undefined {
  return claim === undefined || isWhole(claim);
}

/** True for exactly one line of that name whose value is `true`; two lines, a list or another spelling do not count. */
function headerSaysMfa(rawHeaders: readonly string[]): boolean {
  let said: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length !== 14 || name.toLowerCase() !== 'x-mfa-verified') continue;
    if (said !== undefined) return false;
    said = rawHeaders[index + 1] as string;
  }
  return said !== undefined && /^[ \t]*true[ \t]*$/.test(said);
}

function denied({ reason, policy, decisionId }: DecideResponse): AppError {
  if (reason === 'TOKEN_STALE') {
    return new AppError('unauthenticated', 'The password was changed. Sign in again.');
  }
  const message =
    reason === 'MFA_REQUIRED' ? 'This needs a verified second factor.' : 'Your role does not allow this.';
  return new AppError('forbidden', message, { fields: { reason, policy, decisionId } });
}

import { createJwt, type Jwt, type JwtClaims } from '#kit/auth/jwt.ts';
import type { Clock } from '#kit/clock.ts';
import { AppError } from '#kit/errors.ts';
import type { CallOptions, Client } from '#kit/rpc/index.ts';
import type { AuthServiceDefinition, DecideResponse } from '#proto/authz/v1/authz.ts';

export type Resource = 'post' | 'export' | 'ml' | 'admin';
export type Action = 'read' | 'write' | 'delete';

/** Who asks, as a token says. */
export interface Caller {
  readonly uid: number;
  readonly username: string;
  readonly role: string;
  /** The token itself says that a second factor was used (RFC 8176). */
  readonly hasMfaClaim: boolean;
}

export interface Permission {
  readonly resource: Resource;
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
  /** Whose word counts for a second factor: the request's header, or the token's `amr`. */
  readonly mfaAssertion: 'header' | 'signed';
}

export const tokenLifetimeSeconds = 3_600;
const decisionLifetimeMs = 1_000;
const decisionTimeoutMs = 2_000;
const decisionsMax = 10_000;
const tokensMax = 10_000;

/** Who may do what: tokens are made and read here, decisions are asked of authz and kept for at most a second. */
export class Access {
  readonly #options: AccessOptions;
  readonly #jwt: Jwt;
  /** When something was found to be allowed. Denials are not kept: whoever is allowed more notices at once. */
  readonly #allowedMs = new Map<string, number>();
  readonly #asking = new Map<string, Promise<void>>();

  constructor(options: AccessOptions) {
    const { secret, clock } = options;
    this.#options = options;
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
    if (!account) throw new Error('authz answered a login without an account');
    const { uid, username, role } = account;
    const token = this.#jwt.sign({ sub: username, uid, role }, tokenLifetimeSeconds);
    return { token, username, role };
  }

  /** The caller that a token names. Throws 401. */
  identify(token: string): Caller {
    return callerOf(this.#verify(token));
  }

  /** The caller that an Authorization header names (RFC 6750 section 2.1). Throws 401. */
  identifyBearer(authorization: string | undefined): Caller {
    const token = authorization === undefined ? undefined : bearer.exec(authorization)?.[1];
    if (token === undefined) throw unauthorized('A bearer token is required.');
    return this.identify(token);
  }

  isMfaVerified(caller: Caller, rawHeaders: readonly string[]): boolean {
    return this.#options.mfaAssertion === 'signed' ? caller.hasMfaClaim : headerSaysMfa(rawHeaders);
  }

  /** Returns where it is allowed, at once where that is known. Throws 403, or 503 where nobody can say. */
  authorize(caller: Caller, permission: Permission, call: CallOptions): undefined | Promise<void> {
    const { resource, action, mfaVerified } = permission;
    const key = `${caller.uid} ${caller.role} ${resource} ${action} ${mfaVerified} ${caller.username}`;
    if (this.#isKnown(key)) return undefined;
    const asking = this.#asking.get(key);
    if (asking) return asking;
    const asked = this.#ask(caller, permission, { key, call }).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asked);
    return asked;
  }

  /** A clock that was set back makes nothing last longer. */
  #isKnown(key: string): boolean {
    const allowedMs = this.#allowedMs.get(key);
    if (allowedMs === undefined) return false;
    const ageMs = this.#options.clock.now() - allowedMs;
    return ageMs >= 0 && ageMs < decisionLifetimeMs;
  }

  #verify(token: string): JwtClaims {
    try {
      return this.#jwt.verify(token);
    } catch (error) {
      if (error instanceof AppError) throw unauthorized(error.message);
      throw error;
    }
  }

  async #ask(
    caller: Caller,
    permission: Permission,
    { key, call }: { key: string; call: CallOptions },
  ): Promise<void> {
    const askedMs = this.#options.clock.now();
    const decision = await this.#decide(caller, permission, call);
    if (decision.allowed !== true) throw forbidden(decision);
    this.#allowedMs.delete(key);
    if (this.#allowedMs.size >= decisionsMax) this.#forgetOldest();
    this.#allowedMs.set(key, askedMs);
  }

  /** Whatever keeps a decision from being made is 503: neither yes nor no. */
  async #decide(caller: Caller, permission: Permission, call: CallOptions): Promise<DecideResponse> {
    const { uid, username, role } = caller;
    const { resource, action, mfaVerified } = permission;
    const request = { subject: { uid, username, role, mfaVerified }, resourceType: resource, action };
    try {
      return await this.#options.authz.decide(request, { ...call, timeoutMs: decisionTimeoutMs });
    } catch (error) {
      throw new AppError('unavailable', 'Access cannot be decided at the moment.', {
        retryAfterSeconds: 1,
        cause: error,
      });
    }
  }

  #forgetOldest(): void {
    const oldest = this.#allowedMs.keys().next().value;
    if (oldest !== undefined) this.#allowedMs.delete(oldest);
  }
}

const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;
const roles: readonly unknown[] = ['admin', 'editor', 'viewer'];

function callerOf({ sub, uid, role, amr }: JwtClaims): Caller {
  if (!Number.isSafeInteger(uid) || (uid as number) < 1 || !roles.includes(role) || sub === '') {
    throw unauthorized('The token is not valid.');
  }
  const hasMfaClaim = Array.isArray(amr) && amr.includes('mfa');
  return { uid: uid as number, username: sub, role: role as string, hasMfaClaim };
}

/** Exactly one line of that name, and it says `true`: two lines, a list or another spelling say nothing. */
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

function unauthorized(message: string): AppError {
  return new AppError('unauthenticated', message);
}

function forbidden({ reason, policy, decisionId }: DecideResponse): AppError {
  const message =
    reason === 'MFA_REQUIRED' ? 'This needs a verified second factor.' : 'Your role does not allow this.';
  return new AppError('forbidden', message, { fields: { reason, policy, decisionId } });
}

import { hkdfSync } from 'node:crypto';
import type { Clock, Log } from '@octavo/core';
import { AppError, newSecret } from '@octavo/core';
import type * as Library from 'openid-client';
import { ProviderRequests } from './requests.ts';
import { claimAt, inOneScript, isIdentifier, namesIn, type ProviderSettings, rolesIn } from './settings.ts';

/** A person as the provider knows them. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  /** Name for a new account. It may be taken, and hold any characters. */
  readonly name: string;
  /** An address that the provider has verified. */
  readonly email: string | undefined;
  /** Roles in the words of this service. */
  readonly roles: readonly string[];
  /** The session at the provider, if it names one. */
  readonly sid: string | undefined;
  /** Methods of authentication (RFC 8176). */
  readonly amr: readonly string[];
}

/** Tokens of a sign-in. */
export interface Grant {
  /** ID token for the sign-out at the provider. */
  readonly idToken: string;
  /** Token to ask again which roles the person has. */
  readonly refreshToken: string | undefined;
}

/** One way to the provider and back, which only the browser that began it can finish. State, nonce and verifier follow from it. */
export interface Attempt {
  readonly secret: string;
}

/** A sign-in that the provider has finished. */
export interface Finished {
  readonly person: Person;
  readonly grant: Grant;
  /** Time from when the person signed in at the provider to when it issued the ID token, both by its own clock; undefined if it did not say. */
  readonly authenticatedAgoMs: number | undefined;
}

export interface ProviderOptions {
  readonly settings: ProviderSettings;
  readonly clock: Clock;
  readonly log: Log;
}

const timeoutSeconds = 5;
/** Difference allowed between the clocks of a provider and of a service. */
export const clockToleranceSeconds = 60;
/** Age at which a description is read again. */
const freshMs = 10 * 60_000;
/** An answer counts so long as a sign of life. */
const aliveMs = 10_000;
/** Sign-in pages wait so long for a sign of life. */
const glanceMs = 2_000;
const wantedScopes = ['profile', 'email', 'roles', 'offline_access'];

/** An OpenID provider. Nothing is asked before it is used, and nothing waits for it longer than 5 s. */
export class Provider {
  readonly settings: ProviderSettings;
  readonly #options: ProviderOptions;
  readonly #requests: ProviderRequests;
  #known: { configuration: Library.Configuration; readMs: number } | undefined;
  #asking: Promise<Library.Configuration> | undefined;
  #lastAnswer: { readonly isAlive: boolean; readonly atMs: number } | undefined;

  constructor(options: ProviderOptions) {
    this.settings = options.settings;
    this.#options = options;
    this.#requests = new ProviderRequests(options.clock);
  }

  /** The `fetch` for requests to the provider. */
  get fetch(): typeof fetch {
    return this.#requests.fetch;
  }

  /** True if the provider answers, as far as that is known after 2 s. An answer counts for 10 s. */
  async answers(): Promise<boolean> {
    const last = this.#recent();
    if (last) return last.isAlive;
    const asking = this.#ask().then(
      () => true,
      () => false,
    );
    const isAlive = await Promise.race([asking, after(glanceMs)]);
    if (!isAlive) this.#lastAnswer = { isAlive, atMs: this.#options.clock.now() };
    return isAlive;
  }

  /**
   * The address that begins an attempt, and leads back to `callback` with a state. With `fresh` the provider asks who is there even if it
   * knows; with `proves` it also says when the person signed in; with `quiet` it asks nothing, and comes back with an error if it would
   * have to.
   */
  async begin(
    callback: string,
    {
      fresh = false,
      proves = false,
      quiet = false,
    }: { fresh?: boolean; proves?: boolean; quiet?: boolean | undefined } = {},
  ): Promise<{ url: URL; state: string; attempt: Attempt }> {
    const library = await import('openid-client');
    const configuration = this.#recent()?.isAlive ? await this.#configuration() : await this.#ask();
    const { scopes_supported: supported = ['profile', 'email'] } = configuration.serverMetadata();
    const attempt: Attempt = { secret: newSecret(16) };
    const { state, nonce, verifier } = this.#secretsOf(attempt);
    const url = library.buildAuthorizationUrl(configuration, {
      redirect_uri: callback,
      scope: ['openid', ...wantedScopes.filter((name) => supported.includes(name))].join(' '),
      state,
      nonce,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...((fresh || proves) && { prompt: 'login' }),
      ...(proves && { max_age: '0' }),
      ...(quiet && { prompt: 'none' }),
    });
    return { url, state, attempt };
  }

  /**
   * Exchanges the code of a callback, with its query. Throws `unauthenticated` if anything differs from the attempt or is not signed by the
   * provider, and `unavailable` if the provider does not answer.
   */
  async finish(callback: URL, attempt: Attempt): Promise<Finished> {
    const library = await import('openid-client');
    const { state, nonce, verifier } = this.#secretsOf(attempt);
    return this.within(async () => {
      const configuration = await this.#configuration();
      const tokens = await library.authorizationCodeGrant(configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const person = await this.#person(configuration, tokens);
      return {
        person,
        grant: { idToken: tokens.id_token as string, refreshToken: tokens.refresh_token },
        authenticatedAgoMs: authenticationAgeMs(tokens.claims()),
      };
    });
  }

  /**
   * Asks for the roles of a person again. Gives `ended` if the provider says that the grant has ended (`invalid_grant`). Throws
   * `unavailable` for any other failure: a limit, a new secret, or a proxy without the provider says nothing about the person.
   */
  async refresh(
    refreshToken: string,
    subject: string,
  ): Promise<{ roles: readonly string[]; grant: Partial<Grant> } | 'ended'> {
    const library = await import('openid-client');
    try {
      return await this.within(async () => {
        const configuration = await this.#configuration();
        const tokens = await library.refreshTokenGrant(configuration, refreshToken);
        const { roles } = await this.#person(configuration, tokens, subject);
        return { roles, grant: { idToken: tokens.id_token, refreshToken: tokens.refresh_token } };
      });
    } catch (error) {
      const { code, cause } = error as AppError;
      if (cause instanceof library.ResponseBodyError && cause.error === 'invalid_grant') return 'ended';
      throw code === 'unauthenticated' ? this.#noAnswer(cause) : error;
    }
  }

  /** Ends a grant (RFC 7009). Throws `unavailable`. Without an address for it there is nothing to do. */
  async revoke(refreshToken: string): Promise<void> {
    const library = await import('openid-client');
    try {
      await this.within(async () => {
        const configuration = await this.#configuration();
        if (configuration.serverMetadata().revocation_endpoint === undefined) return;
        await library.tokenRevocation(configuration, refreshToken, { token_type_hint: 'refresh_token' });
      });
    } catch (error) {
      const { code, cause } = error as AppError;
      throw code === 'unauthenticated' ? this.#noAnswer(cause) : error;
    }
  }

  /** Address at which the browser signs out of the provider, and comes back to `returnTo`; undefined if there is none, or no answer. */
  async signOutUrl(idToken: string, returnTo: string): Promise<string | undefined> {
    if (!(await this.answers())) return undefined;
    const library = await import('openid-client');
    const configuration = await this.#configuration();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    return library.buildEndSessionUrl(configuration, {
      id_token_hint: idToken,
      post_logout_redirect_uri: returnTo,
    }).href;
  }

  /** Addresses and algorithms of the provider. Throws `unavailable`. */
  async metadata(): Promise<Library.ServerMetadata> {
    return (await this.#configuration()).serverMetadata();
  }

  /** Stays for a provider, and differs from that of another. */
  #secretsOf({ secret }: Attempt): { state: string; nonce: string; verifier: string } {
    const derive = (purpose: string) => {
      const key = hkdfSync('sha256', secret, this.settings.issuer, `oidc ${purpose}`, 32);
      return Buffer.from(key).toString('base64url');
    };
    return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') };
  }

  async #person(
    configuration: Library.Configuration,
    tokens: Library.TokenEndpointResponse & Library.TokenEndpointResponseHelpers,
    expected?: string,
  ): Promise<Person> {
    const library = await import('openid-client');
    const { settings } = this;
    const inToken: Readonly<Record<string, unknown>> = { ...tokens.claims() };
    const subject = inToken.sub ?? expected;
    if (!isIdentifier(subject)) throw new Error('the provider named no subject, or one that is too long');
    if (expected !== undefined && subject !== expected) throw new Error('the provider named another subject');
    const isWhole =
      claimAt(inToken, settings.rolesClaim) !== undefined && inToken.email_verified !== undefined;
    const hasMore = !isWhole && configuration.serverMetadata().userinfo_endpoint !== undefined;
    const more = hasMore ? await library.fetchUserInfo(configuration, tokens.access_token, subject) : {};
    const claims: Readonly<Record<string, unknown>> = { ...more, ...inToken };
    const email = claims.email_verified === true ? textOf(claims.email) : undefined;
    const { sid } = inToken;
    if (sid !== undefined && !isIdentifier(sid)) throw new Error('the session is no identifier');
    return {
      issuer: settings.issuer,
      subject,
      name: inOneScript(
        textOf(claims.preferred_username) ?? email?.split('@')[0] ?? textOf(claims.name) ?? 'user',
      ),
      email,
      roles: rolesIn(claims, settings),
      sid,
      amr: namesIn(inToken.amr).filter(isIdentifier),
    };
  }

  /** The description of the provider: for 10 minutes as it was read, and as it was while it cannot be read again. */
  async #configuration(): Promise<Library.Configuration> {
    const known = this.#known;
    if (known && this.#options.clock.now() - known.readMs < freshMs) return known.configuration;
    if (!known) return this.#ask();
    return this.#recent()?.isAlive === false
      ? known.configuration
      : this.#ask().catch(() => known.configuration);
  }

  #recent(): { readonly isAlive: boolean } | undefined {
    const last = this.#lastAnswer;
    return last && this.#options.clock.now() - last.atMs < aliveMs ? last : undefined;
  }

  /** Reads the description now; requests at the same time share one reading. */
  #ask(): Promise<Library.Configuration> {
    this.#asking ??= this.#read().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #read(): Promise<Library.Configuration> {
    const { clock, log } = this.#options;
    try {
      const configuration = await this.#discover();
      this.#known = { configuration, readMs: clock.now() };
      this.#lastAnswer = { isAlive: true, atMs: clock.now() };
      return configuration;
    } catch (cause) {
      this.#lastAnswer = { isAlive: false, atMs: clock.now() };
      log.warn({ err: cause, issuer: this.settings.issuer }, 'OpenID provider does not answer');
      throw this.#noAnswer(cause);
    }
  }

  async #discover(): Promise<Library.Configuration> {
    const library = await import('openid-client');
    const { issuer, clientId, clientSecret } = this.settings;
    const address = new URL(issuer);
    const configuration = await library.discovery(
      address,
      clientId,
      { [library.clockTolerance]: clockToleranceSeconds },
      clientSecret === undefined ? library.None() : library.ClientSecretBasic(clientSecret),
      {
        timeout: timeoutSeconds,
        [library.customFetch]: this.fetch as Library.CustomFetch,
        // The settings allow it on this machine only.
        execute: address.protocol === 'http:' ? [library.allowInsecureRequests] : [],
      },
    );
    // Without it the library trusts the connection, and does not check the signature of an ID token.
    library.enableNonRepudiationChecks(configuration);
    const keys = this.#known && library.getJwksCache(this.#known.configuration);
    if (keys) library.setJwksCache(configuration, keys);
    return configuration;
  }

  /** Runs requests that wait 5 s together at most, and names their errors: `unavailable` without an answer, else `unauthenticated`. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const error = new DOMException('no answer in 5 s', 'TimeoutError');
      this.#requests.failed(error);
      late.reject(error);
    }, timeoutSeconds * 1_000);
    try {
      return await Promise.race([work(), late.promise]);
    } catch (error) {
      if (error instanceof AppError) throw error;
      const silence = silenceOf(error);
      if (silence === undefined) throw refused(error);
      if (silence === 'away') this.#lastAnswer = { isAlive: false, atMs: this.#options.clock.now() };
      throw this.#noAnswer(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #noAnswer(cause?: unknown): AppError {
    return new AppError(
      'unavailable',
      `${this.settings.name} sign-in does not answer. Try again in a moment.`,
      {
        retryAfterSeconds: 10,
        cause,
      },
    );
  }
}

function refused(cause: unknown): AppError {
  return new AppError('unauthenticated', 'The sign-in could not be completed. Start again.', {
    reason: 'OIDC_REFUSED',
    cause,
  });
}

/** An error of the library, which has the status and the OAuth error of a response if there was one. */
type LibraryError = Error & { readonly code?: string; readonly status?: number; readonly error?: string };

/** Statuses by which a server says that it, or what is behind it, has no time now. */
const busyStatuses: readonly (number | undefined)[] = [408, 425, 429];
const busyErrors: readonly (string | undefined)[] = ['temporarily_unavailable', 'server_error'];

/**
 * `away` if a provider gave no answer, or one that its own failure explains; `busy` if something answered that is not a verdict of the
 * provider: it has too much to do, or a proxy is in its place.
 */
function silenceOf(error: unknown): 'away' | 'busy' | undefined {
  const { code, cause, name, status, error: reason } = error as LibraryError;
  if (code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT' || name === 'TimeoutError') return 'away';
  if (error instanceof TypeError && cause instanceof Error) return 'away';
  if (cause instanceof TypeError && cause.cause instanceof Error) return 'away';
  // Without an error of OAuth in it.
  if (cause instanceof Response) return cause.status >= 500 ? 'away' : 'busy';
  return busyStatuses.includes(status) || busyErrors.includes(reason) ? 'busy' : undefined;
}

async function after(ms: number): Promise<false> {
  const { promise, resolve } = Promise.withResolvers<false>();
  setTimeout(() => resolve(false), ms).unref();
  return promise;
}

function authenticationAgeMs(claims: Library.IDToken | undefined): number | undefined {
  const { iat, auth_time: atSeconds } = claims ?? {};
  return iat === undefined || atSeconds === undefined ? undefined : (iat - atSeconds) * 1_000;
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim.trim() !== '' ? claim.slice(0, 320) : undefined;
}

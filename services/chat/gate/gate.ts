import type { Clock } from '@octavo/core';
import { AppError, newSecret } from '@octavo/core';
import { bearerToken, SignedCookie } from '@octavo/core/auth';
import type { OidcSignIn } from '@octavo/people/sign-in';
import type { AccessRule } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Identity, isStranger, type Owner, publicOwner } from '../owner.ts';
import type { Credentials, SignIn } from './credentials.ts';
import type { IsForeign } from './foreign-origin.ts';

type Cookies = Readonly<Record<string, string | undefined>>;

/** Kinds of requests, each with a limit of its own. */
export const usages = ['chat', 'upload', 'session', 'read'] as const;
export type Usage = (typeof usages)[number];

/** A limit on the requests of clients. Both throw `rate_limited`. */
export interface UsageLimit {
  /** Counts a request, and tells in the headers of its response how many are left. */
  count(request: FastifyRequest, reply: FastifyReply, client: string): void;
  /** Counts a message that has no response of its own. */
  take(client: string): void;
}

/** People of the OpenID provider, as the gate sees them. */
export interface People {
  readonly oidc: OidcSignIn<never>;
  /** True while a session lasts. */
  hasSession(key: string): Promise<boolean>;
  /** Holder of an access token of the provider; undefined for another token. Throws `unauthenticated`, or `unavailable`. */
  holderOf(token: string): Promise<Identity | undefined>;
  /** True while the provider names the role `admin` of an account. */
  isAdmin(account: string): Promise<boolean>;
}

export interface GateOptions {
  /** Encrypts the cookie by which browsers are told apart. */
  readonly secret: string;
  readonly clock: Clock;
  /** The check of keys or tokens, which everybody then needs; undefined without. */
  readonly signIn: SignIn | undefined;
  /** People of the OpenID provider; undefined without one. */
  readonly people?: People | undefined;
  readonly limits: Readonly<Record<Usage, UsageLimit>>;
  /** True if a page of another site sends a request. */
  readonly isForeign: IsForeign;
  /** The network address of a client. */
  addressOf(request: FastifyRequest): string;
}

const cookieName = 'chat_owner';
const signedInMs = 86_400_000;
const cookieSeconds = 400 * 86_400;

/** A person of the OpenID provider in a browser. */
interface Person {
  readonly account: string;
  /** Names the session. */
  readonly key: string;
  readonly expiresAtMs: number;
}

/** Identifies callers, their owner, and their limits. */
export class Gate {
  /** True if keys, tokens or people can sign in. */
  readonly hasSignIn: boolean;
  /** True if there is no access without a sign-in. */
  readonly requiresSignIn: boolean;
  readonly #options: GateOptions;
  readonly #cookie: SignedCookie;
  readonly #signedIn = new WeakMap<FastifyRequest, Identity>();

  constructor(options: GateOptions) {
    const { secret, signIn, people } = options;
    this.hasSignIn = signIn !== undefined || people !== undefined;
    this.requiresSignIn = signIn !== undefined || people?.oidc.isOnly === true;
    this.#options = options;
    this.#cookie = new SignedCookie({ name: cookieName, secret, maxAgeSeconds: cookieSeconds });
  }

  /** True if keys or tokens of this service sign in. */
  get takesKeys(): boolean {
    return this.#options.signIn !== undefined && this.#options.people?.oidc.isOnly !== true;
  }

  /**
   * The access of a route: signed-in clients, if everybody has to sign in, within the rate limit of its kind. Pages of other sites are refused
   * unless a key or token signs them in, and altogether where the route is not for pages.
   */
  access(usage: Usage, { isForPages = true }: { readonly isForPages?: boolean } = {}): AccessRule {
    return {
      security: this.requiresSignIn ? [{ bearer: [] }, { apiKey: [] }] : [{}],
      errors: ['forbidden'],
      onRequest: async (request, reply) => {
        await this.admit(request);
        if (this.isForeign(request.raw) && !(isForPages && this.#hasCredentials(request))) {
          throw new AppError('forbidden', 'Pages of other sites may not ask here.');
        }
        this.#options.limits[usage].count(request, reply, this.clientOf(request));
      },
    };
  }

  /** True if a page of another site sends a request. */
  get isForeign(): IsForeign {
    return this.#options.isForeign;
  }

  /** Throws `unauthenticated` for a request without valid credentials. */
  async admit(request: FastifyRequest): Promise<void> {
    const credentials = credentialsIn(request);
    const isBare = credentials.bearer === undefined && credentials.apiKey === undefined;
    if (isBare && this.browserOwner(request.cookies, this.#options.clock.now()) !== undefined) return;
    const identity = await this.identify(credentials);
    if (identity) this.#signedIn.set(request, identity);
  }

  /** True if a key or token signed the client in. */
  #hasCredentials(request: FastifyRequest): boolean {
    const { bearer, apiKey } = credentialsIn(request);
    return (bearer ?? apiKey) !== undefined && this.#signedIn.has(request);
  }

  /**
   * Tells who has these credentials: a person of the provider, or a key or a token of this service. Undefined for a stranger, if strangers may
   * come in; else throws `unauthenticated`.
   */
  async identify(credentials: Credentials): Promise<Identity | undefined> {
    const { signIn, people } = this.#options;
    const { bearer } = credentials;
    const person = bearer === undefined ? undefined : await people?.holderOf(bearer);
    if (person) return person;
    if (signIn) return signIn(credentials);
    if (this.requiresSignIn) throw new AppError('unauthenticated', 'A bearer token is required.');
    return undefined;
  }

  /** Tells who has this key or token of the service; undefined where there is none. Throws `unauthenticated`. */
  async identifyKey(key: string | undefined): Promise<Identity | undefined> {
    return this.#options.signIn?.({ bearer: key, apiKey: key });
  }

  /** Tells whose request it is. */
  ownerOf(request: FastifyRequest): Owner {
    const signedIn = this.#signedIn.get(request)?.owner;
    return signedIn ?? this.browserOwner(request.cookies, this.#options.clock.now()) ?? publicOwner;
  }

  /** Tells whose request it is, and whether that is an administrator. */
  async identityOf(request: FastifyRequest): Promise<Identity> {
    const signedIn = this.#signedIn.get(request);
    if (signedIn) return signedIn;
    const { clock, people } = this.#options;
    const owner = this.browserOwner(request.cookies, clock.now()) ?? publicOwner;
    const person = this.personOf(request.cookies, clock.now());
    const isAdmin = person
      ? await people?.isAdmin(person.account)
      : !isStranger(owner) && this.#sessionIn(request.cookies)?.isAdmin;
    return { owner, isAdmin: isAdmin === true };
  }

  /**
   * Returns the account that signed in on a browser with these cookies, or the browser itself if strangers may come in; undefined for
   * strangers otherwise.
   */
  browserOwner(cookies: Cookies, nowMs: number): Owner | undefined {
    const person = this.personOf(cookies, nowMs);
    if (person) return `person:${person.account}`;
    const stranger = this.requiresSignIn ? undefined : publicOwner;
    const value = this.#cookie.read({ cookies: { ...cookies } });
    const session = this.#sessionIn(cookies);
    if (session?.owner.startsWith('person:')) return stranger;
    if (this.#options.signIn && session) return nowMs < session.untilMs ? session.owner : undefined;
    return this.requiresSignIn || value === undefined || session ? stranger : `browser:${value}`;
  }

  #sessionIn(cookies: Cookies): (Identity & { readonly untilMs: number }) | undefined {
    const value = this.#cookie.read({ cookies: { ...cookies } });
    const [, untilMs, admin, owner] = /^in:(\d+):(admin:)?(.+)$/s.exec(value ?? '') ?? [];
    return owner === undefined
      ? undefined
      : { owner, isAdmin: admin !== undefined, untilMs: Number(untilMs) };
  }

  /** Keeps a person signed in on a browser for a day. */
  rememberSignedIn(reply: FastifyReply, { owner, isAdmin }: Identity, nowMs: number): void {
    this.#cookie.write(reply, `in:${nowMs + signedInMs}:${isAdmin ? 'admin:' : ''}${owner}`);
  }

  /** Keeps a person of the OpenID provider signed in on a browser. */
  rememberPerson(reply: FastifyReply, { account, key, expiresAtMs }: Person): void {
    this.#cookie.write(reply, `in:${expiresAtMs}:person:${account}:${key}`);
  }

  /** The person of the provider who is signed in on a browser, as its cookie says. */
  personOf(cookies: Cookies, nowMs: number): Pick<Person, 'account' | 'key'> | undefined {
    const value = this.#cookie.read({ cookies: { ...cookies } });
    const [, expiresMs, account, key] = /^in:(\d+):person:([\w-]+):([\w-]+)$/.exec(value ?? '') ?? [];
    if (account === undefined || key === undefined || nowMs >= Number(expiresMs)) return undefined;
    return { account, key };
  }

  /** Leaves the cookie of a session that has ended out of a `Cookie` header, before anything reads it. */
  async withoutEnded(header: string, cookies: Cookies): Promise<string> {
    const person = this.personOf(cookies, this.#options.clock.now());
    if (!person || (await this.#options.people?.hasSession(person.key))) return header;
    return header
      .split(';')
      .filter((pair) => pair.trim().split('=', 1)[0] !== cookieName)
      .join(';');
  }

  /** Signs a browser out. */
  forget(reply: FastifyReply): void {
    this.#cookie.clear(reply);
  }

  /** Counts something that a client does without a request. Throws `rate_limited`. */
  take(usage: Usage, client: string): void {
    this.#options.limits[usage].take(client);
  }

  /** Makes a browser an owner of its own. */
  remember(request: FastifyRequest, reply: FastifyReply): Owner {
    const person = this.personOf(request.cookies, this.#options.clock.now());
    if (person) return `person:${person.account}`;
    const known = this.#cookie.read(request);
    const id = known === undefined || known.startsWith('in:') ? newSecret(16) : known;
    this.#cookie.write(reply, id);
    return `browser:${id}`;
  }

  /** Returns the client that limits count: the signed-in person, else the address. */
  clientOf(request: FastifyRequest): string {
    const owner = this.ownerOf(request);
    return isStranger(owner) ? this.#options.addressOf(request) : owner;
  }
}

function credentialsIn({ headers }: FastifyRequest): Credentials {
  const apiKey = headers['x-api-key'];
  return {
    bearer: bearerToken(headers.authorization),
    apiKey: typeof apiKey === 'string' && apiKey !== '' ? apiKey : undefined,
  };
}

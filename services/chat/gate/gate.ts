import type { FastifyReply, FastifyRequest } from 'fastify';
import { bearerToken } from '#kit/auth/bearer.ts';
import { SignedCookie } from '#kit/auth/signed-cookie.ts';
import type { Clock } from '#kit/clock.ts';
import type { AccessRule } from '#kit/http/access.ts';
import { newSecret } from '#kit/ids.ts';
import { type Owner, publicOwner } from '../owner.ts';
import type { Credentials, SignIn } from './credentials.ts';

type Cookies = Readonly<Record<string, string | undefined>>;

/** What requests are counted as, each with a limit of its own. */
export const usages = ['chat', 'upload', 'session', 'read'] as const;
export type Usage = (typeof usages)[number];

/** A limit on the requests of clients. Both throw `rate_limited`. */
export interface UsageLimit {
  /** Counts a request, and tells in the headers of its response how many are left. */
  count(request: FastifyRequest, reply: FastifyReply, client: string): void;
  /** Counts a message that has no response of its own. */
  take(client: string): void;
}

export interface GateOptions {
  /** Encrypts the cookie by which browsers are told apart. */
  readonly secret: string;
  readonly clock: Clock;
  /** Undefined if everybody may come in. */
  readonly signIn: SignIn | undefined;
  readonly limits: Readonly<Record<Usage, UsageLimit>>;
  /** The network address of a client. */
  addressOf(request: FastifyRequest): string;
}

const signedInMs = 86_400_000;
const cookieSeconds = 400 * 86_400;

/** Who comes in, whose data they see, and how often they may come. */
export class Gate {
  readonly hasSignIn: boolean;
  readonly #options: GateOptions;
  readonly #cookie: SignedCookie;
  readonly #signedIn = new WeakMap<FastifyRequest, Owner>();

  constructor(options: GateOptions) {
    const { secret } = options;
    this.hasSignIn = options.signIn !== undefined;
    this.#options = options;
    this.#cookie = new SignedCookie({ name: 'chat_owner', secret, maxAgeSeconds: cookieSeconds });
  }

  /** The access of a route: whoever is signed in, where there is sign-in, within the limit of what it is used for. */
  access(usage: Usage): AccessRule {
    return {
      security: this.hasSignIn ? [{ bearer: [] }, { apiKey: [] }] : [{}],
      onRequest: async (request, reply) => {
        await this.admit(request);
        this.#options.limits[usage].count(request, reply, this.clientOf(request));
      },
    };
  }

  /** Throws `unauthenticated` for a request without valid credentials. */
  async admit(request: FastifyRequest): Promise<void> {
    const { signIn, clock } = this.#options;
    if (!signIn) return;
    const credentials = credentialsIn(request);
    const isBare = credentials.bearer === undefined && credentials.apiKey === undefined;
    const browser = isBare ? this.browserOwner(request.cookies, clock.now()) : undefined;
    this.#signedIn.set(request, browser ?? (await signIn(credentials)));
  }

  /** Whose these credentials are; undefined where there is no sign-in. */
  async identify(credentials: Credentials): Promise<Owner | undefined> {
    return this.#options.signIn?.(credentials);
  }

  /** Tells whose request it is. */
  ownerOf(request: FastifyRequest): Owner {
    const signedIn = this.#signedIn.get(request);
    return signedIn ?? this.browserOwner(request.cookies, this.#options.clock.now()) ?? publicOwner;
  }

  /** Who signed in on a browser with these cookies, or whose browser it is where there is no sign-in; undefined for strangers. */
  browserOwner(cookies: Cookies, nowMs: number): Owner | undefined {
    const value = this.#cookie.read({ cookies: { ...cookies } });
    const [, expiresMs, owner] = /^in:(\d+):(.+)$/s.exec(value ?? '') ?? [];
    if (this.hasSignIn) return owner !== undefined && nowMs < Number(expiresMs) ? owner : undefined;
    return value === undefined || owner !== undefined ? publicOwner : `browser:${value}`;
  }

  /** Keeps somebody signed in on a browser for a day. */
  rememberSignedIn(reply: FastifyReply, owner: Owner, nowMs: number): void {
    this.#cookie.write(reply, `in:${nowMs + signedInMs}:${owner}`);
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
    const known = this.#cookie.read(request);
    const id = known === undefined || known.startsWith('in:') ? newSecret(16) : known;
    this.#cookie.write(reply, id);
    return `browser:${id}`;
  }

  /** Who is counted for limits: the key, else the address. */
  clientOf(request: FastifyRequest): string {
    return this.#signedIn.get(request) ?? this.#options.addressOf(request);
  }
}

function credentialsIn({ headers }: FastifyRequest): Credentials {
  const apiKey = headers['x-api-key'];
  return {
    bearer: bearerToken(headers.authorization),
    apiKey: typeof apiKey === 'string' && apiKey !== '' ? apiKey : undefined,
  };
}

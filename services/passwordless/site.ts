import { refuse } from '#kit/config.ts';

const verifyPath = '/verify/magic';

/** The public address of the service. It never comes from a request: a `Host` header could name another site. */
export class Site {
  readonly #given: URL | undefined;
  #url: URL | undefined;
  #linkStart: string | undefined;

  /** Refuses a setting that is not an http or https address. */
  constructor(magicLinkBaseUrl: string | undefined) {
    this.#given = magicLinkBaseUrl === undefined ? undefined : parse(magicLinkBaseUrl);
    this.#url = this.#given;
  }

  /** Without a setting, the site is where the service listens, on localhost, as passkeys need a name. Returns the address to print. */
  listensAt(url: string): string {
    const { hostname, port } = new URL(url);
    this.#linkStart = undefined;
    this.#url = this.#given ?? new URL(verifyPath, `http://localhost:${port}`);
    return this.#given || hostname !== '127.0.0.1' ? url : this.origin;
  }

  /** Such as `https://sign-in.example.com`; also the issuer of tokens unless one is set. */
  get origin(): string {
    return this.#base().origin;
  }

  get host(): string {
    return this.#base().hostname;
  }

  /** A token in base64url needs no escaping. */
  linkWith(token: string): string {
    this.#linkStart ??= linkStart(this.#base());
    return this.#linkStart + token;
  }

  #base(): URL {
    if (!this.#url) throw new Error('the address is known once the service listens');
    return this.#url;
  }
}

function linkStart(base: URL): string {
  const url = new URL(base);
  url.searchParams.delete('token');
  url.searchParams.append('token', '');
  return url.href;
}

function parse(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.hash) {
    return refuse({ PASSWORDLESS_MAGIC_LINK_BASE_URL: 'must be an http or https address' }) as never;
  }
  return url;
}

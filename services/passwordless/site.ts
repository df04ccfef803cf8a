import { rejectSettings } from '@octavo/core';
import type { PasswordlessConfig } from './settings.ts';

const verifyPath = '/verify/magic';

/** The public address of the service. It never comes from a request: a `Host` header could name another site. */
export class Site {
  readonly #given: URL | undefined;
  readonly #issuer: string | undefined;
  #url: URL | undefined;
  #linkStart: string | undefined;

  /** Refuses settings that are not http or https addresses. */
  constructor({
    PASSWORDLESS_MAGIC_LINK_BASE_URL: linkUrl,
    PASSWORDLESS_URL: publicUrl,
  }: Pick<PasswordlessConfig, 'PASSWORDLESS_MAGIC_LINK_BASE_URL' | 'PASSWORDLESS_URL'>) {
    this.#issuer = publicUrl === undefined ? undefined : originOf(publicUrl);
    const given = linkUrl ?? (this.#issuer && `${this.#issuer}${verifyPath}`);
    this.#given = given === undefined ? undefined : parse(given, 'PASSWORDLESS_MAGIC_LINK_BASE_URL');
    this.#url = this.#given;
  }

  /** Sets an unset address to where the service listens, on localhost, as passkeys need a name. Returns the address to print. */
  listensAt(url: string): string {
    const { hostname, port } = new URL(url);
    this.#linkStart = undefined;
    this.#url = this.#given ?? new URL(verifyPath, `http://localhost:${port}`);
    return this.#given || hostname !== '127.0.0.1' ? url : this.origin;
  }

  /** Origin such as `https://sign-in.example.com`; also the issuer of tokens unless one is set. */
  get origin(): string {
    return this.#base().origin;
  }

  /** Issuer of OpenID Connect, where the provider is mounted. */
  get issuer(): string {
    return this.#issuer ?? this.origin;
  }

  /** True if the address is known, and is HTTPS. */
  get isSecure(): boolean {
    return this.#issuer?.startsWith('https:') ?? this.#given?.protocol === 'https:';
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

function originOf(text: string): string {
  const { origin, pathname, search } = parse(text, 'PASSWORDLESS_URL');
  if (pathname === '/' && search === '') return origin;
  return rejectSettings({ PASSWORDLESS_URL: 'must be an address without a path' });
}

function parse(text: string, setting: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.hash) {
    return rejectSettings({ [setting]: 'must be an http or https address' });
  }
  return url;
}

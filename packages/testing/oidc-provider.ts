import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { type ClientMetadata, type Configuration, Provider } from 'oidc-provider';
import type { PageClient, PageResponse } from './page-client.ts';

/** A person known to the provider. */
export interface TestPerson {
  readonly sub: string;
  readonly preferred_username?: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly roles?: readonly string[];
}

/** Ways in which the provider fails. */
export interface Faults {
  /** Takes requests and never answers. */
  isFrozen?: boolean;
  /** Closes connections. */
  isDown?: boolean;
  /** Delay of an answer. */
  delayMs?: number;
  /** Issuer that its description names. */
  issuer?: string;
  /** Another server answers in its place at some paths, as a proxy does. */
  answer?: (path: string) => { status: number; body?: string; type?: string } | undefined;
  /** Tells services of no sign-out. */
  losesLogouts?: boolean;
  /** Gives no refresh tokens. */
  hasNoRefresh?: boolean;
  /** Changes its description and the responses of its token endpoint. */
  change?: (
    path: string,
    body: Record<string, unknown>,
  ) => Promise<Record<string, unknown>> | Record<string, unknown>;
}

/** Applications of the provider, by their address. */
export interface TestClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * A third-party OpenID provider: an instance of `oidc-provider` with keys (RS256), people and faults of its own. Its sign-in page signs
 * in {@link TestProvider.person}, and its claims are at the userinfo endpoint only.
 */
export class TestProvider implements AsyncDisposable {
  readonly url: string;
  readonly people = new Map<string, TestPerson>();
  /** Subject of the next sign-in. */
  person = 'alice';
  faults: Faults = {};
  /** Paths of the requests so far. */
  readonly requests: string[] = [];
  readonly #server: Server;
  readonly #clients: ClientMetadata[] = [];
  #keys: Awaited<ReturnType<typeof newKey>>;
  #provider: Provider | undefined;

  static async start(): Promise<TestProvider> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TestProvider(server, await newKey());
  }

  private constructor(server: Server, keys: Awaited<ReturnType<typeof newKey>>) {
    this.#server = server;
    this.#keys = keys;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => {
      this.#serve(request, response).catch((error) => response.destroy(error));
    });
  }

  /** The settings of a service that is a client. {@link addClient} registers its address. */
  settingsFor(clientId: string): Record<string, string> {
    return { OIDC_ISSUER: this.url, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: secretOf(clientId) };
  }

  addClient(clientId: string, address: string): void {
    this.#clients.push({
      client_id: clientId,
      client_secret: secretOf(clientId),
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: [`${address}/sign-in/oidc/callback`],
      post_logout_redirect_uris: [`${address}/`],
      backchannel_logout_uri: `${address}/sign-in/oidc/back-channel`,
      backchannel_logout_session_required: true,
    });
    this.#provider = undefined;
  }

  /** Signs with a new key from now on. The old one is no longer published. */
  async rotateKeys(): Promise<void> {
    this.#keys = await newKey();
    this.#provider = undefined;
  }

  /** A token that the provider signs, whatever it says. */
  sign(claims: JWTPayload, header: { typ?: string; alg?: string; kid?: string } = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    return new SignJWT({ iss: this.url, iat: now, exp: now + 600, jti: crypto.randomUUID(), ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: this.#keys.kid, ...header })
      .sign(this.#keys.privateKey);
  }

  /** An access token for a service (RFC 9068). */
  accessToken(audience: string, claims: JWTPayload = {}): Promise<string> {
    return this.sign({ aud: audience, client_id: 'app', sub: this.person, ...claims }, { typ: 'at+jwt' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', this.url).pathname;
    this.requests.push(path);
    const { isFrozen, isDown, delayMs = 0 } = this.faults;
    if (isDown) return void response.destroy();
    if (isFrozen) return;
    const answer = this.faults.answer?.(path);
    if (answer) {
      const { status, body = '', type = 'text/html' } = answer;
      return void response.writeHead(status, { 'content-type': type }).end(body);
    }
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    const provider = this.#built();
    if (path.startsWith('/interaction/')) return this.#signIn(provider, request, response);
    this.#intercept(path, response);
    provider.callback()(request, response);
  }

  /** Changes the JSON of a response on its way. */
  #intercept(path: string, response: ServerResponse): void {
    const { issuer, change } = this.faults;
    if (issuer === undefined && !change) return;
    const end = response.end.bind(response);
    response.end = ((chunk?: unknown) => {
      const text = String(chunk ?? '');
      if (!text.startsWith('{')) return end(text);
      const body = JSON.parse(text) as Record<string, unknown>;
      if (issuer !== undefined && path.startsWith('/.well-known/')) body.issuer = issuer;
      void Promise.resolve(change?.(path, body) ?? body).then((changed) => {
        const content = JSON.stringify(changed);
        response.setHeader('content-length', Buffer.byteLength(content));
        end(content);
      });
      return response;
    }) as typeof response.end;
  }

  async #signIn(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { params } = await provider.interactionDetails(request, response);
    const grant = new provider.Grant({ accountId: this.person, clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    const grantId = await grant.save();
    const login = { accountId: this.person, amr: ['pwd'] };
    await provider.interactionFinished(request, response, { login, consent: { grantId } });
  }

  #built(): Provider {
    this.#provider ??= new Provider(this.url, this.#configuration());
    return this.#provider;
  }

  #configuration(): Configuration {
    return {
      clients: [...this.#clients],
      jwks: { keys: [this.#keys.jwk] } as Configuration['jwks'],
      cookies: { keys: ['a key of the tests'] },
      claims: {
        openid: ['sub'],
        email: ['email', 'email_verified'],
        profile: ['preferred_username'],
        roles: ['roles'],
      },
      scopes: ['openid', 'offline_access', 'email', 'profile', 'roles'],
      pkce: { required: () => true },
      rotateRefreshToken: true,
      issueRefreshToken: async () => this.faults.hasNoRefresh !== true,
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        revocation: { enabled: true },
      },
      fetch: (address, init) =>
        this.faults.losesLogouts
          ? Promise.reject(new Error('lost'))
          : fetch(address, { ...init, dispatcher: undefined } as RequestInit),
      findAccount: async (_ctx, sub) => ({
        accountId: sub,
        claims: async () => ({ ...(this.people.get(sub) ?? { sub }) }),
      }),
    };
  }
}

/** A browser that walks from a page to the provider, and back to a service. */
export class Walker {
  readonly client: PageClient;
  readonly #cookies = new Map<string, string>();

  constructor(client: PageClient) {
    this.client = client;
  }

  /** Signs in, from the page that leads to the provider until the service has answered the callback. */
  async signIn(next = '/'): Promise<PageResponse> {
    const begun = await this.client.open(`/sign-in/oidc?next=${encodeURIComponent(next)}`);
    return this.finish(begun.location);
  }

  /** Follows the provider from an address of its own to the callback, and opens that. */
  async finish(address: string): Promise<PageResponse> {
    const back = await this.atProvider(address);
    return this.client.open(back.slice(new URL(back).origin.length));
  }

  /** Follows the provider's redirects, and returns the address of another site to which it leads. */
  async atProvider(address: string, init: RequestInit = {}): Promise<string> {
    const { origin } = new URL(address);
    let response = await this.#load(address, init);
    for (let hops = 0; hops < 10; hops++) {
      const location = response.headers.get('location');
      if (location === null) return this.#confirm(await response.text(), origin);
      const target = new URL(location, origin);
      if (target.origin !== origin) return target.href;
      response = await this.#load(target.href);
    }
    throw new Error('the provider redirects again and again');
  }

  /** Sends the form that asks whether to sign out. */
  #confirm(page: string, origin: string): Promise<string> {
    const action = /<form[^>]+action="([^"]+)"/.exec(page)?.[1];
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1];
    if (action === undefined || xsrf === undefined)
      throw new Error(`the provider shows: ${page.slice(0, 400)}`);
    const body = new URLSearchParams({ xsrf, logout: 'yes' });
    return this.atProvider(new URL(action, origin).href, { method: 'POST', body });
  }

  async #load(address: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(address, { redirect: 'manual', ...init, headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return response;
  }
}

function secretOf(clientId: string): string {
  return `the secret of ${clientId}, long enough`.replaceAll(/[ ,]/g, '-');
}

async function newKey() {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const kid = crypto.randomUUID();
  return { privateKey, kid, jwk: { ...(await exportJWK(privateKey)), kid, use: 'sig', alg: 'RS256' } };
}

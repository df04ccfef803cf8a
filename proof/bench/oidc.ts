/**
 * Sign-ins of people who are signed in at the provider already: a request for a code, and its exchange for an access token, an ID token and a
 * refresh token. The passwordless service on a SQLite file that syncs each commit, beside oidc-provider bare on node:http with its memory
 * adapter, in one process, with as many browsers at once. Rounds alternate; the best of each counts.
 *
 *   node proof/bench/oidc.ts [rounds] [seconds] [browsers]
 */
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { readConfig, systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { PageClient, testFolder } from '@octavo/testing';
import { Registry } from 'prom-client';
import { Agent, request } from 'undici';
import { openApplications, passwordless } from '../../services/passwordless/service.ts';

const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 3);
const browsers = Number(process.argv[4] ?? 16);
const redirect = 'https://app.example/callback';
const dispatcher = new Agent({ connections: browsers });

/** A provider with browsers that are signed in there. */
interface Target extends AsyncDisposable {
  readonly url: string;
  readonly client: { readonly id: string; readonly secret: string };
  /** A cookie header of each. */
  readonly cookies: string[];
}

await using ours = await startOurs();
await using bare = await startBare();
const best = { ours: 0, bare: 0 };
for (let round = 0; round < rounds; round++) {
  best.ours = Math.max(best.ours, await measure(ours));
  best.bare = Math.max(best.bare, await measure(bare));
}
const ratio = (best.ours / best.bare).toFixed(2);
process.stdout.write(
  `ours ${best.ours.toFixed(0)}/s, bare ${best.bare.toFixed(0)}/s: ${ratio} (wanted 0.6)\n`,
);
await dispatcher.close();

async function measure(target: Target): Promise<number> {
  const startMs = performance.now();
  let done = 0;
  const work = async (index: number) => {
    while (performance.now() - startMs < seconds * 1_000) {
      await signIn(target, index);
      done++;
    }
  };
  await Promise.all(target.cookies.map((_, index) => work(index)));
  return done / ((performance.now() - startMs) / 1_000);
}

async function signIn({ url, client, cookies }: Target, index: number): Promise<void> {
  const verifier = randomBytes(32).toString('base64url');
  const code = await requestCode(url, client.id, { verifier, cookie: cookies[index] ?? '' });
  const response = await request(`${url}/oidc/token`, {
    method: 'POST',
    dispatcher,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
    },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirect,
      code_verifier: verifier,
    }).toString(),
  });
  const tokens = (await response.body.json()) as { id_token?: string };
  if (!tokens.id_token) throw new Error(`no ID token: ${JSON.stringify(tokens)}`);
}

async function requestCode(
  url: string,
  clientId: string,
  { verifier, cookie }: { verifier: string; cookie: string },
): Promise<string> {
  const response = await request(`${url}${authorization(clientId, verifier)}`, {
    dispatcher,
    headers: { cookie },
  });
  await response.body.dump();
  const code = new URL(String(response.headers.location), url).searchParams.get('code');
  if (!code) throw new Error(`no code: ${response.statusCode} ${response.headers.location}`);
  return code;
}

function authorization(clientId: string, verifier: string): string {
  return `/oidc/auth?${new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirect,
    response_type: 'code',
    scope: 'openid email',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })}`;
}

async function startOurs(): Promise<Target> {
  await using stack = new AsyncDisposableStack();
  const limits = ['POST', 'MAGIC', 'ENROLL', 'VERIFY', 'REFRESH', 'OIDC'].map((name) => [
    `PASSWORDLESS_LIMIT_${name}_PER_IP`,
    '0',
  ]);
  const config = readConfig(passwordless.settings, {
    PASSWORDLESS_WORKER: 'off',
    ...Object.fromEntries(limits),
  });
  const dataFolder = testFolder('bench');
  const shared = {
    log: silentLog,
    clock: systemClock,
    dataFolder,
    environment: 'development',
    host: '127.0.0.1',
    port: 0,
  } as const;
  const running = stack.use(await passwordless.start(config, { ...shared, metrics: new Registry() }, {}));
  const url = running.url ?? '';
  const applications = stack.use(await openApplications(config, { ...shared, metrics: new Registry() }, []));
  const secret = randomBytes(32).toString('base64url');
  const client = await applications.ensureClient({
    name: 'bench',
    redirects: [redirect],
    isFirstParty: true,
    secret,
  });
  const cookies: string[] = [];
  for (let index = 0; index < browsers; index++) {
    const browser = new PageClient(url);
    await enroll(browser, url, { clientId: client.id, email: `bench${index}@example.com` });
    cookies.push([...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '));
  }
  const owned = stack.move();
  return {
    url,
    client: { id: client.id, secret },
    cookies,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Signs in by an authenticator app, which needs no mail, and opens the session at the provider. */
async function enroll(
  browser: PageClient,
  url: string,
  given: { clientId: string; email: string },
): Promise<void> {
  const { appCode } = await import('@octavo/testing/sign-in');
  const { FakeClock } = await import('@octavo/core');
  const { email } = given;
  const call = async (path: string, body: object) =>
    (
      await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).json();
  const { secret } = (await call('/totp/enroll', { email })) as { secret: string };
  const [first, second] = [-1, 0].map((steps) => appCode(secret, new FakeClock(Date.now()), steps));
  await call('/totp/verify', { email, code: first });
  await browser.open('/sign-in/authenticator');
  const signedIn = await browser.send('/sign-in/authenticator', { email, code: second ?? '' });
  if (signedIn.status !== 303) throw new Error(`not signed in: ${signedIn.status}`);
  let next = authorization(given.clientId, randomBytes(32).toString('base64url'));
  while (next.startsWith('/')) {
    const page = await browser.open(next);
    const forward = page.location || (/url=([^"]+)"/.exec(page.html)?.[1] ?? '');
    const { origin, pathname, search } = new URL(forward, url);
    next = origin === new URL(url).origin ? `${pathname}${search}` : origin;
  }
}

async function startBare(): Promise<Target> {
  const { default: Provider } = await import('oidc-provider');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const client = { id: 'bench', secret: 'a-secret-of-the-bench' };
  const provider = new Provider(url, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [redirect],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    cookies: { keys: ['a key'] },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, email: id, email_verified: true }),
    }),
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: async () => true,
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
    async loadExistingGrant(ctx) {
      const { client: found, session, account } = ctx.oidc;
      const known = session?.grantIdFor(found?.clientId ?? '');
      if (known) return provider.Grant.find(known);
      const grant = new provider.Grant({
        accountId: account?.accountId ?? '',
        clientId: found?.clientId ?? '',
      });
      grant.addOIDCScope('openid email');
      await grant.save();
      return grant;
    },
    pkce: { required: () => true },
    routes: { authorization: '/oidc/auth', token: '/oidc/token' },
  });
  const handle = provider.callback();
  server.on('request', async (incoming, response) => {
    if (!incoming.url?.startsWith('/interaction/')) return handle(incoming, response);
    await provider.interactionFinished(incoming, response, {
      login: { accountId: randomBytes(8).toString('hex') },
    });
  });
  const cookies: string[] = [];
  for (let index = 0; index < browsers; index++) {
    const browser = new PageClient(url);
    let next = authorization(client.id, randomBytes(32).toString('base64url'));
    while (next.startsWith('/')) {
      const { origin, pathname, search } = new URL((await browser.open(next)).location, url);
      next = origin === url ? `${pathname}${search}` : origin;
    }
    cookies.push([...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '));
  }
  return {
    url,
    client,
    cookies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

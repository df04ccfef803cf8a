import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, describe, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { password, startPolls } from './testing.ts';

// Attacks of RFC 9700 section 2 and 4 on the sign-in with a provider, and failures of the provider.
const provider = await TestProvider.start();
provider.people
  .set('ann', { sub: 'ann', preferred_username: 'ann', roles: ['admin'] })
  .set('mallory', { sub: 'mallory', preferred_username: 'mallory', roles: ['admin'] });
const settings = provider.settingsFor('polls');
const polls = await startPolls({ environment: settings });
provider.addClient('polls', polls.url);
after(async () => {
  await polls[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});
afterEach(() => {
  provider.faults = {};
  provider.person = 'ann';
  polls.clock.advance(11_000);
});

const list = '/admin/polls/question/';
const newWalker = () => new Walker(new PageClient(polls.url));
const pathOf = (address: string) => address.slice(new URL(address).origin.length);

/** Begins in a browser, and returns the callback to which the provider leads. */
async function callbackFor(walker: Walker, person = 'ann'): Promise<URL> {
  provider.person = person;
  const begun = await walker.client.open(`/sign-in/oidc?next=${list}`);
  assert.equal(begun.status, 303);
  return new URL(await walker.atProvider(begun.location));
}

async function assertRefused({ client }: Walker, address: URL): Promise<void> {
  const { location } = await client.open(pathOf(address.href));
  assert.match(location, /^\/admin\/login\/\?next=/);
  assert.match((await client.open(location)).html, /class="notice bad"/);
  assert.equal((await client.open(list)).status, 302);
}

async function assertTaken({ client }: Walker, address: URL): Promise<void> {
  assert.equal((await client.open(pathOf(address.href))).location, list);
  assert.equal((await client.open(list)).status, 200);
}

describe('the callback', () => {
  test('is for the browser that began, with the state that it got', async () => {
    const ann = newWalker();
    const callback = await callbackFor(ann);
    await assertRefused(newWalker(), callback);
    for (const state of ['', 'guess', `${callback.searchParams.get('state')}x`]) {
      const changed = new URL(callback);
      changed.searchParams.set('state', state);
      await assertRefused(ann, changed);
    }
    const without = new URL(callback);
    without.searchParams.delete('state');
    await assertRefused(ann, without);
    await assertTaken(ann, callback);
  });

  test('works once, also for a holder of a copied cookie', async () => {
    const ann = newWalker();
    const callback = await callbackFor(ann);
    const thief = newWalker();
    for (const [name, value] of ann.client.cookies) thief.client.cookies.set(name, value);
    await assertTaken(ann, callback);
    await assertRefused(thief, callback);
    await assertRefused(newWalker(), callback);
  });

  test('expires after 10 minutes', async () => {
    const ann = newWalker();
    const callback = await callbackFor(ann);
    polls.clock.advance(601_000);
    await assertRefused(ann, callback);
  });

  test('takes no code of another attempt: not that of another person, nor of another tab', async () => {
    const [ann, mallory] = [newWalker(), newWalker()];
    const foreign = await callbackFor(mallory, 'mallory');
    const injected = await callbackFor(ann);
    injected.searchParams.set('code', foreign.searchParams.get('code') ?? '');
    await assertRefused(ann, injected);
    const [one, other] = [await callbackFor(ann), await callbackFor(ann)];
    const swapped = new URL(one);
    swapped.searchParams.set('code', other.searchParams.get('code') ?? '');
    await assertRefused(ann, swapped);
    await assertTaken(ann, other);
  });

  test('takes a response of this provider only (mix-up)', async () => {
    for (const issuer of ['https://mallory.example', '']) {
      const ann = newWalker();
      const callback = await callbackFor(ann);
      callback.searchParams.set('iss', issuer);
      await assertRefused(ann, callback);
      const bare = await callbackFor(ann);
      bare.searchParams.delete('iss');
      await assertRefused(ann, bare);
    }
  });

  test('takes no parameter twice', async () => {
    const ann = newWalker();
    const callback = await callbackFor(ann);
    callback.searchParams.append('state', callback.searchParams.get('state') ?? '');
    await assertRefused(ann, callback);
  });

  test('that brings an error does not sign in', async () => {
    const ann = newWalker();
    const callback = await callbackFor(ann);
    callback.searchParams.delete('code');
    callback.searchParams.set('error', 'access_denied');
    await assertRefused(ann, callback);
  });
});

describe('the ID token', () => {
  const now = () => Math.floor(Date.now() / 1_000);
  type Claims = Record<string, unknown>;
  const forgeries: Record<string, (claims: Claims, token: string) => Promise<string> | string> = {
    'of another issuer': (claims) => provider.sign({ ...claims, iss: 'https://mallory.example' }),
    'for another audience': (claims) => provider.sign({ ...claims, aud: 'another' }),
    'for several, without azp': (claims) => provider.sign({ ...claims, aud: ['polls', 'another'] }),
    'with another nonce': (claims) => provider.sign({ ...claims, nonce: 'another' }),
    'without a nonce': ({ nonce: _, ...claims }) => provider.sign(claims),
    'without a subject': ({ sub: _, ...claims }) => provider.sign(claims),
    'that has expired': (claims) => provider.sign({ ...claims, iat: now() - 900, exp: now() - 300 }),
    'of the algorithm none': (claims) => new UnsecuredJWT(claims).encode(),
    'without its signature': (_, token) => token.replace(/[^.]+$/, ''),
    'with another signature': (_, token) => token.replace(/\.[^.]{4}([^.]+)$/, '.AAAA$1'),
    'signed with the secret of the client': (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode(settings.OIDC_CLIENT_SECRET)),
    'of a key that is not published': async (claims) => {
      await using stranger = await TestProvider.start();
      return stranger.sign({ ...claims, iss: provider.url });
    },
    'that is none': () => 'nonsense',
  };
  for (const [name, forge] of Object.entries(forgeries))
    test(`${name} is refused`, async () => {
      const ann = newWalker();
      const callback = await callbackFor(ann);
      provider.faults.change = async (path, body) => {
        if (path !== '/token') return body;
        const token = String(body.id_token);
        const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
        return { ...body, id_token: await forge(claims, token) };
      };
      await assertRefused(ann, callback);
    });

  test('is needed, and that of the provider itself is taken', async () => {
    const ann = newWalker();
    const callback = await callbackFor(ann);
    provider.faults.change = (_path, { id_token: _, ...body }) => body;
    await assertRefused(ann, callback);
    provider.faults = {};
    await assertTaken(ann, await callbackFor(ann));
  });

  test('of a new key is taken a minute after the keys were read', async (context) => {
    const ann = newWalker();
    await assertTaken(ann, await callbackFor(ann));
    context.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    await provider.rotateKeys();
    context.mock.timers.setTime(Date.now() + 61_000);
    await assertTaken(ann, await callbackFor(ann));
  });
});

describe('a logout token', () => {
  const now = () => Math.floor(Date.now() / 1_000);
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const claims = { aud: 'polls', sub: 'ann', events };
  const sign = (changed: object, typ = 'logout+jwt') => provider.sign({ ...claims, ...changed }, { typ });
  const clientSecret = new TextEncoder().encode(settings.OIDC_CLIENT_SECRET);
  const forgeries: Readonly<Record<string, () => Promise<string> | string>> = {
    'for another application': () => sign({ aud: 'another' }),
    'of another issuer': () => sign({ iss: 'https://mallory.example' }),
    'with a nonce, as ID tokens have': () => sign({ nonce: 'n' }),
    'without the event': () => sign({ events: {} }),
    'with the event as a text': () => sign({ events: Object.keys(events)[0] }),
    'without an id': () => sign({ jti: undefined }),
    'without a subject': () => provider.sign({ aud: 'polls', events }, { typ: 'logout+jwt' }),
    'of an hour ago': () => sign({ iat: now() - 3_600 }),
    'of the future': () => sign({ iat: now() + 3_600 }),
    'that has expired': () => sign({ iat: now() - 300, exp: now() - 60 }),
    'that is an access token': () => sign({}, 'at+jwt'),
    'of a key that is not published': async () => {
      await using stranger = await TestProvider.start();
      return stranger.sign({ ...claims, iss: provider.url }, { typ: 'logout+jwt' });
    },
    'signed with the secret of the client': () =>
      new SignJWT({ ...claims, iss: provider.url, iat: now(), exp: now() + 60, jti: 'forged' })
        .setProtectedHeader({ alg: 'HS256', typ: 'logout+jwt' })
        .sign(clientSecret),
    'of the algorithm none': () =>
      new UnsecuredJWT({ ...claims, iss: provider.url, iat: now(), exp: now() + 60, jti: 'forged' }).encode(),
    'with a key of its own': () => withOwnKey({ ...claims, iat: now() }),
    'that is none': () => 'nonsense',
  };
  for (const [name, forge] of Object.entries(forgeries))
    test(`${name} ends no session`, async () => {
      const ann = newWalker();
      await assertTaken(ann, await callbackFor(ann));
      const body = new URLSearchParams({ logout_token: await forge() });
      const stranger = { body, authorization: undefined };
      const { status, json } = await polls.call('POST', '/sign-in/oidc/back-channel', stranger);
      assert.deepEqual([status, json.error], [400, 'invalid_request']);
      assert.equal((await ann.client.open(list)).status, 200);
    });
});

test('a token that names its own key, or where to fetch it, is refused, and nothing is fetched (SSRF)', async () => {
  const requests: string[] = [];
  const trap = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.end('{"keys":[]}');
  }).listen(0, '127.0.0.1');
  after(() => trap.close());
  await once(trap, 'listening');
  const url = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/keys`;
  const claims = { aud: polls.url, sub: 'ann', client_id: 'app', iat: 0, roles: ['admin'] };
  for (const header of [{}, { jku: url }, { x5u: url }, { kid: url }, { kid: '../../dev/null' }]) {
    const token = await withOwnKey(
      { ...claims, iat: Math.floor(Date.now() / 1_000) },
      { typ: 'at+jwt', ...header },
    );
    const { status } = await polls.call('GET', '/api/questions/', { authorization: `Bearer ${token}` });
    assert.equal(status, 401, JSON.stringify(header));
  }
  assert.deepEqual(requests, []);
});

test('PKCE is S256, whatever the description of the provider says (downgrade)', async () => {
  for (const methods of [['plain'], [], undefined]) {
    polls.clock.advance(601_000);
    provider.faults.change = (_path, body) => ({ ...body, code_challenge_methods_supported: methods });
    const { location } = await newWalker().client.open('/sign-in/oidc');
    const { searchParams } = new URL(location);
    assert.equal(searchParams.get('code_challenge_method'), 'S256');
    assert.match(searchParams.get('code_challenge') ?? '', /^[\w-]{43}$/);
  }
});

/** A token of the provider by its claims, signed with a key that its header holds. */
async function withOwnKey(claims: Record<string, unknown>, header: object = {}): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  return new SignJWT({ iss: provider.url, exp: Math.floor(Date.now() / 1_000) + 600, jti: 'own', ...claims })
    .setProtectedHeader({ alg: 'RS256', typ: 'logout+jwt', jwk, ...header })
    .sign(privateKey);
}

test('claims of the userinfo endpoint for another subject are refused', async () => {
  const ann = newWalker();
  const callback = await callbackFor(ann);
  provider.faults.change = (path, body) => (path === '/me' ? { ...body, sub: 'mallory' } : body);
  await assertRefused(ann, callback);
});

test('only addresses of the same site are opened afterwards', async () => {
  const targets = [
    'https://mallory.example/',
    '//mallory.example',
    '/\\mallory.example',
    '/%09/x\r\ny: z',
    'x',
  ];
  for (const target of targets) {
    const ann = newWalker();
    const begun = await ann.client.open(`/sign-in/oidc?next=${encodeURIComponent(target)}`);
    assert.equal((await ann.finish(begun.location)).location, '/', target);
  }
});

test('unfinished attempts of seven services on a host have 8 kB of cookies at most', async () => {
  const longest = '/'.padEnd(512, 'x');
  for (const next of [list, longest.slice(0, 300), longest]) {
    const ann = newWalker();
    for (let count = 0; count < 10; count++) {
      await ann.client.open(`/sign-in/oidc?next=${encodeURIComponent(next)}`);
      const cookies = [...ann.client.cookies].filter(([name]) => name.startsWith('polls_oidc_'));
      // The longest name of a service, and what it has over HTTPS.
      const bytes = cookies.map((each) => `__Host-portfolio${each.join('=')}; `.length - 'polls'.length);
      const sum = bytes.reduce((total, each) => total + each, 0);
      assert.ok(sum <= 8_192 / 7, `${sum} bytes of ${cookies.length} cookies`);
    }
    await assertTaken(ann, await callbackFor(ann));
  }
});

test('an address of 512 characters is opened afterwards, and none of more', async () => {
  const longest = '/'.padEnd(512, 'x');
  const targets = {
    [longest]: longest,
    [`${longest}x`]: '/',
    [`/${'ä'.repeat(100)}`]: '/',
    [`/${'"'.repeat(300)}`]: '/',
  };
  for (const [target, opened] of Object.entries(targets)) {
    const ann = newWalker();
    const begun = await ann.client.open(`/sign-in/oidc?next=${encodeURIComponent(target)}`);
    assert.equal((await ann.finish(begun.location)).location, opened);
  }
});

describe('a provider that fails', () => {
  const page = '/admin/login/';
  const away = /Octavo sign-in does not answer/;
  /** Asserts how often the provider is asked, each of which may take 5 s. */
  const asks = async (count: number, work: () => Promise<unknown>) => {
    const { length } = provider.requests;
    await work();
    assert.equal(provider.requests.length - length, count);
  };

  test('that is frozen: the page says so, a failure is remembered, and all else goes on', async () => {
    const signedIn = newWalker();
    await assertTaken(signedIn, await callbackFor(signedIn));
    const waiting = newWalker();
    const callback = await callbackFor(waiting);
    polls.clock.advance(11_000);
    provider.faults.isFrozen = true;
    const stranger = new PageClient(polls.url);
    await asks(1, async () => assert.match((await stranger.open(page)).html, away));
    await asks(0, async () => assert.match((await stranger.open(page)).html, away));
    polls.clock.advance(11_000);
    const begun = await stranger.open(`/sign-in/oidc?next=${list}`);
    assert.match(begun.location, /^\/admin\/login\//);
    assert.match((await stranger.open(begun.location)).html, away);
    await asks(0, () => assertRefused(waiting, callback));
    assert.equal((await signedIn.client.open(list)).status, 200);
    const local = await stranger.send(page, { username: 'alice', password, next: list });
    assert.equal(local.location, list);
    assert.equal((await polls.call('GET', '/readiness')).status, 200);
  });

  test('that is down, or claims to be another issuer: the page says so', async () => {
    for (const faults of [{ isDown: true }, { issuer: 'https://mallory.example' }]) {
      polls.clock.advance(11_000);
      provider.faults = faults;
      const stranger = new PageClient(polls.url);
      assert.match((await stranger.open(page)).html, away);
      provider.faults = {};
    }
  });

  test('that is busy, or behind a proxy without it, is no refusal of a sign-in', async () => {
    const html = '<html><title>No backend</title></html>';
    const busy = { temporarily_unavailable: [429, 400], invalid_request: [429, 408], server_error: [400] };
    const answers = Object.entries(busy).flatMap(([error, statuses]) =>
      statuses.map((status) => ({ status, body: JSON.stringify({ error }), type: 'application/json' })),
    );
    for (const answer of [...answers, { status: 404, body: html }, { status: 502 }, { status: 429 }]) {
      const ann = newWalker();
      const callback = await callbackFor(ann);
      provider.faults.answer = (path) => (path === '/token' ? answer : undefined);
      const { location } = await ann.client.open(pathOf(callback.href));
      assert.match((await ann.client.open(location)).html, away, JSON.stringify(answer));
      provider.faults = {};
      polls.clock.advance(11_000);
    }
  });

  test('that is slow signs people in', async () => {
    provider.faults.delayMs = 300;
    const ann = newWalker();
    await assertTaken(ann, await callbackFor(ann));
  });

  test('that is away during a sign-out asks who is there the next time', async () => {
    const ann = newWalker();
    await assertTaken(ann, await callbackFor(ann));
    polls.clock.advance(11_000);
    provider.faults.isDown = true;
    const out = await ann.client.send('/admin/logout/', {});
    assert.equal(out.location, '/sign-in/oidc/left');
    const left = await ann.client.open(out.location);
    assert.match(left.html, /may still be signed in there/);
    assert.equal(left.headers.get('refresh'), '15');
    assert.equal((await ann.client.open(list)).status, 302);
    provider.faults = {};
    polls.clock.advance(11_000);
    const again = await ann.client.open(out.location);
    assert.match(again.location, /\/session\/end\?.*id_token_hint=ey/);
    assert.equal((await newWalker().client.open(out.location)).location, page, 'other people stay signed in');
    const { location } = await ann.client.open(`/sign-in/oidc?next=${list}`);
    assert.equal(new URL(location).searchParams.get('prompt'), 'login');
  });
});

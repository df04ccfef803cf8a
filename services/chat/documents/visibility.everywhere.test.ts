import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { bearer, PageClient } from '@octavo/testing';
import { Walker } from '@octavo/testing/sign-in';
import { SignJWT } from 'jose';
import { io } from 'socket.io-client';
import { startChat } from '../testing.ts';
import { type Asked, searched, startPeople, stranger, uploadText } from '../testing-people.ts';

const people = await startPeople();
const { provider, signIn, as, audience } = people;
const chat = await startChat({ environment: signIn });
after(async () => {
  await chat[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});
const upload = (asked: Partial<Asked>, content: string, fields?: Record<string, string>) =>
  uploadText({ at: chat, headers: stranger, ...asked }, content, fields);
const sourcesOf = (asked: Partial<Asked>, query: string, filters?: object) =>
  searched({ at: chat, headers: stranger, ...asked }, query, filters);
const change = ({ at = chat, headers = stranger }: Partial<Asked>, id: string, body: object) =>
  at.send('PATCH', `/api/documents/${id}`, body, headers);

test('a question is answered from what its asker may see', async () => {
  const [alice, bob, admin] = [await as('alice'), await as('bob'), await as('admin')];
  const shown = async (headers: Record<string, string>, name: string, visibility?: string) => {
    const fields = { name, ...(visibility && { visibility }) };
    return (await upload({ headers }, `The beacon of ${name} is red.`, fields)).document;
  };
  const own = await shown(alice, 'private.txt');
  assert.deepEqual([own.visibility, own.mine, typeof own.owner], ['private', true, 'string']);
  const all = await shown(admin, 'everyone.txt', 'everyone');
  assert.deepEqual([all.visibility, all.mine], ['everyone', true]);
  const open = await shown(stranger, 'public.txt');
  assert.deepEqual([open.visibility, open.mine], ['public', true]);
  const query = 'Which beacon is red?';
  assert.deepEqual(await sourcesOf({ headers: alice }, query), ['everyone.txt', 'private.txt']);
  assert.deepEqual(await sourcesOf({ headers: bob }, query), ['everyone.txt']);
  assert.deepEqual(await sourcesOf({ headers: admin }, query), ['everyone.txt']);
  assert.deepEqual(await sourcesOf({ headers: stranger }, query), ['everyone.txt', 'public.txt']);
  assert.deepEqual(await sourcesOf({ headers: alice }, query, { visibility: 'private' }), ['private.txt']);
  assert.deepEqual(await sourcesOf({ headers: alice }, query, { visibility: 'everyone' }), ['everyone.txt']);
  assert.deepEqual(await sourcesOf({ headers: stranger }, query, { visibility: 'private' }), []);
  const wrong = await chat.send('POST', '/api/search', { query, filters: { visibility: 'all' } });
  assert.equal(wrong.status, 400);
  const listed = async (headers: Record<string, string>) => {
    const { documents } = (await chat.send('GET', '/api/documents', undefined, headers)).json;
    return documents.map((each: { filename: string; mine: boolean }) => [each.filename, each.mine]);
  };
  assert.deepEqual(await listed(bob), [['everyone.txt', false]]);
  assert.deepEqual(await listed(alice), [
    ['everyone.txt', false],
    ['private.txt', true],
  ]);
  const byBob = await chat.send('GET', `/api/documents/${all.document_id}`, undefined, bob);
  assert.deepEqual([byBob.status, byBob.json.owner], [200, null]);
});

test('only its owner and administrators change and delete a document, and strangers none of everyone', async () => {
  const [alice, bob, admin] = [await as('alice'), await as('bob'), await as('admin')];
  const all = (await upload({ headers: admin }, 'The mast is tall.', { visibility: 'everyone' })).document;
  const at = `/api/documents/${all.document_id}`;
  for (const headers of [alice, bob, stranger]) {
    assert.equal((await chat.send('DELETE', at, undefined, headers)).status, 403);
    assert.equal((await chat.send('POST', `${at}/reindex`, {}, headers)).status, 403);
    assert.equal((await change({ headers }, all.document_id, { title: 'Mine' })).status, 403);
  }
  const open = (await upload({ headers: stranger }, 'The hull is blue.')).document;
  const openAt = `/api/documents/${open.document_id}`;
  assert.equal((await chat.send('DELETE', openAt, undefined, alice)).status, 404);
  const browser = new PageClient(chat.url);
  await browser.open('/documents');
  assert.equal((await browser.send(`/documents/${open.document_id}/delete`, {})).status, 403);
  assert.equal((await chat.send('DELETE', openAt, undefined, stranger)).status, 204);
  assert.equal((await chat.send('DELETE', at, undefined, admin)).status, 204);
});

test('administrators share with everyone, others only where the library is shared, and strangers never', async () => {
  const { document } = await upload({ headers: await as('alice') }, 'The jib is torn.');
  const refusedUpload = await upload({ headers: await as('bob') }, 'The jib is new.', {
    visibility: 'everyone',
  });
  assert.deepEqual([refusedUpload.status, refusedUpload.error.code], [403, 'forbidden']);
  const refused = await change({ headers: await as('alice') }, document.document_id, {
    visibility: 'everyone',
  });
  assert.equal(refused.status, 403);
  const byAdmin = await change({ headers: await as('admin') }, document.document_id, {
    visibility: 'everyone',
  });
  assert.equal(byAdmin.status, 403, 'what is private stays its owner’s');
  for (const visibility of ['everyone', 'private'])
    assert.equal((await upload({ headers: stranger }, 'The jib is white.', { visibility })).status, 403);
  assert.equal((await upload({ headers: stranger }, 'x', { visibility: 'all' })).status, 400);
  await using shared = await startChat({ environment: { ...signIn, CHAT_LIBRARY: 'shared' } });
  const alice = { at: shared, headers: await as('alice') };
  const own = await upload(alice, 'The keel is long.');
  assert.equal(own.document.visibility, 'private', 'private is the default');
  const bob = { at: shared, headers: await as('bob') };
  assert.deepEqual(await sourcesOf(bob, 'How long is the keel?'), []);
  const changed = await change(alice, own.document.document_id, { visibility: 'everyone' });
  assert.deepEqual([changed.status, changed.json.visibility], [200, 'everyone']);
  assert.equal(changed.json.document_id, own.document.document_id);
  assert.deepEqual(await sourcesOf(bob, 'How long is the keel?'), [own.document.filename]);
  const back = await change(alice, own.document.document_id, { visibility: 'private' });
  assert.equal(back.json.visibility, 'private');
  assert.deepEqual(await sourcesOf(bob, 'How long is the keel?'), []);
  assert.deepEqual(await sourcesOf(alice, 'How long is the keel?'), [own.document.filename]);
  assert.equal(
    (await upload({ at: shared, headers: stranger }, 'x', { visibility: 'everyone' })).status,
    403,
  );
});

test('a document gets another title and other tags, and keeps the title when it is read again', async () => {
  const headers = await as('alice');
  const { document } = await upload({ headers }, 'It sails at noon.', { name: 'scan-0012.txt', tags: 'old' });
  const id = document.document_id;
  const changed = await change({ headers }, id, {
    title: ' Timetable of the ferry ',
    tags: ['sea', 'sea', ' north '],
  });
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual([changed.json.title, changed.json.tags], ['Timetable of the ferry', ['sea', 'north']]);
  assert.deepEqual(await sourcesOf({ headers }, 'timetable'), ['scan-0012.txt'], 'it is found by it');
  await chat.send('POST', `/api/documents/${id}/reindex`, {}, headers);
  const { json } = await chat.send('GET', `/api/documents/${id}`, undefined, headers);
  assert.deepEqual(
    [json.title, json.tags, json.status],
    ['Timetable of the ferry', ['sea', 'north'], 'indexed'],
  );
  for (const body of [
    { title: ' ' },
    { title: 1 },
    { tags: 'sea' },
    { visibility: 'all' },
    { tags: ['x'.repeat(61)] },
  ])
    assert.equal((await change({ headers }, id, body)).status, 400, JSON.stringify(body));
  assert.equal((await change({ headers }, 'none', { tags: [] })).status, 404);
  assert.deepEqual((await change({ headers }, id, { tags: [] })).json.tags, []);
  const session = (await chat.send('POST', '/api/session', {}, headers)).json.session_id;
  const inChat = await upload({ headers }, 'Only here.', { session_id: session });
  assert.equal(
    (await change({ headers }, inChat.document.document_id, { visibility: 'everyone' })).status,
    400,
  );
  const shared = await upload({ headers }, 'Here too.', { session_id: session, visibility: 'everyone' });
  assert.equal(shared.status, 400);
});

test('duplicates and a folder are compared with what the same owner has of that visibility', async () => {
  const [alice, admin] = [await as('alice'), await as('admin')];
  const content = 'The anchor weighs a ton.';
  const first = await upload({ headers: admin }, content, { name: 'anchor.txt' });
  const all = await upload({ headers: admin }, content, { name: 'anchor.txt', visibility: 'everyone' });
  const other = await upload({ headers: alice }, content, { name: 'anchor.txt', on_duplicate: 'error' });
  assert.deepEqual([first.status, all.status, other.status], [201, 201, 201]);
  const again = await upload({ headers: admin }, content, { visibility: 'everyone' });
  assert.deepEqual([again.status, again.document.document_id], [200, all.document.document_id]);
  const twice = await change({ headers: admin }, first.document.document_id, { visibility: 'everyone' });
  assert.deepEqual([twice.status, twice.json.error.code], [409, 'duplicate']);
  const sync = async (headers: Record<string, string>, visibility?: string) => {
    const files = [{ path: 'anchor.txt', sha256: first.document.sha256 }];
    return (await chat.send('POST', '/api/documents/sync', { files, visibility }, headers)).json;
  };
  assert.deepEqual((await sync(alice)).unchanged, ['anchor.txt']);
  assert.deepEqual((await sync(await as('bob'))).add, ['anchor.txt']);
  const { unchanged, remove } = await sync(admin, 'everyone');
  assert.deepEqual(unchanged, ['anchor.txt']);
  assert.ok(!remove.some((each: { document_id: string }) => each.document_id === first.document.document_id));
});

test('with CHAT_LIBRARY=own each browser and each person has a library, and clients without a cookie none', async () => {
  await using own = await startChat({ environment: { ...signIn, CHAT_LIBRARY: 'own' } });
  const [one, other] = [new PageClient(own.url), new PageClient(own.url)];
  for (const browser of [one, other]) await browser.open('/documents');
  assert.match((await one.open('/documents')).html, /Only you will see what you upload, in this browser/);
  await one.upload('/documents', { name: 'log.txt', content: 'The log has a walrus.' });
  assert.match((await one.open('/documents')).html, /log\.txt/);
  assert.doesNotMatch((await other.open('/documents')).html, /log\.txt/);
  const question = { query: 'What does the log have?' };
  for (const [method, path, body] of [
    ['GET', '/api/documents', undefined],
    ['GET', '/api/documents/none', undefined],
    ['POST', '/api/chat', question],
    ['POST', '/api/chat', { ...question, stream: true }],
    ['POST', '/api/search', question],
    ['POST', '/api/documents/sync', { files: [] }],
    [
      'POST',
      '/v1/chat/completions',
      { model: 'builtin-extractive', messages: [{ role: 'user', content: 'Why?' }] },
    ],
  ] as const)
    assert.equal((await own.send(method, path, body)).status, 403, path);
  assert.equal((await upload({ at: own, headers: stranger }, 'x')).status, 403);
  assert.equal((await own.send('GET', '/api/system/info')).json.store.documents, 0);
  const admin = { at: own, headers: await as('admin') };
  assert.equal((await upload(admin, 'The oar is new.', { visibility: 'everyone' })).status, 403);
  assert.equal((await upload(admin, 'The oar is new.')).status, 201);
});

test('where nobody can sign in every document is everyone’s', async () => {
  await using open = await startChat();
  const first = await upload({ at: open, headers: stranger }, 'The bell rings.', { name: 'bell.txt' });
  assert.equal(first.document.visibility, 'everyone');
  assert.equal((await upload({ at: open, headers: stranger }, 'x', { visibility: 'private' })).status, 403);
  const browser = new PageClient(open.url);
  assert.match(
    (await browser.open('/documents')).html,
    /Everyone who can open this chat will see what you upload/,
  );
  const same = await browser.upload('/documents', { name: 'bell.txt', content: 'The bell rings.' });
  assert.match(same.html, /There already: bell\.txt/);
  const gone = await browser.send(`/documents/${first.document.document_id}/delete`, {});
  assert.equal(gone.status, 303);
  assert.equal((await open.send('GET', '/api/documents')).json.total, 0);
});

test('a token with the role admin is an administrator, and an API key is none', async () => {
  const secret = 'the secret of tokens, long enough for HS256';
  await using byToken = await startChat({ environment: { GATEWAY_AUTH: 'jwt', CHAT_JWT_SECRET: secret } });
  const tokenOf = (claims: object) =>
    new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime(Math.floor(byToken.clock.now() / 1_000) + 60)
      .sign(new TextEncoder().encode(secret));
  const statusOf = async (claims: object) => {
    const headers = { ...bearer(await tokenOf({ sub: 'x', ...claims })) };
    return (await upload({ at: byToken, headers }, `A ${JSON.stringify(claims)}`, { visibility: 'everyone' }))
      .status;
  };
  assert.deepEqual(
    [
      await statusOf({ roles: ['admin'] }),
      await statusOf({ roles: 'user admin' }),
      await statusOf({ role: 'admin' }),
    ],
    [201, 201, 201],
  );
  assert.deepEqual([await statusOf({}), await statusOf({ roles: ['administrator'] })], [403, 403]);
  const browser = new PageClient(byToken.url);
  await browser.open('/sign-in');
  await browser.send('/sign-in', { key: await tokenOf({ sub: 'boss', roles: ['admin'] }) });
  assert.match((await browser.open('/documents')).html, /Share with everyone/);
  await using byKey = await startChat({ environment: { GATEWAY_AUTH: 'api_key', CHAT_API_KEYS: 'one,two' } });
  const one = { at: byKey, headers: { 'x-api-key': 'one' } };
  assert.equal((await upload(one, 'A', { visibility: 'everyone' })).status, 403);
  assert.equal((await upload(one, 'The secret of one.')).status, 201);
  assert.equal((await byKey.send('GET', '/api/documents', undefined, { 'x-api-key': 'two' })).json.total, 0);
});

test('the page says who sees an upload, and whose each document is', async () => {
  provider.person = 'alice';
  const alice = new PageClient(chat.url);
  assert.match(
    (await alice.open('/documents')).html,
    /Everyone who is not signed in will see what you upload\. <a href="\/sign-in">/,
  );
  await new Walker(alice).signIn('/');
  const page = (await alice.open('/documents')).html;
  assert.match(page, /Only you will see what you upload\./);
  assert.doesNotMatch(page, /Share with everyone/);
  await alice.upload('/documents', { name: 'berth.txt', content: 'The berth is free.' });
  const row =
    /<tr[^>]*>(?:(?!<\/tr>).)*berth\.txt.*?<\/tr>/s.exec((await alice.open('/documents')).html)?.[0] ?? '';
  assert.match(row, /Only you/);
  provider.person = 'admin';
  const admin = new PageClient(chat.url);
  await new Walker(admin).signIn('/');
  const all = (await admin.open('/documents')).html;
  assert.match(
    all,
    /Only you will see what you upload\. If you share it: everyone, also without signing in, can read it/,
  );
  assert.match(/<tr[^>]*>(?:(?!<\/tr>).)*berth\.txt.*?<\/tr>/s.exec(all)?.[0] ?? '', /Only Alice Berg/);
  await admin.upload(
    '/documents',
    { name: 'map.txt', content: 'The map is old.' },
    { visibility: 'everyone' },
  );
  const [, id = ''] = /documents\/([\w-]+)" title="map"/.exec((await admin.open('/documents')).html) ?? [];
  assert.match((await alice.open(`/documents/${id}`)).html, /visible to everyone/);
  assert.match((await admin.open(`/documents/${id}`)).html, /Make private/);
  assert.equal((await admin.send(`/documents/${id}/visibility`, { visibility: 'private' })).status, 303);
  assert.equal((await alice.open(`/documents/${id}`)).status, 404);
});

test('with OIDC_ONLY documents are their owner’s, and no socket opens without a token', async () => {
  await using closed = await startChat({ environment: { ...signIn, OIDC_ONLY: 'on' } });
  const alice = { at: closed, headers: await as('alice') };
  const { document } = await upload(alice, 'The galley is small.');
  const bob = { at: closed, headers: await as('bob') };
  assert.deepEqual(await sourcesOf(bob, 'How small is the galley?'), []);
  assert.equal(
    (await closed.send('DELETE', `/api/documents/${document.document_id}`, undefined, bob.headers)).status,
    404,
  );
  const connect = async (token: string | undefined) => {
    const socket = io(closed.url, { auth: { token }, transports: ['websocket'], reconnection: false });
    try {
      return await new Promise((resolve) => {
        socket.on('connected', () => resolve('connected'));
        socket.on('connect_error', (error) =>
          resolve((error as Error & { data?: { code: string } }).data?.code),
        );
      });
    } finally {
      socket.disconnect();
    }
  };
  assert.equal(await connect(undefined), 'unauthorized');
  assert.equal(await connect('guess'), 'unauthorized');
  assert.equal(await connect(await provider.accessToken(audience, { sub: 'alice' })), 'connected');
});

test('a page of another site is refused without a key or a token', async () => {
  await using friendly = await startChat({
    environment: { ...signIn, CORS_ORIGIN: 'https://friend.example' },
  });
  const status = async (origin: string, headers: Record<string, string> = {}) =>
    (await friendly.send('POST', '/api/search', { query: 'Anything?' }, { ...headers, origin })).status;
  assert.deepEqual(
    [
      await status('https://evil.example'),
      await status('null'),
      await status('https://friend.example'),
      await status(friendly.url),
    ],
    [403, 403, 200, 200],
  );
  assert.equal(await status('https://evil.example', await as('alice')), 200);
});

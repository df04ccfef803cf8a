import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startChat } from '../testing.ts';

const chat = await startChat({ GATEWAY_AUTH: 'api_key', CHAT_API_KEYS: 'alice' });
after(() => chat[Symbol.asyncDispose]());

/** Follows the pages as a browser without JavaScript does. */
class Visitor {
  readonly #cookies = new Map<string, string>();

  async get(path: string): Promise<Response> {
    return this.#request(path, {});
  }

  async submit(path: string, page: string, fields: Record<string, string>): Promise<Response> {
    const [, name = '', token = ''] =
      /<input type="hidden" name="(_?csrf[^"]*)" value="([^"]+)"/.exec(page) ?? [];
    const body = new URLSearchParams({ [name]: token, ...fields });
    return this.#request(path, { method: 'POST', body, headers: { origin: chat.url } });
  }

  async upload(path: string, page: string, files: Readonly<Record<string, string>>): Promise<Response> {
    const body = new FormData();
    body.append('_csrf', /name="_csrf" value="([^"]+)"/.exec(page)?.[1] ?? '');
    for (const [name, content] of Object.entries(files)) body.append('file', new Blob([content]), name);
    return this.#request(path, { method: 'POST', body, headers: { origin: chat.url } });
  }

  async #request(path: string, init: RequestInit): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { accept: 'text/html', cookie, ...(init.headers as Record<string, string>) };
    const response = await fetch(`${chat.url}${path}`, { redirect: 'manual', ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  }
}

test('with sign-in, a browser shows a key first, and then works without JavaScript', async () => {
  const alice = new Visitor();
  const home = await alice.get('/');
  assert.deepEqual([home.status, home.headers.get('location')], [303, '/sign-in']);
  assert.equal((await alice.get('/documents')).status, 401);
  const form = await (await alice.get('/sign-in')).text();
  const refused = await alice.submit('/sign-in', form, { key: 'guess' });
  assert.equal(refused.status, 401);
  assert.match(await refused.text(), /The API key is not valid\./);
  assert.equal((await alice.submit('/sign-in', form, { key: 'alice' })).status, 303);
  const page = await (await alice.get('/')).text();
  assert.match(page, /No documents yet/);
  const asked = await alice.submit('/ask', page, { query: 'Is there a ferry?', strategy: 'hybrid' });
  assert.equal(asked.status, 303);
  const path = asked.headers.get('location') ?? '';
  assert.match(await (await alice.get(path)).text(), /<h2 class="question">Is there a ferry\?<\/h2>/);
  assert.equal((await alice.get('/api/sessions')).status, 200);
  assert.equal((await new Visitor().get(path)).status, 401);
  const form2 = await (await alice.get('/documents')).text();
  const out = await alice.submit('/sign-out', form2, {});
  assert.deepEqual([out.status, out.headers.get('location')], [303, '/sign-in']);
  assert.equal((await alice.get('/documents')).status, 401);
  await alice.submit('/sign-in', form, { key: 'alice' });
  assert.equal((await alice.get('/documents')).status, 200);
  chat.clock.advance(86_400_000);
  assert.equal((await alice.get('/documents')).status, 401);
});

/** A browser that is signed in. */
async function signedIn(): Promise<Visitor> {
  const visitor = new Visitor();
  const form = await (await visitor.get('/sign-in')).text();
  assert.equal((await visitor.submit('/sign-in', form, { key: 'alice' })).status, 303);
  return visitor;
}

test('files are uploaded by a form, and the page says what became of each', async () => {
  const alice = await signedIn();
  const form = await (await alice.get('/documents')).text();
  const files = { 'ferry.txt': 'The ferry sails on Mondays.', 'ferry.exe': 'MZ' };
  const uploaded = await alice.upload('/documents', form, files);
  const page = await uploaded.text();
  assert.equal(uploaded.status, 200);
  assert.match(page, /Added: ferry\.txt/);
  assert.match(page, /<strong>ferry\.exe<\/strong>\s*Files that end in \.exe are not supported\./);
  assert.match(page, /1 passage<\/td>/);
  const again = await alice.upload('/documents', form, { 'ferry.txt': 'The ferry sails on Mondays.' });
  assert.match(await again.text(), /There already: ferry\.txt/);
  const refused = await alice.upload('/documents', form, { 'ferry.exe': 'MZ' });
  assert.equal(refused.status, 415);
  assert.match(await refused.text(), /data-upload/);
  const none = await alice.upload('/documents', form, { '': '' });
  assert.equal(none.status, 400);
  assert.match(await none.text(), /Choose at least one file\./);
  const many = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`${index}.txt`, 'text']));
  assert.equal((await alice.upload('/documents', form, many)).status, 400);
  const forged = await (await alice.upload('/documents', '', { 'a.txt': 'Forged' })).text();
  assert.doesNotMatch(forged, /Added: /);
  assert.equal((await new Visitor().upload('/documents', form, { 'a.txt': 'Stranger' })).status, 401);
  assert.equal((await chat.send('GET', '/api/documents', undefined, { 'x-api-key': 'alice' })).json.total, 1);
});

test('what cannot be asked stays in the form', async () => {
  const alice = await signedIn();
  const page = await (await alice.get('/')).text();
  const query = `Why? ${'x'.repeat(4_000)}`;
  const refused = await alice.submit('/ask', page, { query, strategy: 'semantic' });
  const shown = await refused.text();
  assert.equal(refused.status, 400);
  assert.match(shown, /The question must be at most 4000 characters/);
  assert.ok(shown.includes(`>${query}</textarea>`));
  assert.match(shown, /value="semantic"[^>]* checked/);
  assert.equal((await alice.submit('/ask', page, { query: 'Why?', session: 'unknown' })).status, 404);
});

test('chats are found by their words, renamed and deleted', async () => {
  const alice = await signedIn();
  const page = await (await alice.get('/')).text();
  for (const query of ['Is there a ferry?', 'Who bakes the bread?'])
    await alice.submit('/ask', page, { query });
  const listed = await (await alice.get('/chats?q=BAKES')).text();
  const found = [...listed.matchAll(/<td [^>]*class="main"[^>]*><a href="([^"]+)"/g)].map(([, href]) => href);
  assert.equal(found.length, 1);
  const path = found[0] ?? '';
  const rename = await (await alice.get(`${path}/rename?back=/chats`)).text();
  const renamed = await alice.submit(`${path}/rename`, rename, { title: ' Rye  bread ', back: '/chats' });
  assert.deepEqual([renamed.status, renamed.headers.get('location')], [303, '/chats']);
  assert.match(await (await alice.get(path)).text(), /<h1>Rye bread<\/h1>/);
  assert.match(await (await alice.get(`${path}/delete`)).text(), /Delete “Rye bread”\?/);
  const removed = await alice.submit(`${path}/delete`, rename, { back: path });
  assert.equal(removed.headers.get('location'), '/');
  assert.equal((await alice.get(path)).status, 404);
  assert.match(await (await alice.get('/chats?q=bread')).text(), /No matching chats/);
});

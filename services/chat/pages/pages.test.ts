import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startChat } from '../testing.ts';
import { startModel } from '../testing-model.ts';

const chat = await startChat({ environment: { GATEWAY_AUTH: 'api_key', CHAT_API_KEYS: 'alice' } });
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

test('an error keeps the navigation and the chats', async () => {
  const navigation = /<nav aria-label="Main">.*?<\/nav>/s;
  const alice = await signedIn();
  const page = await (await alice.get('/')).text();
  await alice.submit('/ask', page, { query: 'Where is the lighthouse?' });
  const missing = await alice.get('/documents/nothing');
  const missed = await missing.text();
  const shown = navigation.exec(missed)?.[0] ?? '';
  assert.match(missed, /chat\.css/);
  assert.equal(missing.status, 404);
  assert.match(shown, /href="\/documents".*Where is the lighthouse\?/s);
  const refused = await new Visitor().get('/documents/nothing');
  assert.doesNotMatch(await refused.text(), navigation);
  await using open = await startChat();
  const response = await fetch(`${open.url}/documents/nothing`, { headers: { accept: 'text/html' } });
  assert.equal(response.status, 404);
  assert.match(navigation.exec(await response.text())?.[0] ?? '', /href="\/documents"/);
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

test('headings that are answered are questions to begin with; answers are rated; questions are changed', async () => {
  const alice = await signedIn();
  const form = await (await alice.get('/documents')).text();
  const files = {
    'pets.md':
      '# Pets at work\n\n## Dogs in the office\n\nDogs in the office need a leash.\n\n## Zebra crossings\n\nNothing yet.\n',
  };
  await alice.upload('/documents', form, files);
  const home = await (await alice.get('/')).text();
  const starters = [...home.matchAll(/name="query" value="(What is said about [^"]+)"/g)].map(
    ([, query]) => query,
  );
  assert.ok(starters.includes('What is said about “Dogs in the office”?'), starters.join());
  const asked = await alice.submit('/ask', home, { query: 'What do dogs in the office need?' });
  const path = asked.headers.get('location') ?? '';
  const page = await (await alice.get(path)).text();
  const [, rate = ''] = /action="(\/answers\/[^"]+\/rate)"/.exec(page) ?? [];
  for (const rating of ['down', 'up']) {
    const rated = await alice.submit(rate, page, { rating });
    assert.match(rated.headers.get('location') ?? '', new RegExp(`^${path}#turn-`));
  }
  assert.match(await (await alice.get(path)).text(), /value="up" title="Good answer" aria-pressed="true"/);
  assert.equal((await alice.submit(rate, page, { rating: 'fine' })).status, 422);
  assert.equal((await alice.submit('/answers/unknown/rate', page, { rating: 'up' })).status, 404);
  assert.equal((await new Visitor().submit(rate, page, { rating: 'up' })).status, 401);
  const [, edit = ''] = /href="([^"]+\?edit=[^"#]+)#query"/.exec(page) ?? [];
  assert.match(await (await alice.get(edit)).text(), />What do dogs in the office need\?<\/textarea>/);
});

test('a question can be about some of the documents', async () => {
  const alice = await signedIn();
  const form = await (await alice.get('/documents')).text();
  await alice.upload('/documents', form, {
    'owls.txt': 'The owl hunts at night.',
    'bats.txt': 'The bat hunts by sound.',
  });
  const page = await (await alice.get('/')).text();
  const [, bats = ''] = /<option value="(document:[^"]+)">bats<\/option>/.exec(page) ?? [];
  const ask = async (within: string) => {
    const asked = await alice.submit('/ask', page, { query: 'What does the owl hunt by?', within });
    return (await alice.get(asked.headers.get('location') ?? '')).text();
  };
  assert.match(await ask(''), /The owl hunts at night/);
  assert.doesNotMatch(await ask(bats), /The owl hunts at night/);
  assert.doesNotMatch(await ask('tag:none'), /The owl hunts at night/);
});

test('a sentence of a model without a source is marked', async () => {
  await using model = await startModel();
  model.script = (answer) =>
    answer.text('The ferry sails on Mondays [1]. Penguins **eat herring** all day.').end();
  await using own = await startChat({ environment: { LLM_BASE_URL: model.url, LLM_MODEL: 'scripted' } });
  await own.upload([{ name: 'ferry.txt', content: 'The ferry sails on Mondays.' }]);
  const get = (path: string, cookie = '') =>
    fetch(`${own.url}${path}`, { headers: { accept: 'text/html', cookie } });
  const home = await get('/');
  const cookie = home.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const [, token = ''] = /name="_csrf" value="([^"]+)"/.exec(await home.text()) ?? [];
  const body = new URLSearchParams({ _csrf: token, query: 'When does the ferry sail?' });
  const init = { method: 'POST', body, redirect: 'manual', headers: { origin: own.url, cookie } } as const;
  const asked = await fetch(`${own.url}/ask`, init);
  const page = await (await get(asked.headers.get('location') ?? '', cookie)).text();
  const marked = [...page.matchAll(/<span class="unsupported"[^>]*>([^<]*)/g)].map(([, text]) =>
    text?.trim(),
  );
  assert.deepEqual(marked, ['Penguins', 'eat herring', 'all day.']);
  assert.match(page, /1 sentence without a source/);
});

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
  chat.clock.advance(86_400_000);
  assert.equal((await alice.get('/documents')).status, 401);
});

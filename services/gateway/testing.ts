import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import type { TestSystem } from '@octavo/octavo/testing';
import {
  bearer,
  PageClient,
  type PageResponse,
  sendRequest,
  type TestRequest,
  type TestResponse,
  until,
} from '@octavo/testing';
import type { Tab, TabOptions, TestBrowser } from '@octavo/testing/browser';
import type { Post } from './posts/post.ts';

export const jwtSecret = 'the key of the tests, which is long enough';

/** Calls the API as one person: `alice.post('/posts', { title, body })`. Paths are below `/api/v1`. */
export class Person {
  readonly url: string;
  readonly token: string | undefined;

  constructor(url: string, token?: string) {
    this.url = url;
    this.token = token;
  }

  get(path: string, headers?: Record<string, string>): Promise<TestResponse> {
    return this.call('GET', path, { headers });
  }

  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse> {
    return this.call('POST', path, { body, headers });
  }

  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse> {
    return this.call('PUT', path, { body, headers });
  }

  delete(path: string, headers?: Record<string, string>): Promise<TestResponse> {
    return this.call('DELETE', path, { headers });
  }

  call(method: string, path: string, { body, headers }: TestRequest = {}): Promise<TestResponse> {
    return sendRequest(this.#address(path), { method, body, headers: { ...bearer(this.token), ...headers } });
  }

  /** Sends header lines as they are, also duplicate ones. */
  raw(method: string, path: string, lines: readonly string[]): Promise<{ status: number; text: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
    const { host, hostname, port } = new URL(this.url);
    const headers = ['Host', host, 'Authorization', `Bearer ${this.token}`, ...lines];
    const sent = request({ hostname, port, method, path: `/api/v1${path}`, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    if (lines.includes('Content-Length')) sent.flushHeaders();
    else sent.end();
    return promise;
  }

  async create(post: { title?: string; body?: string; userId?: number } = {}): Promise<Post> {
    const created = await this.post('/posts', { title: 'Fog', body: 'The ferries wait.', ...post });
    assert.equal(created.status, 201, created.text);
    return created.json.data;
  }

  #address(path: string): string {
    return `${this.url}/api/v1${path}`;
  }
}

/** Alice writes (editor), Bob may do everything (admin), Charlie only reads (viewer), and a stranger has no token. */
export async function castOf({ url, passwords }: Pick<TestSystem, 'url' | 'passwords'>) {
  const stranger = new Person(url);
  const signIn = async (username: 'admin' | 'editor' | 'viewer') => {
    // A service that starts on a busy machine may shed load for a moment.
    const signedIn = await until(async () => {
      const response = await stranger.post('/auth/login', { username, password: passwords[username] });
      return response.status !== 503 && response;
    });
    assert.equal(signedIn.status, 200, signedIn.text);
    return new Person(url, signedIn.json.data.token);
  };
  const [alice, bob, charlie] = await Promise.all([signIn('editor'), signIn('admin'), signIn('viewer')]);
  return { alice, bob, charlie, stranger };
}

/** Asserts that a response is an error, and gives its fields. */
export function assertError(response: TestResponse, status: number, code: string): Record<string, string> {
  assert.equal(response.status, status, response.text);
  const { error, meta, ...rest } = response.json;
  assert.deepEqual(rest, {});
  assert.deepEqual(Object.keys(error), ['code', 'message', 'fields']);
  assert.equal(error.code, code);
  assert.ok(error.message.length > 0);
  assert.equal(meta.requestId, response.headers.get('x-request-id'));
  assert.match(meta.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  return error.fields;
}

/** A token over any claims and header, signed with the key of the tests or another. */
export function mint(
  claims: object,
  { header = { alg: 'HS256', typ: 'JWT' }, key = jwtSecret } = {},
): string {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const registered = { iss: 'post-gateway', aud: 'post-api', iat: nowSeconds, exp: nowSeconds + 60 };
  const input = [header, { ...registered, ...claims }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`;
}

const accounts = { alice: 'editor', bob: 'admin', charlie: 'viewer' } as const;

/** A browser session: Alice edits, Bob administers, Charlie only reads. */
export async function signedIn(system: TestSystem, person: keyof typeof accounts): Promise<PageClient> {
  const client = new PageClient(system.url);
  await client.open('/');
  const username = accounts[person];
  const { status } = await client.send('/sign-in', {
    username,
    password: system.passwords[username],
    next: '/',
  });
  assert.equal(status, 303);
  await client.open('/');
  return client;
}

/** A signed-in browser tab, on the list of posts. */
export async function openPages(
  browser: TestBrowser,
  { url: baseUrl, passwords }: TestSystem,
  username: 'admin' | 'editor' | 'viewer',
  options: TabOptions = {},
): Promise<Tab> {
  const tab = await browser.open({ baseUrl, ...options });
  await tab.page.goto('/');
  await tab.page.getByLabel('User name').fill(username);
  await tab.page.getByLabel('Password', { exact: true }).fill(passwords[username]);
  await tab.page.getByRole('button', { name: 'Sign in' }).click();
  await tab.page.getByRole('heading', { level: 1, name: 'Posts' }).waitFor();
  return tab;
}

/** All three, signed in. */
export async function visitorsOf(system: TestSystem) {
  const [alice, bob, charlie] = await Promise.all([
    signedIn(system, 'alice'),
    signedIn(system, 'bob'),
    signedIn(system, 'charlie'),
  ]);
  return { alice, bob, charlie };
}

/** An import without scripts: its address and the pages of its preview and result. The page of a refused upload is both. */
export async function importFile(
  client: PageClient,
  file: Parameters<PageClient['upload']>[1],
  mapping: Readonly<Record<string, string>> = {},
): Promise<{ path: string; preview: PageResponse; result: PageResponse }> {
  await client.open('/posts/import');
  const uploaded = await client.upload('/posts/import', file);
  if (uploaded.status !== 303) return { path: '', preview: uploaded, result: uploaded };
  const path = uploaded.location.replace(/\?.*/, '');
  const preview = await client.open(uploaded.location);
  const chosen = Object.entries(mapping).map(([field, column]) => [`map-${field}`, column]);
  const fields = { do: 'import', name: file.name, ...Object.fromEntries(chosen) };
  const sent = await client.send(path, fields);
  const result = sent.status === 303 ? await client.open(sent.location) : sent;
  return { path, preview, result };
}

import assert from 'node:assert/strict';
import { sendRequest, until } from '@octavo/testing';
import { ask, password, unique } from './requests.ts';
import type { Replicas, Workload } from './traffic.ts';

export const posts: Workload = {
  service: 'gateway',
  environment: {
    GATEWAY_JWT_SECRET: 'a secret of all replicas, long enough',
    AUTHZ_SECRET: 'another secret of all replicas, long enough',
    DEMO_ADMIN_PASSWORD: password,
    DEMO_EDITOR_PASSWORD: password,
    DEMO_VIEWER_PASSWORD: password,
  },
  begin: async () => async (at) => {
    const admin = await signIn(at.one, 'admin');
    const viewer = await signIn(at.other, 'viewer');
    await writePost(at, { admin, viewer });
    await writeMany(at, admin);
    const pages = ['/posts?pageSize=5&sortBy=title', '/posts/analytics', '/exports', '/admin/status'];
    for (const path of pages) await ask(at.other, `/api/v1${path}`, { headers: admin });
  },
};

async function signIn(url: string, username: string): Promise<Record<string, string>> {
  const { json } = await ask(url, '/api/v1/auth/login', { body: { username, password } });
  return { authorization: `Bearer ${json.data.token}` };
}

type People = Readonly<Record<'admin' | 'viewer', Record<string, string>>>;

async function writePost({ one, other }: Replicas, { admin, viewer }: People): Promise<void> {
  const word = unique('word').replaceAll('-', '');
  const body = { title: `Fog ${word}`, body: 'I love it when the ferries wait.' };
  await ask(one, '/api/v1/posts', { body, headers: viewer, is: 403 });
  const { id } = (await ask(one, '/api/v1/posts', { body, headers: admin, is: 201 })).json.data;
  const path = `/api/v1/posts/${id}`;
  const read = await ask(other, path, { headers: viewer });
  const found = await ask(other, `/api/v1/posts?search=${word}`, { headers: viewer });
  assert.equal(found.json.pagination.totalItems, 1);
  const ifMatch = { ...admin, 'if-match': read.headers.get('etag') ?? '' };
  const changed = { method: 'PUT', body: { title: 'Changed', body: body.body } };
  await ask(other, path, { ...changed, headers: ifMatch });
  await ask(one, path, { ...changed, headers: ifMatch, is: 412 });
  await until(async () => {
    const { json, status, text } = await sendRequest(`${one}${path}/sentiment`, { headers: viewer });
    assert.ok(status === 200 || status === 404, text);
    return status === 200 && json.data.label === 'positive';
  });
  await ask(one, path, { method: 'DELETE', headers: admin });
  await ask(other, path, { headers: viewer, is: 404 });
}

async function writeMany({ one, other }: Replicas, admin: Record<string, string>): Promise<void> {
  const body = { posts: [1, 2, 3].map((number) => ({ title: unique(`Post ${number}`), body: 'Fog.' })) };
  const headers = { ...admin, 'idempotency-key': unique('key') };
  const made = await ask(one, '/api/v1/posts/bulk', { body, headers, is: 201 });
  const again = await ask(other, '/api/v1/posts/bulk', { body, headers, is: 201 });
  assert.deepEqual(again.json.data, made.json.data);
}

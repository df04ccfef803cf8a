import assert from 'node:assert/strict';
import { PageClient } from '@octavo/testing';
import { ask, atReplica, password, unique } from './requests.ts';
import type { Replicas, Workload } from './traffic.ts';

export const quotes: Workload = {
  service: 'quotes',
  environment: {
    QUOTES_SECRET: 'a secret of all replicas, long enough',
    QUOTES_LIMIT_WRITES: '0',
    QUOTES_LIMIT_SIGN_INS: '0',
    QUOTES_LIMIT_SIGN_UPS: '0',
  },
  async begin(url) {
    await ask(url, '/api/register/', { body: { username: 'alice', password }, is: 201 });
    return async (at) => {
      const username = unique('reader');
      await ask(at.one, '/api/register/', { body: { username, password }, is: 201 });
      const headers = await signIn(at, username);
      await writeQuote(at, headers);
      await readPages(at, username);
    };
  },
};

/** Tokens of one replica count at the other, and are refreshed once in all. */
async function signIn({ one, other }: Replicas, username: string): Promise<Record<string, string>> {
  const pair = (await ask(other, '/api/token/', { body: { username, password } })).json;
  const next = (await ask(one, '/api/token/refresh/', { body: { refresh: pair.refresh } })).json;
  await ask(other, '/api/token/refresh/', { body: { refresh: pair.refresh }, is: 401 });
  const last = (await ask(other, '/api/token/refresh/', { body: { refresh: next.refresh } })).json;
  return { authorization: `Bearer ${last.access}` };
}

async function writeQuote({ one, other }: Replicas, headers: Record<string, string>): Promise<void> {
  const word = unique('word').replaceAll('-', '');
  const body = { text: `The ${word} waits in fog.`, author: 'Alice', category: 'Fog' };
  const { id } = (await ask(one, '/api/quotes/', { body, headers, is: 201 })).json;
  const path = `/api/quotes/${id}/`;
  assert.equal((await ask(other, `/api/quotes/?search=${word}`)).json[0]?.id, id);
  await ask(other, '/api/quotes/', { body, headers, is: 400 });
  const like = (await ask(other, `${path}like/`, { method: 'POST', headers, is: 201 })).json;
  await ask(one, `${path}like/`, { method: 'POST', headers });
  await ask(one, `${path}comments/`, { body: { text: 'I saw it.' }, headers, is: 201 });
  assert.equal((await ask(other, `${path}comments/`)).json.length, 1);
  assert.equal((await ask(one, path)).json.like_set.length, 1, JSON.stringify(like));
  await ask(other, path, { method: 'PATCH', body: { source: 'A book' }, headers });
  assert.equal((await ask(one, path)).json.source, 'A book');
  await ask(one, `${path}report/`, { body: { reason: 'typo' }, headers, is: 201 });
  const today = await Promise.all([one, other].map((url) => ask(url, '/api/quotes/today/')));
  assert.equal(today[0]?.json.id, today[1]?.json.id);
}

/** A session and a form of one replica are used at the other. */
async function readPages({ one, other }: Replicas, username: string): Promise<void> {
  const reader = new PageClient(one);
  await reader.open('/accounts/login/');
  const there = atReplica(reader, other);
  const signedIn = await there.send('/accounts/login/', { username, password });
  assert.equal(signedIn.status, 303, signedIn.html);
  for (const path of ['/', '/categories/fog/', '/search/?q=fog', '/quotes/new/']) {
    const page = await atReplica(there, one).open(path);
    assert.equal(page.status, 200, `${path}: ${page.html}`);
  }
}

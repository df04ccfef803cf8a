import assert from 'node:assert/strict';
import { PageClient } from '#kit/testing/page-client.ts';
import type { TestSystem } from '../../testing.ts';

const accounts = { alice: 'editor', bob: 'admin', charlie: 'viewer' } as const;

/** Somebody with a session of their own: Alice edits, Bob administers, Charlie only reads. */
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

/** All three, signed in. */
export async function readersOf(system: TestSystem) {
  const [alice, bob, charlie] = await Promise.all([
    signedIn(system, 'alice'),
    signedIn(system, 'bob'),
    signedIn(system, 'charlie'),
  ]);
  return { alice, bob, charlie };
}

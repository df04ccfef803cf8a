import assert from 'node:assert/strict';
import { PageClient } from '@octavo/testing';
import { password, type TestBudgets } from './testing.ts';

/** A signed-in browser without scripts. */
export async function signedInClient(
  { url }: Pick<TestBudgets, 'url'>,
  { email }: { readonly email: string },
): Promise<PageClient> {
  const client = new PageClient(url);
  await client.open('/sign-in');
  const { status, html } = await client.send('/sign-in', { email, password });
  assert.equal(status, 303, html);
  await client.open('/budgets');
  return client;
}

import assert from 'node:assert/strict';
import { PageClient, type PageResponse } from '@octavo/testing';
import { password } from '../testing.ts';

/** Fields of the form for a new poll. */
export const texts = {
  question_text: 'Where to <b>eat</b>?',
  choice_1: 'Here',
  choice_2: ' There ',
  choice_3: '',
};
export const rules = { max_choices: '1', results: 'always', duplicates: 'none', closes_at: '' };

/** A browser with the session of a user. */
export async function signIn({ url }: { readonly url: string }, username: string): Promise<PageClient> {
  const client = new PageClient(url);
  await client.open('/admin/login/');
  const { status } = await client.send('/admin/login/', { username, password, next: '/polls/new/' });
  assert.equal(status, 303);
  return client;
}

/** The id of the form on a page, by which it is sent once. */
export function formOf({ html }: PageResponse): string {
  return /name="form" value="([^"]+)"/.exec(html)?.[1] ?? '';
}

import assert from 'node:assert/strict';
import { bearer, PageClient, until } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { pageRoutes } from './routes.ts';
import type { TestChat } from './testing.ts';

/** Headers of a client without an identity. */
export const stranger: Record<string, string> = {};

/** An OpenID provider with Alice, Bob, a reader and an administrator, and the settings of a chat that lets them and strangers in. */
export async function startPeople() {
  const audience = 'https://chat.example';
  const provider = await TestProvider.start();
  provider.addClient('chat', audience);
  provider.people
    .set('alice', { sub: 'alice', preferred_username: 'Alice Berg' })
    .set('bob', { sub: 'bob' })
    .set('reader', { sub: 'reader', roles: ['reader'] })
    .set('admin', { sub: 'admin', roles: ['admin'] });
  const tokenOf = (sub: string) => {
    const { roles } = provider.people.get(sub) ?? {};
    return provider.accessToken(audience, { sub, ...(roles && { roles: [...roles] }) });
  };
  return {
    provider,
    audience,
    signIn: { ...provider.settingsFor('chat'), OIDC_ADDRESS: audience },
    tokenOf,
    /** Headers of a person. */
    as: async (sub: string): Promise<Record<string, string>> => ({ ...bearer(await tokenOf(sub)) }),
  };
}

/** A chat, and the headers of the person who asks it. */
export interface Asked {
  readonly at: TestChat;
  readonly headers: Record<string, string>;
}

/**
 * Uploads a text, and returns the status with the document or the error. It tries again where a busy machine took longer than the 5 s that
 * a service waits for the provider.
 */
export async function uploadText(
  { at, headers }: Asked,
  content: string,
  fields: Record<string, string> = {},
) {
  const { name = `${content.slice(0, 12)}.txt`, ...rest } = fields;
  const { status, json } = await until(async () => {
    const response = await at.upload([{ name, content }], rest, headers);
    if (response.status !== 503) return response;
    // By its clock, a service leaves a provider that was late alone for a while.
    at.clock.advance(10_000);
    return undefined;
  });
  return { status, document: json.documents?.[0], error: json.error };
}

/** Names of the files with passages that a search finds. */
export async function searched({ at, headers }: Asked, query: string, filters?: object): Promise<string[]> {
  const { json } = await at.send('POST', '/api/search', { query, filters }, headers);
  return json.results.map(({ source }: { source: string }) => source).toSorted();
}

/** A browser in which a person of the provider has signed in. */
export async function signedIn(at: TestChat, provider: TestProvider, sub: string): Promise<Walker> {
  provider.person = sub;
  const walker = new Walker(new PageClient(at.url));
  assert.equal((await walker.signIn(pageRoutes.account)).location, pageRoutes.account);
  return walker;
}

/** Erases the account of the signed-in person. */
export async function eraseAccount(at: TestChat, walker: Walker) {
  const { leave } = pageRoutes;
  await walker.client.open(leave);
  const begun = await walker.client.send(leave, { step: 'confirm' });
  at.clock.advance(60_000);
  await walker.finish(begun.headers.get('refresh')?.replace('0; url=', '') ?? '');
  await walker.client.open(leave);
  return walker.client.send(leave, {});
}

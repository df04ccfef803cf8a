import assert from 'node:assert/strict';
import { PageClient } from '@octavo/testing';
import type { TestService } from './testing.ts';

/** Signs in on the pages with a code from a mail. */
export async function signedIn(service: TestService, email: string): Promise<PageClient> {
  const client = new PageClient(service.url);
  await client.open('/');
  await client.send('/sign-in', { email });
  const { status } = await client.send('/sign-in/code', { email, code: await codeOf(service, email) });
  assert.equal(status, 303);
  await client.open('/');
  return client;
}

/** The code of the last mail to an address. */
export async function codeOf(service: TestService, email: string): Promise<string> {
  return /\b(\d{6})\b/.exec(await lastMail(service, email))?.[1] ?? '';
}

/** The link of the last mail to an address, as a path. */
export async function linkIn(service: TestService, email: string): Promise<string> {
  return /\/verify\/magic\?token=[\w-]+/.exec(await lastMail(service, email))?.[0] ?? '';
}

async function lastMail(service: TestService, email: string): Promise<string> {
  const mails = (await service.mails(email)).filter(({ kind }) => kind === 'magic-link');
  return mails.at(-1)?.text ?? '';
}

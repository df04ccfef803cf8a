import assert from 'node:assert/strict';
import { PageClient } from '@octavo/testing';
import type { System } from '../apps/octavo/system.ts';

/** A browser in which the administrator of the suite is signed in to the pages and the admin of a service. */
export async function administratorAt(system: System, name: string): Promise<PageClient> {
  const urlOf = (service: string) => system.sites().find((site) => site.name === service)?.url as string;
  const there = new PageClient(urlOf('passwordless'));
  await there.open(ownPart(system.signIn?.demoAddress('administrator', '/') ?? ''));
  const url = urlOf(name);
  const client = name === 'passwordless' ? there : new PageClient(url);
  const hasSignIn = name !== 'tokens' && name !== 'passwordless';
  for (const next of hasSignIn ? ['/', '/admin/'] : []) {
    const begun = await client.open(`/sign-in/oidc?next=${next}`);
    let { location } = begun;
    while (!location.startsWith(`${url}/`)) {
      const page = await there.open(ownPart(location));
      location = page.location || (/content="0; url=([^"]+)"/.exec(page.html)?.[1] ?? '');
      assert.ok(location, `${name}: ${page.status} ${page.html}`);
    }
    const back = await client.open(ownPart(location));
    assert.equal(back.location, next, name);
  }
  return client;
}

function ownPart(address: string): string {
  const { pathname, search } = new URL(address, 'http://localhost');
  return pathname + search;
}

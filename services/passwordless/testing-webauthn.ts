import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { startService, type TestService } from './testing.ts';
import { linkIn } from './testing-pages.ts';

/** Starts the service at the host name that passkeys need, with the time of the browser. */
export async function startForBrowser(
  context: Pick<TestContext, 'after'>,
): Promise<{ service: TestService; baseUrl: string }> {
  const environment = { PASSWORDLESS_MAGIC_LINK_BASE_URL: '' };
  const service = await startService(context, { databaseUrl: undefined }, { environment });
  service.clock.set(Date.now());
  return { service, baseUrl: service.url };
}

export async function enterByLink(service: TestService, page: Page, email: string): Promise<void> {
  await page.goto('/');
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('button', { name: 'Mail me a link' }).click();
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
  await page.goto(await linkIn(service, email));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Account', exact: true }).waitFor();
}

interface Credential {
  credentialId: string;
  isResidentCredential: boolean;
  privateKey: string;
  signCount: number;
}

export interface VirtualAuthenticator {
  /** True if a user confirms each request. */
  setPresence(enabled: boolean): Promise<void>;
  credentials(): Promise<Credential[]>;
  add(credential: Partial<Credential>): Promise<void>;
  remove(): Promise<void>;
}

/** The virtual authenticator of the browser (WebAuthn Level 3, 11): a platform authenticator that verifies its user. */
export async function virtualAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    async setPresence(enabled) {
      await session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
    },
    async credentials() {
      return (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials as Credential[];
    },
    async add(credential) {
      await session.send('WebAuthn.addCredential', { authenticatorId, credential: credential as Credential });
    },
    async remove() {
      await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    },
  };
}

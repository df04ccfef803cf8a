import assert from 'node:assert/strict';
import type { TestResponse } from '@octavo/testing';
import type { TestService } from '../testing.ts';
import { type AuthenticatorOptions, type Forgery, SoftwareAuthenticator } from './testing-authenticator.ts';

export const origin = 'http://localhost:3003';

export function authenticator(options: Partial<AuthenticatorOptions> = {}): SoftwareAuthenticator {
  return new SoftwareAuthenticator({ origin, ...options });
}

interface Registration {
  readonly email: string;
  readonly token?: string;
  readonly name?: string;
  readonly forgery?: Forgery;
}

/** Both steps of a registration. */
export async function register(
  service: TestService,
  device: SoftwareAuthenticator,
  { email, token, name, forgery }: Registration,
): Promise<TestResponse> {
  const begun = await service.post('/webauthn/register/options', { email }, token);
  assert.equal(begun.status, 200, begun.text);
  const { pending_id, ...options } = begun.json;
  const response = device.create(options, forgery);
  return service.post('/webauthn/register/complete', { pending_id, response, name });
}

/** The answer to a registration that goes through. */
export async function registered(service: TestService, device: SoftwareAuthenticator, email: string) {
  const answer = await register(service, device, { email });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Both steps of a sign-in, or the second where the first is there; without an address. */
export async function signIn(
  service: TestService,
  device: SoftwareAuthenticator,
  // biome-ignore lint/suspicious/noExplicitAny: what the server answered
  options?: any,
  forgery?: Forgery,
): Promise<TestResponse> {
  const { pending_id, ...asked } = options ?? (await service.post('/webauthn/login/options', {})).json;
  return service.post('/webauthn/login/complete', { pending_id, response: device.get(asked, forgery) });
}

import assert from 'node:assert/strict';
import type { TestResponse } from '@octavo/testing';
import { eventually } from '@octavo/testing';
import { appCode } from '@octavo/testing/sign-in';
import { alice, claimsOf, type TestService } from '../testing.ts';

export const stepMs = 30_000;

/** The user of the tokens in a response. */
export function subOf(response: TestResponse): string {
  return claimsOf(response.json.access_token).sub;
}

/** Signs in at Alice's address with the code of a secret. */
export function verify(service: TestService, secret: string, steps = 0): Promise<TestResponse> {
  return service.post('/totp/verify', { email: alice, code: appCode(secret, service.clock, steps) });
}

/** Alice gets this many mails about strangers. They are sent after the response to the stranger. */
export function alerted(service: TestService, times: number): Promise<void> {
  return eventually(async () => {
    const mails = await service.mails(alice);
    assert.equal(mails.filter(({ kind }) => kind === 'security:enrolment-attempt').length, times);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestResponse } from '@octavo/testing';
import { appCode } from '@octavo/testing/sign-in';
import fc from 'fast-check';
import type { TokenPair } from '../sessions/session.ts';
import { alice, inTestMode, startService, type TestService } from '../testing.ts';

/**
 * Alice reads the mails of an address, Charlie does not. Whatever both do in whatever order, no token of Charlie's ever speaks for
 * the owner of the address, and Alice always gets in.
 */
interface Person {
  readonly name: 'alice' | 'charlie';
  readonly pairs: TokenPair[];
  readonly secrets: string[];
  readonly codes: string[];
}

type Act = (service: TestService, person: Person, pick: number) => Promise<void>;

const acts: Record<string, Act> = {
  async enrol(service, person) {
    const { json } = await service.post('/totp/enroll', { email: alice });
    person.secrets.push(json.secret);
  },
  async enrolByToken(service, person, pick) {
    const token = chosen(person.pairs, pick)?.access_token;
    const response = token && (await service.post('/totp/enroll', { email: alice }, token));
    if (response && response.status === 200) person.secrets.push(response.json.secret);
  },
  async verify(service, person, pick) {
    const secret = chosen(person.secrets, pick);
    if (!secret) return;
    const code = appCode(secret, service.clock);
    keep(person, await service.post('/totp/verify', { email: alice, code }));
  },
  async removeApp(service, person, pick) {
    const token = chosen(person.pairs, pick)?.access_token;
    if (token) await service.call('DELETE', '/totp', { token });
  },
  async makeCodes(service, person, pick) {
    const token = chosen(person.pairs, pick)?.access_token;
    const response = token && (await service.post('/recovery-codes', undefined, token));
    if (response && response.status === 200) person.codes.push(...response.json.codes);
  },
  async recover(service, person, pick) {
    const code = chosen(person.codes, pick);
    if (code) keep(person, await service.post('/recovery/verify', { email: alice, code }));
  },
  async refresh(service, person, pick) {
    const refresh_token = chosen(person.pairs, pick)?.refresh_token;
    if (refresh_token) keep(person, await service.post('/token/refresh', { refresh_token }));
  },
  async askForLink(service) {
    await service.post('/request/magic', { email: alice });
  },
  async askForLinkByToken(service, person, pick) {
    await service.post('/request/magic', { email: alice }, chosen(person.pairs, pick)?.access_token);
  },
  /** Alice opens the newest link, of any request. */
  async useNewestLink(service, person) {
    const mails = (await service.mails(alice)).filter(({ kind }) => kind === 'magic-link');
    const token = /[?&]token=([\w-]+)/.exec(mails.at(-1)?.text ?? '')?.[1];
    if (person.name === 'alice' && token) keep(person, await service.get(`/verify/magic?token=${token}`));
  },
  async useLink(service, person) {
    if (person.name === 'alice') person.pairs.push(await service.signIn(alice));
  },
  async endAll(service, person, pick) {
    const token = chosen(person.pairs, pick)?.access_token;
    if (token) await service.post('/logout-all', undefined, token);
  },
  async leave(service, person, pick) {
    const token = chosen(person.pairs, pick)?.access_token;
    if (token && person.name === 'charlie') await service.call('DELETE', '/me', { token });
  },
  async wait(service, _person, pick) {
    service.clock.advance([30_000, 60_000, 11_000, 700_000][pick % 4] ?? 0);
  },
};

const step = fc.record({
  who: fc.constantFrom('alice', 'charlie', 'charlie'),
  what: fc.constantFrom(...Object.keys(acts)),
  pick: fc.nat(7),
});

await inTestMode((world) => {
  test('no sequence of steps gives a stranger the account of the owner of the address', async (context) => {
    const service = await startService(context, world);
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const { kysely } = service.database;
      for (const table of ['user', 'magic_link', 'failed_attempt', 'email_queue'] as const)
        await kysely.deleteFrom(table).execute();
      const people = { alice: newPerson('alice'), charlie: newPerson('charlie') };
      for (const { who, what, pick } of steps) {
        await acts[what]?.(service, people[who as keyof typeof people], pick);
        await checkStranger(service, people.charlie);
      }
      const owner = await service.signIn(alice);
      assert.equal((await service.get('/me', owner.access_token)).json.email_verified, true);
      await checkStranger(service, people.charlie);
    });
    await fc.assert(property, { numRuns: 40 });
  });
});

function newPerson(name: Person['name']): Person {
  return { name, pairs: [], secrets: [], codes: [] };
}

function chosen<T>(things: readonly T[], pick: number): T | undefined {
  return things.at(-1 - (pick % Math.max(1, things.length)));
}

function keep(person: Person, { status, json }: TestResponse): void {
  if (status === 200) person.pairs.push(json);
}

async function checkStranger(service: TestService, { pairs }: Person): Promise<void> {
  for (const { access_token: token } of pairs.slice(-6)) {
    const { status, json } = await service.get('/me', token);
    if (status === 200) assert.equal(json.email_verified, false);
    else assert.equal(status, 401);
  }
}

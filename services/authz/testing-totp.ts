import type { TestContext } from 'node:test';
import { matchingTotpStep, totpCode } from '@octavo/core/auth';
import { errorOf, type StartOptions, startAuthz, type TestAuthz, type World } from './testing.ts';

export const password = 'correct horse';
export const home = '192.0.2.1';
export const stepMs = 30_000;

/** An authenticator app. */
export class App {
  readonly secretText: string;
  readonly secret: Buffer;
  readonly #clock: TestAuthz['clock'];

  constructor({ secret, clock }: { secret: string; clock: TestAuthz['clock'] }) {
    this.secretText = secret;
    this.secret = fromBase32(secret);
    this.#clock = clock;
  }

  code(offset = 0): string {
    return totpCode(this.secret, Math.floor(this.#clock.now() / stepMs) + offset);
  }

  check(uid: number, offset = 0) {
    return { uid, code: this.code(offset), remoteAddress: home };
  }

  /** A code that does not match now, whatever the secret. */
  wrong(uid: number) {
    const isWrong = (code: string) => matchingTotpStep(this.secret, code, this.#clock.now()) === undefined;
    return { uid, code: ['111111', '222222', '333333', '444444'].find(isWrong) ?? '', remoteAddress: home };
  }
}

function fromBase32(text: string): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

export async function startWithAlice(context: TestContext, world: World, options: StartOptions = {}) {
  const started = await startAuthz(context, world, options);
  const { account } = await started.client.createAccount({ username: 'Alice', password, role: 'editor' });
  return { ...started, uid: account?.uid ?? 0 };
}

/** Alice with an app that is confirmed. */
export async function startWithApp(context: TestContext, world: World) {
  const started = await startWithAlice(context, world);
  const app = await enroll(started.client, started);
  await started.client.confirmTotp(app.check(started.uid));
  return { ...started, app };
}

/** An app with a pending secret. */
export async function enroll(
  client: TestAuthz['client'],
  { uid, clock }: Pick<TestAuthz, 'clock'> & { uid: number },
): Promise<App> {
  const { secret } = await client.enrollTotp({ uid, password, remoteAddress: home });
  return new App({ secret, clock });
}

/** Returns the error code and reason of a call that fails. */
export async function failure(call: Promise<unknown>): Promise<[string, string | undefined]> {
  const { code, reason } = await errorOf(call);
  return [code, reason];
}

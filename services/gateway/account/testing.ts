import assert from 'node:assert/strict';
import type { Clock } from '@octavo/core';
import { totpCode } from '@octavo/core/auth';
import type { PageClient } from '@octavo/testing';

/** An authenticator app, with the key that a page shows. */
export class TestApp {
  readonly key: string;
  readonly #clock: Clock;

  constructor(html: string, clock: Clock) {
    this.key = (/<code>([A-Z2-7 ]{39})<\/code>/.exec(html)?.[1] ?? '').replaceAll(' ', '');
    assert.equal(this.key.length, 32, html);
    this.#clock = clock;
  }

  /** The code now, or some steps of 30 seconds later. Each works once, and so do those from a step before and after. */
  code(offset = 0): string {
    return totpCode(fromBase32(this.key), Math.floor(this.#clock.now() / 30_000) + offset);
  }
}

/** Sets up an app on the pages of an account. Its codes from now on are unused. */
export async function setUpApp(client: PageClient, password: string, clock: Clock): Promise<TestApp> {
  await client.open('/account/second-factor');
  const { html } = await client.send('/account/second-factor', { password });
  const app = new TestApp(html, clock);
  const confirmed = await client.send('/account/second-factor/confirm', { code: app.code(-1) });
  assert.equal(confirmed.status, 303, confirmed.html);
  return app;
}

function fromBase32(text: string): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

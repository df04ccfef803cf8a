import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { base32, matchingTotpStep, otpauthUrl, totpCode } from './totp.ts';

const rfcSecret = Buffer.from('12345678901234567890');

test('gives the codes of RFC 6238 appendix B and RFC 4226 appendix D', () => {
  const codesBySecond: [number, string][] = [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ];
  for (const [second, code] of codesBySecond) {
    assert.equal(totpCode(rfcSecret, Math.floor(second / 30)), code);
  }
  const codesByCounter = '755224 287082 359152 969429 338314 254676 287922 162583 399871 520489'.split(' ');
  for (const [counter, code] of codesByCounter.entries()) assert.equal(totpCode(rfcSecret, counter), code);
});

const { error } = spawnSync('oathtool', ['--version']);

test('oathtool gives the same codes', {
  skip: error && process.env.CI !== 'true' ? 'oathtool is not installed' : false,
}, () => {
  for (let round = 0; round < 20; round++) {
    const secret = randomBytes(20);
    const seconds = randomInt(1, 4_000_000_000);
    const now = new Date(seconds * 1_000).toISOString().replace('T', ' ').replace(/\..*/, ' UTC');
    const args = ['--totp', '--base32', base32(secret), '--now', now];
    const { stdout, stderr } = spawnSync('oathtool', args, { encoding: 'utf8' });
    assert.equal(totpCode(secret, Math.floor(seconds / 30)), stdout.trim(), stderr);
  }
});

test('accepts a code in its own step and in the steps before and after it', () => {
  const nowMs = 1_111_111_111_000;
  const step = Math.floor(nowMs / 30_000);
  for (const offset of [-1, 0, 1]) {
    const code = totpCode(rfcSecret, step + offset);
    assert.equal(matchingTotpStep(rfcSecret, code, nowMs), step + offset);
  }
  for (const offset of [-2, 2]) {
    assert.equal(matchingTotpStep(rfcSecret, totpCode(rfcSecret, step + offset), nowMs), undefined);
  }
  for (const code of ['', '12345', '1234567', 'abcdef', '\u{1f600}\u{1f600}\u{1f600}']) {
    assert.equal(matchingTotpStep(rfcSecret, code, nowMs), undefined);
  }
});

test('a step begins and ends to the millisecond', () => {
  const step = 37_037_037;
  const code = totpCode(rfcSecret, step);
  assert.equal(matchingTotpStep(rfcSecret, code, (step - 1) * 30_000 - 1), undefined);
  assert.equal(matchingTotpStep(rfcSecret, code, (step - 1) * 30_000), step);
  assert.equal(matchingTotpStep(rfcSecret, code, (step + 2) * 30_000 - 1), step);
  assert.equal(matchingTotpStep(rfcSecret, code, (step + 2) * 30_000), undefined);
});

test('base 32 is that of RFC 4648 section 10, without padding', () => {
  const known = {
    f: 'MY',
    fo: 'MZXQ',
    foo: 'MZXW6',
    foob: 'MZXW6YQ',
    fooba: 'MZXW6YTB',
    foobar: 'MZXW6YTBOI',
  };
  for (const [text, expected] of Object.entries(known)) assert.equal(base32(Buffer.from(text)), expected);
  assert.equal(base32(Buffer.alloc(0)), '');
  assert.equal(base32(Buffer.alloc(5, 0xff)), '77777777');
});

test('the address for the QR code is percent-encoded, whatever the issuer is called', () => {
  const url = otpauthUrl({ secret: 'MZXW6', issuer: 'Ärzte & Co: Nord', account: 'a+b@example.com' });
  assert.equal(
    url,
    'otpauth://totp/%C3%84rzte%20%26%20Co%3A%20Nord:a%2Bb%40example.com?secret=MZXW6&issuer=%C3%84rzte%20%26%20Co%3A%20Nord&algorithm=SHA1&digits=6&period=30',
  );
  assert.equal(new URL(url).searchParams.get('issuer'), 'Ärzte & Co: Nord');
});

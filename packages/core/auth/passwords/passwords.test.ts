import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longestTurnOf, processorMs } from '@octavo/testing';
import { readConfig } from '../../base/config.ts';
import { AppError } from '../../base/errors.ts';
import { owaspCost, Passwords, passwordCost, passwordSettings } from './passwords.ts';

const light = { memoryKib: 8, passes: 1, lanes: 1 };

test('hashes with the cost and the salt of OWASP, a different text each time', async () => {
  const passwords = new Passwords();
  const [first, second] = await Promise.all([
    passwords.hash('correct horse'),
    passwords.hash('correct horse'),
  ]);
  assert.match(first, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(first, second);
  assert.deepEqual(passwordCost(readConfig(passwordSettings, {})), owaspCost);
});

test('accepts the right password and rejects others', async () => {
  const passwords = new Passwords({ cost: light });
  const hashed = await passwords.hash('correct horse');
  assert.equal(await passwords.verify(hashed, 'correct horse'), true);
  assert.equal(await passwords.verify(hashed, 'correct horse '), false);
  assert.equal(await passwords.verify(hashed, ''), false);
});

test('takes composed and decomposed accents as the same password', async () => {
  const passwords = new Passwords({ cost: light });
  assert.equal(await passwords.verify(await passwords.hash('caf\u00e9'), 'cafe\u0301'), true);
});

test('verifies a hash that another implementation made', async () => {
  const passwords = new Passwords();
  const reference = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';
  assert.equal(await passwords.verify(reference, 'password'), true);
  assert.equal(passwords.needsRehash(reference), true);
});

test('needsRehash tells whether a hash has another cost', async () => {
  const hashed = await new Passwords({ cost: light }).hash('correct horse');
  assert.equal(new Passwords({ cost: light }).needsRehash(hashed), false);
  assert.equal(new Passwords({ cost: { ...light, passes: 2 } }).needsRehash(hashed), true);
  assert.equal(new Passwords().needsRehash(hashed), true);
});

test('an unknown account takes as long as a wrong password', async () => {
  const passwords = new Passwords({ cost: { memoryKib: 8_192, passes: 2, lanes: 1 } });
  const hashed = await passwords.hash('correct horse');
  assert.equal(await passwords.verify(undefined, 'correct horse'), false);
  let [known, unknown] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const areAlike = () => unknown > known / 2 && unknown < known * 2;
  // The least of many turns: any single one may compute something else besides.
  for (let round = 0; round < 8 || (round < 100 && !areAlike()); round++) {
    known = Math.min(known, await processorMs(() => passwords.verify(hashed, 'wrong horse')));
    unknown = Math.min(unknown, await processorMs(() => passwords.verify(undefined, 'wrong horse')));
  }
  assert.ok(areAlike(), `known ${known} ms, unknown ${unknown} ms`);
});

test('rejects text that is not a hash', async () => {
  const passwords = new Passwords({ cost: light });
  await assert.rejects(passwords.verify('correct horse', 'correct horse'));
});

test('limits how many run and wait, and rejects the rest', async () => {
  const passwords = new Passwords({ cost: light });
  let running = 0;
  let most = 0;
  const attempt = () =>
    passwords.inTurn(async (hasher) => {
      most = Math.max(most, ++running);
      await hasher.hash('correct horse');
      running--;
    });
  const results = await Promise.allSettled(Array.from({ length: 70 }, attempt));
  const refused = results.filter((result) => result.status === 'rejected').map((result) => result.reason);
  assert.equal(most, 4);
  assert.equal(refused.length, 2);
  for (const error of refused) {
    assert.ok(error instanceof AppError);
    assert.deepEqual([error.code, error.retryAfterSeconds], ['unavailable', 1]);
  }
  assert.equal(await passwords.verify(await passwords.hash('again'), 'again'), true);
});

test('the event loop is not blocked while passwords are hashed', async () => {
  const passwords = new Passwords();
  const one = await processorMs(() => passwords.hash('correct horse'));
  const { longestMs } = await longestTurnOf(() =>
    Promise.all(Array.from({ length: 8 }, () => passwords.hash('correct horse'))),
  );
  assert.ok(longestMs < one, `a turn took ${longestMs} ms, a hash ${one} ms`);
});

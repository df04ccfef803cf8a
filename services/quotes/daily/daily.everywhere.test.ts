import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '@octavo/core';
import { Registry } from 'prom-client';
import { quotes } from '../service.ts';
import { startMs, startQuotes, type TestQuotes } from '../testing.ts';

const dayMs = 86_400_000;
const path = '/api/quotes/today/';

test('each day has one quote, and none comes twice before all were there', async () => {
  await using app = await startQuotes();
  const empty = await app.call('GET', path);
  assert.deepEqual([empty.status, empty.json], [404, { detail: 'Not found.' }]);
  assert.match((await (await app.browser()).open('/')).html, /No quotes yet/);

  const ids: number[] = [];
  for (let number = 0; number < 7; number++) ids.push(await app.add());
  const rounds: number[][] = [];
  for (let round = 0; round < 3; round++) rounds.push(await days(app, 7));
  for (const round of rounds) assert.deepEqual(round.toSorted(byNumber), ids);
  assert.ok(
    rounds.some((round) => round.join() !== rounds[0]?.join()),
    'rounds have orders of their own',
  );

  const twice = await Promise.all(Array.from({ length: 10 }, () => today(app)));
  assert.equal(new Set(twice).size, 1);
  // A quote that is added during the round comes before any comes again.
  const late = await app.add({}, (await app.signIn('alice')).access);
  const [first, ...others] = await days(app, 8);
  assert.equal(first, twice[0]);
  assert.ok(others.includes(late));
  assert.equal(new Set(others).size, 7);
});

test('the choice is kept until midnight in UTC, and replaced when it is deleted', async () => {
  await using app = await startQuotes();
  for (let number = 0; number < 3; number++) await app.add();
  const chosen = await today(app);
  const { headers } = await app.call('GET', path);
  assert.equal(headers.get('cache-control'), `public, max-age=${12 * 3_600}`);
  await app.add();
  assert.equal(await today(app), chosen);
  const context = { ...app.context, metrics: new Registry() };
  const replica = await quotes.start(readConfig(quotes.settings, app.environment), context, {});
  assert.equal(((await (await fetch(`${replica.url}${path}`)).json()) as { id: number }).id, chosen);
  await replica[Symbol.asyncDispose]();
  app.clock.set(startMs + dayMs / 2 - 1);
  assert.equal(await today(app), chosen);
  await app.call('DELETE', `/api/quotes/${chosen}/`, { token: (await app.signIn('alice')).access });
  const next = await today(app);
  assert.notEqual(next, chosen);
  assert.equal(await today(app), next);
  app.clock.advance(1);
  assert.notEqual(await today(app), next);
});

test('strangers may keep the page of the day, and no cookie comes with it', async () => {
  await using app = await startQuotes();
  await app.add({ text: 'Of the day.' });
  const stranger = await (await app.browser()).open('/');
  assert.equal(stranger.headers.get('cache-control'), `public, max-age=${12 * 3_600}`);
  assert.match(stranger.headers.get('vary') ?? '', /Cookie/);
  assert.deepEqual(stranger.headers.getSetCookie(), []);
  const reader = await (await app.browser('alice')).open('/');
  assert.equal(reader.headers.get('cache-control'), 'no-store');
});

async function today(app: TestQuotes): Promise<number> {
  return (await app.call('GET', path)).json.id;
}

/** The quotes of this day and those after it. Leaves the clock on the day after them. */
async function days(app: TestQuotes, count: number): Promise<number[]> {
  const found: number[] = [];
  for (let day = 0; day < count; day++) {
    found.push(await today(app));
    app.clock.advance(dayMs);
  }
  return found;
}

function byNumber(a: number, b: number): number {
  return a - b;
}

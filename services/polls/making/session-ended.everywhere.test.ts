import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { startPolls } from '../testing.ts';
import { formOf, rules, signIn, texts } from './testing.ts';

const polls = await startPolls();
after(() => polls[Symbol.asyncDispose]());

const signedIn = (username: string) => signIn(polls, username);

test('a new poll is kept if the session has ended, or began in another tab', async () => {
  polls.clock.advance(3_600_000);
  const bob = await signedIn('bob');
  const form = formOf(await bob.open('/polls/new/'));
  const send = (client: PageClient) => client.send('/polls/new/', { form, ...texts, ...rules });
  bob.cookies.clear();
  const ended = await send(bob);
  assert.deepEqual([ended.status, /session has ended[\s\S]*value="Here"/.test(ended.html)], [401, true]);
  const again = await signedIn('bob');
  const other = await again.send('/polls/new/', { form, ...texts, ...rules, _csrf: 'of-another-session' });
  assert.deepEqual([other.status, /send it again[\s\S]*value="Here"/.test(other.html)], [403, true]);
  await again.open('/polls/new/');
  assert.equal((await send(again)).status, 303);
});

test('changed texts of a poll are kept if the session has ended, or began in another tab', async () => {
  polls.clock.advance(3_600_000);
  const bob = await signedIn('bob');
  const form = formOf(await bob.open('/polls/new/'));
  const made = await bob.send('/polls/new/', { form, ...texts, ...rules });
  const path = `/polls/mine/${/\d+/.exec(made.location)?.[0]}/`;
  const shown = (html: string) => /name="choices" value="([^"]*)"/.exec(html)?.[1] ?? '';
  const { html } = await bob.open(path);
  const change = { deed: 'texts', question_text: 'Typed for long', choices: shown(html), choice_1: 'Kept' };
  const isKept = ({ html: again }: { html: string }) =>
    /value="Typed for long"[\s\S]*value="Kept"/.test(again) && shown(again) === change.choices;
  bob.cookies.clear();
  const elsewhere = new PageClient(polls.url);
  await elsewhere.open('/admin/login/');
  for (const stranger of [elsewhere, bob]) {
    const ended = await stranger.send(path, change);
    assert.equal(ended.status, 401);
    assert.match(ended.html, /Your session has ended[\s\S]*next=%2Fpolls%2Fmine%2F/);
    assert.ok(isKept(ended), ended.html);
  }
  const again = await signedIn('bob');
  const other = await again.send(path, { ...change, _csrf: 'of-another-session' });
  assert.deepEqual([other.status, isKept(other)], [403, true], other.html);
  assert.equal((await again.send(path, change)).status, 303);
  const forged = await again.send(path, { ...change, _csrf: 'x' }, { 'sec-fetch-site': 'same-site' });
  assert.deepEqual([forged.status, isKept(forged)], [403, false]);
  const alice = await signedIn('alice');
  const foreign = await alice.send(path, { ...change, _csrf: 'x' });
  assert.ok([403, 404].includes(foreign.status));
  assert.doesNotMatch(foreign.html, /Here/);
  assert.match((await elsewhere.send(path, { deed: 'close' })).location, /^\/admin\/login\/\?next=/);
});

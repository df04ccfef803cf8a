import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { PageClient, type PageResponse, testFolder, testMode } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { startPolls } from '../testing.ts';
import { formOf, rules, signIn, texts } from './testing.ts';

const provider = await TestProvider.start();
provider.people.set('ann', { sub: 'ann', preferred_username: 'ann' });
const settings = { POLLS_OPEN: '1', POLLS_LIMIT_MADE: '12', POLLS_LIMIT_MADE_ADDRESS: '12' };
const polls = await startPolls({ environment: { ...provider.settingsFor('polls'), ...settings } });
provider.addClient('polls', polls.url);
after(async () => {
  await polls[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

/** Moves the clock, so that each test has limits of its own. */
function later(): void {
  polls.clock.advance(3_600_000);
}

const signedIn = (username: string) => signIn(polls, username);

async function makeBy(client: PageClient, fields: object = {}): Promise<PageResponse> {
  const form = formOf(await client.open('/polls/new/'));
  return client.send('/polls/new/', { form, ...texts, ...rules, ...fields });
}

/** The poll, and for strangers the path to manage it. */
async function made(client: PageClient, fields: object = {}): Promise<{ id: number; manage: string }> {
  const answer = await makeBy(client, fields);
  assert.equal(answer.status, 303, /<ul><li><a href="#.*/.exec(answer.html)?.[0] ?? answer.html);
  const { html } = await client.open(answer.location);
  const manage = /<a href="[^"]*(\/polls\/manage\/[\w-]{43}\/)"/.exec(html)?.[1] ?? '';
  return { id: Number(/\d+/.exec(answer.location)?.[0]), manage };
}

async function voteFor(id: number): Promise<number> {
  const choices = (await polls.call('GET', `/api/choices/?question=${id}`)).json;
  const [choice] = choices;
  return (await polls.call('POST', `/api/questions/${id}/vote/`, { body: { choice: choice?.id ?? 1 } }))
    .status;
}

const shows = async (id: number) => (await new PageClient(polls.url).open(`/polls/${id}/`)).status;
const list = async () => (await new PageClient(polls.url).open('/polls/')).html;

describe('an account', () => {
  test('makes a poll, which is only found by its link unless it is listed', async () => {
    const bob = await signedIn('bob');
    const { id, manage } = await made(bob, { question_text: 'Lunch <i>or</i> https://spam.example?' });
    assert.equal(manage, '');
    const { status, html, headers } = await bob.open(`/polls/${id}/`);
    assert.deepEqual([status, headers.get('x-robots-tag')], [200, 'noindex']);
    assert.match(html, /Lunch &lt;i&gt;or&lt;\/i&gt; https:\/\/spam\.example\?/);
    assert.doesNotMatch(html, /href="https:\/\/spam/);
    assert.match(html, /Here<[\s\S]*There</);
    assert.doesNotMatch(await list(), /Lunch/);
    const { html: managed } = await bob.open(`/polls/mine/${id}/`);
    for (const way of ['Copy link', 'QR code', 'Embed on a website', 'Show on a big screen'])
      assert.ok(managed.includes(way), way);
    assert.match((await bob.open('/polls/')).html, /href="\/polls\/mine\/"/);
    assert.doesNotMatch(await list(), /href="\/polls\/mine\/"|\/admin\//, 'strangers would have to sign in');
    const published = await polls.call('GET', '/api/questions/');
    assert.equal(published.headers.get('x-total-count'), String(published.json.length));
    assert.ok(!published.json.some((question: { id: number }) => question.id === id));
    assert.equal((await polls.call('GET', `/api/questions/${id}/`)).json.visibility, 'link');
    const open = await polls.call('GET', '/api/choices/');
    assert.ok(!open.json.some(({ question }: { question: number }) => question === id));
    assert.equal((await polls.call('GET', `/api/choices/?question=${id}`)).json.length, 2);
    await bob.open(`/polls/mine/${id}/`);
    assert.equal((await bob.send(`/polls/mine/${id}/`, { deed: 'list' })).status, 303);
    assert.match(await list(), /Lunch/);
    assert.equal((await bob.open(`/polls/${id}/`)).headers.get('x-robots-tag'), null);
    assert.match((await bob.open('/polls/mine/')).html, /Lunch/);
  });

  test('of the OpenID provider makes polls too, without a right in the admin', async () => {
    provider.person = 'ann';
    polls.clock.advance(11_000);
    const walker = new Walker(new PageClient(polls.url));
    assert.equal((await walker.signIn('/polls/new/')).location, '/polls/new/');
    const { id } = await made(walker.client, { visibility: 'listed' });
    assert.match(await list(), new RegExp(`/polls/${id}/`));
    assert.equal((await walker.client.open('/admin/polls/question/')).status, 302);
    assert.match((await walker.client.open('/polls/mine/')).html, new RegExp(`/polls/mine/${id}/`));
  });

  test('keeps what was typed when a field is wrong, and adds lines without scripts', async () => {
    const bob = await signedIn('bob');
    const more = await makeBy(bob, { more: '1', choice_4: 'Elsewhere' });
    assert.deepEqual([more.status, [...more.html.matchAll(/name="choice_\d+"/g)].length], [200, 8]);
    assert.match(more.html, /value="Elsewhere"/);
    const wrong: readonly [object, RegExp][] = [
      [{ question_text: ' ' }, /field-question_text-error[\s\S]*may not be blank/],
      [{ question_text: 'x'.repeat(201) }, /no more than 200 characters/],
      [{ choice_1: '', choice_2: '' }, /at least 2 choices/],
      [{ choice_2: 'Here' }, /must differ/],
      [{ choice_2: 'x'.repeat(201) }, /field-choice_2-error[\s\S]*no more than 200 characters/],
      [{ choice_2: 'a\0b' }, /Null characters/],
      [{ max_choices: '4' }, /has fewer choices/],
      [{ max_choices: 'abc' }, /valid integer/],
      [{ results: 'never' }, /not a valid choice/],
      [{ closes_at: '2026-02-01T00:00' }, /must not close before/],
      [{ closes_at: 'soon' }, /wrong format/],
    ];
    for (const [fields, sentence] of wrong) {
      const { status, html } = await makeBy(bob, { choice_3: 'Kept & typed', ...fields });
      assert.equal(status, 400, JSON.stringify(fields));
      assert.match(html, sentence);
      assert.match(html, /value="Kept &amp; typed"/);
    }
    const twenty = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`choice_${n + 1}`, `C${n + 1}`]));
    const { id } = await made(bob, { ...twenty, max_choices: '20', closes_at: '2099-01-01T10:00' });
    assert.equal((await polls.call('GET', `/api/choices/?question=${id}`)).json.length, 20);
    const { json } = await polls.call('GET', `/api/questions/${id}/`);
    assert.deepEqual([json.max_choices, json.closes_at], [20, '2099-01-01T10:00:00Z']);
  });

  test('changes texts until the first vote, closes, hides and deletes it', async () => {
    later();
    const bob = await signedIn('bob');
    const { id } = await made(bob);
    const path = `/polls/mine/${id}/`;
    await bob.open(path);
    const wrong = await bob.send(path, {
      deed: 'texts',
      question_text: 'New text',
      choice_1: '',
      choice_2: 'B',
    });
    assert.deepEqual([wrong.status, /value="New text"/.test(wrong.html)], [400, true]);
    await bob.send(path, { deed: 'texts', question_text: 'New text', choice_1: 'A', choice_2: 'B' });
    assert.match((await bob.open(`/polls/${id}/`)).html, /New text[\s\S]*A<[\s\S]*B</);
    assert.equal(await voteFor(id), 200);
    const late = await bob.send(path, { deed: 'texts', question_text: 'Late', choice_1: 'B', choice_2: 'A' });
    assert.deepEqual([late.status, /can no longer change/.test(late.html)], [409, true]);
    assert.doesNotMatch((await bob.open(`/polls/${id}/`)).html, /Late/);
    await bob.send(path, { deed: 'hide' });
    assert.deepEqual([await shows(id), await voteFor(id)], [404, 404]);
    for (const below of [
      'results/',
      'results.csv',
      'results/stream',
      'screen/',
      'embed/',
      'qr.svg',
      'card.png',
    ])
      assert.equal((await bob.open(`/polls/${id}/${below}`)).status, 404, below);
    assert.equal((await polls.call('GET', `/api/questions/${id}/`)).status, 404);
    const all = await polls.call('GET', '/api/questions/', { authorization: `Token ${polls.token}` });
    assert.ok(all.json.some((question: { id: number }) => question.id === id));
    await bob.send(path, { deed: 'show' });
    await bob.send(path, { deed: 'close' });
    assert.deepEqual([await shows(id), await voteFor(id)], [200, 403]);
    assert.equal((await bob.send(path, { deed: 'sell' })).status, 400);
    const history = await (await signedIn('alice')).open(`/admin/polls/question/${id}/history/`);
    assert.match(history.html, /bob/);
    assert.match((await bob.open(`${path}delete/`)).html, /2 choices and 1 vote/);
    assert.equal((await bob.send(`${path}delete/`, {})).location, '/polls/mine/');
    assert.deepEqual([await shows(id), (await bob.open(path)).status], [404, 404]);
  });

  test('adds and removes choices until the first vote, with the history of each', async () => {
    later();
    const bob = await signedIn('bob');
    const { id } = await made(bob, { choice_3: 'Anywhere' });
    const path = `/polls/mine/${id}/`;
    const choices = async () =>
      (await polls.call('GET', `/api/choices/?question=${id}`)).json.map(
        ({ choice_text }: { choice_text: string }) => choice_text,
      );
    const { html } = await bob.open(path);
    const shown = /name="choices" value="([\d-]+)"/.exec(html)?.[1] ?? '';
    const more = await bob.send(path, { deed: 'more', question_text: 'Q', choice_1: 'Typed', choice_3: 'C' });
    assert.deepEqual([more.status, /value="Typed"[\s\S]*name="choice_7"/.test(more.html)], [200, true]);
    const change = { deed: 'texts', question_text: 'Q', choices: shown };
    const changed = await bob.send(path, {
      ...change,
      choice_2: '',
      choice_3: 'Third',
      choice_4: 'Fourth',
      choice_6: 'Sixth',
    });
    assert.equal(changed.status, 303, changed.html);
    assert.deepEqual(await choices(), ['Here', 'Third', 'Fourth', 'Sixth']);
    const stale = await bob.send(path, { ...change, choice_1: 'Stale' });
    assert.deepEqual([stale.status, /Someone changed the choices/.test(stale.html)], [409, true]);
    const few = { choice_1: '', choice_2: '', choice_3: '', choice_4: 'Alone' };
    const refused = await bob.send(path, { ...change, choices: '', ...few });
    assert.deepEqual([refused.status, /at least 2 choices/.test(refused.html)], [400, true]);
    assert.deepEqual(await choices(), ['Here', 'Third', 'Fourth', 'Sixth']);
    const history = await (await signedIn('alice')).open(`/admin/polls/question/${id}/history/`);
    assert.match(history.html, /Fourth/);
    assert.equal(await voteFor(id), 200);
    assert.equal((await bob.send(path, { ...change, choices: '', choice_5: 'Fifth' })).status, 409);
  });

  test('is led to the admin only as staff, and voters never', async () => {
    const linkOf = async (client: PageClient, path: string) =>
      /href="\/admin\/"/.test((await client.open(path)).html);
    const [alice, bob] = [await signedIn('alice'), await signedIn('bob')];
    assert.deepEqual([await linkOf(alice, '/polls/mine/'), await linkOf(alice, '/polls/')], [true, false]);
    assert.equal(await linkOf(new PageClient(polls.url), '/polls/'), false);
    assert.equal(await linkOf(bob, '/polls/mine/'), (await bob.open('/admin/')).status === 200);
  });

  test('lists many polls page by page', async () => {
    const bob = await signedIn('bob');
    await using database = await polls.openDatabase();
    const rows = Array.from({ length: 30 }, (_, number) => ({
      question_text: `Row ${number}`,
      pub_date: '2026-01-01T00:00:00.000000Z',
    }));
    const bobs = database.kysely.selectFrom('auth_user').select('id').where('username', '=', 'bob');
    const { id: owner } = await bobs.executeTakeFirstOrThrow();
    await database.write(({ kysely }) =>
      kysely
        .insertInto('question')
        .values(rows.map((row) => ({ ...row, owner })))
        .execute(),
    );
    const [first, second] = [await bob.open('/polls/mine/'), await bob.open('/polls/mine/?page=2')];
    assert.match(first.html, /Row 29<[\s\S]*Row 10<[\s\S]*href="\/polls\/mine\/\?page=2"/);
    assert.doesNotMatch(first.html, /Row 9</);
    assert.match(second.html, /Row 9</);
  });

  test('finds no polls of others', async () => {
    const [bob, alice] = [await signedIn('bob'), await signedIn('alice')];
    const { id } = await made(bob);
    const stranger = new PageClient(polls.url);
    await stranger.open('/polls/new/');
    await alice.open('/polls/new/');
    for (const path of [`/polls/mine/${id}/`, `/polls/mine/${id}/delete/`]) {
      assert.equal((await alice.open(path)).status, 404, path);
      assert.equal((await alice.send(path, { deed: 'hide' })).status, 404, path);
      assert.match((await stranger.send(path, { deed: 'hide' })).location, /^\/admin\/login\/\?next=/);
    }
    for (const path of ['/polls/mine/abc/', '/polls/mine/99999999999/', '/polls/mine/999999/'])
      assert.equal((await bob.open(path)).status, 404, path);
    assert.equal((await stranger.open('/polls/mine/')).location, '/admin/login/?next=%2Fpolls%2Fmine%2F');
    const forged = await bob.send(`/polls/mine/${id}/`, { deed: 'hide', _csrf: 'x' });
    assert.deepEqual([forged.status, await shows(id)], [403, 200]);
  });
});

describe('a stranger', () => {
  test('gets a link to manage the poll, which is shown once', async () => {
    later();
    const stranger = new PageClient(polls.url);
    const { id, manage } = await made(stranger, { visibility: 'listed' });
    assert.match(manage, /^\/polls\/manage\//);
    assert.doesNotMatch((await stranger.open(`/polls/${id}/`)).html, /polls\/manage/);
    assert.equal((await polls.call('GET', `/api/questions/${id}/`)).json.visibility, 'link');
    await using database = await polls.openDatabase();
    const row = await database.kysely
      .selectFrom('question')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    assert.equal(row?.owner, null);
    assert.match(row?.manage_hash ?? '', /^[\w-]{43}$/);
    assert.ok(!manage.includes(row?.manage_hash ?? ''));

    const elsewhere = new PageClient(polls.url);
    const page = await elsewhere.open(manage);
    assert.deepEqual([page.status, page.headers.get('x-robots-tag')], [200, 'noindex']);
    assert.equal((await elsewhere.send(manage, { deed: 'list' })).status, 400);
    assert.equal((await elsewhere.send(manage, { deed: 'hide' })).status, 303);
    assert.equal(await shows(id), 404);
    for (const wrong of [
      manage.replace(/.{2}\/$/, 'zz/'),
      `/polls/manage/${row?.manage_hash}/`,
      '/polls/manage/x/',
    ]) {
      assert.equal((await elsewhere.open(wrong)).status, 404, wrong);
      assert.equal((await elsewhere.send(`${wrong}delete/`, {})).status, 404, wrong);
    }
    await elsewhere.open(`${manage}delete/`);
    assert.equal((await elsewhere.send(`${manage}delete/`, {})).location, '/polls/');
    assert.equal((await elsewhere.open(manage)).status, 404);
  });

  test('who sends the form twice makes one poll and gets one link', async () => {
    const stranger = new PageClient(polls.url);
    const form = formOf(await stranger.open('/polls/new/'));
    const send = () => stranger.send('/polls/new/', { form, ...texts, ...rules });
    const answers = await Promise.all([send(), send(), send(), send()]);
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [303]);
    assert.equal(new Set(answers.map(({ location }) => location)).size, 1);
    const changed = await stranger.send('/polls/new/', { form, ...texts, ...rules, choice_3: 'Third' });
    assert.notEqual(changed.location, answers[0]?.location);
    const other = new PageClient(polls.url);
    await other.open('/polls/new/');
    const same = await other.send('/polls/new/', { form, ...texts, ...rules });
    assert.ok(![changed.location, answers[0]?.location].includes(same.location));
  });

  test('makes a limited number of polls in an hour, and keeps what was typed beyond it', async () => {
    later();
    const stranger = new PageClient(polls.url);
    for (let number = 1; number <= 12; number++) await made(stranger, { choice_3: `No. ${number}` });
    const form = formOf(await stranger.open('/polls/new/'));
    const { status, headers, html } = await stranger.send('/polls/new/', { form, ...texts, ...rules });
    assert.deepEqual([status, Number(headers.get('retry-after')) > 0], [429, true]);
    assert.match(html, /value="Here"/);
    assert.equal((await makeBy(await signedIn('bob'))).status, 303);
    later();
    assert.equal((await makeBy(stranger)).status, 303);
  });

  test('makes as many at two processes together', async () => {
    const { databaseUrl: DATABASE_URL } = await testMode();
    const [folder, environment] = [
      testFolder('polls'),
      { ...settings, POLLS_LIMIT_MADE_ADDRESS: '3', DATABASE_URL },
    ];
    await using one = await startPolls({ environment, folder });
    await using other = await startPolls({ environment, folder });
    const statuses: number[] = [];
    for (const { url } of [one, other, one, other, one])
      statuses.push((await makeBy(new PageClient(url))).status);
    assert.deepEqual(statuses, [303, 303, 303, 429, 429]);
  });

  test('may not without POLLS_OPEN', async () => {
    await using closed = await startPolls();
    const stranger = new PageClient(closed.url);
    const path = '/admin/login/?next=%2Fpolls%2Fnew%2F';
    assert.equal((await stranger.open('/polls/new/')).location, path);
    await stranger.open('/admin/login/');
    const refused = await stranger.send('/polls/new/', { ...texts, ...rules });
    assert.deepEqual([refused.status, refused.html.includes(`href="${path}"`)], [401, true]);
  });
});

test('a poll that is deleted while others vote leaves nothing behind', async () => {
  later();
  const bob = await signedIn('bob');
  const { id } = await made(bob);
  const choices = (await polls.call('GET', `/api/choices/?question=${id}`)).json;
  const vote = () => polls.call('POST', `/api/questions/${id}/vote/`, { body: { choice: choices[0].id } });
  await bob.open(`/polls/mine/${id}/delete/`);
  const votes = Array.from({ length: 40 }, vote);
  const removed = await bob.send(`/polls/mine/${id}/delete/`, {});
  const statuses = new Set((await Promise.all(votes)).map(({ status }) => status));
  assert.equal(removed.status, 303);
  assert.deepEqual(
    [...statuses].filter((status) => ![200, 404].includes(status)),
    [],
  );
  await using database = await polls.openDatabase();
  const left = database.kysely.selectFrom('choice').select('id').where('question', '=', id);
  assert.deepEqual(await left.execute(), []);
  const orphans = database.kysely.selectFrom('vote').select('id').where('choice', '=', choices[0].id);
  assert.deepEqual(await orphans.execute(), []);
});

test('texts that change while others vote are either the old ones for all votes, or the new ones', async () => {
  const bob = await signedIn('bob');
  const { id } = await made(bob);
  const path = `/polls/mine/${id}/`;
  await bob.open(path);
  const [change, ...votes] = await Promise.all([
    bob.send(path, { deed: 'texts', question_text: 'Changed', choice_1: 'A', choice_2: 'B' }),
    ...Array.from({ length: 20 }, () => voteFor(id)),
  ]);
  assert.deepEqual([...new Set(votes)], [200]);
  assert.ok([303, 409].includes(change.status));
  const { html } = await bob.open(`/polls/${id}/`);
  assert.equal(/Changed/.test(html), change.status === 303);
  assert.equal(
    (await bob.send(path, { deed: 'texts', question_text: 'C', choice_1: 'A', choice_2: 'B' })).status,
    409,
  );
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fetchPng, PageClient } from '@octavo/testing';
import { startPolls, type TestPolls } from './testing.ts';

let polls: TestPolls;
before(async () => {
  polls = await startPolls();
});
after(() => polls[Symbol.asyncDispose]());

const visitor = () => new PageClient(polls.url);
const closes_at = '2026-02-20T00:00:00Z';

async function votesOf(id: number): Promise<number[]> {
  const options = { authorization: `Token ${polls.token}` };
  const { json } = await polls.call('GET', `/api/choices/?question=${id}`, options);
  return json.map(({ votes }: { votes: number }) => votes);
}

describe('the list', () => {
  test('is at /polls/, where the home page and the address without a slash lead', async () => {
    const client = visitor();
    const home = await client.open('/');
    assert.deepEqual([home.status, home.headers.get('location')], [302, '/polls/']);
    const bare = await client.open('/polls?page=2');
    assert.deepEqual([bare.status, bare.headers.get('location')], [301, '/polls/?page=2']);
    assert.match((await client.open('/polls/')).html, /No polls yet/);
  });

  test('shows what is published, newest first, twenty a page', async () => {
    for (let day = 1; day <= 21; day++) {
      const pub_date = `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`;
      await polls.createPoll(['A <b>'], { question_text: `Question <${day}>`, pub_date });
    }
    await polls.createPoll(['A'], { question_text: 'Not yet', pub_date: '2026-03-01T12:00:00.000001Z' });
    const { html } = await visitor().open('/polls/');
    const shown = [...html.matchAll(/Question &lt;(\d+)&gt;/g)].map(([, day]) => Number(day));
    assert.deepEqual(
      shown,
      Array.from({ length: 20 }, (_, index) => 21 - index),
    );
    assert.match(html, /A &lt;b&gt;/);
    assert.doesNotMatch(html, /Not yet/);
    for (const page of ['2', '99', '9'.repeat(30)]) {
      assert.match(
        (await visitor().open(`/polls/?page=${page}`)).html,
        /Question &lt;1&gt;[\s\S]*21–21 of 21/,
      );
    }
    assert.match((await visitor().open('/polls/?page=abc')).html, /Question &lt;21&gt;/);
  });
});

describe('a poll', () => {
  test('is voted on without scripts, and says whether it was right', async () => {
    const { id, choices } = await polls.createPoll(['Right', 'Wrong', 'Other']);
    const client = visitor();
    assert.match((await client.open(`/polls/${id}/`)).html, /<input type="radio"/);
    const voted = await client.send(`/polls/${id}/vote/`, { choice: String(choices[1]) });
    assert.deepEqual([voted.status, voted.headers.get('location')], [302, `/polls/${id}/results/`]);
    for (let reloads = 0; reloads < 2; reloads++) {
      const { status, html } = await client.open(`/polls/${id}/results/`);
      assert.equal(status, 200);
      assert.match(html, /Your answer is not correct[\s\S]*Wrong[\s\S]*Right/);
      assert.match(html, /100\.0%/);
    }
    assert.deepEqual(await votesOf(id), [0, 1, 0]);
    await client.send(`/polls/${id}/vote/`, { choice: String(choices[0]) });
    assert.match((await client.open(`/polls/${id}/results/`)).html, /Your answer is correct/);
    assert.match((await client.open(`/polls/${id}/`)).html, /You have voted/);
  });

  test('shows strangers the counts, but not which answer is correct', async () => {
    const { id, choices } = await polls.createPoll(['Right', 'Wrong', 'Other']);
    for (const choice of choices) {
      const client = visitor();
      await client.open(`/polls/${id}/`);
      await client.send(`/polls/${id}/vote/`, { choice: String(choice) });
    }
    const { html } = await visitor().open(`/polls/${id}/results/`);
    assert.deepEqual(
      [...html.matchAll(/data-share-percent>([\d.]+)%/g)].map(([, percent]) => percent),
      [...['33.4', '33.3', '33.3']],
    );
    assert.doesNotMatch(html, /correct/);
  });

  test('without a choice of its own shows the form again, and counts nothing', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B']);
    const other = await polls.createPoll(['C']);
    const client = visitor();
    await client.open(`/polls/${id}/`);
    for (const fields of [
      {},
      { choice: '' },
      { choice: 'abc' },
      { choice: String(other.choices[0]) },
      { choice: '9'.repeat(30) },
    ]) {
      const { status, html } = await client.send(`/polls/${id}/vote/`, fields as Record<string, string>);
      assert.equal(status, 200);
      assert.match(html, /You didn&#39;t select a choice\.[\s\S]*<input type="radio"/);
    }
    assert.deepEqual(await votesOf(id), [0, 0]);
    assert.equal(choices.length, 2);
  });

  test('is not there before its publication, and no more when it is deleted', async () => {
    const future = await polls.createPoll(['A'], { pub_date: '2026-04-01T00:00:00Z' });
    for (const id of [future.id, 999_999, 'abc', '99999999999999999999', '-1']) {
      for (const path of [
        `/polls/${id}/`,
        `/polls/${id}/results/`,
        `/polls/${id}/results/stream`,
        `/polls/${id}/card.png`,
      ]) {
        assert.equal((await visitor().open(path)).status, 404, path);
      }
      const voted = await visitor().send(`/polls/${id}/vote/`, { choice: String(future.choices[0]) });
      assert.equal(voted.status, 404);
      assert.match(voted.html, /<nav aria-label="Main">.*Page not found/s);
    }
    assert.deepEqual(await votesOf(future.id), [0]);
  });

  test('takes votes by POST only, with or without the slash', async () => {
    const { id, choices } = await polls.createPoll(['A']);
    const { status, headers } = await visitor().open(`/polls/${id}/vote/`);
    assert.deepEqual([status, headers.get('allow')], [405, 'POST, OPTIONS']);
    assert.equal((await visitor().send(`/polls/${id}/vote`, { choice: String(choices[0]) })).status, 302);
    const elsewhere = { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' };
    const foreign = await visitor().send(`/polls/${id}/vote/`, { choice: String(choices[0]) }, elsewhere);
    assert.equal(foreign.status, 403);
    assert.deepEqual(await votesOf(id), [1]);
  });

  test('that is closed says so, and shows everybody the answer', async () => {
    const { id, choices } = await polls.createPoll(['Right', 'Wrong'], { closes_at, results: 'after_close' });
    const client = visitor();
    assert.match((await client.open(`/polls/${id}/`)).html, /This poll is closed\./);
    const voted = await client.send(`/polls/${id}/vote/`, { choice: String(choices[0]) });
    assert.equal(voted.status, 200);
    assert.match(voted.html, /This poll is closed\.[\s\S]*Right/);
    assert.match((await client.open(`/polls/${id}/results/`)).html, /The correct answer is <b>Right<\/b>/);
    assert.deepEqual(await votesOf(id), [0, 0]);
  });

  test('that takes one vote per session refuses the second', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B'], { duplicates: 'session' });
    const client = visitor();
    await client.open(`/polls/${id}/`);
    const ballot = { choice: String(choices[0]) };
    const both = await Promise.all([1, 2].map(() => client.send(`/polls/${id}/vote/`, ballot)));
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 302]);
    const again = await client.send(`/polls/${id}/vote/`, { choice: String(choices[1]) });
    assert.equal(again.status, 200);
    assert.match(again.html, /You have already voted\./);
    assert.deepEqual(await votesOf(id), [1, 0]);
  });

  test('that hides its results leads to the vote', async () => {
    const hidden = await polls.createPoll(['A', 'B'], { results: 'after_vote' });
    const client = visitor();
    const before = await client.open(`/polls/${hidden.id}/results/`);
    assert.equal(before.status, 200);
    assert.match(before.html, /The results are hidden/);
    assert.ok(before.html.includes(`href="/polls/${hidden.id}/"`));
    assert.doesNotMatch(before.html, /data-share/);
    assert.equal((await client.open(`/polls/${hidden.id}/results/stream`)).status, 403);
    await client.send(`/polls/${hidden.id}/vote/`, { choice: String(hidden.choices[0]) });
    assert.match((await client.open(`/polls/${hidden.id}/results/`)).html, /data-share/);
    const row = new RegExp(`href="/polls/${hidden.id}/"[\\s\\S]*?</tr>`);
    assert.match(row.exec((await client.open('/polls/')).html)?.[0] ?? '', />hidden<\/td>/);
    const card = await fetchPng(`${polls.url}/polls/${hidden.id}/card.png`);
    assert.equal(card.picture.count(rows, isBar), 0, 'no results');
    await polls.call('PATCH', `/api/questions/${hidden.id}/`, { body: { results: 'always' } });
    assert.match(row.exec((await client.open('/polls/')).html)?.[0] ?? '', />1<\/td>/);
    const open = await fetchPng(`${polls.url}/polls/${hidden.id}/card.png`);
    assert.ok(open.picture.count(rows, isBar) > 20_000, 'one of two choices has all votes');
    assert.notEqual(open.headers.get('etag'), card.headers.get('etag'));
    const later = await polls.createPoll(['A'], {
      results: 'after_close',
      closes_at: '2027-01-01T00:00:00Z',
    });
    await client.send(`/polls/${later.id}/vote/`, { choice: String(later.choices[0]) });
    assert.match((await client.open(`/polls/${later.id}/results/`)).html, /Your vote was counted/);
  });

  test('that takes several answers has a box for each, and shows shares of the people who voted', async () => {
    const { id, choices } = await polls.createPoll(['Right', 'B', 'C', 'D'], { max_choices: 2 });
    const ids = choices.map(String);
    const client = visitor();
    const form = await client.open(`/polls/${id}/`);
    assert.match(form.html, /Choose up to 2\.[\s\S]*<input type="checkbox"/);
    assert.match(form.html, /Answers per vote<\/dt>\s*<dd>Up to 2/);
    const free = await polls.createPoll(['A', 'B'], { max_choices: 20 });
    assert.match((await visitor().open(`/polls/${free.id}/`)).html, /Choose one or more\./);
    const none = await client.send(`/polls/${id}/vote/`, {});
    assert.match(none.html, /You didn&#39;t select a choice\./);
    const many = await client.send(`/polls/${id}/vote/`, { choice: ids.slice(1) });
    assert.equal(many.status, 200);
    assert.match(many.html, /Choose at most 2 answers\./);
    assert.equal(many.html.match(/ checked/g)?.length, 3, 'what was picked is kept');
    assert.deepEqual(await votesOf(id), [0, 0, 0, 0]);
    const voted = await client.send(`/polls/${id}/vote/`, { choice: ids.slice(0, 2) });
    assert.equal(voted.status, 302);
    await visitor().send(`/polls/${id}/vote/`, { choice: ids[1] as string });
    const { html } = await client.open(`/polls/${id}/results/`);
    assert.match(html, /<span data-voters>2 voters<\/span>, several answers possible/);
    assert.match(html, /You picked <b>Right, B<\/b>\. The correct answer is <b>Right<\/b>/);
    assert.deepEqual(
      [...html.matchAll(/data-share-percent>([\d.]+)%/g)].map(([, percent]) => percent),
      ['50.0', '100.0', '0.0', '0.0'],
    );
    assert.equal(html.match(/your vote/g)?.length, 2);
    const again = await client.open(`/polls/${id}/`);
    assert.equal(again.html.match(/ checked/g)?.length, 2);
    const row = new RegExp(`href="/polls/${id}/"[\\s\\S]*?</tr>`);
    assert.match(row.exec((await client.open('/polls/')).html)?.[0] ?? '', />2<\/td>/);
    const screen = await visitor().open(`/polls/${id}/screen/`);
    assert.match(screen.html, /2 voters<\/span>, several answers possible/);
  });

  test('without choices says so', async () => {
    const { id } = await polls.createPoll([]);
    assert.match((await visitor().open(`/polls/${id}/`)).html, /No choices yet/);
    assert.equal((await visitor().open(`/polls/${id}/results/`)).status, 200);
  });
});

/** The rows of choices in the picture of a poll. */
const rows = { x: 80, y: 400, width: 1_040, height: 128 };
const isBar = (red: number, green: number, blue: number) => red === 0xc5 && green === 0xca && blue === 0xf2;

describe('for links that are shared', () => {
  test('a poll has a description, one address and a picture', async () => {
    const { id } = await polls.createPoll(['Tea & cake', 'Coffee'], {
      question_text: `Why <${'very '.repeat(35)}long>?`,
    });
    const { html } = await visitor().open(`/polls/${id}/?x=1`);
    assert.ok(html.includes(`<link rel="canonical" href="${polls.url}/polls/${id}/">`));
    assert.ok(html.includes('<meta name="description" content="Tea &amp; cake · Coffee">'));
    const [, address = ''] = /<meta property="og:image" content="([^"]+)">/.exec(html) ?? [];
    assert.equal(address, `${polls.url}/polls/${id}/card.png`);
    const { headers, picture } = await fetchPng(address);
    assert.equal(headers.get('content-type'), 'image/png');
    assert.equal(headers.get('cache-control'), 'public, max-age=300');
    assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin');
    assert.deepEqual([picture.width, picture.height], [1_200, 630]);
    assert.deepEqual(picture.at(600, 5), [0x44, 0x53, 0xd4]);
    const words = { x: 80, y: 136, width: 1_040, height: 240 };
    assert.ok(picture.count(words, (red) => red < 100) > 5_000, 'the question');
    assert.equal(
      picture.count({ x: 1_121, y: 20, width: 79, height: 600 }, (red) => red < 250),
      0,
    );
    const again = await fetch(address, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    assert.deepEqual([again.status, (await again.bytes()).length], [304, 0]);
    const head = await fetch(address, { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('etag')], [200, headers.get('etag')]);
  });

  test('the address is the public one if it is set', async () => {
    await using other = await startPolls({ environment: { POLLS_URL: 'https://polls.example/' } });
    assert.match((await other.call('GET', '/polls/')).text, /href="https:\/\/polls\.example\/polls\/"/);
  });
});

describe('live results', () => {
  test('come as events while votes are counted, at most four a second', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B']);
    const abort = new AbortController();
    const response = await fetch(`${polls.url}/polls/${id}/results/stream`, { signal: abort.signal });
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(response.headers.get('cache-control'), 'no-store, no-transform');
    const events = eventsOf(response);
    assert.deepEqual((await events.next()).value, {
      total: 0,
      choices: choices.map((choice) => ({ choice, votes: 0, percent: 0 })),
    });
    const startedMs = performance.now();
    for (let round = 1; round <= 3; round++) {
      await polls.call('POST', `/api/questions/${id}/vote/`, { body: { choice: choices[1] } });
      const { value } = await events.next();
      assert.deepEqual([value.total, value.choices[1].percent], [round, 100]);
    }
    assert.ok(performance.now() - startedMs > 400);
    abort.abort();
    await assert.rejects(events.next(), { name: 'AbortError' });
  });

  test('of several answers count people', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B'], { max_choices: 2 });
    const abort = new AbortController();
    const events = eventsOf(await fetch(`${polls.url}/polls/${id}/results/stream`, { signal: abort.signal }));
    await events.next();
    await polls.call('POST', `/api/questions/${id}/vote/`, { body: { choices } });
    assert.deepEqual((await events.next()).value, {
      total: 1,
      choices: choices.map((choice) => ({ choice, votes: 1, percent: 100 })),
    });
    abort.abort();
  });

  test('end when they become hidden, and only for those who may not see them', async () => {
    const hiding = [
      { results: 'after_close' },
      { results: 'after_vote' },
      { pub_date: '2027-01-01T00:00:00Z' },
    ];
    for (const change of hiding) {
      const { id, choices } = await polls.createPoll(['A', 'B']);
      const path = `/polls/${id}/results/stream`;
      const ballot = { body: { choice: choices[0] } };
      const { headers } = await polls.call('POST', `/api/questions/${id}/vote/`, ballot);
      const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? '';
      const stranger = eventsOf(await fetch(`${polls.url}${path}`));
      const abort = new AbortController();
      const { signal } = abort;
      const voter = eventsOf(await fetch(`${polls.url}${path}`, { headers: { cookie }, signal }));
      assert.equal((await stranger.next()).value.total, 1);
      assert.equal((await voter.next()).value.total, 1);
      assert.equal((await polls.call('PATCH', `/api/questions/${id}/`, { body: change })).status, 200);
      assert.deepEqual(await stranger.next(), { done: true, value: undefined });
      const isVisible = change.results === 'after_vote';
      assert.equal((await voter.next()).done, !isVisible);
      assert.equal((await fetch(`${polls.url}${path}`)).ok, false);
      abort.abort();
    }
  });

  test('end when the service stops', async () => {
    const other = await startPolls();
    const { id } = await other.createPoll(['A']);
    const events = eventsOf(await fetch(`${other.url}/polls/${id}/results/stream`));
    await events.next();
    await Promise.all([other[Symbol.asyncDispose](), assert.doesNotReject(events.next())]);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: a test inspects any event
async function* eventsOf(response: Response): AsyncGenerator<any> {
  let text = '';
  for await (const bytes of response.body as AsyncIterable<Uint8Array>) {
    text += Buffer.from(bytes).toString();
    const messages = text.split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) if (message.startsWith('data: ')) yield JSON.parse(message.slice(6));
  }
}

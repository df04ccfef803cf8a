import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { startPolls, type TestPolls } from '../testing.ts';

let polls: TestPolls;
before(async () => {
  polls = await startPolls();
});
after(() => polls[Symbol.asyncDispose]());

const visitor = () => new PageClient(polls.url);
const elsewhere = { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' };

describe('the box to share a poll', () => {
  test('has its link, a QR code of it, and a frame for other sites', async () => {
    const { id } = await polls.createPoll(['A', 'B'], { question_text: 'Tea "or" <b>coffee</b>?' });
    for (const path of [`/polls/${id}/`, `/polls/${id}/results/`]) {
      const { html } = await visitor().open(path);
      assert.ok(html.includes(`value="${polls.url}/polls/${id}/"`), path);
      assert.ok(html.includes(`src="/polls/${id}/qr.svg"`), path);
      // The text of the frame is escaped twice: once as HTML to copy, once inside the page.
      assert.ok(html.includes(`&lt;iframe src=&quot;${polls.url}/polls/${id}/embed/&quot;`), path);
      assert.ok(html.includes('Tea &amp;quot;or&amp;quot; &amp;lt;b&amp;gt;coffee'), path);
    }
    const code = await polls.call('GET', `/polls/${id}/qr.svg`);
    assert.equal(code.headers.get('content-type'), 'image/svg+xml; charset=utf-8');
    assert.match(code.text, /^<svg /);
  });

  test('has the public address if it is set', async () => {
    await using other = await startPolls({ environment: { POLLS_URL: 'https://polls.example/' } });
    const { id } = await other.createPoll(['A']);
    const { text } = await other.call('GET', `/polls/${id}/`);
    assert.ok(text.includes(`value="https://polls.example/polls/${id}/"`));
    const own = await polls.createPoll(['A']);
    const codes = await Promise.all([
      other.call('GET', `/polls/${id}/qr.svg`),
      polls.call('GET', `/polls/${own.id}/qr.svg`),
    ]);
    assert.notEqual(codes[0].text, codes[1].text);
  });
});

describe('the frame for other sites', () => {
  test('may be shown by any site, and no other page may', async () => {
    const { id } = await polls.createPoll(['A', 'B']);
    const framed = await visitor().open(`/polls/${id}/embed/`, { headers: { ...elsewhere } });
    assert.equal(framed.status, 200);
    assert.match(
      framed.headers.get('content-security-policy') ?? '',
      /form-action 'none'; frame-ancestors \*$/,
    );
    assert.equal(framed.headers.get('x-frame-options'), null);
    assert.deepEqual(framed.headers.getSetCookie(), []);
    assert.match(framed.html, /data-share=[\s\S]*target="_blank" rel="noopener">Vote on this poll/);
    assert.doesNotMatch(framed.html, /<form|<nav/);
    for (const path of ['', 'results/', 'screen/']) {
      const { headers } = await visitor().open(`/polls/${id}/${path}`);
      assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
      assert.equal(headers.get('x-frame-options'), 'DENY', path);
    }
  });

  test('shows why there is nothing to see inside the frame', async () => {
    const missing = await visitor().open('/polls/999999/embed/', { headers: { ...elsewhere } });
    assert.equal(missing.status, 404);
    assert.match(missing.headers.get('content-security-policy') ?? '', /frame-ancestors \*/);
    const { id } = await polls.createPoll(['A', 'B'], { results: 'after_vote' });
    const { html } = await visitor().open(`/polls/${id}/embed/`);
    assert.match(html, /<li>A<\/li>[\s\S]*The results are hidden\. Vote to see them\./);
    assert.doesNotMatch(html, /data-share|data-results/);
  });

  test('casts no vote: a vote from the page of another site is refused', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B']);
    const ballot = { choice: String(choices[0]) };
    assert.equal((await visitor().send(`/polls/${id}/vote/`, ballot, elsewhere)).status, 403);
  });
});

describe('the view for a big screen', () => {
  test('shows live counts and the address to vote at', async () => {
    const { id } = await polls.createPoll(['A', 'B']);
    const { html } = await visitor().open(`/polls/${id}/screen/`);
    assert.ok(html.includes(`data-results="/polls/${id}/results/stream"`));
    assert.ok(html.includes(`<b>${new URL(polls.url).host}/polls/${id}/</b>`));
    assert.match(html, /<b data-total>0<\/b>/);
  });

  test('does not show the audience which choice is correct, or which one the presenter took', async () => {
    const { id, choices } = await polls.createPoll(['Right', 'Wrong'], { results: 'after_vote' });
    const presenter = visitor();
    await presenter.open(`/polls/${id}/`);
    await presenter.send(`/polls/${id}/vote/`, { choice: String(choices[0]) });
    assert.match((await presenter.open(`/polls/${id}/results/`)).html, /badge good">correct/);
    const { html } = await presenter.open(`/polls/${id}/screen/`);
    assert.match(html, /1 vote/);
    assert.doesNotMatch(html, /correct|your vote/);
  });
});

describe('the results as CSV', () => {
  const csv = (client: PageClient, id: number) => client.open(`/polls/${id}/results.csv`);

  test('are those of the page', async () => {
    const { id, choices } = await polls.createPoll(['=1+1', 'Wrong, "really"']);
    await polls.call('POST', `/api/questions/${id}/vote/`, { body: { choice: choices[1] } });
    const { status, headers, html, hasMark } = await csv(visitor(), id);
    assert.deepEqual([status, hasMark], [200, true]);
    assert.match(headers.get('content-type') ?? '', /^text\/csv/);
    assert.equal(headers.get('content-disposition'), `attachment; filename="poll-${id}.csv"`);
    assert.deepEqual(html.split('\r\n'), [
      'question,question_text,choice,choice_text,votes,percent',
      `${id},Which one?,${choices[0]},'=1+1,0,0.0`,
      `${id},Which one?,${choices[1]},"Wrong, ""really""",1,100.0`,
      '',
    ]);
    assert.ok(
      (await visitor().open(`/polls/${id}/results/`)).html.includes(`href="/polls/${id}/results.csv"`),
    );
  });

  test('have the number of voters where several answers are possible', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B'], { max_choices: 2 });
    for (const picked of [choices, choices.slice(0, 1)])
      await polls.call('POST', `/api/questions/${id}/vote/`, { body: { choices: picked } });
    const { html } = await csv(visitor(), id);
    assert.deepEqual(html.split('\r\n'), [
      'question,question_text,choice,choice_text,votes,percent,voters',
      `${id},Which one?,${choices[0]},A,2,100.0,2`,
      `${id},Which one?,${choices[1]},B,1,50.0,2`,
      '',
    ]);
  });

  test('tell those who voted which choice is correct, and are hidden with the results', async () => {
    const { id, choices } = await polls.createPoll(['Right', 'Wrong'], { results: 'after_vote' });
    const client = visitor();
    assert.equal((await csv(client, id)).status, 403);
    assert.equal((await csv(client, 999_999)).status, 404);
    await client.open(`/polls/${id}/`);
    await client.send(`/polls/${id}/vote/`, { choice: String(choices[1]) });
    const { html } = await csv(client, id);
    assert.match(html, /is_correct,votes,percent\r\n.*Right,true,0,0\.0\r\n.*Wrong,false,1,100\.0\r\n$/);
  });
});

describe('the order of the choices', () => {
  const order = (html: string) => [...html.matchAll(/data-share-label>([^<]*)</g)].map(([, label]) => label);
  const leaders = (html: string) =>
    [...html.matchAll(/data-share-label>([^<]*)<(?:(?!<\/li>)[\s\S])*?data-leads>/g)].map(
      ([, label]) => label,
    );

  test('is that of the poll, or by votes on request and on a big screen, with those in the lead marked', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B', 'C']);
    const vote = (choice: number) =>
      polls.call('POST', `/api/questions/${id}/vote/`, { body: { choice: choices[choice] } });
    const open = async (path: string) => (await visitor().open(`/polls/${id}/${path}`)).html;
    assert.deepEqual(leaders(await open('screen/')), []);
    for (const choice of [1, 2, 2, 1]) await vote(choice);
    assert.deepEqual(order(await open('results/')), ['A', 'B', 'C']);
    assert.deepEqual(leaders(await open('results/')), []);
    assert.deepEqual(order(await open('results/?sort=votes')), ['B', 'C', 'A']);
    assert.deepEqual(leaders(await open('results/?sort=votes')), ['B', 'C']);
    await vote(2);
    const screen = await open('screen/');
    assert.deepEqual([order(screen), leaders(screen)], [['C', 'B', 'A'], ['C']]);
    assert.doesNotMatch(screen, /<table/);
    assert.deepEqual(order(await open('results/?sort=votes')), ['C', 'B', 'A']);
  });
});

describe('votes over time', () => {
  test('are in spans that begin with the first vote, and hidden as the results are', async () => {
    await using timed = await startPolls();
    const { clock } = timed;
    const { id, choices } = await timed.createPoll(['A', 'B']);
    const vote = (choice: number) =>
      timed.call('POST', `/api/questions/${id}/vote/`, { body: { choice: choices[choice] } });
    const columns = async (path = id) => {
      const { html } = await new PageClient(timed.url).open(`/polls/${path}/results/times/`);
      return [...html.matchAll(/<title>([^<]*): ([^<]*) votes?<\/title>/g)].map(
        ([, at, votes]) => `${at}: ${votes}`,
      );
    };
    assert.deepEqual(await columns(), []);
    clock.advance(10_000);
    await vote(0);
    await vote(1);
    clock.advance(120_000);
    await vote(0);
    clock.advance(10_000);
    assert.deepEqual(await columns(), ['Mar 1, 12:00: 2', 'Mar 1, 12:01: 0', 'Mar 1, 12:02: 1']);
    clock.advance(3 * 86_400_000);
    await vote(0);
    clock.advance(10_000);
    assert.deepEqual((await columns()).at(0), 'Mar 1, 12:00: 3');
    assert.deepEqual((await columns()).length, 13);

    const hidden = await timed.createPoll(['A'], { results: 'after_vote' });
    await timed.call('POST', `/api/questions/${hidden.id}/vote/`, { body: { choice: hidden.choices[0] } });
    const { html } = await new PageClient(timed.url).open(`/polls/${hidden.id}/results/times/`);
    assert.match(html, /The results are hidden/);
    assert.doesNotMatch(html, /class="plot"/);
  });
});

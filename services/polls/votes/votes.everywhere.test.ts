import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestResponse } from '@octavo/testing';
import { until } from '@octavo/testing';
import { whenBlocked } from '@octavo/testing/engines';
import { sql } from 'kysely';
import { startPolls, type TestPolls } from '../testing.ts';

let polls: TestPolls;
before(async () => {
  polls = await startPolls({ environment: { TRUST_PROXY: '1' } });
});
after(() => polls[Symbol.asyncDispose]());

const vote = (id: number, choice: unknown, headers: Record<string, string> = {}): Promise<TestResponse> =>
  polls.call('POST', `/api/questions/${id}/vote/`, { body: { choice }, authorization: undefined, headers });

const cookieOf = ({ headers }: TestResponse) => ({ cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '' });
const closed = { detail: 'This poll is closed.' };
const voted = { detail: 'You have already voted.' };

async function votesOf(id: number): Promise<number[]> {
  const options = { authorization: `Token ${polls.token}` };
  const { json } = await polls.call('GET', `/api/choices/?question=${id}`, options);
  return json.map(({ votes }: { votes: number }) => votes);
}

describe('a vote', () => {
  test('from a page of another site is refused, as on the page', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B']);
    const foreign = { detail: 'Votes from pages of other sites are not counted.' };
    const elsewhere: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://elsewhere.example' },
      { origin: 'null' },
    ];
    for (const headers of elsewhere) {
      const { status, json } = await vote(id, choices[0], headers);
      assert.deepEqual([status, json], [403, foreign], JSON.stringify(headers));
      const body = new URLSearchParams({ choice: String(choices[0]) });
      const options = { body, authorization: undefined, headers: headers };
      assert.equal((await polls.call('POST', `/polls/${id}/vote/`, options)).status, 403);
    }
    assert.deepEqual(await votesOf(id), [0, 0]);
    const here: Record<string, string>[] = [{ 'sec-fetch-site': 'same-origin' }, { origin: polls.url }, {}];
    for (const headers of here) assert.equal((await vote(id, choices[1], headers)).status, 200);
    assert.deepEqual(await votesOf(id), [0, 3]);
  });

  test('is counted and answered with the results', async () => {
    const { id, choices } = await polls.createPoll(['Right', 'Wrong', 'Other']);
    await vote(id, choices[1]);
    await vote(id, String(choices[2]));
    const { status, json } = await vote(id, choices[0]);
    assert.equal(status, 200);
    assert.deepEqual(json, {
      question: id,
      choice: choices[0],
      correct: true,
      results: [
        { choice: choices[0], choice_text: 'Right', votes: 1, percent: 33.4 },
        { choice: choices[1], choice_text: 'Wrong', votes: 1, percent: 33.3 },
        { choice: choices[2], choice_text: 'Other', votes: 1, percent: 33.3 },
      ],
    });
    assert.equal((await vote(id, choices[1])).json.correct, false);
    assert.deepEqual(await votesOf(id), [1, 2, 1]);
  });

  test('on a question that is deleted at the same time is 404', {
    skip: process.env.TEST_DATABASE !== 'postgres' && 'writers take turns on SQLite',
  }, async () => {
    const { id, choices } = await polls.createPoll(['A', 'B'], { duplicates: 'address' });
    await using database = await polls.openDatabase();
    const { sent } = await database.write(async (session) => {
      await session.kysely.deleteFrom('question').where('id', '=', id).execute();
      const waiting = vote(id, choices[0]);
      await whenBlocked(session, 1);
      return { sent: waiting };
    });
    assert.equal((await sent).status, 404);
  });

  test('may come as a form, and may be cast again', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B']);
    const body = new URLSearchParams({ choice: String(choices[1]) });
    for (const expected of [1, 2]) {
      const { status } = await polls.call('POST', `/api/questions/${id}/vote`, { body });
      assert.equal(status, 200);
      assert.deepEqual(await votesOf(id), [0, expected]);
    }
  });

  test('without a choice of the question is refused, and not counted', async () => {
    const [{ id, choices }, other] = [await polls.createPoll(['A', 'B']), await polls.createPoll(['C', 'D'])];
    const refused = async (choice: unknown) => {
      const { status, json } = await vote(id, choice);
      assert.equal(status, 400);
      return json.choice;
    };
    assert.deepEqual(await refused(undefined), ['This field is required.']);
    assert.deepEqual(await refused(null), ['This field may not be null.']);
    assert.deepEqual(await refused('abc'), ['Incorrect type. Expected pk value, received str.']);
    for (const choice of [other.choices[0], 999_999, -1, '9223372036854775808']) {
      assert.deepEqual(await refused(choice), [`Invalid pk "${choice}" - object does not exist.`]);
    }
    assert.deepEqual([...(await votesOf(id)), ...(await votesOf(other.id))], [0, 0, 0, 0]);
    assert.equal((await vote(999_999, choices[0])).status, 404);
  });

  test('is refused before the publication and after the close', async () => {
    const future = await polls.createPoll(['A'], { pub_date: '2027-01-01T00:00:00Z' });
    assert.equal((await vote(future.id, future.choices[0])).status, 404);
    const { id, choices } = await polls.createPoll(['A'], { closes_at: '2026-03-01T12:00:00Z' });
    const { status, json } = await vote(id, choices[0]);
    assert.deepEqual([status, json], [403, closed]);
    assert.deepEqual(await votesOf(id), [0]);
  });

  test('of a poll that hides its results says only what it may', async () => {
    const afterVote = await polls.createPoll(['A', 'B'], { results: 'after_vote' });
    assert.equal((await vote(afterVote.id, afterVote.choices[0])).json.results.length, 2);
    const closes_at = '2027-01-01T00:00:00Z';
    const afterClose = await polls.createPoll(['A', 'B'], { results: 'after_close', closes_at });
    const { json } = await vote(afterClose.id, afterClose.choices[0]);
    assert.deepEqual(json, {
      question: afterClose.id,
      choice: afterClose.choices[0],
      correct: null,
      results: [],
    });
  });

  test('has no right or wrong without a correct choice', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B']);
    await polls.call('PATCH', `/api/choices/${choices[0]}/`, { body: { is_correct: false } });
    assert.equal((await vote(id, choices[0])).json.correct, null);
  });
});

describe('a second vote', () => {
  test('counts once per session where that is set', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B'], { duplicates: 'session' });
    const cookie = cookieOf(await vote(id, choices[0]));
    const { status, json } = await vote(id, choices[1], cookie);
    assert.deepEqual([status, json], [403, voted]);
    assert.equal((await vote(id, choices[1])).status, 200);
    assert.deepEqual(await votesOf(id), [1, 1]);
  });

  test('counts once per address where that is set, also of many at once', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B'], { duplicates: 'address' });
    const from = (address: string) => vote(id, choices[0], { 'x-forwarded-for': address });
    const racing = await Promise.all(Array.from({ length: 10 }, () => from('192.0.2.1')));
    const refused = racing.filter(({ status }) => status === 403);
    assert.equal(refused.length, 9);
    assert.deepEqual(refused[0]?.json, voted);
    assert.equal((await from('192.0.2.2')).status, 200);
    assert.deepEqual([(await from('2001:db8::1')).status, (await from('2001:db8::2')).status], [200, 403]);
    assert.deepEqual(await votesOf(id), [3, 0]);
  });

  test('is not prevented by a cookie of another poll, or one that we did not sign', async () => {
    const one = await polls.createPoll(['A'], { duplicates: 'session' });
    const two = await polls.createPoll(['A'], { duplicates: 'session' });
    const cookie = cookieOf(await vote(one.id, one.choices[0]));
    assert.equal((await vote(two.id, two.choices[0], cookie)).status, 200);
    const forged = { cookie: `polls_vote=${one.id}.${one.choices[0]}.AAAA` };
    assert.equal((await vote(one.id, one.choices[0], forged)).status, 200);
  });
});

describe('a vote that the close of the poll outruns', () => {
  // The trigger closes the poll between the statements of the vote, as another replica may.
  const closesAt = '2026-01-01T00:00:00.000000Z';
  const close = (table: string) => `UPDATE ${table} SET closes_at = '${closesAt}' WHERE id = NEW.question`;
  const triggers = {
    sqlite: [
      `CREATE TRIGGER outrun AFTER INSERT ON voter BEGIN ${close('question')}; END`,
      'DROP TRIGGER outrun',
    ],
    postgres: [
      `CREATE FUNCTION polls.outrun() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN ${close('polls.question').replaceAll("'", "''")}; RETURN NULL; END'`,
      'CREATE TRIGGER outrun AFTER INSERT ON polls.voter FOR EACH ROW EXECUTE FUNCTION polls.outrun()',
      'DROP TRIGGER outrun ON polls.voter',
    ],
  };

  test('leaves the voter free to vote when it opens again', async () => {
    await using database = await polls.openDatabase();
    const run = (text: string) => database.write(({ kysely }) => sql.raw(text).execute(kysely));
    const { id, choices } = await polls.createPoll(['A'], { duplicates: 'address' });
    const address = { 'x-forwarded-for': '192.0.2.77' };
    const statements = [...triggers[database.dialect]];
    const drop = statements.pop() as string;
    for (const statement of statements) await run(statement);
    const { status, json } = await vote(id, choices[0], address);
    await run(drop);
    assert.deepEqual([status, json], [403, closed]);
    await polls.call('PATCH', `/api/questions/${id}/`, { body: { closes_at: null } });
    assert.equal((await vote(id, choices[0], address)).status, 200);
    assert.deepEqual(await votesOf(id), [1]);
  });
});

describe('a vote for several choices', () => {
  const pick = (id: number, choices: unknown, headers: Record<string, string> = {}): Promise<TestResponse> =>
    polls.call('POST', `/api/questions/${id}/vote/`, {
      body: { choices },
      authorization: undefined,
      headers,
    });
  const several = (max_choices: number, question: object = {}) =>
    polls.createPoll(['A', 'B', 'C'], { max_choices, ...question });

  test('is one voter, and percentages are shares of voters', async () => {
    const { id, choices } = await several(2);
    const [a, b, c] = choices as [number, number, number];
    await pick(id, [a]);
    await vote(id, b);
    const { status, json } = await pick(id, [c, a, c]);
    assert.equal(status, 200);
    assert.deepEqual(json, {
      question: id,
      choice: c,
      choices: [c, a],
      correct: false,
      voters: 3,
      results: [
        { choice: a, choice_text: 'A', votes: 2, percent: 66.7 },
        { choice: b, choice_text: 'B', votes: 1, percent: 33.3 },
        { choice: c, choice_text: 'C', votes: 1, percent: 33.3 },
      ],
    });
    assert.equal((await pick(id, [a])).json.correct, true);
    assert.equal((await pick(id, [a, b])).json.correct, false);
  });

  test('may come as a form with repeated fields', async () => {
    const { id, choices } = await several(3);
    const body = new URLSearchParams(choices.map((choice) => ['choices', String(choice)]));
    const { json } = await polls.call('POST', `/api/questions/${id}/vote/`, { body });
    assert.deepEqual([json.choices, json.voters], [choices, 1]);
  });

  test('is refused as a whole if one choice, or the number of them, is wrong', async () => {
    const { id, choices } = await several(2, { duplicates: 'address' });
    const other = await several(3);
    const refused = async (given: unknown) => {
      const { status, json } = await pick(id, given);
      assert.equal(status, 400, JSON.stringify(given));
      return json.choices;
    };
    const missing = (choice: unknown) => [`Invalid pk "${choice}" - object does not exist.`];
    assert.deepEqual(await refused([choices[0], other.choices[1]]), missing(other.choices[1]));
    assert.deepEqual(await refused([choices[0], 999_999]), missing(999_999));
    assert.deepEqual(await refused([999_999]), missing(999_999));
    assert.deepEqual(await refused(choices), ['Ensure this field has no more than 2 elements.']);
    assert.deepEqual(await refused([]), ['This list may not be empty.']);
    assert.deepEqual(await refused(null), ['This field may not be null.']);
    assert.deepEqual(await refused(choices[0]), ['Expected a list of items but got type "int".']);
    assert.deepEqual(await refused(['x']), ['Incorrect type. Expected pk value, received str.']);
    const many = Array.from({ length: 21 }, (_, index) => index + 1);
    assert.deepEqual(await refused(many), ['Ensure this field has no more than 20 elements.']);
    const both = { body: { choice: choices[0], choices }, authorization: undefined };
    const { json } = await polls.call('POST', `/api/questions/${id}/vote/`, both);
    assert.deepEqual(json, { choices: ['Send choice or choices, not both.'] });
    assert.deepEqual([...(await votesOf(id)), ...(await votesOf(other.id))], [0, 0, 0, 0, 0, 0]);
    // None of these spent the one vote of the address.
    assert.equal((await pick(id, choices.slice(1))).status, 200);
    assert.deepEqual((await pick(id, choices.slice(1))).json, voted);
    assert.deepEqual(await votesOf(id), [0, 1, 1]);
  });

  test('where a question takes one is answered as before', async () => {
    const { id, choices } = await several(1);
    const { json } = await pick(id, [choices[0]]);
    assert.deepEqual(Object.keys(json), ['question', 'choice', 'correct', 'results']);
    const { status, json: problem } = await pick(id, choices.slice(0, 2));
    assert.deepEqual(
      [status, problem],
      [400, { choices: ['Ensure this field has no more than 1 elements.'] }],
    );
    assert.deepEqual(await votesOf(id), [1, 0, 0]);
  });

  test('keeps the number of voters when the limit changes or a choice is deleted', async () => {
    const { id, choices } = await several(1);
    const [a, b, c] = choices as [number, number, number];
    for (const choice of [a, a, b]) await vote(id, choice);
    const change = (max_choices: unknown) =>
      polls.call('PATCH', `/api/questions/${id}/`, { body: { max_choices } });
    assert.equal((await change(3)).json.max_choices, 3);
    assert.equal((await pick(id, [a, b, c])).json.voters, 4);
    assert.equal((await polls.call('DELETE', `/api/choices/${b}/`)).status, 204);
    const { json } = await pick(id, [a, c]);
    assert.equal(json.voters, 5);
    assert.deepEqual(
      json.results.map(({ votes, percent }: { votes: number; percent: number }) => [votes, percent]),
      [
        [4, 80],
        [2, 40],
      ],
    );
    for (const wrong of [0, 21, 1.5, 'x', null]) assert.equal((await change(wrong)).status, 400);
    assert.equal((await polls.call('DELETE', `/api/questions/${id}/`)).status, 204);
  });

  test('of many at once is counted exactly, with votes for one choice between them', async () => {
    const { id, choices } = await several(3);
    const orders = [choices, choices.toReversed(), choices.slice(1), choices.slice(0, 1)];
    const casting = Array.from({ length: 80 }, (_, index) => pick(id, orders[index % 4]));
    const statuses = (await Promise.all(casting)).map(({ status }) => status);
    const counted = orders.map((_, order) => statuses.filter((s, i) => i % 4 === order && s === 200).length);
    const [all = 0, reversed = 0, two = 0, one = 0] = counted;
    assert.ok(all + reversed + two + one > 0);
    assert.deepEqual(await votesOf(id), [all + reversed + one, all + reversed + two, all + reversed + two]);
    const { json } = await pick(id, [choices[0]]);
    assert.equal(json.voters, all + reversed + two + one + 1);
  });

  test('ends with the poll, and with the limit: nothing is counted in part', async () => {
    for (const change of [{ closes_at: '2026-02-01T00:00Z' }, { max_choices: 1 }]) {
      const { id, choices } = await several(3);
      const casting = Array.from({ length: 40 }, () => pick(id, choices));
      assert.equal((await polls.call('PATCH', `/api/questions/${id}/`, { body: change })).status, 200);
      const counted = (await Promise.all(casting)).filter(({ status }) => status === 200).length;
      assert.deepEqual(await votesOf(id), [counted, counted, counted]);
    }
  });

  test('is refused as a whole if a choice is deleted at the same time', async () => {
    const { id, choices } = await several(3);
    const casting = Array.from({ length: 20 }, () => pick(id, choices));
    const deleting = polls.call('DELETE', `/api/choices/${choices[2]}/`);
    const counted = (await Promise.all(casting)).filter(({ status }) => status === 200).length;
    assert.equal((await deleting).status, 204);
    assert.deepEqual(await votesOf(id), [counted, counted]);
    assert.equal((await pick(id, [choices[0]])).json.voters, counted + 1);
  });
});

describe('many votes at once', () => {
  test('are all counted, and each has its row', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B']);
    const client = async () => {
      for (let n = 0; n < 4; n++) assert.equal(await voteOnceServed(id, choices[n === 0 ? 0 : 1]), 200);
    };
    await Promise.all(Array.from({ length: 250 }, client));
    assert.deepEqual(await votesOf(id), [250, 750]);
    assert.ok((await polls.metric('polls_votes_total{outcome="counted"}')) >= 1_000);
  });

  test('end with the poll: what was answered 200 is what counts', async () => {
    const { id, choices } = await polls.createPoll(['A']);
    const votes = Array.from({ length: 60 }, () => vote(id, choices[0]));
    const closing = polls.call('PATCH', `/api/questions/${id}/`, {
      body: { closes_at: '2026-02-01T00:00Z' },
    });
    const counted = (await Promise.all(votes)).filter(({ status }) => status === 200).length;
    assert.equal((await closing).status, 200);
    assert.deepEqual(await votesOf(id), [counted]);
    assert.deepEqual((await vote(id, choices[0])).json, closed);
  });
});

/** The status of a vote; one that is refused by an overloaded server was not counted, and is cast again. */
async function voteOnceServed(...args: Parameters<typeof vote>): Promise<number> {
  return until(async () => {
    const { status } = await vote(...args);
    return status !== 503 && status;
  });
}

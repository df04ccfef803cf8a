import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { whenBlocked } from '#kit/testing/postgres.ts';
import { startPolls, type TestPolls, type TestResponse } from './testing.ts';

let polls: TestPolls;
before(async () => {
  polls = await startPolls({ TRUST_PROXY: '1' });
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
  test('is counted and answered with the results', async () => {
    const { id, choices } = await polls.createPoll(['Right', 'Wrong', 'Other']);
    await vote(id, choices[1]);
    await vote(id, String(choices[2]));
    const { status, json } = await vote(id, choices[0]);
    assert.equal(status, 200);
    assert.deepEqual(json, {
      ...{ question: id, choice: choices[0], correct: true },
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
  const close = `UPDATE question SET closes_at = '${closesAt}' WHERE id = NEW.question`;
  const triggers = {
    sqlite: [`CREATE TRIGGER outrun AFTER INSERT ON voter BEGIN ${close}; END`, 'DROP TRIGGER outrun'],
    postgres: [
      `CREATE FUNCTION outrun() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN ${close.replaceAll("'", "''")}; RETURN NULL; END'`,
      'CREATE TRIGGER outrun AFTER INSERT ON voter FOR EACH ROW EXECUTE FUNCTION outrun()',
      'DROP TRIGGER outrun ON voter',
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

describe('many votes at once', () => {
  test('are all counted, and each has its row', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B']);
    const responses = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) => vote(id, choices[index % 4 === 0 ? 0 : 1])),
    );
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
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

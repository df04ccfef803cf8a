import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { writesDuring } from '@octavo/testing';
import { sql } from 'kysely';
import { startPolls, type TestPolls } from '../testing.ts';

let polls: TestPolls;
before(async () => {
  polls = await startPolls({ environment: { TRUST_PROXY: '1' } });
});
after(() => polls[Symbol.asyncDispose]());

const vote = (id: number, choice: unknown, headers: Record<string, string> = {}) =>
  polls.call('POST', `/api/questions/${id}/vote/`, { body: { choice }, authorization: undefined, headers });
const voted = { detail: 'You have already voted.' };

describe('a poll that is deleted while it has many voters', () => {
  const faults = {
    sqlite: [
      `CREATE TRIGGER cut AFTER DELETE ON voter WHEN old.key = 'n999' BEGIN SELECT raise(ABORT, 'power failure'); END`,
      'DROP TRIGGER cut',
    ],
    postgres: [
      `CREATE FUNCTION polls.cut() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''power failure''; END'`,
      `CREATE TRIGGER cut AFTER DELETE ON polls.voter FOR EACH ROW WHEN (old.key = 'n999') EXECUTE FUNCTION polls.cut()`,
      'DROP TRIGGER cut ON polls.voter',
    ],
  };
  const address = { 'x-forwarded-for': '192.0.2.78' };

  test('and that a crash cuts off: it is gone as a whole, or there as a whole', async () => {
    const { id, choices } = await polls.createPoll(['A'], { duplicates: 'address' });
    assert.equal((await vote(id, choices[0], address)).status, 200);
    await using database = await polls.openDatabase();
    const run = (text: string) => database.write(({ kysely }) => sql.raw(text).execute(kysely));
    await run(`INSERT INTO voter (question, key) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
      SELECT ${id}, 'n' || i FROM n`);
    const isWhole = database.dialect === 'postgres';
    const [restore = '', ...cut] = faults[database.dialect].toReversed();
    for (const statement of cut.toReversed()) await run(statement);
    const { status } = await polls.call('DELETE', `/api/questions/${id}/`);
    await run(restore);
    assert.equal(status, isWhole ? 500 : 204);
    const again = await vote(id, choices[0], address);
    assert.deepEqual([again.status, again.json], isWhole ? [403, voted] : [404, { detail: 'Not found.' }]);
    assert.equal((await polls.call('GET', `/api/questions/${id}/`)).status, isWhole ? 200 : 404);
    assert.equal((await polls.call('GET', `/api/choices/${choices[0]}/`)).status, isWhole ? 200 : 404);
    const votersOf = async (store: typeof database) => {
      const found = await store.kysely.selectFrom('voter').select('key').where('question', '=', id).execute();
      return found.length;
    };
    const left = await votersOf(database);
    assert.ok(isWhole ? left === 4_001 : left > 0 && left < 4_001, `${left} voters`);
    if (isWhole) return;
    await using restarted = await polls.openDatabase();
    assert.equal(await votersOf(restarted), 0);
    assert.deepEqual(
      await restarted.kysely.selectFrom('choice').selectAll().where('question', '=', id).execute(),
      [],
    );
  });

  test('is deleted while others vote', async () => {
    const other = await polls.createPoll(['A']);
    const { id } = await polls.createPoll(['A'], { duplicates: 'address' });
    await using database = await polls.openDatabase();
    await database.write(({ kysely }) =>
      sql`INSERT INTO voter (question, key) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        SELECT ${id}, 'n' || i FROM n`.execute(kysely),
    );
    const deletion = polls.call('DELETE', `/api/questions/${id}/`);
    const votes = await writesDuring(deletion, () => vote(other.id, other.choices[0]));
    assert.ok(votes >= (database.dialect === 'sqlite' ? 8 : 1), `${votes} votes`);
    assert.equal((await deletion).status, 204);
  });
});

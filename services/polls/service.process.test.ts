import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seeds } from '@octavo/octavo';
import { contextFor } from '@octavo/octavo/system';
import { startProcess, stopProcess } from '@octavo/octavo/testing';
import { testFolder } from '@octavo/testing';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { seedPolls } from './seed.ts';
import { exportResults, exportVotes, openPolls } from './service.ts';
import { questionWrites } from './store.ts';
import { startPolls } from './testing.ts';

const environmentOf = () => ({ OCTAVO_DATA: testFolder('polls'), LOG_LEVEL: 'silent', NODE_ENV: 'test' });

async function linesOf(texts: AsyncIterable<string>): Promise<string[]> {
  return (await Array.fromAsync(texts)).join('').trimEnd().split('\r\n');
}

describe('the demo data', () => {
  test('is loaded once, and its counters are its votes', async () => {
    const environment = environmentOf();
    await using database = await openPolls(environment, contextFor('polls', { environment }));
    const nowMs = Date.UTC(2026, 2, 1);
    assert.ok((await seedPolls(database, nowMs)) >= 12);
    assert.equal(await seedPolls(database, nowMs), 0);
    const { kysely } = database;
    const choices = await kysely
      .selectFrom('choice')
      .select(({ selectFrom }) => [
        'votes',
        selectFrom('vote')
          .select(({ fn }) => fn.countAll<number>().as('n'))
          .whereRef('vote.choice', '=', 'choice.id')
          .as('rows'),
      ])
      .execute();
    assert.ok(choices.every(({ votes, rows }) => votes === rows));
    const times = await kysely
      .selectFrom('vote')
      .select(({ fn }) => [fn.min('created_at_ms').as('first'), fn.max('created_at_ms').as('last')])
      .executeTakeFirstOrThrow();
    assert.ok(times.last <= nowMs && times.last - times.first > 30 * 86_400_000);
  });

  test('comes beside polls of other people only on demand', async () => {
    const environment = environmentOf();
    await using database = await openPolls(environment, contextFor('polls', { environment }));
    const load = async (isForced: boolean) =>
      (await seeds.polls?.(environment, { count: 1, isForced, onProgress: () => {} }))?.text;
    const own = { question_text: 'Ours?', pub_date: '2026-01-01T00:00:00Z', closes_at: null };
    const rules = { results: 'always', duplicates: 'none' } as const;
    await database.write((session) => questionWrites.insert(session, { ...own, ...rules }));
    assert.equal(await load(false), undefined);
    assert.match((await load(true)) ?? '', /^1\d polls$/);
    assert.equal(await load(false), '0 polls', 'once it is there, it is only completed');
  });

  test('is exported as CSV', async () => {
    const environment = environmentOf();
    await using database = await openPolls(environment, contextFor('polls', { environment }));
    await seedPolls(database, Date.UTC(2026, 2, 1));
    const results = await linesOf(exportResults(database, 5));
    assert.deepEqual(results.slice(0, 2), [
      'question,question_text,choice,choice_text,is_correct,votes,percent',
      '5,How many hearts does an octopus have?,19,One,false,133,11.0',
    ]);
    const votes = await linesOf(exportVotes(database, 5));
    assert.equal(votes.length, 1 + 1_212);
    assert.match(votes[1] ?? '', /^\d+,2026-0\d-\d\dT[\d:.]+Z,19,One$/);
    await assert.rejects(linesOf(exportResults(database, 999)), { code: 'not_found' });
    await assert.rejects(linesOf(exportVotes(database, 999)), { code: 'not_found' });
  });
});

describe('the service', () => {
  test('loses no vote that it answered when it is killed', async () => {
    const environment = environmentOf();
    const context = contextFor('polls', { environment });
    let database = await openPolls(environment, context);
    await seedPolls(database, Date.now());
    const before = await database.kysely
      .selectFrom('choice')
      .select('votes')
      .where('id', '=', 1)
      .executeTakeFirstOrThrow();
    await database[Symbol.asyncDispose]();
    const { url, child } = await startProcess('polls', environment);
    let answered = 0;
    const voters = Array.from({ length: 16 }, async () => {
      for (;;) {
        const response = await fetch(`${url}/api/questions/1/vote/`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"choice":1}',
        });
        if (response.ok) answered++;
        if (answered === 200) await stopProcess(child, 'SIGKILL');
      }
    });
    await Promise.allSettled(voters);
    database = await openPolls(environment, context);
    const { kysely } = database;
    const { votes } = await kysely
      .selectFrom('choice')
      .select('votes')
      .where('id', '=', 1)
      .executeTakeFirstOrThrow();
    const { rows } = await kysely
      .selectFrom('vote')
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .where('choice', '=', 1)
      .executeTakeFirstOrThrow();
    await database[Symbol.asyncDispose]();
    assert.ok(answered >= 200);
    assert.equal(votes, rows);
    assert.ok(votes - before.votes >= answered, `${votes - before.votes} of ${answered}`);
  });

  test('describes its API without linter findings', async () => {
    await using polls = await startPolls();
    const { text: source, json } = await polls.call('GET', '/openapi.json');
    const rules = { 'no-path-trailing-slash': 'off' } as const;
    const config = await createConfig({ extends: ['recommended'], rules });
    const problems = await lintFromString({ source, config });
    assert.deepEqual(
      problems.map(({ ruleId, message }) => [ruleId, message]),
      [],
    );
    assert.deepEqual(Object.keys(json.components.schemas).sort(), [
      ...['Choice', 'ChoiceRequest', 'ChoiceResult', 'Error', 'IdentifiedChoiceRequest'],
      ...['IdentifiedQuestionRequest', 'PatchedChoiceRequest', 'PatchedQuestionRequest', 'Question'],
      ...['QuestionRequest', 'Token', 'TokenRequest', 'VoteOutcome', 'VoteRequest'],
    ]);
    assert.deepEqual(Object.keys(json.paths['/api/questions/']).sort(), ['delete', 'get', 'post', 'put']);
    assert.deepEqual(Object.keys(json.paths['/api/questions/'].post.responses), [
      ...['201', '400', '401', '403', '408', '413', '415', '431', '500', '503', '504'],
    ]);
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startPolls, type TestPolls } from '../testing.ts';

let polls: TestPolls;
before(async () => {
  polls = await startPolls();
});
after(() => polls[Symbol.asyncDispose]());

const several = () => polls.createPoll(['A', 'B', 'C'], { max_choices: 2 });
const pick = (id: number, choices: readonly number[]) =>
  polls.call('POST', `/api/questions/${id}/vote/`, { body: { choices }, authorization: undefined });
const votesOf = async (question: number): Promise<number[]> => {
  const authorization = `Token ${polls.token}`;
  const { json } = await polls.call('GET', `/api/choices/?question=${question}`, { authorization });
  return json.map(({ votes }: { votes: number }) => votes);
};

describe('a choice with votes', () => {
  const moved = (choice: number | undefined, question: number) =>
    polls.call('PATCH', `/api/choices/${choice}/`, { body: { question } });
  const refusal = { question: ['This choice has votes and cannot be moved.'] };

  test('stays with its question, whose ballots it was counted in', async () => {
    const from = await several();
    const to = await several();
    for (let ballot = 0; ballot < 2; ballot++) await pick(from.id, from.choices.slice(0, 2));
    const [voted = 0, , free = 0] = from.choices;
    const refused = await moved(voted, to.id);
    assert.deepEqual([refused.status, refused.json], [400, refusal]);
    const body = { question: to.id, choice_text: 'Moved', is_correct: false };
    const put = await polls.call('PUT', `/api/choices/${voted}/`, { body });
    assert.deepEqual([put.status, put.json], [400, refusal]);
    const all = await polls.call('PUT', '/api/choices/', {
      body: [
        { ...body, id: free },
        { ...body, id: voted },
      ],
    });
    assert.deepEqual([all.status, all.json], [400, { 1: refusal }]);
    assert.deepEqual(await votesOf(from.id), [2, 2, 0]);
    // Naming its own question changes nothing, and one without votes may move.
    const same = { ...body, question: from.id, choice_text: 'Renamed' };
    assert.equal((await polls.call('PUT', `/api/choices/${voted}/`, { body: same })).status, 200);
    assert.equal((await moved(free, to.id)).status, 200);
    const { json } = await pick(from.id, [voted]);
    assert.deepEqual([json.voters, json.results[0].percent], [3, 100]);
    assert.equal((await pick(to.id, [free])).json.voters, 1);
  });

  test('is moved while people vote: either the vote counts or the choice moves', async () => {
    for (let round = 0; round < 4; round++) {
      const from = await several();
      const to = await several();
      const casting = Array.from({ length: 6 }, () => pick(from.id, from.choices.slice(0, 2)));
      // Every other time a ballot is in before, and others are under way.
      if (round % 2 === 1) {
        await Promise.race(casting);
        casting.push(...Array.from({ length: 6 }, () => pick(from.id, from.choices.slice(0, 2))));
      }
      const moving = moved(from.choices[0], to.id);
      const counted = (await Promise.all(casting)).filter(({ status }) => status === 200).length;
      const { status } = await moving;
      const isMoved = status === 200;
      assert.ok(isMoved ? counted === 0 : status === 400 && counted > 0, `${status} with ${counted} ballots`);
      assert.deepEqual(await votesOf(from.id), isMoved ? [0, 0] : [counted, counted, 0]);
      assert.equal((await pick(from.id, from.choices.slice(2))).json.voters, counted + 1);
    }
  });
});

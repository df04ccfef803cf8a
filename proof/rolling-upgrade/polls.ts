import assert from 'node:assert/strict';
import { PageClient } from '@octavo/testing';
import { ask, atReplica, password, unique } from './requests.ts';
import type { Replicas, Round, Workload } from './traffic.ts';

export const polls: Workload = {
  service: 'polls',
  environment: { POLLS_SECRET: 'a secret of all replicas, long enough' },
  commands: [['admin', 'create', 'polls', 'alice']],
  async begin(url): Promise<Round> {
    const signedIn = await ask(url, '/api/token/', { body: { username: 'alice', password } });
    const headers = { authorization: `Token ${signedIn.json.token}` };
    const staff = new PageClient(url);
    await staff.open('/admin/login/');
    assert.equal((await staff.send('/admin/login/', { username: 'alice', password })).status, 303);
    return async (at) => {
      const poll = await makePoll(at, headers);
      await voteOnApi(at, poll);
      await voteOnPages(at, poll);
      const admin = await atReplica(staff, at.other).open('/admin/polls/question/');
      assert.equal(admin.status, 200, admin.html);
      await ask(at.other, `/api/questions/${poll.id}/`, { method: 'DELETE', headers, is: 204 });
      await ask(at.one, `/api/questions/${poll.id}/`, { headers, is: 404 });
    };
  },
};

interface Poll {
  readonly id: number;
  readonly choices: readonly number[];
  readonly headers: Readonly<Record<string, string>>;
}

async function makePoll({ one, other }: Replicas, headers: Poll['headers']): Promise<Poll> {
  const question = {
    question_text: unique('Which'),
    pub_date: '2026-01-01T00:00:00Z',
    duplicates: 'session',
  };
  const { id } = (await ask(one, '/api/questions/', { body: question, headers, is: 201 })).json;
  const choices: number[] = [];
  for (const [index, url] of [one, other].entries()) {
    const choice = { question: id, choice_text: `Choice ${index}`, is_correct: index === 0 };
    choices.push((await ask(url, '/api/choices/', { body: choice, headers, is: 201 })).json.id);
  }
  const changed = { question_text: unique('Changed') };
  await ask(other, `/api/questions/${id}/`, { method: 'PATCH', body: changed, headers });
  assert.equal((await ask(one, `/api/questions/${id}/`)).json.question_text, changed.question_text);
  return { id, choices, headers };
}

async function voteOnApi({ one, other }: Replicas, { id, choices, headers }: Poll): Promise<void> {
  const path = `/api/questions/${id}/vote/`;
  const first = await ask(one, path, { body: { choice: choices[0] } });
  const cookie = first.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  await ask(other, path, { body: { choice: choices[1] }, headers: { cookie }, is: 403 });
  await ask(other, path, { body: { choice: choices[1] } });
  const { json } = await ask(one, `/api/choices/?question=${id}`, { headers });
  assert.deepEqual(
    json.map(({ votes }: { votes: number }) => votes),
    [1, 1],
  );
}

/** The form of one replica is sent to the other. */
async function voteOnPages({ one, other }: Replicas, { id, choices }: Poll): Promise<void> {
  const visitor = new PageClient(one);
  assert.equal((await visitor.open(`/polls/${id}/`)).status, 200);
  const moved = atReplica(visitor, other);
  const voted = await moved.send(`/polls/${id}/vote/`, { choice: String(choices[0]) });
  assert.deepEqual([voted.status, voted.location], [302, `/polls/${id}/results/`], voted.html);
  const results = await atReplica(moved, one).open(`/polls/${id}/results/`);
  assert.match(results.html, /<span data-total>3</);
}

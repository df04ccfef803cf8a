import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startPolls, type TestPolls } from './testing.ts';

let polls: TestPolls;
before(async () => {
  polls = await startPolls();
});
after(() => polls[Symbol.asyncDispose]());

const question = { question_text: 'Tea or coffee?', pub_date: '2026-02-01T10:00:00.123456+02:00' };
const shown = {
  question_text: 'Tea or coffee?',
  pub_date: '2026-02-01T08:00:00.123456Z',
  closes_at: null,
  results: 'always',
  duplicates: 'none',
  max_choices: 1,
  visibility: 'listed',
};
const future = { question_text: 'Later?', pub_date: '2027-01-01T00:00:00Z' };
const notFound = { detail: 'Not found.' };

async function create(body: object = question): Promise<number> {
  const { status, json, text } = await polls.call('POST', '/api/questions/', { body });
  assert.equal(status, 201, text);
  return json.id;
}

describe('questions', () => {
  test('are created, read, changed and deleted', async () => {
    const created = await polls.call('POST', '/api/questions/', { body: { ...question, id: 99, extra: 1 } });
    const { id } = created.json;
    assert.deepEqual([created.status, created.json], [201, { id, ...shown }]);
    assert.equal(created.headers.get('location'), `/api/questions/${id}/`);
    const path = `/api/questions/${id}/`;
    assert.deepEqual((await polls.call('GET', path)).json, { id, ...shown });
    const put = await polls.call('PUT', path, {
      body: { question_text: ' New ', pub_date: '2026-02-02T00:00' },
    });
    assert.deepEqual(
      [put.status, put.json.question_text, put.json.pub_date],
      [200, 'New', '2026-02-02T00:00:00Z'],
    );
    const patch = await polls.call('PATCH', path, {
      body: { closes_at: '2026-05-01T00:00Z', results: 'after_vote' },
    });
    assert.deepEqual(patch.json, { ...put.json, closes_at: '2026-05-01T00:00:00Z', results: 'after_vote' });
    assert.deepEqual((await polls.call('PATCH', path, { body: {} })).json, patch.json);
    assert.equal((await polls.call('PUT', path, { body: { question_text: 'x' } })).status, 400);
    const deleted = await polls.call('DELETE', path);
    assert.deepEqual([deleted.status, deleted.text], [204, '']);
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const again = await polls.call(
        method,
        path,
        method === 'GET' || method === 'DELETE' ? {} : { body: question },
      );
      assert.deepEqual([again.status, again.json], [404, notFound], method);
    }
  });

  test('are changed and deleted by their collection', async () => {
    const [one, two, three] = [await create(), await create(), await create()];
    const put = (body: unknown) => polls.call('PUT', '/api/questions/', { body });
    const single = await put({ id: one, ...question, question_text: 'One' });
    assert.deepEqual([single.status, single.json], [200, { id: one, ...shown, question_text: 'One' }]);
    const many = await put([
      { id: two, ...question, question_text: 'Two' },
      { id: three, ...question, question_text: 'Three' },
    ]);
    assert.deepEqual(
      many.json.map((each: { question_text: string }) => each.question_text),
      ['Two', 'Three'],
    );
    const broken = await put([
      { id: two, ...question, question_text: 'Changed' },
      { id: three, ...question, question_text: '' },
    ]);
    assert.deepEqual(
      [broken.status, broken.json],
      [400, { 1: { question_text: ['This field may not be blank.'] } }],
    );
    const missing = await put([
      { id: two, ...question, question_text: 'Changed' },
      { id: 999_999, ...question },
    ]);
    assert.deepEqual(missing.json, { 1: { id: ['Invalid pk "999999" - object does not exist.'] } });
    assert.equal((await polls.call('GET', `/api/questions/${two}/`)).json.question_text, 'Two');
    assert.deepEqual((await put({ id: 999_999, ...question })).json, notFound);
    assert.deepEqual((await put(question)).json, { id: ['This field is required.'] });
    const byBody = await polls.call('DELETE', '/api/questions/', { body: { ids: [one, 999_999] } });
    assert.deepEqual([byBody.status, byBody.json], [200, { deleted: 1 }]);
    const byQuery = await polls.call('DELETE', `/api/questions/?id=${two}&id=${three}`);
    assert.deepEqual(byQuery.json, { deleted: 2 });
  });

  test('are never all deleted by mistake', async () => {
    const id = await create();
    for (const body of [undefined, {}, { ids: [] }, { other: [id] }]) {
      const { status, json } = await polls.call(
        'DELETE',
        '/api/questions/',
        body === undefined ? {} : { body },
      );
      assert.deepEqual([status, json], [400, { detail: 'Name the ids to delete.' }]);
    }
    assert.deepEqual((await polls.call('DELETE', '/api/questions/', { body: { ids: ['x'] } })).json, {
      ids: ['A valid integer is required.'],
    });
    assert.equal((await polls.call('GET', `/api/questions/${id}/`)).status, 200);
    assert.equal((await polls.call('PATCH', '/api/questions/', { body: [] })).status, 405);
  });

  test('do not close before they are published', async () => {
    const early = { closes_at: ['The poll must not close before it is published.'] };
    const id = await create();
    const path = `/api/questions/${id}/`;
    const before = { closes_at: '2026-02-01T07:59:59Z' };
    const at = { closes_at: '2026-02-01T08:00:00.123456Z' };
    const refused = async (method: string, address: string, body: object) => {
      const { status, json } = await polls.call(method, address, { body });
      assert.equal(status, 400);
      return json;
    };
    assert.deepEqual(await refused('POST', '/api/questions/', { ...question, ...before }), early);
    assert.deepEqual(await refused('PUT', path, { ...question, ...before }), early);
    assert.deepEqual(await refused('PATCH', path, before), early);
    const items = [
      { ...question, id: await create() },
      { ...question, id, ...before },
    ];
    assert.deepEqual(await refused('PUT', '/api/questions/', items), { 1: early });
    assert.equal((await polls.call('PATCH', path, { body: at })).status, 200);
    assert.deepEqual(await refused('PATCH', path, { pub_date: '2026-02-02T00:00:00Z' }), early);
    assert.equal((await polls.call('GET', path)).json.pub_date, shown.pub_date);
  });

  test('in the future are there only for holders of a token', async () => {
    const id = await create(future);
    const path = `/api/questions/${id}/`;
    const authorization = `Token ${polls.token}`;
    assert.equal((await polls.call('GET', path)).status, 404);
    assert.equal((await polls.call('GET', path, { authorization })).status, 200);
    const ids = async (options = {}) =>
      (await polls.call('GET', '/api/questions/', options)).json.map((each: { id: number }) => each.id);
    assert.ok(!(await ids()).includes(id));
    assert.ok((await ids({ authorization })).includes(id));
    await polls.call('PATCH', path, { body: { pub_date: '2026-03-01T12:00:00.001Z' } });
    assert.equal((await polls.call('GET', path)).status, 404);
    polls.clock.advance(1);
    assert.equal((await polls.call('GET', path)).status, 200);
  });

  test('are listed by id, in pages', async () => {
    const wanted = [await create(), await create(), await create()];
    const all = await polls.call('GET', '/api/questions/');
    const ids = all.json.map(({ id }: { id: number }) => id);
    assert.deepEqual(
      ids,
      [...ids].sort((a, b) => a - b),
    );
    assert.equal(all.headers.get('x-total-count'), String(ids.length));
    assert.equal(all.headers.get('link'), null);
    const page = await polls.call('GET', `/api/questions/?limit=2&offset=${ids.length - 3}`);
    assert.deepEqual(
      page.json.map(({ id }: { id: number }) => id),
      wanted.slice(0, 2),
    );
    assert.equal(page.headers.get('x-total-count'), String(ids.length));
    assert.match(page.headers.get('link') ?? '', /rel="next", .*rel="prev"/);
    const beyond = await polls.call('GET', '/api/questions/?offset=1000');
    assert.deepEqual([beyond.json, beyond.headers.get('x-total-count')], [[], String(ids.length)]);
  });
});

describe('choices', () => {
  const path = '/api/choices/';

  test('belong to a question, with their counts for holders of a token', async () => {
    const id = await create();
    const created = await polls.call('POST', path, {
      body: { question: id, choice_text: 'Tea', is_correct: 'true' },
    });
    const { id: choice } = created.json;
    assert.deepEqual(
      [created.status, created.json],
      [...[201, { id: choice, question: id, choice_text: 'Tea', is_correct: true, votes: 0 }]],
    );
    assert.equal(created.headers.get('location'), `/api/choices/${choice}/`);
    const open = { id: choice, question: id, choice_text: 'Tea' };
    assert.deepEqual((await polls.call('GET', `/api/choices/${choice}/`)).json, open);
    assert.deepEqual((await polls.call('GET', `${path}?question=${id}`)).json, [open]);
    const { json } = await polls.call('GET', `${path}?question=${id}`, {
      authorization: `Token ${polls.token}`,
    });
    assert.deepEqual(json, [created.json]);
    assert.deepEqual((await polls.call('GET', `${path}?question=999999`)).json, []);
    assert.deepEqual((await polls.call('GET', `${path}?question=abc`)).status, 400);
    await polls.call('DELETE', `/api/questions/${id}/`);
    assert.equal((await polls.call('GET', `/api/choices/${choice}/`)).status, 404);
  });

  test('of a future question are hidden with it', async () => {
    const id = await create(future);
    const { json } = await polls.call('POST', path, { body: { question: id, choice_text: 'Tea' } });
    assert.equal((await polls.call('GET', `/api/choices/${json.id}/`)).status, 404);
    assert.deepEqual((await polls.call('GET', `${path}?question=${id}`)).json, []);
  });

  test('name the question that is not there', async () => {
    const errorsOf = async (body: object) => (await polls.call('POST', path, { body })).json;
    assert.deepEqual(await errorsOf({ question: 999_999, choice_text: '' }), {
      question: ['Invalid pk "999999" - object does not exist.'],
      choice_text: ['This field may not be blank.'],
    });
    assert.deepEqual(await errorsOf({ question: 'x', choice_text: 'a' }), {
      question: ['Incorrect type. Expected pk value, received str.'],
    });
  });

  test('have at most one correct one, also when many change at once', async () => {
    const { choices } = await polls.createPoll(['Right', 'Wrong']);
    const [right, wrong] = choices;
    const second = { is_correct: ['Question already has a correct choice.'] };
    const change = (id: number | undefined, body: object) =>
      polls.call('PATCH', `/api/choices/${id}/`, { body });
    assert.deepEqual((await change(wrong, { is_correct: true })).json, second);
    const { json } = await polls.call('GET', `/api/choices/${right}/`, {
      authorization: `Token ${polls.token}`,
    });
    const bodyOf = (id: number | undefined, is_correct: boolean) => ({
      id,
      question: json.question,
      choice_text: 'x',
      is_correct,
    });
    const both = await polls.call('PUT', path, { body: [bodyOf(right, true), bodyOf(wrong, true)] });
    assert.deepEqual([both.status, both.json], [400, { 1: second }]);
    const twice = await polls.call('PUT', path, {
      body: [bodyOf(right, true), bodyOf(wrong, false), bodyOf(right, false)],
    });
    assert.deepEqual([twice.status, twice.json], [400, { 2: { id: ['Each id may be named only once.'] } }]);
    const swapped = await polls.call('PUT', path, { body: [bodyOf(wrong, true), bodyOf(right, false)] });
    assert.deepEqual(
      swapped.json.map((each: { is_correct: boolean }) => each.is_correct),
      [true, false],
    );
    const racing = await Promise.all(
      Array.from({ length: 8 }, () =>
        polls.call('POST', path, { body: { question: json.question, choice_text: 'x', is_correct: true } }),
      ),
    );
    assert.deepEqual(
      racing.map(({ json: body }) => body),
      Array(8).fill(second),
    );
  });

  test('are deleted with their votes', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B']);
    await polls.call('POST', `/api/questions/${id}/vote/`, { body: { choice: choices[0] } });
    const { json } = await polls.call('DELETE', path, { body: { ids: choices } });
    assert.deepEqual(json, { deleted: 2 });
    assert.deepEqual((await polls.call('GET', `${path}?question=${id}`)).json, []);
  });
});

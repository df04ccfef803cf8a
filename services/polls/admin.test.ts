import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { sql } from 'kysely';
import { password, startPolls, type TestPolls } from './testing.ts';

let polls: TestPolls;
let alice: PageClient;
before(async () => {
  polls = await startPolls();
  alice = await signedIn('alice');
});
after(() => polls[Symbol.asyncDispose]());

async function signedIn(username: string): Promise<PageClient> {
  const client = new PageClient(polls.url);
  await client.open('/admin/login/');
  const { headers } = await client.send('/admin/login/', { username, password });
  assert.equal(headers.get('location'), '/admin/');
  return client;
}

/** The fields of a form, as a browser would send them. */
function fieldsOf(html: string): Record<string, string> {
  const inputs = [...html.matchAll(/<input[^>]*\bname="([^"]+)"[^>]*>/g)].map(([tag, name = '']) => {
    const isUnchecked = /type="(checkbox|radio)"/.test(tag) && !/\bchecked\b/.test(tag);
    return [name, isUnchecked ? undefined : (/\bvalue="([^"]*)"/.exec(tag)?.[1] ?? '')] as const;
  });
  const selects = [...html.matchAll(/<select[^>]*\bname="([^"]+)"[^>]*>([\s\S]*?)<\/select>/g)].map(
    ([, name = '', options = '']) =>
      [name, /value="([^"]*)" selected/.exec(options)?.[1] ?? /value="([^"]*)"/.exec(options)?.[1]] as const,
  );
  const known = [...inputs, ...selects].filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(known);
}

describe('the admin', () => {
  test('adds a question with its choices, and changes them together', async () => {
    const { html } = await alice.open('/admin/polls/question/add/');
    const rows = [
      ...new Set([...html.matchAll(/name="([^"]*choice_text[^"]*)"/g)].map(([, name = '']) => name)),
    ];
    assert.ok(rows.length >= 2, html);
    const [first = '', second = ''] = rows;
    const added = await alice.send('/admin/polls/question/add/', {
      ...fieldsOf(html),
      question_text: 'Tea or coffee?',
      pub_date: '2026-02-01T08:00:00.123456',
      [first]: 'Tea',
      [second]: 'Coffee',
      [second.replace('choice_text', 'is_correct')]: 'true',
    });
    assert.equal(added.status, 303, added.html);
    const options = { authorization: `Token ${polls.token}` };
    const { json: questions } = await polls.call('GET', '/api/questions/', options);
    const { id, pub_date } = questions.at(-1);
    assert.equal(pub_date, '2026-02-01T08:00:00.123456Z');
    const { json: choices } = await polls.call('GET', `/api/choices/?question=${id}`, options);
    assert.deepEqual(
      choices.map((choice: Record<string, unknown>) => [choice.choice_text, choice.is_correct]),
      [
        ['Tea', false],
        ['Coffee', true],
      ],
    );
    const path = `/admin/polls/question/${id}/change/`;
    const form = fieldsOf((await alice.open(path)).html);
    const tea = Object.keys(form).find((name) => form[name] === 'Tea') ?? '';
    const both = { ...form, question_text: 'Changed', [tea.replace('choice_text', 'is_correct')]: 'true' };
    const refused = await alice.send(path, both);
    assert.match(refused.html, /Question already has a correct choice\./);
    assert.equal((await polls.call('GET', `/api/questions/${id}/`)).json.question_text, 'Tea or coffee?');
  });

  test('limits the answers per vote, and counts people', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B']);
    const path = `/admin/polls/question/${id}/change/`;
    const save = async (max_choices: string) => {
      const { html } = await alice.open(path);
      return alice.send(path, { ...fieldsOf(html), max_choices });
    };
    for (const wrong of ['0', '21', 'x']) assert.equal((await save(wrong)).status, 422, wrong);
    assert.equal((await save('2')).status, 303);
    const { json } = await polls.call('POST', `/api/questions/${id}/vote/`, { body: { choices } });
    assert.equal(json.voters, 1);
    const row = new RegExp(`href="[^"]*/${id}/change/"[\\s\\S]*?</tr>`);
    assert.match(row.exec((await alice.open('/admin/polls/question/')).html)?.[0] ?? '', />1<\/td>/);
  });

  test('does not move a choice with votes to another question, by its form or by a file', async () => {
    const { id, choices } = await polls.createPoll(['A']);
    const other = await polls.createPoll(['B']);
    const path = `/admin/polls/choice/${choices[0]}/change/`;
    const { html } = await alice.open(path);
    await polls.call('POST', `/api/questions/${id}/vote/`, { body: { choice: choices[0] } });
    const moved = { ...fieldsOf(html), question: String(other.id), is_correct: '' };
    const refused = await alice.send(path, moved);
    assert.equal(refused.status, 422);
    assert.match(refused.html, /href="#field-question">This choice has votes and cannot be moved\./);
    await alice.open('/admin/polls/choice/import/');
    const content = `id,question,is_correct\n${choices[0]},${other.id},false\n`;
    const preview = await alice.upload('/admin/polls/choice/import/', { name: 'a.csv', content });
    assert.match(preview.html, /This choice has votes and cannot be moved\./);
    assert.equal((await polls.call('GET', `/api/choices/${choices[0]}/`)).json.question, id);
  });

  test('closes polls, and opens them again', async () => {
    const { id } = await polls.createPoll(['A']);
    const run = async (action: string) => {
      await alice.open('/admin/polls/question/');
      const page = await alice.send('/admin/polls/question/', { action, _selected_action: String(id) });
      if (page.status === 200) await alice.send('/admin/polls/question/', fieldsOf(page.html));
      return (await polls.call('GET', `/api/questions/${id}/`)).json.closes_at;
    };
    assert.equal(await run('close'), '2026-03-01T12:00:00Z');
    const history = await alice.open(`/admin/polls/question/${id}/history/`);
    assert.match(
      history.html,
      /Close now[\s\S]*?Closes: <del>[\s\S]*?<ins><time datetime="2026-03-01T12:00:00/,
    );
    assert.equal(await run('reopen'), null);
  });

  test('says when results would stay hidden, and refuses a close before the publication', async () => {
    const { id } = await polls.createPoll(['A'], { results: 'after_close' });
    const row = new RegExp(`question/${id}/change/"[\\s\\S]*?</tr>`);
    const list = async () => row.exec((await alice.open('/admin/polls/question/')).html)?.[0] ?? '';
    assert.match(await list(), /never: results stay hidden/);
    const path = `/admin/polls/question/${id}/change/`;
    const form = fieldsOf((await alice.open(path)).html);
    const refused = await alice.send(path, { ...form, closes_at: '2026-01-31T23:59' });
    assert.equal(refused.status, 422);
    assert.match(refused.html, /href="#field-closes_at">The poll must not close before it is published\./);
    const { status } = await alice.send(path, { ...form, closes_at: '2026-02-01T00:00' });
    assert.equal(status, 303);
    assert.doesNotMatch(await list(), /stay hidden/);
  });

  test('does not close what is not published yet', async () => {
    const { id } = await polls.createPoll(['A'], { pub_date: '2026-04-01T00:00:00Z' });
    await alice.open('/admin/polls/question/');
    const page = await alice.send('/admin/polls/question/', {
      action: 'close',
      _selected_action: String(id),
    });
    await alice.send('/admin/polls/question/', fieldsOf(page.html));
    const options = { authorization: `Token ${polls.token}` };
    assert.equal((await polls.call('GET', `/api/questions/${id}/`, options)).json.closes_at, null);
  });

  test('tells in the history what the API did, and on the page of a conflict who did it', async () => {
    const { id, choices } = await polls.createPoll(['Tea', 'Coffee']);
    const path = `/admin/polls/question/${id}/change/`;
    const form = fieldsOf((await alice.open(path)).html);
    await polls.call('PATCH', `/api/choices/${choices[1]}/`, { body: { choice_text: 'Cocoa' } });
    const second = Object.keys(form).find((name) => form[name] === 'Coffee') ?? '';
    const conflict = await alice.send(path, { ...form, [second]: 'Milk' });
    assert.equal(conflict.status, 409);
    assert.match(conflict.html, /<b>alice<\/b> changed this <time[^>]*>[^<]*<\/time> through the API/);
    await alice.send(path, { ...fieldsOf(conflict.html), question_text: 'What?' });
    const body = { id, question_text: 'Which?', pub_date: '2026-02-02T00:00:00Z' };
    await polls.call('PUT', '/api/questions/', { body: [body] });
    await polls.call('PATCH', `/api/questions/${id}/`, { body: { question_text: 'Which?' } });
    const history = async (model: string, object: number | undefined) =>
      (await alice.open(`/admin/polls/${model}/${object}/history/`)).html
        .replace(/<time[^>]*>([^<]*)<\/time>/g, '$1')
        .replace(/[\s\S]*<tbody/, '')
        .replace(/<[^>]+>/g, ' ')
        .replace(/\s+/g, ' ');
    const question = await history('question', id);
    assert.match(
      question,
      /alice API Changed Question: What\? → Which\? Published: Feb 1, 2026, 00:00 UTC → Feb 2, 2026, 00:00 UTC .*alice Admin Changed .*Which one\? → What\?.*alice API Changed “Cocoa” Choice: Coffee → Cocoa .*alice API Added “Coffee” Question: Which one\? Choice: Coffee Correct: false.*alice API Added/,
    );
    assert.equal(question.match(/API Changed/g)?.length, 2, 'a change that changes nothing is no entry');
    const choice = await history('choice', choices[1]);
    assert.match(choice, /alice API Changed Choice: Coffee → Cocoa .*alice API Added/);
    await polls.call('DELETE', '/api/choices/', { body: { ids: choices } });
    await using database = await polls.openDatabase();
    const last = database.kysely.selectFrom('admin_log').select(['title', 'user_name', 'via']);
    const deleted = await last.where('action', '=', 'delete').orderBy('id').execute();
    assert.deepEqual(
      deleted.map((entry) => Object.values(entry)),
      [
        ['Tea', 'alice', 'api'],
        ['Milk', 'alice', 'api'],
      ],
    );
  });

  test('lists tokens by how they begin, and revokes them', async () => {
    const { json } = await polls.call('POST', '/api/token/', {
      body: { username: 'bob', password },
      authorization: undefined,
    });
    const { html } = await alice.open('/admin/auth/token/');
    assert.ok(html.includes(`${json.token.slice(0, 6)}…`));
    assert.ok(!html.includes(json.token));
    const read = () => polls.call('GET', '/api/questions/', { authorization: `Token ${json.token}` });
    assert.equal((await read()).status, 200);
    const id = /\/admin\/auth\/token\/(\d+)\//.exec(html)?.[1];
    const page = await alice.open(`/admin/auth/token/${id}/delete/`);
    assert.equal(page.status, 200);
    await alice.send(`/admin/auth/token/${id}/delete/`, fieldsOf(page.html));
    assert.equal((await read()).status, 401);
  });

  test('has a page for each model, and none for staff without permission', async () => {
    const bob = await signedIn('bob');
    for (const model of ['polls/question', 'polls/choice', 'auth/user', 'auth/group', 'auth/token']) {
      assert.equal((await alice.open(`/admin/${model}/`)).status, 200, model);
      assert.equal((await bob.open(`/admin/${model}/`)).status, 403, model);
      assert.equal((await new PageClient(polls.url).open(`/admin/${model}/`)).status, 302, model);
    }
    const csv = await alice.open('/admin/polls/choice/export/?format=csv');
    assert.match(csv.html, /choice_text/);
  });

  test('deletes a poll with many votes while others write', async () => {
    const { id, choices } = await polls.createPoll(['A']);
    await using database = await polls.openDatabase();
    await database.write(({ kysely }) =>
      sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < 40000)
        insert into vote (choice, created_at_ms) select ${choices[0]}, i from n`.execute(kysely),
    );
    await alice.open('/admin/polls/question/');
    let isOver = false;
    const deletion = alice.send(`/admin/polls/question/${id}/delete/`, { post: 'yes' }).finally(() => {
      isOver = true;
    });
    let writes = 0;
    for (; !isOver; writes++) await polls.createPoll([]);
    assert.equal((await deletion).status, 303);
    assert.ok(writes >= 6, `${writes} writes of another user`);
    assert.equal((await polls.call('GET', `/api/questions/${id}/`)).status, 404);
    const votes = database.kysely.selectFrom('vote').select('id').where('choice', 'in', choices);
    const left = await votes.limit(1).execute();
    assert.deepEqual(left, []);
  });

  test('leads to the page of a question once it is published', async () => {
    const { html } = await alice.open('/admin/polls/question/add/');
    for (const [pub_date, isShown] of [
      ['2020-02-01T08:00:00', true],
      ['2090-02-01T08:00:00', false],
    ] as const) {
      const question = { ...fieldsOf(html), question_text: `Since ${pub_date}?`, pub_date, _continue: '1' };
      const { location } = await alice.send('/admin/polls/question/add/', question);
      const page = await alice.open(location);
      const link = /href="(\/polls\/\d+\/results\/)">View on site</.exec(page.html)?.[1];
      assert.equal(link !== undefined, isShown, pub_date);
      if (link) assert.equal((await alice.open(link)).status, 200);
      const [, id] = /question\/(\d+)\//.exec(location) ?? [];
      const { html: blank } = await alice.open('/admin/polls/choice/add/');
      const choice = { ...fieldsOf(blank), question: id ?? '', choice_text: 'A', _continue: '1' };
      const added = await alice.send('/admin/polls/choice/add/', choice);
      const onSite = /href="(\/polls\/\d+\/results\/)">View on site</.exec(
        (await alice.open(added.location)).html,
      );
      assert.equal(onSite?.[1], link, `a choice of a poll since ${pub_date}`);
      await alice.send(location.replace('/change/', '/delete/'), { post: 'yes' });
    }
  });
});

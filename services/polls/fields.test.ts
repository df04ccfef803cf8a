import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { questionFields } from './poll.ts';
import { password, startPolls } from './testing.ts';

const places = ['the page', 'the form for people', 'the admin'] as const;
type Place = (typeof places)[number];

/** The places that have a field, besides the API, which has all; and a value other than the default, with its look on the page. */
const declared: Readonly<Record<string, { value: unknown; shown: RegExp; places: readonly Place[] }>> = {
  question_text: { value: 'Gnus or okapis?', shown: /Gnus or okapis\?/, places },
  pub_date: { value: '2026-02-01T00:00:00Z', shown: /2026-02-01T/, places: ['the page', 'the admin'] },
  closes_at: { value: '2027-02-01T00:00:00Z', shown: /2027-02-01T/, places },
  results: { value: 'after_vote', shown: /After you vote/, places },
  duplicates: { value: 'address', shown: /Once per address/, places },
  max_choices: { value: 2, shown: /Answers per vote/, places },
  visibility: { value: 'link', shown: /Only with the link/, places: ['the form for people', 'the admin'] },
};

const polls = await startPolls();
after(() => polls[Symbol.asyncDispose]());

test('every place says yes or no for every field of a question', async () => {
  const values = Object.fromEntries(Object.entries(declared).map(([field, { value }]) => [field, value]));
  const { id } = await polls.createPoll(['Gnus', 'Okapis'], values);
  const { json } = await polls.call('GET', `/api/questions/${id}/`);
  const alice = new PageClient(polls.url);
  await alice.open('/admin/login/');
  await alice.send('/admin/login/', { username: 'alice', password });
  const page = (await new PageClient(polls.url).open(`/polls/${id}/`)).html;
  const form = (await alice.open('/polls/new/')).html;
  const admin = (await alice.open(`/admin/polls/question/${id}/change/`)).html;
  for (const [field, schema] of Object.entries(questionFields)) {
    const expected = declared[field];
    assert.ok(expected, `a question has a new field: say in this test which places have ${field}`);
    assert.deepEqual(json[field], expected.value, `the API has ${field}`);
    assert.notEqual((schema as { default?: unknown }).default, expected.value);
    const found: Record<Place, boolean> = {
      'the page': expected.shown.test(page),
      'the form for people': new RegExp(`name="${field}[".]`).test(form),
      'the admin': new RegExp(`name="${field}[".]`).test(admin),
    };
    for (const place of places) {
      const verb: string = expected.places.includes(place) ? 'should have' : 'is not declared to have';
      assert.equal(found[place], expected.places.includes(place), `${place} ${verb} ${field}`);
    }
  }
});

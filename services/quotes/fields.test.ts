import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Quote } from './quotes/json.ts';
import { quoteFields } from './quotes/quote.ts';
import { startQuotes } from './testing.ts';

const places = ['the list', 'the page', 'the form', 'the admin', 'a change that waits'] as const;
type Place = (typeof places)[number];

/** The places that have a field, besides the JSON of the API, which has all. */
const placesOf: Readonly<Record<string, readonly Place[]>> = {
  id: ['the list'],
  text: [...places],
  author: [...places],
  category: [...places],
  like_set: [],
  source: [...places],
  attribution: [...places],
  // Only while a change waits, which the test of moderation has.
  pending: [],
};

const quote = {
  text: 'Gnus keep no calendars.',
  author: 'Quill Zander',
  category: 'Zebras',
  source: 'On the steppe, chapter 7',
  attribution: 'disputed',
};
const change = {
  text: 'Okapis keep no calendars.',
  author: 'Zander Quill',
  category: 'Okapis',
  source: 'On the steppe, chapter 8',
  attribution: 'verified',
};

const app = await startQuotes({ environment: { QUOTES_MODERATION: 'on' } });
after(() => app[Symbol.asyncDispose]());

test('every place says yes or no for every field of a quote', async () => {
  const id = await app.add(quote);
  await app.act('quote', 'publish', [id]);
  const { json } = await app.call('GET', `/api/quotes/${id}/`);
  const waiting = await app.call('PUT', `/api/quotes/${id}/`, { body: change, token: app.tokens.alice });
  const alice = await app.browser('alice');
  const dora = await app.browser('dora');
  const page = (await app.browser()).open(`/quotes/${id}/`);
  const html = {
    'the list': (await (await app.browser()).open('/quotes/')).html,
    'the page': (await page).html,
    'the form': (await alice.open('/quotes/new/')).html,
    'the admin': (await dora.open(`/admin/quotes/quote/${id}/change/`)).html,
  };
  const shows = (text: string, field: string) => {
    if (field === 'id') return text.includes(`href="/quotes/${id}/"`);
    if (field === 'attribution') return />disputed</i.test(text);
    const value = quote[field as keyof typeof quote];
    return value !== undefined && text.includes(value);
  };
  for (const field of Object.keys(Quote.properties)) {
    const declared = placesOf[field];
    assert.ok(declared, `a quote has a new field: say in placesOf of this test which places have ${field}`);
    if (field !== 'pending') assert.ok(field in json, `the API has ${field}`);
    const found: Record<Place, boolean> = {
      'the list': shows(html['the list'].replaceAll(/<\/?mark>/g, ''), field),
      'the page': shows(html['the page'].replace(/<head>[\s\S]*<\/head>/, ''), field),
      'the form': html['the form'].includes(`name="${field}"`),
      'the admin': html['the admin'].includes(`name="${field}"`),
      'a change that waits': field in (waiting.json.pending ?? {}),
    };
    for (const place of places) {
      const verb: string = declared.includes(place) ? 'should have' : 'is not declared to have';
      assert.equal(found[place], declared.includes(place), `${place} ${verb} ${field}`);
    }
  }
  for (const field of Object.keys(quoteFields))
    assert.ok(field in json, `the API lacks ${field}, which people write`);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { csvHeader } from '../exports/format.ts';
import { castOf, visitorsOf } from '../testing.ts';
import { Post } from './post.ts';

const places = ['the export as CSV', 'the import', 'the list', 'the page of a post', 'the form'] as const;
type Place = (typeof places)[number];

/** The places that have a field, besides the JSON of the API, which has all. */
const placesOf: Readonly<Record<string, readonly Place[]>> = {
  id: ['the export as CSV', 'the list', 'the page of a post'],
  userId: ['the export as CSV', 'the import', 'the list', 'the page of a post'],
  title: [...places],
  body: [...places],
  createdAt: ['the export as CSV', 'the list', 'the page of a post'],
  updatedAt: ['the export as CSV', 'the list', 'the page of a post'],
};

test('every place says yes or no for every field of a post', async () => {
  await using system = await startTestSystem();
  const { alice } = await castOf(system);
  const pages = (await visitorsOf(system)).alice;
  const plain: Record<string, unknown> = await alice.create({ title: 'A zebra', body: 'A gnu.' });
  const created = await alice.create({ title: 'A quagga', body: 'An okapi.', userId: 431_431 });
  const changed = await alice.put(`/posts/${created.id}`, { title: 'Another quagga' });
  const post = changed.json.data as Record<string, unknown>;
  const exported = (await alice.get('/posts/export?format=json')).json as (typeof post)[];
  assert.deepEqual(
    exported.find(({ id }) => id === post.id),
    post,
    'the export as JSON has every field',
  );
  const imported = await alice.post('/posts/bulk', { posts: [post] });
  assert.equal(imported.json.data.created, 1, imported.text);
  const copy = (await alice.get(`/posts/${imported.json.data.postIds[0]}`)).json.data;
  const columns = csvHeader.trim().split(',');
  const list = (await pages.open('/?search=Another')).html;
  const page = (await pages.open(`/posts/${post.id}`)).html;
  const form = (await pages.open(`/posts/${post.id}/edit`)).html;
  const shows = (html: string, value: unknown) =>
    html.replaceAll(/<\/?mark>/g, '').includes(`>${value}<`) || html.includes(`datetime="${value}"`);
  for (const field of Object.keys(Post.properties)) {
    const declared: readonly Place[] | undefined = placesOf[field];
    assert.ok(declared, `a post has a new field: say in placesOf of this test which places have ${field}`);
    // With its default, a field that an import drops would look as if it had it.
    const isTime = field === 'createdAt' || field === 'updatedAt';
    const advice = `give ${field} a value other than its default in the set-up of this test`;
    assert.ok(isTime || post[field] !== plain[field], advice);
    const found: Record<Place, boolean> = {
      'the export as CSV': columns.includes(field),
      'the import': copy[field] === post[field],
      'the list': shows(list, post[field]),
      'the page of a post': shows(page, post[field]),
      'the form': form.includes(`name="${field}"`),
    };
    for (const place of places) {
      const verb: string = declared.includes(place) ? 'should have' : 'is not declared to have';
      assert.equal(found[place], declared.includes(place), `${place} ${verb} ${field}`);
    }
  }
});

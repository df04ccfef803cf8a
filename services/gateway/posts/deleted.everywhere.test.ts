import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { until } from '@octavo/testing';
import { assertError, castOf, visitorsOf } from '../testing.ts';

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);
const { alice, bob, charlie } = await visitorsOf(system);

describe('a deleted post', () => {
  test('is listed and restored by users who may write', async () => {
    const post = await cast.alice.create({ title: 'Gone for now' });
    await cast.bob.delete(`/posts/${post.id}`);
    const { json, status } = await cast.alice.get('/posts/deleted?pageSize=1');
    assert.equal(status, 200);
    const [listed] = json.data;
    const { deletedAt, keptUntil, ...rest } = listed;
    assert.deepEqual(rest, post);
    assert.equal(Date.parse(keptUntil) - Date.parse(deletedAt), 30 * 86_400_000);
    const restored = await cast.alice.post(`/posts/${post.id}/restore`);
    assert.equal(restored.status, 200, restored.text);
    assert.deepEqual(restored.json.data, post);
    assert.deepEqual((await cast.charlie.get(`/posts/${post.id}`)).json.data, post);
    assertError(await cast.alice.post(`/posts/${post.id}/restore`), 404, 'NOT_FOUND');
  });

  test('is not for readers, and its list has limits', async () => {
    const { id } = await cast.alice.create();
    await cast.bob.delete(`/posts/${id}`);
    assertError(await cast.charlie.get('/posts/deleted'), 403, 'FORBIDDEN');
    assertError(await cast.charlie.post(`/posts/${id}/restore`), 403, 'FORBIDDEN');
    assertError(await cast.stranger.get('/posts/deleted'), 401, 'UNAUTHORIZED');
    assertError(await cast.bob.get('/posts/deleted?page=0'), 400, 'INVALID_INPUT');
    assertError(await cast.bob.post('/posts/0/restore'), 400, 'INVALID_INPUT');
    assert.equal((await charlie.open('/posts/deleted')).status, 403);
    assert.doesNotMatch((await charlie.open('/')).html, /Deleted posts/);
  });

  test('comes back by the button of the message, and from the page of deleted posts', async () => {
    const { id } = await cast.alice.create({ title: 'By <mistake>' });
    await bob.open(`/posts/${id}/delete`);
    await bob.send(`/posts/${id}/delete`, {});
    const { html } = await bob.open('/');
    assert.match(html, new RegExp(`Post ${id} is deleted\\.[\\s\\S]*>Undo<`));
    const undone = await bob.send('/posts/restore', { ids: String(id) });
    assert.equal(undone.location, `/posts/${id}`);
    assert.match((await bob.open(`/posts/${id}`)).html, /1 post restored/);
    await cast.bob.delete(`/posts/${id}`);
    const page = await alice.open('/posts/deleted');
    assert.match(page.html, /By &lt;mistake&gt;[\s\S]*aria-label="Restore/);
    assert.equal((await alice.send('/posts/restore', { ids: String(id) })).location, `/posts/${id}`);
    const again = await alice.send('/posts/restore', { ids: `${id},x,` });
    assert.equal(again.location, '/posts/deleted');
    assert.match((await alice.open('/posts/deleted')).html, /nothing to restore/);
  });

  test('comes back with the others that were selected', async () => {
    const posts = [await cast.alice.create(), await cast.alice.create(), await cast.alice.create()];
    const ids = posts.map(({ id }) => id);
    await bob.open(`/posts/delete?${ids.map((id) => `id=${id}`).join('&')}`);
    await bob.send('/posts/delete', { id: ids.map(String) });
    assert.match((await bob.open('/')).html, new RegExp(`name="ids" value="${ids.join(',')}"`));
    await bob.send('/posts/restore', { ids: ids.join(',') });
    assert.match((await bob.open('/')).html, /3 posts restored/);
    for (const id of ids) assert.equal((await cast.charlie.get(`/posts/${id}`)).status, 200);
  });
});

test('the list shows how each post was classified', async () => {
  const word = `delighted${Date.now()}`;
  await cast.alice.create({ title: `${word} What a wonderful day`, body: 'I love it, thank you so much!' });
  const page = await until(async () => {
    const { html } = await charlie.open(`/?search=${word}`);
    return html.includes('>positive</span>') && html;
  });
  assert.match(page, />Sentiment<\/th>[\s\S]*<span class="badge good">positive<\/span>/);
});

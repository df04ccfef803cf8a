import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testMode } from '@octavo/testing';
import { mountingIsForbidden, mountSmallDisk } from '@octavo/testing/engines';
import { startQuotes } from '../testing.ts';

const { databaseUrl } = await testMode();

test('the quote of the day is read where it cannot be pinned', {
  skip: mountingIsForbidden() || (databaseUrl !== undefined && 'the disk is that of SQLite'),
}, async () => {
  const disk = mountSmallDisk(8 * 1024 * 1024);
  await using app = await startQuotes({ folder: disk.folder });
  const ids = [await app.add(), await app.add(), await app.add()];
  disk.fill();
  const text = 'x'.repeat(2_000);
  const { bob: token } = app.tokens;
  for (let status = 201; status === 201; )
    ({ status } = await app.call('POST', `/api/quotes/${ids[0]}/comments/`, { token, body: { text } }));
  const browser = await app.browser();
  const page = await browser.open('/');
  assert.deepEqual([page.status, page.headers.get('cache-control')], [200, 'no-store']);
  const today = await app.call('GET', '/api/quotes/today/');
  assert.deepEqual([today.status, today.headers.get('cache-control')], [200, 'no-store']);
  assert.ok(page.html.includes(today.json.text));
  for (const path of [`/quotes/${ids[0]}/`, '/categories/life/', '/search/?q=quote', '/accounts/login/'])
    assert.equal((await browser.open(path)).status, 200, path);
  disk.free();
  const pinned = await app.call('GET', '/api/quotes/today/');
  assert.deepEqual(pinned.json, today.json);
  assert.match(pinned.headers.get('cache-control') ?? '', /^public, max-age=/);
});

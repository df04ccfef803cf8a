import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import type { PageClient, PageResponse } from '@octavo/testing';
import { longestTurnOf, testFolder, until } from '@octavo/testing';
import { castOf, importFile, visitorsOf } from '../testing.ts';

/** Limit on a machine that is busy with other tests. Without slices, others waited for seconds. */
const blockedMsMax = 1_000;
const dataFolder = testFolder('imports');
const system = await startTestSystem({ OCTAVO_DATA: dataFolder, EVENT_STREAM: 'off' });
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);
const { alice } = await visitorsOf(system);

async function total(): Promise<number> {
  return (await cast.alice.get('/posts?pageSize=1')).json.pagination.totalItems;
}

/** The page after an import, and the longest computation without a turn for other requests. */
async function timedImport(
  content: string,
  name = 'posts.json',
): Promise<PageResponse & { readonly blockedMs: number }> {
  const { result, longestMs } = await longestTurnOf(() => importFile(alice, { name, content }));
  return { ...result.result, blockedMs: longestMs };
}

/** The address of the preview of a file. */
async function uploaded(content: string, name = 'posts.csv'): Promise<string> {
  await alice.open('/posts/import');
  const { location } = await alice.upload('/posts/import', { name, content });
  return location.replace(/\?.*/, '');
}

describe('an imported file', () => {
  test('of millions of rows that cannot be saved delays no other request, and ends early', async () => {
    const { html, blockedMs } = await timedImport(`[${'{},'.repeat(2_000_000)}{}]`);
    assert.match(html, /More than 10,000 rows are not valid[\s\S]*0 posts saved/);
    assert.equal(html.match(/title is required/g)?.length, 200);
    assert.ok(blockedMs < blockedMsMax, `blocked for ${blockedMs} ms`);
  });

  test('of many columns or short lines delays no other request', async () => {
    const columns = Array.from({ length: 60_000 }, (_, index) => index.toString(36));
    const wide = await timedImport(`title,body,${columns}\n${'a,b\n'.repeat(500_000)}`, 'a.csv');
    assert.match(wide.html, /names more than 1,000 columns|more than 300,000 characters/);
    assert.ok(wide.blockedMs < blockedMsMax, `blocked for ${wide.blockedMs} ms`);
    const short = await timedImport(`title,body\n${'a\n'.repeat(2_000_000)}`, 'a.csv');
    assert.match(short.html, /More than 10,000 rows are not valid/);
    assert.ok(short.blockedMs < blockedMsMax, `blocked for ${short.blockedMs} ms`);
  });

  test('is imported no further when its sender goes, and continued without a row dropped or doubled', async () => {
    // Equal rows, of which some cannot be saved.
    const lines = Array.from({ length: 40_000 }, (_, index) =>
      index % 1_000 === 7 ? ',bad' : 'Left,behind',
    );
    const before = await total();
    const path = await uploaded(`title,body\n${lines.join('\n')}\n`);
    const gone = new AbortController();
    const sent = begin(path, gone.signal);
    await until(async () => (await total()) > before);
    gone.abort();
    await sent;
    let seen = -1;
    await until(async () => {
      const last = seen;
      seen = await total();
      return seen === last;
    });
    const valid = lines.filter((line) => line !== ',bad').length;
    assert.ok(seen - before < valid, `${seen - before} of ${valid} rows`);
    assert.match((await alice.open(path)).html, /This import has not ended[\s\S]*Continue the import/);
    const { location } = await alice.send(path, { do: 'import', name: 'other.json', 'map-title': 'body' });
    assert.match((await alice.open(location)).html, /39,960 posts saved, 40 rows not saved/);
    assert.equal(await total(), before + valid);
  });

  test('is saved once, even if it is imported twice at the same time', async () => {
    const before = await total();
    const path = await uploaded(`title,body\n${'Twice,at once\n'.repeat(3_000)}`);
    await Promise.all([1, 2].map(() => alice.send(path, { do: 'import', name: 'a.csv' })));
    assert.equal(await total(), before + 3_000);
    assert.match((await alice.open(path)).html, /3,000 posts saved\./);
  });

  test('is not kept if it arrives in part', async () => {
    const before = (await readdir(join(dataFolder, 'uploads'), { recursive: true })).length;
    const upload = await beginUpload(alice, `title,body\n${'Half,of it\n'.repeat(100_000)}`);
    const closed = new Promise((resolve) => upload.once('close', resolve));
    upload.destroy();
    await closed;
    const { html } = await timedImport('title,body\nWhole,file\n', 'a.csv');
    assert.match(html, /1 post saved/);
    const files = await readdir(join(dataFolder, 'uploads'), { recursive: true });
    // The result of the second one.
    assert.equal(files.length, before + 2);
  });

  test('waits for no slow upload, of which each user may have eight', async () => {
    const content = `title,body\n${'Slow,upload\n'.repeat(100_000)}`;
    await alice.open('/posts/import');
    const slow = await Promise.all(Array.from({ length: 9 }, () => beginUpload(alice, content)));
    try {
      const responses = slow.map((upload) =>
        once(upload, 'response').then(([response]) => ({ upload, response })),
      );
      const ninth: { upload: ClientRequest; response: IncomingMessage } = await Promise.race(responses);
      assert.equal(ninth.response.statusCode, 503);
      assert.ok(Number(ninth.response.headers['retry-after']) >= 1);
      const file = { name: 'a.csv', content: 'title,body\nQuick,file\n' };
      assert.equal((await alice.upload('/posts/import', file)).status, 503);
      slow.find((upload) => upload !== ninth.upload)?.destroy();
      await until(async () => (await alice.upload('/posts/import', file)).status === 303);
    } finally {
      for (const upload of slow) upload.destroy();
    }
  });

  test('of more than 256 MB is refused before it is read', async () => {
    await alice.open('/posts/import');
    const upload = openUpload(alice, 257 * 1024 * 1024);
    upload.flushHeaders();
    const [response] = (await once(upload, 'response')) as [IncomingMessage];
    upload.destroy();
    assert.equal(response.statusCode, 413);
  });
});

/** Sends the form of a preview, and goes when the signal says so. */
async function begin(path: string, signal: AbortSignal): Promise<void> {
  const headers = { accept: 'application/x-ndjson' };
  const body = new URLSearchParams({ _csrf: alice.token, do: 'import', name: 'posts.csv' });
  try {
    await alice.open(path, { method: 'POST', body, headers, signal });
  } catch {
    assert.ok(signal.aborted);
  }
}

const boundary = 'a-boundary-of-the-test';

function openUpload(client: PageClient, length: number): ClientRequest {
  const upload = request(new URL('/posts/import', system.url), {
    method: 'POST',
    headers: {
      accept: 'text/html',
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': length,
      cookie: [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'sec-fetch-site': 'same-origin',
    },
  });
  upload.on('error', () => {});
  return upload;
}

/** Sends the first half of the form, and leaves the connection open. */
async function beginUpload(client: PageClient, content: string): Promise<ClientRequest> {
  const part = (head: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
  await client.open('/posts/import');
  const body = Buffer.from(
    `${part('name="_csrf"', client.token)}${part('name="file"; filename="posts.csv"', content)}--${boundary}--\r\n`,
  );
  const upload = openUpload(client, body.length);
  await new Promise((resolve) => upload.write(body.subarray(0, body.length / 2), resolve));
  return upload;
}

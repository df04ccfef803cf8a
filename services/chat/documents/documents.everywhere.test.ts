import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { createLog } from '@octavo/core/log';
import { configOf, openServiceDatabase } from '@octavo/data/service';
import { until } from '@octavo/testing';
import { chat as service } from '../service.ts';
import type { Tables } from '../tables.ts';
import { startChat } from '../testing.ts';

const chat = await startChat();
after(() => chat[Symbol.asyncDispose]());
const found = async (query: string): Promise<string[]> => {
  const { json } = await chat.send('POST', '/api/search', { query });
  return json.results.map(({ snippet }: { snippet: string }) => snippet);
};

test('the same bytes are one document', async () => {
  const file = { name: 'tides.txt', content: 'High tide in Brest comes at seven.' };
  const first = await chat.upload([file], { tags: 'sea, france' });
  assert.equal(first.status, 201);
  const again = await chat.upload([{ ...file, name: 'other.txt' }]);
  assert.equal(again.status, 200);
  assert.equal(again.json.documents[0].status, 'duplicate');
  assert.equal(again.json.documents[0].document_id, first.json.documents[0].document_id);
  const [one, other] = await Promise.all([
    chat.upload([{ name: 'a.txt', content: 'Twice at the same time.' }]),
    chat.upload([{ name: 'a.txt', content: 'Twice at the same time.' }]),
  ]);
  assert.equal(one.json.documents[0].document_id, other.json.documents[0].document_id);
});

test('a new version under the same name is added, refused, or takes the place of the old one', async () => {
  const send = (content: string, mode: string) =>
    chat.upload([{ name: 'rules.md', content }], { on_duplicate: mode });
  await send('The gate closes at ten.', 'skip');
  const second = await send('The gate closes at eleven.', 'skip');
  assert.deepEqual(second.json.documents[0].warnings, ['Another document has the same name.']);
  assert.equal((await send('The gate closes at noon.', 'error')).json.error.code, 'duplicate');
  assert.equal((await send('The gate never closes.', 'replace')).status, 201);
  assert.deepEqual(
    (await found('When does the gate close?')).filter((text) => text.includes('gate')),
    ['The gate never closes.'],
  );
  assert.equal((await send('x', 'perhaps')).status, 400);
});

test('of several files those that can be read are kept', async () => {
  const mixed = await chat.upload([
    { name: 'good.txt', content: 'The beacon is red.' },
    { name: 'bad.exe', content: 'MZ' },
    { name: 'broken.json', content: '{' },
  ]);
  assert.equal(mixed.status, 207);
  assert.equal(mixed.json.documents.length, 1);
  assert.deepEqual(
    mixed.json.errors.map(({ code }: { code: string }) => code),
    ['unsupported_media_type', 'unprocessable_document'],
  );
  assert.equal((await chat.upload([{ name: 'bad.exe', content: 'MZ' }])).status, 415);
  assert.equal((await chat.upload([{ name: 'broken.json', content: '{' }])).status, 422);
  assert.equal((await chat.upload([{ name: 'empty.txt', content: '' }])).status, 422);
  assert.equal((await chat.upload([])).status, 400);
  const eleven = Array.from({ length: 11 }, (_, n) => ({ name: `${n}.txt`, content: `${n}` }));
  assert.equal((await chat.upload(eleven)).status, 400);
  assert.equal((await chat.upload([{ name: 'large.txt', content: 'x'.repeat(26 * 2 ** 20) }])).status, 413);
});

test('a document gives its bytes, its text and its chunks, which are parts of the text', async () => {
  const content = '# Ferry\n\n## Times\n\nIt sails **daily**.\n';
  const { json } = await chat.upload([{ name: 'fähre.md', content }]);
  const path = `/api/documents/${json.documents[0].document_id}`;
  const file = await chat.send('GET', `${path}/content`);
  assert.equal(file.text, content);
  assert.match(
    file.headers.get('content-disposition') ?? '',
    /^attachment; filename\*=UTF-8''f%C3%A4hre\.md$/,
  );
  assert.equal(file.headers.get('x-content-type-options'), 'nosniff');
  assert.match(file.headers.get('content-security-policy') ?? '', /sandbox/);
  const { text } = await chat.send('GET', `${path}/text`);
  assert.equal(text, 'Ferry\n\nTimes\n\nIt sails daily.');
  const { json: chunks } = await chat.send('GET', `${path}/chunks`);
  assert.deepEqual(
    chunks.map((chunk: { section: string; start: number; end: number; text: string }) => [
      chunk.section,
      text.slice(chunk.start, chunk.end) === chunk.text,
    ]),
    [['Ferry > Times', true]],
  );
  for (const part of ['', '/content', '/text', '/chunks']) {
    assert.equal((await chat.send('GET', `/api/documents/none${part}`)).status, 404);
  }
});

test('reading a document again keeps its id', async () => {
  const { json } = await chat.upload([{ name: 'buoy.txt', content: 'The buoy rings in fog.' }]);
  const path = `/api/documents/${json.documents[0].document_id}`;
  const again = await chat.send('POST', `${path}/reindex`);
  assert.equal(again.status, 200, again.text);
  assert.equal(again.json.sha256, json.documents[0].sha256);
  assert.equal((await chat.send('GET', `${path}/content`)).text, 'The buoy rings in fog.');
  assert.deepEqual(await found('buoy fog').then(([best]) => best), 'The buoy rings in fog.');
  assert.equal((await chat.send('POST', '/api/documents/none/reindex')).status, 404);
});

test('a folder is compared with the library', async () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const { json } = await chat.send('POST', '/api/documents/sync', {
    files: [
      { path: 'notes/buoy.txt', sha256: sha256('The buoy rings in fog.') },
      { path: 'notes/tides.txt', sha256: sha256('other') },
      { path: 'notes/new.txt', sha256: sha256('new') },
    ],
  });
  assert.deepEqual(
    [json.unchanged, json.change, json.add],
    [['notes/buoy.txt'], ['notes/tides.txt'], ['notes/new.txt']],
  );
  assert.ok(json.remove.some(({ filename }: { filename: string }) => filename === 'good.txt'));
  assert.equal(
    (await chat.send('POST', '/api/documents/sync', { files: [{ path: 'x', sha256: '1' }] })).status,
    400,
  );
});

test('lists have pages, tags and a search by name', async () => {
  const first = await chat.send('GET', '/api/documents?limit=2');
  assert.equal(first.json.documents.length, 2);
  const next = await chat.send('GET', `/api/documents?limit=2&cursor=${first.json.next_cursor}`);
  const ids = [...first.json.documents, ...next.json.documents].map(
    ({ document_id }: { document_id: string }) => document_id,
  );
  assert.equal(new Set(ids).size, 4);
  const names = async (query: string) =>
    (await chat.send('GET', `/api/documents?${query}`)).json.documents.map(
      ({ filename }: { filename: string }) => filename,
    );
  assert.deepEqual(await names('tag=france'), ['tides.txt']);
  assert.deepEqual(await names('tag=fran'), []);
  assert.deepEqual(await names('q=TIDE'), ['tides.txt']);
  assert.deepEqual(await names('q=%25'), []);
});

test('filters that match nothing are like an empty library', async () => {
  const nothing = ['document_ids', 'tags', 'media_types'].flatMap((name) => [
    { [name]: [] },
    { [name]: ['nothing', 'of this'] },
  ]);
  for (const filters of [...nothing, { tags: ['sea'], media_types: [] }, { tags: [], document_ids: [] }]) {
    for (const strategy of ['semantic', 'hybrid', 'multi_query', 'decomposed']) {
      const found = await chat.send('POST', '/api/search', { query: 'gate tide', strategy, filters });
      assert.deepEqual(
        [found.status, found.json.results],
        [200, []],
        `${strategy} ${JSON.stringify(filters)}`,
      );
    }
    const { status, json: turn } = await chat.send('POST', '/api/chat', { query: 'gate tide', filters });
    assert.deepEqual([status, turn.abstained, turn.sources, turn.citations], [200, true, [], []]);
  }
  for (const path of ['/api/documents?tag=nothing', '/api/documents?q=nothing', '/api/sessions?q=nothing']) {
    const { status, json } = await chat.send('GET', path);
    assert.deepEqual([status, json.total, json.documents ?? json.sessions], [200, 0, []], path);
  }
});

test('filters leave other documents out', async () => {
  const { json } = await chat.send('POST', '/api/search', { query: 'gate tide', filters: { tags: ['sea'] } });
  assert.deepEqual(
    json.results.map(({ source }: { source: string }) => source),
    ['tides.txt'],
  );
});

test('a document of a chat is found in that chat only', async () => {
  const session = (await chat.send('POST', '/api/session', {})).json.session_id;
  const uploaded = await chat.upload([{ name: 'secret.txt', content: 'The password is walrus.' }], {
    session_id: session,
  });
  assert.equal(uploaded.status, 201);
  const ask = async (session_id?: string) =>
    (await chat.send('POST', '/api/search', { query: 'password walrus', session_id })).json.results.length;
  assert.equal(await ask(), 0);
  assert.equal(await ask(session), 1);
  const stray = await chat.upload([{ name: 's.txt', content: 's' }], { session_id: 'none' });
  assert.equal(stray.status, 404);
});

test('documents that others share serve questions, but only their owner may change or replace them', async () => {
  await using shared = await startChat({
    environment: {
      GATEWAY_AUTH: 'api_key',
      CHAT_API_KEYS: 'alice, charlie',
      CHAT_LIBRARY: 'shared',
    },
  });
  const upload = (key: string, content: string, mode: string) => {
    const form = new FormData();
    form.append('on_duplicate', mode);
    form.append('visibility', 'everyone');
    form.append('file', new Blob([content]), 'ferry.txt');
    const request = { method: 'POST', body: form, headers: { 'x-api-key': key } };
    return fetch(`${shared.url}/api/upload`, request);
  };
  const made = (await (await upload('alice', 'The ferry sails on Mondays.', 'skip')).json()) as {
    documents: [{ document_id: string }];
  };
  const path = `/api/documents/${made.documents[0].document_id}`;
  const send = (key: string, method: string, at: string, body?: object) =>
    shared.send(method, at, body, { 'x-api-key': key });
  const { answer } = (await send('charlie', 'POST', '/api/chat', { query: 'When does the ferry sail?' }))
    .json;
  assert.match(answer, /^The ferry sails on Mondays/);
  const refused = await send('charlie', 'DELETE', path);
  assert.deepEqual([refused.status, refused.json.error.code], [403, 'forbidden']);
  assert.equal((await send('charlie', 'POST', `${path}/reindex`)).status, 403);
  assert.equal((await upload('charlie', 'The ferry never sails.', 'replace')).status, 201);
  assert.equal((await send('alice', 'GET', `${path}/text`)).text, 'The ferry sails on Mondays.');
  assert.equal((await send('alice', 'POST', `${path}/reindex`)).status, 200);
  assert.equal((await upload('alice', 'The ferry sails on Fridays.', 'replace')).status, 201);
  assert.equal((await send('alice', 'DELETE', path)).status, 404);
});

test('a malformed form is 400', async () => {
  const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nThe ferry';
  for (const [parameter, body] of [
    ['', `${part}\r\n--x--\r\n`],
    ['; boundary=', part],
    [`; boundary=${'x'.repeat(300)}`, part],
    ['; boundary=x', 'no part'],
    ['; boundary=x', '--x\r\nContent-Dispo'],
    ['; boundary=x', part],
  ] as const) {
    const headers = { 'content-type': `multipart/form-data${parameter}` };
    const response = await fetch(`${chat.url}/api/upload`, { method: 'POST', headers, body });
    assert.equal(response.status, 400, parameter + body);
    assert.match(await response.text(), /"The form is malformed\."/);
  }
});

test('text that a database cannot store is 400 wherever it is sent', async () => {
  const addresses = ['%00', '%00/text', '%00/chunks', '%00/content', '?q=%00', '?cursor=%00', '?tag=%00'];
  for (const address of addresses) {
    const path = `/api/documents${address.startsWith('?') ? '' : '/'}${address}`;
    assert.equal((await fetch(chat.url + path)).status, 400, path);
  }
  for (const [method, path] of [
    ['DELETE', '/api/documents/%00'],
    ['POST', '/api/documents/%00/reindex'],
    ['POST', '/api/chat/%00/cancel'],
  ] as const) {
    assert.equal((await fetch(chat.url + path, { method })).status, 400, path);
  }
  const form = new FormData();
  form.append('file', new Blob(['The ferry']), 'a.txt');
  form.append('tags', 'a\0b');
  assert.equal((await fetch(`${chat.url}/api/upload`, { method: 'POST', body: form })).status, 400);
});

test('a request that says that it is too large is refused before it is sent', async () => {
  const headers = { 'content-type': 'multipart/form-data; boundary=x', 'content-length': '62914561' };
  const sent = request(`${chat.url}/api/upload`, { method: 'POST', headers });
  sent.on('error', () => {});
  sent.flushHeaders();
  const [response] = await once(sent, 'response');
  assert.equal(response.statusCode, 413);
  sent.destroy();
});

test('an upload that its client leaves is no error of the service', async () => {
  const lines: { level: string }[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
  await using own = await startChat({ log: createLog({ service: 'chat', destination }) });
  const leaving = new AbortController();
  const form = new FormData();
  form.append('file', new Blob(['The ferry waits in fog.\n\n'.repeat(100_000)]), 'long.txt');
  const sent = fetch(`${own.url}/api/upload`, { method: 'POST', body: form, signal: leaving.signal });
  const gone = assert.rejects(sent);
  await until(async () => (await own.send('GET', '/api/documents')).json.documents.length > 0);
  leaving.abort();
  await gone;
  await until(async () => (await own.send('GET', '/api/documents')).json.documents.length === 0);
  await until(async () => /status="499"/.test((await own.send('GET', '/metrics')).text));
  assert.deepEqual(
    lines.filter(({ level }) => level === 'error'),
    [],
  );
});

test('a document that is read later can be asked for', async () => {
  const later = await chat.upload([{ name: 'later.txt', content: 'The dredger works at night.' }], {
    wait: 'false',
  });
  assert.equal(later.status, 202);
  const unsure = await chat.upload([{ name: 'unsure.txt', content: 'Maybe.' }], { wait: 'maybe' });
  assert.deepEqual([unsure.status, unsure.json.error.details[0].path], [400, 'wait']);
  const path = `/api/documents/${later.json.documents[0].document_id}`;
  while ((await chat.send('GET', path)).json.status === 'processing') await new Promise(setImmediate);
  assert.equal((await chat.send('GET', path)).json.status, 'indexed');
  assert.deepEqual(await found('dredger'), ['The dredger works at night.']);
});

test('an answer says that a document is still being read', async () => {
  await using own = await startChat();
  const ask = async () =>
    (await own.send('POST', '/api/chat', { query: 'What does the dredger cost?' })).json;
  await own.upload([{ name: 'harbor.txt', content: 'The harbor opens at noon.' }]);
  assert.deepEqual((await ask()).metadata.warnings, []);
  const content = Array.from({ length: 40_000 }, (_, n) => `Ferry ${n} leaves pier ${n % 7} with ${n} cars.`);
  const later = await own.upload([{ name: 'ferries.txt', content: content.join('\n\n') }], { wait: 'false' });
  assert.deepEqual((await ask()).metadata.warnings, ['A document is still being read and was not searched.']);
  const path = `/api/documents/${later.json.documents[0].document_id}`;
  await until(async () => (await own.send('GET', path)).json.status === 'indexed');
  assert.deepEqual((await ask()).metadata.warnings, []);
});

test('a question in other words finds a passage by its meaning, also one of an earlier version', async () => {
  await using own = await startChat();
  await own.upload([
    {
      name: 'leave.txt',
      content: 'Parents may stay at home with their newborn baby for four months and are paid.',
    },
    { name: 'boats.txt', content: 'The ferry leaves the harbor at noon and carries cars.' },
  ]);
  const find = async (strategy: string) =>
    (
      await own.send('POST', '/api/search', {
        query: 'maternity benefits for mothers with infants',
        strategy,
      })
    ).json;
  for (const strategy of ['hybrid', 'semantic']) {
    const { results, metadata } = await find(strategy);
    assert.deepEqual(
      [results[0]?.source, metadata.embedding_model],
      ['leave.txt', 'builtin-words'],
      strategy,
    );
    assert.ok(results.every(({ source }: { source: string }) => source !== 'boats.txt'));
  }
  const config = configOf(service, own.environment);
  const database = await openServiceDatabase<Tables>(service, config, own.context);
  await database.kysely.updateTable('chunk').set({ meaning: null }).execute();
  await using again = await startChat({ beside: own });
  const { json } = await again.send('POST', '/api/search', {
    query: 'maternity benefits for mothers with infants',
    strategy: 'semantic',
  });
  assert.equal(json.results[0]?.source, 'leave.txt');
  const rows = await database.kysely.selectFrom('chunk').select('meaning').execute();
  await database[Symbol.asyncDispose]();
  assert.ok(rows.length > 0 && rows.every(({ meaning }) => meaning?.length === 100), 'it is kept');
});

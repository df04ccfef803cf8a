import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, openServiceDatabase } from '@octavo/data/service';
import { readerVersion } from '@octavo/documents';
import { until } from '@octavo/testing';
import { chat as service } from '../service.ts';
import type { Tables } from '../tables.ts';
import { startChat, type TestChat } from '../testing.ts';

/** A process of the lowest priority, which reads again, waits for all others. */
const idlePatience = 5;

const openDatabase = (at: TestChat) =>
  openServiceDatabase<Tables>(service, configOf(service, at.environment), at.context);

/** Gives documents the texts that an earlier version of the reader had read, and the files that those have, if they are told. */
async function readBefore(
  at: TestChat,
  texts: Readonly<Record<string, { text?: string; file?: string | undefined }>>,
): Promise<void> {
  await using database = await openDatabase(at);
  await database.write(async ({ kysely }) => {
    for (const [filename, { text, ...given }] of Object.entries(texts)) {
      const { id } = await kysely
        .updateTable('document')
        .set({ reader_version: 0, ...(text && { text_length: text.length }) })
        .where('filename', '=', filename)
        .returning('id')
        .executeTakeFirstOrThrow();
      if (text !== undefined) {
        await kysely.updateTable('document_text').set({ text }).where('document', '=', id).execute();
        const chunk = { text, end_offset: text.length };
        await kysely.updateTable('chunk').set(chunk).where('document', '=', id).execute();
      }
      if (!('file' in given)) continue;
      await kysely.deleteFrom('document_content').where('document', '=', id).execute();
      const bytes = Buffer.from(given.file ?? '');
      if (bytes.length === 0) continue;
      await kysely.insertInto('document_content').values({ document: id, part: 0, bytes }).execute();
      await kysely.updateTable('document').set({ size: bytes.length }).where('id', '=', id).execute();
    }
  });
}

async function list(at: TestChat) {
  return (await at.send('GET', '/api/documents')).json.documents as {
    document_id: string;
    filename: string;
    status: string;
    warnings: string[];
    tags: string[];
    reader_version: number;
  }[];
}

const named = async (at: TestChat, name: string) =>
  (await list(at)).find(({ filename }) => filename === name) ?? assert.fail(name);
const isDone = async (at: TestChat) =>
  (await list(at)).every((each) => each.reader_version === readerVersion && each.status !== 'processing');
const textAt = async (at: TestChat, id: string) => (await at.send('GET', `/api/documents/${id}/text`)).text;
const chunkIds = async (at: TestChat, id: string) =>
  (await at.send('GET', `/api/documents/${id}/chunks`)).json.map(
    (chunk: { chunk_id: string }) => chunk.chunk_id,
  );

test('documents of an earlier reader are read again under their ids, once, and those that are the same stay', async () => {
  await using first = await startChat();
  await first.upload([{ name: 'hatch.html', content: '<p>The hatch load is 30<sup>2</sup> kg.</p>' }], {
    tags: 'yard',
  });
  await first.upload([{ name: 'buoy.txt', content: 'The buoy rings in fog.' }]);
  const [hatch, buoy] = [await named(first, 'hatch.html'), await named(first, 'buoy.txt')];
  assert.equal(hatch.reader_version, readerVersion);
  const chunks = await chunkIds(first, buoy.document_id);
  await readBefore(first, { 'hatch.html': { text: 'The hatch load is 302 kg.' }, 'buoy.txt': {} });
  const cookies = (await first.send('GET', '/documents')).headers.getSetCookie();
  const browser = { cookie: cookies.map((each) => each.split(';')[0]).join('; ') };
  const asked = (await first.send('POST', '/api/chat', { query: 'What is the hatch load?' }, browser)).json;
  const [{ quote, quote_start: start, quote_end: end }] = asked.citations;
  assert.equal(quote, 'The hatch load is 302 kg.');
  await using one = await startChat({ beside: first });
  await using two = await startChat({ beside: first });
  await until(() => isDone(one), idlePatience);
  assert.equal(await textAt(two, hatch.document_id), 'The hatch load is 30[2] kg.');
  assert.deepEqual((await named(two, 'hatch.html')).tags, ['yard']);
  assert.deepEqual(await chunkIds(two, buoy.document_id), chunks, 'what is the same is not replaced');
  const { json } = await two.send('POST', '/api/search', { query: 'hatch load' });
  assert.match(json.results[0].snippet, /30\[2\] kg/);
  await using database = await openDatabase(first);
  // Nothing is left of the old readings.
  await until(async () => (await database.kysely.selectFrom('document').select('id').execute()).length === 2);
  const page = `/documents/${hatch.document_id}?start=${start}&end=${end}`;
  const { text: shown } = await two.send('GET', `${page}&message=${asked.message_id}`, undefined, browser);
  assert.match(
    shown,
    /not in its text anymore.*\n?.*The hatch load is 302 kg\./,
    'an old quote stays readable',
  );
  assert.doesNotMatch(shown, /id="passage"/);
});

test('a document that cannot be read anymore keeps its text and says so', async () => {
  await using first = await startChat();
  await first.upload([{ name: 'rates.json', content: '{"fee": "40 EUR"}' }]);
  await first.upload([{ name: 'gone.txt', content: 'The crane lifts 9 t.' }]);
  await first.upload([{ name: 'rates.csv', content: 'a,b\n1,2\n' }], { wait: 'false' });
  await readBefore(first, { 'rates.json': { file: '{"fee' }, 'gone.txt': { file: undefined } });
  await using next = await startChat({ beside: first });
  await until(() => isDone(next), idlePatience);
  const rates = await named(next, 'rates.json');
  assert.equal(rates.status, 'indexed');
  assert.match(rates.warnings.join(), /Its text is as an earlier version read it\.$/);
  assert.equal(await textAt(next, rates.document_id), 'fee: 40 EUR');
  const gone = await named(next, 'gone.txt');
  assert.deepEqual(gone.warnings, [
    'The file of the document is no longer stored, so it cannot be read again. Its text is as an earlier version read it.',
  ]);
  const refused = await next.send('POST', `/api/documents/${gone.document_id}/reindex`);
  assert.equal(refused.status, 422, refused.text);
  assert.equal(await textAt(next, gone.document_id), 'The crane lifts 9 t.');
  const { json } = await next.send('POST', '/api/chat', { query: 'How much does the crane lift?' });
  assert.deepEqual(json.metadata.warnings, [`gone.txt: ${gone.warnings[0]}`]);
});

test('changes, uploads and deletions while documents are read again win over that', async () => {
  await using first = await startChat();
  const long = (word: string) =>
    Array.from({ length: 600 }, (_, n) => `Tide ${n} of the ${word} lock is high.`).join('\n\n');
  const names = ['deleted', 'tagged', 'renamed', 'replaced', 'same'];
  for (const name of names) await first.upload([{ name: `${name}.txt`, content: long(name) }]);
  const before = await list(first);
  const idOf = (name: string) => before.find(({ filename }) => filename === `${name}.txt`)?.document_id ?? '';
  const old = { text: 'Old.' };
  await readBefore(first, Object.fromEntries(names.map((name) => [`${name}.txt`, old])));
  await using next = await startChat({ beside: first });
  const at = (name: string) => `/api/documents/${idOf(name)}`;
  const [removed, tagged, renamed, , same] = await Promise.all([
    next.send('DELETE', at('deleted')),
    next.send('PATCH', at('tagged'), { tags: ['kept'] }),
    next.send('PATCH', at('renamed'), { title: 'Another title' }),
    next.upload([{ name: 'replaced.txt', content: 'The new lock is dry.' }], { on_duplicate: 'replace' }),
    next.upload([{ name: 'same.txt', content: long('same') }]),
  ]);
  assert.deepEqual(
    [removed.status, tagged.status, renamed.status, same.status, same.json.documents[0].status],
    [204, 200, 200, 200, 'duplicate'],
  );
  await until(() => isDone(next), idlePatience);
  const after = await list(next);
  assert.deepEqual(after.map(({ filename }) => filename).sort(), [
    'renamed.txt',
    'replaced.txt',
    'same.txt',
    'tagged.txt',
  ]);
  assert.deepEqual((await named(next, 'tagged.txt')).tags, ['kept']);
  assert.equal((await next.send('GET', at('renamed'))).json.title, 'Another title');
  assert.equal(await textAt(next, (await named(next, 'replaced.txt')).document_id), 'The new lock is dry.');
  for (const name of ['tagged', 'renamed', 'same']) {
    assert.equal(await textAt(next, idOf(name)), long(name), name);
    const { json } = await next.send('POST', '/api/search', { query: `tide 599 of the ${name} lock` });
    assert.match(json.results[0].snippet, new RegExp(`of the ${name} lock`));
  }
});

test('a document that was read again is replaced by a later upload, and not by an earlier one', async () => {
  await using chat = await startChat();
  const upload = (content: string) =>
    chat.upload([{ name: 'ferry.txt', content }], { on_duplicate: 'replace' });
  await upload('The ferry sails on Mondays.');
  const later = upload('The ferry sails on Fridays.');
  const { document_id: id } = await named(chat, 'ferry.txt');
  await Promise.all([later, chat.send('POST', `/api/documents/${id}/reindex`)]);
  assert.equal((await later).status, 201);
  const [left, ...others] = await list(chat);
  assert.equal(others.length, 0);
  assert.equal(await textAt(chat, left?.document_id ?? ''), 'The ferry sails on Fridays.');
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { collectionOf, type FolderOptions, isLeftOut, sendFolder } from '../pages/assets/folder.js';
import { startChat, type TestChat } from '../testing.ts';

const chat = await startChat();
after(() => chat[Symbol.asyncDispose]());

type Texts = Readonly<Record<string, string>>;

const files = (texts: Texts, canHash = true) =>
  Object.entries(texts).map(([path, text]) => {
    const bytes = new TextEncoder().encode(text);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return {
      path,
      size: bytes.length,
      read: async () => bytes,
      hash: async () => (canHash ? sha256 : undefined),
    };
  });

/** Sends a folder, and returns a line for each file that it told of. */
async function send(texts: Texts, given: Partial<FolderOptions> & { at?: TestChat; canHash?: boolean } = {}) {
  const { at = chat, canHash, ...options } = given;
  const told: string[] = [];
  await sendFolder(files(texts, canHash), {
    url: at.url,
    headers: {},
    collection: 'notes',
    visibility: undefined,
    removes: true,
    signal: undefined,
    tell: (outcome, path) => told.push(`${outcome} ${path}`),
    progress: () => {},
    wait: async () => {},
    ...options,
  });
  return told.sort();
}

async function stored(tag = 'notes', at = chat): Promise<string[]> {
  const { json } = await at.send('GET', `/api/documents?limit=100&tag=${tag}`);
  const texts = json.documents.map(
    async (document: { document_id: string; filename: string; warnings: string[] }) => {
      const { text } = await at.send('GET', `/api/documents/${document.document_id}/text`);
      return [document.filename, text, ...document.warnings].join(': ');
    },
  );
  return (await Promise.all(texts)).sort();
}

test('the library follows the files of a folder', async () => {
  await chat.upload([{ name: 'tides.txt', content: 'Uploaded by hand.' }]);
  const first = {
    'tides.txt': 'High at six.',
    'north/tides.txt': 'Low at noon.',
    'a b/Überfahrt "1".md': 'At nine.',
  };
  const all = Object.keys(first).sort();
  assert.deepEqual(await send(first), all.map((path) => `added ${path}`).sort());
  assert.deepEqual(await send(first), all.map((path) => `unchanged ${path}`).sort());
  // A change of one of two namesakes, a file that is renamed, and one that has gone.
  const second = {
    'tides.txt': 'High at seven.',
    'north/tides.txt': 'Low at noon.',
    'Crossing.md': 'At nine.',
  };
  assert.deepEqual(await send(second), [
    'added Crossing.md',
    'changed tides.txt',
    'removed Überfahrt %221%22.md',
    'unchanged north/tides.txt',
  ]);
  assert.deepEqual(await stored(), [
    'Crossing.md: At nine.',
    'tides.txt: High at seven.',
    'tides.txt: Low at noon.',
  ]);
  assert.deepEqual(await send({ 'Crossing.md': 'At nine.' }), [
    'removed tides.txt',
    'removed tides.txt',
    'unchanged Crossing.md',
  ]);
  const { json } = await chat.send('GET', '/api/documents?q=tides');
  assert.equal(json.total, 1);
});

test('copies are stored once, and files that swap their contents too', async () => {
  const copies = { 'a.txt': 'The buoy rings.', 'b.txt': 'The fog lifts.', 'c.txt': 'The fog lifts.' };
  const collection = 'copies';
  assert.equal((await send(copies, { collection })).filter((line) => line.startsWith('added')).length, 2);
  assert.deepEqual(await send(copies, { collection }), [
    'unchanged a.txt',
    'unchanged b.txt',
    'unchanged c.txt',
  ]);
  const swapped = { 'a.txt': 'The fog lifts.', 'b.txt': 'The buoy rings.' };
  await send(swapped, { collection });
  assert.deepEqual(await send(swapped, { collection }), ['unchanged a.txt', 'unchanged b.txt']);
  assert.deepEqual(await stored(collection), ['a.txt: The fog lifts.', 'b.txt: The buoy rings.']);
});

test('a file that is refused leaves its document, and does not stop the others', async () => {
  const collection = 'refused';
  await send({ 'a.json': '{"a": 1}', 'b.txt': 'The pier is long.' }, { collection });
  const bad = {
    'a.json': '\0\0\0',
    'b.txt': 'The pier is short.',
    'c.exe': 'MZ',
    'd.txt': '',
    'e.json': '\0\0',
  };
  assert.deepEqual(await send(bad, { collection }), [
    'changed b.txt',
    'refused a.json',
    'refused d.txt',
    'refused e.json',
    'skipped c.exe',
  ]);
  assert.deepEqual(
    (await stored(collection)).map((line) => line.slice(0, 6)),
    ['a.json', 'b.txt:'],
  );
});

test('without hashes, and without removing, changes replace as well', async () => {
  const options = { collection: 'page', removes: false, canHash: false };
  await send({ 'a.txt': 'The kelp is green.', 'b.txt': 'The kelp is brown.' }, options);
  assert.deepEqual(await send({ 'a.txt': 'The kelp is red.', 'c.txt': 'The kelp is old.' }, options), [
    'added c.txt',
    'changed a.txt',
  ]);
  assert.deepEqual(await send({ 'a.txt': 'The kelp is red.' }, options), ['unchanged a.txt']);
  assert.deepEqual(await stored('page'), [
    'a.txt: The kelp is red.',
    'b.txt: The kelp is brown.',
    'c.txt: The kelp is old.',
  ]);
});

test('many files, sent twice at once, are each there once', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 25 }, (_, index) => [`${index}.txt`, `Wave number ${index}.`]),
  );
  const collection = 'many';
  const [one, two] = await Promise.all([send(many, { collection }), send(many, { collection })]);
  const added = [...one, ...two].filter((line) => line.startsWith('added'));
  assert.deepEqual([added.length, one.length, two.length], [25, 25, 25]);
  assert.equal((await stored(collection)).length, 25);
});

test('a limit on uploads is waited for', async () => {
  await using limited = await startChat({ environment: { UPLOAD_RATE_LIMIT: '2' } });
  const many = Object.fromEntries(
    Array.from({ length: 25 }, (_, index) => [`${index}.txt`, `Tide number ${index}.`]),
  );
  const waits: number[] = [];
  const wait = async (seconds: number) => {
    waits.push(seconds);
    limited.clock.advance(seconds * 1_000);
  };
  assert.equal((await send(many, { at: limited, wait })).length, 25);
  assert.deepEqual(waits.length, 1);
  assert.equal((await limited.send('GET', '/api/documents')).json.total, 25);
});

test('a folder without files removes nothing', async () => {
  await assert.rejects(send({}), /no documents were deleted/);
  assert.equal((await stored()).length, 1);
});

test('hidden files are left out, and a name of a folder is a tag', () => {
  const paths = [
    '.git/config',
    'a/.env',
    'node_modules/x/readme.md',
    'a/~$letter.docx',
    'a/letter.docx',
    'a.b/c..txt',
  ];
  assert.deepEqual(
    paths.filter((path) => !isLeftOut(path)),
    ['a/letter.docx', 'a.b/c..txt'],
  );
  assert.deepEqual([' Minutes,\n2026 ', 'é'.repeat(80), '\u202e'].map(collectionOf), [
    'Minutes 2026',
    'é'.repeat(60),
    '',
  ]);
});

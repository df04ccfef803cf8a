import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pdfOf } from '@octavo/documents/testing';
import { decodePng } from '@octavo/testing';
import { startChat } from '../testing.ts';

const chat = await startChat({ environment: { GATEWAY_AUTH: 'api_key', CHAT_API_KEYS: 'alice, charlie' } });
after(() => chat[Symbol.asyncDispose]());

const repeated = 'Boats wait outside.';
const pages = [
  'The harbor opens at six every\nmorning, also in thick fog.',
  `In winter.\n${repeated}\nIn summer.\n${repeated}\nThe master decides.`,
];
let path = '';
let text = '';

const send = (at: string, key = 'alice') => chat.send('GET', at, undefined, { 'x-api-key': key });
const get = (at: string, headers: Record<string, string> = {}) =>
  fetch(`${chat.url}${at}`, { headers: { 'x-api-key': 'alice', ...headers } });
const pictureOf = async (page: number, query = '') =>
  decodePng(new Uint8Array(await (await get(`${path}/pages/${page}.png${query}`)).arrayBuffer()));
const isMarked = (red: number, green: number, blue: number) => red > 240 && green > 200 && blue < 130;

/** The colored rows of a picture of a page, in points from the top of the page. */
async function markedRows(page: number, query: string): Promise<[number, number] | undefined> {
  const picture = await pictureOf(page, query);
  const rows = Array.from({ length: picture.height }, (_, y) => y).filter(
    (y) => picture.count({ x: 0, y, width: picture.width, height: 1 }, isMarked) > 0,
  );
  const [first, last] = [rows.at(0), rows.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  return [first, last].map((row) => Math.round((row * 612) / picture.width)) as [number, number];
}

function passage(words: string, from = 0): string {
  const start = text.indexOf(words, from);
  assert.ok(start >= 0, `${words} in ${text}`);
  return `?start=${start}&end=${start + words.length}`;
}

async function upload(name: string, content: Uint8Array<ArrayBuffer> | string): Promise<string> {
  const body = new FormData();
  body.append('file', new Blob([content]), name);
  const headers = { 'x-api-key': 'alice' };
  const sent = await fetch(`${chat.url}/api/upload`, { method: 'POST', body, headers });
  assert.equal(sent.status, 201);
  const { documents } = (await sent.json()) as { documents: [{ document_id: string }] };
  return `/api/documents/${documents[0].document_id}`;
}

before(async () => {
  path = await upload('harbor.pdf', pdfOf(pages));
  text = (await send(`${path}/text`)).text;
});

test('a page of a PDF is a picture, which a browser asks for again only if it has changed', async () => {
  const response = await get(`${path}/pages/1.png`);
  const { headers } = response;
  assert.deepEqual([response.status, headers.get('content-type')], [200, 'image/png']);
  assert.match(headers.get('cache-control') ?? '', /^private/);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  const picture = decodePng(new Uint8Array(await response.arrayBuffer()));
  assert.deepEqual([picture.width, picture.height], [1_200, 1_553]);
  const dark = (red: number) => red < 128;
  const inkIn = (y: number) => picture.count({ x: 0, y, width: 1_200, height: 60 }, dark);
  assert.ok(inkIn(100) > 500 && inkIn(600) === 0);
  const tag = headers.get('etag') ?? '';
  assert.equal((await get(`${path}/pages/1.png`, { 'if-none-match': tag })).status, 304);
  for (const other of ['/pages/2.png', `/pages/1.png${passage('thick fog')}`])
    assert.equal((await get(`${path}${other}`, { 'if-none-match': tag })).status, 200, other);
});

test('a passage is marked where it is on its page, and nowhere else', async () => {
  assert.equal(await markedRows(1, ''), undefined);
  // Two lines, the first with its baseline 72 points from the top.
  const [top, bottom] = (await markedRows(1, passage('every morning, also'))) ?? [];
  assert.ok(top !== undefined && top > 55 && top < 72, `${top}`);
  assert.ok(bottom !== undefined && bottom > 80 && bottom < 98, `${bottom}`);
  // The second of the same words.
  const again = passage(repeated, text.indexOf('In summer'));
  const [from, to] = (await markedRows(2, again)) ?? [];
  assert.ok(from !== undefined && to !== undefined && from > 104 && to < 130, `${from} ${to}`);
  assert.equal(await markedRows(1, again), undefined);
  assert.equal(await markedRows(1, '?start=100000&end=100010'), undefined);
});

test('others, missing pages and documents that have none are 404, and odd parameters 400', async () => {
  const picture = `${path}/pages/1.png`;
  assert.equal((await send(picture, 'charlie')).status, 404);
  assert.equal((await chat.send('GET', picture)).status, 401);
  for (const missing of [`${path}/pages/3.png`, '/api/documents/none/pages/1.png', `${path}/pages/1.jpg`])
    assert.equal((await send(missing)).status, 404, missing);
  const note = await upload('note.txt', 'The harbor is closed.');
  const { status, json } = await send(`${note}/pages/1.png`);
  assert.deepEqual([status, json.error.code], [404, 'not_found']);
  for (const page of ['0', '-1', 'x', '1.5', '%00'])
    assert.equal((await send(`${path}/pages/${page}.png`)).status, 400, page);
  for (const query of ['start=1', 'end=1', 'start=2&end=1', 'start=-1&end=1', 'start=x&end=2', 'start=&end='])
    assert.equal((await send(`${picture}?${query}`)).status, 400, query);
  const posted = await chat.send('POST', picture, {}, { 'x-api-key': 'alice' });
  assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD, OPTIONS']);
});

test('the page of a document shows the picture of the passage above its text', async () => {
  const form = await fetch(`${chat.url}/sign-in`);
  const [, token = ''] = /name="_csrf" value="([^"]+)"/.exec(await form.text()) ?? [];
  const cookies = (response: Response) =>
    response.headers.getSetCookie().map((line) => line.split(';', 1)[0] as string);
  const signedIn = await fetch(`${chat.url}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ _csrf: token, key: 'alice' }),
    headers: { origin: chat.url, cookie: cookies(form).join('; ') },
  });
  const cookie = cookies(signedIn).join('; ');
  const page = async (at: string) =>
    await (await fetch(`${chat.url}${at}`, { headers: { cookie, accept: 'text/html' } })).text();
  const at = path.replace('/api', '');
  const html = await page(`${at}${passage('The master decides')}`);
  const [img = '', src = ''] = /<img src="([^"]+)"[^>]*>/.exec(html) ?? [];
  assert.match(img, /width="\d+" height="\d+" loading="lazy" alt="Page 2 of [^"]+"/);
  assert.ok(html.indexOf(img) < html.indexOf('<mark id="passage">'));
  assert.match(src, /\/pages\/2\.png\?start=\d+&amp;end=\d+$/);
  const picture = await fetch(`${chat.url}${src.replaceAll('&amp;', '&')}`, { headers: { cookie } });
  assert.equal(picture.headers.get('content-type'), 'image/png');
  assert.doesNotMatch(await page(at), /\/pages\//);
});

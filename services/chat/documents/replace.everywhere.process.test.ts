import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startProcess, stopProcess } from '@octavo/octavo/testing';
import { startChat } from '../testing.ts';

const chat = await startChat();
after(() => chat[Symbol.asyncDispose]());
const sails = (day: string, paragraphs = 0) =>
  [`The ferry sails on ${day}.`, ...Array.from({ length: paragraphs }, (_, n) => `Tide ${n} is high.`)].join(
    '\n\n',
  );

function upload(url: string, content: string, name: string, wait: boolean) {
  const form = new FormData();
  form.append('on_duplicate', 'replace');
  form.append('wait', String(wait));
  form.append('file', new Blob([content]), name);
  return fetch(`${url}/api/upload`, { method: 'POST', body: form });
}

/** The days that passages about the ferry tell. */
async function days({ send }: Pick<typeof chat, 'send'>): Promise<string[]> {
  const { json } = await send('POST', '/api/search', { query: 'When does the ferry sail?', top_k: 20 });
  const texts = json.results.map(({ snippet }: { snippet: string }) => snippet).join(' ');
  return ['Monday', 'Friday', 'Sunday'].filter((day) => texts.includes(day));
}

test('a replacement whose process is killed is made by the next one, and the old is served until then', async () => {
  chat.clock.set(Date.now());
  const environment = { ...chat.environment, OCTAVO_DATA: chat.context.dataFolder, LOG_LEVEL: 'fatal' };
  const { url, child } = await startProcess('chat', environment);
  assert.equal((await upload(url, sails('Mondays'), 'ferry.txt', true)).status, 201);
  assert.equal((await upload(url, sails('Fridays', 20_000), 'ferry.txt', false)).status, 202);
  await stopProcess(child, 'SIGKILL');
  assert.deepEqual(await days(chat), ['Monday']);
  chat.clock.advance(120_000);
  await using next = await startChat({ beside: chat });
  const names = async () => (await next.send('GET', '/api/documents')).json.documents;
  let served = ['Monday'];
  while (served[0] === 'Monday') {
    served = await days(next);
    assert.equal(served.length, 1);
  }
  assert.deepEqual(served, ['Friday']);
  assert.deepEqual(
    (await names()).map(({ status }: { status: string }) => status),
    ['indexed'],
  );
});

test('of replacements at the same time one is left', async () => {
  const texts = ['Mondays', 'Fridays', 'Sundays'].map((day) => sails(day, 200));
  const replies = await Promise.all(texts.map((text) => upload(chat.url, text, 'ferry.txt', true)));
  assert.ok(replies.some(({ status }) => status === 201));
  assert.equal((await days(chat)).length, 1);
  assert.equal((await chat.send('GET', '/api/documents')).json.total, 1);
});

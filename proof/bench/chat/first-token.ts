import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { testFolder } from '@octavo/testing';
import { startProcess, stopProcess } from '../../../apps/octavo/testing.ts';
import { startModel } from '../../../services/chat/testing-model.ts';

const questions = 300;
const warmUps = 30;
const tokens = 20;
const tokenMs = 5;

/**
 * The time from the first token of a streaming model until the client has the first `delta`, beside a client that asks the model itself.
 * Model and client are in this process, by one clock; the service is in another.
 */
export async function measureFirstToken(): Promise<void> {
  await using model = await startModel();
  const sentAtMs = new Map<string, number>();
  model.script = async (answer, { messages }) => {
    const [number = ''] = /number \d+/.exec(JSON.stringify(messages.at(-1))) ?? [];
    sentAtMs.set(number, performance.now());
    for (let token = 0; token < tokens; token++) {
      answer.text('Everybody has 27 days. ');
      await sleep(tokenMs);
    }
    answer.end();
  };
  const { url, child } = await startProcess('chat', {
    OCTAVO_DATA: testFolder('bench'),
    LOG_LEVEL: 'warn',
    CHAT_RATE_LIMIT: '0',
    CHAT_GENERATIONS_MAX: '0',
    LLM_BASE_URL: model.url,
    LLM_MODEL: 'scripted',
  });
  const form = new FormData();
  form.append('file', new Blob(['Everybody has 27 days of vacation in a year.']), 'handbook.txt');
  await fetch(`${url}/api/upload`, { method: 'POST', body: form });
  const askChat = (query: string) => firstMatch(`${url}/api/chat`, { query, stream: true }, 'event: delta');
  const askModel = (content: string) =>
    firstMatch(`${model.url}/chat/completions`, { messages: [{ role: 'user', content }] }, '"content":"');
  let number = 0;
  const measure = async (label: string, ask: (query: string) => Promise<number>, clients: number) => {
    const delays: number[] = [];
    const client = async (count: number) => {
      for (let asked = 0; asked < count; asked++) {
        const name = `number ${++number}`;
        const atMs = await ask(`How many days of vacation do I have, ${name}?`);
        delays.push(atMs - (sentAtMs.get(name) ?? Number.NaN));
      }
    };
    await Promise.all(Array.from({ length: clients }, () => client(Math.ceil(questions / clients))));
    delays.sort((one, other) => one - other);
    const [p50, p95] = [0.5, 0.95].map((share) => delays[Math.floor(delays.length * share)]?.toFixed(1));
    console.log(`${label.padEnd(34)} p50 ${p50} ms, p95 ${p95} ms, at most ${delays.at(-1)?.toFixed(1)} ms`);
  };
  for (let asked = 0; asked < warmUps; asked++) await askChat(`How many days do I have, number ${++number}?`);
  for (const clients of [1, 8]) {
    await measure(`the model itself, ${clients} at a time`, askModel, clients);
    await measure(`through the chat, ${clients} at a time`, askChat, clients);
  }
  await stopProcess(child);
}

/** Resolves, once the whole response is there, to when the text was in it for the first time. */
async function firstMatch(url: string, body: object, text: string): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const sent = request(url, { method: 'POST', headers }).end(JSON.stringify(body));
  const [response] = await once(sent, 'response');
  let seen = '';
  let atMs = Number.NaN;
  for await (const piece of response) {
    if (!Number.isNaN(atMs)) continue;
    seen += piece;
    if (seen.includes(text)) atMs = performance.now();
  }
  if (Number.isNaN(atMs)) throw new Error(`there is no ${text} in ${seen.slice(0, 300)}`);
  return atMs;
}

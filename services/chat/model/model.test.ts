import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startModel } from '../testing-model.ts';
import { AnswerFilter } from './filter.ts';
import { ChatModel } from './model.ts';

const request = {
  name: 'scripted',
  system: '',
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [],
} as const;

test('a silent model is given up, and a stopped one too', async () => {
  await using server = await startModel();
  server.script = () => {};
  const options = { baseUrl: server.url, apiKey: undefined, names: ['scripted'] };
  const silent = new ChatModel({ ...options, timeoutMs: 60_000, firstTokenTimeoutMs: 20 });
  const parts = silent.stream({ ...request, signal: new AbortController().signal });
  await assert.rejects(Array.fromAsync(parts), { name: 'TimeoutError' });
  assert.equal(silent.isAvailable, false);
  const stop = new AbortController();
  server.script = () => stop.abort(new Error('stopped'));
  const stopped = new ChatModel({ ...options, timeoutMs: 60_000, firstTokenTimeoutMs: 60_000 });
  await assert.rejects(Array.fromAsync(stopped.stream({ ...request, signal: stop.signal })), /stopped/);
  assert.equal(stopped.isAvailable, undefined);
});

const filtered = (text: string, size: number) => {
  const filter = new AnswerFilter({
    isKnown: (marker) => ['1', '2', 'A1'].includes(marker),
    isAllowed: (url) => url === 'https://known.example/page',
  });
  let passed = '';
  for (let at = 0; at < text.length; at += size) passed += filter.push(text.slice(at, at + size));
  return passed + filter.end();
};

test('an answer is cleaned the same way however it is cut into pieces', () => {
  const cases: [string, string][] = [
    ['Plain text, with 3 < 4 and a [note].', 'Plain text, with 3 < 4 and a [note].'],
    ['One [1], two [2, 9], three [9], data [A1][A2].', 'One [1], two [2], three, data [A1].'],
    ['![x](http://evil.example/a.png)Done', 'Done'],
    ['![x][ref] [ref]: http://evil.example', ' (ref): (link removed)'],
    [
      'See [this](http://evil.example) or [that](https://known.example/page).',
      'See this or [that](https://known.example/page).',
    ],
    ['[![x](http://evil.example/a)](http://evil.example)', 'x]((link removed))'],
    [
      'Go to https://known.example/page, not to www.evil.example/q.',
      'Go to https://known.example/page, not to (link removed).',
    ],
    ['<img src="http://evil.example">Hi <b>there</b>', 'Hi <b>there</b>'],
    ['Open [', 'Open ('],
    ['So (1). And (Source 2) too (1, 9), in (1998) or (7).', 'So [1]. And [2] too [1], in (1998) or (7).'],
    ['Steps: (1) mix, (2) bake. Nobody (a) knows (', 'Steps: (1) mix, (2) bake. Nobody (a) knows ('],
    ['One 【1†L5-L9】. No answer is here. NO_ANSWER', 'One [1]. No answer is here.'],
  ];
  for (const [given, wanted] of cases) {
    for (const size of [1, 2, 3, 7, given.length])
      assert.equal(filtered(given, size), wanted, `${size} ${given}`);
  }
});

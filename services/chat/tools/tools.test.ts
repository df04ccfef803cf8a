import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, beforeEach, test } from 'node:test';
import { FakeClock } from '@octavo/core';
import { startChat } from '../testing.ts';
import { startModel } from '../testing-model.ts';
import { ToolCalls } from './calls.ts';
import { DomainApi } from './domain-api.ts';

const zoe = {
  id: 'm1',
  slug: 'zoe-muller',
  name: 'Zoë Müller',
  title: 'Managing partner',
  location: 'Berlin',
  sectors: ['climate'],
  investment_ids: ['i1'],
};
const anna = {
  id: 'm2',
  slug: 'anna-berg',
  name: 'Anna Berg',
  title: 'Associate',
  location: 'Oslo',
  sectors: [],
  investment_ids: [],
};
const tidewater = {
  id: 'i1',
  slug: 'tidewater',
  company: 'Tidewater Storage',
  sector: 'climate',
  stage: 'series_a',
  status: 'active',
  amount_minor: 480_000_000,
  currency: 'EUR',
  invested_on: '2022-05-17',
  lead_id: 'm1',
  team_ids: ['m1'],
};
const climate = {
  id: 's1',
  slug: 'climate',
  name: 'Climate and energy',
  lead_ids: ['m1'],
  investment_count: 1,
  total_amount_minor: 480_000_000,
  currency: 'EUR',
};
const lists: Record<string, readonly object[]> = {
  '/api/team': [zoe, anna],
  '/api/team?name=Zo%C3%AB+M%C3%BCller': [zoe],
  '/api/team/m1/investments': [tidewater],
  '/api/team/m1': [zoe],
  '/api/investments': [tidewater],
  '/api/investments?name=Tidewater+Storage': [tidewater],
  '/api/sectors': [climate],
  '/api/sectors/climate': [climate],
  '/api/sectors/climate/investments': [tidewater],
};

let tokens = 0;
/** Number of token requests to refuse. */
let busyTokens = 0;
const requests: string[] = [];
type Answer = (request: IncomingMessage, response: ServerResponse) => boolean;
/** Answers a request instead of the lists if it returns true. */
let special: Answer = () => false;
const server = createServer((request, response) => {
  const url = String(request.url);
  if (url === '/auth/token' && busyTokens-- > 0) return response.writeHead(503).end();
  if (url === '/auth/token')
    return response.end(JSON.stringify({ token: `token ${++tokens}`, expires_in: 3_600 }));
  requests.push(url);
  if (special(request, response)) return;
  const rows = lists[url] ?? lists[url.replace('?limit=100', '')];
  response.writeHead(rows ? 200 : 404).end(JSON.stringify(rows ?? { error: 'not found' }));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const model = await startModel();
const chat = await startChat({ environment: { DOMAIN_API_URL: url } });
const withModel = await startChat({
  environment: { DOMAIN_API_URL: url, LLM_BASE_URL: model.url, LLM_MODEL: 'scripted' },
});
after(async () => {
  await chat[Symbol.asyncDispose]();
  await withModel[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests.length = 0;
  special = () => false;
});

const ask = async (query: string, more: object = {}) =>
  (await chat.send('POST', '/api/chat', { query, ...more })).json;

function checkCitations(turn: Awaited<ReturnType<typeof ask>>): void {
  assert.ok(turn.citations.length > 0);
  for (const { pointer, quote, step } of turn.citations) {
    const value = pointer
      .slice(1)
      .split('/')
      .reduce((at: Record<string, unknown>, key: string) => at[key], turn.api_data);
    assert.equal(String(value), quote);
    assert.ok(turn.answer.includes(`[A${step}]`));
  }
}

test('a name leads to the person, and from there to the investments', async () => {
  const turn = await ask('Which companies does Zoe Muller work on?');
  const steps = turn.api_chain_trace.map(({ tool, parent, path, status }: Record<string, unknown>) => [
    tool,
    parent,
    path,
    status,
  ]);
  assert.deepEqual(steps, [
    ['get_team', null, '/api/team', 'ok'],
    ['get_team_member_investments', 1, '/api/team/m1/investments', 'ok'],
  ]);
  assert.deepEqual(turn.api_data, { team: [zoe], investments: [tidewater], sectors: [] });
  assert.match(
    turn.answer,
    /Zoë Müller is Managing partner in Berlin\. \[A1\].*Tidewater Storage.*EUR 4,800,000.*\[A2\]/,
  );
  assert.equal(turn.abstained, false);
  checkCitations(turn);
});

test('a company beyond the first page of names is known too', async () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ id: `c${index}`, company: `Firm${index} Ltd` }));
  const last = { ...tidewater, id: 'last', slug: 'quayside', company: 'Quayside Cranes' };
  special = (request, response) => {
    const rows = { '/api/investments?limit=100': many, '/api/investments?limit=100&offset=100': [last] };
    const found = Reflect.get(
      { ...rows, '/api/investments?name=Quayside+Cranes': [last] },
      request.url ?? '',
    );
    if (found) response.end(JSON.stringify(found));
    return found !== undefined;
  };
  chat.clock.advance(61_000);
  const turn = await ask('Tell me about Quayside Cranes');
  assert.match(turn.answer, /^Quayside Cranes is an investment in climate/);
  chat.clock.advance(61_000);
});

test('a turn says whether it took names from the cache; records are asked for each time', async () => {
  chat.clock.advance(61_000);
  const turns = [await ask('Who is Anna Berg?'), await ask('Who is Zoe Muller?')];
  assert.deepEqual(
    turns.map(({ metadata }) => metadata.cache_hit),
    [false, true],
  );
  chat.clock.advance(61_000);
  assert.equal((await ask('Who is Zoe Muller?')).metadata.cache_hit, false);
  assert.ok(turns.every(({ api_chain_trace: trace }) => trace[0].cached === false));
});

test('the stages of a turn are told as they begin', async () => {
  const response = await chat.send('POST', '/api/chat', { query: 'Who is Zoe Muller?', stream: true });
  const told = [
    ...response.text.matchAll(/^event: (tool|delta)$|"stage":"(retrieving|calling_tools|generating)"/gm),
  ];
  assert.deepEqual(
    told.map(([, event, stage]) => event ?? stage),
    ['retrieving', 'calling_tools', 'tool', 'tool', 'generating', 'delta'],
  );
});

test('words ask for lists, and sectors and companies lead on too', async () => {
  const all = await ask('Which investments are there?');
  assert.deepEqual(
    all.api_chain_trace.map(({ tool }: { tool: string }) => tool),
    ['get_investments'],
  );
  const lead = await ask('Who leads Tidewater Storage?');
  assert.deepEqual(
    lead.api_chain_trace.map(({ path }: { path: string }) => path),
    ['/api/investments', '/api/team/m1'],
  );
  const sector = await ask('What is in the climate sector?');
  assert.deepEqual(sector.api_data.investments, [tidewater]);
  checkCitations(sector);
  const none = await ask('Which companies does Zoe Muller work on?', { use_tools: false });
  assert.deepEqual([none.api_chain_trace, none.abstained], [[], true]);
});

test('"how much" is answered by a sum, or by the words that there is none', async () => {
  const invested = [
    tidewater,
    { ...tidewater, id: 'i2', company: 'Quayside Cranes', amount_minor: 20_000_050 },
    { ...tidewater, id: 'i3', company: 'Moor Labs', amount_minor: 1_000_000 },
  ];
  const answerTo = async (rows: readonly object[]) => {
    special = (request, response) =>
      Boolean(request.url?.startsWith('/api/investments') && response.end(JSON.stringify(rows)));
    return (await ask('How much did we invest in 2022?')).answer;
  };
  assert.match(
    await answerTo(invested),
    /^3 investments in 2022: Tidewater Storage .* and Moor Labs .*\. \[A1\] Together EUR 5,010,000\.50\. \[A1\]$/,
  );
  const dollars = { ...tidewater, id: 'i4', company: 'Low Pier', currency: 'USD' };
  assert.match(await answerTo([...invested, dollars]), /They were not added up, as the data does not tell/);
  assert.match(
    await answerTo([...invested, { ...dollars, currency: 'EUR', amount_minor: null }]),
    /not added up/,
  );
});

test('a follow-up question is about who was named before', async () => {
  const first = await ask('Who is Zoe Muller?');
  const next = await ask('Which companies does she work on?', { session_id: first.session_id });
  assert.deepEqual(next.api_data.investments, [tidewater]);
});

test('the tools are listed', async () => {
  const { json } = await chat.send('GET', '/api/tools');
  assert.equal(json.count, 8);
  assert.deepEqual(json.tools[1].parameters.required, ['id']);
  assert.ok(
    json.tools.every(
      ({ source, enabled }: Record<string, unknown>) => source === 'domain' && enabled === true,
    ),
  );
});

test('a model calls tools, and cites what they brought', async () => {
  model.script = (answer, { messages, tools }) => {
    assert.equal(tools?.length, 8);
    if (messages.at(-1)?.role === 'tool') answer.text('Zoë Müller is Managing partner [A1].').end();
    else answer.callTool('get_team_member', { id: 'm1' });
  };
  const { json: turn } = await withModel.send('POST', '/api/chat', { query: 'What does the boss do?' });
  assert.equal(turn.answer, 'Zoë Müller is Managing partner [A1].');
  assert.deepEqual(turn.api_data.team, [zoe]);
  assert.deepEqual(turn.metadata.unsupported, []);
  checkCitations(turn);
});

test('a model that knows no tools is asked again with what the planner found', async () => {
  model.script = (answer, { tools, messages }) => {
    if (tools) return answer.fail(400);
    assert.match(JSON.stringify(messages.at(-1)), /result step=.*A1.*Zoë Müller/);
    answer.text('Zoë Müller is Managing partner [A1].').end();
  };
  const { json: turn } = await withModel.send('POST', '/api/chat', { query: 'Who is Zoe Muller?' });
  assert.equal(turn.metadata.mode, 'llm');
  checkCitations(turn);
});

function callsOf(api = new DomainApi({ url, clock: new FakeClock() })) {
  return new ToolCalls({ api, signal: new AbortController().signal, onStep: () => {} });
}

test('an expired token is renewed once for all who wait', async () => {
  const api = new DomainApi({ url, clock: new FakeClock() });
  await callsOf(api).call('get_sectors', {}, { reason: '' });
  const before = tokens;
  const old = `Bearer token ${before}`;
  special = ({ headers }, response) =>
    headers.authorization === old && Boolean(response.writeHead(401).end());
  const calls = callsOf(api);
  const both = await Promise.all([
    calls.call('get_team', {}, { reason: '' }),
    calls.call('get_sectors', {}, { reason: '' }),
  ]);
  assert.deepEqual(
    both.map(({ step }) => [step.status, step.attempts]),
    [
      ['ok', 2],
      ['ok', 2],
    ],
  );
  assert.equal(tokens, before + 1);
});

test('a token is asked for once more where the API is busy', async () => {
  const api = new DomainApi({ url, clock: new FakeClock() });
  const get = () => api.get('/api/team', {}, AbortSignal.timeout(5_000));
  busyTokens = 2;
  await assert.rejects(get(), /gives no token/);
  busyTokens = 1;
  assert.equal((await get()).rows.length, 2);
  busyTokens = 0;
});

test('a busy API is asked once more, and then the step says so', async () => {
  let refusals = 1;
  special = (_request, response) =>
    refusals-- > 0 && Boolean(response.writeHead(503, { 'retry-after': '0' }).end());
  const once = await callsOf().call('get_team', {}, { reason: '' });
  assert.deepEqual([once.step.status, once.step.attempts], ['ok', 2]);
  refusals = 9;
  const twice = await callsOf().call('get_team', {}, { reason: '' });
  assert.deepEqual([twice.step.status, twice.step.attempts, twice.step.http_status], ['error', 2, 503]);
});

test('the budget of a turn, repeated calls, redirects and large answers', async () => {
  const calls = callsOf();
  const call = (id: string, parent?: number) => calls.call('get_team_member', { id }, { reason: '', parent });
  assert.equal((await call('../m1')).step.path, '/api/team/..%2Fm1');
  assert.equal((await call('m1')).step.status, 'ok');
  assert.equal((await call('m1')).step.status, 'skipped');
  assert.equal((await calls.call('get_team_member', {}, { reason: '' })).step.status, 'error');
  const second = (await call('a', 1)).step.step;
  const third = (await call('b', second)).step.step;
  assert.equal((await call('c', third)).step.status, 'skipped', 'too deep');
  special = (_request, response) => Boolean(response.writeHead(302, { location: `${url}/api/team` }).end());
  assert.equal((await call('d')).step.http_status, 302);
  special = (_request, response) => Boolean(response.end(`["${'x'.repeat(1_100_000)}"]`));
  assert.match(String((await call('e')).step.error), /too large/);
  assert.equal((await call('f')).step.status, 'skipped', 'too many');
  assert.equal(calls.count, 6);
});

test('an API that is frozen or down is named in the answer and in a warning', async () => {
  await using frozen = createServer(() => {});
  frozen.listen(0, '127.0.0.1');
  await once(frozen, 'listening');
  for (const [port, why] of [
    [(frozen.address() as AddressInfo).port, 'The domain API took too long.'],
    [1, 'The domain API cannot be reached.'],
  ] as const) {
    const address = `http://127.0.0.1:${port}`;
    await using without = await startChat({ environment: { DOMAIN_API_URL: address } });
    await without.upload([{ name: 'handbook.txt', content: 'Everybody has 27 days of vacation in a year.' }]);
    const askWithout = async (query: string) => (await without.send('POST', '/api/chat', { query })).json;
    const person = await askWithout('Which investments does Zoe Muller lead?');
    assert.equal(person.api_chain_trace[0].status, 'error');
    assert.match(person.answer, /The domain data could not be asked\.$/);
    assert.deepEqual(person.metadata.warnings, [`The domain data could not be asked. ${why}`]);
    assert.deepEqual([person.grounded, person.abstained], [false, true]);
    const known = await askWithout('How many days of vacation does everybody have?');
    assert.equal(known.answer, 'Everybody has 27 days of vacation in a year. [1]');
    assert.equal(known.metadata.warnings.length, 1);
    const unknown = await askWithout('what does zoe do');
    assert.match(unknown.answer, /The domain data could not be asked\.$/);
    await using scripted = await startChat({
      environment: {
        DOMAIN_API_URL: address,
        LLM_BASE_URL: model.url,
        LLM_MODEL: 'scripted',
      },
    });
    model.script = (answer, { messages }) => {
      if (messages.at(-1)?.role === 'tool') answer.text('I do not know.').end();
      else answer.callTool('get_team', { name: 'Zoe' });
    };
    const { json: drafted } = await scripted.send('POST', '/api/chat', { query: 'What does Zoe do?' });
    assert.equal(drafted.answer, 'I do not know.\n\nThe domain data could not be asked.');
    assert.equal(drafted.metadata.warnings.length, 1);
  }
});

test('an API that is down leaves an answer without it', async () => {
  const down = new DomainApi({ url: 'http://127.0.0.1:1', clock: new FakeClock() });
  const { step } = await callsOf(down).call('get_team', {}, { reason: '' });
  assert.deepEqual([step.status, step.http_status], ['error', null]);
});

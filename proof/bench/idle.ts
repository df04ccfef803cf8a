/**
 * Memory and CPU time of a service with many open connections that wait: WebSockets and GraphQL subscriptions of budgets, streams of results of
 * polls, streams and Socket.IO of the chat. Clients are bare sockets in another process. Memory is the resident size before and with the
 * connections, divided by their number; their own memory in the kernel is not in it. Needs `ulimit -n` above the number.
 *
 *   node proof/bench/idle.ts [--count 9900] [KIND...]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { testFolder } from '@octavo/testing';
import { seeds } from '../../apps/octavo/seeds.ts';
import { startProcess, stopProcess } from '../../apps/octavo/testing.ts';
import { startModel } from '../../services/chat/testing-model.ts';
import { light, register, startBudgetsProcess } from './budgets/start.ts';
import type { IdleTask } from './idle/clients.ts';
import { cpuUsOf } from './lib/cpu.ts';

interface Target extends Pick<IdleTask, 'url' | 'head' | 'frames' | 'ready'> {
  readonly child: ChildProcess;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'string', default: '9900' } },
});
const count = Number(values.count);
const warmUp = Math.min(100, count);
const idleMs = 5_000;
const upgrade =
  'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n';

const kinds: Readonly<Record<string, (stack: AsyncDisposableStack) => Promise<Target>>> = {
  'budgets WebSocket': async (stack) => {
    const { url, child, headers } = await budgets(stack);
    const head = `GET /ws HTTP/1.1\r\nhost: localhost\r\nauthorization: ${headers.authorization}\r\n${upgrade}\r\n`;
    return { url, child, head, ready: '101 Switching' };
  },
  'budgets GraphQL subscription, WebSocket': async (stack) => {
    const { url, child, headers } = await budgets(stack);
    const head = `GET /api/graphql HTTP/1.1\r\nhost: localhost\r\nsec-websocket-protocol: graphql-transport-ws\r\n${upgrade}\r\n`;
    const frames = [
      JSON.stringify({ type: 'connection_init', payload: headers }),
      JSON.stringify({ id: '1', type: 'subscribe', payload: { query: subscription } }),
    ];
    return { url, child, head, frames, ready: 'connection_ack' };
  },
  'budgets GraphQL subscription, events': async (stack) => {
    const { url, child, headers } = await budgets(stack);
    const body = JSON.stringify({ query: subscription });
    return { url, child, head: postHead('/api/graphql', body, headers), ready: '200 OK' };
  },
  'polls stream of results': async (stack) => {
    const environment = { OCTAVO_DATA: testFolder('idle'), LOG_LEVEL: 'error' };
    await seeds.polls?.(environment, { count: 0, isForced: true, onProgress() {} });
    const { url, child } = await start(stack, 'polls', environment);
    // The results of some polls are hidden.
    for (let id = 1; ; id++) {
      const path = `/polls/${id}/results/stream`;
      const { status, body } = await fetch(`${url}${path}`);
      await body?.cancel();
      if (status === 200)
        return { url, child, head: `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`, ready: 'data:' };
    }
  },
  'chat stream of an answer': async (stack) => {
    const { url, child } = await chat(stack);
    const body = JSON.stringify({ query: 'How many days?', request_id: 'idle', stream: true });
    return { url, child, head: postHead('/api/chat', body, {}), ready: 'event: start' };
  },
  'chat Socket.IO': async (stack) => {
    const { url, child } = await chat(stack);
    const head = `GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nhost: localhost\r\n${upgrade}\r\n`;
    return { url, child, head, frames: ['40{}'], ready: '"connected"' };
  },
};
const subscription = 'subscription { notificationAdded { id } }';

for (const kind of positionals.length > 0 ? positionals : Object.keys(kinds)) await measure(kind);
process.exit();

async function measure(kind: string): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const target = await kinds[kind]?.(stack);
  if (!target) throw new Error(`${kind} is none of ${Object.keys(kinds).join(', ')}`);
  const { child, ...task } = target;
  // The first ones load and compile what the others use.
  await open(stack, { ...task, count: warmUp });
  const before = await memoryKbOf(child.pid);
  const startedMs = performance.now();
  await open(stack, { ...task, count: count - warmUp });
  const openMs = performance.now() - startedMs;
  const cpuUs = await cpuUsOf(child.pid);
  await setTimeout(idleMs);
  const load = ((await cpuUsOf(child.pid)) - cpuUs) / (idleMs * 1_000);
  const each = ((await memoryKbOf(child.pid)) - before) / (count - warmUp);
  console.log(
    `${kind}: ${count}, ${each.toFixed(1)} kB each, opened in ${(openMs / 1_000).toFixed(1)} s, ${(load * 100).toFixed(1)} % of a core while idle`,
  );
}

async function open(stack: AsyncDisposableStack, task: IdleTask): Promise<void> {
  const clients = fork(new URL('./idle/clients.ts', import.meta.url));
  stack.defer(() => void clients.kill('SIGKILL'));
  clients.send(task);
  const [opened] = await Promise.race([once(clients, 'message'), once(clients, 'exit')]);
  if (opened !== task.count) throw new Error(`${opened} of ${task.count} connections were opened`);
}

async function budgets(stack: AsyncDisposableStack) {
  const service = stack.use(await startBudgetsProcess(testFolder('idle'), light));
  return { url: service.url, child: service.child, headers: await register(service.url, 'idle@example.com') };
}

async function chat(stack: AsyncDisposableStack) {
  const model = stack.use(await startModel());
  model.script = () => {};
  return start(stack, 'chat', {
    OCTAVO_DATA: testFolder('idle'),
    LOG_LEVEL: 'error',
    LLM_BASE_URL: model.url,
    LLM_MODEL: 'scripted',
    LLM_TIMEOUT_MS: '600000',
    CHAT_RATE_LIMIT: '0',
  });
}

async function start(stack: AsyncDisposableStack, name: string, environment: Record<string, string>) {
  return stack.adopt(await startProcess(name, environment), ({ child }) => stopProcess(child, 'SIGKILL'));
}

function postHead(path: string, body: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${lines.join('')}\r\n${body}`;
}

async function memoryKbOf(pid: number | undefined): Promise<number> {
  return Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

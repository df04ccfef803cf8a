import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { testFolder, until } from '@octavo/testing';
import { startChat } from '../services/chat/testing.ts';
import { octavo, run } from './command-line.ts';

const keys = { GATEWAY_AUTH: 'api_key', CHAT_API_KEYS: 'the-key-of-alice' };
const chat = await startChat({ environment: keys });
after(() => chat[Symbol.asyncDispose]());
const folder = join(testFolder('chat-sync'), 'Meeting notes');
const place = (name: string) => join(folder, name);
const environment = { CHAT_API_KEY: 'the-key-of-alice' };
const sync = (...args: string[]) => octavo(['chat', 'sync', folder, '--url', chat.url, ...args], environment);
const headers = { authorization: 'Bearer the-key-of-alice' };

async function stored(): Promise<string[]> {
  const { json } = await chat.send('GET', '/api/documents?limit=100', undefined, headers);
  return json.documents
    .map(({ filename, tags, visibility }: { filename: string; tags: string[]; visibility: string }) =>
      [filename, ...tags, visibility].join(', '),
    )
    .sort();
}

const longName = `${'Protokoll '.repeat(24)}.md`;
mkdirSync(place('März/.drafts'), { recursive: true });
writeFileSync(place('budget.md'), 'The budget is 900 euros.');
writeFileSync(place('März/Überblick 1.md'), 'The hall is booked.');
writeFileSync(place(`März/${longName}`), 'The minutes were accepted.');
writeFileSync(place('März/.drafts/secret.md'), 'Hidden.');
writeFileSync(place('.env'), 'Hidden.');
writeFileSync(place('photo.raw'), 'Pixels.');
symlinkSync('/etc/passwd', place('linked.txt'));
symlinkSync('.', place('loop'));

test('a folder is sent once, and then what changed', async () => {
  const first = await sync();
  assert.deepEqual([first.code, first.stderr], [0, '']);
  assert.deepEqual(first.stdout.split('\n').sort(), [
    '',
    '3 added, 0 changed, 0 removed, 0 unchanged, 1 skipped, 0 refused',
    `added März/${longName}`,
    'added März/Überblick 1.md',
    'added budget.md',
    'skipped photo.raw: not a kind of file that is read here',
  ]);
  assert.deepEqual(
    await stored(),
    [longName, 'budget.md', 'Überblick 1.md'].map((name) => `${name}, Meeting notes, private`).sort(),
  );
  writeFileSync(place('budget.md'), 'The budget is 800 euros.');
  renameSync(place('März/Überblick 1.md'), place('März/Überblick 2.md'));
  rmSync(place(`März/${longName}`));
  const next = await sync();
  assert.deepEqual(next.stdout.split('\n').sort().slice(1), [
    '1 added, 1 changed, 2 removed, 0 unchanged, 1 skipped, 0 refused',
    'added März/Überblick 2.md',
    'changed budget.md',
    `removed ${longName}`,
    'removed Überblick 1.md',
    'skipped photo.raw: not a kind of file that is read here',
  ]);
});

test('an unreadable file keeps its document and fails the command', async () => {
  writeFileSync(place('budget.md'), '');
  writeFileSync(place('\u001b[31mred.md'), '');
  const { code, stdout } = await sync();
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^refused \?\[31mred\.md: The file is empty\.\nrefused budget\.md: The file is empty\.$/m,
  );
  assert.ok((await stored()).includes('budget.md, Meeting notes, private'));
  rmSync(place('\u001b[31mred.md'));
  writeFileSync(place('budget.md'), 'The budget is 800 euros.');
});

test('with --watch changes go up by themselves, until a signal ends it', async () => {
  const child = run(['chat', 'sync', folder, '--watch', '--url', chat.url], environment);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const seen = async (expected: string) => {
    for (;;) {
      const { value, done } = await lines.next();
      assert.ok(!done, `it ended before ${expected}`);
      if (value === expected) return;
    }
  };
  await seen('waiting for changes');
  mkdirSync(place('April'));
  writeFileSync(place('April/plan.md'), 'The plan is new.');
  await seen('added April/plan.md');
  writeFileSync(place('April/plan.md'), 'The plan is old.');
  await seen('changed April/plan.md');
  rmSync(place('April'), { recursive: true });
  await seen('removed plan.md');
  await stop(child);
  assert.ok(!(await stored()).some((line) => line.startsWith('plan.md')));
});

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  assert.deepEqual(await ended, [0, null]);
}

test('with --watch a server that is away is told of, and does not end it', async () => {
  const own = await startChat();
  await own[Symbol.asyncDispose]();
  const child = run(['chat', 'sync', folder, '--watch', '--url', own.url], {});
  let problems = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    problems += text;
  });
  await until(() => problems.includes('does not answer'));
  await stop(child);
});

test('problems are told in a line', async () => {
  const none = join(folder, 'none');
  for (const [args, code, problem] of [
    [[none], 69, /^octavo: ENOENT: no such file or directory, opendir/],
    [[], 64, /^octavo: octavo chat sync needs a folder\n$/],
    [[folder, '--url', 'localhost'], 64, /^octavo: --url needs an address such as/],
    [[folder, '--url', 'http://a:b@localhost'], 64, /^octavo: --url must not hold a password/],
    [[folder, '--url', chat.url], 69, /^octavo: .*(key|API)/],
  ] as const) {
    const result = await octavo(['chat', 'sync', ...args], {});
    assert.deepEqual([result.code, problem.test(result.stderr)], [code, true], result.stderr);
  }
  assert.equal((await octavo(['chat'], {})).stderr, 'octavo: octavo chat needs eval or sync\n');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { createLog } from '@octavo/core/log';
import { openTerminalLog } from './log.ts';

async function open(colorize: boolean) {
  const lines: string[] = [];
  const destination = await openTerminalLog({ write: (line) => void lines.push(line) }, colorize);
  return { lines, destination };
}

test('the log of a terminal has lines for people, without secrets', async () => {
  const { lines, destination } = await open(false);
  const log = createLog({ service: 'polls', destination });
  log.warn({ listenUrl: 'http://localhost:3004', token: 'secret-1' }, 'almost full');
  assert.match(
    lines[0] ?? '',
    /^\[\d\d:\d\d:\d\d\] WARN: polls: almost full \{"listenUrl":"http:\/\/localhost:3004","token":"\[redacted\]"\}\n$/,
  );
  log.error({ err: new Error('disk is gone') }, 'not saved');
  assert.match(lines[1] ?? '', /ERROR: polls: not saved[\s\S]*disk is gone[\s\S]*at /);
});

test('texts of strangers cannot drive the terminal', async () => {
  const { lines, destination } = await open(false);
  const log = createLog({ service: 'polls', destination });
  const evil = '\u001b]0;title\u0007 \u001b[2J \u009b2J \u007f';
  log.warn({ url: evil, err: new Error(evil) }, evil);
  log.warn(String.raw`C:\u001b\\u001b`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those that must not be there.
  for (const line of lines) assert.doesNotMatch(line, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  assert.ok(lines[1]?.includes(String.raw`C:\u001b\\u001b`));
  const colored = await open(true);
  createLog({ service: 'polls', destination: colored.destination }).warn(evil);
  assert.notEqual(stripVTControlCharacters(colored.lines[0] ?? ''), colored.lines[0]);
});

import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { AppError } from '@octavo/core';

/** Reads a password: prompts for it without echo at a terminal, else takes the first line of standard input. */
export async function readPassword(username: string): Promise<string> {
  const { isTTY } = process.stdin;
  if (isTTY) process.stderr.write(`Password for ${username}: `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: isTTY });
  for await (const line of lines) {
    if (isTTY) process.stderr.write('\n');
    return line;
  }
  throw new AppError('invalid_input', 'the password is read from standard input, but it is empty');
}

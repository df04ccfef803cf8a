import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Environment } from '@octavo/core';

/** A file of tests of each service, for ways to reach the database. */
export const filesOfServices = [
  'authz/rpc-accounts',
  'budgets/expenses/expenses',
  'chat/sessions/sessions',
  'passwordless/sessions/sessions',
  'polls/questions',
  'portfolio/api',
  'posts/posts/posts',
  'quotes/likes/likes',
].map((file) => `services/${file}.everywhere.test.ts`);

/** Runs a file with more in its environment, and throws what it printed if it fails. */
export async function runFile(file: string, environment: Environment): Promise<void> {
  const child = spawn(process.execPath, ['--test', file], {
    cwd: `${import.meta.dirname}/..`,
    env: { ...process.env, ...environment, NODE_TEST_CONTEXT: undefined },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  assert.equal(child.exitCode, 0, output);
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');
export const entry = join(root, 'apps/octavo/octavo.js');
/** Settings with which everything starts fast and quietly. */
export const quick = { LOG_LEVEL: 'warn', ARGON2_MEMORY_KIB: '1024', ARGON2_PASSES: '1' };

/** Starts a command. */
export function run(args: readonly string[], environment: Record<string, string>) {
  return spawn(process.execPath, [entry, ...args], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Runs a command to its end. */
export async function octavo(args: readonly string[], environment: Record<string, string> = {}, input = '') {
  const child = spawn(process.execPath, [entry, ...args], {
    env: { PATH: process.env.PATH, ...environment },
  });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    Array.fromAsync(child.stdout.setEncoding('utf8')),
    Array.fromAsync(child.stderr.setEncoding('utf8')),
    once(child, 'exit'),
  ]);
  return { code: code as number, stdout: stdout.join(''), stderr: stderr.join('') };
}

/** The ids of its child processes. */
export async function childrenOf(child: ChildProcess): Promise<number[]> {
  const ps = spawn('ps', ['-o', 'pid=', '--ppid', String(child.pid)]);
  const printed = (await Array.fromAsync(ps.stdout.setEncoding('utf8'))).join('');
  return printed.trim().split(/\s+/).map(Number);
}

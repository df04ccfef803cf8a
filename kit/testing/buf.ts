import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The program of `buf`. */
export const bufFile = fileURLToPath(new URL('../../proto/node_modules/.bin/buf', import.meta.url));

/** Reason to skip tests that need the tools of `proto/`, which `npm ci --prefix proto` installs. With `CI=true` they fail instead. */
export const bufSkip: string | false =
  existsSync(bufFile) || process.env.CI === 'true' ? false : 'buf is not installed (npm ci --prefix proto)';

/** Runs `buf` in the root of the checkout and returns its output. */
export function buf(...args: readonly string[]): Buffer {
  return execFileSync(bufFile, args, { cwd: root, maxBuffer: 1e8 });
}

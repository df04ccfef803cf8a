import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const protocols = fileURLToPath(new URL('../protocols/', import.meta.url));
/** The program of `buf`. */
export const bufFile = fileURLToPath(new URL('../protocols/tools/node_modules/.bin/buf', import.meta.url));

/** Reason to skip tests that need the tools of `packages/protocols/`, which `npm ci --prefix packages/protocols/tools` installs. With `CI=true` they fail instead. */
export const bufSkip: string | false =
  existsSync(bufFile) || process.env.CI === 'true'
    ? false
    : 'buf is not installed (npm ci --prefix packages/protocols/tools)';

/** Runs `buf` in the folder of the protocols and returns its output. */
export function buf(...args: readonly string[]): Buffer {
  return execFileSync(bufFile, args, { cwd: protocols, maxBuffer: 1e8 });
}

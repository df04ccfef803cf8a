import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { describeSystemError } from '../base/errors.ts';
import { newId, newSecret } from '../base/ids.ts';

/**
 * A secret that is created at first use and stored in a file that only its owner can read (mode 0600): 32 random bytes in
 * base64url, or the result of `make`. If several processes start at once, all get the secret of the first.
 */
export async function storedSecret(
  file: string,
  make: () => string | Promise<string> = () => newSecret(),
): Promise<string> {
  return (await read(file)) ?? keep(file, await make());
}

async function read(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw inWords(error, file);
  }
}

/** Writes a temporary file and links it, so that other processes never read half of it or overwrite another one. */
async function keep(file: string, secret: string): Promise<string> {
  const draft = `${file}.${newId()}`;
  try {
    await writeFile(draft, `${secret}\n`, { mode: 0o600, flag: 'wx' });
    await link(draft, file);
    return secret;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return (await read(file)) as string;
    // Names the file itself, which people know.
    throw inWords(error, file);
  } finally {
    // On a read-only disk there is no draft, and this fails too.
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

/** The error of a file operation, with the path of the file and what to do. */
function inWords(error: unknown, file: string): unknown {
  return describeSystemError(Object.assign(error as Error, { path: file })) ?? error;
}

import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** The token that `login` saved for an address; undefined if there is none. */
export async function readToken(url: string): Promise<string | undefined> {
  return (await readAll())[url];
}

/** Saves the token of an address in a file that only its owner can read. Returns the path of the file. */
export async function saveToken(url: string, token: string): Promise<string> {
  return writeAll({ ...(await readAll()), [url]: token });
}

/** Forgets the token of an address. */
export async function removeToken(url: string): Promise<void> {
  const { [url]: _, ...others } = await readAll();
  await writeAll(others);
}

async function writeAll(tokens: Readonly<Record<string, string>>): Promise<string> {
  const path = credentialsPath();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify(tokens, null, 2)}\n`, { mode: 0o600 });
  await chmod(temporary, 0o600);
  await rename(temporary, path);
  return path;
}

async function readAll(): Promise<Record<string, string>> {
  try {
    return JSON.parse(await readFile(credentialsPath(), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return {};
    throw error;
  }
}

/** Path of the credentials by the XDG Base Directory Specification. */
function credentialsPath(): string {
  const folder = process.env.XDG_CONFIG_HOME || join(homedir(), '.config');
  return join(folder, 'budget-manager', 'credentials.json');
}

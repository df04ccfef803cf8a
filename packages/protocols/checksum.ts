// Tells whether gen/ was written from the .proto files of today, without the tools that write it. `--write` notes that it was.
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = import.meta.dirname;
const noted = join(folder, 'gen/checksum.txt');

/** SHA-256 of all that decides what `npm run proto` writes, in hexadecimal. */
export function checksum(): string {
  const sources = globSync(['*/**/*.proto', 'buf.gen.yaml', 'tools/package-lock.json'], {
    cwd: folder,
    exclude: ['tools/node_modules/**'],
  });
  const hash = createHash('sha256');
  for (const file of sources.sort()) hash.update(`${file}\0`).update(readFileSync(join(folder, file)));
  return hash.digest('hex');
}

/** The checksum at the time of the last `npm run proto`. */
export function notedChecksum(): string {
  return readFileSync(noted, 'utf8').trim();
}

if (process.argv.includes('--write')) writeFileSync(noted, `${checksum()}\n`);

import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { notABackup } from '../errors.ts';
import type { Applied } from '../migrations.ts';

const format = 'octavo-postgres-1';

/**
 * What a backup holds, in this order: its header, each table and its rows, each sequence. A row is PostgreSQL's own
 * JSON, which is never parsed here.
 */
export type BackupLine =
  | { readonly kind: 'header'; readonly migrations: readonly Applied[] }
  | { readonly kind: 'table'; readonly name: string; readonly columns: readonly string[] }
  | { readonly kind: 'row'; readonly json: string }
  | { readonly kind: 'sequence'; readonly name: string; readonly lastValue: string; readonly called: number };

/**
 * Writes a gzip file of mode 0600 with one line each: `R` and the row, or `L` and the rest as JSON, and last `E`. It
 * appears under its name when it is whole and on disk.
 */
export async function writeBackup(file: string, lines: AsyncIterable<BackupLine>): Promise<void> {
  const partial = `${file}.partial`;
  try {
    const output = createWriteStream(partial, { mode: 0o600, flush: true });
    await pipeline(Readable.from(toText(lines), { objectMode: false }), createGzip({ level: 1 }), output);
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Reads what {@link writeBackup} wrote. Throws `invalid_input` where the file is something else or not whole. */
export async function* readBackup(file: string): AsyncGenerator<BackupLine, undefined> {
  let whole = false;
  for await (const line of textLines(file)) {
    const rest = line.slice(1);
    if (line.startsWith('R')) yield { kind: 'row', json: rest };
    else if (line.startsWith('L')) yield JSON.parse(rest) as BackupLine;
    else whole = line === `E${format}`;
  }
  if (!whole) throw notABackup(file);
  return undefined;
}

async function* toText(lines: AsyncIterable<BackupLine>): AsyncGenerator<string> {
  for await (const line of lines) {
    yield line.kind === 'row' ? `R${line.json}\n` : `L${JSON.stringify(line)}\n`;
  }
  yield `E${format}\n`;
}

/** Not by node:readline, which splits at U+2028 too. */
async function* textLines(file: string): AsyncGenerator<string> {
  const text = createReadStream(file).compose(createGunzip()).setEncoding('utf8');
  let rest = '';
  try {
    for await (const chunk of text) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() as string;
      yield* lines;
    }
  } catch (error) {
    throw notABackup(file, error);
  }
}

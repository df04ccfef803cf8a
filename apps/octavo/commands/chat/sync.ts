import { watch } from 'node:fs';
import { basename, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  collectionOf,
  FolderError,
  isLeftOut,
  type Outcome,
  outcomes,
  sendFolder,
} from '@octavo/chat/folder';
import { AppError } from '@octavo/core';
import { stopSignal } from '../../terminal/stop-signal.ts';
import { type Folder, FolderReader } from './folder.ts';

const usualUrl = 'http://localhost:3007';
/** Changes that come within this time of each other are sent together. */
const debounceMs = 500;
/** For changes that the system does not report, such as those of other machines. */
const rescanMs = 60_000;
const interrupted = 130;

interface SyncOptions {
  readonly folder: string;
  readonly url: string;
  readonly collection: string;
  readonly visibility: string | undefined;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
}

/** Runs `octavo chat sync`. Returns 1 if a file of the folder could not be read or was refused. */
export async function sync(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      watch: { type: 'boolean', default: false },
      url: { type: 'string', default: usualUrl },
      collection: { type: 'string' },
      visibility: { type: 'string' },
    },
  });
  const [path, ...rest] = positionals;
  if (path === undefined || rest.length > 0)
    throw new AppError('invalid_input', 'octavo chat sync needs a folder');
  const folder = resolve(path);
  const collection = collectionOf(values.collection ?? basename(folder));
  if (collection === '') throw new AppError('invalid_input', '--collection needs a name');
  const { CHAT_API_KEY: key } = process.env;
  const stopping = new AbortController();
  const { signal } = stopping;
  void stopSignal().then(() => stopping.abort());
  const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
  const options = {
    folder,
    url: siteOf(values.url),
    collection,
    visibility: values.visibility,
    headers,
    signal,
  };
  const reader = new FolderReader(folder);
  try {
    if (values.watch) return await follow(reader, options);
    return (await send(await reader.list(signal), options)) ? 0 : 1;
  } catch (error) {
    if (signal.aborted) return values.watch ? 0 : interrupted;
    if (error instanceof FolderError) throw new AppError('unavailable', error.message);
    throw error;
  }
}

function siteOf(given: string): string {
  if (!/^https?:\/\//.test(given) || !URL.canParse(given))
    throw new AppError('invalid_input', `--url needs an address such as ${usualUrl}, not ${given}`);
  const { username, password, href } = new URL(given);
  if (username !== '' || password !== '')
    throw new AppError('invalid_input', '--url must not hold a password; set CHAT_API_KEY');
  return href.replace(/\/+$/, '');
}

/** Sends what changes until the signal stops it. A server that is away is asked again with the next change, or a minute later. */
async function follow(reader: FolderReader, options: SyncOptions): Promise<number> {
  const { folder, signal } = options;
  let change = Promise.withResolvers<void>();
  watchFolder(folder, signal, () => change.resolve());
  for (let sent: string | undefined; ; ) {
    change = Promise.withResolvers();
    try {
      const listed = await reader.list(signal);
      if (listed.version !== sent) await send(listed, options);
      if (sent === undefined) process.stdout.write('waiting for changes\n');
      sent = listed.version;
    } catch (error) {
      if (signal.aborted || !(error instanceof FolderError)) throw error;
      process.stderr.write(`octavo: ${error.message}\n`);
      sent = undefined;
    }
    await Promise.race([change.promise, setTimeout(rescanMs, undefined, { signal })]);
    await setTimeout(debounceMs, undefined, { signal });
  }
}

function watchFolder(folder: string, signal: AbortSignal, onChange: () => void): void {
  const say = ({ message }: Error) =>
    process.stderr.write(`octavo: ${message}; looking for changes each minute\n`);
  try {
    watch(folder, { recursive: true, signal }, (_, name) => {
      if (name === null || !isLeftOut(name)) onChange();
    }).on('error', say);
  } catch (error) {
    say(error as Error);
  }
}

/** Sends a folder as it was listed, and says what became of each file. Returns false if a file is not in the library. */
async function send({ files, unreadable }: Folder, options: SyncOptions): Promise<boolean> {
  const { signal } = options;
  const counts = new Map<Outcome, number>();
  for (const message of unreadable) process.stderr.write(`octavo: ${printable(message)}\n`);
  if (unreadable.length > 0) process.stderr.write('octavo: so no documents are deleted\n');
  try {
    await sendFolder(files, {
      ...options,
      removes: unreadable.length === 0,
      tell(outcome, path, reason) {
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
        const why = reason === undefined ? '' : `: ${reason}`;
        if (outcome === 'unchanged') return;
        showProgress('');
        process.stdout.write(`${printable(`${outcome} ${path}${why}`)}\n`);
      },
      progress: showProgress,
      wait: (seconds) => setTimeout(seconds * 1_000, undefined, { signal }),
    });
  } finally {
    showProgress('');
    const all = outcomes.map((outcome) => `${counts.get(outcome) ?? 0} ${outcome}`);
    process.stdout.write(`${all.join(', ')}\n`);
  }
  return unreadable.length === 0 && !counts.has('refused');
}

/** Replaces the last line of a terminal. */
function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

/** Names of files may hold characters that a terminal obeys. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}

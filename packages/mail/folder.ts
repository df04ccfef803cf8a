import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeSystemError, newId } from '@octavo/core';
import { compose, signing } from './compose.ts';
import { type Dkim, type Mail, MailError, type Mailer } from './mailer.ts';

export interface FolderOptions {
  /** Created if missing, accessible to its owner only. */
  readonly folder: string;
  readonly dkim?: Dkim | undefined;
}

/**
 * Writes e-mails to files, for development without a mail server: `<id>.eml`, byte for byte what a server would get. Sending one again
 * replaces its file. Unfinished files are hidden ones, and those that a crash left are deleted by the next process.
 */
export function openFolderMailer(options: FolderOptions): Mailer {
  return new FolderMailer(options);
}

/** The file of the e-mail with this id. */
export function fileOf(folder: string, id: string): string {
  return join(folder, `${id}.eml`);
}

class FolderMailer implements Mailer {
  readonly #options: FolderOptions;
  readonly #sending = new Set<Promise<unknown>>();
  #swept: Promise<void> | undefined;
  #closed = false;

  constructor(options: FolderOptions) {
    this.#options = options;
  }

  async send(mail: Mail): Promise<string> {
    if (this.#closed) throw new MailError('unreachable', 'ECLOSED', 'this mailer is closed');
    const message = compose(mail);
    const storing = this.#store(mail.id, message);
    this.#sending.add(storing);
    try {
      return await storing;
    } finally {
      this.#sending.delete(storing);
    }
  }

  async ping(): Promise<void> {
    const { folder } = this.#options;
    await orUnreachable(folder, mkdir(folder, { recursive: true, mode: 0o700 }));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#sending);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #store(id: string, message: ReturnType<typeof compose>): Promise<string> {
    const { folder, dkim } = this.#options;
    // Loaded here, because many processes send nothing.
    const { createTransport } = await import('nodemailer');
    const composer = { streamTransport: true, buffer: true, newline: 'windows', ...signing(dkim) } as const;
    const { message: source } = await createTransport(composer).sendMail(message);
    await this.ping();
    this.#swept ??= deleteOldDrafts(folder);
    await this.#swept;
    await orUnreachable(folder, writeWhole(folder, id, source as Buffer));
    return `saved as ${id}.eml`;
  }
}

const draftName = /^\..*\.draft$/;
/** Age at which a draft is abandoned: writing an e-mail takes less. */
const draftMsMax = 60_000;

/** Deletes what writers have left that were killed. Other processes may write to the same folder now. */
async function deleteOldDrafts(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => draftName.test(each))) {
    const draft = join(folder, name);
    const age = await stat(draft).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > draftMsMax) await rm(draft, { force: true });
  }
}

/** Writes a temporary file and renames it, so that no reader sees half of it. */
async function writeWhole(folder: string, id: string, content: Buffer): Promise<void> {
  const draft = join(folder, `.${newId()}.draft`);
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, fileOf(folder, id));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Waits for a file operation. Throws `unreachable`, with what to do about it, if it fails. */
async function orUnreachable<T>(folder: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { code = 'EIO', message } = error as NodeJS.ErrnoException;
    const remedy = describeSystemError(error, folder)?.message;
    throw new MailError('unreachable', code, remedy ?? message, { cause: error });
  }
}

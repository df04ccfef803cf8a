import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../ids.ts';

/** What all buffers that share it may have on disk at a time. */
export interface SpillBudget {
  leftBytes: number;
}

export interface SpillOptions {
  /** Where the file goes that takes what memory does not; it is made where it is missing. */
  readonly folder: string;
  readonly budget: SpillBudget;
  /** What waits in memory before the file is begun; at most three times that is ever held. */
  readonly memoryBytes: number;
}

/** The reader was so slow that neither memory nor disk could hold what it had still to read. */
export class SpillOverflow extends Error {}

/**
 * Bytes between a writer that never waits and one slower reader: some in memory, the rest in a file without a name, which is gone with the
 * process. Iterate it once.
 */
export class SpillBuffer implements AsyncIterable<Uint8Array>, AsyncDisposable {
  readonly #options: SpillOptions;
  /** Older than what is in the file. */
  #head: Uint8Array[] = [];
  /** Younger than what is in the file, and on its way there. */
  #tail: Uint8Array[] = [];
  #memoryBytes = 0;
  #file: FileHandle | undefined;
  /** Of the budget. */
  #takenBytes = 0;
  #writtenBytes = 0;
  #readBytes = 0;
  #spilling: Promise<void> | undefined;
  #hasEnded = false;
  #isOver = false;
  #failure: Error | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(options: SpillOptions) {
    this.#options = options;
  }

  /** Takes bytes; after a failure or the reader's end it forgets them. */
  write(bytes: Uint8Array): void {
    if (this.#isOver || this.#failure || bytes.length === 0) return;
    const { memoryBytes } = this.#options;
    if (this.#memoryBytes + bytes.length > 3 * memoryBytes) {
      this.fail(new SpillOverflow('the reader is too slow for memory and disk'));
      return;
    }
    this.#memoryBytes += bytes.length;
    const isInOrder = this.#tail.length === 0 && !this.#spilling && this.#unreadBytes === 0;
    if (isInOrder && this.#memoryBytes <= memoryBytes) {
      this.#head.push(bytes);
    } else {
      this.#tail.push(bytes);
      this.#spilling ??= this.#spill();
    }
    this.#wake();
  }

  /** Waits while so much is in memory that the buffer is near its failure, but not for longer than this. */
  async relieved(timeoutMs: number): Promise<void> {
    const late = performance.now() + timeoutMs;
    while (this.#memoryBytes > 2 * this.#options.memoryBytes && !this.#isOver && !this.#failure) {
      const leftMs = late - performance.now();
      if (leftMs <= 0) return;
      const timer = Promise.withResolvers<void>();
      const timeout = setTimeout(timer.resolve, leftMs);
      await Promise.race([this.#changed.promise, timer.promise]);
      clearTimeout(timeout);
    }
  }

  /** Says that there is no more. */
  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  /** Throws at the reader, whatever it has still to read. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#head = [];
    this.#tail = [];
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        if (this.#failure) throw this.#failure;
        const bytes = this.#head.shift();
        if (bytes) {
          this.#memoryBytes -= bytes.length;
          this.#wake();
          yield bytes;
        } else if (this.#unreadBytes > 0) {
          yield await this.#readBack();
        } else if (this.#spilling || this.#tail.length > 0 || !this.#hasEnded) {
          await this.#changed.promise;
        } else {
          return;
        }
      }
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }

  /** Lets go of everything, read or not. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#head = [];
    this.#tail = [];
    await this.#spilling;
    await this.#close();
  }

  get #unreadBytes(): number {
    return this.#writtenBytes - this.#readBytes;
  }

  /** Moves the tail into the file, until there is none. A failure is the reader's. */
  async #spill(): Promise<void> {
    try {
      this.#file ??= await openNameless(this.#options.folder);
      while (this.#tail.length > 0) {
        const batch = this.#tail;
        this.#tail = [];
        await this.#append(this.#file, Buffer.concat(batch));
        this.#wake();
      }
    } catch (error) {
      this.fail(error as Error);
    } finally {
      this.#spilling = undefined;
      this.#wake();
    }
  }

  async #append(file: FileHandle, bytes: Uint8Array): Promise<void> {
    const { budget } = this.#options;
    if (budget.leftBytes < bytes.length) throw new SpillOverflow('the file may not be larger');
    budget.leftBytes -= bytes.length;
    this.#takenBytes += bytes.length;
    await file.writeFile(bytes);
    this.#writtenBytes += bytes.length;
    this.#memoryBytes -= bytes.length;
  }

  async #readBack(): Promise<Uint8Array> {
    const file = this.#file as FileHandle;
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.allocUnsafe(Math.min(this.#unreadBytes, readBytesMax)),
      position: this.#readBytes,
    });
    this.#readBytes += bytesRead;
    return buffer.subarray(0, bytesRead);
  }

  /** Gives back what the file had. */
  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#options.budget.leftBytes += this.#takenBytes;
    this.#takenBytes = 0;
    await file?.close();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

const readBytesMax = 256 * 1024;

async function openNameless(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, newId());
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '@octavo/core';
import { Notifier } from '@octavo/core/concurrency';

/** Disk space that is left for all buffers that share it. */
export interface SpillBudget {
  leftBytes: number;
}

export interface SpillOptions {
  /** The folder for temporary files, created if missing. */
  readonly folder: string;
  readonly budget: SpillBudget;
  /** Bytes to hold in memory before a file is used. At most three times as many are ever held. */
  readonly memoryBytes: number;
}

/** The consumer was so slow that memory and disk are full. */
export class SpillOverflow extends Error {}

/**
 * Buffers bytes between a writer that never waits and a slower consumer: some in memory, the rest in a file without a name, which
 * disappears with the process. Iterate it once.
 */
export class SpillBuffer implements AsyncIterable<Uint8Array>, AsyncDisposable {
  readonly #options: SpillOptions;
  /** Older than the bytes in the file. */
  #head: Uint8Array[] = [];
  /** Newer than the bytes in the file, and about to be written to it. */
  #tail: Uint8Array[] = [];
  #memoryBytes = 0;
  #file: FileHandle | undefined;
  /** Bytes taken from the budget. */
  #takenBytes = 0;
  #writtenBytes = 0;
  #readBytes = 0;
  #spilling: Promise<void> | undefined;
  #hasEnded = false;
  #isOver = false;
  #failure: Error | undefined;
  readonly #changed = new Notifier();

  constructor(options: SpillOptions) {
    this.#options = options;
  }

  /** Takes bytes. After a failure, or when the consumer has stopped, they are dropped. */
  write(bytes: Uint8Array): void {
    if (this.#isOver || this.#failure || bytes.length === 0) return;
    const { memoryBytes } = this.#options;
    if (this.#memoryBytes + bytes.length > 3 * memoryBytes) {
      this.fail(new SpillOverflow('the consumer is too slow for memory and disk'));
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
    this.#changed.notify();
  }

  /** Waits, at most `timeoutMs`, while the memory is almost full. */
  async relieved(timeoutMs: number): Promise<void> {
    const deadlineMs = performance.now() + timeoutMs;
    while (this.#memoryBytes > 2 * this.#options.memoryBytes && !this.#isOver && !this.#failure) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return;
      await this.#changed.wait(leftMs);
    }
  }

  /** Marks the end of the bytes. */
  end(): void {
    this.#hasEnded = true;
    this.#changed.notify();
  }

  /** Makes the consumer's next read throw, even if there are bytes left. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#head = [];
    this.#tail = [];
    this.#changed.notify();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        if (this.#failure) throw this.#failure;
        const bytes = this.#head.shift();
        if (bytes) {
          this.#memoryBytes -= bytes.length;
          this.#changed.notify();
          yield bytes;
        } else if (this.#unreadBytes > 0) {
          yield await this.#readBack();
        } else if (this.#spilling || this.#tail.length > 0 || !this.#hasEnded) {
          await this.#changed.wait();
        } else {
          return;
        }
      }
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }

  /** Releases memory and file, whether everything was read or not. */
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

  /** Writes the tail to the file until it is empty. The consumer gets any failure. */
  async #spill(): Promise<void> {
    try {
      this.#file ??= await openNameless(this.#options.folder);
      while (this.#tail.length > 0) {
        const batch = this.#tail;
        this.#tail = [];
        await this.#append(this.#file, Buffer.concat(batch));
        this.#changed.notify();
      }
    } catch (error) {
      this.fail(error as Error);
    } finally {
      this.#spilling = undefined;
      this.#changed.notify();
    }
  }

  async #append(file: FileHandle, bytes: Uint8Array): Promise<void> {
    const { budget } = this.#options;
    if (budget.leftBytes < bytes.length) throw new SpillOverflow('the disk budget is used up');
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

  /** Closes the file and returns its bytes to the budget. */
  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#options.budget.leftBytes += this.#takenBytes;
    this.#takenBytes = 0;
    await file?.close();
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

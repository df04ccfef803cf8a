import { hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';

const chunkBytes = 256;

/**
 * Looks passwords up in a sorted file of SHA-1 sums in hex, one per line. A sum may be cut to a prefix and followed by `:` and a
 * count. The file may be larger than memory: a lookup reads a few dozen pieces of it.
 */
export class BreachedPasswords implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly #sizeBytes: number;

  constructor(file: FileHandle, sizeBytes: number) {
    this.#file = file;
    this.#sizeBytes = sizeBytes;
  }

  /** Opens the file; throws the error of the operating system if it cannot be read. */
  static async open(path: string): Promise<BreachedPasswords> {
    const file = await open(path);
    return new BreachedPasswords(file, (await file.stat()).size);
  }

  /** Returns true if the file lists the password. */
  async has(password: string): Promise<boolean> {
    const sum = hash('sha1', password.normalize('NFC'), 'hex').toUpperCase();
    let [from, to] = [0, this.#sizeBytes];
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      const line = await this.#lineAfter(middle, from);
      if (line.sum !== '' && sum.startsWith(line.sum)) return true;
      if (line.sum === '' || sum < line.sum) to = middle;
      else from = line.endByte;
    }
    return false;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#file.close();
  }

  /** The first whole line at or after a byte; `from` is the start of a line. */
  async #lineAfter(byte: number, from: number): Promise<{ sum: string; endByte: number }> {
    const startByte = Math.max(from, byte - 1);
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(chunkBytes), 0, chunkBytes, startByte);
    const text = buffer.toString('latin1', 0, bytesRead);
    const offset = startByte === from ? 0 : text.indexOf('\n') + 1;
    if (startByte !== from && offset === 0) return { sum: '', endByte: this.#sizeBytes };
    const [line = ''] = text.slice(offset).split('\n', 1);
    const [sum = ''] = line.split(/[:\r]/, 1);
    return { sum: sum.toUpperCase(), endByte: startByte + offset + line.length + 1 };
  }
}

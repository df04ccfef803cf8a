import { closeSync, openSync, utimesSync, watch } from 'node:fs';
import { join } from 'node:path';

const pauseMs = 20;

/**
 * Wakes the workers of other processes on this machine, which share the data folder: by the time of a file that they watch. Where that does not
 * reach them they find out by themselves a little later.
 */
export class MailNotifier implements Disposable {
  readonly #file: string;
  #timer: NodeJS.Timeout | undefined;

  constructor(dataFolder: string) {
    this.#file = join(dataFolder, 'passwordless-mail.notify');
    closeSync(openSync(this.#file, 'a', 0o600));
  }

  /** Many at once are one. */
  notify(): void {
    this.#timer ??= setTimeout(() => this.#touch(), pauseMs);
  }

  /** Calls back at each ring, of this process or another. */
  listen(onNotify: () => void): Disposable {
    const watcher = watch(this.#file, { persistent: false }, onNotify);
    watcher.on('error', () => watcher.close());
    return { [Symbol.dispose]: () => watcher.close() };
  }

  [Symbol.dispose](): void {
    if (this.#timer) this.#touch();
  }

  #touch(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const now = new Date();
    try {
      utimesSync(this.#file, now, now);
    } catch {
      // Who misses it looks by itself.
    }
  }
}

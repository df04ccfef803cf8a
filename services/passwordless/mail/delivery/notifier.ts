import { closeSync, openSync, utimesSync, watch } from 'node:fs';
import { join } from 'node:path';

const pauseMs = 20;

/**
 * Wakes the workers of other processes that share the data folder, by the time of a file that they watch. Workers that it does not reach
 * notice a little later, as they check the queue regularly.
 */
export class MailNotifier implements Disposable {
  readonly #file: string;
  #timer: NodeJS.Timeout | undefined;

  constructor(dataFolder: string) {
    this.#file = join(dataFolder, 'passwordless-mail.notify');
    closeSync(openSync(this.#file, 'a', 0o600));
  }

  /** Several calls within 20 ms are one notification. */
  notify(): void {
    this.#timer ??= setTimeout(() => this.#touch(), pauseMs);
  }

  /** Calls back at each notification, from this process or another. */
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
      // Workers check the queue regularly, too.
    }
  }
}

import { Worker, type WorkerOptions } from 'node:worker_threads';

/** A worker thread that keeps the process alive only between `ref` and `unref`, and while it is being ended. */
export class BackgroundWorker extends Worker {
  #isEnding = false;

  constructor(module: URL, options: WorkerOptions) {
    super(module, options);
    this.unref();
  }

  override unref(): void {
    // A reply that arrives while the thread is being ended must not let the process exit before that is done.
    if (!this.#isEnding) super.unref();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.ref();
    await this.terminate();
  }
}

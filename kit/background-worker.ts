import { Worker, type WorkerOptions } from 'node:worker_threads';

/** A worker thread that keeps the process alive only while it is told to, by `ref`, and while it is being ended. */
export class BackgroundWorker extends Worker {
  #isEnding = false;

  constructor(module: URL, options: WorkerOptions) {
    super(module, options);
    this.unref();
  }

  override unref(): void {
    // An answer that comes while it is being ended must not let the process run out of work before that is done.
    if (!this.#isEnding) super.unref();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.ref();
    await this.terminate();
  }
}

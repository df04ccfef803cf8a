import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { residentBytes, runEvery } from '@octavo/core/concurrency';
import type { EncodeCommand, EncodeReply } from './protocol.ts';

/** A vector of length 1, and the number of tokens of its text. */
export interface Encoded {
  readonly vector: Float32Array;
  readonly tokens: number;
}

/** Failure of the encoder, in words that follow "The encoder". */
export class EncoderError extends Error {
  override readonly name = 'EncoderError';
  /** True if it is these texts that cannot be encoded; the process goes on. */
  readonly isRefusal: boolean;

  constructor(message: string, isRefusal = false) {
    super(message);
    this.isRefusal = isRefusal;
  }
}

const watchEveryMs = 100;
/** Of one request, on a machine that is busy with other work. */
const answerMs = 60_000;

/** One process, which encodes one request at a time, without settings and secrets. It is killed if it takes too much memory or time. */
export class EncodeProcess {
  readonly #child: ChildProcess;
  readonly #memoryBytesMax: number;
  #waiting: PromiseWithResolvers<Encoded[]> | undefined;
  #askedMs = 0;
  #problem = new EncoderError('stopped');

  constructor(memoryBytesMax: number) {
    this.#memoryBytesMax = memoryBytesMax;
    this.#child = fork(new URL('./encode-process.ts', import.meta.url), [], {
      env: {},
      execArgv: ['--max-old-space-size=256', '--max-semi-space-size=8'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('message', (reply: EncodeReply) => this.#receive(reply));
    this.#child.once('error', () => this.#kill('cannot be started'));
    this.#child.once('exit', () => this.#waiting?.reject(this.#problem));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isAlive(): boolean {
    return !this.#child.killed && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async ask(texts: readonly string[]): Promise<Encoded[]> {
    const waiting = Promise.withResolvers<Encoded[]>();
    this.#waiting = waiting;
    this.#askedMs = performance.now();
    this.#child.ref();
    this.#child.channel?.ref();
    using _watching = runEvery(watchEveryMs, () => this.#watch());
    this.#child.send({ texts } satisfies EncodeCommand, (error) => {
      if (error) this.#kill('stopped');
    });
    return await waiting.promise.finally(() => {
      this.#waiting = undefined;
    });
  }

  /** Lets the process that started it end. */
  rest(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.ref();
    this.#kill('was not waited for');
    await gone;
  }

  #receive(reply: EncodeReply): void {
    // Where the system does not tell.
    if (reply.memoryBytes > this.#memoryBytesMax) this.#kill('took too much memory');
    else if ('failure' in reply) this.#waiting?.reject(new EncoderError('cannot read these texts', true));
    else
      this.#waiting?.resolve(
        reply.vectors.map((vector, index) => ({ vector, tokens: reply.tokens[index] ?? 0 })),
      );
  }

  async #watch(): Promise<void> {
    if (performance.now() - this.#askedMs > answerMs) this.#kill('took too long');
    else if ((await residentBytes(this.#child.pid)) > this.#memoryBytesMax)
      this.#kill('took too much memory');
  }

  #kill(problem: string): void {
    if (this.isAlive) this.#problem = new EncoderError(problem);
    this.#child.kill('SIGKILL');
  }
}

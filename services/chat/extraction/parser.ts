import { type ChildProcess, fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import type { Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import { ConcurrencyLimiter, processorTimeMs, residentBytes, runEvery } from '@octavo/core/concurrency';
import { hasFallback, limits } from '@octavo/documents';
import { type AllowedTime, allowedTime, exceeded, timeToParse } from './allowed-time.ts';
import type {
  DrawnPage,
  DrawRequest,
  ParseCommand,
  ParsedChunks,
  ParsedText,
  ParseReply,
  ParseRequest,
} from './parsing.ts';

const watchEveryMs = 100;
const idleMs = 30_000;
const largeBytes = 4 * 1024 * 1024;
/** Memory of a process that is not kept for the next document. */
const keptMemoryBytes = 256 * 1024 * 1024;
const drawingsWaiting = 50;
/** Times that a process of low priority may wait as long as others. */
const idlePatience = 10;

export interface ParserOptions {
  readonly log: Log;
  /** Number of documents read at the same time. */
  readonly processes?: number;
  /** Longest processor time for a document of any size. */
  readonly parseMs?: number;
  /** Longest processor time for the picture of a page. */
  readonly drawMs?: number;
  /** The heap of a process. */
  readonly heapMib?: number;
  /** True for one process of the lowest priority, which may wait longer for its turn. */
  readonly isIdle?: boolean;
}

/**
 * Reads documents, and draws pages of them, in processes of their own, which have no settings and no secrets. A process that takes too long or too much memory, or
 * whose caller gave up, is killed. One that is idle is kept for the next document for a while.
 */
export class Parser implements AsyncDisposable {
  readonly #options: ParserOptions;
  readonly #limiter: ConcurrencyLimiter;
  readonly #drawLimiter = new ConcurrencyLimiter({ running: 1, waiting: drawingsWaiting });
  readonly #idle: ParseProcess[] = [];
  readonly #all = new Set<ParseProcess>();

  constructor(options: ParserOptions) {
    this.#options = options;
    this.#limiter = new ConcurrencyLimiter({
      running: options.isIdle ? 1 : (options.processes ?? 2),
      waiting: 1_000,
    });
  }

  /**
   * Hands the text of a document, then its chunks in batches, to `receive`, and waits for each. A file that takes too much time or memory
   * before its text is there is read again in the other way that there may be for it.
   */
  parse(
    request: ParseRequest,
    receive: (reply: ParsedText | ParsedChunks) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    return this.#limiter.run(async () => {
      let hasText = false;
      const pass = async (reply: ParsedText | ParsedChunks | DrawnPage) => {
        if (reply.kind === 'page') return;
        hasText = true;
        await receive(reply);
      };
      try {
        await this.#ask(request, signal, pass);
      } catch (error) {
        if (!(error instanceof OverLimit) || hasText || !hasFallback(request.mediaType)) throw error;
        this.#options.log.info({ cause: error.message }, 'a document is read in another way');
        await this.#ask({ ...request, usesFallback: true }, signal, pass);
      }
    }, signal);
  }

  /** The picture of a page as a PNG, one at a time. `read` is called when it is its turn, so that those who wait hold no bytes. Throws `unavailable` if too many wait. */
  draw(
    request: Omit<DrawRequest, 'bytes'>,
    read: () => Promise<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    return this.#drawLimiter.run(async () => {
      let png: Uint8Array | undefined;
      await this.#ask({ ...request, bytes: await read() }, signal, async (reply) => {
        if (reply.kind === 'page') png = reply.png;
      });
      if (!png) throw new Error('the process drew no page');
      return png;
    }, signal);
  }

  async #ask(
    request: ParseRequest | DrawRequest,
    signal: AbortSignal | undefined,
    receive: (reply: ParsedText | ParsedChunks | DrawnPage) => Promise<void>,
  ): Promise<void> {
    signal?.throwIfAborted();
    const process = this.#idle.pop() ?? this.#start();
    const kill = () => process.kill(signal?.reason);
    signal?.addEventListener('abort', kill, { once: true });
    try {
      let reply = await process.ask(request, this.#timeFor(request));
      while (reply.kind !== 'done') {
        if (reply.kind === 'failed') throw this.#failure(reply);
        await receive(reply);
        reply = await process.next();
      }
    } catch (error) {
      process.kill(error);
      throw error;
    } finally {
      signal?.removeEventListener('abort', kill);
      // Memory that a large document or page used is freed with its process.
      const isLarge = request.bytes.length > largeBytes || (await process.residentBytes()) > keptMemoryBytes;
      if (isLarge) process.kill(undefined);
      else if (process.isAlive) this.#keep(process);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = [...this.#all].map((process) => process.end());
    await Promise.all(ended);
  }

  #start(): ParseProcess {
    const { heapMib = 384, isIdle = false } = this.#options;
    const process = new ParseProcess({ heapMib, isIdle });
    this.#all.add(process);
    process.whenGone(() => {
      this.#all.delete(process);
      const place = this.#idle.indexOf(process);
      if (place >= 0) this.#idle.splice(place, 1);
    });
    return process;
  }

  #timeFor(request: ParseRequest | DrawRequest): AllowedTime {
    const { parseMs, drawMs = limits.drawMs, isIdle = false } = this.#options;
    const { processorMs, elapsedMs } =
      'page' in request ? allowedTime(drawMs) : timeToParse(request.bytes.length, parseMs);
    return { processorMs, elapsedMs: isIdle ? elapsedMs * idlePatience : elapsedMs };
  }

  #keep(process: ParseProcess): void {
    this.#idle.push(process);
    process.restFor(idleMs);
  }

  #failure({ code, message, cause }: ParseReply & { kind: 'failed' }): AppError {
    if (cause !== undefined) this.#options.log.info({ cause }, 'a document could not be read');
    return new AppError(code, message);
  }
}

/** One process, which answers one question at a time. */
class ParseProcess {
  readonly #child: ChildProcess;
  #allowed: AllowedTime = allowedTime(0);
  #waiting: PromiseWithResolvers<ParseReply> | undefined;
  #usedMs = 0;
  #askedMs = 0;
  /** Processor time of the process before its document. */
  #processorMsBefore: Promise<number> = Promise.resolve(0);
  #watching: Disposable | undefined;
  #rest: NodeJS.Timeout | undefined;
  #problem: unknown;

  constructor({ heapMib, isIdle }: { heapMib: number; isIdle: boolean }) {
    this.#child = fork(new URL('./parse-process.ts', import.meta.url), [], {
      env: {},
      execArgv: [`--max-old-space-size=${heapMib}`, '--max-semi-space-size=8'],
      serialization: 'advanced',
      stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    });
    // Threads that the process starts have its priority.
    if (isIdle && this.#child.pid !== undefined)
      setPriority(this.#child.pid, constants.priority.PRIORITY_LOW);
    // A process that is gone takes no bytes; `exit` tells.
    this.#child.stdin?.on('error', () => {});
    this.#child.on('message', (reply: ParseReply) => this.#settle()?.resolve(reply));
    this.#child.once('error', (error) => this.kill(error));
    this.#child.once('exit', () => this.#settle()?.reject(this.#problem ?? tooMuchMemory()));
  }

  get isAlive(): boolean {
    return !this.#child.killed && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  whenGone(act: () => void): void {
    this.#child.once('exit', act);
  }

  /** The first reply to a request. */
  ask(request: ParseRequest | DrawRequest, allowed: AllowedTime): Promise<ParseReply> {
    this.#allowed = allowed;
    this.#usedMs = 0;
    this.#processorMsBefore = processorTimeMs(this.#child.pid);
    return this.#ask(request);
  }

  /** The next reply to the same request. Only the time of its work counts. */
  next(): Promise<ParseReply> {
    return this.#ask('next');
  }

  #ask(question: ParseRequest | DrawRequest | 'next'): Promise<ParseReply> {
    clearTimeout(this.#rest);
    const waiting = Promise.withResolvers<ParseReply>();
    if (!this.isAlive) {
      waiting.reject(this.#problem ?? tooMuchMemory());
      return waiting.promise;
    }
    this.#waiting = waiting;
    this.#askedMs = performance.now();
    this.#child.ref();
    this.#child.channel?.ref();
    this.#watching = runEvery(watchEveryMs, () => this.#watch());
    this.#send(question);
    return waiting.promise;
  }

  #send(question: ParseRequest | DrawRequest | 'next'): void {
    const failed = (error: Error | null) => {
      if (error) this.kill(error);
    };
    if (question === 'next') {
      this.#child.send(question, failed);
      return;
    }
    const { bytes, ...about } = question;
    this.#child.send({ ...about, bytesLength: bytes.length } satisfies ParseCommand, failed);
    this.#child.stdin?.write(bytes);
  }

  kill(reason: unknown): void {
    this.#problem ??= reason;
    this.#child.kill('SIGKILL');
  }

  /** Returns the memory of the process; 0 if the system does not tell. */
  residentBytes(): Promise<number> {
    return residentBytes(this.#child.pid);
  }

  /** Ends by itself if it is not asked anything for that long. */
  restFor(ms: number): void {
    this.#child.unref();
    this.#child.channel?.unref();
    this.#rest = setTimeout(() => this.kill(undefined), ms).unref();
  }

  async end(): Promise<void> {
    clearTimeout(this.#rest);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()));
    this.#child.ref();
    this.kill(new AppError('unavailable', 'The service is stopping.'));
    await gone;
  }

  #settle(): PromiseWithResolvers<ParseReply> | undefined {
    this.#watching?.[Symbol.dispose]();
    this.#usedMs += performance.now() - this.#askedMs;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }

  async #watch(): Promise<void> {
    const elapsedMs = this.#usedMs + performance.now() - this.#askedMs;
    const processorMs = (await processorTimeMs(this.#child.pid)) - (await this.#processorMsBefore);
    // The reply may have come in the meantime.
    if (!this.#waiting) return;
    const limitMs = exceeded(this.#allowed, { processorMs, elapsedMs });
    if (limitMs !== undefined) {
      this.kill(new OverLimit(`The file could not be read within ${limitMs / 1_000} seconds.`));
    } else if ((await this.residentBytes()) > limits.parseMemoryBytes) {
      this.kill(tooMuchMemory());
    }
  }
}

/** A process that took too long or too much memory, or crashed. */
class OverLimit extends AppError {
  constructor(message: string) {
    super('unprocessable', message);
  }
}

function tooMuchMemory(): OverLimit {
  return new OverLimit('Reading the file takes too much memory.');
}

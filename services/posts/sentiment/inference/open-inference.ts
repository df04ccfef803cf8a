import type { Log } from '@octavo/core';
import { AppError, toAppError, withinBytes } from '@octavo/core';
import type { Classification, Classifier } from '../classifier.ts';
import type { Label } from '../model/labels.ts';
import { type InferenceMetadata, readProbabilities, type Tensors, tensorsOf } from './tensors.ts';

export interface OpenInferenceOptions {
  /** Address of the server, without `/v2`. */
  readonly url: string;
  readonly model: string;
  readonly token?: string | undefined;
  /** Timeout of one request, which has up to 32 texts. */
  readonly timeoutMs: number;
  /** Names of the tensors for texts and probabilities; by default those of the model's metadata. */
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  /** Labels of the columns of the probabilities. */
  readonly labels: readonly Label[];
  readonly log: Log;
}

const textsAtOnce = 32;
const answerBytesMax = 1024 * 1024;

/**
 * A model on a server of the Open Inference protocol over HTTP (KServe v2, https://github.com/kserve/open-inference-protocol):
 * texts go in as a tensor of BYTES, three probabilities a text come out.
 */
export class OpenInferenceClassifier implements Classifier {
  readonly model: string;
  readonly #options: OpenInferenceOptions;
  readonly #address: string;
  readonly #closed = new AbortController();
  #tensors: Tensors | undefined;
  #answers = true;

  constructor(options: OpenInferenceOptions) {
    this.#options = options;
    this.model = options.model;
    this.#address = `${options.url.replace(/\/+$/, '')}/v2/models/${encodeURIComponent(options.model)}`;
  }

  async classify(texts: readonly string[], signal?: AbortSignal): Promise<Classification[]> {
    const classifications: Classification[] = [];
    for (let start = 0; start < texts.length; start += textsAtOnce) {
      const slice = texts.slice(start, start + textsAtOnce);
      classifications.push(...(await this.#reporting(() => this.#infer(slice, signal))));
    }
    return classifications;
  }

  async ping(signal: AbortSignal): Promise<void> {
    await this.#reporting(() => this.#ask('/ready', { signal }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort(unavailable('the connection was closed'));
  }

  async #infer(texts: readonly string[], signal: AbortSignal | undefined): Promise<Classification[]> {
    this.#tensors ??= await this.#findTensors(signal);
    const { input, output, isColumn } = this.#tensors;
    const shape = isColumn ? [texts.length, 1] : [texts.length];
    const body = JSON.stringify({
      inputs: [{ name: input, datatype: 'BYTES', shape, data: texts }],
      outputs: [{ name: output }],
    });
    try {
      const answer = await this.#ask('/infer', { body, signal });
      return readProbabilities(answer, { output, rows: texts.length, labels: this.#options.labels });
    } catch (error) {
      // The model may have been replaced by one with other tensors.
      this.#tensors = undefined;
      throw error;
    }
  }

  async #findTensors(signal: AbortSignal | undefined): Promise<Tensors> {
    const metadata = (await this.#ask('', { signal })) as InferenceMetadata;
    return tensorsOf(metadata, this.#options);
  }

  /** Once more where the connection broke, as it does when a server is replaced: classifying changes nothing. */
  async #ask(path: string, request: { body?: string; signal: AbortSignal | undefined }): Promise<unknown> {
    try {
      return await this.#attempt(path, request);
    } catch (error) {
      if (!isBroken(error)) throw error;
      return this.#attempt(path, request);
    }
  }

  async #attempt(
    path: string,
    { body, signal }: { body?: string; signal: AbortSignal | undefined },
  ): Promise<unknown> {
    const { token, timeoutMs } = this.#options;
    const late = AbortSignal.timeout(timeoutMs);
    const signals = [late, this.#closed.signal, ...(signal ? [signal] : [])];
    try {
      const response = await fetch(this.#address + path, {
        ...(body === undefined ? {} : { method: 'POST', body }),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        redirect: 'error',
        signal: AbortSignal.any(signals),
      });
      const text = await withinBytes(response, answerBytesMax).text();
      if (!response.ok) throw unavailable(`status ${response.status}: ${text.slice(0, 200)}`);
      return path === '/ready' ? undefined : JSON.parse(text);
    } catch (error) {
      signal?.throwIfAborted();
      if (late.aborted)
        throw new AppError('timeout', `The inference server did not answer within ${timeoutMs} ms.`);
      throw error instanceof AppError ? error : unavailable(error);
    }
  }

  /** Logs when the server stops answering, and when it answers again. */
  async #reporting<T>(work: () => Promise<T>): Promise<T> {
    const { log, url, model } = this.#options;
    try {
      const result = await work();
      if (!this.#answers) log.info({ url, model }, 'the inference server answers again');
      this.#answers = true;
      return result;
    } catch (error) {
      const { code, cause } = toAppError(error);
      const isTheirs = code === 'unavailable' || code === 'timeout';
      if (isTheirs && this.#answers && !this.#closed.signal.aborted) {
        log.warn({ err: cause ?? error, url, model }, 'the inference server does not respond correctly');
        this.#answers = false;
      }
      throw error;
    }
  }
}

function isBroken(error: unknown): boolean {
  const cause = error instanceof AppError ? (error.cause as Error | undefined)?.cause : undefined;
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes((cause as NodeJS.ErrnoException)?.code ?? '');
}

/** Callers learn that it does not respond; the log learns why. */
function unavailable(why: unknown): AppError {
  const cause = typeof why === 'string' ? new Error(`inference server: ${why}`) : why;
  return new AppError('unavailable', 'The inference server does not respond.', {
    retryAfterSeconds: 1,
    cause,
  });
}

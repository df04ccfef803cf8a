import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { AppError } from '@octavo/core';
import { orUnavailable, statusOf } from './s3-errors.ts';
import { findObject, headOf, inTime } from './s3-object.ts';
import { allTaken, checkKey, noContent, type PutOptions, type StoredObject } from './store.ts';

interface S3PutOptions extends PutOptions {
  readonly signal: AbortSignal;
  readonly client: S3Client;
  readonly bucket: string;
  /** Keys that this process is writing. */
  readonly claimed: Set<string>;
}

const cleanupTimeoutMs = 2_000;
// S3 allows 10,000 parts, which makes 78 GiB.
const partBytes = 8 * 1024 * 1024;

/**
 * Stores one object. What fits into one part is sent in one conditional request, which succeeds only if the key is free. For a larger
 * object, an empty object reserves the key in the same way and is then replaced by the parts. On servers without conditional requests
 * the key is looked up first, so two processes have a moment in which both may find it free.
 */
export class S3Put {
  readonly #options: S3PutOptions;

  constructor(options: S3PutOptions) {
    this.#options = options;
  }

  async run(content: AsyncIterable<Uint8Array>): Promise<StoredObject> {
    const parts = inParts(content, partBytes);
    try {
      const first = await parts.next();
      if (first.done) throw noContent();
      const second = await parts.next();
      if (second.done) return await this.#create(first.value, (key) => this.#stored(key));
      const { value } = second;
      return await this.#create(new Uint8Array(), (key) =>
        this.#upload(key, joined([first.value, value], parts)),
      );
    } finally {
      await parts.return(undefined);
    }
  }

  /** Stores a body under the first free key, then continues with that key while this process holds it. */
  async #create(body: Uint8Array, next: (key: string) => Promise<StoredObject>): Promise<StoredObject> {
    const { keys, claimed } = this.#options;
    for (const key of keys) {
      checkKey(key);
      if (claimed.has(key)) continue;
      claimed.add(key);
      try {
        if (await this.#putIfFree(key, body)) return await next(key);
      } finally {
        claimed.delete(key);
      }
    }
    throw allTaken();
  }

  /** False if the key is taken. */
  async #putIfFree(key: string, body: Uint8Array): Promise<boolean> {
    const { client } = this.#options;
    if (await headOf(client, this.#at(key), this.#options.signal)) return false;
    const request = { ...this.#at(key), Body: body, ContentType: this.#options.contentType };
    try {
      await orUnavailable(client.send(new PutObjectCommand({ ...request, IfNoneMatch: '*' }), this.#calling));
      return true;
    } catch (error) {
      const status = statusOf((error as AppError).cause);
      if (status === 412 || status === 409) return false;
      if (status !== 501) throw error;
      await orUnavailable(client.send(new PutObjectCommand(request), this.#calling));
      return true;
    }
  }

  async #upload(key: string, parts: AsyncIterable<Uint8Array>): Promise<StoredObject> {
    const { client, contentType } = this.#options;
    const at = this.#at(key);
    let UploadId: string | undefined;
    try {
      const begin = new CreateMultipartUploadCommand({ ...at, ContentType: contentType });
      ({ UploadId } = await orUnavailable(client.send(begin, inTime(this.#options.signal))));
      const done: CompletedPart[] = [];
      for await (const body of parts) {
        const PartNumber = done.length + 1;
        const part = new UploadPartCommand({ ...at, UploadId, PartNumber, Body: body });
        const { ETag } = await orUnavailable(client.send(part, this.#calling));
        done.push({ PartNumber, ETag });
      }
      const end = new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts: done } });
      await orUnavailable(client.send(end, this.#calling));
    } catch (error) {
      await this.#abort(key, UploadId);
      throw error;
    }
    return this.#stored(key);
  }

  /** Best effort: what stays is not listed, and the bucket's lifecycle rule removes the parts of unfinished uploads. */
  async #abort(key: string, UploadId: string | undefined): Promise<void> {
    const { client } = this.#options;
    const at = this.#at(key);
    // Also after the signal has aborted, but only for a moment.
    const abortSignal = AbortSignal.timeout(cleanupTimeoutMs);
    const abortUpload = async () =>
      UploadId && client.send(new AbortMultipartUploadCommand({ ...at, UploadId }), { abortSignal });
    const free = async () =>
      (await findObject(client, at, abortSignal)) ??
      client.send(new DeleteObjectCommand(at), { abortSignal });
    await Promise.allSettled([abortUpload(), free()]);
  }

  async #stored(key: string): Promise<StoredObject> {
    const object = await findObject(this.#options.client, this.#at(key), this.#options.signal);
    if (!object) throw new AppError('unavailable', 'The object store lost an object it had accepted.');
    return object;
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#options.bucket, Key: key };
  }

  /** Options for requests with content, whose time depends on the network. They fail when it stands still. */
  get #calling(): { abortSignal: AbortSignal } {
    return { abortSignal: this.#options.signal };
  }
}

async function* joined<T>(first: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield* first;
  yield* rest;
}

/** Splits bytes into pieces of exactly `sizeBytes`; the last piece has the rest. No bytes give no piece. */
async function* inParts(content: AsyncIterable<Uint8Array>, sizeBytes: number): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  for await (const bytes of content) {
    let start = 0;
    while (waitingBytes + bytes.length - start >= sizeBytes) {
      const end = start + sizeBytes - waitingBytes;
      yield Buffer.concat([...waiting, bytes.subarray(start, end)]);
      waiting = [];
      waitingBytes = 0;
      start = end;
    }
    if (start === bytes.length) continue;
    waiting.push(bytes.subarray(start));
    waitingBytes += bytes.length - start;
  }
  if (waitingBytes > 0) yield Buffer.concat(waiting);
}

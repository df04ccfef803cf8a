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
import { AppError } from '../errors.ts';
import { inParts } from './parts.ts';
import { answered, statusOf } from './s3-errors.ts';
import { findObject, headOf } from './s3-object.ts';
import { allTaken, checkKey, noContent, type PutOptions, type StoredObject } from './store.ts';

interface S3PutOptions extends PutOptions {
  readonly client: S3Client;
  readonly bucket: string;
  /** Keys that this process is storing under. */
  readonly claimed: Set<string>;
}

// Ten thousand parts, which is as many as there may be, make 78 GiB.
const partBytes = 8 * 1024 * 1024;

/**
 * Stores one object: what fits into a part by a single request on the condition that its key is free, which makes it whole or nothing. A larger one first takes its
 * key by an empty object on the same condition, and replaces that by its parts. Servers that know no conditions are asked before, which
 * leaves two processes a moment in which both may find a key free.
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
      if (second.done) return await this.#keep(first.value, (key) => this.#stored(key));
      const { value } = second;
      return await this.#keep(new Uint8Array(), (key) =>
        this.#upload(key, joined([first.value, value], parts)),
      );
    } finally {
      await parts.return(undefined);
    }
  }

  /** Puts one body under the first key that is free, and goes on with that key while nobody else here can have it. */
  async #keep(body: Uint8Array, onward: (key: string) => Promise<StoredObject>): Promise<StoredObject> {
    const { keys, claimed } = this.#options;
    for (const key of keys) {
      checkKey(key);
      if (claimed.has(key)) continue;
      claimed.add(key);
      try {
        if (await this.#create(key, body)) return await onward(key);
      } finally {
        claimed.delete(key);
      }
    }
    throw allTaken();
  }

  /** False where the key is taken. */
  async #create(key: string, body: Uint8Array): Promise<boolean> {
    const { client } = this.#options;
    if (await headOf(client, this.#at(key))) return false;
    const request = { ...this.#at(key), Body: body, ContentType: this.#options.contentType };
    try {
      await answered(client.send(new PutObjectCommand({ ...request, IfNoneMatch: '*' }), this.#calling));
      return true;
    } catch (error) {
      const status = statusOf((error as AppError).cause);
      if (status === 412 || status === 409) return false;
      if (status !== 501) throw error;
      await answered(client.send(new PutObjectCommand(request), this.#calling));
      return true;
    }
  }

  async #upload(key: string, parts: AsyncIterable<Uint8Array>): Promise<StoredObject> {
    const { client, contentType } = this.#options;
    const at = this.#at(key);
    let UploadId: string | undefined;
    try {
      const begin = new CreateMultipartUploadCommand({ ...at, ContentType: contentType });
      ({ UploadId } = await answered(client.send(begin, this.#calling)));
      const done: CompletedPart[] = [];
      for await (const body of parts) {
        const PartNumber = done.length + 1;
        const part = new UploadPartCommand({ ...at, UploadId, PartNumber, Body: body });
        const { ETag } = await answered(client.send(part, this.#calling));
        done.push({ PartNumber, ETag });
      }
      const end = new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts: done } });
      await answered(client.send(end, this.#calling));
    } catch (error) {
      await this.#giveUp(key, UploadId);
      throw error;
    }
    return this.#stored(key);
  }

  /** As well as it goes: what stays is in no list, and the bucket's rule for unfinished uploads clears the parts. */
  async #giveUp(key: string, UploadId: string | undefined): Promise<void> {
    const { client } = this.#options;
    const at = this.#at(key);
    const abort = async () => UploadId && client.send(new AbortMultipartUploadCommand({ ...at, UploadId }));
    const free = async () => (await findObject(client, at)) ?? client.send(new DeleteObjectCommand(at));
    await Promise.allSettled([abort(), free()]);
  }

  async #stored(key: string): Promise<StoredObject> {
    const object = await findObject(this.#options.client, this.#at(key));
    if (!object) throw new AppError('unavailable', 'The object store does not have what it took.');
    return object;
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#options.bucket, Key: key };
  }

  get #calling(): { abortSignal?: AbortSignal } {
    const { signal } = this.#options;
    return signal ? { abortSignal: signal } : {};
  }
}

async function* joined<T>(first: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield* first;
  yield* rest;
}

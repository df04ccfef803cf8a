import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { AppError } from '@octavo/core';
import { orUnavailable, unlessMissing } from './s3-errors.ts';
import { findObject, inTime, objectOf, responseTimeoutMs } from './s3-object.ts';
import { S3Put } from './s3-put.ts';
import {
  type ByteRange,
  checkKey,
  gone,
  newestFirst,
  type ObjectStore,
  type PutOptions,
  type StoredObject,
} from './store.ts';

/** Connection to a bucket. */
export interface S3Options {
  /** Address of an S3-compatible server; Amazon S3 by default. */
  readonly endpoint?: string | undefined;
  readonly bucket: string;
  readonly region: string;
  /** Credentials; by default those that Amazon's tools would use: environment, profile, role of the machine. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

/** A store in an existing bucket of S3 or of a compatible server. */
export class S3Store implements ObjectStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  /** Keys that this process is writing. */
  readonly #claimed = new Set<string>();
  readonly #stop = new AbortController();

  constructor(options: S3Options) {
    this.#bucket = options.bucket;
    this.#client = new S3Client(configOf(options));
  }

  put(content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredObject> {
    const place = { client: this.#client, bucket: this.#bucket, claimed: this.#claimed };
    const signal = options.signal ? AbortSignal.any([this.#stop.signal, options.signal]) : this.#stop.signal;
    return new S3Put({ ...place, ...options, signal }).run(content);
  }

  async list(folder: string): Promise<StoredObject[]> {
    const prefix = `${folder.replace(/\/$/, '')}/`;
    checkKey(prefix.slice(0, -1));
    const found: StoredObject[] = [];
    let after: string | undefined;
    do {
      const page: ListObjectsV2CommandOutput = await orUnavailable(
        this.#client.send(
          new ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: prefix,
            Delimiter: '/',
            ContinuationToken: after,
          }),
          inTime(this.#stop.signal),
        ),
      );
      for (const { Key = '', Size, LastModified, ETag } of page.Contents ?? []) {
        const object = objectOf(Key, { sizeBytes: Size, modified: LastModified, tag: ETag });
        if (object) found.push(object);
      }
      after = page.NextContinuationToken;
    } while (after !== undefined);
    return found.sort(newestFirst);
  }

  async find(key: string): Promise<StoredObject | undefined> {
    checkKey(key);
    return findObject(this.#client, { Bucket: this.#bucket, Key: key }, this.#stop.signal);
  }

  async *read({ key, entityTag, sizeBytes }: StoredObject, range?: ByteRange): AsyncGenerator<Uint8Array> {
    checkKey(key);
    // Not `inTime`: a signal counts until the whole body is read, which may take longer.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), responseTimeoutMs);
    const sent = this.#client.send(
      new GetObjectCommand({
        Bucket: this.#bucket,
        Key: key,
        ...(range && { Range: `bytes=${range.start}-${range.end}` }),
      }),
      { abortSignal: AbortSignal.any([this.#stop.signal, late.signal]) },
    );
    const response = await orUnavailable(sent)
      .catch(unlessMissing)
      .finally(() => clearTimeout(timer));
    // Compared here, because some servers ignore the range of a request with If-Match.
    if (!response?.Body || response.ETag !== entityTag) throw gone();
    const { start, end } = range ?? { start: 0, end: sizeBytes - 1 };
    if (start > 0 && !response.ContentRange?.startsWith(`bytes ${start}-`)) {
      throw new AppError('unavailable', 'The object store does not support ranges.');
    }
    yield* exactly(end - start + 1, response.Body as unknown as AsyncIterable<Uint8Array>);
  }

  async remove(key: string): Promise<boolean> {
    if (!(await this.find(key))) return false;
    const removal = new DeleteObjectCommand({ Bucket: this.#bucket, Key: key });
    await orUnavailable(this.#client.send(removal, inTime(this.#stop.signal)));
    return true;
  }

  async ping(signal?: AbortSignal): Promise<void> {
    const either = signal ? AbortSignal.any([this.#stop.signal, signal]) : this.#stop.signal;
    await orUnavailable(this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket }), inTime(either)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#client.destroy();
  }
}

/** The first bytes of a body, because some servers send more than was asked for. Throws if there are fewer. */
async function* exactly(count: number, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let leftBytes = count;
  for await (const bytes of body) {
    yield bytes.subarray(0, leftBytes);
    leftBytes -= bytes.length;
    if (leftBytes <= 0) return;
  }
  throw new AppError('unavailable', 'The object store closed the connection too early.');
}

const connectTimeoutMs = 3_000;
const silenceTimeoutMs = 20_000;

function configOf({ endpoint, region, credentials }: S3Options): S3ClientConfig {
  return {
    region,
    ...(credentials && { credentials }),
    // Other servers than Amazon's have no host name per bucket, and many support no other checksum than MD5.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: connectTimeoutMs, socketTimeout: silenceTimeoutMs },
    maxAttempts: 3,
  };
}

import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { until } from '@octavo/testing';
import type { TestS3 } from '@octavo/testing/engines';
import type { castOf } from '../testing.ts';

export type Cast = Awaited<ReturnType<typeof castOf>>;

/** A stored export as the API lists it. */
export interface Stored {
  readonly Key: string;
  readonly Size: number;
  readonly LastModified: string;
  readonly ContentType: string;
}

export async function listOf({ charlie }: Cast): Promise<Stored[]> {
  const response = await charlie.get('/exports');
  assert.equal(response.status, 200, response.text);
  return response.json.data;
}

/** Does some work, and gives the one export that it added. */
export async function addedBy(cast: Cast, work: () => Promise<unknown>): Promise<Stored> {
  const before = new Set((await listOf(cast)).map(({ Key }) => Key));
  await work();
  return until(async () => (await listOf(cast)).find(({ Key }) => !before.has(Key)));
}

/** Settings without events, so that the long posts of these tests are not classified. */
export const quiet = { EVENT_STREAM: 'off' };

export function settingsOf(s3: TestS3): Record<string, string> {
  return {
    ...quiet,
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: s3.bucket,
    S3_REGION: s3.region,
    S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
  };
}

/** The response as soon as its headers are there. */
export function open(cast: Cast, path: string, headers: Record<string, string> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const authorization = `Bearer ${cast.charlie.token}`;
  get(`${cast.charlie.url}/api/v1${path}`, { headers: { authorization, ...headers } }, resolve).on(
    'error',
    reject,
  );
  return promise;
}

export async function raw(cast: Cast, path: string, headers: Record<string, string> = {}) {
  const response = await open(cast, path, headers);
  const bytes = Buffer.concat(await Array.fromAsync(response));
  return { status: response.statusCode, headers: response.headers, bytes };
}

export async function bytesOf(cast: Cast, path: string): Promise<Buffer> {
  const { status, bytes } = await raw(cast, path);
  assert.equal(status, 200, path);
  return bytes;
}

/** Reads the first chunk, then disconnects. */
export async function abandon(cast: Cast, path: string): Promise<void> {
  const response = await open(cast, path);
  await response[Symbol.asyncIterator]().next();
  response.destroy();
}

export async function metricsOf({ url }: { url: string }, afterMs = 0) {
  await setTimeout(afterMs);
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1],
    );
  const copies = (outcome: string) => value(`export_copies_total{outcome="${outcome}"}`);
  return {
    stored: copies('stored'),
    failed: copies('failed'),
    tooSlow: copies('too_slow'),
    unwanted: copies('unwanted'),
    pending: value('export_copies_under_way'),
    up: value('integration_up{integration="objectStore"}'),
  };
}

/** Creates posts for an export of 9 MB, more than the buffers between two programs take, or of several times as much. */
export async function fill({ alice }: Cast, times = 1): Promise<void> {
  const posts = Array(1_000).fill({ title: 'Fog', body: 'b'.repeat(9_000), userId: 5 });
  for (let count = 0; count < times; count++) {
    assert.equal((await alice.post('/posts/bulk', { posts })).status, 201);
  }
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Environment, readConfig, systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import { type Client, localClient } from '@octavo/rpc';
import { Registry } from 'prom-client';
import { posts } from '../../services/posts/service.ts';

/** The post backend in this process, by its client. */
export interface BenchPosts extends AsyncDisposable {
  readonly client: Client<PostServiceDefinition>;
}

export async function startBenchPosts(
  dataFolder: string,
  environment: Environment = {},
): Promise<BenchPosts> {
  const running = await posts.start(
    readConfig(posts.settings, environment),
    {
      log: silentLog,
      clock: systemClock,
      dataFolder,
      environment: 'test',
      metrics: new Registry(),
      host: '127.0.0.1',
      port: undefined,
    },
    {},
  );
  return {
    client: localClient(PostServiceDefinition, running.handlers, { log: silentLog, timeoutMs: 60_000 }),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

/** A folder that is removed with the benchmark. */
export function scratchFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'octavo-bench-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** The value that a share of the values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

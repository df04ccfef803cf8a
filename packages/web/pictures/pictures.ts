import { createHash } from 'node:crypto';
import { productVersion } from '@octavo/core';
import { ConcurrencyLimiter, WorkerPool } from '@octavo/core/concurrency';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchesAny } from '../http/responses/entity-tags.ts';
import type { DrawTasks } from './draw-worker.ts';
import type { Picture } from './picture.ts';

const idleMs = 10_000;
const keptMax = 50;
const waitingMax = 50;

/** Draws pictures as PNG in a thread that ends when it is idle, and keeps the last ones. */
export class Pictures implements AsyncDisposable {
  readonly #thread = new WorkerPool<DrawTasks>(new URL('./draw-worker.ts', import.meta.url), {
    name: 'pictures',
    idleMs,
  });
  readonly #limiter = new ConcurrencyLimiter({ running: 1, waiting: waitingMax });
  readonly #kept = new Map<string, Promise<Uint8Array>>();

  /**
   * Sends a public picture, from any site, or 304 if the client has it. Caches may give it to everybody for that long. Throws `unavailable` if too
   * many wait.
   */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    { picture, maxAgeSeconds }: { picture: Picture; maxAgeSeconds: number },
  ): Promise<FastifyReply> {
    const key = createHash('sha256')
      .update(productVersion())
      .update(JSON.stringify(picture))
      .digest('base64url');
    const tag = `"${key}"`;
    reply.headers({
      etag: tag,
      'cache-control': `public, max-age=${maxAgeSeconds}`,
      'cross-origin-resource-policy': 'cross-origin',
    });
    if (matchesAny(request.headers['if-none-match'] ?? '', tag)) return reply.code(304).send();
    return reply.type('image/png').send(await this.#drawn(key, picture));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread[Symbol.asyncDispose]();
  }

  #drawn(key: string, picture: Picture): Promise<Uint8Array> {
    const drawing = this.#kept.get(key) ?? this.#limiter.run(() => this.#thread.run('draw', picture));
    this.#kept.delete(key);
    this.#kept.set(key, drawing);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptMax && oldest !== undefined) this.#kept.delete(oldest);
    drawing.catch(() => this.#kept.delete(key));
    return drawing;
  }
}

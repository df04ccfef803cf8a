import type { FastifyReply } from 'fastify';
import { addVary } from '../../http/responses/cors.ts';
import { compressPage, encodingFor } from './compress.ts';
import type { Visit } from './visit.ts';

/**
 * Pages that are the same for many visitors, rendered and compressed once for each content. They are for visits without a message and
 * without a session of their own (`publicFrame`), because a form token must not reach others.
 */
export class RenderedPages {
  readonly #pages = new Map<string, Map<string, Buffer>>();
  readonly #pagesMax: number;

  constructor(options: { pagesMax: number }) {
    this.#pagesMax = options.pagesMax;
  }

  /** Sends a page. `content` is everything that it shows besides the theme, its address and the menu of services. */
  async send<T>(visit: Visit<T>, content: unknown, render: () => string): Promise<FastifyReply> {
    const { request, reply } = visit;
    const { theme, path, origin, isSignedIn } = visit.publicFrame();
    const key = JSON.stringify([theme, origin, path, isSignedIn, content]);
    const encodings = this.#pages.get(key) ?? this.#add(key);
    const encoding = encodingFor(request) ?? 'identity';
    const known = encodings.get(encoding);
    addVary(reply, 'Accept-Encoding');
    if (known) {
      if (encoding !== 'identity') reply.header('content-encoding', encoding);
      return reply.send(known);
    }
    const page = Buffer.from(await compressPage(render(), reply));
    // A page that is too short is not compressed.
    if (encoding === (reply.getHeader('content-encoding') ?? 'identity')) encodings.set(encoding, page);
    return reply.send(page);
  }

  /** The page that was added first gives way. */
  #add(key: string): Map<string, Buffer> {
    const encodings = new Map<string, Buffer>();
    const [oldest] = this.#pages.keys();
    if (this.#pages.size >= this.#pagesMax && oldest !== undefined) this.#pages.delete(oldest);
    this.#pages.set(key, encodings);
    return encodings;
  }
}

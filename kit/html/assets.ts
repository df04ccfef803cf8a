import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../errors.ts';
import type { HttpApp } from '../http/access.ts';
import { addVary } from '../http/cors.ts';
import { encodingFor } from './compress.ts';
import { buildStylesheet } from './stylesheet.ts';

/** The files that pages refer to, under addresses that change with their content. */
export interface Assets {
  /** The address of a file, such as `/assets/Xk3…/octavo.css`. Throws for a name that is not there. */
  url(name: string): string;
  /** Serves the files, compressed, to be kept for a year. */
  serve(app: HttpApp): void;
}

interface Asset {
  readonly type: string;
  readonly content: Buffer;
  /** Made at the first request that wants it. */
  readonly encoded: Map<string, Buffer>;
}

/**
 * The kit's stylesheet and browser modules and those of the given folders, read when they are first asked for. All
 * addresses share one hash over everything, so that modules import each other by relative paths and a page never mixes
 * two versions.
 */
export function loadAssets(...folders: readonly URL[]): Assets {
  let loaded: Loaded | undefined;
  const load = () => {
    loaded ??= readAssets([new URL('assets/', import.meta.url), ...folders]);
    return loaded;
  };
  return {
    url(name) {
      const { files, version } = load();
      if (!files.has(name)) throw new Error(`there is no asset ${name}`);
      return `/assets/${version}/${name}`;
    },
    serve(app) {
      app.get<Params>(
        '/assets/:version/:name',
        { access: 'public', schema: { hide: true } as object },
        (request, reply) => sendAsset(load(), request, reply),
      );
    },
  };
}

interface Loaded {
  readonly files: ReadonlyMap<string, Asset>;
  readonly version: string;
}

function readAssets(folders: readonly URL[]): Loaded {
  const files = new Map([['octavo.css', asset('octavo.css', Buffer.from(buildStylesheet()))]]);
  for (const folder of folders) {
    for (const name of readdirSync(folder)) {
      if (types[extname(name)] && name !== 'theme.css') {
        files.set(name, asset(name, readFileSync(new URL(name, folder))));
      }
    }
  }
  return { files, version: versionOf(files) };
}

interface Params {
  Params: { version: string; name: string };
}

function sendAsset(
  { files, version }: Loaded,
  request: FastifyRequest<Params>,
  reply: FastifyReply,
): FastifyReply {
  const file = files.get(request.params.name);
  if (!file) throw notFound('asset', request.params.name);
  // While replicas are replaced one by one, a page of another version may ask here: serve ours, but not for keeps.
  const isOurs = request.params.version === version;
  const encoding = encodingFor(request);
  if (encoding) reply.header('content-encoding', encoding);
  addVary(reply, 'Accept-Encoding');
  return reply
    .header('cache-control', isOurs ? 'public, max-age=31536000, immutable' : 'no-cache')
    .type(file.type)
    .send(encoding ? encodedContent(file, encoding) : file.content);
}

function encodedContent(file: Asset, encoding: 'br' | 'gzip'): Buffer {
  const known = file.encoded.get(encoding);
  if (known) return known;
  const content = encoding === 'br' ? brotliCompressSync(file.content) : gzipSync(file.content, { level: 9 });
  file.encoded.set(encoding, content);
  return content;
}

function asset(name: string, content: Buffer): Asset {
  return { type: types[extname(name)] as string, content, encoded: new Map() };
}

function versionOf(files: ReadonlyMap<string, Asset>): string {
  const hash = createHash('sha256');
  for (const [name, { content }] of files) hash.update(`${name}\0${content.length}\0`).update(content);
  return hash.digest('base64url').slice(0, 16);
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

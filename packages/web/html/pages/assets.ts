import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { notFound } from '@octavo/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpApp } from '../../http/access.ts';
import { addVary } from '../../http/responses/cors.ts';
import { accentRules } from '../marks.ts';
import { encodingFor } from './compress.ts';

/** The files that pages refer to, under addresses that change with their content. */
export interface Assets {
  /** The address of a file, such as `/assets/Xk3…/octavo.css`. Throws if there is no file of that name. */
  url(name: string): string;
  /** Serves the files, compressed, with a cache lifetime of a year. */
  serve(app: HttpApp): void;
}

interface Asset {
  readonly type: string;
  readonly content: Buffer;
  /** Compressed at the first request that accepts it. */
  readonly encoded: Map<string, Buffer>;
}

/**
 * The stylesheet and browser modules of all services and those of the given places, read at the first use: folders (their addresses end with a slash)
 * and single files, such as a module of a package. One hash over all files is part of every address, so modules can import each other by
 * relative paths, and a page never mixes two versions.
 */
export function loadAssets(...places: readonly URL[]): Assets {
  let loaded: Loaded | undefined;
  const load = () => {
    loaded ??= readAssets([new URL('../assets/', import.meta.url), ...places]);
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
        { access: 'public', schema: { hide: true } },
        (request, reply) => sendAsset(load(), request, reply),
      );
    },
  };
}

/** The stylesheet of all pages: the part of Pico.css that we use (written by `npm run css`), then our theme. */
const stylesheets = ['pico.css', 'theme.css'].map((name) => new URL(`../assets/${name}`, import.meta.url));

/** The modules that every page has, each in a block of its own so that their names do not meet. */
function modulesOfAllPages(): string {
  const texts = commonModules.map((name) =>
    readFileSync(new URL(`../assets/${name}`, import.meta.url), 'utf8'),
  );
  return texts.map((text) => `{\n${text}}\n`).join('');
}

const commonModules = ['theme.js', 'time.js', 'forms.js', 'overlays.js', 'connection.js', 'keys.js'];

interface Loaded {
  readonly files: ReadonlyMap<string, Asset>;
  readonly version: string;
}

function readAssets(places: readonly URL[]): Loaded {
  const names = new Map<string, string>();
  const files = new Map([
    ['octavo.css', asset('octavo.css', Buffer.from(stylesheet(names)))],
    ['octavo.js', asset('octavo.js', Buffer.from(modulesOfAllPages()))],
  ]);
  for (const url of places.flatMap(filesAt)) {
    const name = basename(url.pathname);
    if (types[extname(name)] && !stylesheets.some(({ href }) => href === url.href)) {
      files.set(name, asset(name, contentOf(url, names)));
    }
  }
  return { files, version: versionOf(files) };
}

function filesAt(place: URL): URL[] {
  if (!place.pathname.endsWith('/')) return [place];
  return readdirSync(place).map((name) => new URL(name, place));
}

/** A file as it is, but a stylesheet with the names that the properties of the theme have when they are served. */
function contentOf(url: URL, names: ReadonlyMap<string, string>): Buffer {
  if (extname(url.pathname) !== '.css') return readFileSync(url);
  return Buffer.from(readFileSync(url, 'utf8').replace(property, (name) => names.get(name) ?? name));
}

/** A custom property where it is set or used. */
const property = /(?<=[\s;{(])--[a-z][\w-]*/g;

/** Minified: without comments and spaces, and with short names, which it adds to `names`. A page with its stylesheet is under 50 kB. */
function stylesheet(names: Map<string, string>): string {
  const [pico, theme] = stylesheets.map((url) => readFileSync(url, 'utf8'));
  const minified = `${theme}`
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,>]) ?/g, '$1')
    .replace(/: /g, ':')
    .replace(/ !/g, '!')
    .replace(/;}/g, '}')
    .replace(/(?<=[ ,(:-])0(?=\.\d)/g, '');
  return `${pico}${minified.trim()}${accentRules()}`.replace(property, (name) => {
    const short = names.get(name) ?? `--${names.size.toString(36)}`;
    names.set(name, short);
    return short;
  });
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
  // During a rolling update, a page of another version may ask here. Serve our file, but do not let it be cached for long.
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
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

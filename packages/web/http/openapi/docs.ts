import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { iconAddress } from '@octavo/core';
import { loadOnce } from '@octavo/core/concurrency';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { compressPage } from '../../html/pages/compress.ts';
import type { HttpApp } from '../access.ts';
import type { ApiDocument, HttpServerOptions } from '../options.ts';
import type { ErrorResponses } from '../responses/error-responses.ts';
import { securityHeaders } from '../responses/security-headers.ts';
import type { Document } from './reference.ts';

/** Path at which pages offer `/docs` a token of the visitor who is signed in. */
export const apiTokenPath = '/docs/token';

/** A page for programmers: its content in HTML, and the addresses of stylesheets that only it needs. */
export interface ToolPage {
  readonly body: string;
  readonly styles?: readonly string[];
}

declare module 'fastify' {
  interface FastifyInstance {
    /** A page for programmers with the header of `/docs`: the way back to the service, its documents and the menu of services. */
    toolPage(request: FastifyRequest, page: ToolPage): string;
  }
}

const hidden = { access: 'public', schema: { hide: true } } as const;

/**
 * Adds `/openapi.json` with every route that is added from now on, and `/docs` to read it. The document, and the code that
 * creates and displays it, are loaded at the first request.
 */
export function addDocs(app: HttpApp, options: HttpServerOptions, responses: ErrorResponses): void {
  const routes: RouteOptions[] = [];
  const readDocument = loadOnce(async () => {
    const { writeApiDocument } = await import('./document.ts');
    return writeApiDocument(routes, options, responses);
  });
  const readBundle = loadOnce(loadBundle);
  app.addHook('onRoute', (route) => {
    if (route.method !== 'HEAD') routes.push(route);
  });
  app.get('/openapi.json', hidden, readDocument);
  const readReference = loadOnce(async () => {
    const { referencePage } = await import('./reference.ts');
    return referencePage((await readDocument()) as Document).toString();
  });
  app.get('/docs', hidden, async (request, reply) => {
    reply.type('text/html; charset=utf-8').headers(securityHeaders.tool);
    const body = `<main class="document"><h1>${escaped(options.title)}</h1>
<p>Every operation of this API. <a href="/docs/try">Try requests</a> in the browser (1 MB), read <a href="/docs/conventions">what all APIs have in common</a>, or get <a href="/openapi.json">openapi.json</a> for tools.</p>
${await readReference()}</main>`;
    return reply.send(await compressPage(frame(request, options, { body }), reply));
  });
  app.get('/docs/try', hidden, (request, reply) => {
    reply.type('text/html; charset=utf-8').headers(securityHeaders.tool);
    return reply.send(frame(request, options, { body: tryOut(request, options) }));
  });
  addDocument(app, options, conventions);
  app.decorate('toolPage', (request, page) => frame(request, options, page));
  const { suite } = options.context;
  if (suite) {
    app.get(iconAddress, hidden, (_request, reply) =>
      reply.type('image/svg+xml').header('cache-control', 'public, max-age=86400').send(suite.iconFile),
    );
  }
  for (const document of options.documents ?? []) addDocument(app, options, document);
  app.get('/docs/start.js', hidden, async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(await readFile(asset('start.js'))),
  );
  app.get('/docs/scalar.js', hidden, async (request, reply) => {
    const compressed = await readBundle();
    reply
      .type('text/javascript; charset=utf-8')
      .headers({ 'cache-control': 'public, max-age=86400', vary: 'Accept-Encoding' });
    if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(gunzipSync(compressed));
    return reply.header('content-encoding', 'gzip').send(compressed);
  });
}

/** Served from the folder of documents, so that it is one text for people who read the code and for those who call it. */
const conventions: ApiDocument = {
  name: 'conventions',
  file: 'api.md',
  label: 'What all APIs have in common',
  description: 'Errors, lists, limits, idempotency, CORS and versions.',
  read: () => readFile(new URL('../../../../docs/api.md', import.meta.url), 'utf8'),
};

const asset = (name: string) => new URL(`assets/${name}`, import.meta.url);

let style: string | undefined;

/** The stylesheet, inside of each page: on a slow network a request of its own would take longer than all the rest. */
function stylesheet(): string {
  style ??= readFileSync(asset('docs.css'), 'utf8');
  return style;
}

function addDocument(app: HttpApp, options: HttpServerOptions, document: ApiDocument): void {
  const { name, file, label, description } = document;
  app.get(`/docs/${name}`, hidden, async (request, reply) => {
    const text = escaped(await document.read());
    reply.type('text/html; charset=utf-8').headers(securityHeaders.tool);
    return reply.send(
      frame(request, options, {
        body: `<main class="document"><h1>${escaped(label)}</h1><p>${escaped(description)} <a href="/docs/${file}" download>${escaped(file)}</a></p>
<pre tabindex="0"><code>${text}</code></pre></main>`,
      }),
    );
  });
  app.get(`/docs/${file}`, hidden, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(await document.read()),
  );
}

/** The script replaces the heading by that of Scalar. */
function tryOut({ server }: FastifyRequest, { title, securitySchemes }: HttpServerOptions): string {
  const [scheme = 'bearer'] = Object.keys(securitySchemes ?? {});
  const hasTokens = server.hasRoute({ method: 'GET', url: apiTokenPath });
  return `<div id="reference"${hasTokens ? ` data-token="${apiTokenPath}" data-scheme="${scheme}"` : ''}><h1>${escaped(title)}</h1></div>
<noscript>This page needs JavaScript. The same is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script src="/docs/scalar.js"></script>
<script src="/docs/start.js"></script>`;
}

function frame(
  { server, protocol, host, headers }: FastifyRequest,
  { title, documents = [], context: { suite } }: HttpServerOptions,
  { body, styles = [] }: ToolPage,
): string {
  const [, theme] = /(?:^|; )octavo_theme=(light|dark)(?:;|$)/.exec(headers.cookie ?? '') ?? [];
  const menu = suite?.menu({ origin: `${protocol}://${host}`, isSignedIn: false }) ?? '';
  const hasHome = server.hasRoute({ method: 'GET', url: '/' });
  const links = [
    ...(hasHome ? [`<a href="/">${escaped(title)}</a>`] : []),
    '<a href="/docs">REST</a>',
    '<a href="/docs/try">Try requests</a>',
    ...documents.map(({ name, label }) => `<a href="/docs/${name}">${escaped(label)}</a>`),
  ];
  return `<!doctype html>
<html lang="en"${theme ? ` data-theme="${theme}"` : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="${suite ? iconAddress : 'data:,'}">
<title>${escaped(title)}</title>
<style>${stylesheet()}</style>${styles.map((href) => `<link rel="stylesheet" href="${href}">`).join('')}
</head>
<body>
${links.length > 0 || menu ? `<header class="home">${links.join(' ')}${menu}</header>` : ''}
${body}
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Reads, parses and compresses the 4 MB in a worker thread, so that no request waits for it. */
async function loadBundle(): Promise<Buffer> {
  const worker = new Worker(new URL('./bundle-worker.ts', import.meta.url));
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  worker.once('message', resolve).once('error', reject);
  return Buffer.from(await promise);
}

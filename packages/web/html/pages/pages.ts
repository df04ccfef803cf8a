import cookies from '@fastify/cookie';
import type { Clock } from '@octavo/core';
import { AppError, type Suite, signInPath } from '@octavo/core';
import { createSessionCookie } from '@octavo/core/auth';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { apiTokenPath } from '../../http/openapi/docs.ts';
import type { HttpError } from '../../http/options.ts';
import { refuseLong, takeForms, takeJson } from '../../http/requests/body.ts';
import type { JsonBounds } from '../../http/requests/json-scanner.ts';
import { OverloadError } from '../../http/requests/overload.ts';
import { defaultErrorTable, fromFastify, toHttpError } from '../../http/responses/error-table.ts';
import { securityHeaders } from '../../http/responses/security-headers.ts';
import type { HttpApp } from '../../http/server.ts';
import { html } from '../html.ts';
import { iconLink } from '../layout.ts';
import { withReaderLocale } from '../reader-locale.ts';
import { themeCookie, toTheme } from '../theme.ts';
import type { Assets } from './assets.ts';
import { compressPage } from './compress.ts';
import { checkSameOrigin, createCsrf, csrfFieldName, csrfHeader } from './csrf.ts';
import { type Session, Visit } from './visit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Proof that a form is from one of our pages. */
    formProof?: 'token' | 'origin';
    /** True for a page that any site may show in a frame. */
    isEmbedded?: boolean;
  }
}

/** Returns a whole document, or a reply that it has already sent. */
export type PageHandler<T> = (visit: Visit<T>) => Promise<string | FastifyReply>;

/**
 * Access of a page: everybody, or visitors that a function admits. The function throws `unauthenticated` or `forbidden`, or
 * returns the handler's argument in place of the visit, such as the signed-in user.
 */
export type PageAccess<T, R> = 'public' | ((visit: Visit<T>) => R | Promise<R>);

/** Adds pages to a server. `post` also checks where the form comes from. */
export interface PageRoutes<T> {
  get<R = Visit<T>>(path: string, options: PageOptions<T, R>, handler: (visitor: R) => PageResult): void;
  post<R = Visit<T>>(
    path: string,
    options: PageOptions<T, R> & PostOptions,
    handler: (visitor: R) => PageResult,
  ): void;
}

export interface PageOptions<T, R> {
  readonly access: PageAccess<T, R>;
  /** True for a page without forms that any site may show in a frame; browsers send it no cookies there. */
  readonly isEmbedded?: boolean;
}

type PageResult = ReturnType<PageHandler<never>>;

/** Responds with a page to a request for another route, for addresses that browsers share with programs. */
export type PageResponder<T> = (
  request: FastifyRequest,
  reply: FastifyReply,
  handler: PageHandler<T>,
) => Promise<FastifyReply>;

export interface PostOptions extends BodyLimits {
  /** Media type of the body; an HTML form by default. JSON is in `visit.request.body`. */
  readonly accepts?: 'application/json' | 'multipart/form-data';
  /** Proof that the form is ours: the visitor's token by default; `origin` is enough for actions that strangers may do. */
  readonly proof?: 'token' | 'origin';
}

interface BodyLimits {
  readonly bodyBytesMax?: number;
  /** Bounds that JSON is held to while it arrives. */
  readonly jsonBounds?: JsonBounds;
}

export interface PagesOptions<T> {
  /** The service's name in lower case, for the name of the session cookie. */
  readonly name: string;
  /** Encrypts cookies and signs tokens; at least 32 bytes. */
  readonly secret: string;
  readonly sessionSeconds: number;
  /**
   * `strict` by default: a link on another site is loaded twice, so that its visitors are signed in. `lax` is for public sites: the
   * first load is right, and forms are protected by their tokens and the check of their origin alone.
   */
  readonly sameSite?: 'strict' | 'lax';
  /** The site is known to be HTTPS: its session cookie is `Secure`, whatever a request looks like. */
  readonly isSecure?: boolean;
  /** The public address, for links that are shared; that of each request if undefined. */
  readonly publicUrl?: string | undefined;
  /** True to write numbers and days as the languages of the reader's browser do; else in English. */
  readonly readerLocale?: boolean;
  readonly clock: Clock;
  readonly assets: Assets;
  /** Returns a token with which a signed-in visitor may try the API at `/docs`; without it, `/docs` does not ask for one. */
  readonly apiToken?: (visit: Visit<T>) => Promise<string | undefined>;
  /** Renders an error page. The request's id is `visit.request.id`. */
  readonly errorPage: (visit: Visit<T>, error: HttpError) => string | Promise<string>;
}

/**
 * Serves pages with a strict Content-Security-Policy, without caching, with sessions in an encrypted cookie, with errors as
 * pages, and with `/theme` for the color scheme. A form from another site or without the visitor's token is refused. For a
 * multipart form only the origin is checked; its handler calls `visit.checkToken` with the first field.
 *
 * Returns a function with which other routes can respond to browsers.
 */
export function servePages<T>(
  app: HttpApp,
  options: PagesOptions<T>,
  addRoutes: (routes: PageRoutes<T>) => void,
): PageResponder<T> {
  const visitOf = visitsOf(options, app.suite);
  app.register(cookies);
  options.assets.serve(app);
  // Every request comes through here, also those for an API on the same server. So a request with a route costs no promise.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 || !wantsPage(request)) return done();
    respondNotFound(visitOf(request, reply), options).catch(done);
  });
  app.register(async (pages) => {
    pages.removeAllContentTypeParsers();
    takeForms(pages);
    pages.addHook('onRequest', async (request, reply) => {
      prepare(request, reply);
      const visit = visitOf(request, reply);
      if (lacksStrictCookie(visit, options)) return reloadFromHere(visit);
    });
    pages.addHook('preHandler', async (request, reply) => checkToken(visitOf(request, reply)));
    pages.addHook('onSend', async (request, reply, payload) => {
      visitOf(request, reply).commit();
      if (request.method === 'POST' && isFile(reply))
        reply.setCookie(fileCookie, '1', { path: '/', maxAge: 60 });
      return typeof payload === 'string' ? compressPage(payload, reply) : payload;
    });
    pages.setErrorHandler((error, request, reply) => sendError(visitOf(request, reply), options, error));
    const routes = pageRoutes(pages, visitOf, options);
    // It changes only colors, so the sender does not matter.
    routes.post('/theme', { access: 'public', proof: 'origin' }, async (visit) => rememberTheme(visit));
    const { apiToken } = options;
    if (apiToken)
      routes.get(apiTokenPath, { access: 'public' }, async (visit) => sendApiToken(visit, apiToken));
    addRoutes(routes);
    // The menu of a suite leads through it, and a service may be without a provider.
    if (!pages.hasRoute({ method: 'GET', url: signInPath }))
      routes.get(signInPath, { access: 'public' }, async (visit) => {
        const { next } = visit.request.query as { next?: unknown };
        return visit.redirect(String(next ?? '/'));
      });
  });
  return (request, reply, handler) => respondWithPage(visitOf(request, reply), options, handler);
}

/** Sends the token to scripts of this origin only; `Sec-Fetch-Site` and `Origin` tell other sites that share the cookie. */
async function sendApiToken<T>(
  visit: Visit<T>,
  apiToken: NonNullable<PagesOptions<T>['apiToken']>,
): Promise<FastifyReply> {
  const { request, reply } = visit;
  if (request.headers['sec-fetch-site'] === 'none')
    throw new AppError('forbidden', 'This is for /docs alone.');
  checkSameOrigin(request);
  const token = await apiToken(visit);
  return reply.type('application/json').send(JSON.stringify({ token: token ?? null }));
}

function pageRoutes<T>(pages: HttpApp, visitOf: VisitOf<T>, options: PagesOptions<T>): PageRoutes<T> {
  const respond = async <R>(
    visit: Visit<T>,
    access: PageAccess<T, R>,
    handler: (visitor: R) => PageResult,
  ): Promise<string | FastifyReply> => {
    return inReaderLocale(visit, options, async () => handler(await visitorOf(visit, access)));
  };
  return {
    get(path, { access, isEmbedded = false }, handler) {
      pages.get(path, { ...hidden, config: { isEmbedded } }, (request, reply) =>
        respond(visitOf(request, reply), access, handler),
      );
    },
    post(path, { access, accepts, proof: formProof = 'token', ...limits }, handler) {
      if (accepts !== undefined) {
        const upload = { visitOf, options, access, accepts, formProof, limits, handler };
        return void pages.register((scope: HttpApp) => addUpload(scope, path, upload));
      }
      const { config, ...bounds } = limitsOf(limits);
      pages.post(path, { ...hidden, ...bounds, config: { ...config, formProof } }, (request, reply) =>
        respond(visitOf(request, reply), access, handler),
      );
    },
  };
}

/** Runs the work with the locale of the reader, where the pages have one. */
function inReaderLocale<T, R>(
  { request }: Visit<T>,
  options: PagesOptions<T>,
  work: () => Promise<R>,
): Promise<R> {
  return options.readerLocale ? withReaderLocale(request.headers['accept-language'], work) : work();
}

interface Upload<T, R> {
  readonly visitOf: VisitOf<T>;
  readonly options: PagesOptions<T>;
  readonly access: PageAccess<T, R>;
  readonly accepts: NonNullable<PostOptions['accepts']>;
  readonly formProof: NonNullable<PostOptions['proof']>;
  readonly limits: BodyLimits;
  readonly handler: (visitor: R) => PageResult;
}

/** A route for a body that is not an HTML form. Its access is checked before the body is read, which can be large. */
async function addUpload<T, R>(scope: HttpApp, path: string, upload: Upload<T, R>): Promise<void> {
  const { visitOf, options, access, accepts, formProof, limits, handler } = upload;
  const { config, ...bounds } = limitsOf(limits);
  const visitors = new WeakMap<Visit<T>, R>();
  scope.removeAllContentTypeParsers();
  await takers[accepts](scope);
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    const visit = visitOf(request, reply);
    checkToken(visit);
    visitors.set(visit, await visitorOf(visit, access));
  };
  const route = { ...hidden, ...bounds, config: { ...config, formProof }, onRequest };
  scope.post(path, route, (request, reply) => {
    const visit = visitOf(request, reply);
    return inReaderLocale(visit, options, async () => handler(visitors.get(visit) as R));
  });
}

function limitsOf({ bodyBytesMax: bodyLimit, jsonBounds }: BodyLimits) {
  const largeBody: JsonBounds | 'handler' = jsonBounds ?? 'handler';
  return bodyLimit === undefined ? {} : { bodyLimit, config: { largeBody } };
}

/** Returns the argument of a handler: the visit, or the result of the page's access. */
async function visitorOf<T, R>(visit: Visit<T>, access: PageAccess<T, R>): Promise<R> {
  return access === 'public' ? (visit as R) : access(visit);
}

/** Parsers of a separate scope for bodies that are not HTML forms. */
const takers = {
  'application/json': async (scope: HttpApp) => takeJson(scope),
  async 'multipart/form-data'(scope: HttpApp) {
    const { default: multipart } = await import('@fastify/multipart');
    await scope.register(multipart, { limits: { files: 1, fields: 20, fieldSize: 64 * 1024 } });
    scope.addHook('onRequest', async (request) => refuseLong(request));
  },
};

async function respondWithPage<T>(
  visit: Visit<T>,
  options: PagesOptions<T>,
  handler: PageHandler<T>,
): Promise<FastifyReply> {
  const { request, reply } = visit;
  prepare(request, reply);
  if (lacksStrictCookie(visit, options)) return reloadFromHere(visit);
  try {
    const page = await handler(visit);
    visit.commit();
    return typeof page === 'string' ? reply.send(await compressPage(page, reply)) : page;
  } catch (error) {
    return sendError(visit, options, error);
  }
}

async function respondNotFound<T>(visit: Visit<T>, options: PagesOptions<T>): Promise<FastifyReply> {
  prepare(visit.request, visit.reply);
  if (lacksStrictCookie(visit, options)) return reloadFromHere(visit);
  return sendError(visit, options, new AppError('not_found', 'There is nothing at this address.'));
}

type VisitOf<T> = (request: FastifyRequest, reply: FastifyReply) => Visit<T>;

/** One visit per request, created at first use. */
function visitsOf<T>(options: PagesOptions<T>, suite: Suite | undefined): VisitOf<T> {
  const { name, secret, clock, assets, sessionSeconds: maxAgeSeconds } = options;
  const { sameSite = 'strict', isSecure = false } = options;
  const given = { name: `${name}_session`, secret, clock, maxAgeSeconds, sameSite, isSecure };
  const cookie = createSessionCookie<Session<T>>(given);
  const shared = { cookie, csrf: createCsrf(secret), assets, suite, publicUrl: options.publicUrl };
  const visits = new WeakMap<FastifyRequest, Visit<T>>();
  return (request, reply) => {
    const known = visits.get(request);
    if (known) return known;
    // A request that is refused before the hook for cookies, such as during overload, has none yet.
    request.cookies ??= request.server.parseCookie(request.headers.cookie ?? '');
    const visit = new Visit<T>(request, reply, shared);
    visits.set(request, visit);
    return visit;
  };
}

// Pages are not part of the API, so they are not in /openapi.json. Their own access is checked before their handler.
const hidden = { access: 'public', schema: { hide: true } } as const;

function prepare(request: FastifyRequest, reply: FastifyReply): void {
  asPage(request, reply).type('text/html; charset=utf-8');
  if (request.method === 'POST') checkSameOrigin(request);
}

function asPage(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { isEmbedded } = request.routeOptions.config;
  if (isEmbedded) reply.removeHeader('x-frame-options');
  return (
    reply
      .headers(isEmbedded ? securityHeaders.embed : securityHeaders.page)
      // Without a referrer, browsers send "Origin: null" with our own forms.
      .header('referrer-policy', 'same-origin')
      .header('cache-control', 'no-store')
  );
}

/** Returns true if the visitor followed a link on another site. The strict cookie is missing then, as if signed out. */
function lacksStrictCookie<T>({ request, hasSession }: Visit<T>, { sameSite }: PagesOptions<T>): boolean {
  if (sameSite === 'lax' || request.routeOptions.config.isEmbedded) return false;
  const isFromElsewhere = request.method === 'GET' && request.headers['sec-fetch-site'] === 'cross-site';
  const isSentOn = request.cookies[sentOnCookie] !== undefined;
  return isFromElsewhere && !hasSession && !isSentOn;
}

/** Responds with a page that loads the same address again, this time from our site, so that the cookie is sent. */
function reloadFromHere<T>(visit: Visit<T>): FastifyReply {
  const { reply } = visit;
  reply.setCookie(sentOnCookie, '1', { path: '/', httpOnly: true, secure: 'auto', maxAge: 5 });
  const page = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>One moment</title>${iconLink(visit.publicFrame())}
<meta http-equiv="refresh" content="0"></head><body></body></html>`;
  return reply.send(page.toString());
}

/** Returns true for a response that browsers save, and that leaves the page with its form in place. */
function isFile(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-disposition')).startsWith('attachment');
}

// Tells the page that its form was answered.
const fileCookie = 'octavo_file';

// Some browsers say "cross-site" the second time too. Once is enough.
const sentOnCookie = 'octavo_sent_on';

function checkToken<T>(visit: Visit<T>): void {
  const { request } = visit;
  if (request.method !== 'POST' || request.mediaType === 'multipart/form-data') return;
  if (request.routeOptions.config.formProof === 'origin') return;
  visit.checkToken(request.headers[csrfHeader] ?? visit.field(csrfFieldName));
}

async function sendError<T>(
  visit: Visit<T>,
  options: PagesOptions<T>,
  thrown: unknown,
): Promise<FastifyReply> {
  const { request, reply } = visit;
  const error = fromFastify(thrown);
  const shown = toHttpError(error, defaultErrorTable);
  if (shown.status >= 500 && !(error instanceof OverloadError))
    request.log.error({ err: error.cause ?? error }, 'page failed');
  asPage(request, reply).code(shown.status);
  if (shown.retryAfterSeconds) reply.header('retry-after', String(Math.ceil(shown.retryAfterSeconds)));
  if (!asksForJson(request)) {
    const page = await options.errorPage(visit, shown);
    visit.commit();
    return reply.type('text/html; charset=utf-8').send(page);
  }
  const { code, message, fields } = shown;
  return reply
    .type('application/json')
    .send({ error: { code, message, fields }, meta: { requestId: request.id } });
}

function wantsPage(request: FastifyRequest): boolean {
  const isLooking = request.method === 'GET' || request.method === 'HEAD';
  return isLooking && asksForHtml(request) && !request.url.startsWith('/api/');
}

/** True if the client gets a page for an unknown address: only with HTML by name; programs get JSON. */
function asksForHtml(request: FastifyRequest): boolean {
  return request.headers.accept?.includes('text/html') ?? false;
}

/** True if the client gets JSON for an existing page: only a browser module asks for it. */
function asksForJson(request: FastifyRequest): boolean {
  return !asksForHtml(request) && (request.headers.accept?.includes('application/json') ?? false);
}

function rememberTheme<T>(visit: Visit<T>): FastifyReply {
  const theme = toTheme(visit.field('theme'));
  const maxAge = theme === 'auto' ? 0 : 31_536_000;
  visit.reply.setCookie(themeCookie, theme, { path: '/', secure: 'auto', maxAge });
  return visit.redirect(visit.field('back'));
}

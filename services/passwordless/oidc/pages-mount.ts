import type { IncomingMessage } from 'node:http';
import { toAppError } from '@octavo/core';
import { Encryption } from '@octavo/core/auth';
import type { Database } from '@octavo/data';
import type { PageResponder, PageRoutes } from '@octavo/web/pages';
import type { HttpApp } from '@octavo/web/server';
import { defaultErrorTable, fromFastify, refuseLong, securityHeaders, toHttpError } from '@octavo/web/server';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Accounts } from '../account/index.ts';
import type { LimitRequest, OidcLimits } from '../limits.ts';
import type { PageContext, PageVisit } from '../pages/pages.ts';
import { oidcRoutes } from '../routes.ts';
import type { TokenPair } from '../sessions/index.ts';
import type { Site } from '../site.ts';
import type { Tables } from '../store/store.ts';
import { BackChannel, type TellClient } from './logout/back-channel.ts';
import { tellClient } from './logout/telling.ts';
import { addOidcPages } from './pages.ts';
import { problemPage, signedOutPage, signOutPage } from './pages-views.ts';
import {
  createProvider,
  issueAccessToken,
  type OpenIdProvider,
  type ProviderPages,
  type ProviderParts,
} from './provider.ts';
import { SentForms } from './sent-forms.ts';
import { provenClient } from './store-clients.ts';

/** A page to show in place of the library's response. */
interface PendingPage {
  readonly status: number;
  readonly policy?: string;
  draw(visit: PageVisit): string | Promise<string>;
}

interface Mount {
  readonly site: Site;
  readonly openId: OpenIdProvider;
  readonly database: Database<Tables>;
  readonly limits: OidcLimits;
  readonly respond: PageResponder<TokenPair>;
  readonly pending: PendingPages;
  readonly forms: SentForms;
}

/** Parts of the OpenID provider for the service: its pages, its routes, and what tells applications about sign-outs. */
export interface OpenId {
  addPages(routes: PageRoutes<TokenPair>): void;
  /** Adds the routes of the library; `respond` shows pages to browsers. */
  mount(app: HttpApp, respond: PageResponder<TokenPair>): void;
  readonly backChannel: BackChannel;
  /** Issues an access token to a user. Undefined if no application has the address. */
  issue(token: { readonly audience: string; readonly userId: string }): Promise<string | undefined>;
}

export function createOpenId(
  parts: ProviderParts & {
    readonly accounts: Accounts;
    readonly pages: PageContext;
    readonly limits: OidcLimits;
  },
): OpenId {
  const { site, database, accounts, pages, limits } = parts;
  const { clock, log } = parts.context;
  const pending = new PendingPages(pages);
  const openId = createProvider(parts, pending);
  const forms = new SentForms(new Encryption(parts.keys.keysFor('oidc-form')), clock);
  const tell: TellClient = async (logout) => tellClient(await openId.get(), logout);
  return {
    addPages: (routes) => addOidcPages(routes, { pages, accounts, database, clock, openId }),
    mount: (app, respond) => mountProvider(app, { site, openId, database, limits, respond, pending, forms }),
    backChannel: new BackChannel({ database, clock, log, tell }),
    issue: async (token) => issueAccessToken(await openId.get(), database, token),
  };
}

/** The pages that requests of the library ask for. */
class PendingPages implements ProviderPages {
  readonly #pages = new WeakMap<IncomingMessage, PendingPage>();
  readonly #context: PageContext;

  constructor(context: PageContext) {
    this.#context = context;
  }

  take(request: IncomingMessage): PendingPage | undefined {
    return this.#pages.get(request);
  }

  error(
    ctx: KoaContextWithOIDC,
    { error, error_description: text }: { error: string; error_description?: string },
  ) {
    this.#show(ctx, {
      status: ctx.status,
      draw: (visit) =>
        problemPage(this.#context.frameOf(visit), { text: text ?? 'Something went wrong.', code: error }),
    });
  }

  signOut(ctx: KoaContextWithOIDC, xsrf: string): void {
    const { client, session, entities } = ctx.oidc;
    const hint = entities.IdTokenHint as { payload?: { sub?: unknown } } | undefined;
    // An application that proves whom it signed out speaks for the user.
    const isProven = client?.trusted === true && hint?.payload?.sub === session?.accountId;
    const isConfirmed = session?.accountId === undefined || isProven;
    const back = session?.state?.postLogoutRedirectUri;
    this.#show(ctx, {
      status: 200,
      ...(typeof back === 'string' && { policy: `form-action 'self' ${new URL(back).origin}` }),
      draw: (visit) =>
        signOutPage(this.#context.frameOf(visit), { xsrf, client: client?.clientName, isConfirmed }),
    });
  }

  signedOut(ctx: KoaContextWithOIDC): void {
    this.#show(ctx, {
      status: 200,
      draw: async (visit) => {
        // Tokens of a session that goes on stay, since any site can link to this page.
        if (!(await this.#context.callerOf(visit))) visit.signOut();
        return signedOutPage(this.#context.frameOf(visit));
      },
    });
  }

  #show(ctx: KoaContextWithOIDC, page: PendingPage): void {
    this.#pages.set(ctx.req, page);
    // Koa then leaves the response to us.
    ctx.respond = false;
  }
}

/** Adds the routes of the library. It reads bodies and writes responses itself, on the streams of Node. */
function mountProvider(app: HttpApp, mount: Mount): void {
  const { library, discovery } = oidcRoutes;
  app.register(async (scope) => {
    const routes = scope as HttpApp;
    routes.removeAllContentTypeParsers();
    routes.addContentTypeParser('*', (request, _payload, done) => {
      refuseLong(request);
      done(null);
    });
    routes.setErrorHandler((error: FastifyError, request, reply) => sendError(error, request, reply, mount));
    const handle = (request: FastifyRequest, reply: FastifyReply) => serve(request, reply, mount);
    const hidden = { access: 'public', schema: { hide: true } } as const;
    const page = { ...hidden, preHandler: mount.limits.page } as const;
    const call = { ...hidden, preHandler: limitCalls(mount) } as const;
    for (const path of [...discovery, library.jwks]) {
      routes.get(path, hidden, handle);
      routes.options(path, hidden, handle);
    }
    for (const path of [library.token, library.revocation, library.userinfo]) {
      routes.post(path, call, handle);
      routes.options(path, hidden, handle);
    }
    routes.get(library.userinfo, call, handle);
    for (const path of [library.authorization, `${library.authorization}/:uid`, library.end_session]) {
      routes.get(path, page, handle);
    }
    routes.register(async (posted: HttpApp) => {
      posted.removeAllContentTypeParsers();
      mount.forms.take(posted);
      for (const path of [library.authorization, library.end_session])
        posted.post(path, page, async (request, reply) => mount.forms.lead(request, reply));
    });
    routes.get(`${library.end_session}/success`, hidden, handle);
    routes.post(`${library.end_session}/confirm`, page, handle);
  });
}

/** Strangers who share an address with an application cannot use up what it may do. */
function limitCalls({ database, limits }: Mount): LimitRequest {
  return async (request, reply) => {
    const application = await provenClient(database, request.headers.authorization);
    if (application === undefined) return limits.call(request, reply);
    return limits.application(request, reply, application);
  };
}

async function serve(request: FastifyRequest, reply: FastifyReply, mount: Mount): Promise<FastifyReply> {
  const { site, openId, pending, respond, forms } = mount;
  forms.open(request);
  const provider = await openId.get();
  // Addresses follow from the issuer alone: a `Host` header could name another site, and a proxy may end TLS.
  const { host, protocol } = new URL(site.issuer);
  Object.assign(request.raw.headers, {
    'x-forwarded-host': host,
    'x-forwarded-proto': protocol.slice(0, -1),
  });
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.raw.setHeader('content-security-policy', policy);
  await provider.callback()(request.raw, reply.raw);
  const page = pending.take(request.raw);
  if (!page) return reply.hijack();
  // Cookies of the library and of our pages are sent together.
  const cookies = [reply.raw.getHeader('set-cookie') ?? []].flat().map(String);
  for (const name of reply.raw.getHeaderNames()) reply.raw.removeHeader(name);
  if (cookies.length > 0) reply.header('set-cookie', cookies);
  return respond(request, reply, async (visit) => {
    reply.code(page.status);
    if (page.policy) {
      const own = securityHeaders.page['content-security-policy'];
      reply.header('content-security-policy', own.replace("form-action 'self'", page.policy));
    }
    return page.draw(visit);
  });
}

/** Policy for responses of the library, which may send a form with a script of its own (`response_mode=form_post`). */
const policy = "default-src 'none'; script-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/** Errors of our own before or around the library, such as too many requests: as RFC 6749 section 5.2 words them, or as a page. */
async function sendError(
  thrown: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
  { respond }: Mount,
): Promise<FastifyReply> {
  const error = fromFastify(thrown);
  if (request.headers.accept?.includes('text/html')) {
    return respond(request, reply, async () => {
      throw error;
    });
  }
  const shown = toHttpError(error, defaultErrorTable);
  if (shown.status >= 500)
    request.log.error({ err: toAppError(thrown) }, 'request of the OpenID provider failed');
  if (shown.retryAfterSeconds) reply.header('retry-after', String(Math.ceil(shown.retryAfterSeconds)));
  const code =
    shown.status >= 500
      ? 'server_error'
      : shown.status === 429
        ? 'temporarily_unavailable'
        : 'invalid_request';
  return reply
    .code(shown.status)
    .type('application/json')
    .send(JSON.stringify({ error: code, error_description: shown.message }));
}

import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { PageRoutes } from '@octavo/web/pages';
import { securityHeaders } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import type { Provider } from 'oidc-provider';
import type { Accounts } from '../account/index.ts';
import type { PageContext, PageVisit } from '../pages/pages.ts';
import { forgetWaiting, rememberWaiting, signInPage } from '../pages/sign-in.ts';
import { oidcRoutes } from '../routes.ts';
import type { Caller, TokenPair } from '../sessions/index.ts';
import type { Tables } from '../store/store.ts';
import { acrOf, amrOf } from './claims.ts';
import { endSession } from './logout/store-logouts.ts';
import { consentPage, forwardPage, type OtherFactors, secondFactorPage } from './pages-views.ts';
import type { OpenIdProvider } from './provider.ts';
import { findAudience } from './store-clients.ts';

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

interface OidcPages {
  readonly pages: PageContext;
  readonly accounts: Accounts;
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly openId: OpenIdProvider;
}

/** The pages between an application's request and its response: signing in, and consent. */
export function addOidcPages(routes: PageRoutes<TokenPair>, parts: OidcPages): void {
  routes.get(oidcRoutes.interaction, { access: 'public' }, async (visit) => {
    const step = await stepOf(visit, parts);
    if (step.interaction.prompt.name === 'consent') return askConsent(visit, step, parts);
    return signIn(visit, step, parts);
  });
  routes.post(oidcRoutes.consent, { access: 'public' }, async (visit) => {
    const { provider, interaction } = await stepOf(visit, parts);
    await consenting(visit, interaction, parts);
    return finish(visit, provider, { consent: { grantId: await grantFor(provider, interaction) } });
  });
  routes.post(oidcRoutes.cancel, { access: 'public' }, async (visit) => {
    const { provider } = await stepOf(visit, parts);
    return finish(visit, provider, { error: 'access_denied', error_description: 'The user declined.' });
  });
  for (const path of [oidcRoutes.consent, oidcRoutes.cancel]) {
    routes.get(path, { access: 'public' }, async (visit) =>
      visit.redirect(oidcRoutes.interaction.replace(':uid', uidOf(visit))),
    );
  }
}

/** An application's request that waits for its user. */
interface Step {
  readonly provider: Provider;
  readonly interaction: Interaction;
}

async function stepOf(visit: PageVisit, { openId }: OidcPages): Promise<Step> {
  const provider = await openId.get();
  const interaction = (await interactionOf(visit, provider)) ?? (await freedInteraction(visit, provider));
  if (interaction) return { provider, interaction };
  forgetWaiting(visit);
  const text =
    'This sign-in took too long, or was started in another browser. Go back to the application and start again.';
  throw new AppError('not_found', text);
}

/** The request that waits at this address. Undefined if there is none, it is of another browser, or its session has ended. */
async function interactionOf(visit: PageVisit, provider: Provider): Promise<Interaction | undefined> {
  const { request, reply } = visit;
  try {
    const interaction = await provider.interactionDetails(request.raw, reply.raw);
    return interaction.uid === uidOf(visit) ? interaction : undefined;
  } catch (error) {
    if ((error as { error?: unknown }).error !== 'invalid_request') throw error;
    return undefined;
  }
}

/** A request whose session ended while it waited, such as by another user who signed in in this browser: it goes on as one without a session. */
async function freedInteraction(visit: PageVisit, provider: Provider): Promise<Interaction | undefined> {
  const interaction = await provider.Interaction.find(uidOf(visit));
  const { session } = interaction ?? {};
  if (!interaction || !session || (await provider.Session.findByUid(session.uid))) return undefined;
  delete (interaction as { session?: unknown }).session;
  await interaction.persist();
  return interactionOf(visit, provider);
}

function uidOf({ request }: PageVisit): string {
  return (request.params as { uid: string }).uid;
}

/** Goes on if the user is signed in as the application asks, else shows the sign-in pages. They lead back here. */
async function signIn(visit: PageVisit, step: Step, parts: OidcPages): Promise<string | FastifyReply> {
  const { pages, accounts, clock } = parts;
  const { provider, interaction } = step;
  const caller = await pages.callerOf(visit);
  const demand = demandOf(interaction);
  const client = await nameOf(step);
  const isRecent = caller !== undefined && isSignedInFor(caller, demand, clock.now());
  if (caller && isRecent && (!demand.needsTwo || acrOf(caller.session.amr) === 'mfa')) {
    forgetWaiting(visit);
    await leaveOtherSession(step, caller, parts);
    const { session, user } = caller;
    const login = {
      accountId: user.id,
      acr: acrOf(session.amr),
      amr: amrOf(session.amr),
      ts: Math.floor(session.authenticatedMs / 1_000),
      signInId: session.id,
    };
    const next = await provider.interactionResult(visit.request.raw, visit.reply.raw, { login });
    return forwardPage(pages.frameOf(visit), new URL(next).pathname);
  }
  rememberWaiting(visit, interaction.uid);
  if (caller && isRecent) {
    const others = othersOf(caller, await accounts.factors(caller));
    const here = oidcRoutes.interaction.replace(':uid', interaction.uid);
    return secondFactorPage(pages.frameOf(visit), { client, others, here });
  }
  const hint = interaction.params.login_hint;
  const email = caller?.user.email ?? (typeof hint === 'string' ? hint.slice(0, 254) : undefined);
  return signInPage(pages.frameOf(visit), { email, client, isAgain: caller !== undefined });
}

/** Demands on a sign-in. */
interface Demand {
  /** Earliest time for it to have happened. */
  readonly sinceMs: number;
  readonly ageSecondsMax: number | undefined;
  /** The user that the application expects. */
  readonly userId: string | undefined;
  readonly needsTwo: boolean;
}

function demandOf({ prompt, params, iat }: Interaction): Demand {
  const has = (reason: string) => prompt.reasons.includes(reason);
  const age = has('max_age') ? Number(params.max_age) : undefined;
  const isNew = has('login_prompt') || age === 0;
  return {
    // `iat` is in whole seconds: a sign-in of the same second may have been before it.
    sinceMs: isNew ? ((iat ?? 0) + 1) * 1_000 : 0,
    ageSecondsMax: age === 0 ? undefined : age,
    userId: has('id_token_hint') ? subjectOf(params.id_token_hint) : undefined,
    needsTwo: has('second_factor'),
  };
}

/** The subject of a token that the library has verified. */
function subjectOf(token: unknown): string {
  const payload = Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString();
  return String(JSON.parse(payload).sub);
}

function isSignedInFor({ user, session }: Caller, demand: Demand, nowMs: number): boolean {
  const { sinceMs, ageSecondsMax = Number.POSITIVE_INFINITY, userId = user.id } = demand;
  const isNewEnough = session.authenticatedMs >= sinceMs;
  return isNewEnough && nowMs - session.authenticatedMs <= ageSecondsMax * 1_000 && user.id === userId;
}

/** The methods that would be a second factor beside those of the session. */
function othersOf(
  { user, session }: Caller,
  factors: Awaited<ReturnType<Accounts['factors']>>,
): OtherFactors {
  const { amr } = session;
  return {
    email: user.isVerified && !amr.includes('email') ? user.email : undefined,
    totp: factors.totp && !amr.includes('otp'),
    passkey: factors.passkeys > 0,
    recoveryCode: factors.recoveryCodes > 0 && !amr.includes('recovery'),
  };
}

/** Signs the previous user of the browser out of all applications, if it is another one. */
async function leaveOtherSession({ interaction }: Step, { user }: Caller, parts: OidcPages): Promise<void> {
  const { session } = interaction;
  if (!session?.accountId || session.accountId === user.id) return;
  await endSession(parts.database, parts.clock, session.uid);
  delete (interaction as { session?: unknown }).session;
  await interaction.persist();
}

async function askConsent(visit: PageVisit, step: Step, parts: OidcPages): Promise<string> {
  const { pages, database } = parts;
  const { interaction } = step;
  const caller = await consenting(visit, interaction, parts);
  const { missingResourceScopes = {} } = interaction.prompt.details as {
    missingResourceScopes?: Record<string, string[]>;
  };
  const services = await Promise.all(
    Object.keys(missingResourceScopes).map(
      async (address) => (await findAudience(database, address))?.name ?? address,
    ),
  );
  const redirect = new URL(String(interaction.params.redirect_uri)).origin;
  // The response to the form leads to the application by redirects, which browsers hold to `form-action`.
  const policy = securityHeaders.page['content-security-policy'];
  const open = policy.replace("form-action 'self'", `form-action 'self' ${redirect}`);
  visit.reply.header('content-security-policy', open);
  return consentPage(pages.frameOf(visit), {
    uid: interaction.uid,
    client: await nameOf(step),
    site: redirect,
    email: caller.user.email,
    scopes: scopesOf(interaction),
    services,
  });
}

/** The user who consents: the one of the session, who must still be signed in here. */
async function consenting(visit: PageVisit, interaction: Interaction, { pages }: OidcPages): Promise<Caller> {
  const caller = await pages.callerOf(visit);
  if (caller && caller.user.id === interaction.session?.accountId) return caller;
  throw new AppError('not_found', 'Your sign-in has ended. Go back to the application and start again.');
}

/** The scopes to grant: all of the request, so that the page names all that the application will know. */
function scopesOf({ params }: Interaction): string[] {
  return String(params.scope ?? '').split(' ');
}

async function grantFor(provider: Provider, interaction: Interaction): Promise<string> {
  const { params, session, grantId } = interaction;
  const known = grantId ? await provider.Grant.find(grantId) : undefined;
  const ids = { accountId: session?.accountId ?? '', clientId: String(params.client_id) };
  const grant = known ?? new provider.Grant(ids);
  grant.addOIDCScope(scopesOf(interaction).join(' '));
  for (const address of [params.resource ?? []].flat()) {
    grant.addResourceScope(String(address), scopesOf(interaction).join(' '));
  }
  return grant.save();
}

async function finish(
  visit: PageVisit,
  provider: Provider,
  result: Parameters<Provider['interactionResult']>[2],
): Promise<FastifyReply> {
  const { request, reply } = visit;
  const next = await provider.interactionResult(request.raw, reply.raw, result);
  return visit.redirect(new URL(next).pathname);
}

async function nameOf({ provider, interaction }: Step): Promise<string> {
  const client = await provider.Client.find(String(interaction.params.client_id));
  return client?.clientName ?? client?.clientId ?? 'The application';
}

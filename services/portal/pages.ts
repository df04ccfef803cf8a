import type { Clock, SuiteSite } from '@octavo/core';
import { AppError, isFromThisMachine } from '@octavo/core';
import { errorPage, type Frame, type Html, html, single, standalone } from '@octavo/web/html';
import type { Visit } from '@octavo/web/pages';
import { loadAssets, type PageRoutes, servePages } from '@octavo/web/pages';
import type { HttpApp, HttpError } from '@octavo/web/server';
import type { ActivityMonitor } from './activity.ts';
import { type DemoData, leftOut } from './demo-data.ts';
import { type MailFolders, mailPage, mailsPage } from './mails.ts';
import type { PortalPeople, PortalSession } from './people.ts';
import type { LoggedError } from './recent-errors.ts';
import { requestsPage, type SampleRequest } from './requests.ts';
import { demoRoles, type Entrances, reportOn, type SignIn, type SuiteSignIn } from './sites.ts';
import { nextSteps, noServices, type Seeding, signInCard, tile, trafficCard, trialCard } from './views.ts';
import { errorsCard } from './views-admin.ts';

export interface PagesOptions {
  readonly clock: Clock;
  /** Encrypts cookies. */
  readonly secret: string;
  /** People who are signed in; undefined without an OpenID provider. */
  readonly people: PortalPeople | undefined;
  sites(): readonly SuiteSite[];
  readonly activity: ActivityMonitor;
  /** Ways into each service besides its address. */
  readonly entrances: Readonly<Record<string, Entrances>>;
  /** Instructions for signing in, by service. */
  readonly signInHints: Readonly<Record<string, string | undefined>>;
  /** The last errors in the log of this process, newest first. */
  recentErrors(): readonly LoggedError[];
  /** Help for trying the services out; only on loopback names, and never in production. */
  readonly trial: Trial | undefined;
}

interface Trial {
  /** Demo accounts. */
  signIns(): Promise<readonly SignIn[]>;
  readonly suiteSignIn: SuiteSignIn | undefined;
  readonly samples: Readonly<Record<string, readonly SampleRequest[]>>;
  readonly mails: MailFolders;
  /** Demo data; absent where the services run on other machines. */
  readonly seeding: (Seeding & { readonly demoData: DemoData }) | undefined;
}

const sessionSeconds = 86_400;

export function addPages(app: HttpApp, options: PagesOptions): void {
  const { clock, secret } = options;
  const assets = loadAssets();
  const pages = { name: 'portal', secret, sessionSeconds, clock, assets, errorPage: errorPageOf };
  servePages<PortalSession>(app, pages, (routes) => {
    routes.get('/', { access: 'public' }, (visit) => homePage(visit, options));
    if (options.people) addSignIn(routes, options.people);
    routes.post('/demo-sign-in', { access: 'public' }, async (visit) => {
      const { suiteSignIn } = trialOf(visit, options) ?? {};
      const role = demoRoles.find((each) => each === visit.field('role'));
      if (!suiteSignIn || !role) throw new AppError('not_found', 'There is no such demo account here.');
      // Through the sign-in of the portal, so that it knows the visitor too.
      const target = options.people ? '/sign-in/oidc?next=/' : '/';
      return goToPage(visit, suiteSignIn.demoAddress(role, `${visit.origin}${target}`));
    });
    addMails(routes, options);
    // Where the switch of the theme leads back to.
    routes.get('/requests', { access: 'public' }, async (visit) => visit.redirect('/'));
    // A form of ours asks for it, because it makes tokens.
    routes.post('/requests', { access: 'public' }, async (visit) => {
      const { suiteSignIn: signIn, samples } = trialOf(visit, options) ?? {};
      if (!signIn || !samples) throw new AppError('not_found', 'There are no requests to try out here.');
      visit.reply.header('cache-control', 'no-store');
      return single(frameOf(visit), await requestsPage({ sites: options.sites(), samples, signIn }));
    });
    routes.post('/demo-data', { access: 'public' }, async (visit) => {
      const seeding = trialOf(visit, options)?.seeding;
      if (!seeding) throw new AppError('not_found', 'There is no demo data to load here.');
      const { demoData } = seeding;
      const isBeside = visit.field('beside') !== '' && demoData.state.phase === 'done';
      demoData.load(isBeside ? leftOut(demoData.state.lines) : []);
      return visit.redirect('/');
    });
  });
}

/** Mails open accounts, so they are shown only where they can be requested from this machine alone. */
function addMails(routes: PageRoutes<PortalSession>, options: PagesOptions): void {
  const mailsFor = (visit: Visit<PortalSession>): MailFolders => {
    const { mails } = trialOf(visit, options) ?? {};
    if (!mails)
      throw new AppError(
        'not_found',
        'Mails are shown only at localhost, never through a proxy, and never in production.',
      );
    return mails;
  };
  routes.get('/mails', { access: 'public' }, async (visit) =>
    single(frameOf(visit), await mailsPage(mailsFor(visit))),
  );
  routes.get('/mails/:service/:id', { access: 'public' }, async (visit) => {
    const { service = '', id = '' } = visit.request.params as Record<string, string>;
    return single(frameOf(visit), await mailPage(mailsFor(visit), { service, id }));
  });
}

function addSignIn(routes: PageRoutes<PortalSession>, people: PortalPeople): void {
  const { oidc } = people;
  oidc.addRoutes(routes);
  routes.get('/sign-in', { access: 'public' }, async (visit) => {
    if (people.of(visit.who?.key)) return visit.redirect('/');
    const choice = await oidc.choice('/');
    const frame = frameOf(visit);
    return standalone(frame, { title: 'Sign in', main: html`${choice}` });
  });
  routes.post('/sign-out', { access: 'public' }, async (visit) => {
    const { key } = visit.who ?? {};
    visit.signOut();
    if (await oidc.signOut(visit, key)) return visit.reply;
    return visit.redirect('/');
  });
}

/** The link to sign in, or who is signed in with the button to sign out. */
function signInActions(visit: Visit<PortalSession>, people: PortalPeople, csrfField: Html): Html {
  const person = people.of(visit.who?.key);
  if (!person) return html`<a class="button secondary" href="/sign-in">Sign in</a>`;
  const needsRole = person.isAdministrator && person.name !== 'administrator';
  const name = needsRole ? `${person.name}, administrator` : person.name;
  return html`<form class="actions" method="post" action="/sign-out">${csrfField}<span class="muted">${name}</span><button class="secondary">Sign out</button></form>`;
}

/** Trial data for requests of this machine alone: another site's pages, or clients of a proxy, must not read passwords. */
function trialOf(visit: Visit<PortalSession>, { trial }: PagesOptions): Trial | undefined {
  return isFromThisMachine(visit.request.headers) ? trial : undefined;
}

function frameOf(visit: Visit<PortalSession>): Frame {
  return { ...visit.frame(), service: 'Octavo', navigation: [], flash: visit.takeFlash() };
}

/** A page that goes on to an address of another service: the security policy lets no form redirect there. */
function goToPage(visit: Visit<PortalSession>, href: string): string {
  visit.reply.header('refresh', `0; url=${href}`);
  return single(frameOf(visit), {
    title: 'One moment',
    main: html`<p><a href="${href}">Go on to Sign-in</a></p>`,
  });
}

async function homePage(visit: Visit<PortalSession>, options: PagesOptions): Promise<string> {
  const { sites, activity, signInHints } = options;
  const trial = trialOf(visit, options);
  const others = sites().filter(({ name }) => name !== 'portal');
  const [reports, signIns = []] = await Promise.all([
    reportOn(others),
    trial?.signIns(),
    activity.readFirst(),
  ]);
  const demoData = trial?.seeding?.demoData.state ?? { phase: 'idle' };
  // Shows the progress without a script.
  if (demoData.phase === 'running') visit.reply.header('refresh', '2');
  const person = options.people?.of(visit.who?.key);
  const isAdministrator = person?.isAdministrator ?? false;
  const frame = { ...frameOf(visit), isAdministrator };
  const titleOf = (service: string) => reports.find(({ name }) => name === service)?.title ?? service;
  const activityOf = (name: string) => activity.of(name);
  const ready = reports.filter(({ state }) => state === 'ready').length;
  const isSignedIn = person !== undefined;
  // A link through the sign-in would end at an error while that is away.
  const canLink =
    isSignedIn && reports.some(({ name, state }) => name === 'passwordless' && state === 'ready');
  const tiles = reports.map((report) =>
    tile(report, activity.of(report.name), {
      hint: isSignedIn ? undefined : signInHints[report.name],
      entrances: options.entrances[report.name],
      isAdministrator,
      canLink,
    }),
  );
  const csrfField = trial?.suiteSignIn && frame.csrfField;
  const first =
    (trial?.suiteSignIn || signIns.length > 0) && signInCard(signIns, reports, { csrfField, isSignedIn });
  const hasRecords = (name: string) => (activity.of(name)?.phrases.length ?? 0) > 0;
  const isSetUp = isSignedIn && demoData.phase === 'idle' && trial?.seeding?.seedable.every(hasRecords);
  const next =
    !isSetUp &&
    trial?.seeding &&
    nextSteps(reports, { seeding: trial.seeding, demoData, csrfField: frame.csrfField, isSignedIn });
  // New visitors see the one click that signs them in before anything else.
  const isNew = !isSignedIn && csrfField !== undefined;
  return single(frame, {
    title: 'Octavo',
    lead: runningWords(ready, reports.length),
    actions: options.people && signInActions(visit, options.people, frame.csrfField),
    styles: ['charts.css'],
    modules: ['keep.js'],
    main: html`<div class="stack">${isNew && first}${next}${reports.length === 0 ? noServices() : html`<ul class="tiles">${tiles}</ul>`}
${(trial || isAdministrator) && trafficCard(reports, activityOf)}${isAdministrator && errorsCard(options.recentErrors(), titleOf)}${!isNew && first}
${trial && trialCard(csrfField)}</div>`,
  });
}

function runningWords(ready: number, total: number): string {
  if (ready < total) return `${ready} of ${total} services are running`;
  return total === 1 ? 'One service is running' : 'All services are running';
}

function errorPageOf(visit: Visit<PortalSession>, error: HttpError): string {
  const home = { href: '/', label: 'See the running services' };
  return errorPage(frameOf(visit), error, { requestId: visit.request.id, home });
}

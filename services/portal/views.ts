import { resolve } from 'node:path';
import {
  attributes,
  badge,
  type Content,
  card,
  empty,
  type Html,
  html,
  lineChart,
  mark,
  notice,
  progress,
  signInAddress,
  type Tone,
  table,
} from '@octavo/web/html';
import { keepActions } from '@octavo/web/pages';
import type { Activity } from './activity.ts';
import { type DemoDataState, leftOut } from './demo-data.ts';
import { demoRoles, type Entrances, type SignIn, type SiteReport } from './sites.ts';

type Trouble = Exclude<SiteReport['state'], 'ready'>;

const tones: Readonly<Record<Trouble, Tone>> = {
  'not ready': 'warn',
  'no response': 'bad',
};

const words: Readonly<Record<Trouble, string>> = {
  'not ready': 'Not ready',
  'no response': 'Does not respond',
};

interface TileOptions {
  /** Instructions for signing in; undefined for a signed-in person. */
  readonly hint: string | undefined;
  readonly entrances: Entrances | undefined;
  readonly isAdministrator: boolean;
  /** True if links may lead through the sign-in of the suite, so that a click opens the service signed in. */
  readonly canLink: boolean;
}

/** A service as a tile: its state, its activity and the ways in. */
export function tile(
  report: SiteReport,
  activity: Activity | undefined,
  { hint, entrances, isAdministrator, canLink }: TileOptions,
): Html {
  const { title, url, summary, state, failing } = report;
  const problem = failing.length > 0 && html`<span class="muted">: ${failing.join(', ')}</span>`;
  const isLinked = canLink && report.hasOneSignIn === true;
  const through = (path: string) =>
    isLinked ? signInAddress(url, path) : path === '/' ? url : `${url}${path}`;
  return html`<li class="card"><h2><a class="named" href="${through('/')}">${mark(report.mark)}${title}</a></h2>
<p>${summary}</p>${state !== 'ready' && html`<p>${badge(tones[state], words[state])}${problem}</p>`}
${activity && activity.phrases.length > 0 && html`<p class="muted">${activity.phrases.join(', ')}</p>`}
${isAdministrator && waitingFor(activity, through)}
${isAdministrator && serversOf(activity, through)}
${hint && html`<p class="small muted">Sign in ${hint}.</p>`}
<p class="small muted">${isAdministrator && entrances?.hasAdmin && html`<a href="${through('/admin/')}">Admin<span class="hidden"> of ${title}</span></a> · `}<a href="${url}/docs">API<span class="hidden"> of ${title}</span></a> · ${url.replace(/^https?:\/\//, '')}${activity?.version && html` <span class="unbroken">· ${activity.version}</span>`}</p></li>`;
}

/** Links to what waits for administrators. */
function waitingFor(activity: Activity | undefined, through: (path: string) => string): Content {
  if (!activity || activity.waiting.length === 0) return undefined;
  return html`<p class="actions">${activity.waiting.map(({ text, path }) => html`<a class="badge warn" href="${through(path)}">${text}</a>`)}</p>`;
}

/** Servers that a service uses, with how the last request to each ended. */
function serversOf(activity: Activity | undefined, through: (path: string) => string): Content {
  if (!activity || activity.servers.length === 0) return undefined;
  return activity.servers.map(
    ({ text, isFailing, path }) =>
      html`<p class="small muted">${isFailing && html`<a class="badge bad" href="${through(path)}">Fails</a> `}${text}</p>`,
  );
}

/** Requests and errors of all services in the last hour. */
export function trafficCard(
  reports: readonly SiteReport[],
  activityOf: (name: string) => Activity | undefined,
): Content {
  const known = reports.flatMap(({ name }) => activityOf(name) ?? []);
  const minutes = Math.max(0, ...known.map(({ requests }) => requests.length));
  if (minutes < 2) return undefined;
  const chart = (caption: string, key: 'requests' | 'errors') => {
    const totals = Array.from({ length: minutes }, (_, index) =>
      known.reduce((total, { [key]: values }) => total + (values[values.length - minutes + index] ?? 0), 0),
    );
    const points = totals.map((value, index) => ({ label: minutesAgo(minutes - 1 - index), value }));
    return html`<div><h3>${caption}</h3>${lineChart({ caption, heads: ['When', caption], points, ticks: [0, minutes - 1] })}</div>`;
  };
  return card(
    'The last hour',
    html`<div class="beside">${chart('Requests a minute', 'requests')}${chart('Errors a minute', 'errors')}</div>`,
  );
}

function minutesAgo(minutes: number): string {
  return minutes === 0 ? 'now' : `${minutes} min ago`;
}

/**
 * Demo accounts.
 * @param given.csrfField token of the forms; undefined without one sign-in for all services
 */
export function signInCard(
  signIns: readonly SignIn[],
  reports: readonly SiteReport[],
  { csrfField, isSignedIn }: { csrfField: Html | undefined; isSignedIn: boolean },
): Content {
  if (!csrfField) return card('Demo sign-ins', passwordTable(signIns, reports));
  const buttons = demoRoles.map(
    (role, index) =>
      html`<button${attributes({ class: index === 0 && !isSignedIn ? undefined : 'secondary' })} name="role" value="${role}">Sign in as ${role}</button>`,
  );
  return card(
    'Demo sign-ins',
    html`<div class="stack"><p>One click signs you in to every service except Accounts, which keeps accounts of its own.</p><form class="actions" method="post" action="/demo-sign-in">${csrfField}${buttons}</form>
${signIns.length > 0 && html`<details><summary>Accounts with a password</summary><p>Other accounts than those of the buttons, for sign-in forms and APIs.</p>${passwordTable(signIns, reports)}</details>`}</div>`,
  );
}

/**
 * Ways to look into the services.
 * @param csrfField token of the forms; undefined without one sign-in for all services
 */
export function trialCard(csrfField: Html | undefined): Content {
  const requests =
    csrfField &&
    html`<form method="post" action="/requests">${csrfField}<button class="secondary">Show requests ready to paste</button></form>`;
  return card(
    'Look inside',
    html`<p>Without a mail server, mails are saved on this machine. Requests come with a token of the demo administrator.</p>
<div class="actions"><a class="button secondary" href="/mails">Mails of all services</a>${requests}</div>`,
  );
}

function passwordTable(signIns: readonly SignIn[], reports: readonly SiteReport[]): Content {
  return html`<p class="muted">Created at first start on this machine. They do not exist in production.</p>${table(
    {
      caption: 'Demo sign-ins',
      columns: [
        {
          header: 'User name',
          kind: 'fit',
          cell: ({ username }: SignIn) => copyCell(username, `the user name ${username}`),
        },
        { header: 'Role', kind: 'fit', cell: ({ role }) => role },
        { header: 'For', kind: 'fit', cell: ({ service }) => linkTo(service, reports) },
        {
          header: 'Password',
          cell: ({ username, password }) => copyCell(password, `the password of ${username}`),
        },
      ],
      rows: signIns,
    },
  )}`;
}

function copyCell(text: string, what: string): Content {
  return html`<div class="actions"><code>${text}</code>${keepActions({ text, what })}</div>`;
}

function linkTo(service: string, reports: readonly SiteReport[]): Content {
  const site = reports.find(({ name }) => name === service);
  return site ? html`<a href="${site.url}">${site.title}</a>` : service;
}

/** Services on this machine that demo data can be loaded into. */
export interface Seeding {
  /** Names of the services with demo data. */
  readonly seedable: readonly string[];
  readonly dataFolder: string;
  readonly needsDatabaseUrl: boolean;
}

interface NextStepsOptions {
  readonly seeding: Seeding;
  readonly demoData: DemoDataState;
  readonly csrfField: Html;
  readonly isSignedIn: boolean;
}

/** First steps for a new visitor. */
export function nextSteps(
  reports: readonly SiteReport[],
  { seeding, demoData, csrfField, isSignedIn }: NextStepsOptions,
): Content {
  const running = reports.filter(({ name }) => seeding.seedable.includes(name));
  if (running.length === 0) return undefined;
  const names = running.length < seeding.seedable.length ? running.map(({ name }) => name) : [];
  const command = ['npx octavo seed', ...names, '--data', quoted(resolve(seeding.dataFolder))].join(' ');
  const titles = new Intl.ListFormat('en').format(running.map(({ title }) => title));
  return card(
    'What to do next',
    html`<ol>${!isSignedIn && html`<li>Sign in with a demo account, then open a service.</li>`}
<li>Load demo data into ${titles}. ${loading(demoData, running, { csrfField, isSignedIn })}
<details><summary>Load it by a command</summary><p>In the folder of the project${seeding.needsDatabaseUrl && html`, with <code>DATABASE_URL</code> set as for these services`}:</p>
<div class="actions"><code>${command}</code>${keepActions({ text: command, what: 'the command' })}</div></details></li>
<li>Read how to call a service: <b>API</b> in its tile describes it.</li></ol>`,
  );
}

function loading(
  state: DemoDataState,
  reports: readonly SiteReport[],
  { csrfField, isSignedIn }: Pick<NextStepsOptions, 'csrfField' | 'isSignedIn'>,
): Content {
  if (state.phase === 'running') {
    const [value, max] = [state.lines.length, reports.length];
    return progress({ label: 'Loading demo data', value, max, detail: `${value} of ${max} services` });
  }
  const button = html`<form method="post" action="/demo-data">${csrfField}<button>Load demo data</button></form>`;
  if (state.phase === 'idle') return button;
  if (state.phase === 'failed')
    return html`${notice('bad', state.problem, { title: 'The demo data was not loaded.' })}${button}`;
  return result(state.lines, reports, { csrfField, isSignedIn });
}

/** The lines of the command in the names of pages, with a button for its switch, and without passwords for who is signed in. */
function result(
  lines: readonly string[],
  reports: readonly SiteReport[],
  { csrfField, isSignedIn }: Pick<NextStepsOptions, 'csrfField' | 'isSignedIn'>,
): Content {
  const titleOf = (name: string) => reports.find((report) => report.name === name)?.title ?? name;
  const plain = lines.map((line) => line.replace(/^[\w-]+(?=:)/, titleOf).replace(/; --force.*/, '.'));
  const shown = isSignedIn ? plain.map((line) => line.replace(/ \(sign in as [^)]*\)/, '')) : plain;
  const names = leftOut(lines).map(titleOf);
  const items = html`<ul>${shown.map((line) => html`<li>${line}</li>`)}</ul>`;
  if (names.length === 0) return notice('good', items, { title: 'The demo data is loaded.' });
  const title = `The demo data is loaded, except into ${new Intl.ListFormat('en').format(names)}.`;
  return html`${notice('warn', items, { title })}<form method="post" action="/demo-data">${csrfField}<input type="hidden" name="beside" value="1"><button class="secondary">Add demo data beside yours</button></form>`;
}

/** A word of a command line for a POSIX shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function noServices(): Content {
  return empty({
    icon: 'inbox',
    title: 'No other services are running',
    text: html`Start all of them with <code>octavo up</code>, or one with <code>octavo serve</code>.`,
  });
}

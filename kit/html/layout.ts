import type { Assets } from './assets.ts';
import { attributes, type Content, type Html, html } from './html.ts';
import { type IconName, icon } from './icons.ts';
import type { Theme } from './theme.ts';

export interface NavigationItem {
  readonly href: string;
  readonly label: string;
  readonly icon: IconName;
}

/** What all pages of a service share during one request. */
export interface Frame {
  /** The service's name as readers know it. */
  readonly service: string;
  readonly navigation: readonly NavigationItem[];
  /** The path of this request, with its query: marks the current entry of the navigation, and is where to return to. */
  readonly path: string;
  readonly theme: Theme;
  readonly assets: Assets;
  /** The hidden field for every form on the page. */
  readonly csrfField: Html;
  /** Whether the page shows an error. Then drafts of what was typed are kept. */
  readonly isFailure?: boolean;
  /** Who is signed in; absent if nobody is. */
  readonly account?:
    | { readonly name: string; readonly detail: string; readonly signOutHref: string }
    | undefined;
  /** A message from the previous request. */
  readonly flash?: Content;
}

export interface PageContent {
  readonly title: string;
  readonly main: Content;
  /** A line below the title. */
  readonly lead?: Content;
  /** Buttons beside the title. */
  readonly actions?: Content;
  /** The parent page: a link above the title. */
  readonly parent?: { readonly href: string; readonly label: string };
  /** Names of the browser modules that only this page needs. */
  readonly modules?: readonly string[];
}

/** A page of a service: navigation and account at the side (on a phone, above), title and content. */
export function layout(frame: Frame, page: PageContent): string {
  const body = html`<body class="app"><a class="skip" href="#main">Skip to content</a>
<header class="bar">${brand(frame)}${navigation(frame)}<div class="account">${account(frame)}${themeSwitch(frame)}</div></header>
<main id="main" tabindex="-1">${head(page)}${frame.flash}${page.main}</main></body>`;
  return documentOf(frame, page, body);
}

/** A page of a service with a single page: name, title and content in one column, without navigation. */
export function single(frame: Frame, page: PageContent): string {
  const body = html`<body class="single"><header class="top">${brand(frame)}${themeSwitch(frame)}</header>
<main id="main" tabindex="-1">${head(page)}${frame.flash}${page.main}</main></body>`;
  return documentOf(frame, page, body);
}

/** A page without navigation, such as the sign-in: name, title and content in one narrow column. */
export function standalone(frame: Frame, page: PageContent): string {
  const body = html`<body class="alone"><main id="main" tabindex="-1" class="stack">${brand(frame)}
${frame.flash}<div class="card stack"><h1>${page.title}</h1>${page.lead && html`<p class="muted">${page.lead}</p>`}${page.main}</div></main>
${themeSwitch(frame)}</body>`;
  return documentOf(frame, page, body);
}

function head(page: PageContent): Html {
  const { parent, title, lead, actions } = page;
  return html`<div class="head"><div>${parent && html`<a class="crumb" href="${parent.href}">${parent.label}</a>`}
<h1>${title}</h1>${lead && html`<p>${lead}</p>`}</div>${actions && html`<div class="actions">${actions}</div>`}</div>
`;
}

function documentOf(frame: Frame, page: PageContent, body: Html): string {
  const modules = [
    'theme.js',
    'time.js',
    'forms.js',
    'overlays.js',
    'connection.js',
    ...(page.modules ?? []),
  ];
  const scheme = frame.theme === 'auto' ? undefined : frame.theme;
  return html`<!doctype html><html lang="en"${attributes({ 'data-theme': scheme, 'data-failure': frame.isFailure })}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${page.title} · ${frame.service}</title><link rel="icon" href="${frame.assets.url('icon.svg')}">
<link rel="stylesheet" href="${frame.assets.url('octavo.css')}">
${modules.map((name) => html`<script type="module" src="${frame.assets.url(name)}"></script>`)}</head>
${body}</html>`.toString();
}

function brand(frame: Frame): Html {
  return html`<a class="brand" href="/"><svg class="mark" viewBox="0 0 22 22" aria-hidden="true"><rect width="22" height="22" rx="6"/>
<path d="M11 7c-1.6-1.2-3.6-1.5-5.5-1.2v9c1.9-.3 3.9 0 5.5 1.2 1.6-1.2 3.6-1.5 5.5-1.2v-9C14.6 5.5 12.6 5.8 11 7zm0 0v9"/></svg>${frame.service}</a>`;
}

function navigation(frame: Frame): Html {
  const here = frame.path.replace(/\?.*/s, '');
  const current = frame.navigation
    .filter((item) => isUnder(here, item.href))
    .sort(byLength)
    .at(-1);
  return html`<nav aria-label="Main"><ul>${frame.navigation.map(
    (item) =>
      html`<li><a href="${item.href}"${attributes({ 'aria-current': item === current && 'page' })}>${icon(item.icon)}${item.label}</a></li>`,
  )}</ul></nav>`;
}

function isUnder(path: string, href: string): boolean {
  return path === href || path.startsWith(href.endsWith('/') ? href : `${href}/`);
}

function byLength(a: NavigationItem, b: NavigationItem): number {
  return a.href.length - b.href.length;
}

function account(frame: Frame): Content {
  if (!frame.account) return undefined;
  const { name, detail, signOutHref } = frame.account;
  return html`<div class="who"><span><b>${name}</b><small class="muted">${detail}</small></span>
<form method="post" action="${signOutHref}" data-sign-out>${frame.csrfField}<button class="quiet only-icon" title="Sign out">${icon('out')}<span class="hidden">Sign out</span></button></form></div>`;
}

function themeSwitch(frame: Frame): Html {
  const choices = [
    ['auto', 'Theme of the system', 'screen'],
    ['light', 'Light theme', 'sun'],
    ['dark', 'Dark theme', 'moon'],
  ] as const;
  return html`<form class="themes" method="post" action="/theme" data-themes>${frame.csrfField}<input type="hidden" name="back" value="${frame.path}">
${choices.map(
  ([
    theme,
    label,
    symbol,
  ]) => html`<button name="theme" value="${theme}" title="${label}" aria-pressed="${String(frame.theme === theme)}">
${icon(symbol)}<span class="hidden">${label}</span></button>`,
)}</form>`;
}

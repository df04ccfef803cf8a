import { iconAddress, type Suite } from '@octavo/core';
import { attributes, type Content, type Html, html, trustedHtml } from './html.ts';
import { type IconName, icon } from './icons.ts';
import { mark } from './marks.ts';
import type { Assets } from './pages/assets.ts';
import type { Theme } from './theme.ts';

export interface NavigationItem {
  readonly href: string;
  /** Pages below this path belong to the item; by default those below `href`. */
  readonly below?: string;
  readonly label: string;
  readonly icon: IconName;
  /** Shown behind the label, such as how much is unread. */
  readonly extra?: Content;
  /** A heading above the first entry of a group. */
  readonly group?: string;
  /** Parameter of the address that searches the list of the entry; Ctrl+K asks it for records. */
  readonly searches?: string;
  /** Links beside the entry, for items that a reader named and may change. A long label is cut to two lines, with the full text as its title. */
  readonly actions?: Content;
}

/** Parts shared by all pages of a service during one request. */
export interface Frame {
  /** The service's name as readers know it. */
  readonly service: string;
  /** Address of the service's name; `/` by default. */
  readonly home?: string;
  readonly navigation: readonly NavigationItem[];
  /** The public address of the service without a path, for pages with {@link Sharing}. */
  readonly origin: string;
  /** The path of this request, with its query: marks the current entry of the navigation, and is where to return to. */
  readonly path: string;
  readonly theme: Theme;
  readonly assets: Assets;
  /** The services that a visitor can go to. */
  readonly suite?: Suite | undefined;
  /** True if the visitor is signed in, also on a page that does not show it. Then the menu of services keeps the sign-in. */
  readonly isSignedIn?: boolean;
  /** True for an administrator of the service, who is shown what waits. */
  readonly isAdministrator?: boolean;
  /** The hidden field for every form on the page. */
  readonly csrfField: Html;
  /** True if the page shows an error. Then drafts of the form are kept. */
  readonly isFailure?: boolean;
  /** The signed-in user; absent for strangers. */
  readonly account?:
    | {
        readonly name: string;
        readonly detail: string;
        readonly signOutHref: string;
        /** The page of the reader's own account, which the name links to. */
        readonly href?: string;
      }
    | undefined;
  /** A message from the previous request. */
  readonly flash?: Content;
  /** Set if browsers can install the service, on pages of a signed-in visitor. */
  readonly install?: {
    /** Path of the manifest. */
    readonly manifest: string;
    /** Name of the asset that iOS shows as icon. */
    readonly touchIcon: string;
    /** Id of the account, for what a browser keeps of it. */
    readonly account: string;
    /** Path of the service worker; undefined if it is turned off. */
    readonly worker: string | undefined;
  };
  /** Address of the search in the frame, which gets the text as `q`, and its current value. */
  readonly search?: { readonly href: string; readonly label: string; readonly value: string };
}

/** Parts that pages of a public site have besides the {@link Frame}. */
export interface SiteFrame extends Frame {
  readonly search: NonNullable<Frame['search']>;
  /** Links for visitors who are not signed in. */
  readonly visitorLinks: readonly { readonly href: string; readonly label: string }[];
  /** Names of the stylesheets of the site. */
  readonly styles: readonly string[];
  /** Links at the end of each page. */
  readonly footer: readonly { readonly href: string; readonly label: string }[];
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
  /** Names of the stylesheets that only this page needs. */
  readonly styles?: readonly string[];
  /** Names of the browser modules that only this page needs. */
  readonly modules?: readonly string[];
  /** Data for search engines and for shared links: addresses are absolute. */
  readonly sharing?: Sharing;
}

export interface Sharing {
  readonly description: string;
  /** The path of the one address of this page. */
  readonly path: string;
  /** The path of a PNG of 1200 by 630 pixels: networks do not draw SVG. */
  readonly image?: string;
}

/** A page of a service: navigation and account at the side (on a phone, in a menu), title and content. */
export function layout(frame: Frame, page: PageContent): string {
  const body = html`<body class="app"><a class="skip" href="#main">Skip to content</a>
<header class="bar">${brand(frame)}${menuButton('show', 'Menu', 'menu')}
<div class="site" id="site-menu" popover>${menuButton('hide', 'Close menu', 'close')}${searchForm(frame)}${navigation(frame)}
<div class="account">${account(frame)}</div></div></header>
<main id="main" tabindex="-1">${head(page)}${frame.flash}${waitingLinks(frame)}${page.main}</main>${themeSwitch(frame)}</body>`;
  return documentOf(frame, page, body);
}

/** A page of a service with a single page: name, title and content in one column, without navigation. */
export function single(frame: Frame, page: PageContent): string {
  const body = html`<body class="single"><header class="top">${brand(frame)}</header>
<main id="main" tabindex="-1">${head(page)}${frame.flash}${page.main}</main>${themeSwitch(frame)}</body>`;
  return documentOf(frame, page, body);
}

/** A page of a public site: name, search and account at the top, the page in one column, links at the end. The page brings its own `h1`. */
export function site(frame: SiteFrame, page: PageContent): string {
  const { visitorLinks, footer } = frame;
  const link = ({ href, label }: { href: string; label: string }) =>
    html`<li><a href="${href}">${label}</a></li>`;
  const body = html`<body class="site"><a class="skip" href="#main">Skip to content</a>
<header class="mast">${brand(frame)}${searchForm(frame)}
<nav aria-label="Main"><ul>${frame.navigation.map(link)}${!frame.account && visitorLinks.map(link)}</ul></nav>${account(frame)}</header>
<main id="main" tabindex="-1">${frame.flash}${waitingLinks(frame)}${page.main}</main>
<footer class="foot"><ul>${footer.map(link)}</ul>${themeSwitch(frame)}</footer></body>`;
  return documentOf(frame, { ...page, styles: [...frame.styles, ...(page.styles ?? [])] }, body);
}

/** A page without navigation, such as the sign-in: name, title and content in one narrow column. */
export function standalone(frame: Frame, page: PageContent): string {
  const body = html`<body class="alone"><main id="main" tabindex="-1" class="stack">${brand(frame)}
${frame.flash}<div class="card stack"><h1>${page.title}</h1>${page.lead && html`<p class="muted">${page.lead}</p>`}${page.main}</div></main>
${themeSwitch(frame)}</body>`;
  return documentOf(frame, page, body);
}

/** A page that is nothing but its content, for a frame on another site or a whole screen. The page brings its own `h1`. */
export function bare(frame: Frame, page: PageContent): string {
  return documentOf(
    frame,
    page,
    html`<body class="bare"><main id="main" tabindex="-1">${page.main}</main></body>`,
  );
}

/** On the start page, links to what waits for administrators. */
function waitingLinks({ suite, isAdministrator, path, home = '/', navigation }: Frame): Html | undefined {
  const here = path.replace(/\?.*/s, '');
  const isStart = home === '/' && (here === home || here === navigation[0]?.href);
  const waiting = isAdministrator && isStart ? (suite?.waitingAt(suite.own.name) ?? []) : [];
  if (waiting.length === 0) return undefined;
  return html`<p class="actions waiting" role="group" aria-label="Waiting for you">${waiting.map(({ text, path: href }) => html`<a class="badge warn" href="${href}">${text}</a>`)}</p>`;
}

function head(page: PageContent): Html {
  const { parent, title, lead, actions } = page;
  return html`<div class="head"><div>${parent && html`<a class="crumb" href="${parent.href}">${parent.label}</a>`}
<h1>${title}</h1>${lead && html`<p>${lead}</p>`}</div>${actions && html`<div class="actions">${actions}</div>`}</div>
`;
}

function documentOf(frame: Frame, page: PageContent, body: Html): string {
  const modules = ['octavo.js', ...(page.modules ?? [])];
  const scheme = frame.theme === 'auto' ? undefined : frame.theme;
  return html`<!doctype html><html lang="en"${attributes({ 'data-theme': scheme, 'data-accent': frame.suite?.own.mark.accent, 'data-failure': frame.isFailure, 'data-account': frame.install?.account, 'data-worker': frame.install?.worker })}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${page.title === frame.service ? page.title : `${page.title} · ${frame.service}`}</title>${iconLink(frame)}${frame.install && html`<link rel="manifest" href="${frame.install.manifest}"><link rel="apple-touch-icon" href="${frame.assets.url(frame.install.touchIcon)}">`}
${page.sharing && sharing(frame, page.title, page.sharing)}${['octavo.css', ...(page.styles ?? [])].map((name) => html`<link rel="stylesheet" href="${frame.assets.url(name)}">`)}
${modules.map((name) => html`<script type="module" src="${frame.assets.url(name)}"></script>`)}</head>
${body}</html>`.toString();
}

/** The icon of a page. Without one, browsers ask for `/favicon.ico`. */
export function iconLink({ suite, assets }: Pick<Frame, 'suite' | 'assets'>): Html {
  return html`<link rel="icon" href="${suite ? iconAddress : assets.url('icon.svg')}">`;
}

/** https://ogp.me */
function sharing(frame: Frame, title: string, { description, path, image }: Sharing): Html {
  const url = `${frame.origin}${path}`;
  return html`<meta name="description" content="${description}"><link rel="canonical" href="${url}">
<meta property="og:type" content="website"><meta property="og:site_name" content="${frame.service}"><meta property="og:title" content="${title}">
<meta property="og:description" content="${description}"><meta property="og:url" content="${url}">
${
  image &&
  html`<meta property="og:image" content="${frame.origin}${image}"><meta property="og:image:type" content="image/png">
<meta property="og:image:width" content="1200"><meta property="og:image:height" content="630"><meta name="twitter:card" content="summary_large_image">`
}`;
}

function brand(frame: Frame): Html {
  const { home = '/', service, suite, origin, isSignedIn = false, isAdministrator = false } = frame;
  return html`<div class="home"><a class="brand" href="${home}">${mark(suite?.own.mark)}${service}</a><button type="button" class="quiet only-icon" data-palette hidden title="Search and go to (Ctrl+K)">${icon('search')}<span class="hidden">Search and go to</span></button>${suite && trustedHtml(suite.menu({ origin, isSignedIn, isAdministrator }))}</div>`;
}

// A popover opens without JavaScript, closes on Escape and on a click beside it, and is always visible on a wide window.
function menuButton(action: 'show' | 'hide', label: string, symbol: IconName): Html {
  return html`<button type="button" class="quiet menu-button" popovertarget="site-menu" popovertargetaction="${action}">${icon(symbol)}
${action === 'show' ? label : html`<span class="hidden">${label}</span>`}</button>`;
}

function navigation(frame: Frame): Html {
  const here = frame.path.replace(/\?.*/s, '');
  const current = frame.navigation
    .filter(
      ({ href, below = href }) => here === href || isBelow(here, below) || isFilteredBy(frame.path, href),
    )
    .sort(byLength)
    .at(-1);
  return html`<nav aria-label="Main"><ul>${frame.navigation.map(
    (item, index) =>
      html`${item.group !== frame.navigation[index - 1]?.group && html`<li class="group">${item.group}</li>`}${entry(item, item === current)}`,
  )}</ul></nav>`;
}

/** True for `/list?a=1&page=2` and the entry `/list?a=1`. */
const isFilteredBy = (path: string, href: string) => path === href || path.startsWith(`${href}&`);

function entry(
  { href, icon: symbol, label, extra, actions, searches }: NavigationItem,
  isCurrent: boolean,
): Html {
  const current = attributes({
    'aria-current': isCurrent && 'page',
    title: actions && label,
    'data-search': searches,
  });
  return html`<li${attributes({ class: actions && 'own' })}><a href="${href}"${current}>${icon(symbol)}${actions ? html`<span>${label}</span>` : label}${extra}</a>${actions}</li>`;
}

function searchForm({ search }: Frame): Content {
  if (!search) return undefined;
  const { href, label, value } = search;
  return html`<form role="search" aria-label="${label}" action="${href}"><label class="hidden" for="site-search">${label}</label>
<input type="search" id="site-search" name="q" value="${value}" placeholder="${label}" maxlength="500">
<button class="quiet only-icon" title="${label}">${icon('search')}<span class="hidden">${label}</span></button></form>`;
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function byLength(a: NavigationItem, b: NavigationItem): number {
  return a.href.length - b.href.length;
}

function account(frame: Frame): Content {
  if (!frame.account) return undefined;
  const { name, detail, signOutHref, href } = frame.account;
  const who = html`<b>${name}</b><small class="muted">${detail}</small>`;
  return html`<div class="who">${href ? html`<a href="${href}" title="Your account">${who}</a>` : html`<span>${who}</span>`}
<form method="post" action="${signOutHref}" data-sign-out>${frame.csrfField}<button class="quiet only-icon" title="Sign out">${icon('out')}<span class="hidden">Sign out</span></button></form></div>`;
}

function themeSwitch(frame: Frame): Html {
  const choices = [
    ['auto', 'System theme', 'screen'],
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

import { type Mark, type Suite, type SuiteSite, signInPath } from '@octavo/core';
import { attributes, type Html, html, trustedHtml } from './html.ts';
import { icon } from './icons.ts';

/** The mark of a service: its icon in white on its color. Screen readers ignore it, so its name stands beside it. */
export function mark({ icon: name, accent }: Mark = ownMark): Html {
  return html`<svg class="mark" viewBox="0 0 22 22" aria-hidden="true"><rect width="22" height="22" rx="6" fill="${colorOf(accent)}"/>${trustedHtml(shapeOf(name))}</svg>`;
}

/** A suite as its sites are known when a page is made. */
export function createSuite({
  own,
  sites,
  waitingAt = () => [],
}: Pick<Suite, 'own' | 'sites'> & Partial<Pick<Suite, 'waitingAt'>>): Suite {
  return {
    own,
    sites,
    waitingAt,
    menu: (visitor) => menuOf({ own, sites, waitingAt }, visitor),
    iconFile: markFile(own.mark),
  };
}

function markFile({ icon: name, accent }: Mark): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 22"><rect width="22" height="22" rx="6" fill="${colorOf(accent)}"/><g fill="none" stroke="#fff" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round">${shapeOf(name)}</g></svg>`;
}

type Visitor = Parameters<Suite['menu']>[0];

/** A button that opens the menu. It works by keyboard and without JavaScript. */
function menuOf(suite: Pick<Suite, 'own' | 'sites' | 'waitingAt'>, visitor: Visitor): string {
  const { own, waitingAt } = suite;
  const sites = suite.sites();
  if (sites.length < 2) return '';
  const link = (site: SuiteSite) => {
    const { name, title, mark: sign } = site;
    const waiting = visitor.isAdministrator ? waitingAt(name).map(({ text }) => text) : [];
    return html`<a href="${addressFor(site, own, visitor)}"${attributes({ 'aria-current': name === own.name && 'true' })}>${mark(sign)}<span>${title}${waiting.length > 0 && html`<small>${waiting.join(', ')}</small>`}</span></a>`;
  };
  return html`<details class="menu suite"><summary class="quiet only-icon" title="All services">${icon('grid')}<span class="hidden">All services</span></summary>
<div>${sites.map(link)}</div></details>`.toString();
}

function addressFor({ url, hasOneSignIn }: SuiteSite, own: Suite['own'], visitor: Visitor): string {
  const address = new URL(url);
  if (['0.0.0.0', '[::]'].includes(address.hostname)) address.hostname = new URL(visitor.origin).hostname;
  if (!visitor.isSignedIn || !hasOneSignIn) return address.href;
  // Who is signed in at the provider is asked nothing there. From elsewhere, who is not comes as a stranger.
  const quietly = own.isProvider ? '' : '&prompt=none';
  return `${signInAddress(address.href, '/')}${quietly}`;
}

/** Address at which a service signs people in by the provider of the suite, before it opens a path of its own. */
export function signInAddress(url: string, next: string): string {
  return `${url.replace(/\/$/, '')}${signInPath}?next=${next}`;
}

const ownMark: Mark = { icon: 'book', accent: 'indigo' };

export type MarkAccent = keyof typeof accents;
export type MarkIcon = keyof typeof shapes;

/**
 * Colors that white text is readable on, with a contrast of at least 4.5: of the mark and of light pages, then of dark pages, where it also
 * stands out from what is around it.
 */
export const accents = {
  indigo: ['#4f46e5', '#6b64e9'],
  blue: ['#1d6fd0', '#2775d2'],
  violet: ['#7c3aed', '#8c53ef'],
  teal: ['#0f766e', '#25827b'],
  green: ['#15803d', '#218647'],
  amber: ['#a15c07', '#a76717'],
  red: ['#c2372e', '#c84c44'],
  pink: ['#be185d', '#ca437b'],
  slate: ['#475569', '#6b7686'],
  cyan: ['#0e7490', '#228099'],
  plum: ['#86198f', '#a757ad'],
} as const;

/** Rules that give a page the color of its service, which its root names in `data-accent`. */
export function accentRules(): string {
  const rules = Object.entries(accents).map(([name, [light, dark]]) => {
    const selector = name === ownMark.accent ? ':root' : `:root[data-accent="${name}"]`;
    return `${selector}{--tint:light-dark(${light},${dark})}`;
  });
  return rules.join('');
}

function colorOf(accent: string): string {
  return (Object.hasOwn(accents, accent) ? accents[accent as MarkAccent] : accents.indigo)[0];
}

function shapeOf(name: string): string {
  return Object.hasOwn(shapes, name) ? shapes[name as keyof typeof shapes] : shapes.book;
}

const shapes = {
  book: '<path d="M11 7c-1.6-1.2-3.6-1.5-5.5-1.2v9c1.9-.3 3.9 0 5.5 1.2 1.6-1.2 3.6-1.5 5.5-1.2v-9C14.6 5.5 12.6 5.8 11 7zm0 0v9"/>',
  pen: '<path d="M13.6 5.6 16.4 8.4 9 15.8l-3.6.8.8-3.6zM12 7.2 14.8 10"/>',
  person: '<circle cx="11" cy="8.2" r="2.7"/><path d="M5.6 16.4a5.4 5.4 0 0 1 10.8 0"/>',
  key: '<circle cx="8" cy="11" r="2.8"/><path d="M10.8 11h6v2.4M14 11v2"/>',
  bars: '<path d="M5.5 16.4h11M7.4 16.2v-4.6M11 16.2V5.8M14.6 16.2V9"/>',
  quote: '<path d="M9.8 7C7.6 7.4 6 9.2 6 11.6v3h4v-4H8M16.4 7c-2.2.4-3.8 2.2-3.8 4.6v3h4v-4h-2"/>',
  wallet: '<path d="M5.5 7.5v8h11v-7h-10a1 1 0 0 1 0-2h8.5v2M14 12v.01"/>',
  bubble: '<path d="M5.5 6.2h11v8H11l-3 2.5v-2.5H5.5z"/>',
  case: '<path d="M5.5 8.4h11v7.4h-11zM8.6 8.2V6.2h4.8v2M5.5 11.8h11"/>',
  link: '<path d="M9.4 12.6 12.6 9.4M10 7.6l1.6-1.6a3 3 0 0 1 4.4 4.4L14.4 12M12 14.4 10.4 16A3 3 0 0 1 6 11.6L7.6 10"/>',
  calendar: '<path d="M5.5 6.8h11v9.4h-11zM5.5 9.8h11M8.4 5.4v2.4M13.6 5.4v2.4"/>',
} as const;

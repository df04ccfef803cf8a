import { errorPage as kitErrorPage } from '#kit/html/error-page.ts';
import { attributes, type Html, html } from '#kit/html/html.ts';
import { icon } from '#kit/html/icons.ts';
import { type Frame, type NavigationItem, standalone } from '#kit/html/layout.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { HttpError } from '#kit/http/options.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import type { Session } from '../sessions/index.ts';

export interface Aside {
  readonly sessions: readonly Session[];
  readonly isSignedIn: boolean;
}

/** What every page shows: the chats at the side, each with links to rename and to delete it. */
export function frameOf(visit: Visit<never>, aside?: Aside): Frame {
  const { sessions = [], isSignedIn = false } = aside ?? {};
  const frame = visit.frame();
  const chats = sessions.map(
    (session): NavigationItem => ({
      ...{ href: pathOf(pageRoutes.chat, session.id), label: session.title, icon: 'comment', group: 'Chats' },
      actions: chatActions(session, frame.path),
    }),
  );
  const all = { href: pageRoutes.chats, label: 'All chats', icon: 'search', group: 'Chats' } as const;
  const navigation: NavigationItem[] = [
    // Every page is below `/`.
    { href: pageRoutes.home, below: pageRoutes.ask, label: 'New chat', icon: 'plus' },
    { href: pageRoutes.documents, label: 'Documents', icon: 'list' },
    ...chats,
    ...(sessions.length > 0 ? [all] : []),
  ];
  const account = { name: 'Signed in', detail: 'with a key or a token', signOutHref: pageRoutes.signOut };
  return {
    ...{ ...frame, service: 'Chat', navigation, flash: visit.takeFlash() },
    account: isSignedIn ? account : undefined,
  };
}

/** Links to rename and to delete a chat, which lead back to the page that they are on. */
export function chatActions({ id, title }: Session, path: string): Html {
  const back = new URLSearchParams({ back: path }).toString();
  return html`<a class="button quiet only-icon" href="${pathOf(pageRoutes.renameChat, id)}?${back}" title="Rename" data-dialog>${icon('edit')}<span class="hidden">Rename ${title}</span></a>
<a class="button quiet only-icon" href="${pathOf(pageRoutes.deleteChat, id)}?${back}" title="Delete" data-dialog>${icon('trash')}<span class="hidden">Delete ${title}</span></a>`;
}

export function errorPage(visit: Visit<never>, error: HttpError): string {
  const home =
    error.status === 401
      ? { href: pageRoutes.signIn, label: 'Sign in' }
      : { href: pageRoutes.home, label: 'Go to the start page' };
  return kitErrorPage(frameOf(visit), error, { requestId: visit.request.id, home });
}

/** The sign-in of browsers: the key or the token that programs send with each request. */
export function signInPage(visit: Visit<never>, problem?: string): string {
  const frame = frameOf(visit);
  const error = problem && html`<p class="notice bad" role="alert" id="key-problem">${problem}</p>`;
  return standalone(frame, {
    title: 'Sign in',
    lead: 'With your API key, or with a token.',
    main: html`<form class="form" method="post" action="${pageRoutes.signIn}">${frame.csrfField}${error}
<label for="key">Key or token</label><input id="key" name="key" type="password" required autocomplete="current-password"${attributes({ 'aria-describedby': problem && 'key-problem', 'aria-invalid': problem && 'true' })}>
<p class="actions"><button>Sign in</button></p></form>`,
  });
}

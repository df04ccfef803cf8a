import type { OidcSignIn } from '@octavo/people/sign-in';
import {
  attributes,
  type Frame,
  type Html,
  html,
  icon,
  type NavigationItem,
  standalone,
} from '@octavo/web/html';
import type { Visit } from '@octavo/web/pages';
import { pageRoutes, pathOf } from '../routes.ts';
import type { Session } from '../sessions/index.ts';

export interface Aside {
  readonly sessions: readonly Session[];
  readonly isSignedIn: boolean;
  /** Signed in by the OpenID provider. */
  readonly isPerson: boolean;
  /** They may connect a model. */
  readonly mayConnect: boolean;
  /** Strangers may sign in with the provider. */
  readonly offersSignIn: boolean;
}

/** Returns the frame of every page: the chats at the side, each with links to rename and to delete it. */
export function frameOf(visit: Visit<never>, aside?: Aside): Frame {
  const {
    sessions = [],
    isSignedIn = false,
    isPerson = false,
    offersSignIn = false,
    mayConnect = false,
  } = aside ?? {};
  const frame = visit.frame();
  const chats = sessions.map(
    (session): NavigationItem => ({
      href: pathOf(pageRoutes.chat, session.id),
      label: session.title,
      icon: 'comment',
      group: 'Chats',
      actions: chatActions(session, frame.path),
    }),
  );
  const all = {
    href: pageRoutes.chats,
    label: 'All chats',
    icon: 'search',
    group: 'Chats',
    searches: 'q',
  } as const;
  const settings = { href: pageRoutes.settings, label: 'Settings', icon: 'settings' } as const;
  const signIn = { href: pageRoutes.signIn, label: 'Sign in', icon: 'lock', group: 'Account' } as const;
  const navigation: NavigationItem[] = [
    // Every page is below `/`.
    { href: pageRoutes.home, below: pageRoutes.ask, label: 'New chat', icon: 'plus' },
    { href: pageRoutes.documents, label: 'Documents', icon: 'list' },
    ...(mayConnect ? [settings] : []),
    ...chats,
    ...(sessions.length > 0 ? [all] : []),
    ...(offersSignIn && !isSignedIn ? [signIn] : []),
  ];
  const detail = isPerson ? 'with your account' : 'with a key or a token';
  const account = {
    name: 'Signed in',
    detail,
    signOutHref: pageRoutes.signOut,
    ...(isPerson && { href: pageRoutes.account }),
  };
  return {
    ...frame,
    service: 'Chat',
    isAdministrator: mayConnect,
    navigation,
    flash: visit.takeFlash(),
    isSignedIn: isPerson,
    account: isSignedIn ? account : undefined,
  };
}

/** Links to rename and to delete a chat, which lead back to the page that they are on. */
export function chatActions({ id, title }: Session, path: string): Html {
  const back = new URLSearchParams({ back: path }).toString();
  return html`<a class="button quiet only-icon" href="${pathOf(pageRoutes.renameChat, id)}?${back}" title="Rename" data-dialog>${icon('edit')}<span class="hidden">Rename ${title}</span></a>
<a class="button quiet only-icon" href="${pathOf(pageRoutes.deleteChat, id)}?${back}" title="Delete" data-dialog>${icon('trash')}<span class="hidden">Delete ${title}</span></a>`;
}

/** The sign-in of browsers: the key or the token that programs send with each request. */
export async function signInPage(
  visit: Visit<never>,
  { oidc, hasKeys }: { oidc: OidcSignIn<never> | undefined; hasKeys: boolean },
  problem?: string,
): Promise<string> {
  const choice = await oidc?.choice(pageRoutes.home, !hasKeys);
  const frame = frameOf(visit);
  const error = problem && html`<p class="notice bad" role="alert" id="key-problem">${problem}</p>`;
  return standalone(frame, {
    title: 'Sign in',
    lead: hasKeys ? 'Use your API key or a token.' : undefined,
    main: html`${frame.flash}${choice}${
      hasKeys &&
      html`<form class="form" method="post" action="${pageRoutes.signIn}">${frame.csrfField}${error}
<label for="key">Key or token</label><input id="key" name="key" type="password" required autocomplete="current-password"${attributes({ 'aria-describedby': problem && 'key-problem', 'aria-invalid': problem && 'true' })}>
<p class="actions"><button>Sign in</button></p></form>`
    }`,
  });
}

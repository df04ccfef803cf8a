import { linkButton } from '#kit/html/blocks.ts';
import { attributes, html } from '#kit/html/html.ts';
import { type Frame, type NavigationItem, standalone } from '#kit/html/layout.ts';
import type { Visit } from '#kit/html/visit.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import type { Session } from '../sessions/index.ts';

/** What every page shows: the chats at the side. */
export function frameOf(visit: Visit<never>, sessions: readonly Session[] = []): Frame {
  const chats = sessions.map(
    ({ id, title }): NavigationItem => ({
      ...{ href: pathOf(pageRoutes.chat, id), label: title, icon: 'comment', group: 'Chats' },
    }),
  );
  const navigation: NavigationItem[] = [
    { href: pageRoutes.home, label: 'New chat', icon: 'plus' },
    { href: pageRoutes.documents, label: 'Documents', icon: 'list' },
    ...chats,
  ];
  return { ...visit.frame(), service: 'Chat', navigation, flash: visit.takeFlash() };
}

export function errorPage(visit: Visit<never>, error: { status: number; message: string }): string {
  return standalone(frameOf(visit), {
    title: error.status === 404 ? 'Page not found' : 'Something went wrong',
    main: html`<p>${error.message}</p><p class="actions">${linkButton(pageRoutes.home, 'Go to the start page')}</p>
<p class="small muted">Request <code>${visit.request.id}</code></p>`,
  });
}

/** The sign-in of browsers: the key or the token that programs send with each request. */
export function signInPage(visit: Visit<never>, problem?: string): string {
  const error = problem && html`<p class="notice bad" role="alert" id="key-problem">${problem}</p>`;
  return standalone(frameOf(visit), {
    title: 'Sign in',
    lead: 'With your API key, or with a token.',
    main: html`<form class="form" method="post" action="${pageRoutes.signIn}">${frameOf(visit).csrfField}${error}
<label for="key">Key or token</label><input id="key" name="key" type="password" required autocomplete="current-password"${attributes({ 'aria-describedby': problem && 'key-problem', 'aria-invalid': problem && 'true' })}>
<p class="actions"><button>Sign in</button></p></form>`,
  });
}

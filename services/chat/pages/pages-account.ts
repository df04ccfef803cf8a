import { AppError } from '@octavo/core';
import { addLeavingPage, type Leaver } from '@octavo/people/sign-in';
import { card, facts, html, layout, linkButton } from '@octavo/web/html';
import type { Visit } from '@octavo/web/pages';
import { erasePerson } from '../erasure.ts';
import { namesOf } from '../gate/index.ts';
import { personOwner } from '../owner.ts';
import { pageRoutes } from '../routes.ts';
import { framed, type PageParts, type Routes } from './pages-visitor.ts';

/** The page of a person of the OpenID provider, and the one to leave. Keys and tokens have no account here. */
export function addAccountPages(routes: Routes, parts: PageParts): void {
  const { gate, clock, oidc, database } = parts;
  if (!oidc) return;
  const find = async ({ request }: Visit<never>): Promise<Leaver | undefined> => {
    const person = gate.personOf(request.cookies, clock.now());
    if (!person) return undefined;
    const owner = personOwner(person.account);
    return { account: person.account, name: (await namesOf(database, [owner])).get(owner) };
  };
  const frameFor = (visit: Visit<never>, account: string) =>
    framed(parts, { visit, owner: personOwner(account) });
  routes.get(pageRoutes.account, { access: 'public' }, async (visit) => {
    const person = await find(visit);
    if (!person) return visit.redirect(pageRoutes.signIn);
    const connection = await oidc.connection(visit, person.account, pageRoutes.account);
    return layout(await frameFor(visit, person.account), {
      title: 'Your account',
      styles: ['chat.css'],
      main: html`<div class="stack">${card('Profile', facts([['Name', person.name ?? 'none']]))}${connection}${card(
        'Erase your account',
        html`<p>The next page says what is erased.</p><p class="actions">${linkButton(pageRoutes.leave, 'Erase account')}</p>`,
      )}</div>`,
    });
  });
  addLeavingPage<never>(routes, {
    service: 'Chat',
    paths: {
      leave: pageRoutes.leave,
      account: pageRoutes.account,
      signIn: pageRoutes.signIn,
      after: gate.requiresSignIn ? pageRoutes.signIn : pageRoutes.home,
    },
    erased: [
      'Your name and sign-ins',
      'Your chats, with questions, answers and ratings',
      'Your documents, also those that you shared with everyone',
    ],
    kept: [],
    oidc,
    find,
    erase: (_visit, { account }) => erasePerson(parts, account),
    signOut: (visit) => gate.forget(visit.reply),
    async render(visit, page) {
      const person = await find(visit);
      if (!person) throw new AppError('unauthenticated', 'You are no longer signed in.');
      return layout(await frameFor(visit, person.account), { styles: ['chat.css'], ...page });
    },
  });
}

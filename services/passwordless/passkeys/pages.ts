import type { Static, TSchema } from '@octavo/core';
import { AppError, type Fields } from '@octavo/core';
import {
  badge,
  card,
  confirm,
  errorSummary,
  type Frame,
  field,
  formProblem,
  type Html,
  html,
  layout,
  linkButton,
  notice,
  table,
  time,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { visitorOf } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import type { RequestLimits } from '../limits.ts';
import { type AccountCard, type PageContext, type PageVisit, senderOf } from '../pages/pages.ts';
import { placeAfterSignIn, signInVisit } from '../pages/sign-in.ts';
import { pageRoutes } from '../routes.ts';
import type { Caller, Sessions, TokenPair } from '../sessions/index.ts';
import { passkeyErrors } from './errors.ts';
import { nameCharactersMax, type Passkey, passkeysMax } from './passkey.ts';
import type { Passkeys } from './passkeys.ts';
import type { PasskeySignIns } from './sign-ins.ts';
import { Asserted, assertionOf, Registered, registrationOf } from './verification/responses.ts';

interface PasskeyPages {
  readonly pages: PageContext;
  readonly passkeys: Passkeys;
  readonly passkeySignIns: PasskeySignIns;
  readonly sessions: Sessions;
  readonly limits: RequestLimits;
}

const json = { accepts: 'application/json' } as const;

export function addPasskeyPages(routes: PageRoutes<TokenPair>, parts: PasskeyPages): void {
  addSignIn(routes, parts);
  addRegistration(routes, parts);
  addNaming(routes, parts);
  addRemoval(routes, parts);
}

/** The script of the sign-in page sends these. */
function addSignIn(routes: PageRoutes<TokenPair>, parts: PasskeyPages): void {
  const { passkeySignIns, sessions, limits } = parts;
  routes.post(pageRoutes.signInByPasskeyOptions, { access: 'public', ...json }, async (visit) => {
    await limits.post(visit.request, visit.reply);
    return sendJson(visit, await passkeySignIns.begin(undefined));
  });
  routes.post(pageRoutes.signInByPasskey, { access: 'public', ...json }, async (visit) => {
    await limits.verify(visit.request, visit.reply);
    const sent = bodyOf(visit, Asserted);
    const visitor = visitorOf(visit.request);
    const pair = await passkeySignIns.complete(sent.pending_id, assertionOf(sent), visitor);
    await signInVisit(visit, sessions, pair);
    return sendJson(visit, { location: placeAfterSignIn(visit) });
  });
}

/** The script of the account page sends these. */
function addRegistration(routes: PageRoutes<TokenPair>, parts: PasskeyPages): void {
  const { pages, passkeys, sessions, limits } = parts;
  routes.get(pageRoutes.addPasskey, { access: 'public' }, async (visit) => visit.redirect(pageRoutes.home));
  routes.post(
    pageRoutes.addPasskeyOptions,
    { access: pages.signedIn, ...json },
    async ({ visit, caller }) => {
      await limits.enroll(visit.request, visit.reply);
      const { email } = caller.user;
      return sendJson(visit, await passkeys.begin({ email, caller, ...senderOf(visit) }));
    },
  );
  routes.post(pageRoutes.addPasskey, { access: pages.signedIn, ...json }, async ({ visit }) => {
    await limits.verify(visit.request, visit.reply);
    const sent = bodyOf(visit, Registered);
    const { pending_id: pendingId, name } = sent;
    const result = { pendingId, name, response: registrationOf(sent), ...senderOf(visit) };
    const { tokens, passkey } = await passkeys.complete(result);
    // The user is signed in already.
    await sessions.revoke(tokens.refresh_token);
    visit.leaveFlash({ tone: 'good', text: `The passkey “${passkey.name}” is added.` });
    return sendJson(visit, { location: pageRoutes.home });
  });
}

function addNaming(routes: PageRoutes<TokenPair>, { pages, passkeys }: PasskeyPages): void {
  routes.get(pageRoutes.editPasskey, { access: pages.signedIn }, async ({ visit, caller }) =>
    namingPage(pages.frameOf(visit, caller), { passkey: await ownPasskey(passkeys, caller, idIn(visit)) }),
  );
  routes.post(pageRoutes.editPasskey, { access: pages.signedIn }, async ({ visit, caller }) => {
    const [id, name] = [visit.field('id'), visit.field('name')];
    const passkey = await ownPasskey(passkeys, caller, id);
    try {
      await passkeys.rename(caller, id, name);
    } catch (error) {
      const { status, problem } = formProblem(error, {});
      const { fields = {} } = error as AppError;
      visit.reply.code(status);
      return namingPage(pages.frameOf(visit, caller), {
        passkey,
        name,
        errors: fields,
        problem: fields.name ? undefined : problem,
      });
    }
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'The passkey is renamed.' });
  });
}

function addRemoval(routes: PageRoutes<TokenPair>, { pages, passkeys }: PasskeyPages): void {
  routes.get(pageRoutes.removePasskey, { access: pages.signedIn }, async ({ visit, caller }) =>
    removalPage(pages.frameOf(visit, caller), await ownPasskey(passkeys, caller, idIn(visit))),
  );
  routes.post(pageRoutes.removePasskey, { access: pages.signedIn }, async ({ visit, caller }) => {
    const id = visit.field('id');
    const passkey = await ownPasskey(passkeys, caller, id);
    try {
      await passkeys.remove(caller, id, senderOf(visit));
    } catch (error) {
      const { status, problem } = formProblem(error, {});
      visit.reply.code(status);
      return removalPage(pages.frameOf(visit, caller), passkey, problem);
    }
    const text = `The passkey “${passkey.name}” is removed.`;
    return visit.redirect(pageRoutes.home, { tone: 'good', text });
  });
}

function idIn({ request }: PageVisit): string {
  const { id } = request.query as { id?: unknown };
  return typeof id === 'string' ? id : '';
}

async function ownPasskey(passkeys: Passkeys, caller: Caller, id: string): Promise<Passkey> {
  const passkey = (await passkeys.of(caller)).find((each) => each.id === id);
  if (!passkey) throw passkeyErrors.notFound();
  return passkey;
}

function bodyOf<S extends TSchema>({ request }: PageVisit, schema: S): Static<S> {
  const result: unknown = request.validateInput(request.body, schema);
  if (result === false || (result as { error?: unknown }).error !== undefined) {
    throw new AppError('invalid_input', 'Your browser sent an unexpected response.');
  }
  return request.body as Static<S>;
}

function sendJson({ reply }: PageVisit, value: object): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(value));
}

export function passkeysCard(service: Passkeys): AccountCard {
  return async (frame, { caller, isFresh }) => {
    const [passkeys, accepted] = await Promise.all([service.of(caller), service.acceptedCredentials(caller)]);
    return card(
      'Passkeys',
      html`<div class="stack">${passkeys.length > 0 ? passkeyTable(passkeys, isFresh) : introduction}
${isFresh && (passkeys.length < passkeysMax ? addForm(frame) : html`<p class="muted">You have ${passkeysMax} passkeys, the most allowed. Remove one to add another.</p>`)}
${accepted && html`<span hidden data-accepted="${JSON.stringify(accepted)}"></span>`}</div>`,
    );
  };
}

const introduction = html`<p class="muted">Sign in with your fingerprint, face or device PIN. There is nothing to type, and nothing that can be phished.</p>`;

function passkeyTable(passkeys: readonly Passkey[], isFresh: boolean): Html {
  return table<Passkey>({
    caption: 'Passkeys',
    columns: [
      {
        header: 'Name',
        kind: 'main',
        cell: ({ name, isBackedUp }) => html`${name} ${isBackedUp && badge('plain', 'synced')}`,
      },
      { header: 'Added', kind: 'fit', cell: ({ createdAtMs }) => time(createdAtMs) },
      {
        header: 'Last used',
        kind: 'fit',
        cell: ({ lastUsedAtMs }) => (lastUsedAtMs === undefined ? 'Never' : time(lastUsedAtMs)),
      },
      { header: 'Change', kind: 'row-actions', cell: (passkey) => actions(passkey, isFresh) },
    ],
    rows: passkeys,
  });
}

function actions({ id, name }: Passkey, isFresh: boolean): Html {
  const query = `?id=${encodeURIComponent(id)}`;
  return html`<a href="${pageRoutes.editPasskey}${query}">Rename<span class="hidden"> ${name}</span></a>
${isFresh && html`<a href="${pageRoutes.removePasskey}${query}" data-dialog>Remove<span class="hidden"> ${name}</span></a>`}`;
}

/** The button works where scripts run and the browser supports passkeys. */
function addForm(frame: Frame): Html {
  return html`<form class="form stack" method="post" action="${pageRoutes.addPasskey}" data-options="${pageRoutes.addPasskeyOptions}" data-passkey-add>${frame.csrfField}
${nameField({ help: 'To recognize it later, such as “Work laptop”. You can leave it empty.' })}
<button disabled>Add a passkey</button><p class="notice bad" role="alert" data-message hidden></p>
<p class="help" data-without>Passkeys need JavaScript and a browser that supports them.</p></form>`;
}

function namingPage(
  frame: Frame,
  {
    passkey,
    name = passkey.name,
    errors = {},
    problem,
  }: { passkey: Passkey; name?: string; errors?: Fields; problem?: string | undefined },
): string {
  return layout(frame, {
    title: passkey.name,
    parent: { href: pageRoutes.home, label: 'Account' },
    lead: html`Added ${time(passkey.createdAtMs)}`,
    main: html`${problem && notice('bad', problem)}${errorSummary(errors, { name: 'Name' })}
<div class="card form"><form class="stack" method="post" action="${pageRoutes.editPasskey}" novalidate>${frame.csrfField}<input type="hidden" name="id" value="${passkey.id}">
${nameField({ value: name, error: errors.name })}
<div class="actions"><button>Save</button>${linkButton(pageRoutes.home, 'Cancel', 'quiet')}</div></form></div>`,
  });
}

function nameField(given: { value?: string; error?: string | undefined; help?: string }): Html {
  return field({
    name: 'name',
    label: 'Name',
    attributes: { maxlength: nameCharactersMax, autocomplete: 'off' },
    ...given,
  });
}

function removalPage(frame: Frame, passkey: Passkey, problem?: string): string {
  return layout(frame, {
    title: 'Remove passkey',
    parent: { href: pageRoutes.home, label: 'Account' },
    main: confirm({
      title: `Remove “${passkey.name}”?`,
      text: 'It will no longer sign you in. If your device still offers it, delete it there too.',
      action: pageRoutes.removePasskey,
      csrfField: frame.csrfField,
      fields: html`<input type="hidden" name="id" value="${passkey.id}">`,
      problem,
      deed: 'Remove passkey',
      cancelHref: pageRoutes.home,
    }),
  });
}

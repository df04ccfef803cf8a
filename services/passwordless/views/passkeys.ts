import type { Fields } from '#kit/errors.ts';
import { badge, card, linkButton, notice } from '#kit/html/blocks.ts';
import { confirm } from '#kit/html/confirm.ts';
import { errorSummary, field } from '#kit/html/form.ts';
import { time } from '#kit/html/format.ts';
import { type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { table } from '#kit/html/table.ts';
import { type AcceptedPasskeys, nameCharactersMax, type Passkey, passkeysMax } from '../passkeys/index.ts';
import { pageRoutes } from '../routes.ts';

interface PasskeysView {
  readonly passkeys: readonly Passkey[];
  readonly accepted: AcceptedPasskeys | undefined;
  readonly isFresh: boolean;
}

interface PasskeyView {
  readonly passkey: Passkey;
  /** What was typed. */
  readonly name?: string;
  readonly errors?: Fields;
  readonly problem?: string | undefined;
}

export function passkeysCard(frame: Frame, { passkeys, isFresh, accepted }: PasskeysView): Html {
  return card(
    'Passkeys',
    html`<div class="stack">${passkeys.length > 0 ? passkeyTable(passkeys, isFresh) : introduction}
${isFresh && (passkeys.length < passkeysMax ? addForm(frame) : html`<p class="muted">${passkeysMax} are the most. Remove one to add another.</p>`)}
${accepted && html`<span hidden data-accepted="${JSON.stringify(accepted)}"></span>`}</div>`,
  );
}

/** Its name, and where it is removed. */
export function passkeyPage(frame: Frame, { passkey, name, errors = {}, problem }: PasskeyView): string {
  return layout(frame, {
    title: passkey.name,
    parent: { href: pageRoutes.home, label: 'Account' },
    lead: html`Added ${time(passkey.createdAtMs)}`,
    main: html`${problem && notice('bad', problem)}${errorSummary(errors, { name: 'Name' })}
<div class="card form"><form class="stack" method="post" action="${pageRoutes.editPasskey}" novalidate>${frame.csrfField}<input type="hidden" name="id" value="${passkey.id}">
${nameField({ value: name ?? passkey.name, error: errors.name })}
<div class="actions"><button>Save</button>${linkButton(pageRoutes.home, 'Cancel', 'quiet')}</div></form></div>`,
  });
}

export function passkeyRemovalPage(frame: Frame, passkey: Passkey, problem?: string): string {
  return layout(frame, {
    title: 'Remove passkey',
    parent: { href: pageRoutes.home, label: 'Account' },
    main: confirm({
      title: `Remove “${passkey.name}”?`,
      text: 'It does not sign you in any more. Where your device goes on offering it, delete it there too.',
      action: pageRoutes.removePasskey,
      csrfField: frame.csrfField,
      fields: html`<input type="hidden" name="id" value="${passkey.id}">`,
      problem,
      deed: 'Remove passkey',
      cancelHref: pageRoutes.home,
    }),
  });
}

const introduction = html`<p class="muted">Sign in by fingerprint, face or the PIN of your device: nothing to type, and nothing that can be phished.</p>`;

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

/** The button works where scripts run and the browser has passkeys. */
function addForm(frame: Frame): Html {
  return html`<form class="form stack" method="post" action="${pageRoutes.addPasskey}" data-options="${pageRoutes.addPasskeyOptions}" data-passkey-add>${frame.csrfField}
${nameField({ help: 'What you will know it by, such as “Work laptop”. You can leave it empty.' })}
<button disabled>Add a passkey</button><p class="notice bad" role="alert" data-told hidden></p>
<p class="help" data-without>Passkeys need JavaScript and a browser that knows them.</p></form>`;
}

function nameField({
  value,
  error,
  help,
}: {
  value?: string;
  error?: string | undefined;
  help?: string;
}): Html {
  return field({
    name: 'name',
    label: 'Name',
    value,
    error,
    ...(help ? { help } : {}),
    attributes: { maxlength: nameCharactersMax, autocomplete: 'off' },
  });
}

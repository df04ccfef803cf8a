import type { FormProblem, PageContent } from '@octavo/web/html';
import {
  type Content,
  card,
  errorSummary,
  field,
  type Html,
  html,
  linkButton,
  notice,
} from '@octavo/web/html';

interface LeavingView {
  readonly service: string;
  readonly paths: { readonly leave: string; readonly account: string };
  readonly erased: readonly string[];
  readonly kept: readonly string[];
  readonly name: string | undefined;
  readonly problem: FormProblem | undefined;
  readonly csrfField: Html;
  /** The provider that the account is connected to. */
  readonly providerName: string | undefined;
  readonly isConfirmed: boolean;
  readonly hasPassword: boolean;
}

/** The page on which people erase their account. */
export function leavingPage(view: LeavingView): PageContent {
  const { service, paths, erased, kept, name, problem } = view;
  const errors = problem?.errors ?? {};
  return {
    title: 'Erase your account',
    parent: { href: paths.account, label: 'Account' },
    main: html`<div class="stack">${problem?.problem && notice('bad', problem.problem)}${errorSummary(errors, { password: 'Password' }, 'Your account is not erased')}${card(
      undefined,
      html`<p>Your account of ${service}${name && html` (<strong>${name}</strong>)`} ends, and you are signed out everywhere. This cannot be undone.</p>
<h2>These are erased</h2>${list(erased)}${kept.length > 0 && html`<h2>These stay</h2>${list(kept)}`}`,
    )}${card('Confirm that it is you', proof(view))}</div>`,
  };
}

function proof(view: LeavingView): Content {
  const { isConfirmed, hasPassword, providerName, service } = view;
  if (isConfirmed)
    return form(view, html`<p>${providerName} has confirmed that it is you.</p>${erase(view)}`);
  if (!hasPassword && providerName === undefined)
    return html`<p>This account has no password, and is not connected to another sign-in. An administrator of ${service} can erase it.</p>`;
  const byPassword = form(
    view,
    html`${field({ name: 'password', label: `Password for ${service}`, type: 'password', error: view.problem?.errors.password, attributes: { autocomplete: 'current-password', maxlength: 1_024 } })}${erase(view)}`,
  );
  if (providerName === undefined) return byPassword;
  const byProvider = html`<form class="stack" method="post" action="${view.paths.leave}">${view.csrfField}<input type="hidden" name="step" value="confirm">
<p>Sign in with ${providerName} again. You come back to this page, and nothing is erased before you say so.</p>
<div class="actions"><button class="secondary">Confirm with ${providerName}</button>${!hasPassword && cancel(view)}</div></form>`;
  return hasPassword ? html`${byPassword}<hr>${byProvider}` : byProvider;
}

function form({ paths, csrfField }: LeavingView, content: Content): Html {
  return html`<form class="stack form" method="post" action="${paths.leave}" novalidate>${csrfField}${content}</form>`;
}

function erase(view: LeavingView): Html {
  return html`<div class="actions"><button class="danger">Erase account</button>${cancel(view)}</div>`;
}

function cancel({ paths }: LeavingView): Html {
  return linkButton(paths.account, 'Cancel', 'quiet');
}

function list(lines: readonly string[]): Html {
  return html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}

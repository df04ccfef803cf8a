import type { Fields } from '@octavo/core';
import type { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import type { Client } from '@octavo/rpc';
import {
  errorSummary,
  type FormProblem,
  type Frame,
  field,
  formProblem,
  html,
  layout,
  linkButton,
  notice,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { clientAddress } from '@octavo/web/server';
import type { Access, PageSession, Visitor, Visitors } from '../access/index.ts';
import { pageRoutes } from '../routes.ts';

interface Parts {
  readonly access: Access;
  readonly visitors: Visitors;
  readonly authz: Client<AuthServiceDefinition>;
}

/** The pages that change the own password. */
export function addPasswordPages(routes: PageRoutes<PageSession>, parts: Parts): void {
  const access = parts.visitors('post', 'read');
  routes.get(pageRoutes.ownPassword, { access }, async ({ caller, frame }) =>
    passwordPage(frame(), caller.username),
  );
  routes.post(pageRoutes.ownPassword, { access }, (visitor) => changePassword(visitor, parts));
}

async function changePassword(visitor: Visitor, { access, authz }: Parts) {
  const { visit, caller, call, frame } = visitor;
  const newPassword = visit.field('newPassword');
  const tryAgain = ({ status, ...refusal }: FormProblem) => {
    visit.reply.code(status);
    return passwordPage(frame(), caller.username, refusal);
  };
  if (newPassword !== visit.field('repeated')) {
    return tryAgain({ status: 422, errors: { repeated: 'must be the same as the new password' } });
  }
  try {
    const { account } = await authz.changePassword(
      {
        uid: caller.uid,
        currentPassword: visit.field('currentPassword'),
        newPassword,
        remoteAddress: clientAddress(visit.request),
      },
      call,
    );
    if (!account) throw new Error('authz sent no account');
    // A new session: holders of the old one are signed out.
    visit.signIn({
      token: access.tokenFor(account, { key: caller.sessionKey, amr: caller.hasMfaClaim ? ['mfa'] : [] }),
    });
  } catch (error) {
    return tryAgain(formProblem(error, { INVALID_CREDENTIALS: 'currentPassword' }));
  }
  return visit.redirect(pageRoutes.account, {
    tone: 'good',
    text: 'Your password is changed. Other browsers and programs with the old one are signed out.',
  });
}

const labels = {
  currentPassword: 'Current password',
  newPassword: 'New password',
  repeated: 'New password again',
};

function passwordPage(
  frame: Frame,
  username: string,
  { errors = {}, problem }: { errors?: Fields; problem?: string } = {},
): string {
  const hasProblem = Object.keys(errors).length > 0;
  return layout(frame, {
    title: 'Change password',
    parent: { href: pageRoutes.account, label: 'Account' },
    main: html`${problem && notice('bad', problem)}${errorSummary(errors, labels, 'Your password is not changed yet')}
<form class="form" method="post" action="${pageRoutes.ownPassword}">${frame.csrfField}
<input type="hidden" name="username" value="${username}" autocomplete="username">
${field({
  name: 'currentPassword',
  label: labels.currentPassword,
  type: 'password',
  error: errors.currentPassword,
  attributes: { autocomplete: 'current-password', maxlength: 1024, autofocus: !hasProblem },
})}
${field({
  name: 'newPassword',
  label: labels.newPassword,
  type: 'password',
  error: errors.newPassword,
  help: 'At least 8 characters. A few random words are easy to remember and hard to guess.',
  attributes: { autocomplete: 'new-password', maxlength: 1024 },
})}
${field({
  name: 'repeated',
  label: labels.repeated,
  type: 'password',
  error: errors.repeated,
  attributes: { autocomplete: 'new-password', maxlength: 1024 },
})}
<div class="actions"><button>Change password</button>${linkButton(pageRoutes.account, 'Cancel', 'quiet')}</div></form>`,
  });
}

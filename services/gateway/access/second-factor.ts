import type { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import type { Client } from '@octavo/rpc';
import type { Html } from '@octavo/web/html';
import { empty, field, formProblem, linkButton } from '@octavo/web/html';
import { pageRoutes } from '../routes.ts';
import type { Visitor } from './visitors.ts';

type Authz = Client<AuthServiceDefinition>;

/** Problem with a code, beside its field and above the form. */
export interface CodeRefusal {
  readonly error?: string | undefined;
  readonly problem?: string | undefined;
}

/**
 * Returns `none` if a page that needs a second factor asks for nothing more, `code` for a code, `app` if an app must be set up
 * first.
 */
export async function secondFactorFor(visitor: Visitor, authz: Authz): Promise<'none' | 'code' | 'app'> {
  if (!visitor.needsMfa) return 'none';
  const { account } = await authz.getAccount({ uid: visitor.caller.uid }, visitor.call);
  return account?.totpEnabled ? 'code' : 'app';
}

/** Checks the code of a form, if one is needed. Returns its problem, or undefined if it is right. */
export async function checkCode(
  visitor: Visitor,
  { authz, remoteAddress }: { authz: Authz; remoteAddress: string },
): Promise<CodeRefusal | undefined> {
  const { visit, caller, call, needsMfa, confirm } = visitor;
  if (!needsMfa) return undefined;
  const code = visit.field('code');
  try {
    await authz.verifyTotp({ uid: caller.uid, code, remoteAddress }, call);
  } catch (thrown) {
    const { status, errors, problem } = formProblem(thrown, { INVALID_CODE: 'code' });
    visit.reply.code(status);
    return { error: errors.code, problem: problem ?? 'Nothing is deleted yet.' };
  }
  confirm();
  return undefined;
}

/** The field of a form for a code of an authenticator app. */
export function codeField(error?: string): Html {
  return field({
    name: 'code',
    label: 'Code',
    error,
    help: 'The six digits that your authenticator app shows now.',
    attributes: {
      class: 'short',
      inputmode: 'numeric',
      autocomplete: 'one-time-code',
      maxlength: 20,
      autofocus: true,
    },
  });
}

/** Hint in place of a form that needs a code, for a user without an app. `what` they delete is "posts" or the like. */
export function appNeeded(what: string): Html {
  return empty({
    icon: 'lock',
    title: 'Set up an authenticator app first',
    text: `To delete ${what}, you confirm that it is you with a code of an authenticator app on your phone. Your account has no app yet. It takes a minute.`,
    actions: linkButton(pageRoutes.setUpApp, 'Set up the app', 'primary'),
  });
}

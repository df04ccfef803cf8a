import type { Fields } from '#kit/errors.ts';
import { linkButton } from '#kit/html/blocks.ts';
import { confirm } from '#kit/html/confirm.ts';
import { errorSummary } from '#kit/html/form.ts';
import { html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { pageRoutes } from '../routes.ts';
import { codeField } from './entry.ts';
import { qrCode } from './qr-code.ts';

interface AppView {
  readonly secret: string;
  readonly url: string;
  readonly errors?: Fields;
}

/** The secret, to scan or to type, and a code of the app to show that it has it. */
export function appSetUpPage(frame: Frame, { secret, url, errors = {} }: AppView): string {
  return layout(frame, {
    title: 'Set up an authenticator app',
    parent: { href: pageRoutes.home, label: 'Account' },
    main: html`${errorSummary(errors, { code: 'Code' }, 'The app is not set up yet')}
<div class="columns"><section class="card stack"><h2>1. Scan</h2>${qrCode(url, 'QR code for an authenticator app')}
<p>On this device? <a href="${url}">Open the app</a>, or type the key:</p><p><code>${secret.replace(/.{4}(?=.)/g, '$& ')}</code></p></section>
<section class="card stack"><h2>2. Confirm</h2><form class="stack" method="post" action="${pageRoutes.confirmApp}" novalidate>${frame.csrfField}<input type="hidden" name="secret" value="${secret}">
${codeField({ errors }, 'The six digits that the app shows now.')}
<div class="actions"><button>Confirm</button>${linkButton(pageRoutes.home, 'Cancel', 'quiet')}</div></form></section></div>`,
  });
}

export function appRemovalPage(frame: Frame, problem?: string): string {
  return layout(frame, {
    title: 'Remove authenticator app',
    parent: { href: pageRoutes.home, label: 'Account' },
    main: confirm({
      title: 'Remove the authenticator app?',
      text: 'Its codes do not sign you in any more.',
      action: pageRoutes.removeApp,
      csrfField: frame.csrfField,
      problem,
      deed: 'Remove app',
      cancelHref: pageRoutes.home,
    }),
  });
}

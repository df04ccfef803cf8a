import { type Content, card, type Html, html, linkButton, notice } from '@octavo/web/html';
import type { ProviderSettings } from './settings.ts';

/** The button above the form of a sign-in page, and a line between them. */
export function signInChoice(options: {
  name: string;
  href: string;
  answers: boolean;
  isOnly: boolean;
}): Content {
  const { name, href, answers, isOnly } = options;
  if (answers)
    return html`<p><a class="button primary wide" href="${href}">Sign in with ${name}</a></p>${
      !isOnly && html`<p class="muted small">Or with an account of this service:</p>`
    }`;
  const advice = isOnly ? 'Try again in a moment.' : 'Sign in below, or try again in a moment.';
  return html`${notice('warn', `${name} sign-in does not answer. ${advice}`)}<p>${linkButton(href, `Try ${name} again`)}</p>`;
}

/** A card for the page of an account. */
export function connectionCard(options: {
  provider: Pick<ProviderSettings, 'name' | 'accountUrl' | 'isOnly'>;
  service: string;
  paths: { connect: string; disconnect: string };
  csrfField: Html;
  isConnected: boolean;
  hasPassword: boolean;
  next: string;
}): Content {
  const { provider, service, paths, csrfField, isConnected, hasPassword, next } = options;
  const { name } = provider;
  const hidden = html`${csrfField}<input type="hidden" name="next" value="${next}">`;
  if (!isConnected)
    return card(
      `${name} sign-in`,
      html`<p>Connect your account to sign in with ${name}. From then on your roles in ${service} are those that you have there.</p>
<form method="post" action="${paths.connect}">${hidden}
<button class="secondary">Connect with ${name}</button></form>`,
    );
  const canDisconnect = hasPassword && !provider.isOnly;
  return card(
    `${name} sign-in`,
    html`<p>Your account is connected to ${name}. Your roles in ${service} are those that you have there.</p>
<p><a href="${provider.accountUrl}">Change your e-mail address or password in ${name}</a></p>${
      canDisconnect
        ? html`<form class="stack form" method="post" action="${paths.disconnect}">${hidden}<p>After you disconnect, you sign in with your password for ${service}, and have no roles from ${name}.</p>
<div class="field"><label for="disconnect-password">Password for ${service}</label><input type="password" id="disconnect-password" name="password" autocomplete="current-password" maxlength="1024" required></div>
<div class="actions"><button class="secondary">Disconnect from ${name}</button></div></form>`
        : html`<p class="muted small">It is your only way to sign in here, so you cannot disconnect it.</p>`
    }`,
  );
}

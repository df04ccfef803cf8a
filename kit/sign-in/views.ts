import { card, linkButton, notice } from '../html/components/blocks.ts';
import { type Content, type Html, html } from '../html/html.ts';

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
  name: string;
  service: string;
  connectPath: string;
  csrfField: Html;
  isConnected: boolean;
  next: string;
}): Content {
  const { name, service, connectPath, csrfField, isConnected, next } = options;
  if (isConnected)
    return card(
      `${name} sign-in`,
      html`<p>Your account is connected to ${name}. Your roles in ${service} are those that you have there.</p>`,
    );
  return card(
    `${name} sign-in`,
    html`<p>Connect your account to sign in with ${name}. From then on your roles in ${service} are those that you have there.</p>
<form method="post" action="${connectPath}">${csrfField}<input type="hidden" name="next" value="${next}">
<button class="secondary">Connect with ${name}</button></form>`,
  );
}

// Signs in with a passkey, and adds passkeys. Its forms are hidden or disabled until it runs, since passkeys need scripts.
import { create, get, hasPasskeys } from './webauthn.js';

// The server forgets a challenge after five minutes.
const renewMs = 240_000;
const signIn = document.querySelector('form[data-passkey-sign-in]');
const add = document.querySelector('form[data-passkey-add]');
const accepted = document.querySelector('[data-accepted]');

if (accepted instanceof HTMLElement) void signalAccepted(accepted.dataset.accepted ?? '');
if (signIn instanceof HTMLFormElement && hasPasskeys) offerSignIn(signIn);
if (add instanceof HTMLFormElement) offerAdding(add);

/** @param {HTMLFormElement} form */
function offerSignIn(form) {
  form.hidden = false;
  let waiting = new AbortController();
  void fillIn();
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    waiting.abort();
    waiting = new AbortController();
    const isDone = await attempt(form, () => ask(undefined));
    if (!isDone) void fillIn();
  });

  /**
   * Lets the browser offer passkeys in the e-mail field, until something else is chosen.
   */
  async function fillIn() {
    const { signal } = waiting;
    if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
    while (!signal.aborted) {
      const renewal = AbortSignal.timeout(renewMs);
      try {
        await ask('conditional', AbortSignal.any([signal, renewal]));
        return;
      } catch (error) {
        if (!renewal.aborted) {
          if (error instanceof ServerError) showMessage(form, error.message);
          return;
        }
      }
    }
  }

  /**
   * @param {CredentialMediationRequirement | undefined} mediation
   * @param {AbortSignal} signal
   */
  async function ask(mediation, signal = waiting.signal) {
    const { pending_id, ...options } = await post(form.dataset.options ?? '', {}, form);
    const response = await get(options, mediation ? { mediation, signal } : { signal });
    await finish(form, { pending_id, response });
  }
}

/** @param {HTMLFormElement} form */
function offerAdding(form) {
  const button = form.querySelector('button');
  if (!hasPasskeys || !button) return;
  button.disabled = false;
  form.querySelector('[data-without]')?.remove();
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const name = form.querySelector('input[name="name"]');
    await attempt(form, async () => {
      const { pending_id, ...options } = await post(form.dataset.options ?? '', {}, form);
      const response = await create(options);
      const given = name instanceof HTMLInputElement ? name.value.trim() : '';
      await finish(form, { pending_id, response, ...(given ? { name: given } : {}) });
    });
  });
}

/**
 * Tells password managers which passkeys still exist, so that they stop offering the others.
 * @param {string} list
 */
async function signalAccepted(list) {
  /** @type {any} */
  const { PublicKeyCredential: known } = window;
  try {
    await known?.signalAllAcceptedCredentials?.(JSON.parse(list));
  } catch {
    // Only an aid: nothing depends on it.
  }
}

/** An error with the message of the server. */
class ServerError extends Error {}

/**
 * Runs a ceremony and shows its error. Returns whether it succeeded.
 * @param {HTMLFormElement} form
 * @param {() => Promise<void>} ceremony
 */
async function attempt(form, ceremony) {
  const button = form.querySelector('button');
  showMessage(form, '');
  button?.setAttribute('aria-busy', 'true');
  try {
    await ceremony();
    return true;
  } catch (error) {
    showMessage(form, messageFor(error));
    return false;
  } finally {
    button?.removeAttribute('aria-busy');
  }
}

/** @param {unknown} error */
function messageFor(error) {
  if (error instanceof ServerError) return error.message;
  const name = error instanceof Error ? error.name : '';
  if (name === 'InvalidStateError') return 'This device already has a passkey for you.';
  if (name === 'SecurityError')
    return `Passkeys do not work at ${location.origin}. Open this page at the address it is set up for.`;
  if (name === 'NotAllowedError' || name === 'AbortError')
    return 'You canceled, or it took too long. Try again.';
  if (name === 'TypeError') return 'The server cannot be reached. Try again.';
  return 'Your browser or device could not do this.';
}

/**
 * @param {HTMLFormElement} form
 * @param {object} outcome
 */
async function finish(form, outcome) {
  const { location: next } = await post(form.action, outcome, form);
  location.assign(next);
}

/**
 * @param {string} path
 * @param {object} body
 * @param {HTMLFormElement} form
 * @returns {Promise<any>}
 */
async function post(path, body, form) {
  const token = form.querySelector('input[name="_csrf"]');
  const response = await fetch(path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'x-csrf-token': token instanceof HTMLInputElement ? token.value : '',
    },
    body: JSON.stringify(body),
  });
  const result = await response.json().catch(() => ({}));
  if (!response.ok)
    throw new ServerError(result.error?.message ?? `The server responded with ${response.status}.`);
  return result;
}

/**
 * @param {HTMLFormElement} form
 * @param {string} text
 */
function showMessage(form, text) {
  const output = form.querySelector('[data-message]');
  if (output instanceof HTMLElement) {
    output.hidden = text === '';
    output.textContent = text;
  }
}

// Signs in with a passkey and adds one. Its forms come hidden, since without scripts there are no passkeys.
import { create, get, hasPasskeys } from './webauthn.js';

// The server forgets a challenge after five minutes.
const renewMs = 240_000;
const signIn = document.querySelector('form[data-passkey-sign-in]');
const add = document.querySelector('form[data-passkey-add]');
const accepted = document.querySelector('[data-accepted]');

if (accepted instanceof HTMLElement) void tellAccepted(accepted.dataset.accepted ?? '');
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
   * Offers passkeys where browsers offer addresses, in the field for the address, for as long as nothing else was chosen.
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
          if (error instanceof Refusal) tell(form, error.message);
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
 * Tells what keeps passkeys which of them hold, so that it stops offering those that were removed here.
 * @param {string} list
 */
async function tellAccepted(list) {
  /** @type {any} */
  const { PublicKeyCredential: known } = window;
  try {
    await known?.signalAllAcceptedCredentials?.(JSON.parse(list));
  } catch {
    // A help, no more.
  }
}

/** What the server refused, in its own words. */
class Refusal extends Error {}

/**
 * Runs a ceremony, and says why where it came to nothing. True where it went through.
 * @param {HTMLFormElement} form
 * @param {() => Promise<void>} ceremony
 */
async function attempt(form, ceremony) {
  const button = form.querySelector('button');
  tell(form, '');
  button?.setAttribute('aria-busy', 'true');
  try {
    await ceremony();
    return true;
  } catch (error) {
    tell(form, wordsFor(error));
    return false;
  } finally {
    button?.removeAttribute('aria-busy');
  }
}

/** @param {unknown} error */
function wordsFor(error) {
  if (error instanceof Refusal) return error.message;
  const name = error instanceof Error ? error.name : '';
  if (name === 'InvalidStateError') return 'This device has a passkey for you already.';
  if (name === 'SecurityError')
    return `Passkeys do not work at ${location.origin}: open this page by the address it is set up for.`;
  if (name === 'NotAllowedError' || name === 'AbortError')
    return 'Nothing was done: you cancelled, or it took too long.';
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
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refusal(answer.error?.message ?? `The server answered ${response.status}.`);
  return answer;
}

/**
 * @param {HTMLFormElement} form
 * @param {string} text
 */
function tell(form, text) {
  const output = form.querySelector('[data-message]');
  if (output instanceof HTMLElement) {
    output.hidden = text === '';
    output.textContent = text;
  }
}

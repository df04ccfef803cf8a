import { field } from '#kit/html/form.ts';
import type { Html } from '#kit/html/html.ts';

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

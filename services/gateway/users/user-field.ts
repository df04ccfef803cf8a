import { field, type Html, html } from '@octavo/web/html';

const listId = 'users';

/**
 * A field for a user, by name or number, with names to pick from. A page has at most one.
 * @param names those to pick from; others can be typed
 */
export function userField(options: {
  value: string | undefined;
  names: readonly string[];
  error?: string | undefined;
  help?: string;
}): Html {
  const { value, names, error, help } = options;
  return html`${field({
    name: 'userId',
    label: userFieldLabel,
    value,
    error,
    ...(help !== undefined && { help }),
    attributes: {
      list: names.length > 0 && listId,
      autocomplete: 'off',
    },
  })}${names.length > 0 && html`<datalist id="${listId}">${names.map((name) => html`<option value="${name}">`)}</datalist>`}`;
}

export const userFieldLabel = 'User';

import { dateTime, type Model, reference, tableModel, text } from '../../admin/index.ts';
import type { TokenTables } from './tokens.ts';

/** The model `auth/token` of an admin: tokens are listed, and deleting one revokes it. */
export const tokenModel: Model = tableModel<TokenTables>({
  path: 'auth/token',
  label: 'token',
  table: 'auth_token',
  title: 'hint',
  description: 'API tokens, listed by their first characters. Deleting a token revokes it.',
  fields: {
    hint: text({ label: 'Token', readOnly: true }),
    user: reference('auth/user', { label: 'User', column: 'user_id', readOnly: true }),
    created: dateTime({ label: 'Created', column: 'created_at_ms', readOnly: true }),
    last_used: dateTime({ label: 'Last used', column: 'last_used_at_ms', readOnly: true }),
  },
  columns: [
    { label: 'Token', show: ({ hint }) => `${hint}…`, sortBy: 'hint' },
    'user',
    'created',
    'last_used',
  ],
  search: ['hint', 'user'],
  filters: ['user'],
  dates: 'created',
  order: ['-last_used'],
  can: { add: false, change: false },
});

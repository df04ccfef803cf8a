export { accountModels } from './account-models.ts';
export { type Admin, type AdminOptions, adminMigrations, createAdmin } from './admin.ts';
export {
  type AdminTables,
  type Author,
  type Change,
  forgetInHistory,
  recordChanges,
} from './changes/history.ts';
export { RowHistory } from './changes/row-history.ts';
export { adminFields } from './entity-fields.ts';
export type { Choice, Field, Value, Values } from './field.ts';
export { choice, dateTime, flag, integer, password, reference, text } from './fields.ts';
export {
  type Column,
  type Filter,
  type FunctionModelOptions,
  functionModel,
  type ListFilter,
  type ListPage,
  type ListQuery,
  type Membership,
  type Model,
  type ObjectLink,
  type TableModelOptions,
  tableModel,
} from './model.ts';
export {
  type AccountSession,
  openStaffSignIn,
  staffAccounts,
  staffCookie,
  staffRealm,
  type TokenStore,
} from './staff.ts';
export type { Actor, AdminAccounts, AdminUser } from './user.ts';

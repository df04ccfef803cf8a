import type { Session } from '@octavo/data';
import { type AccountTables, permissionRows } from './store.ts';
import type { User } from './user.ts';

/** Actions that a permission can allow on the objects of a model. */
export const permissionActions = ['view', 'add', 'change', 'delete'] as const;
export type PermissionAction = (typeof permissionActions)[number];

/** Permissions of a user. Permission to change or delete includes permission to view. */
export interface Permissions {
  /** @param model such as `library/book` */
  may(model: string, action: PermissionAction): boolean;
}

/** Every permission. */
export const allPermissions: Permissions = { may: () => true };

/** No permission. */
export const noPermissions: Permissions = { may: () => false };

/** The permissions of a user: those of the user's groups; all for an active administrator; none for who is no staff. */
export async function permissionsOf(session: Session<AccountTables>, user: User): Promise<Permissions> {
  if (!user.isActive || !user.isStaff) return noPermissions;
  if (user.isSuperuser) return allPermissions;
  const rows = await permissionRows(session, user.id);
  const granted = new Set(rows.map(({ model, action }) => `${model}:${action}`));
  return {
    may: (model, action) =>
      granted.has(`${model}:${action}`) ||
      (action === 'view' && (granted.has(`${model}:change`) || granted.has(`${model}:delete`))),
  };
}

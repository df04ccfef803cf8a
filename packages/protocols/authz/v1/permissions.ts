/** Roles of an account, the most powerful first. */
export const roles = ['admin', 'editor', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** Kinds of resources that access is decided for. */
export const resourceTypes = ['post', 'export', 'ml', 'admin'] as const;
export type ResourceType = (typeof resourceTypes)[number];

export const actions = ['read', 'write', 'delete'] as const;
export type Action = (typeof actions)[number];

/** The most powerful of the suite's roles among the names that a provider gives; undefined if there is none. */
export function roleAmong(names: readonly string[]): Role | undefined {
  return roles.find((role) => names.includes(role));
}

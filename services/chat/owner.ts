/** Owner of sessions and documents: a key or a token's subject, a person, a browser, or all clients without any of these. */
export type Owner = string;

/** The owner that all clients without an identity and without a cookie share. */
export const publicOwner: Owner = 'public';

/** The owner of what belongs to a person of the OpenID provider. */
export function personOwner(account: string): Owner {
  return `person:${account}`;
}

/** An owner with the rights of their role. */
export interface Identity {
  readonly owner: Owner;
  /** True for a person or a token with the role `admin`; never for a key. */
  readonly isAdmin: boolean;
}

export const stranger: Identity = { owner: publicOwner, isAdmin: false };

/** True for clients without an identity: browsers without a sign-in, and programs without a key or a token. */
export function isStranger(owner: Owner): boolean {
  return owner === publicOwner || owner.startsWith('browser:');
}

/** Owner of sessions and documents: a key or a token's subject, a browser, or all clients without either. */
export type Owner = string;

/** The owner that all clients without a cookie share where there is no sign-in. */
export const publicOwner: Owner = 'public';

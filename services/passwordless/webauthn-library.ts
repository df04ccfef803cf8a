/** The library that reads what authenticators say. */
export function library() {
  libraryLoading ??= import('@simplewebauthn/server');
  return libraryLoading;
}

/** Its parsers. */
export function helpers() {
  helpersLoading ??= import('@simplewebauthn/server/helpers');
  return helpersLoading;
}

// Loaded when first used, since that takes a quarter of a second; and kept, since asking for a module again takes a tenth of a verification.
let libraryLoading: Promise<typeof import('@simplewebauthn/server')> | undefined;
let helpersLoading: Promise<typeof import('@simplewebauthn/server/helpers')> | undefined;

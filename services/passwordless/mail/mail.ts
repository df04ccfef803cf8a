/** Events that the owner of an account gets a mail about. */
export const securityEvents = [
  'enrolment-attempt',
  'passkey-added',
  'passkey-removed',
  'totp-added',
  'totp-removed',
  'totp-blocked',
  'recovery-codes-made',
  'recovery-code-used',
  'session-replayed',
  'signed-out-everywhere',
  'account-deleted',
] as const;

export type SecurityEvent = (typeof securityEvents)[number];

interface Addressed {
  /** An address as `normalizeEmail` returns it. */
  readonly to: string;
  /** The Accept-Language of the request, for the language of the mail. */
  readonly locale?: string | undefined;
}

interface MagicLinkMail extends Addressed {
  readonly kind: 'magic-link';
  readonly link: string;
  /** The code to type on another device. */
  readonly code: string;
  /** Time at which the link expires. After that the mail is not sent. */
  readonly expiresAtMs: number;
  /** True if the caller was signed in with an account of the address. The mail says so. */
  readonly isAskerSignedIn: boolean;
}

export interface SecurityMail extends Addressed {
  readonly kind: 'security';
  readonly event: SecurityEvent;
  /** Sends no second mail about the same event to the same address within this time. */
  readonly quietMs?: number;
}

export type NewMail = MagicLinkMail | SecurityMail;

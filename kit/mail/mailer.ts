import type { Sender } from './sender.ts';

/** One mail to one person, as text and as HTML. */
export interface Mail {
  /** Names the mail for ever, such as `id@example.org`; sent again, it must be the same. Becomes the Message-ID (RFC 5322 section 3.6.4). */
  readonly id: string;
  readonly from: Sender;
  /** A bare address in the one spelling of `normalizeEmail`. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly date: Date;
}

/** With what mails are signed (DKIM, RFC 6376). */
export interface Dkim {
  readonly domain: string;
  readonly selector: string;
  /** RSA, PEM. */
  readonly privateKey: string;
}

/**
 * Where mails leave the house. Every mail says that a program wrote it (`Auto-Submitted`, RFC 3834), so that nothing answers it,
 * and goes to exactly the one address given, whatever its text holds.
 */
export interface Mailer extends AsyncDisposable {
  /** Resolves with what the other side said when it has taken the mail over. Throws {@link MailError}. */
  send(mail: Mail, options?: { signal?: AbortSignal }): Promise<string>;
  /** Resolves when mails could be sent now: it can be reached, and lets us in. Throws {@link MailError}. */
  ping(): Promise<void>;
  /** Lets mails under way end; with `abort` they fail instead. No more are taken. */
  close(options?: { abort?: boolean }): Promise<void>;
}

/**
 * What a failure means for the mail: `rejected` it will never be taken; `deferred` it may be taken later; `unreachable` nobody is there to
 * take any mail; `misconfigured` no mail will be taken before somebody changes a setting.
 */
export type MailFault = 'rejected' | 'deferred' | 'unreachable' | 'misconfigured';

export class MailError extends Error {
  readonly fault: MailFault;
  /** A short code, such as `EENVELOPE 550`. */
  readonly code: string;

  constructor(fault: MailFault, code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'MailError';
    this.fault = fault;
    this.code = code;
  }
}

/** A queued mail, without its text. */
export interface QueuedMail {
  readonly id: string;
  /** A word for logs, such as `password-reset`. */
  readonly kind: string;
  /** An address as `normalizeEmail` returns it. */
  readonly recipient: string;
  readonly subject: string;
  readonly created_at_ms: number;
  /** Time after which it is not sent. */
  readonly expires_at_ms: number;
  /** Tries that count, with the current one. */
  readonly attempts: number;
}

/** The text of a mail. */
export interface MailBodies {
  readonly text: string;
  readonly html: string;
}

/** State of an entry after a try. */
export type Verdict =
  | { readonly status: 'sent' }
  | { readonly status: 'failed'; readonly reason: string }
  | {
      readonly status: 'pending';
      readonly nextTryAtMs: number;
      readonly attempts: number;
      readonly reason: string | null;
    };

/** The stored result of a mail, and the next one to send. */
export interface Settled<M> {
  /** False if another worker has claimed the mail since. Then nothing was stored. */
  readonly isOurs: boolean;
  readonly next: M | undefined;
}

/** The queue that a worker takes mails from: each mail goes to one worker at a time. */
export interface MailClaims<M extends QueuedMail> {
  /** Claims the mail that has been due the longest; undefined if none is due. */
  claimNext(): Promise<M | undefined>;
  /** Time of the next mail that is due; infinity if there is none. */
  nextDueMs(): Promise<number>;
  /** Stores the result of a mail, and claims the next one if `claimsNext`. */
  settle(mail: M, verdict: Verdict, options: { claimsNext: boolean }): Promise<Settled<M>>;
}

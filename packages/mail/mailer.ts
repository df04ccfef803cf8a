/** The sender of an e-mail. */
export interface Sender {
  readonly name: string;
  readonly address: string;
}

/** One e-mail to one person, as text and as HTML. */
export interface Mail {
  /** Identifies the e-mail, such as `id@example.org`. Use the same one to send it again. Becomes the Message-ID (RFC 5322 section 3.6.4). */
  readonly id: string;
  readonly from: Sender;
  /** A bare address, normalized by `normalizeEmail`. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly date: Date;
}

/** The key for signing e-mail (DKIM, RFC 6376). */
export interface Dkim {
  readonly domain: string;
  readonly selector: string;
  /** RSA, PEM. */
  readonly privateKey: string;
}

/**
 * Sends e-mail. Each one is marked as written by a program (`Auto-Submitted`, RFC 3834), so that no auto-responder replies, and goes
 * to exactly one address, whatever its headers and text contain.
 */
export interface Mailer extends AsyncDisposable {
  /** Resolves with the server's response when it has accepted the e-mail. Throws {@link MailError}. */
  send(mail: Mail, options?: { signal?: AbortSignal }): Promise<string>;
  /** Resolves if e-mail can be sent now: the server responds and accepts the credentials. Throws {@link MailError}. */
  ping(): Promise<void>;
  /** Accepts no more e-mail and waits for those being sent; with `abort` they fail instead. */
  close(options?: { abort?: boolean }): Promise<void>;
}

/**
 * Meaning of a failure. `rejected`: this e-mail will never be accepted. `deferred`: it may be accepted later. `unreachable`: no
 * server accepts any e-mail now. `misconfigured`: none will be accepted until an operator changes a setting.
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

const bareAddress = /^[^\s@<>,;:"()[\]\\]{1,64}@[a-zA-Z0-9.-]{1,253}$/;

/** Parses `Name <address>` or a bare address. Throws an `Error` whose message starts with "must be" if it is neither. */
export function parseSender(text: string): Sender {
  const match = /^(?:"?([^"<>]*?)"?\s*<([^<>]+)>|([^<>\s]+))$/.exec(text.trim());
  const address = match?.[2] ?? match?.[3] ?? '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not get into a header
  if (!bareAddress.test(address) || /[\x00-\x1f\x7f]/.test(text)) {
    throw new Error('must be an e-mail address or "Name <address>"');
  }
  return { name: match?.[1] ?? '', address };
}

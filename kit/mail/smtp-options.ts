import type { Dkim } from './mailer.ts';

/** How to reach a mail server. */
export interface SmtpOptions {
  readonly host: string;
  /** 465 speaks TLS from the start, any other begins in the clear. */
  readonly port: number;
  readonly credentials?: { readonly username: string; readonly password: string } | undefined;
  /** Sends, and signs in, without TLS where the server offers none. Otherwise that is refused, but for a server on loopback. */
  readonly insecure?: boolean;
  /** Certificates to trust besides the well-known ones, PEM. */
  readonly authorities?: string | undefined;
  readonly dkim?: Dkim | undefined;
  /** 3 by default. */
  readonly connections?: number;
}

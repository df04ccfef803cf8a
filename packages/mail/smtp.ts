import { isLoopback } from '@octavo/core';
import { createTransport, type NodemailerError } from 'nodemailer';
import { compose, signing } from './compose.ts';
import { type Dkim, type Mail, MailError, type Mailer, type MailFault } from './mailer.ts';

/** Connection to a mail server. */
export interface SmtpOptions {
  readonly host: string;
  /** Port 465 uses TLS from the start; any other port starts in plain text. */
  readonly port: number;
  readonly credentials?: { readonly username: string; readonly password: string } | undefined;
  /** Sends and signs in without TLS if the server offers none. By default that is an error, except on loopback. */
  readonly insecure?: boolean;
  /** Additional certificates to trust, PEM. */
  readonly authorities?: string | undefined;
  readonly dkim?: Dkim | undefined;
  /** Connections to keep open; 3 by default. */
  readonly connections?: number;
}

const implicitTlsPort = 465;
const messagesAConnection = 100;
const connectMs = 10_000;
const silenceMs = 30_000;
/** Idle time before which relays do not close the connection themselves. */
const idleMs = 30_000;

/** Sends over a few open connections. If one is closed, the e-mail is sent over another. */
export class SmtpMailer implements Mailer {
  readonly #transport: ReturnType<typeof createPool>;
  readonly #sending = new Set<Promise<unknown>>();
  #closed = false;

  constructor(options: SmtpOptions) {
    this.#transport = createPool(options);
  }

  async send(mail: Mail, { signal }: { signal?: AbortSignal } = {}): Promise<string> {
    if (this.#closed) throw new MailError('unreachable', 'ECLOSED', 'this mailer is closed');
    const sending = this.#transport.sendMail({ ...compose(mail), signal });
    this.#sending.add(sending);
    try {
      return (await sending).response;
    } catch (error) {
      throw fromSmtpError(error);
    } finally {
      this.#sending.delete(sending);
    }
  }

  /** Uses a separate connection. */
  async ping(): Promise<void> {
    try {
      await this.#transport.verify();
    } catch (error) {
      throw fromSmtpError(error);
    }
  }

  async close({ abort = false }: { abort?: boolean } = {}): Promise<void> {
    this.#closed = true;
    if (abort) this.#transport.close({ force: true });
    await Promise.allSettled(this.#sending);
    this.#transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function createPool(options: SmtpOptions) {
  const { host, port, credentials, insecure = false, authorities, connections = 3 } = options;
  return createTransport({
    pool: true,
    host,
    port,
    secure: port === implicitTlsPort,
    requireTLS: port !== implicitTlsPort && !insecure && !isLoopback(host),
    // A server on loopback may have a certificate for its public name, and its connection cannot be intercepted.
    tls: { ...(authorities && { ca: authorities }), rejectUnauthorized: !insecure && !isLoopback(host) },
    auth: credentials && { user: credentials.username, pass: credentials.password },
    maxConnections: connections,
    maxMessages: messagesAConnection,
    maxRequeues: 2,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    dnsTimeout: connectMs,
    socketTimeout: silenceMs,
    idleTimeout: idleMs,
    ...signing(options.dkim),
  });
}

const configuration = new Set(['EAUTH', 'ENOAUTH', 'EOAUTH2', 'ETLS', 'EREQUIRETLS', 'ECONFIG']);
/** "Authentication required", "too weak", "failed", "encryption required" (RFC 4954 section 6). */
const authenticationCodes = new Set([530, 534, 535, 538]);
const network = new Set(['ESOCKET', 'ECONNECTION', 'ETIMEDOUT', 'EDNS', 'EPROTOCOL', 'EPROXY', 'EABORT']);
/** Error codes of Node for certificates and failed TLS handshakes. */
const tlsFault = /CERT|^ERR_(TLS|SSL)|^UNABLE_TO_/;
const unsendable = new Set(['EENVELOPE', 'EMESSAGE', 'ESTREAM']);
const closing = 421;
const responseCharacters = 300;

/** Classifies an error of nodemailer by its code and the server's response (RFC 5321 section 4.2.1). */
function fromSmtpError(error: unknown): MailError {
  if (error instanceof MailError) return error;
  const { code = 'EUNKNOWN', responseCode, response, message } = error as NodemailerError;
  const text = (response ?? message).slice(0, responseCharacters);
  const shortCode = responseCode === undefined ? code : `${code} ${responseCode}`;
  return new MailError(faultOf(error as NodemailerError), shortCode, text, { cause: error });
}

function faultOf(error: NodemailerError): MailFault {
  const { code = '', originalCode = '', responseCode = 0, command = '' } = error;
  if (responseCode === closing) return 'unreachable';
  if (configuration.has(code) && isTemporary(responseCode)) return 'unreachable';
  if (configuration.has(code) || authenticationCodes.has(responseCode)) return 'misconfigured';
  if (tlsFault.test(String(originalCode))) return 'misconfigured';
  if (network.has(code)) return 'unreachable';
  if (isTemporary(responseCode)) return 'deferred';
  // The sender is the same in every e-mail, so the server would reject all of them.
  if (responseCode >= 500 && command === 'MAIL FROM') return 'misconfigured';
  if (responseCode >= 500 || unsendable.has(code)) return 'rejected';
  return 'deferred';
}

function isTemporary(responseCode: number): boolean {
  return responseCode >= 400 && responseCode < 500;
}

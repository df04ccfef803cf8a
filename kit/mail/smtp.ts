import { createTransport } from 'nodemailer';
import { isLoopback } from '../network.ts';
import { compose, signing } from './compose.ts';
import { type Mail, MailError, type Mailer } from './mailer.ts';
import { fromSmtpError } from './smtp-errors.ts';
import type { SmtpOptions } from './smtp-options.ts';

const implicitTlsPort = 465;
const messagesAConnection = 100;
const connectMs = 10_000;
const silenceMs = 30_000;
/** Longer, and relays close the connection themselves. */
const idleMs = 30_000;

/** Over a few connections that are kept open; a mail that finds one gone goes over another. */
export class SmtpMailer implements Mailer {
  readonly #transport: ReturnType<typeof createPool>;
  readonly #underWay = new Set<Promise<unknown>>();
  #closed = false;

  constructor(options: SmtpOptions) {
    this.#transport = createPool(options);
  }

  async send(mail: Mail, { signal }: { signal?: AbortSignal } = {}): Promise<string> {
    if (this.#closed) throw new MailError('unreachable', 'ECLOSED', 'no more mails are taken');
    const sending = this.#transport.sendMail({ ...compose(mail), signal });
    this.#underWay.add(sending);
    try {
      return (await sending).response;
    } catch (error) {
      throw fromSmtpError(error);
    } finally {
      this.#underWay.delete(sending);
    }
  }

  /** On a connection of its own. */
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
    await Promise.allSettled(this.#underWay);
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
    // A server on loopback may offer a certificate for its public name; nobody can come between.
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

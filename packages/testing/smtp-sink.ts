import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';

/** A mail that the sink received. */
export interface Caught {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: Buffer;
  readonly messageId: string;
  readonly secure: boolean;
  readonly user: string | undefined;
}

export interface SmtpSink extends AsyncDisposable {
  readonly port: number;
  /** The mails that it accepted, in order. */
  readonly caught: readonly Caught[];
  /** Number of connections so far. */
  readonly connections: number;
  /** Number of mails that clients tried to send, including those it rejected. */
  readonly asked: number;
  /** Resolves when it has accepted this many mails. */
  hasCaught(count: number): Promise<void>;
}

export type Stage = 'mail' | 'rcpt' | 'data';

export interface SinkOptions {
  /** A free port by default. */
  readonly port?: number;
  /** TLS with a self-signed certificate: on request (STARTTLS) or from the start. None by default. */
  readonly tls?: 'on demand' | 'from the start';
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Delays the response to a mail that was already accepted. */
  readonly hold?: (mail: Caught) => void | Promise<void>;
  /** Rejects with a reply such as `451 try later`, or accepts the mail. May wait. */
  readonly answer?: (stage: Stage, address: string) => string | undefined | Promise<string | undefined>;
}

/** A mail server for tests, on loopback, that stores what it receives. */
export async function startSmtpSink(options: SinkOptions = {}): Promise<SmtpSink> {
  const sink = new Sink();
  const { credentials } = options;
  const refusalOf = async (stage: Stage, address: string) => refusal(await options.answer?.(stage, address));
  const server = new SMTPServer({
    secure: options.tls === 'from the start',
    disabledCommands: [...(options.tls ? [] : ['STARTTLS']), ...(credentials ? [] : ['AUTH'])],
    allowInsecureAuth: true,
    authOptional: credentials === undefined,
    disableReverseLookup: true,
    closeTimeout: 100,
    onConnect: (_session, done) => {
      sink.connections++;
      done();
    },
    onAuth: ({ username, password }, _session, done) => {
      const known = username === credentials?.username && password === credentials?.password;
      done(known ? null : new Error('who are you'), known ? { user: username } : undefined);
    },
    onMailFrom: ({ address }, _session, done) => void refusalOf('mail', address).then(done),
    onRcptTo: ({ address }, _session, done) => void refusalOf('rcpt', address).then(done),
    onData: (stream, session, done) => {
      const to = session.envelope.rcptTo[0]?.address ?? '';
      buffer(stream).then(async (source) => {
        sink.asked++;
        const refused = await refusalOf('data', to);
        const kept = refused ? undefined : sink.keep(source, session);
        if (kept) await options.hold?.(kept);
        done(refused);
      }, done);
    },
  });
  // Some tests want a client that disconnects in the middle.
  server.on('error', () => {});
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server.server, 'listening');
  return Object.assign(sink, {
    port: (server.server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
}

class Sink {
  readonly caught: Caught[] = [];
  connections = 0;
  asked = 0;
  #waiting: { count: number; resolve: () => void }[] = [];

  keep(source: Buffer, { envelope, secure, user }: SMTPServerSession): Caught {
    const mail: Caught = {
      from: envelope.mailFrom ? envelope.mailFrom.address : '',
      to: envelope.rcptTo.map(({ address }) => address),
      source,
      messageId: /^message-id: *(\S+)/im.exec(source.toString('latin1'))?.[1] ?? '',
      secure,
      user,
    };
    this.caught.push(mail);
    for (const { count, resolve } of this.#waiting) if (count <= this.caught.length) resolve();
    return mail;
  }

  hasCaught(count: number): Promise<void> {
    if (this.caught.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }
}

function refusal(answer: string | undefined): (Error & { responseCode: number }) | undefined {
  if (answer === undefined) return undefined;
  return Object.assign(new Error(answer.slice(4)), { responseCode: Number(answer.slice(0, 3)) });
}

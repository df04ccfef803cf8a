import { after, before } from 'node:test';
import { until } from '@octavo/testing';
import { type SmtpSink, startSmtpSink } from '@octavo/testing/engines';
import PostalMime from 'postal-mime';
import { startTokens, type TestTokens } from '../testing.ts';

export const newPassword = 'harbours sleep at noon';

export interface Received {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The token of its link; empty if it has none. */
  readonly token: string;
}

/** The service with a mail server, for the tests of a file. */
export interface Mailing {
  readonly service: TestTokens;
  readonly sink: SmtpSink;
  /** Settings with which another service uses the mail server. */
  readonly settings: Readonly<Record<string, string>>;
  /** Waits until an address has `count` mails, and returns them all. */
  mailsTo(address: string, count: number): Promise<Received[]>;
  /** Registers a user, and waits for the mail that verifies the address. */
  register(): Promise<{
    email: string;
    pair: Awaited<ReturnType<TestTokens['register']>>;
    verification: string;
  }>;
}

/** Starts before the tests of a file and stops after them. */
export function startMailing(): Mailing {
  let sink: SmtpSink;
  let service: TestTokens;
  let people = 0;
  const settings = () => ({
    EMAIL_VERIFICATION: 'optional',
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(sink.port),
    TOKENS_URL: 'https://accounts.example',
  });
  before(async () => {
    sink = await startSmtpSink();
    service = await startTokens({ environment: settings() });
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
    await sink[Symbol.asyncDispose]();
  });
  const mailsTo = async (address: string, count: number) => {
    const caught = () => sink.caught.filter(({ to }) => to.includes(address));
    await until(() => caught().length >= count);
    return Promise.all(caught().map(({ source }) => read(source)));
  };
  return {
    get service() {
      return service;
    },
    get sink() {
      return sink;
    },
    get settings() {
      return settings();
    },
    mailsTo,
    async register() {
      const email = `user${++people}@example.com`;
      const pair = await service.register(email);
      const [{ token } = { token: '' }] = await mailsTo(email, 1);
      return { email, pair, verification: token };
    },
  };
}

async function read(source: Buffer): Promise<Received> {
  const { subject = '', text = '', html = '' } = await PostalMime.parse(source);
  const token = /https:\/\/accounts\.example\/[a-z-]+\?token=([\w-]{43})\n/.exec(text)?.[1] ?? '';
  return { subject, text, html, token };
}
